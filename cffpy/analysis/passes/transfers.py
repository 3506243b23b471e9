# SPDX-License-Identifier: MIT
"""Transfers of passes: what rectangle draws, BLIT events and the 2D engine (a5xx and later) move.

Registers and packets say it. The attachments of an operation are those of its name, by address or
by GMEM offset. Facts: the register database; freedreno and turnip of Mesa 25.0.7 for what lies in
GMEM.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cffpy.analysis.attachments import written_components
from cffpy.analysis.texture_descriptors import read_texel_order, read_texture, texture_dwords
from cffpy.frame.attachment import Transfer, TransferEnd
from cffpy.frame.geometry import Rectangle
from cffpy.frame.passes import Tile
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.passes.tracker import Tracker
    from cffpy.analysis.registers import RegisterReader
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Operation, Pass
    from cffpy.pm4.reader import Packets


def attachments_of(pass_: Pass, operation: Operation) -> list[Attachment]:
    """The attachments that an operation is of; [] where the pass has none of its names.

    Stencil may lie in the depth buffer.
    """
    known = {attachment.name for attachment in pass_.attachments}
    names = (operation.attachment or "").split("+")
    if "stencil" not in known:
        names = ["depth" if name == "stencil" else name for name in names]
    return [
        used_attachment(
            [attachment for attachment in pass_.attachments if attachment.name == name], operation
        )
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


#: No buffer lies below this address: such a source of a blit is in GMEM. The kernel driver chooses
#: the address at which GMEM begins, which no stream holds.
GMEM_END = 0x1000000

#: Registers of a rectangle, inclusive; signed numbers of 17 bits.
_SOURCE_SIDES = ("TL_X", "TL_Y", "BR_X", "BR_Y")
_SOURCE_SIGN = 1 << 16

#: CP_BLIT of a5xx has the rectangles; later the packet has the operation alone.
_BLIT = Fields(
    "CP_BLIT", "OP", "SRC_X1", "SRC_Y1", "SRC_X2", "SRC_Y2", "DST_X1", "DST_Y1", "DST_X2", "DST_Y2"
)

#: RB_BLIT_CNTL.BUF of a5xx; colour buffers are 0 to 7.
_BLIT_DEPTH_STENCIL, _BLIT_STENCIL = 8, 9

#: RB_BLIT_INFO.TYPE.
_EVENT_CLEAR, _EVENT_LOAD = 2, 3

#: RB_2D_BLIT_CNTL.ROTATE of a blit that does not rotate.
_UNTURNED = "ROTATE_0"

#: Dwords of a colour in registers.
_COLOUR_DWORDS = 4

#: The bits of a component in the name of a format: FMT6_10_10_10_2_UNORM, FMT6_Z24_UNORM_S8_UINT.
_COMPONENT_BITS = re.compile(r"(?<=[_ZS])\d+(?=_|$)")


# -- reading registers ----------------------------------------------------------------------------


def _rectangle(reader: RegisterReader, top_left: str, bottom_right: str) -> Rectangle | None:
    """A rectangle of two registers with fields X and Y, the second inclusive."""
    left, top = reader.field(top_left, "X"), reader.field(top_left, "Y")
    right, bottom = reader.field(bottom_right, "X"), reader.field(bottom_right, "Y")
    if left is None or top is None or right is None or bottom is None:
        return None
    return Rectangle(left, top, right + 1, bottom + 1)


def _dwords(
    reader: RegisterReader, name: str, needed: int = _COLOUR_DWORDS
) -> tuple[int, ...] | None:
    """The four dwords of a colour, or else those that are ``needed``; None without them."""
    known: list[int] = []
    for number in range(_COLOUR_DWORDS):
        value = reader.value(name.format(number))
        if value is None:
            return tuple(known[:needed]) if number >= needed else None
        known.append(value)
    return tuple(known)


def format_bits(image_format: str | None) -> int:
    """The bits of a pixel, as the name of the hardware's format counts them."""
    plain = (image_format or "").partition("_AS_")[0]
    return sum(map(int, _COMPONENT_BITS.findall(plain)))


