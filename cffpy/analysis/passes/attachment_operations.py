# SPDX-License-Identifier: MIT
"""Of which attachments of a pass its loads, clears and stores are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Operation, Pass


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
