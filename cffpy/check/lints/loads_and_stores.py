# SPDX-License-Identifier: MIT
"""Loads, clears, stores and resolves of attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.draw_states import DrawTextures
from cffpy.check.model import FROM_A3XX, FROM_A5XX, FROM_A6XX, at_pass, lint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Operation, Pass

#: Red, green, blue, alpha.
_ALL_COMPONENTS = 0xF


@lint("CFF009", "warning", FROM_A3XX)
def needless_load(capture: CheckedCapture) -> Iterator[Report]:
    """An attachment is loaded, then cleared before anything reads it.

    Clears of the whole render area that follow a load in the same run, before any draw.

    Why: The load reads the attachment from memory for each tile; the clear discards it.

    Advice: Use the load operation CLEAR or DONT_CARE, or move the clear before the pass.
    """
    for pass_ in capture.render_passes():
        for run in pass_.runs:
            first_draw = min((draw.order for draw in run.draws), default=None)
            loaded: dict[str, Operation] = {}
            for operation in run.operations:
                name, order = operation.attachment, operation.action.order
                if name is None or not operation.action.execution.is_possible:
                    continue
                if operation.kind == "load":
                    loaded[name.removesuffix("+stencil")] = operation
                    continue
                is_first = first_draw is None or order < first_draw
                before = loaded.get(name.removesuffix("+stencil"))
                if operation.kind != "clear" or before is None or not is_first:
                    continue
                if _replaces(before, operation):
                    text = f"{name} is loaded by {before.how}, then cleared"
                    yield at_pass(pass_, text, name)


def _replaces(load: Operation, clear: Operation) -> bool:
    """Whether the clear replaces all that was loaded: stencil may lie in the depth buffer."""
    loaded, cleared = ((each.attachment or "").split("+") for each in (load, clear))
    if not set(loaded) <= set(cleared):
        return False
    return not cleared[0].startswith("color") or clear.components in (None, _ALL_COMPONENTS)


@lint("CFF018", "info", FROM_A6XX)
def resolve_by_blit(capture: CheckedCapture) -> Iterator[Report]:
    """Samples are resolved by the 2D engine instead of the BLIT event.

    CP_BLITs and rectangle draws that resolve, or that store from GMEM.

    Why: A CP_BLIT or a draw at the end of a tile is slower than a store by the BLIT event, and
    needs the colour cache.

    Advice: Formats with components of more than 10 bits, snorm formats and R8G8 cannot be
    resolved by the event; use another format if that is possible.
    """
    for pass_ in capture.render_passes():
        for run in pass_.runs:
            for operation in run.operations:
                from_gmem = operation.kind == "store" and operation.gmem is not None
                by_event = operation.how == "BLIT event"
                is_possible = operation.action.execution.is_possible
                if by_event or not is_possible or not (operation.resolves or from_gmem):
                    continue
                name = operation.attachment or "an attachment"
                does = "resolved" if operation.resolves else "stored"
                of = operation.format or "format unknown"
                text = f"{name} is {does} by {operation.how}, {of}"
                yield at_pass(pass_, text, (name, does))


@lint("CFF029", "warning", FROM_A3XX)
def empty_pass(capture: CheckedCapture) -> Iterator[Report]:
    """A pass loads or stores attachments, but draws and clears nothing.

    Render passes with loads or stores only.

    Why: Each attachment goes through GMEM and back without a change.

    Advice: Leave the pass out.
    """
    for pass_ in capture.render_passes():
        kinds = {
            operation.kind
            for run in pass_.runs
            for operation in run.operations
            if operation.action.execution.is_possible
        }
        drawn = any(run.draws for run in pass_.runs)
        is_whole = all(run.is_whole for run in pass_.runs)
        if kinds and kinds <= {"load", "store"} and not drawn and is_whole:
            yield at_pass(
                pass_, f"only {' and '.join(sorted(kinds))} operations, no draw, no clear"
            )


#: Actions whose destination passes do not keep.
_COPIES = ("blit", "resolve")
#: Fewer are one value a pixel.
_LEAST_SAMPLES = 2


@lint("CFF041", "warning", FROM_A5XX)
def samples_stored(capture: CheckedCapture) -> Iterator[Report]:
    """A multisampled attachment is stored with all its samples, and loaded later.

    Stores without resolve in passes with samples, whose memory a later pass loads.

    Not where something else is written there in between, or where blits may have written it.

    Why: All samples go to memory and back. Resolving in the pass moves one value a pixel.

    Advice: Resolve at the end of the pass, and do not store the samples.
    """
    stored: dict[int, tuple[Pass, str]] = {}
    for pass_ in capture.own_passes():
        if pass_.kind != "render":
            if any(action.kind in _COPIES for action in pass_.draws):
                stored.clear()
            continue
        for address in _addresses(pass_, "load"):
            if address in stored and (pass_.samples or 1) > 1:
                before, name = stored.pop(address)
                text = f"{name} is stored with {before.samples} samples, and loaded by pass"
                yield at_pass(before, f"{text} {pass_.index}", address)
        for target in pass_.attachments:
            if pass_.mode != "gmem" and target.address:
                stored.pop(target.address, None)
        for kind in ("store", "clear"):
            for address in _addresses(pass_, kind):
                stored.pop(address, None)
        stored.update(_whole_stores(pass_))


def _addresses(pass_: Pass, kind: str) -> set[int]:
    """The memory of the operations of a kind that may be executed, of all tiles."""
    return {
        operation.address
        for run in pass_.runs
        for operation in run.operations
        if operation.kind == kind and operation.address and operation.action.execution.is_possible
    }


def _whole_stores(pass_: Pass) -> Iterator[tuple[int, tuple[Pass, str]]]:
    """What the first tile of a pass with samples stores with all of them."""
    if (pass_.samples or 1) < _LEAST_SAMPLES or pass_.mode != "gmem" or not pass_.tiles:
        return
    for operation in pass_.tiles[0].operations:
        is_whole = operation.kind == "store" and not operation.resolves
        if is_whole and operation.address and operation.action.execution.is_possible:
            yield operation.address, (pass_, operation.attachment or "an attachment")


# -- stores that nothing reads ---------------------------------------------------------------------
# Stores that nothing reads: the next use of the buffer is a clear of all of it.

#: Between command streams it may be shown on a screen, or read by the CPU.
_PRESENTED = "color 0"

#: A buffer that a pass uses: name in the pass, address, first use in a run, whether it is stored.
_Use = tuple[str, int, str, bool]


def _unread_stores(capture: CheckedCapture) -> Iterator[tuple[Pass, str, int, int]]:
    """Pass, attachment, address, and the index of the later pass that clears it.

    Only between GMEM passes: draws of sysmem passes read the buffer. A buffer is not reported if a
    texture or blit in between may read it, or if not all textures are known.
    """
    stored: dict[int, tuple[Pass, str]] = {}
    facts = capture.facts(DrawTextures)
    for pass_ in capture.own_passes():
        reads, knows_all = _reads(pass_, facts)
        if not knows_all:
            stored.clear()
        for address in reads:
            stored.pop(address, None)
        if pass_.kind != "render":
            if any(draw.kind in ("blit", "resolve") for draw in pass_.draws):
                stored.clear()  # copies name their source in registers that passes do not keep
            continue
        if pass_.mode != "gmem":
            stored.clear()
            continue
        for name, address, first, is_stored in _uses(pass_):
            before = stored.pop(address, None)
            same_stream = before is not None and before[0].streams[-1] == pass_.streams[0]
            if before is not None and first == "clear" and (same_stream or name != _PRESENTED):
                yield (*before, address, pass_.index)
            if is_stored:
                stored[address] = pass_, name


def _reads(pass_: Pass, facts: DrawTextures) -> tuple[set[int], bool]:
    """Bases of the textures and storage of a pass, and whether these are all."""
    reads: set[int] = set()
    complete = True
    for draw in pass_.draws:
        if draw.kind not in ("draw", "dispatch"):
            continue
        bound, knows_all = facts.of(draw)
        complete &= knows_all and all(each.texture is not None for each in bound)
        reads.update(each.texture.address for each in bound if each.texture is not None)
    reads.update(
        operation.source
        for run in pass_.runs
        for operation in run.operations
        if operation.source is not None
    )
    return reads, complete


def _uses(pass_: Pass) -> Iterator[_Use]:
    """The buffers of a GMEM pass, by the operations of its first tile."""
    if not pass_.tiles:
        return
    operations = [
        operation
        for operation in pass_.tiles[0].operations
        if operation.action.execution.is_possible
    ]
    first_draw = min((draw.order for draw in pass_.tiles[0].draws), default=None)
    for target in pass_.attachments:
        if not target.address:
            continue
        own = [each for each in operations if _is_of(each.attachment, target.name)]
        stores = any((each.kind, each.address) == ("store", target.address) for each in own)
        yield target.name, target.address, _first_use(pass_, own, first_draw, target), stores


def _first_use(
    pass_: Pass, own: list[Operation], first_draw: int | None, target: Attachment
) -> str:
    """The kind of the first operation on a target, or "draw"."""
    if not own or (first_draw is not None and own[0].action.order > first_draw):
        return "draw"
    is_partial = own[0].kind == "clear" and not _clears_all(own[0], target)
    return "draw" if is_partial or not _fills_framebuffer(pass_) else own[0].kind


def _fills_framebuffer(pass_: Pass) -> bool:
    area, size = pass_.render_area, pass_.framebuffer
    return area is None or size is None or area.size == size


def _clears_all(clear: Operation, target: Attachment) -> bool:
    """Whether stencil is cleared, too, where it lies in the depth buffer."""
    return not target.packs_stencil or "stencil" in (clear.attachment or "")


def _is_of(attachment: str | None, name: str) -> bool:
    return attachment is not None and name in attachment.split("+")


@lint("CFF010", "warning", FROM_A3XX, needs=(DrawTextures,))
def needless_store(capture: CheckedCapture) -> Iterator[Report]:
    """A colour buffer is stored, then cleared before anything reads it.

    Colour buffers whose next use is a clear.

    Why: The store writes the whole attachment to memory for nothing.

    Advice: Use the store operation DONT_CARE.
    """
    for pass_, name, address, later in capture.once(_unread_stores):
        if name.startswith("color"):
            text = f"{name} at {address:#x} is stored; its next use is the clear of pass {later}"
            yield at_pass(pass_, text, address)


@lint("CFF011", "warning", FROM_A3XX, needs=(DrawTextures,))
def depth_stored(capture: CheckedCapture) -> Iterator[Report]:
    """Depth or stencil is stored, then cleared before anything reads it.

    Depth and stencil buffers whose next use is a clear.

    Why: Depth is seldom needed after its pass. The store writes it to memory for nothing.

    Advice: Use the store operation DONT_CARE for depth and stencil.
    """
    for pass_, name, address, later in capture.once(_unread_stores):
        if not name.startswith("color"):
            text = f"{name} at {address:#x} is stored; its next use is the clear of pass {later}"
            yield at_pass(pass_, text, address)
