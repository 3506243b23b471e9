# SPDX-License-Identifier: MIT
"""Edits of a capture in place: which bytes to change so that a draw, a group, a value is another.

Each edit is a sink of a run of the whole capture, and then returns its patches; lengths stay as
they are. Draws are numbered as the dump numbers them, submits of compositors left out. ``Owners``
finds the section of the file from which the bytes of a buffer came.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from cffpy.capture.gpu import Gpu
from cffpy.capture.load import CommandStream
from cffpy.capture.memory import Buffer, MemoryImage, Words
from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.container.rd import SECTION_HEADER, Section, gpu_address, offset_in
from cffpy.container.section_types import SectionType
from cffpy.container.writer import dwords_bytes
from cffpy.cp.machine import Machine
from cffpy.cp.packets.registers import DRAW_STATE_ENTRY
from cffpy.cp.session import Session
from cffpy.cp.sink import NOTHING, Draw, Sink, WriteOutcome
from cffpy.cp.state import GROUP_DISABLE, GROUP_DISABLE_ALL
from cffpy.errors import CaptureError
from cffpy.frame.places import DrawName, no_draw
from cffpy.pm4.reader import BAD, TYPE2_HEADER, HeaderMemo, Payload, type3_header, type7_header
from cffpy.regdb.database import Database
from cffpy.row_readers import BytesLike
from cffpy.value_object import ValueObject

#: Draw numbers that a message lists.
_LISTED = 12


class Patch(ValueObject):
    """``data`` replaces the bytes at a file offset; only the bits of ``mask`` where there is one.

    ``mask`` is for a patch of one dword.
    """

    __slots__ = ("data", "mask", "offset")

    def __init__(self, offset: int, data: bytes, mask: int | None = None) -> None:
        self.offset = offset
        self.data = data
        self.mask = mask

    def apply(self, output: ChangedBytes) -> None:
        """Write the bytes of the patch into ``output``."""
        data = self.data
        if self.mask is not None:
            before = int.from_bytes(output.read(self.offset, len(data)), "little")
            wanted = int.from_bytes(data, "little")
            data = dwords_bytes([before & ~self.mask | wanted & self.mask])
        output.write(self.offset, data)


class Edit(Sink):
    """The base of the edits. ``machine`` and ``owners`` are set before a capture runs."""

    def __init__(self) -> None:
        self.machine: Machine
        self.owners: Owners
        #: The stream that runs.
        self.stream = 0
        #: The GPU that the packets are for, once a stream ran.
        self.gpu: Gpu | None = None
        #: File offset of a draw's packet -> the numbers of its executions.
        self.executed: dict[int, list[int]] = {}

    def bind(self, gpu: Gpu, database: Database) -> None:
        self.gpu = gpu

    def submit(self, submit: CommandStream) -> None:
        self.stream = submit.number

    def stream_section(self, section: Section) -> None:
        """A section that executes a stream comes."""

    def draw_number(self, draw: Draw, payload: Payload) -> int | None:
        """The number of a draw that is executed now, which is noted; None for what has none."""
        if not draw.counted:
            return None
        number = self.machine.state.draw_count
        offset = self.owners.file_offset(payload.words, payload.index - 1)
        if offset is not None:
            self.executed.setdefault(offset, []).append(number)
        return number

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        return NOTHING

    def patches(self) -> list[Patch]:
        """What to change. Raises CaptureError where there is nothing to change."""
        raise NotImplementedError

    def messages(self) -> list[str]:
        """What was changed, a line each."""
        raise NotImplementedError

    def place(self, payload: Payload) -> int:
        """File offset of a packet's header. Raises CaptureError."""
        offset = self.owners.file_offset(payload.words, payload.index - 1)
        if offset is None:
            raise CaptureError(
                f"the packet at {payload.words.address + payload.index * 4 - 4:#x} lies in "
                "buffers that overlap; which of them it came from is not known"
            )
        return offset

    def nop(self, ndwords: int) -> list[int]:
        """A packet of ``ndwords`` that does nothing."""
        is_64bit = self.machine.is_64bit
        if ndwords == 1 and not is_64bit:
            return [TYPE2_HEADER]
        nop = self.machine.packet_names.index("CP_NOP")
        header = type7_header if is_64bit else type3_header
        return [header(nop, ndwords - 1), *[0] * (ndwords - 1)]


