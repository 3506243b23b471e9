# SPDX-License-Identifier: MIT
"""Recorded output of cffdump (Mesa 25.0.7): a selection for every GPU generation.

Captures and recorded output are not part of the project; without them these tests are skipped. The
selection is fixed: special cases (several files, standard input, exit codes, written files), then
the smaller ones of each generation, spread over its captures. tools/parity of the reference
material compares all cases.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.golden.runner import CHECKOUT, difference, run_dump

SHARED = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared")
TABLE = SHARED / "reference" / "cases.json"

PER_GENERATION = 24
LARGEST = 2_000_000  # bytes of recorded output

RecordedCase = dict[str, Any]


def chosen_cases() -> list[RecordedCase]:
    """The cases to run."""
    if not TABLE.exists():
        return []
    cases = [case for case in json.loads(TABLE.read_text()) if "log" in case]
    special = [case for case in cases if "captures" in case or "files" in case]
    groups: dict[str, list[RecordedCase]] = defaultdict(list)
    for case in cases:
        if case not in special and case["bytes"] <= LARGEST:
            named = re.match(r"a([2-7])\d\d-", case["capture"])
            groups[named[1] if named else "other"].append(case)
    chosen = [case for case in special if case["bytes"] <= LARGEST]
    for _, group in sorted(groups.items()):
        group.sort(key=lambda case: str(case["name"]))
        chosen += group[:: max(1, -(-len(group) // PER_GENERATION))]
    return chosen


CASES = chosen_cases()


@pytest.mark.skipif(not TABLE.exists(), reason=f"no recorded output at {TABLE} (CFFPY_SHARED)")
def test_there_are_cases_of_every_generation() -> None:
    captures = " ".join(case.get("capture", "") for case in CASES)
    for generation in range(2, 8):
        assert re.search(rf"\ba{generation}\d\d-", captures), f"no case of a{generation}xx"


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_reference(case: RecordedCase, tmp_path: Path) -> None:
    captures = [
        str(SHARED / "captures" / name) for name in case.get("captures") or [case["capture"]]
    ]
    stdin = Path(captures.pop(0)) if case.get("stdin") else None
    done = run_dump([*case["args"], *(["-"] if stdin else []), *captures], tmp_path, stdin)
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
