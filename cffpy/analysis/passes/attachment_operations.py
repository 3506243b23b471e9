# SPDX-License-Identifier: MIT
"""Loads, clears and stores of a pass: which are executed, and of which attachments they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.attachments import Attachment
    from cffpy.analysis.passes.model import Operation, Pass


def rendered_operations(found: Pass) -> Iterator[Operation]:
    """Those that are executed, or may be, in tiles or in sysmem mode: not in the binning run."""
    for run in found.runs:
        if run is not found.binning:
            yield from (one for one in run.operations if one.action.executed.is_possible)


def operation_counts(found: Pass) -> Counter[tuple[Attachment, str]]:
    """How many operations of each kind are executed, or may be, on each attachment."""
    return Counter(
        (attachment, operation.kind)
        for operation in rendered_operations(found)
        for attachment in attachments_of(found, operation)
    )


def attachments_of(found: Pass, operation: Operation) -> list[Attachment]:
    """The attachments that an operation is of; [] where the pass has none of its names.

    Stencil may lie in the depth buffer.
    """
    known = {attachment.name for attachment in found.attachments}
    names = (operation.attachment or "").split("+")
    if "stencil" not in known:
        names = ["depth" if name == "stencil" else name for name in names]
    return [
        used_attachment([one for one in found.attachments if one.name == name], operation)
        for name in dict.fromkeys(names)
        if name in known
    ]


def used_attachment(same: list[Attachment], operation: Operation) -> Attachment:
    """Which of the attachments of one name an operation uses: by address, or by GMEM offset.

    Subpasses may have different attachments of one name.
    """
    moved = {operation.address, operation.source} - {None}
    by_address = [attachment for attachment in same if attachment.address in moved]
    by_offset = [attachment for attachment in same if attachment.gmem == operation.gmem]
    return (by_address or by_offset or same)[0]
