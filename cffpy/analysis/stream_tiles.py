# SPDX-License-Identifier: MIT
"""Which tile uses which bin of which VSC pipe, whether that agrees, and what its bin says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.passes import TileVisibility
from cffpy.vsc.bits import slot_bit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.visibility_model import PassVisibility, PipeStreams
    from cffpy.frame.passes import Pass, Tile

#: Number of a tile -> the pipe and the bins that it uses, where nothing contradicts that.
Use = dict[int, tuple["PipeStreams", tuple[int, ...]]]


def tile_slots(tile: Tile) -> tuple[int, ...]:
    """The slots whose visibility a tile takes; several where it covers merged bins."""
    if tile.merged_slots:
        return tile.merged_slots
    return () if tile.slot is None else (tile.slot,)


def position(one: Pass, tile: Tile) -> tuple[int, int] | None:
    """A tile's column and row, by its window offset."""
    if tile.window_offset is None or one.bin_size is None:
        return None
    x, y = tile.window_offset
    return x // one.bin_size.width, y // one.bin_size.height


def position_of_bin(one: Pass, pipe: PipeStreams, slot: int) -> tuple[int, int]:
    """Column and row of a bin: its tile's, or by the order of slots where no tile uses it."""
    tiles = pipe.tiles.get(slot)
    place = position(one, tiles[0]) if tiles else None
    row, column = divmod(slot, pipe.pipe.width)
    return place or (pipe.pipe.x + column, pipe.pipe.y + row)


def give_slots(result: PassVisibility) -> Use:
    """Enter the tiles into their pipes' slots; what does not agree becomes a finding."""
    use: Use = {}
    by_number = {pipe.pipe.number: pipe for pipe in result.pipes}
    for tile in result.one.tiles:
        pipe = by_number.get(-1 if tile.pipe is None else tile.pipe)
        if pipe is None:
            result.findings.add(f"tile {tile.number} lies in no VSC pipe")
            continue
        slots = tile_slots(tile)
        for slot in slots:
            pipe.tiles.setdefault(slot, []).append(tile)
        problems = _problems(result, pipe, tile)
        for problem in problems:
            result.findings.add(f"tile {tile.number}: {problem}")
        if not problems:
            use[tile.number] = pipe, slots
    for pipe in result.pipes:
        for slot, tiles in sorted(pipe.tiles.items()):
            if len(tiles) > 1:
                numbers = ", ".join(str(tile.number) for tile in tiles)
                result.findings.add(
                    f"pipe {pipe.pipe.number}: tiles {numbers} have one slot, {slot}"
                )
                for tile in tiles:
                    use.pop(tile.number, None)
    return use


def fill_tiles(result: PassVisibility, use: Use) -> None:
    """What each tile executes, as far as it is known."""
    everything = _all_draws(result.one)
    for tile in result.one.tiles:
        if tile.visibility_override:
            if result.draws_known:
                result.tiles[tile.number] = everything
        elif tile.visibility_override is False and tile.number in use:
            pipe, slots = use[tile.number]
            if pipe.is_trusted:
                found = _of_bins(pipe, slots)
                if found is not None:
                    result.tiles[tile.number] = found


def _problems(result: PassVisibility, pipe: PipeStreams, tile: Tile) -> list[str]:
    """What does not agree about the bin that a tile uses."""
    return [
        *_slot_problems(result, pipe, tile),
        *_address_problems(pipe, tile),
        *_draw_problems(result, tile),
    ]


def _slot_problems(result: PassVisibility, pipe: PipeStreams, tile: Tile) -> Iterator[str]:
    slots, bin_count = tile_slots(tile), pipe.bin_count
    if not slots:
        yield "its slot is unknown"
    if tile.pipe_tiles != bin_count:
        yield f"its pipe should have {tile.pipe_tiles} bins, but has {bin_count}"
    for slot in slots:
        if slot >= bin_count:
            yield f"slot {slot}, but its pipe has {bin_count} bins"
    place = position(result.one, tile)
    if place is not None and len(slots) == 1:
        column, row = place[0] - pipe.pipe.x, place[1] - pipe.pipe.y
        wanted = row * pipe.pipe.width + column
        if wanted not in slots:
            yield f"slot {slots[0]}, but by its place it has slot {wanted}"


def _address_problems(pipe: PipeStreams, tile: Tile) -> Iterator[str]:
    if tile.streams is None:
        return
    written_addresses = pipe.draw.address, pipe.size_address, pipe.primitive.address
    names = "draw stream", "size", "primitive stream"
    for name, address, written in zip(names, tile.streams, written_addresses, strict=True):
        if address is not None and address != written:
            where = "nowhere" if written is None else f"at {written:#x}"
            yield f"it has its {name} at {address:#x}, the VSC wrote it {where}"


def _draw_problems(result: PassVisibility, tile: Tile) -> Iterator[str]:
    if not result.draws_known or not tile.is_whole:
        return
    actions = [*tile.draws, *(operation.action for operation in tile.operations)]
    count = sum(action.execution.is_possible and action.uses_visibility for action in actions)
    if count != len(result.one.stream_draws):
        yield (
            f"it has {count} draw packets that go by streams, the binning run has"
            f" {len(result.one.stream_draws)}"
        )


def _all_draws(one: Pass) -> TileVisibility:
    numbers = tuple(range(len(one.draws)))
    return TileVisibility(numbers, dict.fromkeys(numbers), overridden=True)


def _of_bins(pipe: PipeStreams, slots: tuple[int, ...]) -> TileVisibility | None:
    """What is visible in bins; None if an entry's draw is unknown."""
    mask = sum(slot_bit(slot) for slot in slots)
    primitives: dict[int, int | None] = {}
    for entry in pipe.visible:
        if not entry.bins & mask:
            continue
        if entry.draw is None:
            return None
        number = entry.draw.action.number
        if number is None:
            continue  # the driver's own
        count = entry.primitives[slots[0]] if entry.primitives and len(slots) == 1 else None
        if pipe.primitives_per_bin is None:
            count = None
        before = primitives.get(number, 0)
        primitives[number] = None if before is None or count is None else before + count
    return TileVisibility(tuple(sorted(primitives)), primitives)
