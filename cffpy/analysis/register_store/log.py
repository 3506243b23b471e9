# SPDX-License-Identifier: MIT
"""RegisterLog: all writes of registers in a walk, in order, and where actions are among them.

Most writes of a walk come as ``StoredRegisters``, which exist anyway, also while streams run again.
So an entry is a reference to them; what they lack for a ``RegisterWrite``, circumstances, is kept
once for all entries in a row that share it. Tiles execute the same entries again: an action costs a
few references, however many registers its draw sets. A ``RegisterCursor`` goes through the writes
once, from action to action of one pipe.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from itertools import chain, repeat
from operator import attrgetter, sub
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.register_store.writes import StoredWrites, joined
from cffpy.cp.stored import StoredRegisters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.analysis.command_writes import CommandReader
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.register_store.writes import Circumstances, PacketWrites, WriteSource
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.frame.register_write import RegisterWrite

    #: What ``StoredWrites`` needs besides the registers.
    StoredWhere = tuple[ExecutedStream, PacketLocation | None, Circumstances]


#: In place of the first entry after an action: it is not known any more.
DROPPED = 0xFFFFFFFF


class NotedWrites:
    """An entry that is neither ``StoredRegisters`` of a step nor ``PacketWrites``.

    ``registers``: with their values once these are known. Do not change them, they are shared.
    """

    __slots__ = ("registers", "source")

    has_draw = False

    def __init__(self, registers: dict[int, int], source: WriteSource | StoredRegisters) -> None:
        self.registers = registers
        self.source = source

    def __iter__(self) -> Iterator[int]:
        return iter(self.registers)


if TYPE_CHECKING:
    Entry = StoredRegisters | PacketWrites | NotedWrites


class Switch(NamedTuple):
    """From an action and an entry on, registers are those of another pipe, or of both.

    ``restart``: how often commands of another GPU have begun, and BV with what BR had.
    """

    action: int
    entry: int
    registers: PipeRegisters
    restart: int

    @property
    def reader(self) -> Reader:
        """Whose registers actions see from here on."""
        return Reader("BV", self.restart) if self.registers == "BV" else BR


class Reader(NamedTuple):
    """Whose registers an action sees. ``restart``: of BV, as of a ``Switch``."""

    pipe: Literal["BR", "BV"]
    restart: int = 0


_action_of = attrgetter("action")

#: Who sees the registers where there is one pipe, too.
BR = Reader("BR")


class RegisterLog:
    """Entries in the order of execution, and how many come before each action."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        #: Of each action, the first entry after it, or DROPPED.
        self.ends = array("I")
        #: Actions that are not executed, by ``Action.order``, rising.
        self.skipped = array("I")
        #: Where the pipe changes whose registers are written; empty if there is one pipe. Of those
        #: before the first entry it has the last one, ``turns`` has all, with their actions alone.
        self.switches: list[Switch] = []
        self.turns: list[Switch] = []
        #: Reads writes of registers whose writes are commands.
        self.commands: CommandReader | None = None
        #: The first entry of each row that shares circumstances, and these. They hold for entries
        #: with ``StoredRegisters``; others have their own.
        self._starts: list[int] = []
        self._where: list[StoredWhere] = []

    def switch(self, registers: PipeRegisters, restarts: bool = False) -> None:
        """What is added from now on is written to the registers of another pipe, or of both.

        ``restarts``: by commands for another GPU.
        """
        self.switches.append(self.turn(len(self.ends), registers, restarts))

    def turn(self, action: int, registers: PipeRegisters, restarts: bool) -> Switch:
        """From an action on, actions see the registers of another pipe."""
        restart = restarts + (self.turns[-1].restart if self.turns else 0)
        self.turns.append(Switch(action, len(self.entries), registers, restart))
        return self.turns[-1]

    def begin(self, where: StoredWhere) -> None:
        """What is added from now on has these circumstances."""
        starts = self._starts
        if starts and starts[-1] == len(self.entries):
            self._where[-1] = where
        else:
            starts.append(len(self.entries))
            self._where.append(where)

    def source(self, entry: int, is_kept: bool = False) -> WriteSource:
        """What finds the writes of an entry. ``is_kept``: the same object each time."""
        known = self.entries[entry]
        stored = known.source if isinstance(known, NotedWrites) else known
        if not isinstance(stored, StoredRegisters):
            return stored
        where = self._where[bisect_right(self._starts, entry) - 1]
        source = StoredWrites(stored, *where)
        if is_kept:
            self.entries[entry] = NotedWrites(known.registers, source)
        return source

    def submit_of(self, entry: int, register: int) -> int:
        """The submit that an entry's write of a register is in."""
        known = self.entries[entry]
        stored = known.source if isinstance(known, NotedWrites) else known
        if not isinstance(stored, StoredRegisters):
            return stored.of(register).place.submit
        stream = self._where[bisect_right(self._starts, entry) - 1][0]
        return stream._submitted.submit

    def is_executed(self, order: int) -> bool:
        """Whether an action is executed, or may be."""
        skipped = self.skipped
        position = bisect_left(skipped, order)
        return position == len(skipped) or skipped[position] != order

    def written_after_all(self) -> dict[int, list[int]]:
        """The values that registers get after the last action that is executed, in order.

        Values that only the GPU knows are UNKNOWN. Those of both pipes are told as one.
        """
        last = len(self.ends) - 1
        while last >= 0 and (self.ends[last] == DROPPED or not self.is_executed(last)):
            last -= 1
        written: dict[int, list[int]] = {}
        for entry in self.entries[self.ends[last] if last >= 0 else 0 :]:
            for register, value in entry.registers.items():
                written.setdefault(register, []).append(value)
        return written

    def actions_after(self) -> array[int]:
        """Of each entry the action after it, but for those after the last action."""
        ends, orders = self.ends, range(len(self.ends))
        if DROPPED in ends:
            orders = [order for order in orders if ends[order] != DROPPED]  # type: ignore[assignment]
            ends = array("I", [ends[order] for order in orders])
        counts = map(sub, ends, chain((0,), ends))
        return array("I", chain.from_iterable(map(repeat, orders, counts)))

    def spans(self, reader: Reader) -> list[range]:
        """The entries that write registers of BR or of BV."""
        if not self.switches:
            return [range(len(self.entries))]
        ends = [*(one.entry for one in self.switches[1:]), len(self.entries)]
        found = [range(self.switches[0].entry)]
        for switch, end in zip(self.switches, ends, strict=True):
            pipe = reader.pipe if switch.restart >= reader.restart else "BR"
            if switch.registers in (pipe, "both"):
                found.append(range(switch.entry, end))
        return found

    def reader_of(self, order: int) -> Reader:
        """Whose registers an action sees."""
        return self.turn_of(order)[0]

    def turn_of(self, order: int) -> tuple[Reader, int, int]:
        """Whose registers an action sees, and from which action on, up to which, others do, too."""
        turns = self.turns
        position = bisect_right(turns, order, key=_action_of)
        end = turns[position].action if position < len(turns) else sys.maxsize
        if not position:
            return BR, -1, end
        turn = turns[position - 1]
        return turn.reader, turn.action, end

    def last_action(self, reader: Reader, order: int) -> int:
        """The last action up to this one that sees the registers of a reader; -1 for none."""
        turns, end = self.turns, order + 1
        for position in range(bisect_right(turns, order, key=_action_of), 0, -1):
            turn = turns[position - 1]
            if turn.reader == reader and turn.action < end:
                return end - 1
            end = turn.action
        return end - 1 if reader == BR else -1

    def dwords(self) -> int:
        """How many dwords all entries write, each counted as often as it is executed."""
        return sum([len(one.registers) for one in self.entries])

    def join(self, actions: Iterable[int], most: int, *, most_apart: int | None = None) -> None:
        """Keep the ends of these actions only.

        Entries between them are joined, where they are more than ``most``. ``actions``: rising.
        ``most_apart``: the actions before them are kept, too, and the last one of each pipe. It is
        as ``most`` for entries that an action of a pipe follows on the action before.
        """
        kept = {order for order in actions if self.ends[order] != DROPPED}
        spans = [] if most_apart is None else self._keep_before(kept)
        ends = {one: self.ends[one] for one in sorted(kept) if self.ends[one] != DROPPED}
        switches = [one.entry for one in self.switches]
        bounds = sorted({*ends.values(), *switches, len(self.entries)})
        limits = [most] * len(bounds)
        for begin, end in spans:
            for position in range(bisect_right(bounds, begin), bisect_right(bounds, end)):
                limits[position] = most_apart or 0
        after = self._join_between(bounds, limits)
        self.ends = array("I", [DROPPED]) * len(self.ends)
        for order, end in ends.items():
            self.ends[order] = after[end]
        self.switches = [one._replace(entry=after[one.entry]) for one in self.switches]

    def _keep_before(self, kept: set[int]) -> list[tuple[int, int]]:
        """Add the actions before these, and the last ones; the entries between both."""
        last, before = self._last_actions(), {one: self._action_before(one) for one in kept}
        kept.update(one for one in (*last, *before.values()) if one >= 0)
        spans = [(self._end(begin), self.ends[order]) for order, begin in before.items()]
        return [*spans, (min(map(self._end, last), default=0), len(self.entries))]

    def _end(self, order: int) -> int:
        """The first entry after an action; 0 where that is not known, and for -1."""
        return 0 if order < 0 or self.ends[order] == DROPPED else self.ends[order]

    def _last_actions(self) -> list[int]:
        """The last action of each pipe."""
        last: dict[bool, int] = {}
        end = len(self.ends)
        for begin, is_bv in reversed(self._runs_of_actions()):
            if begin < end:
                last.setdefault(is_bv, end - 1)
            end = begin
        return [*last.values()]

    def _action_before(self, order: int) -> int:
        """The action of the same pipe that is executed before one; -1 for the first."""
        runs = self._runs_of_actions()
        position = bisect_right(runs, order, key=lambda one: one[0]) - 1
        end, is_bv = order, runs[position][1]
        for begin, is_other in reversed(runs[: position + 1]):
            if is_other == is_bv:
                for action in range(end - 1, begin - 1, -1):
                    if self.is_executed(action):
                        return action
            end = min(end, begin)
        return -1

    def _runs_of_actions(self) -> list[tuple[int, bool]]:
        """The first action of each row of actions that one pipe executes, and whether it is BV."""
        return [(0, False), *((one.action, one.registers == "BV") for one in self.switches)]

    def _join_between(self, ends: Sequence[int], limits: Sequence[int]) -> dict[int, int]:
        """Join entries before each of ``ends``, where they are more than its limit.

        ``ends``: numbers of entries, rising, up to all. Returns their numbers afterwards.
        """
        old = RegisterLog()
        old.entries, old._starts, old._where = self.entries[:], self._starts, self._where
        self.entries.clear()  # the walk has this list
        self._starts, self._where = [], []
        start, after = 0, {}
        for end, most in zip(ends, limits, strict=True):
            if end - start > most:
                changes = [(old.entries[at].registers, old.source(at)) for at in range(start, end)]
                self.entries.append(NotedWrites(*joined(changes)))
            else:
                self._take(old, start, end)
            after[end] = len(self.entries)
            start = end
        if old._where:
            self.begin(old._where[-1])
        return after

    def _take(self, old: RegisterLog, start: int, end: int) -> None:
        """Add entries of a log, with their circumstances."""
        position = bisect_right(old._starts, start) - 1
        while start < end:
            behind = old._starts[position + 1] if position + 1 < len(old._starts) else end
            if position >= 0:
                self.begin(old._where[position])
            self.entries += old.entries[start : min(behind, end)]
            start, position = behind, position + 1

    def release(self, end: int) -> None:
        """Forget the entries before this one, which is the first one then."""
        del self.entries[:end]
        position = max(bisect_right(self._starts, end) - 1, 0)
        del self._starts[:position], self._where[:position]
        self._starts = [max(start - end, 0) for start in self._starts]
        pipe = [one for one in self.switches if one.entry <= end][-1:]
        later = self.switches[len([one for one in self.switches if one.entry <= end]) :]
        self.switches = [one._replace(entry=max(one.entry - end, 0)) for one in (*pipe, *later)]


