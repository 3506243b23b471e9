# SPDX-License-Identifier: MIT
"""Recorded output of crashdec (Mesa 25.0.7): one case of each dump, the others marked slow.

Dumps and recorded output are not part of the project; without them these tests are skipped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.golden.runner import difference
from tests.golden.test_reference import SHARED

FOLDER = SHARED / "crash"
TABLE = FOLDER / "cases.json"

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def cases() -> Iterator[object]:
    """All cases; the smallest of each dump is not slow."""
    table: list[dict[str, Any]] = json.loads(TABLE.read_text()) if TABLE.exists() else []
    smallest = {}
    for case in sorted(table, key=lambda case: -int(case["bytes"])):
        smallest[case["capture"]] = case["name"]
    for case in table:
        marks = [] if case["name"] in smallest.values() else [pytest.mark.slow]
        yield pytest.param(case, id=case["name"], marks=marks)


@pytest.mark.skipif(not TABLE.exists(), reason=f"no recorded output at {TABLE} (CFFPY_SHARED)")
def test_there_are_cases() -> None:
    assert len(list(cases())) > 50


@pytest.mark.parametrize("case", list(cases()))
def test_recorded_output(case: dict[str, Any], run_cffpy: Run) -> None:
    dump = gzip.decompress((FOLDER / case["capture"]).read_bytes())
    done = run_cffpy("crashdec", *case["args"], input=dump)
    if "log" in case:
        report = difference(lzma.decompress((FOLDER / case["log"]).read_bytes()), done.stdout)
        assert not report, report
    assert hashlib.sha256(done.stdout).hexdigest() == case["sha256"]
    assert done.returncode == case["exit"]
