# SPDX-License-Identifier: MIT
"""WriteLog: all writes of registers in a walk, in order, as flat lists.

Most writes of a walk come as ``StoredRegisters``, which exist anyway, also while streams run again.
The runner itself adds them to the list of entries, without a call for each. So an entry is a
reference to them, one to circumstances, which many entries share, and later one to their
dictionary. What finds the packets, ``StoredWrites``, is made when it is asked for.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, cast

from cffpy.analysis.provenance import (
    UNKNOWN,
    PacketCollector,
    PacketWrites,
    StoredWrites,
    joined,
)
from cffpy.frame.execution import Executed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import Pipe, PipeRegisters
    from cffpy.analysis.provenance import WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.frame.place import PacketLocation, Stream

    #: What ``StoredWrites`` needs besides the registers.
    _Circumstances = tuple[
        Stream, PacketLocation | None, Pass | PassRun | None, Executed, str | None, Pipe | None
    ]

#: Entries whose values are not taken, about, at most: until then, their dwords are not counted.
_MAX_UNSETTLED = 256


def _do_nothing() -> None:
    """Make no room."""


class _Noted:
    """An entry that is neither ``StoredRegisters`` of a step nor ``PacketWrites``.

    ``registers``: with their values once these are known.
    """

    __slots__ = ("registers", "source")

    has_draw = False

    def __init__(
        self,
        registers: Mapping[int, int] | Iterable[int],
        source: WriteSource | StoredRegisters,
    ) -> None:
        self.registers = registers if isinstance(registers, dict) else dict.fromkeys(registers, 0)
        self.source = source

    def __iter__(self) -> Iterator[int]:
        return iter(self.registers)


class WriteLog(PacketCollector):
    """Entries in the order of execution, and how many come before each action.

    They are writes of the registers that BR has: it renders. What BV alone executes is left out.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._entries: list[StoredRegisters | PacketWrites | _Noted] = []
        #: Those of entries that are not ``WriteSource``; the others have None. The last ones, in
        #: ``_last``, are missing.
        self._circumstances: list[_Circumstances | None] = []
        self._last: _Circumstances | None = None
        #: Entries whose values are not known yet.
        self._unsettled: list[PacketWrites | _Noted] = []
        #: Of each action whose registers are not an entry of a step, the first entry after it.
        self._acted: list[int] = []
        #: Called before an action that is executed; then steps do not add entries.
        self.at_action: Callable[[], None] | None = None
        #: If there are more dwords or entries, this is called before anything is added.
        self._most = self.most_entries = sys.maxsize
        self._make_room: Callable[[], None] = _do_nothing
        #: The number of entries from which on ``_has_room`` has to be asked.
        self._unchecked = _MAX_UNSETTLED
        #: BV executes alone.
        self._is_left_out = False
        passes.owner_changed = self._owner_changed
        # as of ``settle``:
        #: Of each entry, register -> value, or UNKNOWN; do not change them, they are shared.
        self.values: list[dict[int, int]] = []
        #: Of each action, the first entry after it.
        self.action_ends = array("I")
        #: Dwords of all entries, and of those that were released.
        self.dwords = 0

    def call_when_full(self, most: int, make_room: Callable[[], None]) -> None:
        """Have ``make_room`` called when anything is added to more dwords than ``most``.

        If there are more all the same, it is not added. It is also called after more entries than
        ``most_entries``.
        """
        self._most, self._make_room = most, make_room

    # -- while the machine runs -----------------------------------------------------------------

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """Take the values of the pipe that has executed."""
        self._take_values()
        self._fill()
        self._last = None
        self._is_left_out = registers == "BV"

    def stored_log(self, stream: Stream) -> list[StoredRegisters] | None:
        """The entries: most writes of a walk come there."""
        if self._unsettled:
            self._take_values()
        if self._patches or self._is_left_out or self.at_action is not None:
            return None
        entries, walk, last, tracker = self._entries, self._walk, self._last, self._passes.tracker
        owner = None if tracker is None else tracker.run or tracker.current  # without a call
        if (
            last is None
            or last[0] is not stream
            or last[1] is not None
            or last[2] is not owner
            or last[3] is not walk.executed
            or last[4] != walk.condition
        ):
            if len(entries) > self._unchecked and not self._has_room():
                return None
            self._fill()
            self._last = stream, None, owner, walk.executed, walk.condition, walk.pipe
        self._together = None
        return entries  # type: ignore[return-value]

    def registers_stored(
        self, stored: StoredRegisters, stream: Stream, caller: PacketLocation | None
    ) -> None:
        """Add what was stored."""
        if self._is_left_out:
            return
        if self._patches or (len(self._entries) > self._unchecked and not self._has_room()):
            super().registers_stored(stored, stream, caller)
            return
        walk = self._walk
        self._fill()
        how = self._passes.owner, walk.executed, walk.condition, walk.pipe
        self._last = stream, caller, *how
        self._together = None
        for part in stored.parts if stored.has_parts else (stored.registers,):
            if part:
                self._entries.append(_Noted(part, stored))

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Add a write."""
        self._together = None
        if self._is_left_out:
            return
        if len(self._entries) > self._unchecked and not self._has_room():
            return
        self._fill()
        self._circumstances.append(None)
        entry = source if isinstance(source, PacketWrites) else _Noted(registers, source)
        self._entries.append(entry)
        if not isinstance(registers, dict):  # else stored, so that all values are known
            self._unsettled.append(entry)

    def action(self, action: Action) -> None:
        """Count what was written before an action."""
        if action.execution is not Executed.NO:
            if self._unsettled:
                self._take_values()
            if self.at_action is not None:
                self.at_action()
            if len(self._entries) > self._unchecked:
                self._has_room()
        self._acted.append(len(self._entries))

    def _owner_changed(self) -> None:
        """What follows a draw belongs to another pass or run."""
        last, owner = self._last, self._passes.owner
        if last is not None and last[2] is not owner:
            self._fill()
            self._last = *last[:2], owner, *last[3:]

    def _fill(self) -> None:
        """Have the circumstances of all entries."""
        circumstances = self._circumstances
        circumstances += [self._last] * (len(self._entries) - len(circumstances))

    def _has_room(self) -> bool:
        """Whether anything may be added, after making room where there is none."""
        if len(self._entries) - len(self.values) > _MAX_UNSETTLED:
            self.settle()
        if self.dwords > self._most or len(self._entries) > self.most_entries:
            self._make_room()
        is_full = self.dwords > self._most
        self._unchecked = (
            -1 if is_full else min(len(self.values) + _MAX_UNSETTLED, self.most_entries)
        )
        return not is_full

    def _take_values(self) -> None:
        """Take the values of what was written since the last call."""
        get = self._walk.machine.state.registers.get
        self._together = None
        for entry in self._unsettled:
            entry.registers = {register: get(register, UNKNOWN) for register in entry}
        self._unsettled.clear()

    def settle(self) -> None:
        """Have the values of all entries."""
        self._take_values()
        self._fill()
        start = len(self.values)
        added = self._entries[start:]
        values = [entry.registers for entry in added]
        self.values += values
        self.dwords += sum(map(len, values))
        ends = [end for end, entry in enumerate(added, start + 1) if entry.has_draw]
        self.action_ends.extend(sorted(ends + self._acted))
        self._acted.clear()

    def stop(self) -> None:
        """Add nothing from now on."""
        self._most, self._make_room = -1, _do_nothing
        self.most_entries = sys.maxsize
        self._last, self._unchecked = None, -1
        self.at_action = self._passes.owner_changed = None

    # -- entries --------------------------------------------------------------------------------

    def source(self, entry: int, is_kept: bool = False) -> WriteSource:
        """What finds the writes of an entry. ``is_kept``: the same object each time."""
        found, circumstances = self._entries[entry], self._circumstances[entry]
        stored = found.source if isinstance(found, _Noted) else found
        if circumstances is None:
            return cast("WriteSource", stored)
        source = StoredWrites(cast("StoredRegisters", stored), *circumstances)
        if is_kept:
            self._entries[entry] = _Noted(self.values[entry], source)
            self._circumstances[entry] = None
        return source

    def entries_of(self, dwords: int) -> int:
        """How many entries, from the first one on, have no more dwords together."""
        return bisect_right([*accumulate(map(len, self.values))], dwords)

    def join_between(self, ends: Iterable[int], most: int) -> list[int]:
        """Join those that come before each of ``ends``, where they are more than ``most``.

        ``ends``: numbers of entries, rising. Returns what they are then. All entries are settled.
        """
        entries, values, circumstances = self._entries[:], self.values, self._circumstances
        self.values, self._circumstances = [], []
        self._entries.clear()
        start, found = 0, []
        for end in (*ends, len(values)):
            self._entries += entries[start:end]
            self.values += values[start:end]
            self._circumstances += circumstances[start:end]
            if end - start > most:
                self._join_from(len(self.values) - (end - start))
            found.append(len(self.values))
            start = end
        return found[:-1]

    def _join_from(self, first: int) -> None:
        """Make one entry of the last ones: the last write of each register."""
        changes = [(self.values[at], self.source(at)) for at in range(first, len(self.values))]
        values, source = joined(changes)
        self.dwords += len(values) - sum([len(change[0]) for change in changes])
        self.values[first:] = [values]
        self._entries[first:] = [_Noted(values, source)]
        self._circumstances[first:] = [None]

    def release(self, end: int) -> None:
        """Forget the entries before this one, which is the first one then."""
        for entries in (self.values, self._entries, self._circumstances):
            del entries[:end]
        self._unchecked = 0
