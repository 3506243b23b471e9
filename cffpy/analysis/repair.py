# SPDX-License-Identifier: MIT
"""Repairs the container of a damaged capture: drops a cut section, adds a missing stream."""

from __future__ import annotations

from itertools import pairwise

from cffpy.capture.gpu import Gpu, guess
from cffpy.capture.memory import Buffer, MemoryImage
from cffpy.container import rd
from cffpy.container.layouts import SECTION_HEADER, SectionType, section_name
from cffpy.container.open import Content
from cffpy.container.rd import Section
from cffpy.container.writer import capture_bytes, command_stream_section
from cffpy.errors import CaptureError
from cffpy.pm4.reader import BAD, IDLE, OPCODE, HeaderMemo
from cffpy.row_readers import BytesLike

#: Packets from which on a buffer is taken for commands.
_LEAST_PACKETS = 4
_SHORT = 8  # bytes of an address without its upper half
_LISTED = 6


class Repaired:
    """The capture's bytes, and what was done to it; empty ``messages``: nothing was wrong."""

    def __init__(self, data: BytesLike, messages: list[str]) -> None:
        self.data = data
        self.messages = messages


def repair(content: Content, address: int | None = None, ndwords: int | None = None) -> Repaired:
    """Repair a capture. ``address``, ``ndwords``: the stream to add, where that is not deduced.

    Raises CaptureError where a stream is missing and nothing tells which, or no section is left.
    """
    messages: list[str] = []
    sections = list(_whole_sections(content, messages))
    if not sections:
        raise CaptureError("no whole section is left")
    end = _end(sections[-1])
    last = _LastSet(sections)
    if address is None and not last.lacks_stream:
        return Repaired(content.data[:end], messages)
    if address is None:
        address, ndwords, reason = last.deduce(ndwords)
    else:
        reason = "as asked"
        ndwords = last.length(address) if ndwords is None else ndwords
    if last.image.find(address) is None:
        messages.append(f"no buffer holds {address:#x}: the stream cannot be decoded")
    stream = command_stream_section(address, ndwords, short=last.is_short)
    messages.append(f"added RD_CMDSTREAM_ADDR: {ndwords} dwords at {address:#x}, {reason}")
    return Repaired(bytes(content.data[:end]) + capture_bytes([stream]), messages)


def _end(section: Section) -> int:
    return section.offset + SECTION_HEADER.size + len(section.payload)


def _whole_sections(content: Content, messages: list[str]) -> list[Section]:
    """The complete sections; ``messages`` receives what is dropped."""
    if content.damage is not None:
        messages.append(f"the compressed stream is broken: {content.damage}")
    sections = list(content.sections())
    dropped = len(content.data) - (_end(sections[-1]) if sections else 0)
    if dropped:
        messages.append(f"dropped {dropped} bytes behind the last section")
    if not sections:
        return []
    header = content.data[sections[-1].offset : sections[-1].offset + SECTION_HEADER.size]
    size = SECTION_HEADER.unpack(header)[1]
    cut = sections[-1]
    if len(cut.payload) == size:
        return sections
    there = len(cut.payload)
    name = section_name(cut.type)
    messages.append(f"dropped {name} at {cut.offset:#x}: {there} of {size} bytes")
    sections.pop()
    is_buffer = cut.type == SectionType.BUFFER_CONTENTS
    if is_buffer and sections and sections[-1].type == SectionType.GPUADDR:
        named = sections.pop()
        gpuaddr = rd.gpu_address(named.payload)[0]
        messages.append(f"dropped RD_GPUADDR at {named.offset:#x}, which named {gpuaddr:#x}")
    return sections


class _LastSet:
    """The buffers after the last stream; if there are none, those of the last stream."""

    def __init__(self, sections: list[Section]) -> None:
        self.image = MemoryImage()
        #: Whether buffers came and no stream after them.
        self.lacks_stream = False
        #: Whether addresses are written without their upper half.
        self.is_short = False
        self._streams: list[tuple[int, int]] = []
        self._headers = HeaderMemo()
        self._gpu = self._run(sections)

    def _run(self, sections: list[Section]) -> Gpu | None:
        gpu_id = chip_id = gpuaddr = size = 0
        starts_anew = False
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
                self._streams.append(rd.command_stream_address(payload))
                self.lacks_stream = False
                starts_anew = True
            elif section.type == SectionType.GPU_ID:
                gpu_id = gpu_id or rd.gpu_id(payload)
            elif section.type == SectionType.CHIP_ID:
                chip_id = chip_id or rd.chip_id(payload)
        return guess(gpu_id, chip_id)

    def deduce(self, ndwords: int | None) -> tuple[int, int, str]:
        """Address and dwords of the stream that is missing, and how that is known."""
        for address, before in reversed(self._streams):
            if self.image.find(address) is not None and self.length(address):
                before = min(before, self._captured(address))
                return address, ndwords or before, "as that of an earlier submit"
        found = self._candidates()
        called = self._called(found)
        free = [buffer for buffer in found if buffer.gpuaddr not in called]
        if len(free) == 1:
            address = free[0].gpuaddr
            return address, ndwords or self.length(address), "the only commands that none call"
        listed = ", ".join(f"{buffer.gpuaddr:#x}" for buffer in (free or found)[:_LISTED])
        which = f"any of {listed}" if listed else "none of the buffers looks like one"
        raise CaptureError(
            f"the last buffers have no command stream, and it may be {which}: "
            "name it with --address (and --size)"
            if listed
            else f"the last buffers have no command stream: {which}; --address names one"
        )

    def length(self, address: int) -> int:
        """Dwords of the packets from an address on, up to a zero or to a dword that begins none."""
        return self._walk(address)[0]

    def _captured(self, address: int) -> int:
        """Dwords that are there from an address on."""
        place = self.image.place(address)
        return 0 if place is None else max(0, place[0].count - place[1])

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

    def _called(self, found: list[Buffer]) -> set[int]:
        """The addresses of buffers that the commands of another name."""
        wanted = {buffer.gpuaddr for buffer in found}
        called = set()
        wide = self._gpu is None or self._gpu.is_64bit
        for buffer in found:
            words = buffer.words(0).data[: self.length(buffer.gpuaddr)].tolist()
            named = {low | high << 32 for low, high in pairwise(words)} if wide else set(words)
            called |= (named & wanted) - {buffer.gpuaddr}
        return called
