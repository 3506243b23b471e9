# SPDX-License-Identifier: MIT
"""Facts of each tile of a pass: place in the grid, and its draws.

A draw is *emitted* in a tile if the stream calls it there, *visible* if the visibility stream says
that it draws, *executed* if the conditions hold that it is under.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.conditions import Executed
from cffpy.analysis.passes.geometry import Rectangle
from cffpy.analysis.passes.streams import uses_visibility

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.model import Operation, Pass, Tile
    from cffpy.analysis.visibility_model import TileVisibility

#: What visibility streams do in a tile: decide which draws are visible; are there and ignored;
#: were never made, so all draws are visible; or it is unknown which.
Visibility = Literal["streams", "ignored", "none", "unknown"]


@dataclass(slots=True)
class TileFacts:
    """One tile. None: unknown.

    ``bins``: column and row of each bin that it covers, where it merges several; else ().
    """

    tile: Tile
    bins: tuple[tuple[int, int], ...]
    column: int | None
    row: int | None
    visibility: Visibility
    #: How many of the program's draws are emitted, visible and executed in it.
    emitted: int
    visible: int | None
    executed: int | None
    #: Of visible draws, how many primitives cover it.
    primitives: int | None
    #: The condition that its draws are under, where only the GPU knows whether it holds; and how
    #: many of them.
    condition: str | None
    conditional_draws: int
    #: Loads, clears and stores but those that are certainly not executed.
    operations: list[Operation]
    #: The part of the framebuffer that it renders; see ``covered``.
    rectangle: Rectangle | None

    def of_kind(self, *kinds: str) -> list[Operation]:
        """The operations of these kinds."""
        return [operation for operation in self.operations if operation.kind in kinds]


def tile_facts(
    found: Pass, visibility: Mapping[int, TileVisibility] | None = None
) -> list[TileFacts]:
    """The tiles of a pass in the order of execution.

    ``visibility``: what captured streams say, by number of the tile (``PassVisibility.tiles``).
    """
    captured = visibility or {}
    return [_facts(found, tile, captured.get(tile.number)) for tile in found.tiles]


def is_visible(
    found: Pass, draw: Action, visibility: Mapping[int, TileVisibility] | None = None
) -> bool | None:
    """Whether an execution of one of a pass's draws is visible; None: unknown.

    Outside of tiles nothing hides a draw; a binning run finds out what is visible. ``visibility``:
    as for ``tile_facts``.
    """
    if draw.is_binning:
        return None
    if draw.tile is None:
        return True
    tile = found.tiles[draw.tile]
    return _is_visible(draw, _visibility(found, tile), (visibility or {}).get(tile.number))


def _is_visible(
    draw: Action, visibility: Visibility, captured: TileVisibility | None
) -> bool | None:
    if visibility in ("ignored", "none"):
        return True
    if visibility == "unknown" or captured is None:
        return None
    return draw.program_number in captured.primitives or not uses_visibility(draw)


def _facts(found: Pass, tile: Tile, captured: TileVisibility | None) -> TileFacts:
    draws = [draw for draw in tile.draws if draw.program_number is not None]
    conditional = [draw for draw in draws if draw.executed is Executed.UNKNOWN]
    visibility = _visibility(found, tile)
    answers = [_is_visible(draw, visibility, captured) for draw in draws]
    return TileFacts(
        tile,
        merged_bins(found, tile),
        *_cell(found, tile),
        visibility,
        len(draws),
        None if None in answers else sum(map(bool, answers)),
        None if conditional else len(draws),
        captured.total_primitives if captured and visibility == "streams" else None,
        conditional[0].condition if conditional else None,
        len(conditional),
        [one for one in tile.operations if one.action.executed.is_possible],
        covered(found, tile),
    )


def covered(found: Pass, tile: Tile) -> Rectangle | None:
    """The part of the framebuffer that a tile renders: its area without what sticks out.

    None where the area is unknown.
    """
    size, area = found.framebuffer, area_of(found, tile)
    if area is None or size is None:
        return area
    return area.common(Rectangle(0, 0, size.width, size.height))


def area_of(found: Pass, tile: Tile) -> Rectangle | None:
    """The bins that a tile merges, else its scissor; None where it is unknown.

    The scissors of the last column and row may be whole bins; of merged bins it is the whole
    framebuffer.
    """
    bins = merged_bins(found, tile)
    if not bins or found.bin_size is None:
        return tile.rectangle
    width, height = found.bin_size.width, found.bin_size.height
    return Rectangle.around(
        [Rectangle(x * width, y * height, (x + 1) * width, (y + 1) * height) for x, y in bins]
    )


def merged_bins(found: Pass, tile: Tile) -> tuple[tuple[int, int], ...]:
    """Column and row in the grid of each bin that a tile merges; () where it is a single one.

    Slots go row by row through the rectangle of the pipe.
    """
    pipe = next((pipe for pipe in found.pipes if pipe.number == tile.pipe), None)
    if pipe is None or not tile.merged_slots:
        return ()
    places = (divmod(slot, pipe.width) for slot in tile.merged_slots)
    return tuple((pipe.x + column, pipe.y + row) for row, column in places)


def _visibility(found: Pass, tile: Tile) -> Visibility:
    if not found.hardware_binning:
        return "none"
    if tile.visibility_override is None:
        return "unknown"
    return "ignored" if tile.visibility_override else "streams"


def _cell(found: Pass, tile: Tile) -> tuple[int | None, int | None]:
    """Column and row in the grid of bins."""
    size, corner = found.bin_size, tile.window_offset
    if corner is None and tile.rectangle is not None:
        corner = tile.rectangle.left, tile.rectangle.top
    if size is None or corner is None or not size.width or not size.height:
        return None, None
    return corner[0] // size.width, corner[1] // size.height
