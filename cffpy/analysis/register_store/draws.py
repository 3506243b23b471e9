# SPDX-License-Identifier: MIT
"""DrawRegisters: the registers at the program's draws, as changes between draws.

Each draw of the program is executed in the binning run and in every tile; here it is one execution,
that of ``Pass.draws``. Tables and reports read all registers of these: a dword that is
written between two of these draws costs some 20 bytes, however many draws follow.

``RegisterWrites`` and ``WritePlaces`` number the packets that wrote them. A ``RegisterWrite`` with
its place and stream takes some 300 bytes; a large capture has hundreds of thousands of packets that
write registers. Code that needs all of them reads them here: each is made once, draw by draw, and
kept as a few integers.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from functools import partial
from itertools import pairwise
from operator import is_
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.pipes import PIPES
from cffpy.analysis.register_store.history import Changes, at_actions
from cffpy.analysis.register_store.log import BR
from cffpy.analysis.register_store.writes import UNKNOWN, by_packet
from cffpy.capture.memory import Words
from cffpy.frame.places import ExecutedStream, PacketLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.analysis.pipes import Pipe
    from cffpy.analysis.register_store.history import RegisterHistory
    from cffpy.analysis.register_store.log import RegisterLog
    from cffpy.analysis.register_store.writes import WriteSource
    from cffpy.frame.register_write import RegisterWrite

    #: The dwords that were written before a draw, each with where its write is found.
    Writes = list[tuple[int, WriteSource]]

    #: GPU address of a packet, its submit, the index of its pass (None between passes), its pipe.
    WritePlace = tuple[int, int, int | None, Pipe | None]


class DrawRegisters:
    """The changes of registers at the program's draws.

    ``order`` in the methods below is ``Action.order`` of such a draw.
    """

    def __init__(self, log: RegisterLog) -> None:
        self._log: RegisterLog | None = log
        #: The history that single registers are asked of; None: all are here.
        self._history: RegisterHistory | None = None
        #: The draws, rising; how many of them are collected.
        self.orders = array("I")
        self._done = 0
        #: The changes of all registers, once they are collected.
        self.rows: dict[int, Changes] = {}
        self.is_complete = False
        #: The registers that changed, of all draws one after another; where those of each begin.
        self._changed, self._starts = array("I"), array("I")
        #: Changes that were passed on.
        self.passed_on = 0
        #: Held while registers are collected: several threads may ask.
        self._lock = RLock()
        #: The number of each draw; made when one is asked for.
        self._numbers: dict[int, int] = {}

    # -- while the machine runs -----------------------------------------------------------------

    def use(self, history: RegisterHistory) -> None:
        """Ask this of single registers."""
        self._history = history

    def record(self, orders: list[int]) -> None:
        """Add draws, which come after those that are known."""
        self.orders.extend(orders)

    def limit(self, most: int) -> bool:
        """Whether there are more changes than ``most``: then only the first draws are kept."""
        log = self._log
        if log is None or self.is_complete or log.dwords() <= most:
            return False
        return self._complete(most)

    def pass_on(self, take: Callable[[Writes], None]) -> int:
        """Collect the draws that were recorded since the last call, and pass on their writes.

        Returns how many entries of the log were read.
        """
        released = self._collect(None)[0]
        self.passed_on += len(self._changed)
        for writes in self._written():
            take(writes)
        del self._changed[:], self._starts[:]
        for row in self.rows.values():
            del row.entries[:]
        return released

    # -- afterwards -----------------------------------------------------------------------------

    def has(self, order: int) -> bool:
        """Whether it is one of the draws."""
        if not self._numbers:
            self._numbers = {order: number for number, order in enumerate(self.orders)}
        return order in self._numbers

    def changes(self, register: int) -> tuple[Sequence[int], Sequence[int]]:
        """Positions of the draws before which a dword was written, and its value from each on.

        A value is -1 where only the GPU knows it. Both are empty for what was never written.
        """
        if not self.is_complete and self._history is not None:
            return at_actions(self._history.row(register), self.orders)
        row = self.rows.get(register)
        return ((), ()) if row is None else (row.orders, row.values)

    def value(self, register: int, order: int) -> int | None:
        """The value of a dword at a draw; None where it is unknown or was never written."""
        orders, values = self.changes(register)
        index = bisect_right(orders, order)
        value = values[index - 1] if index else UNKNOWN
        return None if value == UNKNOWN else value

    def all_registers(self) -> Iterator[int]:
        """The dwords that were written before any draw, in no particular order."""
        self._complete()
        return iter(self.rows)

    def written(self) -> Iterator[Writes]:
        """For each draw in order: the dwords written before it, and their writes.

        They are those of ``changes``: the n-th change of a dword is the n-th time that it is here.
        """
        self._complete()
        return self._written()

    def _written(self) -> Iterator[Writes]:
        log = self._log
        assert log is not None, "writes were forgotten"
        rows, seen = self.rows, dict.fromkeys(self.rows, 0)
        for start, end in pairwise([*self._starts, len(self._changed)]):
            sources: dict[int, WriteSource] = {}
            writes = []
            for register in self._changed[start:end]:
                entry = rows[register].entries[seen[register]]
                seen[register] += 1
                if entry not in sources:
                    sources[entry] = log.source(entry)
                writes.append((register, sources[entry]))
            yield writes

    def forget_writes(self) -> None:
        """Release what wrote registers, and the log."""
        self._complete()
        for row in self.rows.values():
            row.entries = array("I")
        self._log = self._history = None

    def release(self) -> None:
        """Forget everything."""
        self.rows.clear()
        self._log = self._history = None
        self._changed, self._starts, self.orders = array("I"), array("I"), array("I")
        self._numbers = {}

    def _complete(self, most: int | None = None) -> bool:
        """Collect all registers; True where there are more changes than ``most``."""
        with self._lock:
            if self.is_complete:
                return False
            is_cut = self._collect(most)[1]
            self.is_complete = True
            return is_cut

    def _collect(self, most: int | None) -> tuple[int, bool]:
        """Collect the registers of draws; which entries were read, and whether draws were cut."""
        log, rows, changed = self._log, self.rows, self._changed
        if log is None:
            return 0, False
        entries, start = log.entries, 0
        spans = log.spans(BR)
        for number in range(self._done, len(self.orders)):
            order = self.orders[number]
            end = log.ends[order]
            if most is not None and len(changed) > most:
                del self.orders[number:]
                return start, True
            self._starts.append(len(changed))
            for at in _last_of_each(log, spans, start, end):
                for register, value in entries[at].registers.items():
                    row = rows.get(register)
                    if row is None:
                        row = rows[register] = Changes()
                    if row.add(order, value, at):
                        changed.append(register)
            start = max(start, end)
        self._done = len(self.orders)
        return start, False


def _last_of_each(log: RegisterLog, spans: list[range], start: int, end: int) -> list[int]:
    """The entries of ``spans`` in a range; of those with the same registers the last one."""
    entries = log.entries
    parts = [range(max(one.start, start), min(one.stop, end)) for one in spans]
    found = [at for part in parts for at in part]
    if len(found) < 2:
        return found
    return sorted({id(entries[at].registers): at for at in found}.values())


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
            self._index.append(write.place._index)
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
            place._words,
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
            self._submits.append(write.place.submit)
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
