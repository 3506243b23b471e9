# SPDX-License-Identifier: MIT
"""Loads, clears and stores of a6xx and a7xx: BLIT events, CP_BLIT, rectangle draws.

Together they show the render area, the framebuffer and the layers of a pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.action_reader import blit_role
from cffpy.analysis.attachments import parts_of_depth, written_components
from cffpy.analysis.passes.tracker import merged
from cffpy.analysis.passes.transfers import format_bits, rectangle_transfers
from cffpy.frame.action import RECTANGLES
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import FLAGS_FILL, Operation, OperationKind

if TYPE_CHECKING:
    from cffpy.analysis.passes.tracker import Tracker
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment, Role, Transfer, TransferEnd
    from cffpy.frame.passes import Pass

#: RB_BLIT_INFO.TYPE. gallium stores separate stencil as store-and-clear.
_TYPES: tuple[OperationKind, ...] = ("store", "store", "clear", "load")

_DEPTH, _STENCIL = 1, 2

#: The parts of packed depth and stencil as components of a colour.
_DEPTH_COMPONENTS, _STENCIL_COMPONENT = 7, 8

_COLOURS = 8
_FIRST_COLOUR = "color 0"
_MAX_LAYERS = 2048

#: Where GMEM begins, as far as is known: see ``transfers.GMEM_END``.
_GMEM_BEGINS = (0, 0x100000)

#: turnip clips tiles to what a viewport may be, if to nothing else.
_LARGEST = 16384

#: Loads and stores are rounded outwards to blocks of this size.
_BLOCK, _BLOCK_HEIGHT = 16, 4


def resolve(tracker: Tracker, action: Action, transfer: Transfer | None) -> Operation:
    """A BLIT event. Its ``attachment`` is final when the pass is over."""
    registers = tracker.registers
    kind_number = registers.field("RB_BLIT_INFO", "TYPE")
    kind = "unknown" if kind_number is None else _TYPES[kind_number]
    operation = Operation(kind, None, "BLIT event", action)
    operation.gmem = registers.field("RB_BLIT_BASE_GMEM")
    operation.buffer_id = registers.field("RB_BLIT_INFO", "BUFFER_ID")
    if registers.flag("RB_BLIT_INFO", "DEPTH"):
        operation.attachment = "depth"
    if kind == "clear":
        operation.components = _cleared_components(tracker, operation.attachment is not None)
    if transfer is None or transfer.destination is None:
        return operation
    operation.scissor = transfer.destination.rectangle
    if kind == "clear":
        operation.clear_value = transfer.value
        operation.colour = _colour_at(tracker, operation.gmem, None)
    else:
        _move(tracker, operation, transfer)
    return operation


def _cleared_components(tracker: Tracker, is_depth: bool) -> int | None:
    """Which components an event clears. Depth and stencil are so many components of a colour.

    ``is_depth``: the mask has a bit for depth and one for stencil.
    """
    mask = tracker.registers.field("RB_BLIT_INFO", "CLEAR_MASK")
    if mask is None or not is_depth:
        return mask
    depth = _DEPTH_COMPONENTS if mask & _DEPTH else 0
    return depth | (_STENCIL_COMPONENT if mask & _STENCIL else 0)


def _move(tracker: Tracker, operation: Operation, transfer: Transfer) -> None:
    """A load or store by event: the buffer in memory, and the samples."""
    gmem, memory = transfer.source, transfer.destination
    if operation.kind == "load":
        gmem, memory = memory, gmem
    assert gmem is not None
    assert memory is not None
    _describe(operation, memory)
    operation.colour = _colour_at(tracker, operation.gmem, operation.address)
    operation.pitch, operation.layer_pitch = memory.pitch, memory.layer_pitch
    operation.flags = memory.flags
    operation.resolves = transfer.resolves
    current = tracker.current
    is_store = operation.kind == "store"
    if is_store and current is not None and current.samples is None:
        current.samples = gmem.samples  # of a pass without draws


def _describe(operation: Operation, memory: TransferEnd) -> None:
    operation.address, operation.format = memory.address, memory.format
    operation.tiling = memory.tiling


def _colour_at(tracker: Tracker, gmem: int | None, address: int | None) -> str | None:
    """The colour buffer that registers put at a GMEM offset, if it is the only one."""
    matching = []
    for index in range(_COLOURS):
        target = f"RB_MRT[{index}]"
        base = tracker.registers.address(f"{target}.BASE")
        if gmem is None or not base or tracker.registers.field(f"{target}.BASE_GMEM") != gmem:
            continue
        if address is None or address == base:
            matching.append(f"color {index}")
    return matching[0] if len(matching) == 1 else None


def blit(tracker: Tracker, action: Action, transfer: Transfer) -> Operation:
    """CP_BLIT within a pass: a clear, a store from GMEM, or a resolve or copy in memory."""
    operation = Operation("copy", None, "CP_BLIT", action)
    source, destination = transfer.source, transfer.destination
    assert destination is not None
    _describe(operation, destination)
    operation.scissor = destination.rectangle
    operation.components = tracker.registers.field("RB_2D_BLIT_CNTL", "MASK")
    if source is None:
        operation.kind = "clear"
        operation.clear_value = transfer.value
        return operation
    operation.source_rectangle = source.rectangle
    operation.source = source.address
    if source.gmem is not None:
        operation.kind = "store"
        operation.gmem = operation.source = source.gmem
        operation.limit = transfer.limit
    operation.resolves = transfer.resolves
    return operation


def transfer_role(tracker: Tracker, action: Action) -> Role:
    """What an action between passes does: "fill", "copy", "scale", "resolve"; "" for a draw."""
    if action.kind == "resolve":
        type_name = tracker.registers.enum("RB_BLIT_INFO", "TYPE")
        return "fill" if type_name == "BLIT_EVENT_CLEAR" else "copy"
    if action.kind == "draw":
        if action.primitive != RECTANGLES:
            return ""
        return "copy" if _textures(tracker) else "fill"
    return blit_role(action.transfers[0])


def _textures(tracker: Tracker) -> int | None:
    """How many textures a fragment shader has."""
    name = tracker.registers.first("SP_FS_CONFIG", "SP_PS_CONFIG")
    return tracker.registers.field(name, "NTEX") if name else None


def rectangle(tracker: Tracker, action: Action, draws_ended: bool) -> Operation:
    """A driver's rectangle draw: a store from GMEM, a load by texture, or a clear."""
    registers = tracker.registers
    textures = _textures(tracker)
    current = tracker.current
    is_gmem = current is not None and current.mode == "gmem"
    if draws_ended or (is_gmem and textures and _draws_to_memory(tracker)):
        kind: OperationKind = "store"
    else:
        kind = "unknown" if textures is None else "load" if textures else "clear"
    operation = Operation(kind, None, "rectangle draw", action)
    if not action.execution.is_possible:
        return operation
    in_gmem = is_gmem and kind != "store" and not _draws_to_memory(tracker)
    action.transfers = rectangle_transfers(tracker, action, bool(textures), in_gmem)
    if kind == "clear":
        _describe_clear(tracker, operation)
    else:
        # whichever buffer it is, it is bound as the first colour buffer
        operation.gmem = registers.field("RB_MRT[0].BASE_GMEM") if kind == "load" else None
        operation.address = registers.address("RB_MRT[0].BASE") if kind == "store" else None
        operation.format = registers.enum("RB_MRT[0].BUF_INFO", "COLOR_FORMAT")
        operation.components = registers.field("RB_MRT[0].CONTROL", "COMPONENT_ENABLE")
    return operation


