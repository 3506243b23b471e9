# SPDX-License-Identifier: MIT
"""RegisterWrites: what wrote the registers at the program's draws, numbered, in columns.

A ``RegisterWrite`` with its place and stream takes some 300 bytes; a large capture has hundreds of
thousands of packets that write registers. Code that needs all of them reads them here: each is made
once, draw by draw, and kept as a few integers.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.pipes import PIPES
from cffpy.analysis.register_store.writes import by_packet
from cffpy.capture.memory import Words
from cffpy.frame.places import ExecutedStream, PacketLocation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.pipes import Pipe
    from cffpy.analysis.register_store.draws import DrawRegisters
    from cffpy.analysis.register_store.writes import WriteSource
    from cffpy.frame.register_write import RegisterWrite

    #: GPU address of a packet, its submit, the index of its pass (None between passes), its pipe.
    WritePlace = tuple[int, int, int | None, Pipe | None]

#: The number of no write: the register was never written.
NO_WRITE = -1


class Circumstances(NamedTuple):
    """What many writes have in common; as of a ``RegisterWrite``."""

    pass_index: int | None
    condition: str | None
    patched_by: PacketLocation | None
    computed_from: tuple[PacketLocation, ...]
    stream: ExecutedStream
    words: Words


class RegisterWrites:
    """The packets that wrote registers, by number. Packets are numbered in the order of draws."""

    def __init__(self) -> None:
        #: Register -> the number of the write, for each of its changes.
        self._numbers: dict[int, array[int]] = defaultdict(partial(array, "i"))
        #: By number: the packet's first dword, and an index into ``_circumstances``.
        self._index, self._which = array("I"), array("i")
        self._circumstances: list[Circumstances] = []

    def add(self, sources: Iterable[tuple[int, WriteSource]]) -> None:
        """Number the packets that wrote registers before the next draw."""
        numbers = self._numbers
        known: dict[int, int] = {}
        for write, registers in by_packet(sources):
            number = len(self._index)
            self._index.append(write.place.index)
            self._which.append(self._circumstances_of(write, known))
            for register in registers:
                numbers[register].append(number)

    def _circumstances_of(self, write: RegisterWrite, known: dict[int, int]) -> int:
        """``known``: by the id of the write's stream, which ``_circumstances`` keep alive."""
        place = write.place
        found = known.get(id(place.stream))
        parts = Circumstances(
            write.pass_index,
            write.condition,
            write.patched_by,
            write.computed_from,
            place.stream,
            place.words,
        )
        if found is not None and all(map(is_, parts, self._circumstances[found])):
            return found
        known[id(place.stream)] = len(self._circumstances)
        self._circumstances.append(parts)
        return len(self._circumstances) - 1

    def __len__(self) -> int:
        return len(self._index)

    def at(self, register: int, order: int, draws: DrawRegisters) -> int:
        """The number of the write of a dword's value at a draw; NO_WRITE: never written.

        ``draws``: of which these are the writes.
        """
        position = bisect_right(draws.changes(register)[0], order) - 1
        return self._numbers[register][position] if position >= 0 else NO_WRITE

    def of(self, register: int) -> array[int]:
        """The number for each of a dword's changes, as ``DrawRegisters.changes`` has them."""
        return self._numbers[register]

    def write(self, number: int) -> tuple[PacketLocation, Circumstances]:
        """The packet of the write with a number, made anew, and its circumstances."""
        shared = self._circumstances[self._which[number]]
        return PacketLocation(shared.stream, shared.words, self._index[number]), shared


class WritePlaces:
    """Where the registers at all draws were written, as numbers only: what tables have.

    They take a fifth of the memory of ``RegisterWrites``.
    """

    def __init__(self) -> None:
        #: Register -> the number of the packet, for each of its changes.
        self._numbers: dict[int, array[int]] = defaultdict(partial(array, "i"))
        #: By number: GPU address; submit, pass and pipe (its place in PIPES), NO_WRITE for none.
        self._addresses = array("Q")
        self._submits, self._passes = array("i"), array("i")
        self._pipes = array("b")

    def add(self, sources: Iterable[tuple[int, WriteSource]]) -> None:
        """Add the packets that wrote registers before the next draw."""
        numbers = self._numbers
        for write, registers in by_packet(sources):
            number = len(self._addresses)
            pass_index = write.pass_index
            self._addresses.append(write.place.gpuaddr)
            self._submits.append(write.place.submit.submit)
            self._passes.append(NO_WRITE if pass_index is None else pass_index)
            self._pipes.append(NO_WRITE if write.pipe is None else PIPES.index(write.pipe))
            for register in registers:
                numbers[register].append(number)

    def of(self, register: int, position: int) -> WritePlace:
        """Of a change of a register, by its position in ``DrawRegisters.changes``."""
        number = self._numbers[register][position]
        pass_index, pipe = self._passes[number], self._pipes[number]
        return (
            self._addresses[number],
            self._submits[number],
            None if pass_index == NO_WRITE else pass_index,
            None if pipe == NO_WRITE else PIPES[pipe],
        )
