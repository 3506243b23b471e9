# SPDX-License-Identifier: MIT
"""All tiles are compared, each with the tile of its rectangle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest

import cffpy
from cffpy.analysis.diff.tiles import operations_of_some_tiles
from cffpy.frame.passes import Pass
from tests.analysis.passes.batches import RECTANGLES, Batch
from tests.analysis.passes.batches import capture as batch_capture
from tests.builders import type4, type7
from tests.tile_streams import (
    DRAWS,
    INDIRECT,
    MEM_WRITE,
    OVERRIDE,
    STORE,
    WINDOW_OFFSET,
    WINDOW_SCISSOR,
    NewTile,
    Stream,
    point,
)

#: A packet with constants of a program.
WAIT_FOR_IDLE, LOAD_STATE6_GEOM, SET_BIN = 0x26, 0x32, 0x4C
CONSTANTS = type7(LOAD_STATE6_GEOM, 1 << 14 | 8 << 18 | 1 << 22, 0, 0, 1, 2, 3, 4)

#: Two writes of HLSQ_INVALIDATE_CMD, which are commands.
INVALIDATED = [*type4(0xAB1F, 1), *type4(0xAB1F, 2)]

CORNERS = [(0, 0), (256, 0), (0, 256), (256, 256)]


@dataclass
class Frame(Stream):
    """``edited``: number of a tile -> what its commands are, of those that it had."""

    edited: dict[int, str] = field(default_factory=dict)
    gpu: int = 740

    def _tile(self, tile: NewTile) -> list[int]:
        commands = super()._tile(tile)
        edit = self.edited.get(CORNERS.index(tile.offset))
        x, y = tile.offset
        draws = type7(INDIRECT, DRAWS, 0, len(self._draws()))
        store = type7(INDIRECT, STORE, 0, len(self._unpatched()[2]))
        last = point(x + 255, y + 255)
        changes = {
            "no draws": (draws, type7(0x10, *draws[1:])),
            "no store": (store, type7(0x10, *store[1:])),
            "offset": (type4(WINDOW_OFFSET, point(x, y)), type4(WINDOW_OFFSET, point(x, y + 8))),
            "scissor": (
                type4(WINDOW_SCISSOR, point(x, y), last),
                type4(WINDOW_SCISSOR, point(x, y), point(x + 255, y + 254)),
            ),
            "depth": (draws, [*type4(0x8871, 1), *draws]),
            "override": (type7(OVERRIDE, 0), type7(OVERRIDE, 1)),
            "invalidated": (draws, [*INVALIDATED, *draws]),
            "invalidated once": (draws, [*INVALIDATED[2:], *draws]),
            "bin data": (draws, [*bin_data(0x1_00005000), *draws]),
            "other bin data": (draws, [*bin_data(0x2_00005000), *draws]),
            "wait": (draws, [*type7(WAIT_FOR_IDLE), *draws]),
            "constants": (draws, [*CONSTANTS, *draws]),
            "draw in memory": (
                draws,
                [*type7(MEM_WRITE, DRAWS + 4 * len(self._draws()) - 4, 0, 6), *draws],
            ),
        }
        return commands if edit is None else replaced(commands, *changes[edit])


def bin_data(address: int) -> list[int]:
    """CP_SET_BIN_DATA5 with the address of a stream."""
    return type7(0x2F, 0, address & 0xFFFFFFFF, address >> 32, 0x6000, 1, 0x7000, 1)


def edited(good: dict[int, str], bad: dict[int, str]) -> list[str]:
    """The titles where both captures are edited."""
    tiles = [NewTile(corner) for corner in CORNERS]
    return [*compared(*(Frame(tiles, is_patched=False, edited=of).build() for of in (good, bad)))]


def replaced(commands: list[int], old: list[int], new: list[int]) -> list[int]:
    at = next(n for n in range(len(commands)) if commands[n : n + len(old)] == old)
    return commands[:at] + new + commands[at + len(old) :]


def titles(edited: dict[int, str], order: list[int] | None = None) -> list[str]:
    tiles = [NewTile(corner) for corner in CORNERS]
    others = tiles if order is None else [tiles[number] for number in order]
    good = Frame(tiles, is_patched=False).build()
    bad = Frame(others, is_patched=False, edited=edited).build()
    return [*compared(good, bad)]


def compared(good: bytes, bad: bytes) -> Iterator[str]:
    return (entry.title for entry in cffpy.diff(cffpy.open(good), cffpy.open(bad)).entries)


def test_equal_tiles() -> None:
    assert titles({}) == []


@pytest.mark.parametrize("number", [1, 2, 3])
def test_draws_that_are_missing_in_one_tile(number: int) -> None:
    assert titles({number: "no draws"}) == [
        f"draw p0:0 of good is missing in bad, tile p0:t{number}"
    ]


def test_draws_that_are_missing_in_the_first_tile() -> None:
    """The draw is compared in another tile then: in the same one of both captures."""
    assert titles({0: "no draws"}) == ["draw p0:0 of good is missing in bad, tile p0:t0"]


def test_draws_that_are_missing_in_several_tiles() -> None:
    assert titles(dict.fromkeys((1, 2), "no draws")) == [
        "draw p0:0 of good is missing in bad, tiles p0:t1-2"
    ]


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_store_that_is_missing_in_one_tile(number: int) -> None:
    (title,) = titles({number: "no store"})
    assert title.startswith(f"tile p0:t{number}: an unknown attachment at the end: store → nothing")


def test_a_store_that_is_missing_in_some_tiles_or_all() -> None:
    (title,) = titles(dict.fromkeys((0, 2), "no store"))
    assert title.startswith("tiles p0:t0, p0:t2: an unknown attachment at the end: store")
    (title,) = titles(dict.fromkeys(range(4), "no store"))
    assert title.startswith("pass 0: an unknown attachment at the end: store → nothing")


@pytest.mark.parametrize("number", [1, 3])
def test_state_of_one_tile(number: int) -> None:
    (title,) = titles({number: "offset"})
    assert title.startswith(f"tile p0:t{number}: ")
    assert "window offset" in title.lower().replace("_", " ")
    (title,) = titles({number: "depth"})
    assert title.startswith(f"tile p0:t{number}: RB_DEPTH_CNTL: not written → ")


def test_packets_of_one_tile() -> None:
    (title,) = titles({2: "wait"})
    assert title == (
        "tile p0:t2: waits and cache events at its start: without CP_WAIT_FOR_IDLE → "
        "CP_WAIT_FOR_IDLE"
    )
    (title,) = titles({2: "override"})
    assert title.startswith("tile p0:t2: visibility override of the tile: ")
    (title,) = titles(dict.fromkeys((1, 2, 3), "wait"))
    assert title.startswith("tiles p0:t1-3: waits and cache events at its start: ")


@pytest.mark.parametrize(("number", "place"), [(0, "draw p0:0"), (2, "tile p0:t2")])
def test_writes_of_one_tile_that_are_commands(number: int, place: str) -> None:
    """The last write is the same. In the first tile, draws are compared."""
    good = dict.fromkeys(range(4), "invalidated")
    assert edited(good, good) == []
    (title,) = edited(good, {**good, number: "invalidated once"})
    assert title.startswith(f"{place}: write of HLSQ_INVALIDATE_CMD: ")
    (title,) = edited(good, dict.fromkeys(good, "invalidated once"))
    assert title.startswith("draw p0:0: write of HLSQ_INVALIDATE_CMD: ")


@pytest.mark.parametrize(("number", "place"), [(0, "draw p0:0"), (2, "tile p0:t2")])
def test_the_upper_half_of_an_address_in_one_tile(number: int, place: str) -> None:
    good = dict.fromkeys(range(4), "bin data")
    assert edited(good, good) == []
    assert edited(good, dict.fromkeys(good, "other bin data")) == []
    (title,) = edited(good, {**good, number: "other bin data"})
    assert title.startswith(f"{place}: address of CP_SET_BIN_DATA5 (")
    assert title.endswith(": 0x100005000 → 0x200005000")


def test_what_packets_load_in_one_tile() -> None:
    (title,) = titles({2: "constants"})
    assert title == "tile p0:t2: constants VS 0: missing → there"


def test_what_packets_load_in_several_tiles_of_both() -> None:
    """Tiles that load alike in both captures do not differ, whatever other tiles load."""
    edited = {1: "constants", 3: "constants"}
    tiles = [NewTile(corner) for corner in CORNERS]
    good = Frame(tiles, is_patched=False, edited=edited).build()
    assert [*compared(good, good)] == []
    bad = Frame(tiles, is_patched=False, edited={1: "constants"}).build()
    assert [*compared(good, bad)] == ["tile p0:t3: constants VS 0: there → missing"]


def test_draws_of_one_tile_with_other_parameters() -> None:
    """What is written to memory in a tile holds for the tiles after it, too."""
    assert titles({2: "draw in memory"}) == [
        "tiles p0:t2-3: indices: 3 → 6",
        "tile p0:t2: other commands at its start: without CP_MEM_WRITE → CP_MEM_WRITE",
    ]


@pytest.mark.parametrize("edit", ["offset", "depth", "wait", "constants"])
def test_tiles_in_another_order(edit: str) -> None:
    """Each tile is compared with that of its rectangle: nothing else differs."""
    order = [0, 3, 1, 2]
    assert titles({}, order) == []
    (title,) = titles({2: edit}, order)
    assert title.startswith("tile p0:t2: ")


@pytest.mark.parametrize("edit", ["offset", "depth", "wait", "constants"])
def test_tiles_of_two_generations(edit: str) -> None:
    tiles = [NewTile(corner) for corner in CORNERS]
    good = cffpy.open(Frame(tiles, is_patched=False).build(660))
    bad = cffpy.open(Frame(tiles, is_patched=False, edited={2: edit}).build())
    entries = cffpy.diff(good, bad).entries  # the store is by registers of a7xx
    found = [one.title for of in entries for one in (of, *of.consequences)]
    assert len([one for one in found if one.startswith("tile p0:t2: ")]) == 1
    assert all(one.startswith(("tile p0:t2: ", "pass 0: ")) for one in found)


def test_what_differs_in_all_other_tiles_is_one_entry() -> None:
    (title,) = titles(dict.fromkeys((1, 2, 3), "depth"))
    assert title.startswith("tiles p0:t1-3: RB_DEPTH_CNTL: not written → ")


def test_tiles_are_counterparts_by_their_rectangles() -> None:
    assert titles({}, [0, 2, 1, 3]) == []


def test_a_tile_that_is_missing() -> None:
    found = titles({}, [0, 1, 3])
    assert "tile p0:t2 of good is missing in bad" in found


def test_facts_of_extents() -> None:
    tiles = [NewTile(corner) for corner in CORNERS]
    good = Frame(tiles, is_patched=False).build()
    bad = Frame(tiles, is_patched=False, edited={2: "no draws"}).build()
    found = cffpy.diff(cffpy.open(good), cffpy.open(bad)).to_dict()
    (extent,) = found["entries"][0]["extents"]
    assert (extent["of"], extent["first_tile"], extent["last_tile"]) == ("tiles", 2, 2)


def test_registers_that_are_not_compared_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles whose order differs too often: here, at all."""
    tiles = [NewTile(corner) for corner in CORNERS]
    good = cffpy.open(Frame(tiles, is_patched=False).build())
    bad = cffpy.open(Frame(tiles[::-1], is_patched=False, edited={1: "depth", 2: "depth"}).build())
    assert cffpy.diff(good, bad).undecided == 0
    monkeypatch.setattr("cffpy.analysis.diff.tiles._MAX_RESTARTS", 0)
    for strict in (False, True):
        found = cffpy.diff(good, bad, strict=strict)
        assert [rule.rule for rule in found.rules if not rule.decided] == ["uncompared"]
        assert not found.is_equal