def _draws_to_memory(tracker: Tracker) -> bool:
    """Whether buffers are in memory now, though the pass has them in GMEM."""
    register, field, value = tracker.walk.machine.gpu.facts.sysmem_buffers
    if value:
        return tracker.registers.enum(register, field) == value
    return bool(tracker.registers.value(register))


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
        operation.components = only.write_mask
    else:
        operation.attachment = only.name


def name_attachments(pass_: Pass, bound: tuple[Attachment, ...] = ()) -> None:
    """Find the attachments of the pass's operations, by GMEM offset or address.

    ``bound``: buffers that registers name at the end of the pass. Those that no draw writes, but an
    operation uses, are attachments, too.
    """
    operations = [operation for run in pass_.runs for operation in run.operations]
    known = {attachment.address for attachment in pass_.attachments}
    others = [
        buffer for buffer in bound if buffer.address not in known and _is_moved(buffer, operations)
    ]
    if others:
        pass_.attachments = merged([*pass_.attachments, *others])
    depth = [buffer for buffer in bound if buffer.name == "depth"]
    for operation in operations:
        _name(operation, pass_)
        if operation.attachment == "depth":  # of a depth buffer that is no attachment, as above
            held = _in_gmem(operation.gmem, depth)
            operation.attachment = "depth" if held is None else _name_of(operation, held)


