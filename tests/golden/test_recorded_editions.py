# SPDX-License-Identifier: MIT
"""Recorded output of cffdump of both editions: of a newer Mesa, and for captures of its drivers.

Captures and recorded output are not part of the project; without them these tests are skipped. The
smallest cases of each set and generation run always, the others are marked slow.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.golden.runner import difference
from tests.golden.test_reference import SHARED

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: Cases of a set and a generation that are not slow.
QUICK = 2


class RecordedSet(NamedTuple):
    """Recorded cases: where they and their captures are, and the edition that prints them."""

    cases: str
    captures: str
    edition: str

    @property
    def folder(self) -> Path:
        return SHARED / self.cases


SETS = [
    RecordedSet("m26/reference", "m26/captures", "mesa-25.0"),
    RecordedSet("m26/newer", "m26/captures", "mesa-25.3"),
    RecordedSet("reference-newer/dump", "captures", "mesa-25.3"),
]


def table(recorded: RecordedSet) -> list[dict[str, Any]]:
    path = recorded.folder / "cases.json"
    found: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    return found


def generation(case: dict[str, Any]) -> str:
    named = re.search(r"\ba([2-8])\d\d-", case["capture"])
    return named[1] if named else "other"


def cases() -> Iterator[object]:
    for recorded in SETS:
        seen: Counter[str] = Counter()
        for case in sorted(table(recorded), key=lambda case: (int(case["bytes"]), case["name"])):
            seen[generation(case)] += 1
            marks = [] if seen[generation(case)] <= QUICK else [pytest.mark.slow]
            name = f"{recorded.cases}-{case['name']}"
            yield pytest.param(recorded, case, id=name, marks=marks)


@pytest.mark.parametrize("recorded", SETS, ids=lambda recorded: recorded.cases)
def test_there_are_cases(recorded: RecordedSet) -> None:
    if not recorded.folder.exists():
        pytest.skip(f"no recorded output at {recorded.folder} (CFFPY_SHARED)")
    found = {generation(case) for case in table(recorded)}
    assert found >= ({"3", "5", "6", "7"} if "m26" in recorded.cases else set("234567"))


@pytest.mark.recorded
@pytest.mark.parametrize(("recorded", "case"), list(cases()))
def test_recorded_output(recorded: RecordedSet, case: dict[str, Any], run_cffpy: Run) -> None:
    capture = SHARED / recorded.captures / case["capture"]
    done = run_cffpy("dump", "--edition", recorded.edition, *case["args"], capture)
    if "log" in case:
        expected = lzma.decompress((recorded.folder / case["log"]).read_bytes())
        report = difference(expected, done.stdout)
        if report:
            pytest.fail(f"{case['name']}: {report}", pytrace=False)
    assert hashlib.sha256(done.stdout).hexdigest() == case["sha256"]
    assert done.returncode == case["exit"]