class NopDraw(Edit):
    """Makes the packets of draws CP_NOPs of the same size. ``numbers``: as in the dump."""

    def __init__(self, numbers: int | Collection[int]) -> None:
        super().__init__()
        self.numbers = (numbers,) if isinstance(numbers, int) else numbers
        #: File offset -> patch.
        self._patches: dict[int, Patch] = {}
        self._found: list[int] = []
        self._name = ""

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        number = self.draw_number(draw, payload)
        if number is None or number not in self.numbers:
            return
        self._found.append(number)
        self._name = draw.name
        offset = self.place(payload)
        if offset not in self._patches:
            nop = dwords_bytes(self.nop(payload.captured + 1))
            self._patches[offset] = Patch(offset, nop)

    def patches(self) -> list[Patch]:
        if len(self._found) < len(self.numbers):
            groups = set(self._found)
            number = next(n for n in self.numbers if n not in groups)
            raise no_draw(DrawName(number), self.machine.state.draw_count)
        return list(self._patches.values())

    def messages(self) -> list[str]:
        draws = sorted(number for offset in self._patches for number in self.executed[offset])
        if len(self.numbers) == 1:
            name = DrawName(self._found[0])
            return [f"draw {name} ({self._name}) is a CP_NOP now{_shared(draws)}"]
        packets = len(self._patches)
        line = f"{len(self.numbers)} draws ({_listed(self._found)}) are CP_NOPs now"
        if len(draws) > len(self._found):
            line += (
                f"; their {packets} {'packet was' if packets == 1 else 'packets were'} executed "
                f"{len(draws)} times (draws {_listed(draws)}), all are affected"
            )
        return [line]


def packet_bytes(payload: Payload) -> bytes:
    """The captured dwords of a packet, its header first."""
    return payload.words.bytes(payload.index - 1, payload.captured + 1)


class NopPackets(Edit):
    """Makes packets CP_NOPs of the same size, in all of their executions.

    ``packets``: GPU address of the header -> all dwords of the packet, as bytes. Drivers use the
    same buffers again: where another packet lies at the address in another submit, it stays.
    """

    def __init__(self, packets: Mapping[int, bytes]) -> None:
        super().__init__()
        self._wanted = dict(packets)
        #: File offset -> patch.
        self._patches: dict[int, Patch] = {}

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        self._take(words.address + 4 * index, Payload(words, index + 1, len(values)))
        return NOTHING

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._take(payload.words.address + 4 * (payload.index - 1), payload)

    def _take(self, gpuaddr: int, payload: Payload) -> None:
        if gpuaddr in self._wanted and self._wanted[gpuaddr] == packet_bytes(payload):
            self._add(payload)

    def _add(self, payload: Payload) -> None:
        offset = self.place(payload)
        if offset not in self._patches:
            self._patches[offset] = Patch(offset, dwords_bytes(self.nop(payload.captured + 1)))

    def patches(self) -> list[Patch]:
        if not self._patches:
            raise CaptureError("none of the packets is executed")
        return list(self._patches.values())

    def messages(self) -> list[str]:
        count = len(self._patches)
        return ["1 packet is a CP_NOP now" if count == 1 else f"{count} packets are CP_NOPs now"]


