# SPDX-License-Identifier: MIT
"""RegisterHistory: the registers at each of the program's draws, as changes between draws.

A walk logs references to what was stored (cffpy.analysis.write_log), whatever the draws. A register
is looked up in all entries of the log when it is first asked for; its value at a draw is found by a
binary search among its changes. So the memory grows with what changes and not with draws times
registers: a dword that is written between two draws costs some 20 bytes, however many draws follow.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from functools import partial
from itertools import chain, pairwise, repeat
from operator import sub
from threading import RLock
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.provenance import UNKNOWN, Write
from cffpy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.provenance import WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.analysis.write_log import WriteLog
    from cffpy.frame.passes import Pass

    #: The dwords that were written before a draw, each with where its write is found.
    Writes = list[tuple[int, WriteSource]]

#: Changes of registers that are kept: a base, and this many for each dword of the file. In sound
#: captures, few registers change more often than the file has dwords.
_MAX_CHANGES, _CHANGES_PER_DWORD = 1 << 20, 2

#: Registers whose changes are collected one by one, before those of all are collected at once.
_COLLECTED = 16

#: Entries that stay apart before a draw when the log is joined; and how many more than twice those
#: of the last time it has until it is: they take some 10 MB.
_MAX_APART, _UNJOINED = 8, 1 << 16


def most_changes(size: int) -> int:
    """The changes that are kept of a capture of ``size`` bytes."""
    return _MAX_CHANGES + _CHANGES_PER_DWORD * (size // 4)


class Changes:
    """The changes of one register: positions in rising order, and what was written by then.

    ``entries``: those of the log that have the writes. Where the register was collected alone,
    empty until a write is asked for.
    """

    __slots__ = ("entries", "orders", "values")

    def __init__(
        self,
        orders: list[int] | array[int],
        values: list[int] | array[int],
        entries: list[int] | array[int],
    ) -> None:
        self.orders = orders
        self.values = values
        self.entries = entries

    def add(self, order: int, value: int, entry: int) -> bool:
        """Add a change; False where it replaces one at the same draw."""
        orders = self.orders
        if orders and orders[-1] == order:
            self.values[-1], self.entries[-1] = value, entry
            return False
        orders.append(order)
        self.values.append(value)
        self.entries.append(entry)
        return True


#: In place of an entry: that of an action is not known any more.
_DROPPED = 0xFFFFFFFF

#: In place of values that were collected.
_NO_VALUES: dict[int, int] = {}


class RegisterHistory(Observer):
    """Records the registers at the program's draws: at one execution of each.

    That execution is the one in ``Pass.draws``. ``order`` in the methods below is
    ``Action.order`` of such a draw. Complete when the walk has ended.
    """

    def __init__(self, walk: Walk, passes: PassFinder, log: WriteLog, most: int) -> None:
        """``log`` observes the same walk. ``most``: changes that are kept; see ``most_changes``."""
        self._walk = walk
        self._passes = passes
        self._log = log
        self._most = most
        log.call_when_full(most, self._shrink)
        log.most_entries = _UNJOINED
        #: The first action that may be one of the program's draws: which of them are is not known
        #: until their pass ends.
        self._first = 0
        self._is_full = self._is_released = False
        #: The recorded draws; of the last of them, those that were not collected with all
        #: registers, the first entry after each.
        self._orders: list[int] = []
        self._ends: list[int] = []
        #: Gets the writes of draws, those of a pass when it ends.
        self._pass_on: Callable[[Writes], None] | None = None
        self._pass: Pass | None = None
        #: The changes of registers that were asked for; of some that have none, nothing.
        self.rows: dict[int, Changes] = {}
        #: Whether ``rows`` has all registers. If not, it has some of those that were collected.
        self._is_complete = False
        self._collected: set[int] = set()
        #: The draw after each entry; made when a register is first collected.
        self._draw_after: list[int] = []
        #: The registers that changed, of all draws one after another; where those of each begin.
        self._changed = array("I")
        self._starts = array("I")
        #: The number of each recorded draw; made when one is asked for.
        self._numbers: dict[int, int] = {}
        #: Held while registers are collected: several threads may ask.
        self._lock = RLock()

    def pass_on(self, take: Callable[[Writes], None]) -> None:
        """Have ``take`` called with the writes of each draw when its pass ends. Before the walk.

        For those who read all registers: writes are not kept, which takes less than half the
        memory. Only ``changes``, ``value`` and ``all_registers`` can be used afterwards.
        """
        self._pass_on, self._is_complete = take, True
        self._log.at_action = partial(self._follow_passes, take)

    # -- while the machine runs -----------------------------------------------------------------

    def finished(self) -> None:
        """Record the draws of the passes that were not passed on."""
        self._settle()
        if self._pass_on is not None:
            self._end_pass(self._pass_on)
        elif not self._is_full:
            self._record(self._passes.so_far)
        self._log.stop()
        self._log.action_ends = array("I")
        self._pass_on = self._pass = None

    def _settle(self) -> None:
        """Have all entries counted; stop if there are too many changes."""
        self._log.settle()
        if self._log.dwords > self._most and not self._is_full:
            self._shrink()

    def _record(self, passes: Iterable[Pass], most: int = sys.maxsize) -> None:
        """Record the program's draws of passes, whose numbers are known now.

        ``most``: entries that there may be before a draw.
        """
        ends = self._log.action_ends
        orders = sorted({draw.order for one in passes for draw in one.draws})
        for order in orders:
            if self._first <= order < len(ends) and ends[order] <= most and ends[order] != _DROPPED:
                self._orders.append(order)
                self._ends.append(ends[order])

    def _follow_passes(self, take: Callable[[Writes], None]) -> None:
        current = self._passes.current
        if current is not self._pass:
            self._end_pass(take)
            self._pass = current

    def _end_pass(self, take: Callable[[Writes], None]) -> None:
        """Pass on the writes of a pass."""
        self._settle()
        if self._pass is not None and not self._is_full:
            self._record([self._pass])
        collected = self._collect_all(self.rows)
        for writes in self.written():
            take(writes)
        self._log.release(collected)
        self._first = len(self._log.action_ends)
        del self._changed[:], self._starts[:]
        for row in self.rows.values():
            del row.entries[:]

    def _shrink(self) -> None:
        """Join entries before draws that are not the program's; stop if that does not help."""
        self._log.settle()
        orders, ends = self._candidates(), self._log.action_ends
        joined = self._log.join_between([ends[order] for order in orders], _MAX_APART)
        ends[self._first :] = array("I", [_DROPPED]) * (len(ends) - self._first)
        for order, end in zip(orders, joined, strict=True):
            ends[order] = end
        self._log.most_entries = 2 * len(self._log.values) + _UNJOINED
        if self._log.dwords > self._most - self._most // 8:
            self._stop()

    def _candidates(self) -> list[int]:
        """The actions that may be the program's draws.

        Of the pass that is open, those of the run that is open and of that with most draws before.
        """
        is_open, ends = self._passes.current, self._log.action_ends
        found = {
            draw.order for one in self._passes.so_far if one is not is_open for draw in one.draws
        }
        if is_open is not None:
            runs = [run for run in is_open.runs if run is not is_open.binning]
            drawn = max(runs, key=lambda run: sum(map(is_program_draw, run.draws)), default=None)
            for run in (drawn, is_open.direct, self._passes.run):
                found.update(() if run is None else (draw.order for draw in run.draws))
        return sorted(
            order for order in found if self._first <= order < len(ends) and ends[order] != _DROPPED
        )

    def _stop(self) -> None:
        """Record nothing from now on: no sound capture has this many changes."""
        self._is_full = True
        self._log.stop()
        if self._pass_on is None:
            self._record(self._passes.so_far, self._log.entries_of(self._most))
        text = f"the registers of the first {len(self._orders)} draws only are recorded"
        self._walk.machine.problems.truncate("", text)

    # -- afterwards -----------------------------------------------------------------------------

    def _row(self, register: int) -> Changes | None:
        """The changes of one register: most questions are about a few of them."""
        if not self._is_complete and register not in self._collected:
            with self._lock:
                self._check_open()
                if len(self._collected) < _COLLECTED and not self._is_complete:
                    self._collect(register)
                else:
                    self._complete()
        return self.rows.get(register)

    def _collect(self, register: int) -> None:
        if not self._draw_after:
            counts = map(sub, self._ends, (0, *self._ends))
            self._draw_after = [*chain.from_iterable(map(repeat, self._orders, counts))]
        entries = zip(self._draw_after, self._log.values, strict=False)  # not those after all draws
        found = {order: values[register] for order, values in entries if register in values}
        if found:
            self.rows[register] = Changes([*found], [*found.values()], [])
        self._collected.add(register)  # now others may look it up

    def _find_entries(self, register: int, row: Changes) -> None:
        """Find those that have the writes of a register that was collected alone."""
        entries = enumerate(zip(self._draw_after, self._log.values, strict=False))
        found = {order: entry for entry, (order, values) in entries if register in values}
        row.entries = [*found.values()]

    def _complete(self) -> None:
        """Collect all registers."""
        if self._is_complete:
            return
        with self._lock:
            if not self._is_complete:
                self._check_open()
                rows: dict[int, Changes] = {}
                self._draw_after = []
                self._collect_all(rows)
                self.rows, self._is_complete = rows, True

    def _check_open(self) -> None:
        if self._is_released:
            raise UsageError("the capture is closed")

    def _collect_all(self, known: dict[int, Changes]) -> int:
        """Collect all registers of the recorded draws, as far as ``known`` does not have them.

        Releases the values of these entries, and returns how many there are.
        """
        self._ends = self._log.join_between(self._ends, _MAX_APART)
        changed, entries = self._changed, self._log.values
        start = 0
        orders = self._orders[len(self._orders) - len(self._ends) :]
        for order, end in zip(orders, self._ends, strict=True):
            self._starts.append(len(changed))
            for entry in range(start, end):
                values, entries[entry] = entries[entry], _NO_VALUES
                for register, value in values.items():
                    row = known.get(register)
                    if row is None:
                        row = known[register] = Changes(array("I"), array("q"), array("I"))
                    if row.add(order, value, entry):
                        changed.append(register)
            start = end
        self._ends.clear()
        return start

    def forget_writes(self) -> None:
        """Release what wrote registers, and the walk. Afterwards as after ``pass_on``."""
        self._complete()
        for row in self.rows.values():
            row.entries = array("I")
        del self._walk, self._passes, self._log

    def release(self) -> None:
        """Forget everything: the capture is closed, but its states may still be held.

        Afterwards, questions about registers raise UsageError.
        """
        self._is_released, self._is_complete = True, False
        self.rows.clear()  # states have this object, too
        self._collected.clear()
        self._draw_after, self._numbers = [], {}
        self._orders, self._ends = [], []
        self._changed, self._starts = array("I"), array("I")
        for name in ("_walk", "_passes", "_log"):
            self.__dict__.pop(name, None)

    def has(self, order: int) -> bool:
        """Whether the registers at this draw were recorded."""
        return order in (self._numbers or self._number())

    def _number(self) -> dict[int, int]:
        self._numbers = {order: number for number, order in enumerate(self._orders)}
        return self._numbers

    def value(self, register: int, order: int) -> int | None:
        """The value of a dword at a draw; None where it is unknown or was never written."""
        row = self.rows.get(register) or self._row(register)
        if row is None:
            return None
        index = bisect_right(row.orders, order)
        if not index:
            return None
        value = row.values[index - 1]
        return None if value == UNKNOWN else value

    def is_written(self, register: int, order: int) -> bool:
        """Whether a dword was written before a draw."""
        row = self.rows.get(register) or self._row(register)
        return row is not None and row.orders[0] <= order

    def changes(self, register: int) -> tuple[Sequence[int], Sequence[int]]:
        """Positions of the draws before which a dword was written, and its value from each on.

        A value is -1 where only the GPU knows it. Both are empty for what was never written.
        """
        row = self._row(register)
        return ((), ()) if row is None else (row.orders, row.values)

    def write(self, register: int, order: int) -> Write | None:
        """The write of a dword's value at a draw; None where it was never written."""
        row = self._row(register)
        if row is None:
            return None
        index = bisect_right(row.orders, order) - 1
        if index < 0:
            return None
        if not row.entries:
            with self._lock:
                row = self._row(register) or row  # which may have been collected with all others
                if not row.entries:
                    self._find_entries(register, row)
        return self._log.source(row.entries[index], is_kept=True).of(register)

    def written(self) -> Iterator[Writes]:
        """For each recorded draw in order: the dwords written before it, and their writes.

        They are those of ``changes``: the n-th change of a dword is the n-th time that it is here.
        """
        self._complete()
        changes, log = self.rows, self._log
        seen = dict.fromkeys(changes, 0)
        for start, end in pairwise([*self._starts, len(self._changed)]):
            sources: dict[int, WriteSource] = {}
            found = []
            for register in self._changed[start:end]:
                entry = changes[register].entries[seen[register]]
                seen[register] += 1
                if entry not in sources:
                    sources[entry] = log.source(entry)
                found.append((register, sources[entry]))
            yield found

    def registers(self, order: int) -> Iterator[int]:
        """The dwords that were written before a draw, in no particular order."""
        self._complete()
        return (register for register, row in self.rows.items() if row.orders[0] <= order)

    def all_registers(self) -> Iterator[int]:
        """The dwords that were written before any draw, in no particular order."""
        self._complete()
        return iter(self.rows)

    def written_since(self, order: int) -> Sequence[int]:
        """The dwords that were written between the recorded draw before and this one."""
        self._complete()
        number = (self._numbers or self._number())[order]
        after = number + 1
        end = self._starts[after] if after < len(self._starts) else len(self._changed)
        return self._changed[self._starts[number] : end]

    def before(self, order: int) -> int | None:
        """The recorded draw before this one."""
        position = bisect_left(self._orders, order) - 1
        return self._orders[position] if position >= 0 else None
