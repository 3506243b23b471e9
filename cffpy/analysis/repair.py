# SPDX-License-Identifier: MIT
"""Repairs the container of a damaged capture: drops what is not a section, adds missing streams.

``find_sections`` finds the sections of a capture that has other bytes between them. All other
commands use ``rd.iter_sections``, which follows the sizes in the headers and stops at an impossible
size, as the reference does.
"""

from __future__ import annotations

import re
from itertools import pairwise

from cffpy.capture.gpu import Gpu, guess
from cffpy.capture.memory import Buffer, MemoryImage
from cffpy.container import rd
from cffpy.container.rd import RESYNC_MARKER, SECTION_HEADER, Section
from cffpy.container.section_types import ESSENTIAL_SIZES, SectionType, section_name
from cffpy.container.writer import capture_bytes, command_stream_section
from cffpy.errors import CaptureError
from cffpy.pm4.reader import BAD, IDLE, OPCODE, HeaderMemo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.container.open import Content
    from cffpy.row_readers import BytesLike

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
        end = _end_of_section(view, offset)
        start = None
        if end is not None and not _is_followed(view, offset, end):
            start = _next_sections(view, offset + 1, end)
        if end is None or start is not None or not _is_known_or_followed(view, offset, end):
            start = start or _next_sections(view, offset + 1, len(view)) or len(view)
            yield Junk(offset, start)
            offset = start
            continue
        payload = view[offset + SECTION_HEADER.size : end]
        count = 1
        if not _type_at(view, offset):
            end = _end_of_zeros(view, end)
            count = (end - offset) // SECTION_HEADER.size
        yield Section(_type_at(view, offset), offset, payload, count)
        offset = end


def _end_of_zeros(view: memoryview, offset: int) -> int:
    """Where a run of empty sections ends that has begun before."""
    for size in (_ZEROS, SECTION_HEADER.size):
        zeros = bytes(size)
        while view[offset : offset + size] == zeros:
            offset += size
    return offset


def _type_at(view: memoryview, offset: int) -> int:
    return int(SECTION_HEADER.unpack_from(view, offset)[0])


def _end_of_section(view: memoryview, offset: int) -> int | None:
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
    return not section_name(_type_at(view, offset)).startswith("type ")


def _is_followed(view: memoryview, offset: int, end: int) -> bool:
    """Whether a section of a known type is followed by another header, or by the file's end.

    After sections that have a fixed size anything may follow.
    """
    if not _is_known(view, offset):
        return False
    is_fixed = _type_at(view, offset) in ESSENTIAL_SIZES and end <= len(view)
    return is_fixed or end == len(view) or _end_of_section(view, end) is not None


def _is_known_or_followed(view: memoryview, offset: int, end: int) -> bool:
    """Whether a section has a known type, or one of a known type follows it."""
    is_known = _is_known(view, offset)
    return is_known or (_end_of_section(view, end) is not None and _is_known(view, end))


def _next_sections(view: memoryview, offset: int, limit: int) -> int | None:
    """The next offset, below ``limit``, at which sections begin that only a capture has."""
    for match in _HEADER.finditer(view, offset, limit + _HEADER_OVERLAP):
        if _is_chain(view, match.start()):
            return match.start()
    return None


def _is_chain(view: memoryview, offset: int) -> bool:
    """Whether known sections follow each other from here on, an essential one among them."""
    is_essential = False
    for _ in range(_CHAIN):
        end = _end_of_section(view, offset)
        if end is None or not _is_known(view, offset):
            return view[offset : offset + len(RESYNC_MARKER)] == RESYNC_MARKER and is_essential
        is_essential = is_essential or _type_at(view, offset) in ESSENTIAL_SIZES
        offset = end
        if offset >= len(view):
            break
    return is_essential


#: A buffer that begins with this number of packets may be a command stream.
_LEAST_PACKETS = 2
_SHORT = 8  # bytes of an address without its upper half
_LEAST_ADDRESS = 16  # bytes of a RD_GPUADDR with its header
_LISTED = 6


class Repaired:
    """The capture's bytes in pieces, and what was done to it; no ``messages``: nothing was wrong.

    Pieces are views of the damaged capture, as far as they can be.
    """

    def __init__(self, pieces: list[BytesLike], messages: list[str]) -> None:
        self.pieces = pieces
        self.messages = messages

    @property
    def size(self) -> int:
        """Size of the repaired file in bytes."""
        return sum(map(len, self.pieces))

    @property
    def data(self) -> bytes:
        """The bytes of the repaired file, copied."""
        return b"".join(self.pieces)