def _is_moved(attachment: Attachment, operations: list[Operation]) -> bool:
    """Whether a load, store or CP_BLIT surely uses it: by address, and by GMEM offset if any.

    A buffer that samples are resolved to is not an attachment, though an older pass may have drawn
    to it.
    """
    return any(
        operation.action.execution.is_possible
        and not operation.resolves
        and attachment.address is not None
        and operation.address == attachment.address
        and (operation.how != "BLIT event" or operation.gmem == attachment.gmem)
        for operation in operations
    )


def _name(operation: Operation, pass_: Pass) -> None:
    if operation.attachment in (None, "depth"):
        target = _target(operation, pass_.attachments)
        if target is None and _fills_flags(operation, pass_.attachments):
            return
        target = target or _of_layer(operation, pass_)
        if target is None:
            operation.attachment = operation.attachment or operation.colour
        else:
            operation.attachment = _name_of(operation, target)
            if operation.format is None:
                operation.format = target.format
        if target is not None and operation.how == "CP_BLIT" and operation.gmem is not None:
            is_there = target.gmem in _gmem_offsets(operation.gmem)
            operation.gmem = target.gmem if is_there else operation.gmem
    if operation.kind == "copy" and operation.attachment is not None:
        operation.kind = operation.action.role = "store"


def _fills_flags(operation: Operation, attachments: list[Attachment]) -> bool:
    """Whether it is a fast clear, which fills the UBWC flags of an attachment; then names it."""
    if operation.kind != "clear" or operation.how != "CP_BLIT" or operation.address is None:
        return False
    target = next(
        (attachment for attachment in attachments if attachment.flags == operation.address), None
    )
    if target is None:
        return False
    operation.attachment, operation.how = target.name, FLAGS_FILL
    operation.clear_value = None
    return True


def _name_of(operation: Operation, target: Attachment) -> str:
    """The attachment, or the parts of packed depth and stencil: drivers move these as a colour."""
    mask = operation.components
    if not mask:
        return parts_of_depth(target, depth=True, stencil=True)
    depth, stencil = bool(mask & _DEPTH_COMPONENTS), bool(mask & _STENCIL_COMPONENT)
    return parts_of_depth(target, depth, stencil)


def _target(operation: Operation, attachments: list[Attachment]) -> Attachment | None:
    if operation.how == "BLIT event" or (operation.how != "CP_BLIT" and operation.kind == "load"):
        return _in_gmem(operation.gmem, attachments)
    address = operation.source if operation.kind == "copy" else operation.address
    for attachment in attachments:
        if attachment.address is not None and attachment.address == address:
            return attachment
    if operation.how == "CP_BLIT" and operation.gmem is not None:
        # a resolve: what it is stored to is not an attachment of draws
        offsets = _gmem_offsets(operation.gmem)
        held = [candidate for candidate in attachments if candidate.gmem in offsets]
        return held[0] if len(held) == 1 else None
    return None


def _gmem_offsets(address: int) -> set[int]:
    """What offset an address in GMEM may be."""
    return {address - begin for begin in _GMEM_BEGINS}


