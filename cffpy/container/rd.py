# SPDX-License-Identifier: MIT
"""Sections of a decompressed .rd capture: their structures, and the loop that reads them.

    for section in iter_sections(content.data, damage := []):
        if section.type == SectionType.GPUADDR:
            address, length = gpu_address(section.payload)

Payloads are views of the only copy of the file in memory. Damage does not raise: readable sections
are yielded, and damage is recorded with its offset.

The structures are ``struct.Struct``s, derived from the construct Structs of
cffpy.container.structs. The rows in between are kept in the cache of compiled descriptions
(cffpy.compiled), so that reading a capture imports no construct.
"""

from __future__ import annotations

import marshal
import os
from itertools import islice

from cffpy.container.damage import Damage
from cffpy.container.section_types import SectionType, section_name
from cffpy.descriptions.store import Store
from cffpy.row_readers import BytesLike, byte_struct
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from struct import Struct
    from typing import Any


_STRUCTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "structs.py")
_PART = "sections"


def _compile(_directory: str) -> dict[str, bytes]:
    """``{"rows": {name: rows}, "marker": bytes}``, which no edition changes."""
    from cffpy.container.structs import RESYNC_MARKER, compile_rows

    content = {"rows": compile_rows(), "marker": RESYNC_MARKER.build({})}
    return {_PART: marshal.dumps(content)}


SECTIONS = Store("sections", 1, lambda _directory: [_STRUCTS], _compile, of_editions=False)


_LOADED: dict[str, Any] = SECTIONS.load(_PART)


def _struct(name: str) -> Struct:
    return byte_struct(_LOADED["rows"][name])


#: type, size of the payload in bytes
SECTION_HEADER = _struct("SECTION_HEADER")
#: the two dwords of a resync marker, as bytes
RESYNC_MARKER: bytes = _LOADED["marker"]
#: address_low, length in bytes, address_high, which may be missing
GPU_ADDRESS = _struct("GPU_ADDRESS")
#: address_low, dwords, address_high, which may be missing
COMMAND_STREAM_ADDRESS = _struct("COMMAND_STREAM_ADDRESS")
#: parameter, value, bit_length
PARAMETER = _struct("PARAMETER")
#: gpu_id
GPU_ID = _struct("GPU_ID")
#: chip_id
CHIP_ID = _struct("CHIP_ID")


def offset_in(structure: str, name: str) -> int:
    """Byte offset of a value in a structure, e.g. of "dwords" in "COMMAND_STREAM_ADDRESS"."""
    for row in _LOADED["rows"][structure]:
        if row[0] == name:
            return int(row[1]) * 4
    raise KeyError(name)


# The size field is signed for the reference: it stops at a negative one.
_ADDRESS_BYTES = 8
_SIZE_LIMIT = 1 << 31

# Zeros skipped at once: they are empty sections of type 0, in a preallocated or a hostile file.
_ZEROS = 4096
_ZERO_BYTES = bytes(_ZEROS)

# A capture names its GPU, a buffer or a stream within this many sections.
_FIRST_SECTIONS = 16


class Section(ValueObject):
    """One section. ``offset``: of its header in the decompressed file, in bytes.

    ``type`` is a plain number: compare it with ``SectionType``; unknown types pass through.
    """

    __slots__ = ("count", "offset", "payload", "type")

    def __init__(self, section_type: int, offset: int, payload: memoryview, count: int = 1) -> None:
        self.type = section_type
        self.offset = offset
        self.payload = payload
        #: How many equal sections this is: more than 1 only for empty sections of type 0.
        self.count = count

    @property
    def payload_offset(self) -> int:
        """Where the payload begins in the decompressed file, in bytes."""
        return self.offset + SECTION_HEADER.size


