# SPDX-License-Identifier: MIT
"""Sections to bytes, built with construct from the declared layouts (tests, samples, compiler).

    data = capture_bytes([
        gpu_id_section(630),
        *buffer_sections(0x10000, dwords_bytes([...])),
        command_stream_section(0x10000, 12),
    ])

The same sections always give the same bytes, also compressed: no time and no name is recorded.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cffpy.container.deflate import zlib_module
from cffpy.container.layouts import (
    CHIP_ID,
    COMMAND_STREAM_ADDRESS,
    GPU_ADDRESS,
    GPU_ID,
    PARAMETER,
    RESYNC_MARKER,
    SECTION_HEADER,
    SectionType,
)
from cffpy.layout import BytesLike

#: Of compression: captures are stored as small as with 9, in a third of the time.
_LEVEL = 6


class NewSection(NamedTuple):
    """A section to write: its type and payload."""

    type: int
    payload: BytesLike


def capture_bytes(sections: Iterable[tuple[int, BytesLike]], *, markers: int = 0) -> bytes:
    """The content of a capture file, with ``markers`` resync markers before each section."""
    marker = RESYNC_MARKER.build() * markers if markers else b""
    pieces: list[BytesLike] = []
    for section_type, payload in sections:
        pieces += (marker, SECTION_HEADER.build(type=section_type, size=len(payload)), payload)
    return b"".join(pieces)


def gzip_bytes(data: BytesLike) -> bytes:
    """``data`` as one gzip member without time or name, whatever Python writes by itself."""
    packer = zlib_module(len(data)).compressobj(_LEVEL, zlib.DEFLATED, -15)
    header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    packed: bytes = packer.compress(data) + packer.flush()
    return header + packed + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def dwords_bytes(dwords: Sequence[int]) -> bytes:
    """Little-endian dwords, as buffers hold them."""
    return struct.pack(f"<{len(dwords)}I", *dwords)


def gpu_id_section(gpu_id: int) -> NewSection:
    """RD_GPU_ID, e.g. 630."""
    return NewSection(SectionType.GPU_ID, GPU_ID.build(gpu_id=gpu_id))


def chip_id_section(chip_id: int) -> NewSection:
    """RD_CHIP_ID, 64 bits."""
    return NewSection(SectionType.CHIP_ID, CHIP_ID.build(chip_id=chip_id))


def command_section(process: str) -> NewSection:
    """RD_CMD: whose streams follow. Written without a NUL, as libwrap does."""
    return NewSection(SectionType.CMD, process.encode("ascii"))


def parameter_section(parameter: int, value: int, bit_length: int = 32) -> NewSection:
    """RD_PARAM: one parameter of the test that made the capture."""
    payload = PARAMETER.build(parameter=parameter, value=value, bit_length=bit_length)
    return NewSection(SectionType.PARAM, payload)


def address_section(address: int, length: int, *, short: bool = False) -> NewSection:
    """RD_GPUADDR; ``length`` in bytes. ``short``: without the high dword, as old writers do."""
    low, high = address & 0xFFFFFFFF, address >> 32
    if short:
        return NewSection(SectionType.GPUADDR, GPU_ADDRESS.build(address_low=low, length=length))
    payload = GPU_ADDRESS.build(address_low=low, length=length, address_high=high)
    return NewSection(SectionType.GPUADDR, payload)


def buffer_sections(
    address: int, contents: BytesLike, *, size: int | None = None, short: bool = False
) -> list[NewSection]:
    """A buffer: RD_GPUADDR (``size`` bytes, by default all of the contents), RD_BUFFER_CONTENTS."""
    named = address_section(address, len(contents) if size is None else size, short=short)
    return [named, NewSection(SectionType.BUFFER_CONTENTS, contents)]


def command_stream_section(address: int, dwords: int, *, short: bool = False) -> NewSection:
    """RD_CMDSTREAM_ADDR: execute ``dwords`` dwords at ``address``."""
    low, high = address & 0xFFFFFFFF, address >> 32
    if short:
        payload = COMMAND_STREAM_ADDRESS.build(address_low=low, dwords=dwords)
    else:
        payload = COMMAND_STREAM_ADDRESS.build(address_low=low, dwords=dwords, address_high=high)
    return NewSection(SectionType.CMDSTREAM_ADDR, payload)