def _value_dwords(image_format: str | None) -> int:
    """Dwords of a value of a format, at most 4. The vendor's driver writes only these."""
    return min(-(-format_bits(image_format) // 32), _COLOUR_DWORDS) or _COLOUR_DWORDS


def _samples(reader: RegisterReader, register: str) -> int | None:
    code = reader.field(register, "SAMPLES")
    return None if code is None else 1 << code


def _surface(reader: RegisterReader, info: str, address: str, flags: str) -> TransferEnd:
    """What a register with the format of a surface, and those of its addresses, say."""
    ubwc = reader.flag(info, "FLAGS")
    return TransferEnd(
        address=reader.address(address),
        format=reader.enum(info, "COLOR_FORMAT"),
        tiling=reader.enum(info, "TILE_MODE"),
        swap=reader.enum(info, "COLOR_SWAP"),
        srgb=reader.flag(info, "SRGB"),
        samples=_samples(reader, info),
        ubwc=ubwc,
        flags=reader.address(flags) if ubwc else None,
    )


def end_of_attachment(
    target: Attachment, in_gmem: bool, rectangle: Rectangle | None = None
) -> TransferEnd:
    """An attachment as an end: what GMEM, or memory, has of it."""
    if in_gmem:
        return TransferEnd(
            gmem=target.gmem,
            format=target.format,
            swap=target.swap,
            samples=target.samples,
            rectangle=rectangle,
        )
    return TransferEnd(
        address=target.address,
        format=target.format,
        tiling=target.tiling,
        swap=target.swap,
        samples=target.samples,
        pitch=target.pitch,
        layer_pitch=target.layer_pitch,
        ubwc=target.ubwc,
        flags=target.flags,
        rectangle=rectangle,
    )


# -- a6xx and later -------------------------------------------------------------------------------


def a6xx_blit(reader: RegisterReader) -> Transfer:
    """CP_BLIT: the 2D engine fills, or copies from memory or GMEM."""
    control = "RB_2D_BLIT_CNTL"
    destination = _surface(reader, "RB_2D_DST_INFO", "RB_2D_DST", "RB_2D_DST_FLAGS")
    destination = destination._replace(
        pitch=reader.field("RB_2D_DST_PITCH"),
        rectangle=_rectangle(reader, "GRAS_2D_DST_TL", "GRAS_2D_DST_BR"),
        flag_pitch=_flag_pitch(reader, "RB_2D_DST_FLAGS_PITCH") if destination.ubwc else None,
    )
    corners = _rectangle(reader, "GRAS_2D_RESOLVE_CNTL_1", "GRAS_2D_RESOLVE_CNTL_2")
    limit = corners if reader.flag(control, "SCISSOR") else None
    if reader.flag(control, "SOLID_COLOR"):
        value = _dwords(reader, "RB_2D_SRC_SOLID_C{}") or _dwords(reader, "RB_2D_SRC_SOLID_DW{}")
        return Transfer(None, destination, value, limit=limit)
    source = _a6xx_source(reader)
    is_averaged = (source.samples or 1) > 1 and (destination.samples or 1) == 1
    rotation = reader.enum(control, "ROTATE")
    return Transfer(
        source,
        destination,
        resolves=is_averaged,
        # drivers limit what they copy from GMEM to the tile
        limit=corners if source.gmem is not None else limit,
        rotation=None if rotation == _UNTURNED else rotation,
    )


def _a6xx_source(reader: RegisterReader) -> TransferEnd:
    source = _surface(reader, "SP_PS_2D_SRC_INFO", "SP_PS_2D_SRC", "SP_PS_2D_SRC_FLAGS")
    address = source.address
    in_gmem = address is not None and address < GMEM_END
    return source._replace(
        address=None if in_gmem else address,
        gmem=address if in_gmem else None,
        pitch=reader.field("SP_PS_2D_SRC_PITCH", "PITCH"),
        width=reader.field("SP_PS_2D_SRC_SIZE", "WIDTH"),
        height=reader.field("SP_PS_2D_SRC_SIZE", "HEIGHT"),
        rectangle=_source_rectangle(reader),
        flag_pitch=_flag_pitch(reader, "SP_PS_2D_SRC_FLAGS_PITCH") if source.ubwc else None,
    )


def _flag_pitch(reader: RegisterReader, register: str) -> int | None:
    """A register that is a pitch in one edition, and has the field PITCH in another."""
    pitch = reader.field(register, "PITCH")
    return reader.field(register) if pitch is None else pitch


def _source_rectangle(reader: RegisterReader) -> Rectangle | None:
    sides = [reader.field(f"GRAS_2D_SRC_{side}") for side in _SOURCE_SIDES]
    left, top, right, bottom = (
        None if side is None else (side ^ _SOURCE_SIGN) - _SOURCE_SIGN for side in sides
    )
    if left is None or top is None or right is None or bottom is None:
        return None
    return Rectangle(left, top, right + 1, bottom + 1)


def a6xx_event(reader: RegisterReader) -> Transfer | None:
    """A BLIT event: a load, a store or a clear of GMEM; None where the registers say nothing."""
    kind = reader.field("RB_BLIT_INFO", "TYPE")
    if kind is None:
        return None
    area = _rectangle(reader, "RB_BLIT_SCISSOR_TL", "RB_BLIT_SCISSOR_BR")
    memory = _surface(reader, "RB_BLIT_DST_INFO", "RB_BLIT_DST", "RB_BLIT_FLAG_DST")._replace(
        pitch=reader.field("RB_BLIT_DST_PITCH"),
        layer_pitch=reader.field("RB_BLIT_DST_ARRAY_PITCH"),
        rectangle=area,
    )
    if memory.ubwc:
        memory = memory._replace(flag_pitch=reader.field("RB_BLIT_FLAG_DST_PITCH", "PITCH"))
    gmem = TransferEnd(
        gmem=reader.field("RB_BLIT_BASE_GMEM"),
        format=memory.format,
        # turnip sets the samples of draws at draws, and those of GMEM at each event
        samples=_samples(reader, "RB_BLIT_GMEM_MSAA_CNTL") or _samples(reader, "RB_DEST_MSAA_CNTL"),
        rectangle=area,
    )
    if kind == _EVENT_CLEAR:
        needed = _value_dwords(memory.format)
        return Transfer(None, gmem, _dwords(reader, "RB_BLIT_CLEAR_COLOR_DW{}", needed))
    if kind == _EVENT_LOAD:
        return Transfer(memory, gmem)
    return Transfer(gmem, memory, resolves=(gmem.samples or 1) > 1 and memory.samples == 1)


def lrz_clear(reader: RegisterReader) -> Transfer:
    """What an LRZ_CLEAR event fills."""
    return Transfer(None, TransferEnd(reader.address("GRAS_LRZ_BUFFER_BASE")))


# -- a5xx -----------------------------------------------------------------------------------------


def a5xx_blit(reader: RegisterReader, packets: Packets, dwords: Sequence[int]) -> Transfer:
    """CP_BLIT. ``dwords``: of the packet, after its header; those after them are 0."""
    fields = packets[_BLIT]
    missing = fields.dwords - len(dwords)
    operation, *sides = fields.read((*dwords, *(0,) * missing))
    source, destination = (
        None if missing > 0 else Rectangle(left, top, right + 1, bottom + 1)
        for left, top, right, bottom in (sides[:4], sides[4:])
    )
    filled = _a5xx_surface(reader, "DST", destination)
    if operation == 0:  # BLIT_OP_FILL
        return Transfer(None, filled, _dwords(reader, "RB_2D_SRC_SOLID_DW{}"))
    return Transfer(_a5xx_surface(reader, "SRC", source), filled)


def _a5xx_surface(reader: RegisterReader, side: str, rectangle: Rectangle | None) -> TransferEnd:
    surface = _surface(reader, f"RB_2D_{side}_INFO", f"RB_2D_{side}", f"RB_2D_{side}_FLAGS")
    pitch = reader.field(f"RB_2D_{side}_FLAGS_PITCH") if surface.ubwc else None
    return surface._replace(
        pitch=reader.field(f"RB_2D_{side}_SIZE", "PITCH"),
        layer_pitch=reader.field(f"RB_2D_{side}_SIZE", "ARRAY_PITCH"),
        flag_pitch=pitch,
        rectangle=rectangle,
    )


def a5xx_event(reader: RegisterReader) -> Transfer:
    """A BLIT event: it clears by RB_CLEAR_CNTL, loads in bypass mode, else stores."""
    area = _rectangle(reader, "RB_RESOLVE_CNTL_1", "RB_RESOLVE_CNTL_2")
    buffer = reader.field("RB_BLIT_CNTL", "BUF")
    bypass = reader.flag("RB_CNTL", "BYPASS")
    if reader.flag("RB_CLEAR_CNTL", "FAST_CLEAR"):
        has_colour = buffer is not None and buffer < _BLIT_DEPTH_STENCIL
        value = _dwords(reader, "RB_CLEAR_COLOR_DW{}", _COLOUR_DWORDS if has_colour else 1)
        dwords = None if value is None else value[: None if has_colour else 1]
        return Transfer(None, _a5xx_buffer(reader, buffer, not bypass, area), dwords)
    if bypass:
        # colour buffers as they are, depth and stencil as the first colour buffer
        is_colour = buffer is not None and buffer < _BLIT_DEPTH_STENCIL
        memory = _a5xx_buffer(reader, buffer if is_colour else 0, False, area)
        gmem = TransferEnd(
            gmem=reader.address("RB_BLIT_DST"),
            format=None if memory is None else memory.format,
            rectangle=area,
        )
        return Transfer(memory, gmem)
    gmem = _a5xx_buffer(reader, buffer, True, area) or TransferEnd(rectangle=area)
    ubwc = gmem.ubwc
    memory = TransferEnd(
        address=reader.address("RB_BLIT_DST"),
        format=gmem.format,
        tiling="tiled" if reader.flag("RB_RESOLVE_CNTL_3", "TILED") else "linear",
        swap=gmem.swap,
        pitch=reader.field("RB_BLIT_DST_PITCH"),
        layer_pitch=reader.field("RB_BLIT_DST_ARRAY_PITCH"),
        ubwc=ubwc,
        flags=reader.address("RB_BLIT_FLAG_DST") if ubwc else None,
        flag_pitch=reader.field("RB_BLIT_FLAG_DST_PITCH") if ubwc else None,
        rectangle=area,
    )
    resolves = reader.flag("RB_CLEAR_CNTL", "MSAA_RESOLVE")
    return Transfer(gmem._replace(ubwc=False), memory, resolves=resolves)


def _a5xx_buffer(
    reader: RegisterReader, buffer: int | None, in_gmem: bool, area: Rectangle | None
) -> TransferEnd | None:
    """A buffer that RB_BLIT_CNTL.BUF names, as its registers say, in GMEM or in memory."""
    samples = _samples(reader, "RB_DEST_MSAA_CNTL")
    if buffer is None or buffer > _BLIT_STENCIL:
        return None
    if buffer < _BLIT_DEPTH_STENCIL:
        target, flags = f"RB_MRT[{buffer}]", f"RB_MRT_FLAG_BUFFER[{buffer}]"
        base = reader.address(f"{target}.BASE")
        ubwc = bool((reader.field("RB_RENDER_CNTL", "FLAG_MRTS") or 0) >> buffer & 1)
        end = TransferEnd(
            address=base,
            format=reader.enum(f"{target}.BUF_INFO", "COLOR_FORMAT"),
            tiling=reader.enum(f"{target}.BUF_INFO", "COLOR_TILE_MODE"),
            swap=reader.enum(f"{target}.BUF_INFO", "COLOR_SWAP"),
            srgb=reader.flag(f"{target}.BUF_INFO", "COLOR_SRGB"),
            pitch=reader.field(f"{target}.PITCH"),
            layer_pitch=reader.field(f"{target}.ARRAY_PITCH"),
            ubwc=ubwc,
            flags=reader.address(f"{flags}.ADDR") if ubwc else None,
        )
    elif buffer == _BLIT_DEPTH_STENCIL:
        ubwc = reader.flag("RB_RENDER_CNTL", "FLAG_DEPTH")
        end = TransferEnd(
            address=reader.address("RB_DEPTH_BUFFER_BASE"),
            format=reader.enum("RB_DEPTH_BUFFER_INFO", "DEPTH_FORMAT"),
            pitch=reader.field("RB_DEPTH_BUFFER_PITCH"),
            ubwc=ubwc,
            flags=reader.address("RB_DEPTH_FLAG_BUFFER_BASE") if ubwc else None,
        )
    else:
        end = TransferEnd(
            address=reader.address("RB_STENCIL_BASE"),
            format="S8_UINT",
            pitch=reader.field("RB_STENCIL_PITCH"),
        )
    end = end._replace(samples=samples, rectangle=area)
    if not in_gmem:
        return end
    kept = end._replace(address=None, gmem=end.address, tiling=None, pitch=None)
    return kept._replace(layer_pitch=None, flags=None)


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
    transfers = []
    for target in targets:
        written = _written_parts(target, targets, names)
        if written:
            end = end_of_attachment(target, in_gmem, rectangle)
            resolves = (1 if source is None else source.samples or 1) > 1 and end.samples == 1
            name = "+".join(written)
            transfers.append(Transfer(source, end, resolves=resolves, attachment=name))
    return tuple(transfers)


def _written_parts(
    target: Attachment, targets: Sequence[Attachment], names: Sequence[str]
) -> list[str]:
    """What is written of a target: itself, or depth and stencil in one buffer."""
    parts: tuple[str, ...] = (target.name,)
    if target.name == "depth" and not any(other.name == "stencil" for other in targets):
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


def complete_transfers(pass_: Pass) -> None:
    """Give each transfer of a pass its attachment; make those of operations that have none yet.

    To be called when the operations are final.
    """
    known: dict[tuple[int, str | None, int | None], Transfer] = {}
    for run in pass_.runs:
        rectangle = run.window_scissor if isinstance(run, Tile) else None
        made: dict[int, list[Transfer]] = {}
        for operation in run.operations:
            action = operation.action
            if action.order in made or not action.transfers:
                transfers = made.setdefault(action.order, [])
                transfers.extend(_transfers_of(operation, pass_, rectangle))
                action.transfers = tuple(transfers)
            elif len(action.transfers) == 1:
                (transfer,) = action.transfers
                key = id(transfer), operation.attachment, operation.gmem
                if key not in known:
                    known[key] = _completed(transfer, operation)
                action.transfers = (known[key],)


def _completed(transfer: Transfer, operation: Operation) -> Transfer:
    """With the attachment, and the offset in GMEM where the blit has an address in GMEM."""
    source = transfer.source
    if source is not None and source.gmem is not None and operation.how == "CP_BLIT":
        source = source._replace(gmem=operation.gmem)
    return transfer._replace(source=source, attachment=operation.attachment)


def _transfers_of(
    operation: Operation, pass_: Pass, rectangle: Rectangle | None
) -> Iterator[Transfer]:
    """What a load, store or clear by a rectangle draw moves (a2xx to a5xx)."""
    if not operation.action.execution.is_possible:
        return
    if operation.kind == "clear":
        yield from _clears(operation, pass_, rectangle)
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
            samples=pass_.samples,
            rectangle=rectangle,
        )
        ends = (memory, gmem) if operation.kind == "load" else (gmem, memory)
        yield Transfer(*ends, resolves=operation.resolves, attachment=operation.attachment)


def _clears(operation: Operation, pass_: Pass, rectangle: Rectangle | None) -> Iterator[Transfer]:
    """Each attachment that a rectangle clears, with its value."""
    names = (operation.attachment or "").split("+")
    for target in attachments_of(pass_, operation):
        parts = [name for name in names if name == target.name or _lies_in(name, target, pass_)]
        end = end_of_attachment(target, pass_.mode == "gmem", rectangle)
        value = _value(operation, target, len(names) > len(parts))
        yield Transfer(None, end, value, attachment="+".join(parts))


def _lies_in(name: str, target: Attachment, pass_: Pass) -> bool:
    """Whether stencil of this name is in the depth buffer."""
    is_separate = any(attachment.name == "stencil" for attachment in pass_.attachments)
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
