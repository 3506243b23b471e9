# SPDX-License-Identifier: MIT
"""Bytes that passes move, by formula."""

from __future__ import annotations

from cffpy.analysis.pass_cost import costs_of_passes, ranked
from cffpy.views.pass_cost import document, lines
from tests.analysis.passes.marked import BOTH, COLOUR, GMEM_DEPTH, between, move, targets, tile
from tests.analysis.passes.streams import Streams


def tiles(s: Streams, *stores: list[int], loads: list[int], samples: int = 0) -> list[int]:
    """Two tiles of 128 x 96 and 72 x 96, of a framebuffer of 200 x 96."""
    draws = s.ib(targets(s, samples=samples), loads, s.draw())
    store = [dword for part in stores for dword in part]
    return [*tile(s, 0, 0, 128, 96, draws, store), *tile(s, 128, 0, 72, 96, draws, store)]


@BOTH
def test_tiles(gpu: int) -> None:
    s = Streams(gpu)
    load = move(s, "LOAD", 0, COLOUR)
    clear = move(s, "CLEAR", GMEM_DEPTH, depth=True)
    store = move(s, "STORE", 0, COLOUR)
    (cost,) = costs_of_passes(s.find(tiles(s, store, loads=[*load, *clear])).found)
    pixels = 200 * 96
    assert [(one.kind, one.attachment, one.times, one.pixels) for one in cost.operations] == [
        ("load", "color 0", 2, pixels),
        ("clear", "depth", 2, pixels),
        ("store", "color 0", 2, pixels),
    ]
    assert (cost.total("load"), cost.total("store")) == (4 * pixels, 4 * pixels)
    assert cost.memory_bytes == 8 * pixels  # a clear of GMEM moves nothing
    assert cost.gmem_used == 128 * 96 * (4 + 4)
    assert cost.not_counted == 0


@BOTH
def test_pixels_are_those_of_the_render_area(gpu: int) -> None:
    """In the first tile 28 x 48 of them, in the second 12 x 48."""
    s = Streams(gpu)
    load = [*s.scissor("RB_BLIT_SCISSOR", 100, 16, 40, 48), *move(s, "LOAD", 0, COLOUR)]
    (cost,) = costs_of_passes(s.find(tiles(s, loads=load)).found)
    assert [(one.kind, one.times, one.pixels) for one in cost.operations] == [("load", 2, 40 * 48)]


@BOTH
def test_samples_and_resolves(gpu: int) -> None:
    s = Streams(gpu)
    load = move(s, "LOAD", 0, COLOUR, samples=2)
    resolve = move(s, "STORE", 0, COLOUR)
    (cost,) = costs_of_passes(s.find(tiles(s, resolve, loads=load, samples=2)).found)
    pixels = 200 * 96
    assert (cost.total("load"), cost.total("resolve")) == (16 * pixels, 4 * pixels)
    assert cost.gmem_used == 128 * 96 * 8 * 4


def test_ranking_and_texts() -> None:
    s = Streams(630)
    store = move(s, "STORE", 0, COLOUR)
    first = tiles(s, store, loads=[])
    second = tiles(s, store, loads=move(s, "LOAD", 0, COLOUR))
    costs = costs_of_passes(s.find([*first, *between(s), *second]).found)
    assert [cost.pass_.index for cost in ranked(costs)] == [1, 0]
    whole = sum(cost.memory_bytes for cost in costs)
    assert whole == 3 * 4 * 200 * 96
    shown = list(lines(costs, whole))
    assert shown[0] == "230,400 bytes loaded, stored and resolved by all render passes"
    assert shown[1].endswith("153,600 bytes, 66.7 %")
    assert "     load color 0: 19,200 pixels x 4 bytes = 76,800 bytes, 2 times" in shown
    found = document(costs, whole)
    assert [one["rank"] for one in found["passes"]] == [2, 1]
    assert [round(one["share"], 3) for one in found["passes"]] == [0.333, 0.667]
    assert list(lines([], 0)) == ["0 bytes loaded, stored and resolved by all render passes"]
