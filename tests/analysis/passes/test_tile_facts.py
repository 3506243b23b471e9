# SPDX-License-Identifier: MIT
"""What is known of a tile: its cell, its draws, what visibility streams say."""

from __future__ import annotations

import pytest

from cffpy.analysis.passes.geometry import Rectangle, Size
from cffpy.analysis.passes.model import Pass
from cffpy.analysis.passes.tiles import TileFacts, tile_facts
from cffpy.analysis.queries import find_passes
from cffpy.analysis.visibility_model import TileVisibility
from cffpy.container.open import Content
from tests.tile_streams import NewTile, Stream

TILES = [NewTile((0, 0)), NewTile((256, 0), override=1), NewTile((256, 256))]


def found_in(stream: Stream) -> Pass:
    finder, _ = find_passes(Content("-", stream.build(), "none", 0, None), pytest.fail)
    (found,) = finder.found.passes
    return found


def known(facts: list[TileFacts]) -> list[tuple[int | None, int | None]]:
    return [(one.executed, one.skipped) for one in facts]


def test_draws_are_known_where_streams_are_not_used() -> None:
    facts = tile_facts(found_in(Stream(TILES)))
    assert [one.visibility for one in facts] == ["streams", "ignored", "streams"]
    assert [one.draws for one in facts] == [1, 1, 1]
    assert known(facts) == [(None, None), (1, 0), (None, None)]
    assert [(one.column, one.row) for one in facts] == [(0, 0), (1, 0), (1, 1)]
    facts = tile_facts(found_in(Stream(TILES, has_binning=False)))
    assert {one.visibility for one in facts} == {"none"}
    assert known(facts) == [(1, 0)] * 3


def test_what_streams_say() -> None:
    nothing = TileVisibility((), {})
    streams = {0: TileVisibility((0,), {0: 12}), 1: nothing, 2: nothing}
    facts = tile_facts(found_in(Stream(TILES)), streams)
    assert known(facts) == [(1, 0), (1, 0), (0, 1)]
    assert [one.primitives for one in facts] == [12, None, 0]
    facts = tile_facts(found_in(Stream(TILES)), {0: TileVisibility((0,), {0: None})})
    assert facts[0].primitives is None
    facts = tile_facts(found_in(Stream(TILES)), {})
    assert known(facts)[0] == (None, None)


def test_cells_of_odd_bins() -> None:
    found = found_in(Stream(TILES))
    found.bin_size = Size(0, 16)
    assert tile_facts(found)[1].column is None
    found.bin_size = None
    assert tile_facts(found)[1].column is None
    found.bin_size = Size(256, 256)
    found.tiles[1].window_offset = None
    found.tiles[1].rectangle = Rectangle(512, 256, 768, 512)
    assert (tile_facts(found)[1].column, tile_facts(found)[1].row) == (2, 1)
    found.tiles[1].rectangle = None
    assert tile_facts(found)[1].column is None
