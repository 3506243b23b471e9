# SPDX-License-Identifier: MIT
"""Loads, clears and stores of a6xx and a7xx: BLIT events, CP_BLIT, rectangle draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.actions import RECTANGLES
from cffpy.analysis.attachments import written_components
from cffpy.analysis.passes.model import Operation, OperationKind, Rectangle
from cffpy.analysis.passes.tracker import merged

if TYPE_CHECKING:
    from cffpy.analysis.actions import Action
    from cffpy.analysis.attachments import Attachment
    from cffpy.analysis.passes.model import Pass
    from cffpy.analysis.passes.tracker import Tracker

#: RB_BLIT_INFO.TYPE. gallium stores separate stencil as store-and-clear.
_TYPES: tuple[OperationKind, ...] = ("store", "store", "clear", "load")

_DEPTH, _STENCIL = 1, 2

#: Depth with stencil in one buffer, and its parts as components of a colour.
_PACKED = "DEPTH6_24_8"
_DEPTH_COMPONENTS, _STENCIL_COMPONENT = 7, 8

_COLOURS = 8
_FIRST_COLOUR = "color 0"
_MAX_LAYERS = 2048

#: Registers of a rectangle, inclusive; signed numbers of 17 bits.
_SOURCE_SIDES = ("TL_X", "TL_Y", "BR_X", "BR_Y")
_SOURCE_SIGN = 1 << 16

#: No buffer lies below: such a source address of a blit is GMEM's. Where GMEM begins there is the
#: kernel driver's choice, which no stream holds: at one of these, as far as is known.
_GMEM_END = 0x1000000
_GMEM_BEGINS = (0, 0x100000)


def resolve(tracker: Tracker, action: Action) -> Operation:
    """A BLIT event. ``attachment`` is settled when the pass is over."""
    registers = tracker.registers
    field = registers.field
    kind_number = field("RB_BLIT_INFO", "TYPE")
    kind = "unknown" if kind_number is None else _TYPES[kind_number]
    operation = Operation(kind, None, "BLIT event", action)
    gmem = field("RB_BLIT_BASE_GMEM")
    operation.gmem = gmem
    if registers.flag("RB_BLIT_INFO", "DEPTH"):
        mask = field("RB_BLIT_INFO", "CLEAR_MASK") or 0
        if kind != "clear" or not mask:
            operation.attachment = "depth"
        else:
            names = [name for bit, name in ((_DEPTH, "depth"), (_STENCIL, "stencil")) if mask & bit]
            operation.attachment = "+".join(names) or "depth"
    elif kind == "clear":
        operation.components = field("RB_BLIT_INFO", "CLEAR_MASK")
    operation.scissor = tracker.rectangle("RB_BLIT_SCISSOR_TL", "RB_BLIT_SCISSOR_BR")
    if kind == "clear":
        operation.clear_value = _dwords(tracker, "RB_BLIT_CLEAR_COLOR_DW{}")
        operation.colour = _colour_at(tracker, gmem, None)
        return operation
    operation.colour = _colour_at(tracker, gmem, registers.address("RB_BLIT_DST"))
    operation.address = registers.address("RB_BLIT_DST")
    operation.format = registers.enum("RB_BLIT_DST_INFO", "COLOR_FORMAT")
    operation.tiling = registers.enum("RB_BLIT_DST_INFO", "TILE_MODE")
    stored = field("RB_BLIT_DST_INFO", "SAMPLES")
    # turnip sets the samples of draws at draws, and those of GMEM at each event
    drawn = field("RB_BLIT_GMEM_MSAA_CNTL", "SAMPLES")
    if drawn is None:
        drawn = field("RB_DEST_MSAA_CNTL", "SAMPLES")
    operation.resolves = kind == "store" and bool(drawn) and stored == 0
    found = tracker.current
    if found is not None and found.samples is None and kind == "store" and drawn is not None:
        # of a pass without draws
        found.samples = 1 << drawn
    return operation


def _colour_at(tracker: Tracker, gmem: int | None, address: int | None) -> str | None:
    """The colour buffer that registers put at a GMEM offset, if it is the only one."""
    found = []
    for index in range(_COLOURS):
        target = f"RB_MRT[{index}]"
        base = tracker.registers.address(f"{target}.BASE")
        if gmem is None or not base or tracker.registers.field(f"{target}.BASE_GMEM") != gmem:
            continue
        if address is None or address == base:
            found.append(f"color {index}")
    return found[0] if len(found) == 1 else None


def blit(tracker: Tracker, action: Action) -> Operation:
    """CP_BLIT within a pass: a clear, a store from GMEM, or a resolve or copy in memory."""
    registers = tracker.registers
    operation = Operation("copy", None, "CP_BLIT", action)
    operation.address = registers.address("RB_2D_DST")
    operation.format = registers.enum("RB_2D_DST_INFO", "COLOR_FORMAT")
    operation.tiling = registers.enum("RB_2D_DST_INFO", "TILE_MODE")
    operation.scissor = tracker.rectangle("GRAS_2D_DST_TL", "GRAS_2D_DST_BR")
    if registers.flag("RB_2D_BLIT_CNTL", "SOLID_COLOR"):
        operation.kind = "clear"
        operation.clear_value = _dwords(tracker, "RB_2D_SRC_SOLID_C{}") or _dwords(
            tracker, "RB_2D_SRC_SOLID_DW{}"
        )
        return operation
    operation.source_rectangle = _source_rectangle(tracker)
    source = registers.address("SP_PS_2D_SRC")
    operation.source = source
    if source is not None and source < _GMEM_END:
        operation.kind = "store"
        operation.gmem = source
        operation.limit = tracker.rectangle("GRAS_2D_RESOLVE_CNTL_1", "GRAS_2D_RESOLVE_CNTL_2")
    operation.resolves = _averages(tracker)
    return operation


def _source_rectangle(tracker: Tracker) -> Rectangle | None:
    sides = [tracker.registers.field(f"GRAS_2D_SRC_{side}") for side in _SOURCE_SIDES]
    left, top, right, bottom = (
        None if side is None else (side ^ _SOURCE_SIGN) - _SOURCE_SIGN for side in sides
    )
    if left is None or top is None or right is None or bottom is None:
        return None
    return Rectangle(left, top, right + 1, bottom + 1)


def transfer_role(tracker: Tracker, action: Action) -> str:
    """What an action between passes does: "fill", "copy", "scale", "resolve"; "" for a draw."""
    registers = tracker.registers
    if action.kind == "resolve":
        return "fill" if registers.enum("RB_BLIT_INFO", "TYPE") == "BLIT_EVENT_CLEAR" else "copy"
    if action.kind == "draw":
        if action.label != RECTANGLES:
            return ""
        return "copy" if _textures(tracker) else "fill"
    if registers.flag("RB_2D_BLIT_CNTL", "SOLID_COLOR"):
        return "fill"
    if _averages(tracker):
        return "resolve"
    source = _source_rectangle(tracker)
    filled = tracker.rectangle("GRAS_2D_DST_TL", "GRAS_2D_DST_BR")
    is_scaled = source is not None and filled is not None and source.size != filled.size
    return "scale" if is_scaled else "copy"


def _averages(tracker: Tracker) -> bool:
    """Whether a CP_BLIT makes one sample of several."""
    samples = tracker.registers.field("SP_PS_2D_SRC_INFO", "SAMPLES")
    return bool(samples) and not tracker.registers.field("RB_2D_DST_INFO", "SAMPLES")


def _textures(tracker: Tracker) -> int | None:
    """How many textures a fragment shader has."""
    name = tracker.registers.first("SP_FS_CONFIG", "SP_PS_CONFIG")
    return tracker.registers.field(name, "NTEX") if name else None


def rectangle(tracker: Tracker, action: Action, draws_ended: bool) -> Operation:
    """A driver's rectangle draw: a store from GMEM, a load by texture, or a clear."""
    registers = tracker.registers
    textures = _textures(tracker)
    found = tracker.current
    is_gmem = found is not None and found.mode == "gmem"
    if draws_ended or (is_gmem and textures and _draws_to_memory(tracker)):
        kind: OperationKind = "store"
    else:
        kind = "unknown" if textures is None else "load" if textures else "clear"
    operation = Operation(kind, None, "rectangle draw", action)
    if not action.executed.is_possible:
        return operation
    if kind == "clear":
        _describe_clear(tracker, operation)
    else:
        # whichever buffer it is, it is bound as the first colour buffer
        operation.gmem = registers.field("RB_MRT[0].BASE_GMEM") if kind == "load" else None
        operation.address = registers.address("RB_MRT[0].BASE") if kind == "store" else None
        operation.format = registers.enum("RB_MRT[0].BUF_INFO", "COLOR_FORMAT")
    return operation


