# SPDX-License-Identifier: MIT
"""What is known of a tile: its cell, its draws, what visibility streams say."""

from __future__ import annotations

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.container.open import Content
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Pass, Tile
from tests.tile_streams import NewTile, Stream, saying

TILES = [NewTile((0, 0)), NewTile((256, 0), override=1), NewTile((256, 256))]


def found_in(stream: Stream) -> Pass:
    finder, _ = find_passes(Content("-", stream.build(), "none", 0, None), pytest.fail)
    (found,) = finder.found.passes
    return found


def known(facts: list[Tile]) -> list[tuple[int | None, int | None]]:
    return [(one.visible, one.executed) for one in facts]


def test_draws_are_known_where_streams_are_not_used() -> None:
    facts = found_in(Stream(TILES)).tiles
    assert [one.visibility for one in facts] == ["streams", "ignored", "streams"]
    assert [one.emitted for one in facts] == [1, 1, 1]
    assert known(facts) == [(None, 1), (1, 1), (None, 1)]
    assert [one.cell for one in facts] == [(0, 0), (1, 0), (1, 1)]
    facts = found_in(Stream(TILES, has_binning=False)).tiles
    assert {one.visibility for one in facts} == {"none"}
    assert known(facts) == [(1, 1)] * 3


def test_what_streams_say() -> None:
    streams: dict[int, dict[int, int | None]] = {0: {0: 12}, 1: {}, 2: {}}
    facts = saying(found_in(Stream(TILES)), streams)
    assert known(facts) == [(1, 1), (1, 1), (0, 1)]
    assert [one.primitives for one in facts] == [12, None, 0]
    facts = saying(found_in(Stream(TILES)), {0: {0: None}})
    assert facts[0].primitives is None
    facts = saying(found_in(Stream(TILES)), {})
    assert known(facts)[0] == (None, 1)


def test_cells_of_odd_bins() -> None:
    found = found_in(Stream(TILES))
    found.bin_size = Size(0, 16)
    assert found.tiles[1].cell is None
    found.bin_size = None
    assert found.tiles[1].cell is None
    found.bin_size = Size(256, 256)
    found.tiles[1].window_offset = None
    found.tiles[1].window_scissor = Rectangle(512, 256, 768, 512)
    assert found.tiles[1].cell == (2, 1)
    found.tiles[1].window_scissor = None
    assert found.tiles[1].cell is None


def test_what_merged_bins_cover() -> None:
    """Slots 2 and 3 of a pipe of 2 x 2 are the lower row; the window scissor is not theirs."""
    tiles = [NewTile((0, 0)), NewTile((256, 0)), NewTile((0, 256), bin_word=1 << 16 | 2 << 22 | 1)]
    found = found_in(Stream(tiles))
    found.tiles[2].merged_slots = (2, 3)
    facts = found.tiles
    assert [one.bins for one in facts] == [(), (), ((0, 1), (1, 1))]
    assert facts[2].rectangle == Rectangle(0, 256, 512, 512)
    assert facts[0].rectangle == Rectangle(0, 0, 256, 256)
    found.framebuffer = Size(400, 400)
    assert found.tiles[2].rectangle == Rectangle(0, 256, 400, 400)
    found.pipes.clear()
    assert found.tiles[2].bins == ()
