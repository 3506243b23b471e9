# SPDX-License-Identifier: MIT
"""Writes of registers that were stored together; the packet of each is found when it is asked for.

A walk stores what many packets write at once. What finds their packets is a ``WriteSource``.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Protocol

from cffpy.frame.places import ExecutedStream, PacketLocation
from cffpy.frame.register_write import RegisterWrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Set

    from cffpy.analysis.pipes import Pipe
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.execution import Executed
    from cffpy.frame.passes import Pass, PassRun

    #: What the writes of many packets have in common; as the arguments of a ``RegisterWrite``.
    Circumstances = tuple[
        Callable[[int], str], Pass | PassRun | None, Executed, str | None, Pipe | None
    ]

#: Stands for a value that only the GPU knows.
UNKNOWN = -1

#: Three numbers for each packet of a ``PacketWrites``, at most.
_MAX_TOGETHER = 3 * 256


class WriteSource(Protocol):
    """Finds the write of a register, one of several that were written together."""

    def of(self, register: int) -> RegisterWrite:
        """The write of this register; it may be kept, to be the same one each time."""

    def by_packet(self, registers: list[int]) -> Iterable[tuple[RegisterWrite, list[int]]]:
        """The writes of these registers, each with its registers. They are not kept."""

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterable[RegisterWrite]:
        """The write of each packet that writes a wanted register, in order.

        ``values``: what was written, the same object as in the change. Each packet is there once.
        """


if TYPE_CHECKING:
    #: Register -> value, or UNKNOWN; and where its write is found.
    Change = tuple[dict[int, int], WriteSource]


class StoredWrites:
    """The writes of registers that were stored at once; each is made when it is asked for.

    The packets were not patched.
    """

    __slots__ = ("_caller", "_circumstances", "_stored", "_stream", "_writes")

    def __init__(
        self,
        stored: StoredRegisters,
        stream: ExecutedStream,
        caller: PacketLocation | None,
        circumstances: Circumstances,
    ) -> None:
        """The first three are as for ``Observer.registers_stored``."""
        self._stored = stored
        self._stream = stream
        self._caller = caller
        self._circumstances = circumstances
        #: By packet: its group, if any, and its first dword. None until one is asked for.
        self._writes: dict[tuple[int | None, int], RegisterWrite] | None = None

    def by_packet(self, registers: list[int]) -> Iterator[tuple[RegisterWrite, list[int]]]:
        """As of any ``WriteSource``."""
        streams: dict[int | None, ExecutedStream] = {None: self._stream}
        for packet, written in self._stored.by_packet(registers):
            if packet.group is not None and packet.group not in streams:
                streams[packet.group] = self._group(packet.group)
            place = PacketLocation(streams[packet.group], packet.words, packet.index)
            yield RegisterWrite(place, *self._circumstances), written

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[RegisterWrite]:
        """As of any ``WriteSource``."""
        for packet in self._stored.in_order(values, wanted):
            stream = self._stream if packet.group is None else self._group(packet.group)
            place = PacketLocation(stream, packet.words, packet.index)
            yield RegisterWrite(place, *self._circumstances)

    def of(self, register: int) -> RegisterWrite:
        """The write of one of the registers; the same object each time."""
        packet = self._stored.packet(register)
        key = packet.group, packet.index
        if self._writes is None:
            self._writes = {}
        write = self._writes.get(key)
        if write is None:
            stream = self._stream if packet.group is None else self._group(packet.group)
            place = PacketLocation(stream, packet.words, packet.index)
            write = self._writes[key] = RegisterWrite(place, *self._circumstances)
        return write

    def _group(self, position: int) -> ExecutedStream:
        if self._caller is None:
            words, index = self._stored.last_opcode()
            self._caller = PacketLocation(self._stream, words, index)
        number, words, index, ndwords = self._stored.groups[position]
        gpuaddr = words.address + 4 * index
        return ExecutedStream(
            "group", self._stream._submitted, gpuaddr, ndwords, self._caller, number
        )


class PacketWrites:
    """The writes of packets that follow each other; each is made when it is asked for.

    They are in one stream, with the same circumstances. Iterating yields the registers.
    """

    __slots__ = (
        "_circumstances",
        "_packets",
        "_stream",
        "_words",
        "_writes",
        "registers",
    )

    has_draw = False  # as an entry of a ``RegisterLog``

    def __init__(
        self, registers: range, location: PacketLocation, circumstances: Circumstances
    ) -> None:
        """The first packet: its registers, its place."""
        self._stream = location.stream
        self._words = location._words
        self._circumstances = circumstances
        #: Of each packet: its first register, the one after its last, its index.
        self._packets = array("L", (registers.start, registers.stop, location._index))
        #: By position in ``_packets``. None until one is asked for.
        self._writes: dict[int, RegisterWrite] | None = None
        #: Register -> value, where a ``RegisterRecorder`` has set them.
        self.registers: dict[int, int] = {}

    def add(self, registers: range, location: PacketLocation, circumstances: Circumstances) -> bool:
        """Add a packet; False for one that does not belong to these."""
        packets = self._packets
        if (
            location._words is not self._words
            or location.stream is not self._stream
            or circumstances != self._circumstances
            or len(packets) >= _MAX_TOGETHER
        ):
            return False
        packets.extend((registers.start, registers.stop, location._index))
        return True

    def __iter__(self) -> Iterator[int]:
        packets = self._packets
        for first, end in zip(packets[::3], packets[1::3], strict=True):
            yield from range(first, end)

    def of(self, register: int) -> RegisterWrite:
        """The write of one of the registers, the last one; the same object each time."""
        position = self._position(register)
        if self._writes is None:
            self._writes = {}
        write = self._writes.get(position)
        if write is None:
            write = self._writes[position] = self._write(position)
        return write

    def by_packet(self, registers: list[int]) -> Iterator[tuple[RegisterWrite, list[int]]]:
        """As of any ``WriteSource``."""
        registers_of: dict[int, list[int]] = {}
        for register in registers:
            registers_of.setdefault(self._position(register), []).append(register)
        for position, written in registers_of.items():
            yield self._write(position), written

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[RegisterWrite]:
        """As of any ``WriteSource``."""
        packets, last = self._packets, -1
        for position in range(0, len(packets), 3):
            first, end, index = packets[position : position + 3]
            # a packet with an opcode writes registers one by one
            if index != last and not wanted.isdisjoint(range(first, end)):
                last = index
                yield self._write(position)

    def _position(self, register: int) -> int:
        """Of the last packet that wrote it, in ``_packets``."""
        packets = self._packets
        position = len(packets) - 3
        while not packets[position] <= register < packets[position + 1]:
            position -= 3
        return position

    def _write(self, position: int) -> RegisterWrite:
        place = PacketLocation(self._stream, self._words, self._packets[position + 2])
        return RegisterWrite(place, *self._circumstances)


class JoinedWrites:
    """The last writes of several changes, by register; none of ``sources`` is one of these."""

    __slots__ = ("sources",)

    def __init__(self, sources: dict[int, WriteSource]) -> None:
        self.sources = sources

    def of(self, register: int) -> RegisterWrite:
        """As of any ``WriteSource``."""
        return self.sources[register].of(register)

    def by_packet(self, registers: list[int]) -> Iterator[tuple[RegisterWrite, list[int]]]:
        """As of any ``WriteSource``."""
        return by_packet((register, self.sources[register]) for register in registers)

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[RegisterWrite]:
        """Of the last writes alone: the others are forgotten."""
        sources = ((one, source) for one, source in self.sources.items() if one in wanted)
        return (write for write, _ in by_packet(sources))


def by_packet(
    sources: Iterable[tuple[int, WriteSource]],
) -> Iterator[tuple[RegisterWrite, list[int]]]:
    """Each packet with the registers that it wrote last. ``sources``: of different registers."""
    registers_of: dict[int, tuple[WriteSource, list[int]]] = {}
    for register, source in sources:
        known = registers_of.get(id(source))
        if known is None:
            known = registers_of[id(source)] = source, []
        known[1].append(register)
    for source, registers in registers_of.values():
        yield from source.by_packet(registers)


def joined(changes: Iterable[Change]) -> Change:
    """The last change of each register, as one.

    Of changes that write the same registers the last one counts alone.
    """
    last: dict[tuple[int, ...], Change] = {}
    for change in changes:
        written = tuple(change[0])
        last.pop(written, None)
        last[written] = change
    values: dict[int, int] = {}
    sources: dict[int, WriteSource] = {}
    for registers, source in last.values():
        values.update(registers)
        if isinstance(source, JoinedWrites):
            sources.update(source.sources)  # of the same registers
        else:
            sources.update(dict.fromkeys(registers, source))
    return values, JoinedWrites(sources)
