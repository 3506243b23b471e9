# SPDX-License-Identifier: MIT
"""Transfers of passes: what rectangle draws move, and which attachments operations are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.attachments import written_components
from cffpy.analysis.passes.attachment_operations import attachments_of
from cffpy.analysis.passes.transfer_registers import GMEM_END, end_of_attachment
from cffpy.analysis.texture_descriptors import read_texel_order, read_texture, texture_dwords
from cffpy.frame.attachment import Transfer, TransferEnd
from cffpy.frame.passes import Tile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.passes.tracker import Tracker
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.geometry import Rectangle
    from cffpy.frame.passes import Operation, Pass

#: Where the texture descriptors of fragment shaders are, and the names of tile modes.
_TEXTURES, _TILE_MODES = "SP_FS_TEX_CONST", "a6xx_tile_mode"


# -- rectangle draws of a6xx and later ------------------------------------------------------------


def rectangle_transfers(
    tracker: Tracker, action: Action, has_source: bool, in_gmem: bool = False
) -> tuple[Transfer, ...]:
    """What a driver's rectangle draw moves, a transfer for each target that it writes.

    ``has_source``: it copies its first texture; else it fills. ``in_gmem``: the targets are there.
    Rectangles are those that its constants have; the value of a fill is not looked for.
    """
    found_corners = tracker.corners.of(tracker.registers, action, has_source)
    rectangle = None if found_corners is None else found_corners.target
    source = _first_texture(tracker) if has_source else None
    if source is not None and found_corners is not None:
        source = source._replace(rectangle=found_corners.texture)
    depth = tracker.registers.flag("RB_DEPTH_CNTL", "Z_WRITE_ENABLE")
    stencil = tracker.registers.flag("RB_STENCIL_CONTROL", "STENCIL_ENABLE")
    targets = tracker.targets()
    names = written_components(targets, depth, stencil)
    found = []
    for target in targets:
        written = _written_parts(target, targets, names)
        if written:
            end = end_of_attachment(target, in_gmem, rectangle)
            resolves = (1 if source is None else source.samples or 1) > 1 and end.samples == 1
            name = "+".join(written)
            found.append(Transfer(source, end, resolves=resolves, attachment=name))
    return tuple(found)


def _written_parts(
    target: Attachment, targets: Sequence[Attachment], names: Sequence[str]
) -> list[str]:
    """What is written of a target: itself, or depth and stencil in one buffer."""
    parts: tuple[str, ...] = (target.name,)
    if target.name == "depth" and not any(one.name == "stencil" for one in targets):
        parts = ("depth", "stencil")
    return [name for name in names if name in parts]


def _first_texture(tracker: Tracker) -> TransferEnd | None:
    """The first texture of fragment shaders; None where its descriptor was not captured."""
    machine = tracker.walk.machine
    address = tracker.registers.address(_TEXTURES)
    size = texture_dwords(machine.gpu.facts)
    place = machine.image.place(address) if address and size else None
    if place is None or place[1] + size > place[0].count:
        return None
    dwords = place[0].data[place[1] : place[1] + size].tolist()
    texture, order = read_texture(machine, dwords), read_texel_order(machine, dwords)
    if texture is None or order is None:
        return None
    in_gmem = texture.address < GMEM_END
    return TransferEnd(
        address=None if in_gmem else texture.address,
        gmem=texture.address if in_gmem else None,
        format=texture.format,
        tiling=machine.enum_name(_TILE_MODES, texture.tile_mode),
        swap=order.swap,
        samples=texture.samples,
        pitch=texture.pitch,
        layer_pitch=texture.array_pitch,
        ubwc=texture.ubwc,
        flags=texture.flags if texture.ubwc else None,
        flag_pitch=texture.flag_pitch if texture.ubwc else None,
        width=texture.width,
        height=texture.height,
    )


# -- a pass as a whole ----------------------------------------------------------------------------


def complete_transfers(found: Pass) -> None:
    """Give each transfer of a pass its attachment; make those of operations that have none yet.

    To be called when the operations are final.
    """
    known: dict[tuple[int, str | None, int | None], Transfer] = {}
    for run in found.runs:
        rectangle = run.window_scissor if isinstance(run, Tile) else None
        made: dict[int, list[Transfer]] = {}
        for operation in run.operations:
            action = operation.action
            if action.order in made or not action.transfers:
                transfers = made.setdefault(action.order, [])
                transfers.extend(_transfers_of(operation, found, rectangle))
                action.transfers = tuple(transfers)
            elif len(action.transfers) == 1:
                (one,) = action.transfers
                key = id(one), operation.attachment, operation.gmem
                if key not in known:
                    known[key] = _completed(one, operation)
                action.transfers = (known[key],)


def _completed(transfer: Transfer, operation: Operation) -> Transfer:
    """With the attachment, and the offset in GMEM where the blit has an address in GMEM."""
    source = transfer.source
    if source is not None and source.gmem is not None and operation.how == "CP_BLIT":
        source = source._replace(gmem=operation.gmem)
    return transfer._replace(source=source, attachment=operation.attachment)


def _transfers_of(
    operation: Operation, found: Pass, rectangle: Rectangle | None
) -> Iterator[Transfer]:
    """What a load, store or clear by a rectangle draw moves (a2xx to a5xx)."""
    if not operation.action.execution.is_possible:
        return
    if operation.kind == "clear":
        yield from _clears(operation, found, rectangle)
    elif operation.kind in ("load", "store"):
        memory = TransferEnd(
            address=operation.address,
            format=operation.format,
            tiling=operation.tiling,
            pitch=operation.pitch,
            rectangle=rectangle,
        )
        gmem = TransferEnd(
            gmem=operation.gmem,
            format=operation.format,
            samples=found.samples,
            rectangle=rectangle,
        )
        ends = (memory, gmem) if operation.kind == "load" else (gmem, memory)
        yield Transfer(*ends, resolves=operation.resolves, attachment=operation.attachment)


def _clears(operation: Operation, found: Pass, rectangle: Rectangle | None) -> Iterator[Transfer]:
    """Each attachment that a rectangle clears, with its value."""
    names = (operation.attachment or "").split("+")
    for target in attachments_of(found, operation):
        parts = [name for name in names if name == target.name or _lies_in(name, target, found)]
        end = end_of_attachment(target, found.mode == "gmem", rectangle)
        value = _value(operation, target, len(names) > len(parts))
        yield Transfer(None, end, value, attachment="+".join(parts))


def _lies_in(name: str, target: Attachment, found: Pass) -> bool:
    """Whether stencil of this name is in the depth buffer."""
    is_separate = any(one.name == "stencil" for one in found.attachments)
    return name == "stencil" and target.name == "depth" and not is_separate


def _value(operation: Operation, target: Attachment, has_others: bool) -> tuple[int, ...] | None:
    """The value for a target. ``has_others``: the same rectangle clears other attachments, too."""
    if target.name == "stencil":
        return None if operation.stencil_value is None else (operation.stencil_value,)
    if target.name != "depth":
        return operation.clear_value
    if operation.depth_value is not None:
        return (operation.depth_value,)
    return None if has_others else operation.clear_value
