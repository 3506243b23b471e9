# SPDX-License-Identifier: MIT
"""The observers that fill a RegisterStore.

``RegisterRecorder`` has all registers: the runner itself adds what steps store to the list of
entries, without a call for each; values of other writes are taken before the next action.

``SelectedRegisters`` has the values of some registers at all actions, for filters. It compares the
registers at each action with those before. A log of all writes takes up to a sixth more time where
packets write much and few actions follow.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.command_writes import CommandReader
from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.register_store.history import Changes
from cffpy.analysis.register_store.log import BR, NotedWrites, Reader
from cffpy.analysis.register_store.store import RegisterStore
from cffpy.analysis.register_store.writes import UNKNOWN, PacketWrites, StoredWrites
from cffpy.frame.execution import Executed
from cffpy.frame.register_write import RegisterWrite
from cffpy.pm4.reader import packet_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.register_store.draws import Writes
    from cffpy.analysis.register_store.log import Entry, StoredWhere
    from cffpy.analysis.register_store.writes import Circumstances, WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

    #: The positions of the actions whose registers are asked for, as far as is known now.
    Wanted = Callable[[], Iterable[int]]

#: Dwords of a submit that CP_MEM_WRITE stored and that are remembered, about.
_MAX_PATCHES = 1 << 20


class WriteObserver(Observer):
    """Passes writes to ``note``; those of packets in a row together, as ``PacketWrites``."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        #: The name of a packet by its header; of the GPU that is bound, or was for an earlier file.
        self._packet_name: Callable[[int], str] = partial(_packet_name_now, walk)
        #: Address of a dword that CP_MEM_WRITE stored -> the last such packet.
        self._patches: dict[int, PacketLocation] = {}
        #: The first of these addresses, and the one after the last.
        self._patched = 0, 0
        #: What was noted last, if packets can be added to it.
        self._together: PacketWrites | None = None

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Registers are written. Their values, if they are known already, are passed as a dict."""
        raise NotImplementedError

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Packets have the names of this GPU."""
        self._packet_name = partial(packet_name, database)

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The buffers of a submit are new."""
        if is_new_submit:
            self._patches.clear()
            self._patched = 0, 0

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """Remember the addresses: commands may be there."""
        location = self._walk.packet_location
        if len(self._patches) < _MAX_PATCHES:
            end = gpuaddr + 4 * payload.count
            for address in range(gpuaddr, end, 4):
                self._patches[address] = location
            first, last = self._patched
            self._patched = (min(first, gpuaddr), max(last, end)) if last else (gpuaddr, end)

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Note the packet, together with those before it."""
        sources = self._walk.computation.sources
        patch = self._patch(location, ndwords) if self._patches else None
        circumstances = self._circumstances()
        if patch is not None or sources:
            write = RegisterWrite(location, *circumstances, patch, sources)
            self._together = None
            self.note(registers, write)
            return
        together = self._together
        if together is None or not together.add(registers, location, circumstances):
            together = PacketWrites(registers, location, circumstances)
            self.note(together, together)
            self._together = together

    def registers_stored(
        self, stored: StoredRegisters, stream: ExecutedStream, caller: PacketLocation | None
    ) -> None:
        """Note them together; one by one where commands are patched, which may go on."""
        self._together = None
        circumstances = self._circumstances()
        source = StoredWrites(stored, stream, caller, circumstances)
        if not self._patches or not self.is_patched(stored):
            for part in stored.parts:
                if part:
                    self.note(part, source)
            return
        for register in stored.registers:
            write, ndwords = source.of(register), stored.packet(register).ndwords
            patch = self._patch(write.place, ndwords)
            if patch is not None:
                write = RegisterWrite(write.place, *circumstances, patch)
            self.note((register,), write)

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        """Note the packet: it is a write, too."""
        self.registers_written(registers, location, 1)

    def is_patched(self, stored: StoredRegisters) -> bool:
        """Whether a packet may have stored any of the commands that wrote them."""
        first, end = self._patched
        return any(begin < end and behind > first for begin, behind in _commands(stored))

    def _circumstances(self) -> Circumstances:
        """Those of what is written now."""
        walk = self._walk
        return (
            self._packet_name,
            self._passes.owner,
            walk.executed,
            walk.condition,
            walk.pipe,
        )

    def _patch(self, location: PacketLocation, ndwords: int) -> PacketLocation | None:
        """The packet that stored (a part of) this one."""
        addresses = range(location.gpuaddr, location.gpuaddr + 4 * ndwords, 4)
        patches = self._patches
        return next((patches[address] for address in addresses if address in patches), None)


def _packet_name_now(walk: Walk, header: int) -> str:
    return packet_name(walk.machine.database, header)


def _commands(stored: StoredRegisters) -> Iterator[tuple[int, int]]:
    """GPU addresses of the commands that wrote registers: the first one, the one behind."""
    if stored.words is not None:
        address = stored.words.address
        yield address + 4 * stored.start, address + 4 * stored.following
    for _, words, index, ndwords in stored.groups:
        begin = words.address + 4 * index
        yield begin, begin + 4 * ndwords


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
        else:
            self._log.skipped.append(action.order)
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
