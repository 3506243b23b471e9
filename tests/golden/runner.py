# SPDX-License-Identifier: MIT
"""Runs a golden case in a process, and says where two outputs differ first."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
EXPECTED = CHECKOUT / "samples" / "expected"

# What may change the output of a command, and must not here.
_PERSONAL = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PAGER", "CFFPY_PAGER", "CFFPY_DEBUG")

Case = Mapping[str, Any]


def sample_cases() -> list[Case]:
    """The table of samples/expected."""
    cases: list[Case] = tomllib.loads((EXPECTED / "cases.toml").read_text("utf-8"))["case"]
    return cases


def run_sample(case: Case) -> subprocess.CompletedProcess[bytes]:
    """Run a case of the table, by the names that the samples have in the checkout."""
    files = [name if name == "-" else f"samples/{name}" for name in case["files"]]
    stdin = CHECKOUT / "samples" / case["stdin"] if "stdin" in case else None
    return run_dump([*case["args"], *files], CHECKOUT, stdin)


def run_dump(
    arguments: Sequence[str], folder: Path, stdin: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """``cffpy dump ARGUMENTS`` of the checkout, run in ``folder``."""
    environment = {name: value for name, value in os.environ.items() if name not in _PERSONAL}
    environment["PYTHONPATH"] = str(CHECKOUT)
    with open(stdin or os.devnull, "rb") as source:
        return subprocess.run(
            [sys.executable, "-m", "cffpy", "dump", *arguments],
            stdin=source,
            capture_output=True,
            cwd=folder,
            env=environment,
            timeout=300,
        )


def difference(expected: bytes, got: bytes, context: int = 3) -> str:
    """Where ``got`` first differs, with ``context`` lines before and after; "" if nowhere."""
    if expected == got:
        return ""
    wanted, had = expected.split(b"\n"), got.split(b"\n")
    same = 0
    while same < min(len(wanted), len(had)) and wanted[same] == had[same]:
        same += 1
    report = [f"first difference at line {same + 1} (of {len(wanted)} expected, {len(had)} got)"]
    report += [f"    {_shown(line)}" for line in wanted[max(0, same - context) : same]]
    for sign, lines in (("-", wanted), ("+", had)):
        report += [f"  {sign} {_shown(line)}" for line in lines[same : same + context + 1]]
        if same >= len(lines):
            report.append(f"  {sign} (end)")
    return "\n".join(report)


def _shown(line: bytes) -> str:
    return repr(line)[2:-1]
