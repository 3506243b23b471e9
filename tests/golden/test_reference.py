# SPDX-License-Identifier: MIT
"""Recorded output of cffdump (Mesa 25.0.7): a selection for every GPU generation.

Captures and recorded output are not part of the project; without them these tests are skipped. The
selection is fixed: special cases (several files, standard input, exit codes, written files), then
the smaller ones of each generation, spread over its captures; most are slow. tools/parity of the
reference material compares all cases.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.runner import CHECKOUT, difference

SHARED = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared")
TABLE = SHARED / "reference" / "cases.json"

Run = Callable[..., subprocess.CompletedProcess[bytes]]

PER_GENERATION = 24
#: Special cases, and cases of each generation, that are not slow: the smallest.
QUICK_SPECIAL = 6
QUICK = 3
LARGEST = 2_000_000  # bytes of recorded output

RecordedCase = dict[str, Any]


def generation(case: RecordedCase) -> str:
    """Its digit; "special" for cases of several files, "other" for captures with other names."""
    if "captures" in case or "files" in case:
        return "special"
    named = re.match(r"a([2-7])\d\d-", case["capture"])
    return named[1] if named else "other"


def chosen_cases() -> dict[str, list[RecordedCase]]:
    """The cases to run, of each generation, the smallest first."""
    groups: dict[str, list[RecordedCase]] = defaultdict(list)
    for case in json.loads(TABLE.read_text()) if TABLE.exists() else []:
        if "log" in case and case["bytes"] <= LARGEST:
            groups[generation(case)].append(case)
    for name, group in groups.items():
        group.sort(key=lambda case: str(case["name"]))
        if name != "special":
            group[:] = group[:: max(1, -(-len(group) // PER_GENERATION))]
        group.sort(key=lambda case: int(case["bytes"]))
    return groups


CASES = chosen_cases()


def parameters() -> Iterator[object]:
    for name, group in sorted(CASES.items()):
        quick = QUICK_SPECIAL if name == "special" else QUICK
        for number, case in enumerate(group):
            marks = [] if number < quick else [pytest.mark.slow]
            yield pytest.param(case, id=case["name"], marks=marks)


@pytest.mark.skipif(not TABLE.exists(), reason=f"no recorded output at {TABLE} (CFFPY_SHARED)")
def test_there_are_cases_of_every_generation() -> None:
    assert set(CASES) >= {*"234567", "special"}


@pytest.mark.recorded
@pytest.mark.parametrize("case", list(parameters()))
def test_reference(case: RecordedCase, run_cffpy: Run, tmp_path: Path) -> None:
    captures = [SHARED / "captures" / name for name in case.get("captures") or [case["capture"]]]
    stdin = captures.pop(0) if case.get("stdin") else Path(os.devnull)
    words = [*case["args"], *(["-"] if case.get("stdin") else []), *captures]
    with open(stdin, "rb") as source:
        done = run_cffpy("dump", *words, stdin=source, cwd=tmp_path)
    expected = lzma.decompress((SHARED / "reference" / case["log"]).read_bytes())
    report = difference(expected, done.stdout)
    if report:
        pytest.fail(f"{case['name']}: {report}", pytrace=False)
    if case.get("check_exit"):
        assert done.returncode == case["exit"], done.stderr
    if "files" in case:
        written = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()
        }
        assert written == case["files"]