class TruncateAfterDraw(Edit):
    """Ends the capture's commands after a draw.

    What follows it in its stream, and in the streams that call that one, becomes CP_NOPs, packet by
    packet; later submits get a length of 0.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self._headers = HeaderMemo()
        self._path: list[Payload] = []
        self._patches: list[Patch] | None = None
        self._packets = 0
        self._place = -1
        self._stream_sections: list[Section] = []
        self._later: list[int] = []

    def stream_section(self, section: Section) -> None:
        """A section that executes a stream comes."""
        self._stream_sections.append(section)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._path.append(payload)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        self._path.pop()

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if self.draw_number(draw, payload) == self.number:
            self._place = self.place(payload)
            self._patches = []
            self._cut()
            self._later = [self.stream]

    def _cut(self) -> None:
        path = iter(self._path)
        for words, index, ndwords in self.machine.streams:
            end = min(index + ndwords, words.count)
            for packet in path:
                if packet.words is words and index < packet.index <= end:
                    self._cut_stream(words, packet.index + packet.count, end)
                    break
            else:
                name = DrawName(self.number)
                text = f"draw {name} lies in a draw-state group: the capture cannot end there"
                raise CaptureError(text)

    def _cut_stream(self, words: Words, index: int, end: int) -> None:
        assert self._patches is not None
        while index < end:
            kind, _, size = self._headers[words.data[index]]
            size = min(size, end - index)
            offset = self.owners.file_offset(words, index)
            if kind != BAD and offset is not None:
                self._patches.append(Patch(offset, dwords_bytes(self.nop(size))))
                self._packets += 1
            index += size

    def patches(self) -> list[Patch]:
        if self._patches is None:
            raise no_draw(DrawName(self.number), self.machine.state.draw_count)
        patches = list(self._patches)
        for section in self._later_sections():
            place = offset_in("COMMAND_STREAM_ADDRESS", "dwords")
            offset = section.offset + SECTION_HEADER.size + place
            patches.append(Patch(offset, bytes(min(4, max(0, len(section.payload) - place)))))
        return patches

    def _later_sections(self) -> list[Section]:
        return self._stream_sections[self._later[0] + 1 :]

    def messages(self) -> list[str]:
        shared = _shared(self.executed[self._place])
        lines = [
            f"{self._packets} packets after draw {DrawName(self.number)} are CP_NOPs now{shared}"
        ]
        later = len(self._later_sections())
        if later:
            lines.append(f"{later} later submits have a length of 0 now")
        return lines


class DropGroup(Edit):
    """Disables a draw-state group in each CP_SET_DRAW_STATE that sets it."""

    def __init__(self, group_id: int) -> None:
        super().__init__()
        self.group_id = group_id
        self._patches: dict[int, Patch] = {}
        self._times = 0

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        if self.machine.packet_names[opcode] != "CP_SET_DRAW_STATE":
            return
        entry = self.machine.packets[DRAW_STATE_ENTRY]
        size = entry.dwords
        for position in range(0, payload.captured - size + 1, size):
            ndwords, flags, _, group_id, _ = payload.read(entry, position)
            if group_id != self.group_id or flags & (GROUP_DISABLE | GROUP_DISABLE_ALL):
                continue
            if not ndwords:
                continue
            self._times += 1
            offset = self.place(payload) + 4 + position * 4
            self._patches[offset] = Patch(offset, self._disabled(size))

    def _disabled(self, size: int) -> bytes:
        """An entry of ``size`` dwords that disables the group."""
        from cffpy.pm4.structs import packet_struct

        packet = packet_struct("CP_SET_DRAW_STATE", self.machine.gpu.chip)
        word = {"DISABLE": 1, "GROUP_ID": self.group_id}
        return bytes(packet.build({"entries": [{"0": word}]})).ljust(size * 4, b"\0")

    def patches(self) -> list[Patch]:
        if not self._patches:
            raise CaptureError(f"no CP_SET_DRAW_STATE sets group {self.group_id}")
        return list(self._patches.values())

    def messages(self) -> list[str]:
        count = len(self._patches)
        places = "1 place" if count == 1 else f"{count} places"
        times = "once" if self._times == 1 else f"{self._times} times"
        return [f"group {self.group_id} is disabled in {places}, executed {times}"]


def _shared(draws: Sequence[int]) -> str:
    """What else becomes of a packet that more than one draw is."""
    if len(draws) < 2:
        return ""
    times = f"{len(draws)} times (draws {_listed(draws)})"
    return f"; the packet was executed {times}, all are affected"


def _listed(draws: Sequence[int]) -> str:
    """The first of some draws of the dump."""
    return ", ".join(str(DrawName(draw)) for draw in draws[:_LISTED]) + (
        ", ..." if len(draws) > _LISTED else ""
    )


def edited(
    content: Content,
    edits: Sequence[Edit],
    complain: Callable[[str], None],
    register_db: str | None = None,
) -> tuple[bytes, list[str]]:
    """The capture's bytes after all edits, copied, and what was done: see ``changed_by``."""
    output, lines = changed_by(content, edits, complain, register_db)
    return b"".join(output.pieces()), lines


def changed_by(
    content: Content,
    edits: Sequence[Edit],
    complain: Callable[[str], None],
    register_db: str | None = None,
    damage: list[Damage] | None = None,
) -> tuple[ChangedBytes, list[str]]:
    """The capture with all edits, and what was done; each edit sees the capture as it was read.

    ``damage`` becomes the capture's, whether or not this raises CaptureError, which it does where
    an edit has nothing to change.
    """
    output = ChangedBytes(content.data)
    lines = []
    for edit in edits:
        patches = run(content, edit, complain, register_db)
        if damage is not None:
            damage[:] = patches
        complain = _keep_quiet  # the next edit runs the same
        for patch in edit.patches():
            patch.apply(output)
        lines += edit.messages()
    return output, lines


def _keep_quiet(line: str) -> None:
    """For messages that were printed before."""


