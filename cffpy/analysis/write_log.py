# SPDX-License-Identifier: MIT
"""WriteLog: all writes of registers in a walk, in order, as flat lists.

Most writes of a walk come as ``StoredRegisters``, which exist anyway, also while streams run again.
So an entry is a reference to their dictionary, one to them, and one to circumstances, which many
entries share. What finds the packets, ``StoredWrites``, is made when it is asked for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, cast

from cffpy.analysis.provenance import UNKNOWN, PacketCollector, StoredWrites, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cffpy.analysis.conditions import Executed
    from cffpy.analysis.packet_location import PacketLocation, Stream
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import Pass, PassRun
    from cffpy.analysis.provenance import WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.cp.stored import StoredRegisters

#: Entries whose values are not known, at most: until then, their dwords are not counted.
_MAX_UNSETTLED = 256


def _do_nothing() -> None:
    """Make no room."""


class _Circumstances(NamedTuple):
    """What ``StoredWrites`` needs besides the registers."""

    stream: Stream
    caller: PacketLocation | None
    owner: Pass | PassRun | None
    executed: Executed
    condition: str | None


class WriteLog(PacketCollector):
    """Entries in the order of execution. If any are ``unsettled``, call ``settle`` at an action."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        #: Of each entry, register -> value, or UNKNOWN; do not change them, they are shared.
        self.values: list[dict[int, int]] = []
        #: Dwords of all entries, and of those that were released.
        self.dwords = 0
        #: Of each entry: what finds the writes; or what was stored, and its circumstances.
        self._sources: list[WriteSource | StoredRegisters] = []
        self._circumstances: list[_Circumstances | None] = []
        self._last: _Circumstances | None = None
        #: Entries whose values are not known yet.
        self.unsettled: list[int] = []
        #: If there are more dwords, this is called before anything is added.
        self._most = sys.maxsize
        self._make_room: Callable[[], None] = _do_nothing

    def call_when_full(self, most: int, make_room: Callable[[], None]) -> None:
        """Have ``make_room`` called when anything is added to more dwords than ``most``.

        If there are more all the same, it is not added.
        """
        self._most, self._make_room = most, make_room

    # -- while the machine runs -----------------------------------------------------------------

    def registers_stored(
        self, stored: StoredRegisters, stream: Stream, caller: PacketLocation | None
    ) -> None:
        """Add what was stored: most writes of a walk come here."""
        values = self.values
        if self._patches or self.dwords > self._most:
            super().registers_stored(stored, stream, caller)
            return
        walk, owner, last = self._walk, self._passes.owner, self._last
        executed, condition = walk.executed, walk.condition
        if (
            last is None
            or last.stream is not stream
            or last.owner is not owner
            or last.caller is not caller
            or last.executed is not executed
            or last.condition != condition
        ):
            last = self._last = _Circumstances(stream, caller, owner, executed, condition)
        self._together = None
        for part in stored.parts if stored.has_parts else (stored.registers,):
            if part:
                self.dwords += len(part)
                values.append(part)
                self._sources.append(stored)
                self._circumstances.append(last)

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Add a write."""
        self._together = None
        if self.dwords > self._most:
            self._make_room()
            if self.dwords > self._most:
                return
        if isinstance(registers, dict):  # stored, so that all values are known
            self.dwords += len(registers)
        else:
            if len(self.unsettled) >= _MAX_UNSETTLED:
                self.settle()
            self.unsettled.append(len(self.values))
        self.values.append(cast("dict[int, int]", registers))
        self._sources.append(source)
        self._circumstances.append(None)

    def settle(self) -> None:
        """Take the values of what was written since the last call."""
        get = self._walk.machine.state.registers.get
        self._together = None
        for entry in self.unsettled:
            taken = {register: get(register, UNKNOWN) for register in self.values[entry]}
            self.values[entry] = taken
            self.dwords += len(taken)
        self.unsettled.clear()

    def stop(self) -> None:
        """Add nothing from now on."""
        self._most, self._make_room = -1, _do_nothing

    # -- entries --------------------------------------------------------------------------------

    def source(self, entry: int, is_kept: bool = False) -> WriteSource:
        """What finds the writes of an entry. ``is_kept``: the same object each time."""
        found, circumstances = self._sources[entry], self._circumstances[entry]
        if circumstances is None:
            return cast("WriteSource", found)
        source = StoredWrites(cast("StoredRegisters", found), *circumstances)
        if is_kept:
            self._sources[entry], self._circumstances[entry] = source, None
        return source

    def join_between(self, ends: Iterable[int], most: int) -> list[int]:
        """Join those that come before each of ``ends``, where they are more than ``most``.

        ``ends``: numbers of entries, rising. Returns what they are then. All entries are settled.
        """
        values, sources, circumstances = self.values, self._sources, self._circumstances
        self.values, self._sources, self._circumstances = [], [], []
        start, found = 0, []
        for end in (*ends, len(values)):
            self.values += values[start:end]
            self._sources += sources[start:end]
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
        self._sources[first:] = [source]
        self._circumstances[first:] = [None]

    def release(self, end: int) -> None:
        """Forget the entries before this one, which is the first one then."""
        for entries in (self.values, self._sources, self._circumstances):
            del entries[:end]
