# SPDX-License-Identifier: MIT
"""Descriptors by their names in other editions; a missing one is a warning."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]
DESCRIPTIONS = Path(__file__).parents[2] / "register_db"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("new", "is_known"),
    first_always(
        [("A8XX_TEX_MEMOBJ", True), ("A6XX_TEX_MEMOBJ", True), ("A9XX_X", False)], names=2
    ),
)
def test_renamed(new: str, is_known: bool, samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    edition = tmp_path / "edition"
    shutil.copytree(DESCRIPTIONS, edition)
    for path in edition.rglob("*.regs"):
        path.write_text(path.read_text().replace("A6XX_TEX_CONST", new))
    sample = samples / "a660-textures.rd"
    bundled = run_cffpy("dump", sample)
    done = run_cffpy("dump", "--edition", edition, sample)
    assert done.returncode == bundled.returncode == 0
    if is_known:
        assert (done.stdout, done.stderr) == (bundled.stdout, b"")
    else:
        assert len(done.stdout) < len(bundled.stdout)
        assert b"no A6XX_TEX_CONST: its fields are not shown" in done.stderr
