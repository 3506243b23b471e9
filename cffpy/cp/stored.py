# SPDX-License-Identifier: MIT
"""Registers that are stored at once; which packets wrote them is looked up when it is asked for.

``RegisterRuns`` has what draw-state groups write that do nothing but write registers, read without
running them. Most groups are of this kind. Drivers set the same group for draw after draw, or write
it anew with the same dwords, and a frame's groups are loaded again in each tile.
``Sink.group_writes`` returns whether a sink does without callbacks.
"""

from __future__ import annotations

from cffpy.pm4.reader import OPCODE, REGISTERS, HeaderMemo, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from cffpy.capture.memory import Words

    #: A group's number, its words, its first dword, how many dwords.
    LoadedGroup = tuple[int, Words, int, int]

    #: Its words, its first dword, how many dwords.
    Group = tuple[Words, int, int]


class Step:
    """Packets from ``start`` up to ``following`` (dwords of the stream's buffer).

    In a decoded stream: a register-write packet that the sink observes, unless it is of a subclass.
    """

    __slots__ = ("following", "start")

    def __init__(self, start: int, following: int) -> None:
        self.start = start
        self.following = following


class StoredPacket:
    """The packet that wrote a register: ``ndwords`` at ``index`` of ``words``.

    ``group``: its draw-state group, as a position in ``StoredRegisters.groups``; None for a packet
    of the stream itself.
    """

    __slots__ = ("group", "index", "ndwords", "words")

    def __init__(self, group: int | None, words: Words, index: int, ndwords: int) -> None:
        self.group = group
        self.words = words
        self.index = index
        self.ndwords = ndwords


class StoredRegisters(Step):
    """Register -> value; written by the packets of the current stream, then by ``groups``.

    The packets are ``words[start:following]``.

    ``words`` is None where the stream itself wrote nothing: a draw-state group alone.
    """

    __slots__ = ("_groups", "_packets", "_runs", "registers", "words")

    #: Whether ``parts`` is more than ``registers``.
    has_parts = False
    #: Whether the packets end with a draw.
    has_draw = True

    def __init__(
        self,
        registers: dict[int, int],
        runs: RegisterRuns,
        groups: Sequence[LoadedGroup] = (),
        words: Words | None = None,
        start: int = 0,
        following: int = 0,
    ) -> None:
        self.start = start
        self.following = following
        self.registers = registers
        self._groups = groups
        self.words = words
        self._runs = runs
        #: Register -> its packet, once one is asked for: there are many of these objects.
        self._packets: dict[int, StoredPacket] | None = None

    @property
    def parts(self) -> Sequence[dict[int, int]]:
        """The registers, in the order in which they were written; objects may be shared."""
        return (self.registers,)

    @property
    def groups(self) -> Sequence[LoadedGroup]:
        """The draw-state groups, in the order in which they were loaded."""
        return self._groups

    def packet(self, register: int) -> StoredPacket:
        """The packet that wrote one of the registers last."""
        if self._packets is None:
            self._packets = self._packet_of()
        return self._packets[register]

    def by_packet(self, registers: Iterable[int]) -> Iterable[tuple[StoredPacket, list[int]]]:
        """The packets that wrote these registers last, each with them. They are not kept."""
        packet_of = self._packet_of() if self._packets is None else self._packets
        written: dict[StoredPacket, list[int]] = {}
        for register in registers:
            written.setdefault(packet_of[register], []).append(register)
        return written.items()

    def in_order(self, part: Mapping[int, int], wanted: Set[int]) -> Iterator[StoredPacket]:
        """Each packet of one of ``parts`` that writes a wanted register, in order."""
        for group in self._written_by(part):
            if group is None:
                if self.words is None:
                    continue
                words, start, end = self.words, self.start, self.following
            else:
                _, words, start, ndwords = self.groups[group]
                end = start + ndwords
            for index, ndwords in self._runs.write_packets_of(words, start, end, wanted):
                yield StoredPacket(group, words, index, ndwords)

    def _written_by(self, _part: Mapping[int, int]) -> Iterable[int | None]:
        """What wrote one of ``parts``: None for the stream, or positions in ``groups``."""
        return (None, *range(len(self.groups)))

    def _packet_of(self) -> dict[int, StoredPacket]:
        packets: dict[int, StoredPacket] = {}
        if self.words is not None:
            self._add_packets(packets, None, self.words, self.start, self.following)
        for position, (_, words, index, ndwords) in enumerate(self.groups):
            self._add_packets(packets, position, words, index, index + ndwords)
        return packets

    @property
    def runs(self) -> RegisterRuns:
        """Reads the packets that wrote them."""
        return self._runs

    def last_opcode(self) -> tuple[Words, int]:
        """Words and index of the last packet with an opcode of the stream's own part.

        The groups of a draw are loaded after it.
        """
        assert self.words is not None
        index, last = self.start, self.start
        while index < self.following:
            kind, _, size = self._runs.headers[self.words.data[index]]
            if kind == OPCODE:
                last = index
            index += size
        return self.words, last

    def _add_packets(
        self,
        packets: dict[int, StoredPacket],
        group: int | None,
        words: Words,
        start: int,
        end: int,
    ) -> None:
        for index, ndwords, registers in self._runs.write_packets(words, start, end):
            packet = StoredPacket(group, words, index, ndwords)
            for register in registers:
                packets[register] = packet