def _draws_to_memory(tracker: Tracker) -> bool:
    """Whether buffers are in memory now, though the pass has them in GMEM."""
    if tracker.walk.generation == 6:
        location = tracker.registers.enum("RB_BIN_CONTROL", "BUFFERS_LOCATION")
        return location == "BUFFERS_IN_SYSMEM"
    return bool(tracker.registers.value("RB_UNKNOWN_8812"))


def _describe_clear(tracker: Tracker, operation: Operation) -> None:
    targets = tracker.targets()
    depth = tracker.registers.flag("RB_DEPTH_CNTL", "Z_WRITE_ENABLE")
    stencil = tracker.registers.flag("RB_STENCIL_CONTROL", "STENCIL_ENABLE")
    names = written_components(targets, depth, stencil)
    cleared = [target for target in targets if [target.name] == names]
    if not cleared:
        operation.attachment = "+".join(names) or None
        return
    (only,) = cleared
    operation.address, operation.format = only.address, only.format
    if only.name == _FIRST_COLOUR:
        # turnip's clear of any multisampled buffer; by its address it is named in the end
        operation.colour = only.name
    else:
        operation.attachment = only.name


def name_attachments(found: Pass, bound: tuple[Attachment, ...] = ()) -> None:
    """Tell which attachments the pass's operations are about, by GMEM offset or address.

    ``bound``: what registers name behind the pass. Those that no draw writes, but operations are
    about, are attachments, too.
    """
    operations = [operation for run in found.runs for operation in run.operations]
    known = {attachment.address for attachment in found.attachments}
    others = [one for one in bound if one.address not in known and _is_moved(one, operations)]
    if others:
        found.attachments = merged([*found.attachments, *others])
    for operation in operations:
        _name(operation, found)


