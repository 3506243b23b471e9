# SPDX-License-Identifier: MIT
"""Facts of each tile of a pass: place in the grid, draws executed and skipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.conditions import Executed
from cffpy.analysis.passes.geometry import Rectangle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cffpy.analysis.passes.model import Operation, Pass, Tile
    from cffpy.analysis.visibility_model import TileVisibility

#: What visibility streams do in a tile: decide which draws are executed; are there and ignored;
#: were never made, so all draws are executed; or it is unknown which.
Visibility = Literal["streams", "ignored", "none", "unknown"]


@dataclass(slots=True)
class TileFacts:
    """One tile. None: unknown."""

    tile: Tile
    column: int | None
    row: int | None
    visibility: Visibility
    #: The program's draws that its commands hold.
    draws: int
    executed: int | None
    skipped: int | None
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


def _facts(found: Pass, tile: Tile, visible: TileVisibility | None) -> TileFacts:
    draws = [draw for draw in tile.draws if draw.program_number is not None]
    conditional = [draw for draw in draws if draw.executed is Executed.UNKNOWN]
    visibility = _visibility(found, tile)
    if visibility != "streams":
        visible = None
    executed = None
    if visible is not None:
        executed = sum(draw.program_number in visible.draws for draw in draws)
    elif visibility in ("ignored", "none") and not conditional:
        executed = len(draws)
    return TileFacts(
        tile,
        *_cell(found, tile),
        visibility,
        len(draws),
        executed,
        None if executed is None else len(draws) - executed,
        None if visible is None else visible.total_primitives,
        conditional[0].condition if conditional else None,
        len(conditional),
        [one for one in tile.operations if one.action.executed.is_possible],
        covered(found, tile),
    )


def covered(found: Pass, tile: Tile) -> Rectangle | None:
    """The part of the framebuffer that a tile renders: its scissor without what sticks out.

    None where the scissor is unknown. The scissors of the last column and row may be whole bins.
    """
    size = found.framebuffer
    if tile.rectangle is None or size is None:
        return tile.rectangle
    return tile.rectangle.common(Rectangle(0, 0, size.width, size.height))


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