#: The load of a sampler of the fragment stage of a4xx, before its two dwords.
LOAD_SAMPLER = 4 << 18 | 1 << 22, 0


@pytest.mark.parametrize("changed", [0, 1])
def test_what_a_tile_loads_before_it_begins(changed: int) -> None:
    """A tile of a3xx and a4xx begins with its first action: the load of an attachment."""

    def of(samplers: Sequence[int]) -> bytes:
        batch = Batch(430).set("RB_FRAME_BUFFER_DIMENSION", WIDTH=64, HEIGHT=32)
        draws = batch.ib().set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15).draw()
        for x, sampler in zip((0, 32), samplers, strict=True):
            batch.set("RB_MODE_CONTROL", WIDTH=32, HEIGHT=32, ENABLE_GMEM=0)
            batch.packet("CP_LOAD_STATE4", *LOAD_SAMPLER, sampler, 0).draw(RECTANGLES, 2)
            batch.set("RB_MODE_CONTROL", WIDTH=32, HEIGHT=32, ENABLE_GMEM=1)
            batch.packet(SET_BIN, 0, x, x + 31 | 31 << 16).set("RB_BIN_OFFSET", X=x, Y=0)
            batch.call(draws)
        return batch_capture(batch)

    good = of((0, 0))
    assert [*compared(good, of((0, 0)))] == []
    (title,) = compared(good, of([int(number == changed) for number in (0, 1)]))
    assert "sampler FS 0" in title


def test_passes_of_which_one_has_no_tiles() -> None:
    """A damaged stream begins a pass and no tile: nothing of the tiles can be compared."""
    tiles, none = (cast("Pass", SimpleNamespace(tiles=tiles)) for tiles in ([None, None], []))
    assert operations_of_some_tiles(tiles, none) == frozenset()
    assert operations_of_some_tiles(none, tiles) == frozenset()
