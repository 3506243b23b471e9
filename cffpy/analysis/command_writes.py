# SPDX-License-Identifier: MIT
"""Registers whose writes are commands (HLSQ_INVALIDATE_CMD): each write before an action, in order.

Each write has an effect, also where a later one follows before the draw. Which registers these
are, the descriptions say (role ``command``; register_db/README.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.provenance import UNKNOWN, CommandWrite
from cffpy.cp.payload import Payload
from cffpy.pm4.reader import OPCODE, REGISTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.provenance import Change, ChangeLog, WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action
    from cffpy.frame.place import PacketLocation


class CommandReader:
    """Reads such writes among the changes of registers, while the walk runs."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    def of(self, changes: Iterable[Change]) -> Iterator[CommandWrite]:
        """Each write, in order.

        Of a packet that loads the register from elsewhere, the value is the one after all changes.
        """
        for change in changes:
            yield from self.of_change(*change)

    def of_change(self, values: dict[int, int], source: WriteSource) -> Iterator[CommandWrite]:
        """Those of one change."""
        commands = self._walk.machine.database.commands & values.keys()
        if not commands:
            return
        for write in source.in_order(values, commands):
            pairs = [one for one in self._written(write.place) if one[0] in commands]
            for register, value in pairs or ((one, values[one]) for one in sorted(commands)):
                yield CommandWrite(register, None if value == UNKNOWN else value, write)

    def _written(self, place: PacketLocation) -> Iterable[tuple[int, int]]:
        """(Register, value) of a packet; nothing of one that does not have the values itself."""
        words, index = place.words, place.index
        kind, number, size = self._walk.machine.headers[words.data[index]]
        if kind == REGISTERS:
            return enumerate(words.data[index + 1 : index + size].tolist(), number)
        if kind == OPCODE:
            payload = Payload(words, index + 1, size - 1)
            return self._walk.machine.packet_writes(number, payload) or ()
        return ()


class CommandWrites(Observer):
    """The writes of such registers before an action, since the action before it."""

    is_tracker = True

    def __init__(self, walk: Walk, log: ChangeLog) -> None:
        """``log`` observes the same walk; nobody else takes its changes."""
        self._log = log
        self._reader = CommandReader(walk)
        self._now: dict[int, list[CommandWrite]] = {}

    def now(self) -> dict[int, list[CommandWrite]]:
        """By register; before the last action that was published."""
        return self._now

    def action(self, action: Action) -> None:
        """Collect what was written before it."""
        self._now = {}
        for one in self._reader.of(self._log.take()):
            self._now.setdefault(one.register, []).append(one)


class AllCommandWrites(Observer):
    """The same of all actions that are executed."""

    def __init__(self, walk: Walk, writes: CommandWrites) -> None:
        self._walk = walk
        self._writes = writes
        self._count = 0
        #: By ``Action.order``; without actions that have none before them.
        self.before: dict[int, dict[int, list[CommandWrite]]] = {}

    def action(self, action: Action) -> None:
        """Keep what was written before it."""
        found = self._writes.now()
        if not found or not action.execution.is_possible:
            return
        self._count += sum(map(len, found.values()))
        if self._count <= self._walk.machine.limits.elements:
            self.before[action.order] = found
        else:
            text = "the writes of command registers are kept of the first draws only"
            self._walk.machine.problems.truncate("elements", text)
