# SPDX-License-Identifier: MIT
"""SelectedRegisters: records the values of some registers at all actions, for filters.

It compares the registers at each action with those before. A log of all writes, as of a
``RegisterRecorder``, takes up to a sixth more time where packets write much and few actions follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.register_store.history import Changes
from cffpy.analysis.register_store.log import BR, Reader
from cffpy.analysis.register_store.store import RegisterStore
from cffpy.analysis.register_store.writes import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.regdb.database import Database


class _Seen:
    """What the actions of a pipe have seen.

    ``last``: the values at its last action, in the order of ``SelectedRegisters.registers``.
    ``written``: the registers that count as written since then, whatever they hold.
    """

    __slots__ = ("last", "rows", "written")

    def __init__(self, last: list[int | None], written: set[int], rows: dict[int, Changes]) -> None:
        self.last = last
        self.written = written
        self.rows = rows

    def copy(self) -> _Seen:
        """The same of a pipe that has had the same registers up to now."""
        rows = {register: row.copy() for register, row in self.rows.items()}
        return _Seen([*self.last], {*self.written}, rows)


class SelectedRegisters(Observer):
    """``store`` has the values of the registers when the walk has ended, and no writes.

    A change is a new value, or that the GPU fills the register.
    """

    def __init__(self, walk: Walk, choose: Callable[[Database], Iterable[int]], most: int) -> None:
        """``choose``: the registers, by the database of the GPU. ``most``: changes to keep."""
        self.store = RegisterStore()
        self._walk = walk
        self._choose = choose
        self._left = most
        self._registers: list[int] = []
        self._selected: set[int] = set()
        #: Of the pipe that executes, of each reader, and of those that are written now.
        self._seen = _Seen([], set(), {})
        self._of_readers = {BR: self._seen}
        self._writers = [self._seen]
        #: The position of the next action.
        self._next = 0

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Look up the registers. Those of an earlier GPU of the same file are kept.

        The pipes of another GPU begin with the same registers: those of BR.
        """
        new = [one for one in self._choose(database) if one not in self._selected]
        if new:
            self._registers += new
            self._selected.update(new)
            for seen in self._of_readers.values():
                seen.last += [None] * len(new)
        if self.store.log.turns:
            self._switch("both", restarts=True)

    # -- writes ---------------------------------------------------------------------------------

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        """The GPU fills registers."""
        self._note(registers)

    def _note(self, registers: Collection[int]) -> None:
        written = self._selected.intersection(registers)
        if written:
            for seen in self._writers:
                seen.written |= written

    # -- pipes ----------------------------------------------------------------------------------

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """What follows sees the registers of another pipe."""
        self._switch(registers)

    def _switch(self, registers: PipeRegisters, restarts: bool = False) -> None:
        turn = self.store.log.turn(self._next, registers, restarts)
        br, of_readers = self._of_readers[BR], self._of_readers
        bv = Reader("BV", turn.restart)
        if bv not in of_readers:  # up to now, BV had the registers of BR
            self._left -= sum([len(row.orders) for row in br.rows.values()])
            of_readers[bv] = _Seen([], set(), {}) if self._left < 0 else br.copy()
        self._seen = of_readers[turn.reader]
        self._writers = [br, of_readers[bv]] if registers == "both" else [self._seen]

    # -- actions --------------------------------------------------------------------------------

    def action(self, action: Action) -> None:
        """Compare with the action before."""
        self._next = action.order + 1
        if not self._registers or not action.execution.is_possible or self._left < 0:
            return
        seen = self._seen
        now = [*map(self._walk.machine.state.registers.get, self._registers)]
        if now == seen.last and not seen.written:
            return
        for register, value, last in zip(self._registers, now, seen.last, strict=True):
            if value != last or register in seen.written:
                row = seen.rows.get(register)
                if row is None:
                    row = seen.rows[register] = Changes()
                row.set(action.order, UNKNOWN if value is None else value)
                self._left -= 1
        seen.last = now
        seen.written.clear()
        if self._left < 0:
            text = f"filters see the registers of the first {action.order} actions only"
            self._walk.machine.problems.truncate("", text)

    def finished(self) -> None:
        """Have the changes in the store."""
        self.store.use({reader: seen.rows for reader, seen in self._of_readers.items()})


class SelectedWrites(SelectedRegisters):
    """The same with writes that change nothing, for filters that ask for writes."""

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Each write counts as a change."""
        self._note(registers)

    def registers_stored(
        self, stored: StoredRegisters, stream: ExecutedStream, caller: PacketLocation | None
    ) -> None:
        """The same for registers that are stored at once, so that streams are replayed."""
        self._note(stored.registers.keys())
