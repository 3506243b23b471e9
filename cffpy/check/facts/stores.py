# SPDX-License-Identifier: MIT
"""Stores that nothing reads: the next use of the buffer is a clear of all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Operation, Pass

#: Between command streams it may be shown on a screen, or read by the CPU.
_PRESENTED = "color 0"

#: A buffer that a pass uses: name in the pass, address, first use in a run, whether it is stored.
_Use = tuple[str, int, str, bool]


def unread_stores(capture: CheckedCapture) -> Iterator[tuple[Pass, str, int, int]]:
    """Pass, attachment, address, and the index of the later pass that clears it.

    Only between GMEM passes: draws of sysmem passes read the buffer. A buffer is not reported if a
    texture or blit in between may read it, or if not all textures are known.
    """
    stored: dict[int, tuple[Pass, str]] = {}
    facts = capture.facts(DrawTextures)
    for found in capture.own_passes():
        reads, knows_all = _reads(found, facts)
        if not knows_all:
            stored.clear()
        for address in reads:
            stored.pop(address, None)
        if found.kind != "render":
            if any(draw.kind in ("blit", "resolve") for draw in found.draws):
                stored.clear()  # copies name their source in registers that passes do not keep
            continue
        if found.mode != "gmem":
            stored.clear()
            continue
        for name, address, first, is_stored in _uses(found):
            before = stored.pop(address, None)
            same_stream = before is not None and before[0].streams[-1] == found.streams[0]
            if before is not None and first == "clear" and (same_stream or name != _PRESENTED):
                yield (*before, address, found.index)
            if is_stored:
                stored[address] = found, name


def _reads(found: Pass, facts: DrawTextures) -> tuple[set[int], bool]:
    """Bases of the textures and storage of a pass, and whether these are all."""
    reads: set[int] = set()
    complete = True
    for draw in found.draws:
        if draw.kind not in ("draw", "dispatch"):
            continue
        bound, knows_all = facts.of(draw)
        complete &= knows_all and all(one.texture is not None for one in bound)
        reads.update(one.texture.address for one in bound if one.texture is not None)
    reads.update(
        operation.source
        for run in found.runs
        for operation in run.operations
        if operation.source is not None
    )
    return reads, complete


def _uses(found: Pass) -> Iterator[_Use]:
    """The buffers of a GMEM pass, by the operations of its first tile."""
    if not found.tiles:
        return
    operations = [
        operation
        for operation in found.tiles[0].operations
        if operation.action.execution.is_possible
    ]
    first_draw = min((draw.order for draw in found.tiles[0].draws), default=None)
    for target in found.attachments:
        if not target.address:
            continue
        own = [one for one in operations if _is_of(one.attachment, target.name)]
        stores = any((one.kind, one.address) == ("store", target.address) for one in own)
        yield target.name, target.address, _first_use(found, own, first_draw, target), stores


def _first_use(
    found: Pass, own: list[Operation], first_draw: int | None, target: Attachment
) -> str:
    """The kind of the first operation on a target, or "draw"."""
    if not own or (first_draw is not None and own[0].action.order > first_draw):
        return "draw"
    is_partial = own[0].kind == "clear" and not _clears_all(own[0], target)
    return "draw" if is_partial or not _fills_framebuffer(found) else own[0].kind


def _fills_framebuffer(found: Pass) -> bool:
    area, size = found.render_area, found.framebuffer
    return area is None or size is None or area.size == size


def _clears_all(clear: Operation, target: Attachment) -> bool:
    """Whether stencil is cleared, too, where it lies in the depth buffer."""
    return not target.packs_stencil or "stencil" in (clear.attachment or "")


def _is_of(attachment: str | None, name: str) -> bool:
    return attachment is not None and name in attachment.split("+")