def _is_moved(attachment: Attachment, operations: list[Operation]) -> bool:
    """Whether a load, store or CP_BLIT is certainly about it: by address, and in GMEM if there.

    What samples are resolved to is no attachment, though an older pass may have drawn to it.
    """
    return any(
        operation.action.executed.is_possible
        and not operation.resolves
        and attachment.address is not None
        and operation.address == attachment.address
        and (operation.how != "BLIT event" or operation.gmem == attachment.gmem)
        for operation in operations
    )


def _name(operation: Operation, found: Pass) -> None:
    if operation.attachment in (None, "depth"):
        target = _target(operation, found.attachments)
        if target is None and operation.kind != "copy":
            target = _of_layer(operation, found)
        if target is None:
            operation.attachment = operation.attachment or operation.colour
        else:
            operation.attachment = _cleared_part(operation, target) or target.name
            if operation.format is None:
                operation.format = target.format
    if operation.kind == "copy" and operation.attachment is not None:
        operation.kind = operation.action.role = "store"


def _cleared_part(operation: Operation, target: Attachment) -> str | None:
    """Of a clear of packed depth and stencil: turnip clears it as colour, by components."""
    components = operation.components
    if components is None or target.format != _PACKED:
        return None
    parts = ((_DEPTH_COMPONENTS, "depth"), (_STENCIL_COMPONENT, "stencil"))
    return "+".join(name for mask, name in parts if components & mask) or None


def _target(operation: Operation, attachments: list[Attachment]) -> Attachment | None:
    if operation.how == "BLIT event" or (operation.how != "CP_BLIT" and operation.kind == "load"):
        return _in_gmem(operation.gmem, attachments)
    address = operation.source if operation.kind == "copy" else operation.address
    for attachment in attachments:
        if attachment.address is not None and attachment.address == address:
            return attachment
    if operation.how == "CP_BLIT" and operation.gmem is not None:
        # a resolve: what it is stored to is no attachment of draws
        places = {operation.gmem - begin for begin in _GMEM_BEGINS}
        held = [one for one in attachments if one.gmem in places]
        return held[0] if len(held) == 1 else None
    return None


def _in_gmem(offset: int | None, attachments: list[Attachment]) -> Attachment | None:
    if offset is None:
        return None
    return next((one for one in attachments if one.gmem == offset), None)


def _of_layer(operation: Operation, found: Pass) -> Attachment | None:
    """The attachment of which another layer or view than the first is meant.

    By address; else in GMEM, where they lie behind one another, before the next attachment.
    """
    for attachment in found.attachments:
        base, pitch = attachment.address, attachment.layer_pitch
        if operation.address is not None and base is not None and pitch:
            offset = operation.address - base
            if 0 < offset < pitch * _MAX_LAYERS and not offset % pitch:
                return attachment
    if operation.how != "BLIT event" or operation.address is not None or operation.gmem is None:
        return None
    if (found.views or 1) < 2 and (found.layers or 1) < 2:
        return None
    below = [a for a in found.attachments if a.gmem is not None and a.gmem < operation.gmem]
    return max(below, key=lambda attachment: attachment.gmem or 0, default=None)


def _dwords(tracker: Tracker, name: str) -> tuple[int, ...] | None:
    values = [tracker.registers.value(name.format(number)) for number in range(4)]
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None
