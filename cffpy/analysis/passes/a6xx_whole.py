# SPDX-License-Identifier: MIT
"""What a pass of a6xx or a7xx shows only as a whole: grid, render area, framebuffer."""

from __future__ import annotations

from cffpy.analysis.passes.model import Pass, Rectangle, Size

#: turnip clips tiles to what a viewport may be, if to nothing else.
_LARGEST = 16384

#: Loads and stores are rounded outwards to blocks of this size.
_BLOCK, _BLOCK_HEIGHT = 16, 4


def finish_gmem(found: Pass) -> None:
    """Grid, render area and framebuffer of a GMEM pass, by its tiles and what is moved."""
    size = found.bin_size
    offsets = [tile.window_offset for tile in found.tiles if tile.window_offset is not None]
    if found.grid is None and size is not None and offsets:
        found.grid = Size(
            max(x for x, _ in offsets) // size.width + 1,
            max(y for _, y in offsets) // size.height + 1,
        )
    rectangles = [tile.rectangle for tile in found.tiles if tile.rectangle is not None]
    if not rectangles:
        return
    walked = _union(rectangles)
    _find_render_area(found, walked)
    if found.framebuffer is not None or size is None:
        return
    is_clipped = (walked.size.width % size.width and walked.right != _LARGEST) or (
        walked.size.height % size.height and walked.bottom != _LARGEST
    )
    is_filled = found.render_area == walked and not found.render_area_rounded
    if is_clipped or is_filled:
        # gallium clips tiles to the framebuffer; and no render area is larger than that
        found.framebuffer = walked.size
    else:
        found.framebuffer_limit = walked.size
        found.unknown.append("framebuffer size: tiles are not clipped to it")


def _find_render_area(found: Pass, walked: Rectangle) -> None:
    """What loads, clears and stores may touch.

    BLIT events clear it exactly, load and store it rounded to blocks. Clears in the middle of a
    pass may touch less. CP_BLIT stores it exactly, tile by tile.
    """
    clears, moves, blits = _scissors(found)
    if not clears and not moves and not blits:
        return
    area = _union(blits or [*clears, *moves])
    if area.right > walked.right + _BLOCK or area.bottom > walked.bottom + _BLOCK:
        found.unknown.append("render area: loads and stores are not scissored to it")
        return
    if clears and not blits:
        cleared = _union(clears)
        moved = _union(moves) if moves else cleared
        if cleared.rounded(_BLOCK, _BLOCK_HEIGHT) == moved.rounded(_BLOCK, _BLOCK_HEIGHT):
            found.render_area = cleared
            return
    found.render_area = area
    found.render_area_rounded = not blits


def find_sysmem_area(found: Pass) -> None:
    """The render area of a sysmem pass: what CP_BLIT clears first, and resolves in the end."""
    run, size = found.direct, found.framebuffer
    if run is None or size is None:
        return
    filled = [
        operation.scissor
        for operation in run.operations
        if operation.how == "CP_BLIT"
        and operation.attachment is not None
        and operation.action.executed.is_possible
        and operation.scissor is not None
    ]
    if not filled:
        return
    area = _union(filled)
    if 0 <= area.left < area.right <= size.width and 0 <= area.top < area.bottom <= size.height:
        found.render_area = area


def _scissors(found: Pass) -> tuple[list[Rectangle], list[Rectangle], list[Rectangle]]:
    """Of clears by event, of loads and stores by event, of stores by CP_BLIT."""
    clears: list[Rectangle] = []
    moves: list[Rectangle] = []
    blits: list[Rectangle] = []
    for operation in (operation for run in found.runs for operation in run.operations):
        scissor = operation.scissor
        if scissor is None or not operation.action.executed.is_possible:
            continue
        if operation.how == "BLIT event":
            (clears if operation.kind == "clear" else moves).append(scissor)
        elif operation.how == "CP_BLIT" and operation.limit is not None:
            filled = scissor.common(operation.limit)
            if filled.size.width and filled.size.height:
                blits.append(filled)
    return clears, moves, blits


def _union(rectangles: list[Rectangle]) -> Rectangle:
    return Rectangle(
        min(rectangle.left for rectangle in rectangles),
        min(rectangle.top for rectangle in rectangles),
        max(rectangle.right for rectangle in rectangles),
        max(rectangle.bottom for rectangle in rectangles),
    )


def count_layers(found: Pass) -> int | None:
    """How often one run does the same to an attachment at different addresses."""
    run = found.direct or (found.tiles[0] if found.tiles else None)
    if run is None:
        return None
    addresses: dict[tuple[str, str], set[int]] = {}
    for operation in run.operations:
        if operation.attachment is None or operation.address is None:
            continue
        if operation.action.executed.is_possible:
            key = (operation.kind, operation.attachment)
            addresses.setdefault(key, set()).add(operation.address)
    return max(map(len, addresses.values()), default=None)