def _in_gmem(offset: int | None, attachments: list[Attachment]) -> Attachment | None:
    if offset is None:
        return None
    return next((attachment for attachment in attachments if attachment.gmem == offset), None)


def _of_layer(operation: Operation, pass_: Pass) -> Attachment | None:
    """The attachment that the operation names another layer or view of than the first."""
    if operation.kind == "copy":
        return None
    if operation.address is not None:
        by_address = (a for a in pass_.attachments if _has_layer_at(a, operation.address))
        return next(by_address, None)
    if operation.how == "BLIT event" and operation.gmem is not None:
        return _layer_in_gmem(operation.gmem, pass_)
    return None


def _has_layer_at(attachment: Attachment, address: int) -> bool:
    """Whether a layer of it, not the first, begins at the address."""
    base, pitch = attachment.address, attachment.layer_pitch
    if base is None or not pitch:
        return False
    offset = address - base
    return 0 < offset < pitch * _MAX_LAYERS and not offset % pitch


def _layer_in_gmem(gmem: int, pass_: Pass) -> Attachment | None:
    """In GMEM the layers of an attachment follow each other, up to the next attachment."""
    if (pass_.views or 1) < 2 and (pass_.layers or 1) < 2:
        return None
    below = [a for a in pass_.attachments if a.gmem is not None and a.gmem < gmem]
    return max(below, key=lambda attachment: attachment.gmem or 0, default=None)


# -- the pass as a whole --------------------------------------------------------------------------


def finish_gmem(pass_: Pass, is_clipped: bool) -> None:
    """Grid, render area and framebuffer of a GMEM pass, by its tiles and operations.

    ``is_clipped``: the driver clips tiles to the framebuffer.
    """
    size = pass_.bin_size
    offsets = [tile.window_offset for tile in pass_.tiles if tile.window_offset is not None]
    if pass_.grid is None and size is not None and offsets:
        columns = max(x for x, _ in offsets) // size.width + 1
        rows = max(y for _, y in offsets) // size.height + 1
        pass_.grid = Size(columns, rows)
    rectangles = [tile.window_scissor for tile in pass_.tiles if tile.window_scissor is not None]
    if rectangles:
        covered = Rectangle.around(rectangles)
        _find_render_area(pass_, covered)
        if pass_.framebuffer is None and size is not None:
            _find_framebuffer(pass_, covered, size, is_clipped)


def _find_framebuffer(pass_: Pass, covered: Rectangle, bin_size: Size, is_clipped: bool) -> None:
    """The framebuffer is what tiles cover, if they are clipped to it, or all of it is cleared.

    Otherwise it is at most what tiles cover and attachments hold. No render area is larger than
    the framebuffer, so where it is as large as that, it is the framebuffer.
    """
    may_stick_out = not (
        (covered.size.width % bin_size.width and covered.right != _LARGEST)
        or (covered.size.height % bin_size.height and covered.bottom != _LARGEST)
    )
    area = pass_.render_area
    is_exact = area is not None and not pass_.render_area_rounded
    if is_clipped or not may_stick_out or (is_exact and area == covered):
        pass_.framebuffer = covered.size
        return
    limit = _held(pass_, covered.size)
    if is_exact and area is not None and limit == Size(area.right, area.bottom):
        pass_.framebuffer = limit
    else:
        pass_.framebuffer_limit = limit
        pass_.unknown.append("framebuffer size: tiles are not clipped to it")


def _held(pass_: Pass, most: Size) -> Size:
    """What all attachments can hold, but at most ``most``, by their pitches.

    An attachment that holds less than the render area is none: registers of buffers that are not
    used have old values.
    """
    area = pass_.render_area
    for attachment in pass_.attachments:
        texel = format_bits(attachment.format) // 8 * (attachment.samples or 1)
        if not attachment.pitch or not texel:
            continue
        width = attachment.pitch // texel
        height = (
            attachment.layer_pitch // attachment.pitch if attachment.layer_pitch else most.height
        )
        if area is None or (area.right <= width and area.bottom <= height):
            most = Size(min(most.width, width), min(most.height, height))
    return most


