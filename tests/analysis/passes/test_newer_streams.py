# SPDX-License-Identifier: MIT
"""Samples of streams of today's drivers: merged bins that the GPU scales, preambles of contexts."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.queries import find_layouts, find_passes
from cffpy.check.registry import chosen_lints
from cffpy.check.runner import check_capture
from cffpy.container.open import Content, open_capture
from cffpy.frame.geometry import Rectangle


def sample(samples: Path, name: str) -> Content:
    return open_capture(str(samples / f"{name}.rd"))


def test_merged_bins(samples: Path) -> None:
    """Grid, executed tiles, and what each of them covers are three facts."""
    finder, _ = find_passes(sample(samples, "a740-merged-bins"), pytest.fail)
    (found,) = finder.found.passes
    assert (str(found.grid), str(found.bin_size), len(found.pipes)) == ("3x2", "480x736", 1)
    facts = found.tiles
    assert [one.bins for one in facts] == [(), ((2, 0), (2, 1)), (), ((0, 0), (0, 1))]
    assert [one.rectangle for one in facts] == [
        Rectangle(480, 0, 960, 736),
        Rectangle(960, 0, 1440, 1440),
        Rectangle(480, 736, 960, 1440),
        Rectangle(0, 0, 480, 1440),
    ]
    for one in facts:
        density = one.density
        assert density is not None
        assert density.problems == []
        assert [view.fits for view in density.views] == [True]
        assert [operation.kind for operation in one.possible_operations] == ["clear", "store"]
    assert len(found.draws) == 2


def test_layout_of_merged_bins(samples: Path) -> None:
    """No driver's rule without merging has one pipe for six bins."""
    (_, found), _ = find_layouts(sample(samples, "a740-merged-bins"), pytest.fail)
    (tiles,) = [one for one in found.checks if one.kind == "tiles"]
    assert tiles.answer == "agrees"
    assert tiles._comparison.note == "turnip, merging bins, avoiding the colour cache"
    lints = chosen_lints(["CFF019"])
    checked = check_capture(sample(samples, "a740-merged-bins"), pytest.fail, lints=lints)
    assert len(checked.findings) == 1


def test_lrz_with_two_buffers(samples: Path) -> None:
    (one,) = cffpy.open(samples / "a740-merged-bins.rd").lrz
    lrz = one.lrz
    assert lrz is not None
    assert (lrz.cleared, lrz.clear_depth) == (True, 1.0)
    assert lrz.second == (lrz.address or 0) + 0x12000
    assert [draw.use for draw in one.draws] == ["test and write"] * 2


@pytest.mark.parametrize("edition", ["mesa-25.0", "mesa-25.3"])
def test_preambles_change_nothing_where_they_are_set(samples: Path, edition: str) -> None:
    with cffpy.open(samples / "a740-ambles.rd", register_db=edition) as capture:
        draws = list(capture.draws)
        assert [draw.state["RB_BLEND_RED_F32"].value for draw in draws] == [0x3F000000] * 2
        assert [draw.targets[0].address for draw in draws] == [0x1_0010_0000] * 2
        assert [one.mode for one in capture.passes] == ["gmem", "sysmem"]