class StoredGroup(StoredRegisters):
    """The registers of one draw-state group. There are as many as groups are loaded."""

    __slots__ = ("_index", "_ndwords", "_number", "_of")

    has_draw = False

    def __init__(
        self,
        registers: dict[int, int],
        runs: RegisterRuns,
        number: int,
        words: Words,
        index: int,
        ndwords: int,
    ) -> None:
        """``number``: of the group, whose commands are ``words[index : index + ndwords]``."""
        self.registers = registers
        self.words = None
        self.start = self.following = 0
        self._runs = runs
        self._packets = None
        self._number = number
        self._of = words
        self._index = index
        self._ndwords = ndwords

    @property
    def groups(self) -> Sequence[LoadedGroup]:
        """The group that the registers are of."""
        return ((self._number, self._of, self._index, self._ndwords),)


class StoredParts(StoredRegisters):
    """The registers of a draw, first of the stream and then of each group: ``parts``.

    Draws with the same group share its part.
    """

    __slots__ = ("_packets_of", "_parts")

    has_parts = True

    def __init__(
        self,
        parts: Sequence[dict[int, int]],
        runs: RegisterRuns,
        groups: Sequence[LoadedGroup],
        words: Words,
        start: int,
        following: int,
    ) -> None:
        """``parts``: one more than ``groups``."""
        self._parts = parts
        self._groups = groups
        self._runs = runs
        self.words = words
        self.start = start
        self.following = following
        self._packets = None
        #: Register -> its packet, by the position of the part that wrote it last.
        self._packets_of: dict[int, dict[int, StoredPacket]] = {}

    @property
    def registers(self) -> dict[int, int]:  # type: ignore[override]
        """All registers; a new dictionary each time."""
        registers: dict[int, int] = {}
        for part in self._parts:
            registers.update(part)
        return registers

    @property
    def parts(self) -> Sequence[dict[int, int]]:
        """The registers of the stream, then the registers of each group."""
        return self._parts

    def _written_by(self, part: Mapping[int, int]) -> Iterable[int | None]:
        """The number of the group that wrote a part; None for the stream itself."""
        number = next(at for at, other in enumerate(self._parts) if other is part)
        return (number - 1 if number else None,)

    def packet(self, register: int) -> StoredPacket:
        """The packet that wrote one of the registers last; only its part is read."""
        position = len(self._parts) - 1
        while register not in self._parts[position]:
            position -= 1
        packets = self._packets_of.get(position)
        if packets is None:
            packets = self._packets_of[position] = {}
            if position:
                _, words, index, ndwords = self._groups[position - 1]
                self._add_packets(packets, position - 1, words, index, index + ndwords)
            elif self.words is not None:
                self._add_packets(packets, None, self.words, self.start, self.following)
        return packets[register]

    def by_packet(self, registers: Iterable[int]) -> Iterable[tuple[StoredPacket, list[int]]]:
        """The packets that wrote these registers last, each with them. They are kept."""
        written: dict[StoredPacket, list[int]] = {}
        for register in registers:
            written.setdefault(self.packet(register), []).append(register)
        return written.items()


