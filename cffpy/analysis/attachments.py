# SPDX-License-Identifier: MIT
"""What a draw renders to: colour, depth and stencil buffers, as the registers describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.capture.gpu import generation_of
from cffpy.frame.attachment import MAX_COLOURS, Attachment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.registers import RegisterReader

#: SWAP of a2xx, which has no names, by the names of later generations.
_SWAPS = ("WZYX", "WXYZ", "ZYXW", "XYZW")


def attachments(reader: RegisterReader, generation: int) -> tuple[Attachment, ...]:
    """The buffers that a draw now would render to."""
    family = generation_of(generation).tracker
    if family == "a6xx":
        return _from_a6xx(reader, generation, reader.field("RB_FS_OUTPUT_CNTL1", "MRT") or 0)
    if family == "a5xx":
        return _a5xx(reader, reader.field("RB_FS_OUTPUT_CNTL", "MRT") or 0)
    return bound_buffers(reader, generation)


def bound_buffers(reader: RegisterReader, generation: int) -> tuple[Attachment, ...]:
    """The buffers that registers name, whether a draw writes them or not.

    From a6xx on, drivers leave old values in registers of colour buffers that are not used.
    """
    family = generation_of(generation).tracker
    if family == "a6xx":
        return _from_a6xx(reader, generation, MAX_COLOURS)
    if family == "a5xx":
        return _a5xx(reader, MAX_COLOURS)
    if family == "a2xx":
        return _a2xx(reader)
    return _a3xx_a4xx(reader, has_old_modes=family == "a3xx")


def samples(reader: RegisterReader) -> int | None:
    """Samples a pixel (a5xx and later)."""
    code = reader.field("RB_DEST_MSAA_CNTL", "SAMPLES")
    return None if code is None else 1 << code


def _from_a6xx(reader: RegisterReader, generation: int, count: int) -> tuple[Attachment, ...]:
    number = samples(reader)
    has_bits = generation_of(generation).has_compression_bits
    targets = []
    compressed = reader.field("RB_RENDER_CNTL", "FLAG_MRTS")
    for index in range(min(count, MAX_COLOURS)):
        target, flag_buffer = f"RB_MRT[{index}]", f"RB_MRT_FLAG_BUFFER[{index}]"
        address = reader.address(f"{target}.BASE")
        gmem = reader.field(f"{target}.BASE_GMEM")
        if not address and not gmem and not reader.value(f"{target}.PITCH"):
            continue
        flags = reader.address(f"{flag_buffer}.ADDR")
        if has_bits:  # drivers write the address of flags in any case
            ubwc = reader.flag(f"{target}.BUF_INFO", "LOSSLESSCOMPEN")
        else:
            ubwc = bool(flags) if compressed is None else bool(compressed >> index & 1)
        targets.append(
            Attachment(
                f"color {index}",
                address,
                reader.enum(f"{target}.BUF_INFO", "COLOR_FORMAT"),
                reader.enum(f"{target}.BUF_INFO", "COLOR_TILE_MODE"),
                reader.field(f"{target}.PITCH"),
                gmem,
                ubwc,
                flags if ubwc else None,
                number,
                reader.field(f"{target}.CONTROL", "COMPONENT_ENABLE"),
                reader.field(f"{target}.ARRAY_PITCH"),
                reader.enum(f"{target}.BUF_INFO", "COLOR_SWAP"),
                reader.flag("RB_SRGB_CNTL", f"SRGB_MRT{index}"),
            )
        )
    depth_format = reader.enum("RB_DEPTH_BUFFER_INFO", "DEPTH_FORMAT")
    if depth_format not in (None, "DEPTH6_NONE", "0x0"):
        flags = reader.address("RB_DEPTH_FLAG_BUFFER_BASE")
        ubwc = (
            reader.flag("RB_DEPTH_BUFFER_INFO", "LOSSLESSCOMPEN")
            if has_bits
            else bool(flags) and reader.flag("RB_RENDER_CNTL", "FLAG_DEPTH")
        )
        targets.append(
            Attachment(
                "depth",
                reader.address("RB_DEPTH_BUFFER_BASE"),
                depth_format,
                None,
                reader.field("RB_DEPTH_BUFFER_PITCH"),
                reader.field("RB_DEPTH_BUFFER_BASE_GMEM"),
                ubwc,
                flags if ubwc else None,
                number,
                1 if reader.flag("RB_DEPTH_CNTL", "Z_WRITE_ENABLE") else 0,
                reader.field("RB_DEPTH_BUFFER_ARRAY_PITCH"),
            )
        )
    if reader.flag("RB_STENCIL_INFO", "SEPARATE_STENCIL"):
        targets.append(
            Attachment(
                "stencil",
                reader.address("RB_STENCIL_BUFFER_BASE"),
                "S8_UINT",
                None,
                reader.field("RB_STENCIL_BUFFER_PITCH"),
                reader.field("RB_STENCIL_BUFFER_BASE_GMEM"),
                samples=number,
            )
        )
    return tuple(targets)


def _a5xx(reader: RegisterReader, count: int) -> tuple[Attachment, ...]:
    """In GMEM mode the base registers hold GMEM offsets; memory is named by loads and stores."""
    number = samples(reader)
    in_memory = reader.flag("RB_CNTL", "BYPASS")
    compressed = reader.field("RB_RENDER_CNTL", "FLAG_MRTS") or 0
    targets = []
    for index in range(min(count, MAX_COLOURS)):
        target = f"RB_MRT[{index}]"
        if not reader.field(f"{target}.PITCH"):
            continue
        base = reader.address(f"{target}.BASE")
        ubwc = bool(compressed >> index & 1)
        targets.append(
            Attachment(
                f"color {index}",
                base if in_memory else None,
                reader.enum(f"{target}.BUF_INFO", "COLOR_FORMAT"),
                reader.enum(f"{target}.BUF_INFO", "COLOR_TILE_MODE") if in_memory else None,
                reader.field(f"{target}.PITCH") if in_memory else None,
                None if in_memory else base,
                ubwc,
                reader.address(f"RB_MRT_FLAG_BUFFER[{index}].ADDR") if ubwc else None,
                number,
                reader.field(f"{target}.CONTROL", "COMPONENT_ENABLE"),
                swap=reader.enum(f"{target}.BUF_INFO", "COLOR_SWAP"),
                srgb=reader.flag(f"{target}.BUF_INFO", "COLOR_SRGB"),
            )
        )
    depth_format = reader.enum("RB_DEPTH_BUFFER_INFO", "DEPTH_FORMAT")
    if depth_format not in (None, "DEPTH5_NONE"):
        base = reader.address("RB_DEPTH_BUFFER_BASE")
        ubwc = reader.flag("RB_RENDER_CNTL", "FLAG_DEPTH")
        targets.append(
            Attachment(
                "depth",
                base if in_memory else None,
                depth_format,
                pitch=reader.field("RB_DEPTH_BUFFER_PITCH") if in_memory else None,
                gmem=None if in_memory else base,
                ubwc=ubwc,
                flags=reader.address("RB_DEPTH_FLAG_BUFFER_BASE") if ubwc else None,
                samples=number,
                write_mask=int(reader.flag("RB_DEPTH_CNTL", "Z_WRITE_ENABLE")),
            )
        )
    if reader.flag("RB_STENCIL_INFO", "SEPARATE_STENCIL"):
        base = reader.address("RB_STENCIL_BASE")
        targets.append(_separate_stencil(reader, base, in_memory, number))
    return tuple(targets)


def _separate_stencil(
    reader: RegisterReader, base: int | None, in_memory: bool, number: int | None
) -> Attachment:
    """The stencil buffer of a3xx to a5xx at ``base``, of ``number`` samples."""
    return Attachment(
        "stencil",
        base if in_memory else None,
        "S8_UINT",
        pitch=reader.field("RB_STENCIL_PITCH") if in_memory else None,
        gmem=None if in_memory else base,
        samples=number,
    )


def _a3xx_a4xx(reader: RegisterReader, has_old_modes: bool) -> tuple[Attachment, ...]:
    """In GMEM mode the base registers hold GMEM offsets; memory is named where tiles are stored.

    Drivers set the pitch of what they do not use to 0. ``has_old_modes``: a3xx.
    """
    if has_old_modes:
        in_memory = reader.flag("RB_MODE_CONTROL", "GMEM_BYPASS")
        count = (reader.field("RB_MODE_CONTROL", "MRT") or 0) + 1
    else:
        in_memory = not reader.flag("RB_MODE_CONTROL", "ENABLE_GMEM")
        count = MAX_COLOURS
    number = _samples_a3xx_a4xx(reader)
    colours = (_colour_a3xx_a4xx(reader, index, in_memory, number) for index in range(count))
    bound = [colour for colour in colours if colour is not None]
    # a3xx has no format that says "none": its drivers write 0, and leave an older pitch
    if not has_old_modes or reader.value("RB_DEPTH_INFO") or not bound:
        bound.extend(_depth_a3xx_a4xx(reader, in_memory, number))
    base = reader.field("RB_STENCIL_INFO", "STENCIL_BASE")
    if base and reader.field("RB_STENCIL_PITCH"):
        bound.append(_separate_stencil(reader, base, in_memory, number))
    return tuple(bound)


def _colour_a3xx_a4xx(
    reader: RegisterReader, index: int, in_memory: bool, number: int | None
) -> Attachment | None:
    """The colour buffer ``index``, of ``number`` samples; None where it is not used."""
    target = f"RB_MRT[{index}]"
    pitch = reader.field(f"{target}.BUF_INFO", "COLOR_BUF_PITCH")
    if not pitch:
        return None
    base = reader.field(f"{target}.BUF_BASE", "COLOR_BUF_BASE")  # a3xx
    if base is None:
        base = reader.value(f"{target}.BASE")  # a4xx
    return Attachment(
        f"color {index}",
        base if in_memory else None,
        reader.enum(f"{target}.BUF_INFO", "COLOR_FORMAT"),
        reader.enum(f"{target}.BUF_INFO", "COLOR_TILE_MODE") if in_memory else None,
        pitch if in_memory else None,
        None if in_memory else base,
        samples=number,
        write_mask=reader.field(f"{target}.CONTROL", "COMPONENT_ENABLE"),
        swap=reader.enum(f"{target}.BUF_INFO", "COLOR_SWAP"),
        srgb=reader.flag(f"{target}.BUF_INFO", "COLOR_SRGB"),
    )


def _depth_a3xx_a4xx(
    reader: RegisterReader, in_memory: bool, number: int | None
) -> Iterator[Attachment]:
    """The depth buffer, of ``number`` samples, if registers name one."""
    pitch = reader.field("RB_DEPTH_PITCH")
    depth_format = reader.enum("RB_DEPTH_INFO", "DEPTH_FORMAT")
    if depth_format in (None, "DEPTH4_NONE") or not pitch:
        return
    base = reader.field("RB_DEPTH_INFO", "DEPTH_BASE")
    yield Attachment(
        "depth",
        base if in_memory else None,
        depth_format,
        pitch=pitch if in_memory else None,
        gmem=None if in_memory else base,
        samples=number,
        write_mask=int(reader.flag("RB_DEPTH_CONTROL", "Z_WRITE_ENABLE")),
    )


def _samples_a3xx_a4xx(reader: RegisterReader) -> int | None:
    if reader.value("RB_MSAA_CONTROL") is None:
        return None
    if reader.flag("RB_MSAA_CONTROL", "DISABLE"):
        return 1
    return 1 << (reader.field("RB_MSAA_CONTROL", "SAMPLES") or 0)


def _a2xx(reader: RegisterReader) -> tuple[Attachment, ...]:
    """``gmem`` holds the bases, which may be in memory too: the pass knows which of the two.

    ``pitch`` is the surface's, of the colour buffer.
    """
    code = reader.field("RB_SURFACE_INFO", "MSAA_SAMPLES")
    number = None if code is None else 1 << code
    targets = []
    name = reader.enum("RB_COLOR_INFO", "FORMAT")
    # without a colour buffer the driver writes a format that there is not
    if name is not None and not name.startswith("0x"):
        pixels = reader.field("RB_SURFACE_INFO", "SURFACE_PITCH") or 0
        targets.append(
            Attachment(
                "color 0",
                None,
                name,
                "linear" if reader.flag("RB_COLOR_INFO", "LINEAR") else "tiled",
                pixels * bytes_a_pixel(name),
                reader.field("RB_COLOR_INFO", "BASE"),
                samples=number,
                write_mask=reader.value("RB_COLOR_MASK"),
                swap=_SWAPS[reader.field("RB_COLOR_INFO", "SWAP") or 0],
            )
        )
    # no format of depth says "none": drivers write 0, which is a buffer where there is no other
    value = reader.value("RB_DEPTH_INFO")
    if value or (value == 0 and not targets):
        targets.append(
            Attachment(
                "depth",
                None,
                reader.enum("RB_DEPTH_INFO", "DEPTH_FORMAT"),
                gmem=reader.field("RB_DEPTH_INFO", "DEPTH_BASE"),
                samples=number,
                write_mask=int(reader.flag("RB_DEPTHCONTROL", "Z_WRITE_ENABLE")),
            )
        )
    return tuple(targets)


def cache_offset(reader: RegisterReader) -> int | None:
    """Where the colour cache begins in GMEM, in bytes; None where no register tells."""
    name = reader.first("RB_CCU_CNTL2", "RB_CCU_CNTL") or ""
    low = reader.field(name, "COLOR_OFFSET")
    high = reader.field(name, "COLOR_OFFSET_HI")
    return None if low is None else low | (high or 0) << 21


def bytes_a_pixel(colour_format: str) -> int:
    """For colour formats of a2xx, by the bits in their names: COLORX_5_6_5, COLORX_16_16_FLOAT."""
    bits = (part for part in colour_format.split("_") if part.isdecimal())
    return sum(map(int, bits)) // 8


def written_components(targets: tuple[Attachment, ...], depth: bool, stencil: bool) -> list[str]:
    """Names of what a draw writes, of its targets; ``depth``, ``stencil``: is each written?

    Stencil without a separate buffer is in the depth buffer, if its format has any.
    """
    names = []
    for target in targets:
        if target.name.startswith("color"):
            if target.write_mask:
                names.append(target.name)
        elif target.name == "depth":
            is_alone = not any(other.name == "stencil" for other in targets)
            has_stencil = is_alone and (target.format is None or target.packs_stencil)
            names.extend(["depth"] if depth else [])
            names.extend(["stencil"] if stencil and has_stencil else [])
        elif stencil:
            names.append("stencil")
    return names


def parts_of_depth(target: Attachment, depth: bool, stencil: bool) -> str:
    """The name of what an operation on the depth buffer ``target`` is about.

    ``depth``, ``stencil``: the parts that it touches where both are packed in one buffer; of any
    other depth buffer it is depth alone.
    """
    if not target.packs_stencil:
        return target.name
    touched = ((depth, "depth"), (stencil, "stencil"))
    return "+".join(name for is_touched, name in touched if is_touched) or target.name
