# SPDX-License-Identifier: MIT
"""Drawings of plain characters: --plot of passes, tiles and vsc."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_capture
from cffpy.frame.geometry import Cell
from cffpy.views.plots import shade, tile_lines

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def drawn(run: Run, *arguments: str) -> list[str]:
    return run(*arguments).stdout.decode().splitlines()


def test_tiles(run_cffpy: Run, samples: Path) -> None:
    assert drawn(run_cffpy, "tiles", "--plot", str(samples / "a660-frame-gmem.rd")) == [
        "pass 0: gmem, framebuffer 192x128, 2 draws",
        "  +-------+-------+",
        "  |   0   |   1   |",
        "  |@@@@@@@|@@@@@@@|",
        "  +-------+-------+",
        "  |   3   |   2   |",
        "  |@@@@@@@|@@@@@@@|",
        "  +-------+-------+",
        "  number of the tile; visible draws: '.' few to '@' 2",
    ]


@pytest.mark.parametrize("columns", [1, 9, 10, 19, 20, 64, 100])
def test_no_line_is_wider_than_80_characters(columns: int, samples: Path) -> None:
    finder, _ = find_passes(open_capture(str(samples / "a660-frame-gmem.rd")), print)
    found = finder.found.passes[0]
    assert found.bin_size is not None
    facts: Any = [
        SimpleNamespace(number=number, pipe=None, cell=Cell(number, 0), visible=number)
        for number in range(columns)
    ]
    lines = list(tile_lines(found, facts))
    assert max(map(len, lines)) <= 80
    assert len({len(line) for line in lines if line.startswith(("  +", "  |"))}) == 1
    assert any("the rest is not drawn" in line for line in lines) == (columns > 64)


def test_visibility(run_cffpy: Run, samples: Path) -> None:
    lines = drawn(run_cffpy, "vsc", "--plot", str(samples / "a660-frame-binning.rd"))
    assert lines[2] == "  |   0   |   1   |   4   |   5   |"
    assert "draws a tile are not known" in lines[6]


def test_passes(run_cffpy: Run, samples: Path) -> None:
    lines = drawn(run_cffpy, "passes", "--plot", str(samples / "a660-frame-gmem.rd"))
    assert lines[0] == f"pass 0 gmem    |{'#' * 34}| 2 draws, 2 x 2 tiles"
    assert drawn(run_cffpy, "passes", "--plot", str(samples / "a690-compute.rd")) == [
        "no render pass"
    ]


@pytest.mark.parametrize("command", ["passes", "tiles", "vsc"])
def test_one_form_only(run_cffpy: Run, samples: Path, command: str) -> None:
    sample = str(samples / "a660-frame-gmem.rd")
    done = run_cffpy(command, "--plot", "--json", sample, check=False)
    assert done.returncode == 2
    assert b"cannot be used" in done.stderr


def test_shades() -> None:
    assert "".join(shade(value, 9) for value in range(10)) == " .:-=+*#%@"
    assert [shade(value, 1000) for value in (0, 1, 999, 1000)] == [" ", ".", "%", "@"]
    assert shade(5, 0) == "@"
