# SPDX-License-Identifier: MIT
"""RegisterHistory: the registers at each of the program's draws, as changes between draws.

A dword that is written between two draws costs some 20 bytes, however many draws follow, so the
memory grows with what changes and not with draws times registers. The value at a draw is found by
a binary search among the changes of its register.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.provenance import UNKNOWN, Write, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import Pass, PassRun
    from cffpy.analysis.provenance import Change, ChangeLog, WriteSource
    from cffpy.analysis.walk import Walk

    #: The dwords that were written before a draw, each with where its write is found.
    Writes = list[tuple[int, WriteSource]]
    #: What was written up to an action since the action before: the action's order, or -1 of none;
    #: the changes; their registers, each as often as it was written.
    _Step = tuple[int, list[Change], int]

#: Changes of registers that are kept: a base, and this many for each dword of the file. In sound
#: captures, few registers change more often than the file has dwords.
_MAX_CHANGES, _CHANGES_PER_DWORD = 1 << 20, 2

#: Registers whose changes are collected one by one, before those of all are collected at once.
_COLLECTED = 16


def most_changes(size: int) -> int:
    """The changes that are kept of a capture of ``size`` bytes."""
    return _MAX_CHANGES + _CHANGES_PER_DWORD * (size // 4)


class _Changes:
    """The changes of one register: positions in rising order, and what was written by then."""

    __slots__ = ("orders", "sources", "values")

    def __init__(self) -> None:
        self.orders = array("I")
        self.values = array("q")
        self.sources: list[WriteSource] = []

    def add(self, order: int, value: int, source: WriteSource) -> bool:
        """Add a change; False where it replaces one at the same draw."""
        orders = self.orders
        if orders and orders[-1] == order:
            self.values[-1], self.sources[-1] = value, source
            return False
        orders.append(order)
        self.values.append(value)
        self.sources.append(source)
        return True


def _joined(steps: Iterable[_Step]) -> list[Change]:
    return [joined([change for _, changes, _ in steps for change in changes])]


class RegisterHistory(Observer):
    """Records the registers at the program's draws: at one execution of each.

    That execution is the one in ``Pass.program_draws``. ``order`` in the methods below is
    ``Action.order`` of such a draw. Complete when the walk has ended.
    """

    def __init__(self, walk: Walk, passes: PassFinder, changes: ChangeLog, most: int) -> None:
        """``changes`` observes the same walk; this observer takes what it has collected.

        ``most``: changes that are kept; see ``most_changes``.
        """
        self._walk = walk
        self._passes = passes
        self._log = changes
        self._most = most
        #: Changes in ``_steps``, and of recorded draws.
        self._pending = self._kept = 0
        #: The changes of recorded draws: the draw's order, registers and values, writes. A draw may
        #: have several. Parallel lists, because that makes fewer objects; emptied by ``_complete``.
        self._orders = array("q")
        self._values: list[dict[int, int]] = []
        self._sources: list[WriteSource] = []
        self._is_joined = False
        #: Gets the writes of draws, and how many draws' writes it has got.
        self._pass_on: Callable[[Writes], None] | None = None
        self._passed_on = 0
        #: Registers that were collected, until ``_complete``: those of ``_changes`` and others.
        self._collected: set[int] = set()
        self._changes: dict[int, _Changes] = {}
        #: The registers that changed, of all draws one after another; draw -> its first.
        self._changed = array("I")
        self._starts: dict[int, int] = {}
        #: The keys of ``_starts`` in rising order, once they are asked for.
        self._in_order: list[int] = []
        #: The pass whose draws are recorded, its steps, and the first step of the current run.
        self._pass: Pass | None = None
        self._steps: list[_Step] = []
        self._run: PassRun | None = None
        self._run_start = 0
        #: The run of the pass with the most draws so far, and where its steps are.
        self._best_count = 0
        self._best: tuple[int, int] = (0, 0)
        #: Steps that come before the next draw that is kept.
        self._carried: list[_Step] = []
        self._is_full = False

    def pass_on(self, take: Callable[[Writes], None]) -> None:
        """Have ``take`` called with the writes of each draw when its pass ends. Before the walk.

        For those who read all registers: writes are not kept, which takes less than half the
        memory. Only ``changes``, ``value`` and ``all_registers`` can be used afterwards.
        """
        self._pass_on, self._is_joined = take, True

    # -- while the machine runs -----------------------------------------------------------------

    def action(self, action: Action) -> None:
        """Take what was written since the last action."""
        if not action.executed.is_possible or self._is_full:
            return
        current, run = self._passes.open
        if current is not self._pass:
            self._end_pass()
            self._pass = current
        if run is not self._run:
            self._end_run()
            self._run = run
        changes = self._log.take()
        size = 0
        for values, _ in changes:
            size += len(values)
        self._steps.append((action.order, changes, size))
        self._pending += size
        if self._pending + self._kept > self._most:
            self._stop()

    def finished(self) -> None:
        """Record the draws of the last pass."""
        if not self._is_full:
            self._end_pass()
        self._pass_on = None

    def _end_run(self) -> None:
        """Keep the steps of the run with the most draws; join those of all others."""
        run, start, end = self._run, self._run_start, len(self._steps)
        if run is not None and end > start:
            found = self._pass
            is_binning = found is not None and run is found.binning
            count = 0 if is_binning else sum(map(is_program_draw, run.draws))
            if count > self._best_count or not self._best[1]:
                start = self._join(*self._best, start)
                self._best_count, self._best = count, (start, len(self._steps))
            else:
                self._join(start, end, end)
        self._run_start = len(self._steps)

    def _join(self, start: int, end: int, following: int) -> int:
        """Make one step of those from ``start`` to ``end``; where ``following`` is then."""
        if end - start < 2:
            return following
        steps = self._steps[start:end]
        changes = _joined(steps)
        size = len(changes[0][0])
        self._pending += size - sum([step[2] for step in steps])
        self._steps[start:end] = [(-1, changes, size)]
        return following - (end - start - 1)

    def _stop(self) -> None:
        """Record nothing from now on: no sound capture has this many changes."""
        self._end_pass()
        self._is_full = True
        text = f"the registers of the first {len(self._starts)} draws only are recorded"
        self._walk.machine.problems.truncate("", text)

    def _end_pass(self) -> None:
        """Record the program's draws of the pass, whose numbers are known now."""
        found = self._pass
        wanted = set() if found is None else {draw.order for draw in found.program_draws}
        for step in self._steps:
            order, changes, _ = step
            if order not in wanted:
                self._carried.append(step)
                continue
            if self._carried:
                changes = _joined([*self._carried, step])
                self._carried = []
            self._record(order, changes)
        if len(self._carried) > 1:
            self._carried = [(-1, _joined(self._carried), 0)]
        self._steps.clear()
        self._pending = 0
        self._run, self._run_start = None, 0
        self._best_count, self._best = 0, (0, 0)
        if self._pass_on is not None:
            self._collect_all()
            for writes in self._written(self._passed_on):
                self._pass_on(writes)
            self._passed_on = len(self._starts)
            del self._changed[:]
            for row in self._changes.values():
                row.sources.clear()

    def _record(self, order: int, changes: list[Change]) -> None:
        self._starts[order] = self._kept
        for values, source in changes:
            self._orders.append(order)
            self._values.append(values)
            self._sources.append(source)
        if len(changes) == 1:
            self._kept += len(changes[0][0])
        elif len(changes) == 2:
            self._kept += len(changes[0][0].keys() | changes[1][0].keys())
        else:
            self._kept += len(set().union(*[values for values, _ in changes]))

    # -- afterwards -----------------------------------------------------------------------------

    def _row(self, register: int) -> _Changes | None:
        """The changes of one register: most questions are about a few of them."""
        if not self._is_joined and register not in self._collected:
            if len(self._collected) < _COLLECTED:
                self._collect(register)
            else:
                self._complete()
        return self._changes.get(register)

    def _collect(self, register: int) -> None:
        self._collected.add(register)
        row = _Changes()
        for position, values in enumerate(self._values):
            if register in values:
                row.add(self._orders[position], values[register], self._sources[position])
        if row.orders:
            self._changes[register] = row

    def _complete(self) -> None:
        """Collect all registers."""
        if self._is_joined:
            return
        self._is_joined = True
        self._changes = {}
        self._collect_all()

    def _collect_all(self) -> None:
        """Collect all registers of the recorded draws, and release what these draws had."""
        known, changed = self._changes, self._changed
        self._values.reverse()
        self._sources.reverse()
        for order in self._orders:
            values, source = self._values.pop(), self._sources.pop()  # which releases them
            for register, value in values.items():
                row = known.get(register)
                if row is None:
                    row = known[register] = _Changes()
                if row.add(order, value, source):
                    changed.append(register)
        del self._orders[:]

    def forget_writes(self) -> None:
        """Release what wrote registers, and the walk. Afterwards as after ``pass_on``."""
        self._complete()
        for row in self._changes.values():
            row.sources = []
        self._pass = self._run = None
        self._steps, self._carried = [], []
        del self._walk, self._passes, self._log

    def has(self, order: int) -> bool:
        """Whether the registers at this draw were recorded."""
        return order in self._starts

    def value(self, register: int, order: int) -> int | None:
        """The value of a dword at a draw; None where it is unknown or was never written."""
        row = self._changes.get(register)
        if row is None:
            row = self._row(register)
            if row is None:
                return None
        index = bisect_right(row.orders, order)
        if not index:
            return None
        value = row.values[index - 1]
        return None if value == UNKNOWN else value

    def is_written(self, register: int, order: int) -> bool:
        """Whether a dword was written before a draw."""
        row = self._changes.get(register) or self._row(register)
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
        return row.sources[index].of(register) if index >= 0 else None

    def written(self) -> Iterator[Writes]:
        """For each recorded draw in order: the dwords written before it, and their writes.

        They are those of ``changes``: the n-th change of a dword is the n-th time that it is here.
        """
        self._complete()
        return self._written(0)

    def _written(self, first: int) -> Iterator[Writes]:
        """From the recorded draw with this number on, where ``_changed`` and sources begin."""
        seen = dict.fromkeys(self._changes, 0)
        starts = [*islice(self._starts.values(), first, None)]
        if not starts:
            return
        begin = starts[0]
        for start, end in pairwise([*starts, begin + len(self._changed)]):
            found = []
            for register in self._changed[start - begin : end - begin]:
                found.append((register, self._changes[register].sources[seen[register]]))
                seen[register] += 1
            yield found

    def registers(self, order: int) -> Iterator[int]:
        """The dwords that were written before a draw, in no particular order."""
        self._complete()
        return (register for register, row in self._changes.items() if row.orders[0] <= order)

    def all_registers(self) -> Iterator[int]:
        """The dwords that were written before any draw, in no particular order."""
        self._complete()
        return iter(self._changes)

    def written_since(self, order: int) -> Sequence[int]:
        """The dwords that were written between the recorded draw before and this one."""
        self._complete()
        start = self._starts[order]
        orders = self._ordered
        position = bisect_right(orders, order)
        end = self._starts[orders[position]] if position < len(orders) else len(self._changed)
        return self._changed[start:end]

    def before(self, order: int) -> int | None:
        """The recorded draw before this one."""
        position = bisect_right(self._ordered, order) - 2
        return self._ordered[position] if position >= 0 else None

    @property
    def _ordered(self) -> list[int]:
        if len(self._in_order) != len(self._starts):
            self._in_order = sorted(self._starts)
        return self._in_order
