# SPDX-License-Identifier: MIT
"""RegisterRecorder: the observer that fills a RegisterStore.

The runner itself adds what steps store to the list of entries, without a call for each. Values of
other writes are taken before the next action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.command_writes import CommandReader
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.register_store.log import NotedWrites
from cffpy.analysis.register_store.observer import WriteObserver
from cffpy.analysis.register_store.store import RegisterStore
from cffpy.analysis.register_store.writes import UNKNOWN, PacketWrites
from cffpy.frame.execution import Executed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.register_store.draws import Writes
    from cffpy.analysis.register_store.log import Entry, StoredWhere
    from cffpy.analysis.register_store.writes import WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.regdb.database import Database

    #: The positions of the actions whose registers are asked for, as far as is known now.
    Wanted = Callable[[], Iterable[int]]

#: Changes of registers that are kept: a base, and this many for each dword of the file. In sound
#: captures, few registers change more often than the file has dwords.
_MAX_CHANGES, _CHANGES_PER_DWORD = 1 << 20, 2

#: Entries that are no steps, and all entries, that are kept before they are joined: some 40 MB
#: each. Then states of actions that are no draws of the program cost a walk.
_OWN_ENTRIES, _ENTRIES = 1 << 16, 1 << 22

#: The same where the registers at few actions are asked for.
_FEW_ENTRIES = 1 << 11

#: Actions whose registers are kept however many there are.
_FEW_ACTIONS = 4

#: Entries whose values are not taken, at most: until then, their dwords are not counted.
_MAX_UNSETTLED = 256

#: Entries that stay separate before an action when the log is joined.
_MAX_APART = 8


def most_changes(size: int) -> int:
    """The changes that are kept of a capture of ``size`` bytes."""
    return _MAX_CHANGES + _CHANGES_PER_DWORD * (size // 4)


class RegisterRecorder(WriteObserver):
    """Records what packets write to registers, and where actions are among the writes.

    ``store`` is complete when the walk has ended.
    """

    def __init__(
        self,
        walk: Walk,
        passes: PassFinder,
        most: int,
        wanted: Wanted | None = None,
        with_commands: bool = True,
    ) -> None:
        """``most``: changes that are kept; see ``most_changes``.

        ``wanted``: only these actions have their registers in the store, and more that come soon
        after them. Those that it returns later may have none. ``with_commands``: also what
        ``RegisterHistory.commands`` has of them.
        """
        super().__init__(walk, passes)
        self.store = RegisterStore()
        self._log = self.store.log
        self._log.commands = CommandReader(walk)
        self._most, self._wanted = most, wanted
        self._with_commands = with_commands and wanted is not None
        passes.owner_changed = self._owner_changed
        #: Circumstances of what is added to the log now; None: they have to be found.
        self._where: StoredWhere | None = None
        #: Entries whose values are not known yet.
        self._unsettled: list[PacketWrites | NotedWrites] = []
        #: Of each action whose registers are not an entry of a step, the first entry after it;
        #: since ``_settled``, the first entry whose action is not counted.
        self._acted: list[int] = []
        self._settled = 0
        #: Entries that are no steps, and their dwords; how many of them have the log joined.
        self._own = self._own_dwords = 0
        self._least_own = _OWN_ENTRIES if wanted is None else _FEW_ENTRIES
        self._least = _ENTRIES if wanted is None else _FEW_ENTRIES
        self._own_entries, self._entries = self._least_own, self._least
        self._is_full = False
        #: Gets the writes of draws, those of a pass when it ends: see ``pass_on``.
        self._pass_on: Callable[[Writes], None] | None = None
        self._pass: Pass | None = None
        #: The first action that may be one of the program's draws: which of them are is not known
        #: until their pass ends.
        self._first = 0
        #: Further actions whose registers are kept where the log is joined, by ``Action.order``.
        self.kept: Iterable[int] = ()
        #: How often entries were joined: they have other numbers since then.
        self.joins = 0

    def pass_on(self, take: Callable[[Writes], None]) -> None:
        """Have ``take`` called with the writes of each draw when its pass ends. Before the walk.

        For those who read all registers at draws: writes are not kept, which takes less than half
        the memory. Of the store, only ``changes``, ``value`` and ``all_registers`` can be used
        afterwards.
        """
        self._pass_on = take
        self.store.keep_draws_only()

    @property
    def entries(self) -> Sequence[Entry]:
        """What was written so far, with the values of all that is written now. While it walks."""
        if self._unsettled:
            self._take_values()
        return self._log.entries

    # -- writes ---------------------------------------------------------------------------------

    def stored_log(self, stream: ExecutedStream) -> list[StoredRegisters] | None:
        """The entries: most writes of a walk come there."""
        if self._unsettled:
            self._take_values()
        if self._patches or self._pass_on is not None:
            return None
        entries, walk, where = self._log.entries, self._walk, self._where
        tracker = self._passes.tracker
        owner = None if tracker is None else tracker.run or tracker.current  # without a call
        if (
            where is None
            or where[0] is not stream
            or where[1] is not None
            or where[2][1] is not owner
            or where[2][2] is not walk.executed
            or where[2][3] != walk.condition
        ):
            if len(entries) > self._entries and not self._has_room():
                return None
            self._begin(stream, None)
        self._together = None
        return entries  # type: ignore[return-value]

    def registers_stored(
        self, stored: StoredRegisters, stream: ExecutedStream, caller: PacketLocation | None
    ) -> None:
        """Add what was stored."""
        if self._patches and self.is_patched(stored):
            super().registers_stored(stored, stream, caller)
            return
        if self._needs_room() and not self._has_room():
            return
        self._begin(stream, caller)
        self._together = None
        for part in stored.parts if stored.has_parts else (stored.registers,):
            if part:
                self._log.entries.append(NotedWrites(part, stored))
                self._own += 1

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Add a write."""
        self._together = None
        if len(self._unsettled) > _MAX_UNSETTLED:
            self._take_values()
        if self._needs_room() and not self._has_room():
            return
        entries = self._log.entries
        self._own += 1
        if isinstance(source, PacketWrites):
            entries.append(source)
            self._unsettled.append(source)
        elif isinstance(registers, dict):  # stored, so that all values are known
            entries.append(NotedWrites(registers, source))
        else:
            entry = NotedWrites(dict.fromkeys(registers, 0), source)
            entries.append(entry)
            self._unsettled.append(entry)

    def _begin(self, stream: ExecutedStream, caller: PacketLocation | None) -> None:
        """What is stored from now on is stored now, in this stream."""
        where = stream, caller, self._circumstances()
        if where != self._where:
            self._where = where
            self._log.begin(where)

    def _owner_changed(self) -> None:
        """What follows a draw belongs to another pass or run."""
        if self._where is not None and self._where[2][1] is not self._passes.owner:
            self._begin(*self._where[:2])

    def _take_values(self) -> None:
        """Take the values of what was written since the last call."""
        get = self._walk.machine.state.registers.get
        self._together = None
        for entry in self._unsettled:
            entry.registers = {register: get(register, UNKNOWN) for register in entry}
            self._own_dwords += len(entry.registers)
        self._unsettled.clear()

    # -- actions --------------------------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        """The pipes of another GPU begin with the same registers: those of BR."""
        super().bound(gpu, database)
        self._where = None
        if self._log.switches:
            self._switch("both", restarts=True)

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """Take the values of the pipe that has executed."""
        self._switch(registers)
        self._where = None

    def _switch(self, registers: PipeRegisters, restarts: bool = False) -> None:
        self._settle()
        self._log.switch(registers, restarts)

    def action(self, action: Action) -> None:
        """Count what was written before an action."""
        if action.execution is not Executed.NO:
            if self._unsettled:
                self._take_values()
            if self._pass_on is not None:
                self._follow_passes(self._pass_on)
            if self._needs_room():
                self._has_room()
        self._acted.append(len(self._log.entries))

    def _settle(self) -> None:
        """Have the values of all entries, and the ends of all actions."""
        self._take_values()
        log, start = self._log, self._settled
        ends = [end for end, entry in enumerate(log.entries[start:], start + 1) if entry.has_draw]
        log.ends.extend(sorted(ends + self._acted))
        self._acted.clear()
        self._settled = len(log.entries)

    def finished(self) -> None:
        """Find the program's draws."""
        self._settle()
        draws = self.store.draws
        if self._pass_on is not None:
            self._end_pass(self._pass_on)
        else:
            draws.record(self._draws(self._passes.so_far))
        if draws.limit(self._most) or self._is_full:
            text = f"the registers of the first {len(draws.orders)} draws only are recorded"
            self._walk.machine.problems.truncate("", text)
        self._passes.owner_changed = None
        self._pass_on = self._pass = None

    def _draws(self, passes: Iterable[Pass]) -> list[int]:
        """The program's draws of passes, whose numbers are known now."""
        return [
            order
            for order in sorted({draw.order for one in passes for draw in one.draws})
            if self._first <= order and self.store.has_entries(order)
        ]

    def _follow_passes(self, take: Callable[[Writes], None]) -> None:
        current = self._passes.current
        if current is not self._pass:
            self._end_pass(take)
            self._pass = current

    def _end_pass(self, take: Callable[[Writes], None]) -> None:
        """Pass on the writes of a pass."""
        self._settle()
        draws = self.store.draws
        if self._pass is not None and not self._is_full:
            draws.record(self._draws([self._pass]))
        released = draws.pass_on(take)
        self._log.release(released)
        self._settled = len(self._log.entries)
        self._first = len(self._log.ends)
        self._own = self._own_dwords = 0
        if draws.passed_on > self._most and not self._is_full:
            self._stop()

    # -- room -----------------------------------------------------------------------------------

    def _needs_room(self) -> bool:
        """Whether there may be too much in the log."""
        return self._own > self._own_entries or self._own_dwords > self._most

    def _has_room(self) -> bool:
        """Whether anything may be added, after making room where there is none."""
        if not self._is_full and (self._needs_room() or len(self._log.entries) > self._entries):
            self._join()
        return not self._is_full

    def _join(self) -> None:
        """Join entries before actions that are not the program's draws; stop if there are more."""
        self._settle()
        log, kept = self._log, self._candidates()
        log.join(kept, _MAX_APART, most_apart=_OWN_ENTRIES if self._with_commands else None)
        self.joins += 1
        count = self._own = self._settled = len(log.entries)
        self._own_dwords = log.dwords()
        self._own_entries = 2 * count + self._least_own
        self._entries = 2 * count + self._least
        self._where = None
        is_full = self._own_dwords > self._most - self._most // 8
        if is_full and (self._wanted is None or len(kept) > _FEW_ACTIONS):
            self._stop()

    def _candidates(self) -> list[int]:
        """The actions that may be the program's draws, or those that are asked for.

        Of the pass that is open, those of the run that is open and of that with most draws before.
        """
        is_open, ends = self._passes.current, self._log.ends
        if self._wanted is not None:
            return sorted({order for order in self._wanted() if order < len(ends)})
        orders = {
            draw.order for one in self._passes.so_far if one is not is_open for draw in one.draws
        }
        if is_open is not None:
            runs = [run for run in is_open.runs if run is not is_open.binning]
            drawn = max(runs, key=lambda run: sum(map(is_program_draw, run.draws)), default=None)
            for run in (drawn, is_open.direct, self._passes.run):
                orders.update(() if run is None else (draw.order for draw in run.draws))
        orders.update(self.kept, self.store.asked)
        return sorted(order for order in orders if self._first <= order < len(ends))

    def _stop(self) -> None:
        """Record nothing from now on: no sound capture has this many changes."""
        self._is_full = True
        self._entries = self._own_entries = -1
        self._passes.owner_changed = None
        self.store.end = len(self._log.ends)
