# SPDX-License-Identifier: MIT
"""Finds the sections of a capture that has other bytes between them.

Only ``cffpy repair`` reads files in this way. All other commands use ``rd.iter_sections``, which
follows the sizes in the headers and stops at an impossible one, as the reference does.
"""

from __future__ import annotations

import re

from cffpy.container.layouts import RESYNC_MARKER, SECTION_HEADER
from cffpy.container.rd import Section
from cffpy.container.section_types import SectionType, section_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.row_readers import BytesLike

#: Possible sizes of the payloads without which there is nothing to decode, in bytes.
ESSENTIAL_SIZES = {
    SectionType.GPU_ID: (4,),
    SectionType.CHIP_ID: (8,),
    SectionType.GPUADDR: (8, 12),
    SectionType.CMDSTREAM_ADDR: (8, 12),
}

#: A header counts as one if this number of headers follows it, or the end of the file does.
_CHAIN = 4

_LAST_TYPE = max(
    number for name, number in vars(SectionType).items() if name.isupper() and number < 0x100
)
#: How far its match may reach after the last offset at which it begins.
_HEADER_OVERLAP = 3

#: Zeros that are skipped at once, in bytes.
_ZEROS = 4096

#: The first dword of a header.
_HEADER = re.compile(rb"[\x01-" + re.escape(bytes([_LAST_TYPE])) + rb"]\0\0\0", re.DOTALL)


class Junk:
    """Bytes that belong to no section: ``data[offset:end]``."""

    __slots__ = ("end", "offset")

    def __init__(self, offset: int, end: int) -> None:
        self.offset = offset
        self.end = end


def find_sections(data: BytesLike) -> Iterator[Section | Junk]:
    """Sections and what is between them, in order and without gaps, except for resync markers.

    A section whose type is unknown is passed through if a known one follows it. The last section
    may be cut short. A run of empty sections of type 0 comes as one with a ``count``.
    """
    view = memoryview(data)
    offset = 0
    while offset < len(view):
        if view[offset : offset + len(RESYNC_MARKER)] == RESYNC_MARKER:
            offset += len(RESYNC_MARKER)
            continue
        end = _end(view, offset)
        start = None
        if end is not None and not _is_followed(view, offset, end):
            start = _next(view, offset + 1, end)
        if end is None or start is not None or not _is_known_or_followed(view, offset, end):
            start = start or _next(view, offset + 1, len(view)) or len(view)
            yield Junk(offset, start)
            offset = start
            continue
        payload = view[offset + SECTION_HEADER.size : end]
        count = 1
        if not _type(view, offset):
            end = _end_of_zeros(view, end)
            count = (end - offset) // SECTION_HEADER.size
        yield Section(_type(view, offset), offset, payload, count)
        offset = end


def _end_of_zeros(view: memoryview, offset: int) -> int:
    """Where a run of empty sections ends that has begun before."""
    for size in (_ZEROS, SECTION_HEADER.size):
        zeros = bytes(size)
        while view[offset : offset + size] == zeros:
            offset += size
    return offset


def _type(view: memoryview, offset: int) -> int:
    return int(SECTION_HEADER.unpack_from(view, offset)[0])


def _end(view: memoryview, offset: int) -> int | None:
    """Where the section at an offset ends; None if there is no possible header.

    The end is past the end of the file if the section is cut short.
    """
    start = offset + SECTION_HEADER.size
    if start > len(view):
        return None
    if view[offset:start] == RESYNC_MARKER:
        return start
    section_type, size = SECTION_HEADER.unpack_from(view, offset)
    sizes = ESSENTIAL_SIZES.get(section_type)
    if size >> 31 or (sizes is not None and size not in sizes) or (size and not section_type):
        return None
    end = start + int(size)
    return end if _is_known(view, offset) or end <= len(view) else None


def _is_known(view: memoryview, offset: int) -> bool:
    return not section_name(_type(view, offset)).startswith("type ")


def _is_followed(view: memoryview, offset: int, end: int) -> bool:
    """Whether a section of a known type is followed by another header, or by the file's end.

    After sections that have a fixed size anything may follow.
    """
    if not _is_known(view, offset):
        return False
    is_fixed = _type(view, offset) in ESSENTIAL_SIZES and end <= len(view)
    return is_fixed or end == len(view) or _end(view, end) is not None


def _is_known_or_followed(view: memoryview, offset: int, end: int) -> bool:
    """Whether a section has a known type, or one of a known type follows it."""
    is_known = _is_known(view, offset)
    return is_known or (_end(view, end) is not None and _is_known(view, end))


def _next(view: memoryview, offset: int, limit: int) -> int | None:
    """The next offset, below ``limit``, at which sections begin that only a capture has."""
    for match in _HEADER.finditer(view, offset, limit + _HEADER_OVERLAP):
        if _is_chain(view, match.start()):
            return match.start()
    return None


def _is_chain(view: memoryview, offset: int) -> bool:
    """Whether known sections follow each other from here on, an essential one among them."""
    is_essential = False
    for _ in range(_CHAIN):
        end = _end(view, offset)
        if end is None or not _is_known(view, offset):
            return view[offset : offset + len(RESYNC_MARKER)] == RESYNC_MARKER and is_essential
        is_essential = is_essential or _type(view, offset) in ESSENTIAL_SIZES
        offset = end
        if offset >= len(view):
            break
    return is_essential
