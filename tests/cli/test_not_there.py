# SPDX-License-Identifier: MIT
"""What a capture lacks is the same error in all commands: one line with the file, exit code 1."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: 24 draws of the dump; pass 0 has 2 draws.
SAMPLE = "a660-frame-gmem.rd"

DRAWS = {
    "999": "there is no draw 999 in the dump; draws there: 0 to 23",
    "p0:999": "pass 0 has no draw 999; it has 2 draws",
    "p9:0": "there is no pass 9; passes of this capture: 0 to 0",
}
OF_DRAW = {
    "state": ("state", "--draw", "{}"),
    "image": ("image", "--draw", "{}"),
    "edit --nop-draw": ("edit", "--nop-draw", "{}", "-o", "out.rd"),
    "edit --truncate": ("edit", "--truncate-after-draw", "{}", "-o", "out.rd"),
    "edit --set": ("edit", "--set", "RB_DEPTH_CNTL=0", "--draw", "{}", "-o", "out.rd"),
}
OF_PASS = ("passes", "tiles", "draws", "vsc", "lrz")


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("command", OF_DRAW)
def test_a_draw(command: str, draw: str, samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    path = samples / SAMPLE
    arguments = [one.format(draw) for one in OF_DRAW[command]]
    done = run_cffpy(*arguments, path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"cffpy: error: {path}: {DRAWS[draw]}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", OF_PASS)
def test_a_pass(command: str, samples: Path, run_cffpy: Run) -> None:
    path = samples / SAMPLE
    done = run_cffpy(command, "--pass", 99, path)
    assert (done.returncode, done.stdout) == (1, b"")
    expected = "there is no pass 99; passes of this capture: 0 to 0"
    assert done.stderr.decode() == f"cffpy: error: {path}: {expected}\n"


def test_a_submit(samples: Path, run_cffpy: Run) -> None:
    path = samples / SAMPLE
    done = run_cffpy("passes", "--submit", 99, path)
    assert (done.returncode, done.stdout) == (1, b"")
    expected = "submit 99 has no passes; submits with passes: 0"
    assert done.stderr.decode() == f"cffpy: error: {path}: {expected}\n"
