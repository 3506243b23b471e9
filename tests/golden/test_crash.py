# SPDX-License-Identifier: MIT
"""Recorded output of crashdec (Mesa 25.0.7, and 25.3): one case of a few dumps, others are slow.

Dumps and recorded output are not part of the project; without them these tests are skipped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.runner import difference
from tests.golden.test_reference import SHARED

FOLDER = SHARED / "crash"
TABLE = FOLDER / "cases.json"
NEWER = SHARED / "reference-newer" / "crash" / "cases.json"

#: Dumps of an edition of which a case is not slow.
QUICK = 6

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def cases() -> Iterator[object]:
    """All cases; the smallest of each dump, and of those the smallest, are not slow."""
    for path, edition in ((TABLE, "mesa-25.0"), (NEWER, "mesa-25.3")):
        table: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
        smallest = {}
        for case in sorted(table, key=lambda case: -int(case["bytes"])):
            smallest[case["capture"]] = case["name"]
        quick = [*smallest.values()][-QUICK:]
        for case in table:
            marks = [] if case["name"] in quick else [pytest.mark.slow]
            name = f"{edition}-{case['name']}"
            yield pytest.param(path.parent, edition, case, id=name, marks=marks)


@pytest.mark.skipif(not TABLE.exists(), reason=f"no recorded output at {TABLE} (CFFPY_SHARED)")
def test_there_are_cases() -> None:
    assert len(list(cases())) > 100


@pytest.mark.recorded
@pytest.mark.parametrize(("recorded", "edition", "case"), list(cases()))
def test_recorded_output(
    recorded: Path, edition: str, case: dict[str, Any], run_cffpy: Run
) -> None:
    dump = gzip.decompress((FOLDER / case["capture"]).read_bytes())
    done = run_cffpy("crashdec", "--edition", edition, *case["args"], input=dump)
    if "log" in case:
        report = difference(lzma.decompress((recorded / case["log"]).read_bytes()), done.stdout)
        assert not report, report
    assert hashlib.sha256(done.stdout).hexdigest() == case["sha256"]
    assert done.returncode == case["exit"]
