# SPDX-License-Identifier: MIT
"""Recorded output of aubinator and aubinator_error_decode (Mesa 25.0.7).

The smallest case of each generation and tool runs always, the others are marked slow. Captures and
recorded output are not part of the project; without them these tests are skipped.
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

FOLDER = SHARED / "intel"
TABLE = FOLDER / "reference" / "cases.json"
COMMANDS = {"aubinator": "aubinator", "aubinator_error_decode": "aubinator-error-decode"}

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def cases() -> Iterator[object]:
    """All cases; the smallest of each generation and tool is not slow."""
    table: list[dict[str, Any]] = json.loads(TABLE.read_text()) if TABLE.exists() else []
    smallest = {}
    for case in sorted(table, key=lambda case: -int(case["bytes"])):
        smallest[case["tool"], case["capture"][:3]] = case["name"]
    for case in table:
        marks = [] if case["name"] in smallest.values() else [pytest.mark.slow]
        yield pytest.param(case, id=case["name"], marks=marks)


@pytest.mark.skipif(not TABLE.exists(), reason=f"no recorded output at {TABLE} (CFFPY_SHARED)")
def test_there_are_cases() -> None:
    assert len(list(cases())) > 100


@pytest.mark.recorded
@pytest.mark.parametrize("case", list(cases()))
def test_recorded_output(case: dict[str, Any], run_cffpy: Run, tmp_path: Path) -> None:
    name = case["args"][-1]
    packed = (FOLDER / "captures" / case["capture"]).read_bytes()
    (tmp_path / name).write_bytes(gzip.decompress(packed))
    done = run_cffpy(COMMANDS[case["tool"]], *case["args"], cwd=tmp_path, env=case["env"])
    report = difference(lzma.decompress((TABLE.parent / case["log"]).read_bytes()), done.stdout)
    assert not report, report
    assert hashlib.sha256(done.stdout).hexdigest() == case["sha256"]
    assert done.returncode == case["exit"]