def _find_render_area(pass_: Pass, walked: Rectangle) -> None:
    """What loads, clears and stores may touch.

    BLIT events clear it exactly, load and store it rounded to blocks. Clears in the middle of a
    pass may touch less. CP_BLIT stores it exactly, tile by tile.
    """
    clears, moves, blits = _scissors(pass_)
    if not clears and not moves and not blits:
        return
    area = Rectangle.around(blits or [*clears, *moves])
    if area.right > walked.right + _BLOCK or area.bottom > walked.bottom + _BLOCK:
        pass_.unknown.append("render area: loads and stores are not scissored to it")
        return
    if clears and not blits:
        cleared = Rectangle.around(clears)
        moved = Rectangle.around(moves) if moves else cleared
        if cleared.rounded(_BLOCK, _BLOCK_HEIGHT) == moved.rounded(_BLOCK, _BLOCK_HEIGHT):
            pass_.render_area = cleared
            return
    pass_.render_area = area
    pass_.render_area_rounded = not blits


def find_sysmem_area(pass_: Pass) -> None:
    """The render area of a sysmem pass: what CP_BLIT clears first, and resolves in the end."""
    run, size = pass_.direct, pass_.framebuffer
    if run is None or size is None:
        return
    filled = [
        operation.scissor
        for operation in run.operations
        if operation.how == "CP_BLIT"
        and operation.attachment is not None
        and operation.action.execution.is_possible
        and operation.scissor is not None
    ]
    if not filled:
        return
    area = Rectangle.around(filled)
    if 0 <= area.left < area.right <= size.width and 0 <= area.top < area.bottom <= size.height:
        pass_.render_area = area


def _scissors(pass_: Pass) -> tuple[list[Rectangle], list[Rectangle], list[Rectangle]]:
    """Of clears by event, of loads and stores by event, of stores by CP_BLIT."""
    clears: list[Rectangle] = []
    moves: list[Rectangle] = []
    blits: list[Rectangle] = []
    for operation in (operation for run in pass_.runs for operation in run.operations):
        scissor = operation.scissor
        if scissor is None or not operation.action.execution.is_possible:
            continue
        if operation.how == "BLIT event":
            (clears if operation.kind == "clear" else moves).append(scissor)
        elif operation.how == "CP_BLIT" and operation.limit is not None:
            filled = scissor.common(operation.limit)
            if filled.size.width and filled.size.height:
                blits.append(filled)
    return clears, moves, blits


def count_layers(pass_: Pass) -> int | None:
    """How often one run does the same to an attachment at different addresses."""
    run = pass_.direct or (pass_.tiles[0] if pass_.tiles else None)
    if run is None:
        return None
    addresses: dict[tuple[str, str], set[int]] = {}
    for operation in run.operations:
        if operation.attachment is None or operation.address is None:
            continue
        if operation.how == FLAGS_FILL:
            continue
        if operation.action.execution.is_possible:
            key = (operation.kind, operation.attachment)
            addresses.setdefault(key, set()).add(operation.address)
    return max(map(len, addresses.values()), default=None)


def layers_held(pass_: Pass) -> int:
    """How many layers the pass can have, by where it is stored and how far its buffers reach.

    GRAS_MAX_LAYER_INDEX alone does not tell: the vendor's driver sets it to 1 where there is one
    layer. A driver stores each layer by itself, from the same tile. The UBWC flags of an attachment
    may follow its pixels, of all layers.
    """
    most = _MAX_LAYERS
    stored: dict[str, set[int]] = {}
    for operation in pass_.tiles[0].operations if pass_.tiles else ():
        is_store = operation.kind == "store" and operation.action.execution.is_possible
        if is_store and operation.attachment is not None and operation.address is not None:
            stored.setdefault(operation.attachment, set()).add(operation.address)
    if stored:
        most = max(map(len, stored.values()))
    for attachment in pass_.attachments:
        base, flags, pitch = attachment.address, attachment.flags, attachment.layer_pitch
        if base is not None and flags is not None and pitch and flags > base:
            most = min(most, max(1, (flags - base) // pitch))
    return most