def iter_sections(data: BytesLike, damage: list[Damage] | None = None) -> Iterator[Section]:
    """The sections of ``data`` in order; what is wrong is appended to ``damage``.

    Resync markers are skipped. The last section may be cut short by the end of the file: it has
    the payload that is there. A size with bit 31 set ends the file. A long run of zeros, which
    are empty sections, is yielded as one section with a ``count``.
    """
    damage = [] if damage is None else damage
    view = memoryview(data)
    end = len(view)
    read_header, header_size = SECTION_HEADER.unpack_from, SECTION_HEADER.size
    marker = SECTION_HEADER.unpack(RESYNC_MARKER)
    offset = 0
    while offset + header_size <= end:
        start = offset
        section_type, size = values = read_header(view, start)
        offset = start + header_size
        if values == marker:
            continue
        if size >= _SIZE_LIMIT:
            message = f"{section_name(section_type)} has an impossible size: {size:#x}"
            damage.append(Damage(start, message, reference_says_corrupt=True))
            return
        if not size and not section_type and view[start : start + _ZEROS] == _ZERO_BYTES:
            while view[offset : offset + _ZEROS] == _ZERO_BYTES:
                offset += _ZEROS
            yield Section(0, start, view[start:start], (offset - start) // header_size)
            continue
        payload = view[offset : offset + size]
        if len(payload) < size:
            damage.append(Damage(start, _cut_short(section_type, size, len(payload))))
        offset += size
        yield Section(section_type, start, payload)
    if offset < end:
        damage.append(Damage(offset, f"{end - offset} trailing bytes, too few for a section"))


def looks_like_capture(data: BytesLike) -> bool:
    """Whether data starts like a capture: with known sections, and one that every capture has.

    No valid shader program starts like this.
    """
    sizes = {
        SectionType.GPU_ID: (4,),
        SectionType.CHIP_ID: (8,),
        SectionType.GPUADDR: (8, 12),
        SectionType.CMDSTREAM_ADDR: (8, 12),
    }
    for section in islice(iter_sections(data), _FIRST_SECTIONS):
        if section.type in sizes:
            return len(section.payload) in sizes[section.type]
        if section_name(section.type).startswith("type "):
            return False
    return False


def gpu_address(payload: BytesLike) -> tuple[int, int]:
    """RD_GPUADDR: the buffer's address and its length in bytes. Missing bytes count as 0."""
    low, length, high = GPU_ADDRESS.unpack(_padded(payload, GPU_ADDRESS.size))
    return low | high << 32, length


def command_stream_address(payload: BytesLike) -> tuple[int, int]:
    """RD_CMDSTREAM_ADDR: the stream's address and length in dwords. Missing bytes count as 0."""
    low, dwords, high = COMMAND_STREAM_ADDRESS.unpack(_padded(payload, COMMAND_STREAM_ADDRESS.size))
    return low | high << 32, dwords


def write_buffer(payload: BytesLike) -> tuple[int, int, str]:
    """RD_WRBUFFER: address and bytes of a buffer, and the file that Mesa's replay writes it to.

    Newer tools put a 64-bit flag in front of the name. Missing bytes count as 0.
    """
    head = _padded(payload, 3 * _ADDRESS_BYTES)
    address, size, flag = (
        int.from_bytes(head[at : at + _ADDRESS_BYTES], "little")
        for at in range(0, len(head), _ADDRESS_BYTES)
    )
    return address, size, text(payload[(3 if flag <= 1 else 2) * _ADDRESS_BYTES :])


def gpu_id(payload: BytesLike) -> int:
    """RD_GPU_ID, e.g. 630. Missing bytes count as 0."""
    (number,) = GPU_ID.unpack(_padded(payload, GPU_ID.size))
    return int(number)


def chip_id(payload: BytesLike) -> int:
    """RD_CHIP_ID, 64 bits. Missing bytes count as 0."""
    (number,) = CHIP_ID.unpack(_padded(payload, CHIP_ID.size))
    return int(number)


def text(payload: BytesLike) -> str:
    """An ASCII payload up to its NUL, if it has one; other bytes become backslash escapes."""
    return bytes(payload).split(b"\0", 1)[0].decode("ascii", "backslashreplace")


def _padded(payload: BytesLike, size: int) -> bytes:
    """The first ``size`` bytes of a payload, with zeros for missing bytes."""
    return bytes(payload[:size]).ljust(size, b"\0")


def _cut_short(section_type: int, size: int, captured: int) -> str:
    if section_name(section_type).startswith("type "):
        return f"unknown section type {section_type}, {size} bytes: not a capture?"
    return f"{section_name(section_type)} is cut short: {captured} of {size} bytes"
