# SPDX-License-Identifier: MIT
"""Registers whose writes are commands (HLSQ_INVALIDATE_CMD): each write before an action, in order.

Each write has an effect, also where a later one follows before the draw. Which registers these
are, the descriptions say (role ``command``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.pm4.reader import OPCODE, REGISTERS, Payload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.register_store.writes import Change, WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.frame.places import PacketLocation
    from cffpy.frame.register_write import RegisterWrite


class CommandWrite(NamedTuple):
    """One write of such a register. ``value`` is None where only the GPU knows it."""

    register: int
    value: int | None
    write: RegisterWrite


class CommandReader:
    """Reads such writes among the changes of registers."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    @property
    def registers(self) -> frozenset[int]:
        """The registers whose writes are commands."""
        return self._walk.machine.database.commands

    def of(self, changes: Iterable[Change]) -> Iterator[CommandWrite]:
        """Each write, in order.

        Of a packet that loads the register from elsewhere, the value is the one after all changes.
        """
        for change in changes:
            yield from self.of_change(*change)

    def of_change(self, values: dict[int, int], source: WriteSource) -> Iterator[CommandWrite]:
        """The writes of commands that a change has, in order."""
        commands = self.registers & values.keys()
        if not commands:
            return
        for write in source.in_order(values, commands):
            written = self._written(write.place)
            pairs = [(register, value) for register, value in written if register in commands]
            for register, value in pairs or (
                (command, values[command]) for command in sorted(commands)
            ):
                yield CommandWrite(register, None if value == UNKNOWN else value, write)

    def _written(self, place: PacketLocation) -> Iterable[tuple[int, int]]:
        """(Register, value) of a packet; nothing of one that does not have the values itself."""
        words, index = place._words, place._index
        kind, number, size = self._walk.machine.headers[words.data[index]]
        if kind == REGISTERS:
            return enumerate(words.data[index + 1 : index + size].tolist(), number)
        if kind == OPCODE:
            payload = Payload(words, index + 1, size - 1)
            return self._walk.machine.packet_writes(number, payload) or ()
        return ()
