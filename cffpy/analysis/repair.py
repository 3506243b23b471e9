# SPDX-License-Identifier: MIT
"""Repairs the container of a damaged capture: drops what is not a section, adds missing streams."""

from __future__ import annotations

from itertools import pairwise

from cffpy.capture.gpu import Gpu, guess
from cffpy.capture.memory import Buffer, MemoryImage
from cffpy.container import rd
from cffpy.container.layouts import RESYNC_MARKER, SECTION_HEADER
from cffpy.container.open import Content
from cffpy.container.rd import Section
from cffpy.container.resync import Junk, find_sections
from cffpy.container.section_types import SectionType, section_name
from cffpy.container.writer import capture_bytes, command_stream_section
from cffpy.errors import CaptureError
from cffpy.pm4.reader import BAD, IDLE, OPCODE, HeaderMemo
from cffpy.row_readers import BytesLike

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
        """In bytes."""
        return sum(map(len, self.pieces))

    @property
    def data(self) -> bytes:
        """All bytes, copied."""
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
    named = next((one for one in reversed(sections) if one.type != SectionType.NONE), None)
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
            f"{which}name it with --address (and --size)"
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
        found = []
        for buffer in self.image.buffers:
            _, packets = self._walk(buffer.gpuaddr)
            if packets >= _LEAST_PACKETS and self._has_opcode(buffer):
                found.append(buffer)
        return found

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
        found = set()
        wide = self._gpu is None or self._gpu.is_64bit
        for buffer in self.image.buffers:
            words = buffer.words(0).data[: self.length(buffer.gpuaddr)].tolist()
            named = {low | high << 32 for low, high in pairwise(words)} if wide else set(words)
            found |= (named & wanted) - {buffer.gpuaddr}
        return found