def repair(content: Content, address: int | None = None, ndwords: int | None = None) -> Repaired:
    """Repair a capture. ``address``, ``ndwords`` (dwords): the stream to add, if not deduced.

    Raises CaptureError where a stream is missing and earlier submits do not show which, or no
    section is left.
    """
    messages: list[str] = []
    sections = _whole_sections(content, messages)
    if not sections:
        raise CaptureError("no whole section is left")
    last = _LastSet(sections)
    streams: list[tuple[int, int]] = []
    reason = "as asked"
    if address is not None:
        streams = [(address, last.length(address) if ndwords is None else ndwords)]
    elif last.lacks_stream:
        submit, streams = last.deduce()
        reason = f"as in submit {submit}"
    pieces = _joined(content.data, sections)
    for start, size in streams:
        if last.image.find(start) is None:
            messages.append(f"no buffer holds {start:#x}: the stream cannot be decoded")
        new = capture_bytes([command_stream_section(start, size, short=last.is_short)])
        pieces.append(new)
        messages.append(f"added RD_CMDSTREAM_ADDR: {size} dwords at {start:#x}, {reason}")
    return Repaired(pieces if messages else [content.data], messages)


def _end(section: Section) -> int:
    return section.offset + SECTION_HEADER.size * section.count + len(section.payload)