#: Entries between two actions from which on it pays to look for those that write the same.
_MANY = 64


class RegisterCursor:
    """A place in a log, behind what an action has seen.

    Two readers of a log, say a comparison of draws and one of clears, have a cursor each.
    """

    def __init__(self, log: RegisterLog, reader: Reader = BR) -> None:
        self._log = log
        self._spans: list[range] | None = log.spans(reader) if log.switches else None
        self._starts = [span.start for span in self._spans or ()]
        #: The first entry that was not passed.
        self._position = 0
        #: Register -> the entry with its last write, of the entries before ``_noted``.
        self._entries: dict[int, int] = {}
        self._noted = 0

    def go_to(self, order: int) -> list[dict[int, int]]:
        """Go on to an action (``Action.order``): what was written since then, in order.

        Each is register -> value, or UNKNOWN, and shared: do not change it. Of entries with the
        same registers, as tiles have them, the last one counts. Empty for an earlier action.
        """
        log, begin = self._log, self._position
        end = log.ends[order]
        if end <= begin:
            return []
        self._position = end
        entries = log.entries
        if end - begin <= _MANY and self._is_in_one_span(begin, end):
            return [one.registers for one in entries[begin:end]]
        return [entries[at].registers for at in self._distinct(begin, end)]

    def entry(self, register: int) -> int | None:
        """The log's entry with the last write of a register; None where there is none."""
        self._note()
        return self._entries.get(register)

    def write(self, register: int) -> RegisterWrite | None:
        """The last write of a register; None where there is none."""
        entry = self.entry(register)
        return None if entry is None else self._log.source(entry, is_kept=True).of(register)

    def _note(self) -> None:
        """Find the last writes up to the position: few are asked for, so it is done late."""
        begin, self._noted = self._noted, self._position
        entries, found = self._log.entries, self._entries
        for at in self._distinct(begin, self._position):
            found.update(dict.fromkeys(entries[at].registers, at))

    def _is_in_one_span(self, begin: int, end: int) -> bool:
        """Whether all entries between two are of the pipe."""
        spans = self._spans
        if spans is None:
            return True
        at = bisect_right(self._starts, begin) - 1
        return at >= 0 and end <= spans[at].stop

    def _distinct(self, begin: int, end: int) -> Sequence[int]:
        """The entries between two; of those with the same registers the last one."""
        entries = self._log.entries
        last = {id(entries[at].registers): at for part in self._parts(begin, end) for at in part}
        return sorted(last.values())

    def _parts(self, begin: int, end: int) -> list[range]:
        if self._spans is None:
            return [range(begin, end)]
        parts = []
        for span in self._spans[max(bisect_right(self._starts, begin) - 1, 0) :]:
            if span.start >= end:
                break
            parts.append(range(max(span.start, begin), min(span.stop, end)))
        return parts
