# SPDX-License-Identifier: MIT
"""Where the attachments of a GMEM pass lie in memory, by its stores and loads.

The vendor's driver sets the base registers of colour and depth buffers in a draw-state group that
is loaded in sysmem mode only. In a GMEM pass they are those of an older pass.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.passes.tracker import merged, replace_targets
from cffpy.frame.attachment import Attachment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.frame.passes import Operation, Pass

_COLOURS, _DEPTH, _STENCIL = 8, 8, 9

#: An attachment's name and GMEM offset.
_Place = tuple[str | None, int | None]


def find_memory(found: Pass) -> None:
    """Replace the memory of a pass's attachments by where its stores and loads have them.

    That of others is unknown. Buffers that only operations name become attachments, too.
    """
    operations = [
        operation
        for run in found.runs
        for operation in run.operations
        if operation.how == "BLIT event" and operation.action.execution.is_possible
    ]
    for operation in operations:
        operation.attachment = operation.attachment or _buffer_name(operation)
    moved = _moved(operations)
    names = Counter(name for name, _ in moved)
    changed: dict[Attachment, Attachment] = {}

    def in_memory(attachment: Attachment) -> Attachment:
        if attachment not in changed:
            operation = moved.get((attachment.name, attachment.gmem))
            if operation is None and names[attachment.name] == 1:
                operation = next(o for (name, _), o in moved.items() if name == attachment.name)
            changed[attachment] = _with_memory(attachment, operation)
        return changed[attachment]

    others = _unbound(found, operations)
    found.attachments = merged(map(in_memory, [*found.attachments, *others]))
    replace_targets(found.actions, in_memory)


def _buffer_name(operation: Operation) -> str | None:
    """The attachment that the event itself names: BUFFER_ID."""
    number = operation.buffer_id
    if number is None:
        return None
    if number < _COLOURS:
        return f"color {number}"
    return {_DEPTH: "depth", _STENCIL: "stencil"}.get(number)


def _moved(operations: list[Operation]) -> dict[_Place, Operation]:
    """The operation that shows an attachment's memory: its last store, else its last load."""
    moved: dict[_Place, Operation] = {}
    for kind in ("load", "store"):
        for operation in operations:
            if operation.kind == kind and operation.address is not None:
                moved[_buffer_of(operation), operation.gmem] = operation
    return moved


def _buffer_of(operation: Operation) -> str | None:
    """The attachment of an event: the depth buffer where stencil is packed with it."""
    name = operation.attachment
    return None if name is None else name.partition("+")[0]


def _with_memory(attachment: Attachment, operation: Operation | None) -> Attachment:
    if operation is None:
        return replace(
            attachment, address=None, tiling=None, pitch=None, flags=None, layer_pitch=None
        )
    return replace(
        attachment,
        address=operation.address,
        tiling=operation.tiling if attachment.name.startswith("color") else None,
        pitch=operation.pitch,
        ubwc=operation.flags is not None,
        flags=operation.flags,
        layer_pitch=operation.layer_pitch,
    )


def _unbound(found: Pass, operations: Iterable[Operation]) -> list[Attachment]:
    """Buffers that operations name and no draw of the pass has."""
    known = {attachment.name for attachment in found.attachments}
    buffers: dict[str, Attachment] = {}
    for operation in operations:
        name = _buffer_of(operation)
        if name is not None and name not in known:
            buffers.setdefault(
                name,
                Attachment(
                    name, None, operation.format, gmem=operation.gmem, samples=found.samples
                ),
            )
    return list(buffers.values())
