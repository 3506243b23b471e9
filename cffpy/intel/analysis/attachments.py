# SPDX-License-Identifier: MIT
"""Attachments of the model, made of the surfaces that draws render to."""

from __future__ import annotations

from cffpy.frame.attachment import Attachment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.intel.analysis.surfaces import Surface


def attachments(
    targets: Iterable[Surface], depth: Surface | None, stencil: Surface | None
) -> tuple[Attachment, ...]:
    """The colour buffers that an action writes, then its depth and stencil buffers."""
    found = [_attachment(f"color {number}", one) for number, one in enumerate(targets)]
    if depth is not None:
        found.append(_attachment("depth", depth))
    if stencil is not None:
        found.append(_attachment("stencil", stencil))
    return tuple(found)


def _attachment(name: str, surface: Surface) -> Attachment:
    return Attachment(
        name,
        surface.address,
        surface.format,
        tiling=surface.tiling.lower() or None,
        pitch=surface.pitch,
        samples=surface.samples,
        surface=surface.measures,
    )
