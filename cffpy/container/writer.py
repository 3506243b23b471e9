# SPDX-License-Identifier: MIT
"""Sections to bytes, built by the Structs of cffpy.container.structs (tests, samples, compiler).

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
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from construct import ConstructError

from cffpy.container.open import zlib_module
from cffpy.container.section_types import SectionType
from cffpy.container.structs import (
    CHIP_ID,
    COMMAND_STREAM_ADDRESS,
    GPU_ADDRESS,
    GPU_ID,
    PARAMETER,
    RESYNC_MARKER,
    SECTION_HEADER,
)
from cffpy.errors import StructError
from cffpy.row_readers import BytesLike

#: Compression level: captures become as small as with 9, in a third of the time.
_LEVEL = 6
#: Bytes that are compressed at a time.
_STEP = 1 << 20


class NewSection(NamedTuple):
    """A section to write: its type and payload."""

    type: int
    payload: BytesLike


def _build(structure: Any, **values: int) -> bytes:  # noqa: ANN401  (construct has no types)
    """Raises StructError for a value that does not fit its field."""
    try:
        return bytes(structure.build(values))
    except ConstructError as problem:
        raise StructError(str(problem).strip().splitlines()[-1]) from None


def marker_bytes(count: int) -> bytes:
    """The bytes of ``count`` resync markers in a row."""
    return _build(RESYNC_MARKER) * count


def header_bytes(section_type: int, size: int) -> bytes:
    """The header of a section whose payload has ``size`` bytes."""
    return _build(SECTION_HEADER, type=section_type, size=size)


def capture_bytes(sections: Iterable[tuple[int, BytesLike]], *, markers: int = 0) -> bytes:
    """The content of a capture file, with ``markers`` resync markers before each section."""
    marker = marker_bytes(markers)
    pieces: list[BytesLike] = []
    for section_type, payload in sections:
        pieces += (marker, header_bytes(section_type, len(payload)), payload)
    return b"".join(pieces)


def gzip_bytes(data: BytesLike) -> bytes:
    """``data`` as one gzip member without time or name."""
    return b"".join(gzip_pieces([data], len(data)))


def gzip_pieces(pieces: Iterable[BytesLike], size: int) -> Iterator[bytes]:
    """Compress the ``size`` bytes of ``pieces`` as ``gzip_bytes`` does, in pieces."""
    packer = zlib_module(size).compressobj(_LEVEL, zlib.DEFLATED, -15)
    yield b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    checksum = 0
    for step in _steps(pieces):
        checksum = zlib.crc32(step, checksum)
        yield packer.compress(step)
    yield packer.flush()
    yield struct.pack("<II", checksum, size & 0xFFFFFFFF)


def _steps(pieces: Iterable[BytesLike]) -> Iterator[bytes]:
    """The same bytes in equal steps: zlib-ng packs them in another way if pieces are others."""
    held = bytearray()
    for piece in pieces:
        view = memoryview(piece)
        while view:
            step = view[: _STEP - len(held)]
            held += step
            view = view[len(step) :]
            if len(held) == _STEP:
                yield bytes(held)
                held.clear()
    yield bytes(held)


def dwords_bytes(dwords: Sequence[int]) -> bytes:
    """Little-endian dwords, as buffers hold them."""
    return struct.pack(f"<{len(dwords)}I", *dwords)


def gpu_id_section(gpu_id: int) -> NewSection:
    """A section that names the GPU by its number, e.g. 630."""
    return NewSection(SectionType.GPU_ID, _build(GPU_ID, gpu_id=gpu_id))


def chip_id_section(chip_id: int) -> NewSection:
    """A section that names the GPU by its chip id of 64 bits."""
    return NewSection(SectionType.CHIP_ID, _build(CHIP_ID, chip_id=chip_id))


def command_section(process: str) -> NewSection:
    """RD_CMD: whose streams follow. Written without a NUL, as libwrap does."""
    return NewSection(SectionType.CMD, process.encode("ascii"))


def parameter_section(parameter: int, value: int, bit_length: int = 32) -> NewSection:
    """RD_PARAM: one parameter of the test that made the capture."""
    payload = _build(PARAMETER, parameter=parameter, value=value, bit_length=bit_length)
    return NewSection(SectionType.PARAM, payload)


def address_section(address: int, length: int, *, short: bool = False) -> NewSection:
    """RD_GPUADDR; ``length`` in bytes. ``short``: without the high dword, as old writers do."""
    low, high = address & 0xFFFFFFFF, address >> 32
    if short:
        return NewSection(SectionType.GPUADDR, _build(GPU_ADDRESS, address_low=low, length=length))
    payload = _build(GPU_ADDRESS, address_low=low, length=length, address_high=high)
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
        payload = _build(COMMAND_STREAM_ADDRESS, address_low=low, dwords=dwords)
    else:
        payload = _build(COMMAND_STREAM_ADDRESS, address_low=low, dwords=dwords, address_high=high)
    return NewSection(SectionType.CMDSTREAM_ADDR, payload)
