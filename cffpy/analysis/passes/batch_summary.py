# SPDX-License-Identifier: MIT
"""What follows from a pass of a2xx to a5xx as a whole: grid, framebuffer, whose the operations are.

In GMEM mode an attachment's registers hold its offset in GMEM. Its address in memory is where the
tiles are stored to, or loaded from; without either the stream does not hold it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.passes.model import Rectangle, Size, Tile

if TYPE_CHECKING:
    from cffpy.analysis.attachments import Attachment
    from cffpy.analysis.passes.model import Operation, Pass


def summarise(found: Pass, buffers: tuple[Attachment, ...]) -> None:
    """Fill in what needs the whole pass. ``buffers``: what the registers bound."""
    if not found.attachments:
        found.attachments = list(buffers)
    operations = [operation for run in found.runs for operation in run.operations]
    _name(operations, (*buffers, *found.attachments))
    if found.mode == "gmem":
        _find_memory(found, operations)
        _lay_out_tiles(found)
    formats = {attachment.name: attachment.format for attachment in found.attachments}
    for operation in operations:
        if operation.format is None and operation.attachment is not None:
            known = {formats.get(name) for name in operation.attachment.split("+")} - {None}
            operation.format = known.pop() if len(known) == 1 else None
    if found.samples is None and found.attachments:
        found.samples = found.attachments[0].samples


def _name(operations: list[Operation], buffers: tuple[Attachment, ...]) -> None:
    """By GMEM offset, where that is one buffer's alone."""
    names: dict[int, set[str]] = {}
    for buffer in buffers:
        if buffer.gmem is not None:
            names.setdefault(buffer.gmem, set()).add(buffer.name)
    for operation in operations:
        if operation.attachment is None and operation.gmem is not None:
            possible = names.get(operation.gmem, set())
            if len(possible) == 1:
                operation.attachment = next(iter(possible))


def _find_memory(found: Pass, operations: list[Operation]) -> None:
    in_memory: dict[str, Operation] = {}
    for kind in ("load", "store"):
        for operation in operations:
            if operation.kind == kind and operation.address is not None and operation.attachment:
                in_memory[operation.attachment] = operation
    changed: dict[Attachment, Attachment] = {}

    def with_memory(attachment: Attachment) -> Attachment:
        if attachment not in changed:
            operation = in_memory.get(attachment.name)
            changed[attachment] = attachment
            if operation is not None and attachment.address is None:
                changed[attachment] = replace(
                    attachment,
                    address=operation.address,
                    tiling=operation.tiling,
                    pitch=operation.pitch,
                )
        return changed[attachment]

    found.attachments = list(map(with_memory, found.attachments))
    for action in found.actions:
        action.targets = tuple(map(with_memory, action.targets))


def _lay_out_tiles(found: Pass) -> None:
    """The grid, each tile's pipe, and the area that tiles cover."""
    size = found.bin_size
    placed: list[tuple[Tile, tuple[int, int]]] = [
        (tile, tile.window_offset) for tile in found.tiles if tile.window_offset is not None
    ]
    if size is not None and placed:
        # drivers may render only the part of the framebuffer that is drawn to
        left, top = min(x for _, (x, _) in placed), min(y for _, (_, y) in placed)
        cells = [
            (tile, (x - left) // size.width, (y - top) // size.height) for tile, (x, y) in placed
        ]
        columns, rows = max(cell[1] for cell in cells) + 1, max(cell[2] for cell in cells) + 1
        found.grid = Size(columns, rows)
        for tile, column, row in cells:
            if found.hardware_binning and tile.pipe is None:
                holders = (pipe.number for pipe in found.pipes if pipe.holds(column, row))
                tile.pipe = next(holders, None)
    rectangles = [tile.rectangle for tile in found.tiles if tile.rectangle is not None]
    if not rectangles:
        return
    area = found.render_area = Rectangle(
        min(rectangle.left for rectangle in rectangles),
        min(rectangle.top for rectangle in rectangles),
        max(rectangle.right for rectangle in rectangles),
        max(rectangle.bottom for rectangle in rectangles),
    )
    if found.framebuffer is None:
        if area.left or area.top:
            found.unknown.append("framebuffer size: tiles cover only a part of it")
        else:
            found.framebuffer = area.size