def run(
    content: Content, edit: Edit, complain: Callable[[str], None], register_db: str | None
) -> list[Damage]:
    """Run all of a capture for one edit; the capture's damage."""
    session = Session(edit, warn=complain, register_db=register_db)
    edit.owners = Owners(session.image)

    def watch(sections: Iterable[Section]) -> Iterator[Section]:
        for section in edit.owners.watch(sections):
            if section.type == SectionType.CMDSTREAM_ADDR:
                edit.stream_section(section)
            yield section

    damage = session.run(content, watch=watch)
    for cut in session.machine.problems.truncated:
        complain(f"{content.name}: {cut}")
    return damage


_PAGE = 4096


class ChangedBytes:
    """``data`` and what was written over it. The length stays as it is."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        #: Number of a page -> its bytes after the changes.
        self._pages: dict[int, bytearray] = {}

    def read(self, offset: int, size: int) -> bytes:
        """``size`` bytes at ``offset`` after the changes so far; fewer at the end."""
        pieces = []
        end = min(offset + size, len(self._data))
        while offset < end:
            number, start = divmod(offset, _PAGE)
            count = min(end - offset, _PAGE - start)
            page = self._pages.get(number)
            pieces.append(
                bytes(self._data[offset : offset + count])
                if page is None
                else bytes(page[start : start + count])
            )
            offset += count
        return b"".join(pieces)

    def write(self, offset: int, new: bytes) -> None:
        """Replace the bytes at ``offset``; what lies beyond the end is left out."""
        new = new[: max(0, len(self._data) - offset)]
        done = 0
        while done < len(new):
            number, start = divmod(offset + done, _PAGE)
            count = min(len(new) - done, _PAGE - start)
            page = self._pages.get(number)
            if page is None:
                first = number * _PAGE
                page = self._pages[number] = bytearray(self._data[first : first + _PAGE])
            page[start : start + count] = new[done : done + count]
            done += count

    def pieces(self) -> Iterator[BytesLike]:
        """All bytes, in order: unchanged ones as views of ``data``."""
        done = 0
        for number, page in sorted(self._pages.items()):
            yield self._data[done : number * _PAGE]
            yield page
            done = number * _PAGE + len(page)
        yield self._data[done:]


# -- from addresses to the file --------------------------------------------------------------------


class Owners:
    """The sections of the buffers that ``image`` holds. ``watch`` follows a file's sections."""

    def __init__(self, image: MemoryImage) -> None:
        self._image = image
        self._sections: dict[int, Section] = {}
        #: File offset of a section -> whether the buffer at its address has its contents.
        self._held: dict[int, bool] = {}

    def watch(
        self, sections: Iterable[Section], at_end_of_set: Callable[[], None] | None = None
    ) -> Iterator[Section]:
        """The sections, each noted before it is acted upon.

        ``at_end_of_set`` is called while the buffers of a set are still there, with the section
        that drops them not yet given out.
        """
        starts_anew = False
        address = 0
        for section in sections:
            if section.type == SectionType.GPUADDR:
                if starts_anew:
                    if at_end_of_set is not None:
                        at_end_of_set()
                    starts_anew = False
                    self._sections.clear()
                    self._held.clear()
                address = gpu_address(section.payload)[0]
            elif section.type == SectionType.BUFFER_CONTENTS:
                self._sections[address] = section
                self._held.clear()
            elif section.type == SectionType.CMDSTREAM_ADDR:
                starts_anew = True
            yield section
        if at_end_of_set is not None:
            at_end_of_set()

    def find(self, gpuaddr: int) -> tuple[Buffer, Section] | None:
        """The buffer that holds an address, and its section.

        A buffer that starts within another is dropped: the section at its address is then not
        that of the buffer that is there, and None is returned.
        """
        buffer = self._image.find(gpuaddr)
        section = None if buffer is None else self._sections.get(buffer.gpuaddr)
        if buffer is None or section is None:
            return None
        held = self._held.get(section.offset)
        if held is None:
            contents = section.payload[: buffer.size]
            held = self._held[section.offset] = bytes(buffer.contents) == bytes(contents)
        return (buffer, section) if held else None

    def file_offset(self, words: Words, index: int) -> int | None:
        """Offset of a dword in the decompressed file, in bytes; None if it is unknown."""
        gpuaddr = words.address + index * 4
        owner = self.find(gpuaddr)
        if owner is None:
            return None
        buffer, section = owner
        return section.offset + SECTION_HEADER.size + gpuaddr - buffer.gpuaddr
