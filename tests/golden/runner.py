# SPDX-License-Identifier: MIT
"""Runs a golden case in a process, and finds the first difference of two outputs."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
EXPECTED = CHECKOUT / "samples" / "expected"

#: The reference's output for the samples: which captures were decoded, with which arguments.
CFFDUMP_TABLE = EXPECTED / "cffdump.toml"
CFFDUMP_SUFFIX = ".cffdump.txt"

#: Samples of a generation that cffdump 25.0.7 does not know: it crashes on them.
UNKNOWN_TO_CFFDUMP = "a8"
#: Samples whose output by cffdump is not recorded yet.
NOT_RECORDED = (
    "a530-bins",
    "a640-vendor-frame",
    "a650-queries",
    "a660-barriers",
    "a660-pictures",
    "a6xx-unknown-device",
    "a740-ambles",
    "a740-concurrent",
    "a740-merged-bins",
)

#: Samples that are built compressed.
COMPRESSED = ("a630-triangle", "damaged")
#: a630-triangle.rd.gz without its last third.
BROKEN_GZIP = "damaged-gzip.rd.gz"

# What may change the output of a command, and must not here.
_PERSONAL = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PAGER", "CFFPY_PAGER", "CFFPY_DEBUG")

Case = Mapping[str, Any]


def sample_cases() -> list[Case]:
    """The table of samples/expected."""
    cases: list[Case] = tomllib.loads((EXPECTED / "cases.toml").read_text("utf-8"))["case"]
    return cases


def cffdump_runs() -> dict[str, list[str]]:
    """The recorded runs of the reference: name -> arguments."""
    runs: dict[str, list[str]] = tomllib.loads(CFFDUMP_TABLE.read_text("utf-8"))["runs"]
    return runs


def recorded_captures() -> dict[str, str]:
    """The samples that the reference decoded: name -> SHA-256 of the uncompressed capture."""
    captures: dict[str, str] = tomllib.loads(CFFDUMP_TABLE.read_text("utf-8"))["captures"]
    return captures


def sample_digest(path: Path) -> str:
    """SHA-256 of a built sample, as ``recorded_captures`` has it."""
    data = path.read_bytes()
    return hashlib.sha256(gzip.decompress(data) if path.suffix == ".gz" else data).hexdigest()


def built_sample(folder: Path, name: str) -> Path:
    """The capture that ``build_samples`` made of a sample."""
    return folder / "samples" / f"{name}{'.rd.gz' if name in COMPRESSED else '.rd'}"


def build_samples(folder: Path) -> None:
    """Compile all samples into ``folder``/samples, as captures that tests and cases name.

    All are ``.rd``, but those of COMPRESSED. One more is not text: a broken gzip stream.
    """
    from cffpy.container.writer import gzip_bytes
    from cffpy.pm4asm.assemble import assemble

    built = folder / "samples"
    built.mkdir()
    for path in sorted((CHECKOUT / "samples").glob("*.pm4")):
        with open(path, "rb") as text:
            data = assemble(text, str(path))
        capture = built_sample(folder, path.stem)
        capture.write_bytes(gzip_bytes(data) if path.stem in COMPRESSED else data)
    whole = (built / "a630-triangle.rd.gz").read_bytes()
    (built / BROKEN_GZIP).write_bytes(whole[: len(whole) * 2 // 3])


def run_sample(case: Case, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a case of the table in a folder that ``build_samples`` filled."""
    files = [name if name == "-" else f"samples/{name}" for name in case["files"]]
    stdin = folder / "samples" / case["stdin"] if "stdin" in case else None
    return run_dump([*case["args"], *files], folder, stdin)


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