#: Dwords of groups that are kept, at most.
MAX_HELD = 1 << 18

#: In place of the registers of a group that is not known.
_NO_REGISTERS: dict[int, int] = {}


class RegisterRuns:
    """What groups write, by their contents: groups with equal dwords share their registers."""

    def __init__(
        self,
        headers: HeaderMemo,
        writes: Callable[[int, Payload], Sequence[tuple[int, int]] | None],
    ) -> None:
        """``writes``: (register, value) of a packet with an opcode; None if it does anything else.

        It takes the opcode and the packet without its header.
        """
        self.headers = headers
        self._writes = writes
        #: Registers by the bytes of a group.
        self._contents: dict[bytes, dict[int, int] | None] = {}
        #: Dwords of ``_contents``.
        self._held = 0
        #: How often a group was read, and how often an equal one was known.
        self.read = 0
        self.known = 0

    def of_group(self, words: Words, index: int, ndwords: int) -> dict[int, int] | None:
        """Register -> value. None for a group that has other packets, or that is damaged."""
        if index + ndwords > words.count:
            return None
        contents = words.data[index : index + ndwords].tobytes()
        registers = self._contents.get(contents, _NO_REGISTERS)
        if registers is not _NO_REGISTERS:
            self.known += 1
            return registers
        self.read += 1
        registers = self._read(words, index, ndwords)
        self._held += ndwords
        if self._held > MAX_HELD:
            self._contents.clear()
            self._held = ndwords
        self._contents[contents] = registers
        return registers

    def release(self, writes: Callable[[int, Payload], Sequence[tuple[int, int]] | None]) -> None:
        """Forget all groups: no stream runs any more. ``writes``: from now on, in place of the old.

        Who asks what wrote a register needs it also after that.
        """
        self.forget()
        self._writes = writes

    def forget(self) -> None:
        """Forget all groups: other packets are ignored from now on."""
        self._contents.clear()
        self._held = 0

    def packets(self, words: Words, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """Index, dwords, kind (REGISTERS, OPCODE, IDLE) and number of each packet of a part.

        Of a part that was stored at once, so that all its headers are valid.
        """
        headers, data = self.headers, words.data
        while start < end:
            kind, number, size = headers[data[start]]
            yield start, size, kind, number
            start += size

    def writes(self, opcode: int, payload: Payload) -> Sequence[tuple[int, int]]:
        """(Register, value) of all that a packet of such a part does."""
        return self._writes(opcode, payload) or ()

    def write_packets(
        self, words: Words, start: int, end: int
    ) -> Iterator[tuple[int, int, Iterable[int]]]:
        """Index, dwords and registers of each packet of ``words[start:end]`` that writes any.

        Of a part that was stored at once. The size of a packet with an opcode is given as 1: its
        registers are not consecutive.
        """
        for index, size, kind, number in self.packets(words, start, end):
            if kind == REGISTERS:
                yield index, size, range(number, number + size - 1)
            elif kind == OPCODE:
                writes = self._writes(number, Payload(words, index + 1, size - 1))
                if writes:
                    yield index, 1, [register for register, _ in writes]

    def write_packets_of(
        self, words: Words, start: int, end: int, wanted: Set[int]
    ) -> Iterator[tuple[int, int]]:
        """Index and dwords, as of ``write_packets``, of each packet that writes a wanted one."""
        for index, size, registers in self.write_packets(words, start, end):
            if not wanted.isdisjoint(registers):
                yield index, size

    def _read(self, words: Words, index: int, ndwords: int) -> dict[int, int] | None:
        headers, data = self.headers, words.data
        end = index + ndwords
        registers: dict[int, int] = {}
        while index < end:
            kind, number, size = headers[data[index]]
            following = index + size
            if following > end:
                return None
            if kind == REGISTERS:
                for value in data[index + 1 : following].tolist():
                    registers[number] = value
                    number += 1
            elif kind == OPCODE:
                writes = self._writes(number, Payload(words, index + 1, size - 1))
                if writes is None:
                    return None
                registers.update(writes)
            else:
                return None
            index = following
        return registers
