# SPDX-License-Identifier: MIT
"""Runs Mesa's cffdump and cffpy on the same captures and compares what they print.

The environment variable CFFDUMP names the program, maybe with arguments: ``CFFDUMP=/path/cffdump``.
It should be of Mesa 25.0.7. Without it these tests are skipped. They run on the samples, and on the
captures of the reference material where there is any (CFFPY_SHARED).
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.golden.runner import CHECKOUT, built_sample, difference, recorded_captures, run_dump

CFFDUMP = shlex.split(os.environ.get("CFFDUMP", ""))
if CFFDUMP and os.sep in CFFDUMP[0]:
    CFFDUMP[0] = os.path.abspath(CFFDUMP[0])  # it runs in another folder
SHARED = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared")

pytestmark = pytest.mark.skipif(
    not CFFDUMP, reason="CFFDUMP names no cffdump (of Mesa 25.0.7) to compare with"
)

ARGUMENTS = (
    ["--unit-test"],
    ["--unit-test", "-s", "--once"],
    ["--unit-test", "-a", "--no-color"],
    ["--unit-test", "--textures", "--once"],
    ["--unit-test", "-q", "RB_MRT[0].CONTROL", "-q", "RB_CNTL", "--query-written"],
)
LARGEST = 1_000_000  # bytes of a compressed capture
TIMEOUT = 300  # seconds


def bounded() -> set[str]:
    """Captures that make cffdump read past the end of a buffer, with undefined output."""
    table = SHARED / "reference" / "cases.json"
    cases = json.loads(table.read_text()) if table.exists() else []
    return {case["capture"] for case in cases if case.get("bounded") and "capture" in case}


def captures() -> list[Path]:
    """The smaller captures of the reference material."""
    skipped = bounded()
    return [
        path
        for path in sorted((SHARED / "captures").glob("*.rd.gz"))
        if path.name not in skipped and path.stat().st_size <= LARGEST
    ]


def check_same(arguments: list[str], capture: Path, folder: Path) -> None:
    """Run both programs, each in its own folder, and compare output and exit code."""
    theirs, ours = folder / "cffdump", folder / "cffpy"
    theirs.mkdir()
    ours.mkdir()
    reference = subprocess.run(
        [*CFFDUMP, *arguments, str(capture)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=theirs,
        timeout=TIMEOUT,
    )
    done = run_dump([*arguments, str(capture)], ours)
    report = difference(reference.stdout, done.stdout)
    if report:
        pytest.fail(f"{capture.name} {shlex.join(arguments)}: {report}", pytrace=False)
    assert done.returncode == reference.returncode, (done.stderr, reference.stderr)


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=shlex.join)
@pytest.mark.parametrize("name", recorded_captures())
def test_samples(name: str, arguments: list[str], samples: Path, tmp_path: Path) -> None:
    check_same(arguments, built_sample(samples.parent, name), tmp_path)


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=shlex.join)
@pytest.mark.parametrize("capture", captures() if CFFDUMP else [], ids=lambda path: path.name)
def test_captures(capture: Path, arguments: list[str], tmp_path: Path) -> None:
    check_same(arguments, capture, tmp_path)
