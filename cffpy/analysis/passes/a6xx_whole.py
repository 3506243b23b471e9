# SPDX-License-Identifier: MIT
"""What a pass of a6xx or a7xx shows only as a whole: grid, render area, framebuffer."""

from __future__ import annotations

from cffpy.analysis.passes.model import Pass, Rectangle, Size

#: Loads and stores are rounded outwards to blocks; this is the larger side of one.
_BLOCK = 16


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
    is_clipped = walked.size.width % size.width or walked.size.height % size.height
    is_filled = found.render_area == walked and not found.render_area_rounded
    if is_clipped or is_filled:
        # gallium clips tiles to the framebuffer; and no render area is larger than that
        found.framebuffer = walked.size
    else:
        found.framebuffer_limit = walked.size
        found.unknown.append("framebuffer size: tiles are not clipped to it")


def _find_render_area(found: Pass, walked: Rectangle) -> None:
    """What BLIT events may touch; clears are scissored exactly, loads and stores to blocks."""
    resolves = [
        operation
        for run in found.runs
        for operation in run.operations
        if operation.how == "BLIT event" and operation.action.executed is not False
    ]
    scissors = [operation.scissor for operation in resolves if operation.scissor is not None]
    if not scissors:
        return
    area = _union(scissors)
    if area.right > walked.right + _BLOCK or area.bottom > walked.bottom + _BLOCK:
        found.unknown.append("render area: loads and stores are not scissored to it")
        return
    found.render_area = area
    found.render_area_rounded = all(operation.kind != "clear" for operation in resolves)


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
    addresses: dict[tuple[str, str | None], set[int | None]] = {}
    for operation in run.operations:
        if operation.action.executed is not False and operation.address is not None:
            key = (operation.kind, operation.attachment)
            addresses.setdefault(key, set()).add(operation.address)
    return max(map(len, addresses.values()), default=None)