def _joined(data: memoryview, sections: list[Section]) -> list[BytesLike]:
    """The bytes of the sections, and resync markers between two that follow each other."""
    parts: list[BytesLike] = []
    start = end = 0
    for section in sections:
        between = bytes(data[end : section.offset])
        if between != RESYNC_MARKER * (len(between) // len(RESYNC_MARKER)):
            parts.append(data[start:end])
            start = section.offset
        end = _end(section)
    return [*parts, data[start:end]]


def _whole_sections(content: Content, messages: list[str]) -> list[Section]:
    """The complete sections; a line about each loss is appended to ``messages``."""
    if content.damage is not None:
        messages.append(f"the compressed stream is broken: {content.damage}")
    sections: list[Section] = []
    junk = 0  # bytes before the section
    for part in find_sections(content.data):
        if isinstance(part, Junk):
            junk = part.end - part.offset
            is_last = part.end == len(content.data)
            where = "after the last section" if is_last else f"at {part.offset:#x}: no section"
            messages.append(f"dropped {junk} bytes {where}")
        elif junk and part.type == SectionType.BUFFER_CONTENTS and not _fits(sections, part, junk):
            messages.append(
                f"dropped RD_BUFFER_CONTENTS at {part.offset:#x}: its RD_GPUADDR is missing"
            )
        else:
            sections.append(part)
            junk = 0
    _drop_cut(content, sections, messages)
    return sections


def _fits(sections: list[Section], contents: Section, junk: int) -> bool:
    """Whether contents after ``junk`` bytes are those of the buffer that was named last.

    They have its size, and its own contents do not fit into what was dropped.
    """
    named = next(
        (section for section in reversed(sections) if section.type != SectionType.NONE), None
    )
    if named is None or named.type != SectionType.GPUADDR:
        return False
    size = len(contents.payload)
    is_same_size = rd.gpu_address(named.payload)[1] == size
    return is_same_size and junk < size + SECTION_HEADER.size + _LEAST_ADDRESS


def _drop_cut(content: Content, sections: list[Section], messages: list[str]) -> None:
    """Drop the last section if it is cut short, with the RD_GPUADDR of its buffer."""
    if not sections:
        return
    cut = sections[-1]
    header = content.data[cut.offset : cut.offset + SECTION_HEADER.size]
    size, there = SECTION_HEADER.unpack(header)[1], len(cut.payload)
    if there == size:
        return
    name = section_name(cut.type)
    messages.append(f"dropped {name} at {cut.offset:#x}: {there} of {size} bytes")
    sections.pop()
    is_buffer = cut.type == SectionType.BUFFER_CONTENTS
    if is_buffer and sections and sections[-1].type == SectionType.GPUADDR:
        named = sections.pop()
        gpuaddr = rd.gpu_address(named.payload)[0]
        messages.append(f"dropped RD_GPUADDR at {named.offset:#x}, which named {gpuaddr:#x}")


class _LastSet:
    """The buffers of the last submit, and the streams of the submits before.

    Without buffers after the last stream, they are those of that stream.
    """

    def __init__(self, sections: list[Section]) -> None:
        self.image = MemoryImage()
        #: Whether buffers came and no stream after them.
        self.lacks_stream = False
        #: Whether addresses are written without their upper half.
        self.is_short = False
        #: The addresses of the command streams of each submit, in order.
        self._submits: list[list[int]] = []
        self._headers = HeaderMemo()
        self._gpu = self._run(sections)

    def _run(self, sections: list[Section]) -> Gpu | None:
        gpu_id = chip_id = gpuaddr = size = 0
        starts_anew = True
        for section in sections:
            payload = section.payload
            if section.type == SectionType.GPUADDR:
                if starts_anew:
                    self.image.clear()
                    starts_anew = False
                gpuaddr, size = rd.gpu_address(payload)
                self.is_short = len(payload) == _SHORT
            elif section.type == SectionType.BUFFER_CONTENTS:
                self.image.add(gpuaddr, size, payload)
                self.lacks_stream = True
            elif section.type == SectionType.CMDSTREAM_ADDR:
                if not starts_anew or not self._submits:
                    self._submits.append([])
                self._submits[-1].append(rd.command_stream_address(payload)[0])
                self.lacks_stream = False
                starts_anew = True
            elif section.type == SectionType.GPU_ID:
                gpu_id = gpu_id or rd.gpu_id(payload)
            elif section.type == SectionType.CHIP_ID:
                chip_id = chip_id or rd.chip_id(payload)
        return guess(gpu_id, chip_id)

    def deduce(self) -> tuple[int, list[tuple[int, int]]]:
        """The streams that are missing: an earlier submit's number, and (address, dwords) of each.

        They are those of the last submit whose streams all begin with packets in the buffers that
        are there now. Raises CaptureError if there is no such submit. Buffers alone do not show
        which of them the kernel was given: commands may be called by streams that are missing, or
        be meant for CP_SET_AMBLE.
        """
        called = self._named()
        for number in reversed(range(len(self._submits))):
            addresses = self._submits[number]
            lengths = [0 if address in called else self.length(address) for address in addresses]
            if all(lengths):
                return number, list(zip(addresses, lengths, strict=True))
        free = [buffer for buffer in self._candidates() if buffer.gpuaddr not in called]
        listed = ", ".join(f"{buffer.gpuaddr:#x}" for buffer in free[:_LISTED])
        if len(free) > _LISTED:
            listed += ", ..."
        which = f"buffers with commands that no others call: {listed}; " if listed else ""
        before = "that of no earlier submit is there" if self._submits else "no submit is before it"
        raise CaptureError(
            f"the command stream of the last buffers is missing, and {before}: "
            f"{which}name it with --address (and --dwords)"
        )

    def length(self, address: int) -> int:
        """Dwords of the packets from an address on, up to a zero or to a dword that begins none."""
        return self._walk(address)[0]

    def _walk(self, address: int) -> tuple[int, int]:
        """Dwords and number of the packets from an address on."""
        place = self.image.place(address)
        if place is None:
            return 0, 0
        words, index = place
        first, packets = index, 0
        while index < words.count and words.data[index]:
            kind, _, size = self._headers[words.data[index]]
            if kind == BAD or index + size > words.count or not self._belongs(words.data[index]):
                break
            index += size
            packets += kind != IDLE
        return index - first, packets

    def _belongs(self, word: int) -> bool:
        """Whether this GPU has packets of the header's type."""
        if self._gpu is None:
            return True
        return (word >> 30 in (0, 2, 3)) != self._gpu.is_64bit or word == 0x80000000

    def _candidates(self) -> list[Buffer]:
        candidates = []
        for buffer in self.image.buffers:
            _, packets = self._walk(buffer.gpuaddr)
            if packets >= _LEAST_PACKETS and self._has_opcode(buffer):
                candidates.append(buffer)
        return candidates

    def _has_opcode(self, buffer: Buffer) -> bool:
        words = buffer.words(0)
        length = self.length(buffer.gpuaddr)
        index = 0
        while index < length:
            kind, _, size = self._headers[words.data[index]]
            if kind == OPCODE:
                return True
            index += size
        return False

    def _named(self) -> set[int]:
        """The addresses of buffers that the commands of another contain: to call it, for example.

        CP_SET_AMBLE has such an address, too.
        """
        wanted = {buffer.gpuaddr for buffer in self.image.buffers}
        addresses = set()
        wide = self._gpu is None or self._gpu.is_64bit
        for buffer in self.image.buffers:
            words = buffer.words(0).data[: self.length(buffer.gpuaddr)].tolist()
            named = {low | high << 32 for low, high in pairwise(words)} if wide else set(words)
            addresses |= (named & wanted) - {buffer.gpuaddr}
        return addresses
