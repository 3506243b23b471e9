# SPDX-License-Identifier: MIT
"""State: all registers at one action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cffpy.analysis.register_store.writes import UNKNOWN

if TYPE_CHECKING:
    from cffpy.analysis.command_writes import CommandWrite
    from cffpy.analysis.register_store.log import RegisterLog
    from cffpy.frame.action import Action
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.regdb.database import Database


@dataclass(slots=True)
class State:
    """All registers at an action: values as dwords, and what wrote each.

    A register with a write but no value was filled by the GPU: its value is unknown.
    """

    action: Action
    database: Database
    registers: dict[int, int]
    writes: Mapping[int, RegisterWrite]
    #: Of registers whose writes are commands: all of them since the action before.
    commands: Mapping[int, Sequence[CommandWrite]] = field(default_factory=dict)

    @property
    def written(self) -> list[int]:
        """All registers that were written, also those whose value is unknown."""
        return [*self.registers, *(other for other in self.writes if other not in self.registers)]


class LoggedWrites(Mapping[int, "RegisterWrite"]):
    """Register -> its write, found in a log when it is asked for."""

    __slots__ = ("_entries", "_log")

    def __init__(self, entries: dict[int, int], log: RegisterLog) -> None:
        """``entries``: register -> number of the entry that has its write."""
        self._entries = entries
        self._log = log

    def __getitem__(self, register: int) -> RegisterWrite:
        return self._log.source(self._entries[register], is_kept=True).of(register)

    def __contains__(self, register: object) -> bool:
        return register in self._entries

    def __iter__(self) -> Iterator[int]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class RegisterMap(Mapping[int, "int | None"]):
    """All dwords at an action: number -> value, None where only the GPU knows it."""

    __slots__ = ("__weakref__", "_hash", "values_by_number")

    #: The same, with UNKNOWN in place of None. Do not change it.
    values_by_number: dict[int, int]

    def __init__(self, values: dict[int, int]) -> None:
        """``values``: UNKNOWN for what only the GPU knows. They are not changed any more."""
        self.values_by_number = values
        self._hash = hash(frozenset(values.items()))

    def __getitem__(self, number: int) -> int | None:
        value = self.values_by_number[number]
        return None if value == UNKNOWN else value

    def __contains__(self, number: object) -> bool:
        return number in self.values_by_number

    def __iter__(self) -> Iterator[int]:
        return iter(self.values_by_number)

    def __len__(self) -> int:
        return len(self.values_by_number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RegisterMap):
            return NotImplemented
        return self is other or (
            self._hash == other._hash and self.values_by_number == other.values_by_number
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<RegisterMap: {len(self)} dwords>"
