# SPDX-License-Identifier: MIT
"""What changes from one record to the next where the pipes BR and BV execute them in turn.

Records are compared in the order of the stream, and each has the registers of the pipe that
executes it. Where that is another pipe than for the record before, the changes are those that lead
from the registers of the one pipe to those of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cffpy.analysis.register_store.writes import joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cffpy.analysis.register_store.writes import Change, WriteSource

#: Changes since the last record that are kept before they are joined.
MAX_CARRIED = 4096

#: Whose registers an action has; None: the pipes have had the same ones so far.
Reader = Literal["BR", "BV"] | None

_NOBODY: frozenset[int] = frozenset()


class _Registers:
    """The registers of one pipe, what finds the write of each, and the last changes."""

    def __init__(self) -> None:
        self.values: dict[int, int] = {}
        self.sources: dict[int, WriteSource] = {}
        #: Since the last record, whichever pipe has executed that.
        self.changes: list[Change] = []

    def write(self, changes: list[Change]) -> None:
        """Go on to what these changes write."""
        for values, source in changes:
            self.values.update(values)
            self.sources.update(dict.fromkeys(values, source))
        self.changes += changes
        if len(self.changes) > MAX_CARRIED:
            self.changes = [joined(self.changes)]


class PipeChanges:
    """Follows the registers of both pipes through the actions that a recorder takes."""

    def __init__(self) -> None:
        self._registers = {"BR": _Registers(), "BV": _Registers()}
        #: Whose registers the last record has.
        self._reader: Reader = None

    def note(self, reader: Reader, changes: list[Change]) -> None:
        """An action has these changes since the last one with the registers of the same pipe."""
        for pipe, registers in self._registers.items():
            if reader in (None, pipe):
                registers.write(changes)

    def take(self, reader: Reader, changes: list[Change]) -> tuple[list[Change], frozenset[int]]:
        """The changes at an action with a record, and registers that its pipe never wrote."""
        before = self._registers[self._reader or reader or "BR"]
        now = self._registers[reader or "BR"]
        if before is now:
            self.note(reader, changes)
            found, gone = now.changes, _NOBODY
        else:
            unseen = {register for values, _ in before.changes for register in values}
            self.note(reader, changes)
            found = [*_leading_to(now, before, unseen), *changes]
            gone = frozenset(before.values.keys() - now.values.keys())
        for registers in self._registers.values():
            registers.changes = []
        self._reader = reader
        return found, gone


def _leading_to(now: _Registers, before: _Registers, unseen: Collection[int]) -> Iterator[Change]:
    """What leads from the registers of one pipe to those of the other.

    ``unseen``: what the former has written since its last record.
    """
    values, sources, last = now.values, now.sources, before.values
    moved = [one for one, value in values.items() if one in unseen or last.get(one) != value]
    if moved:
        yield joined(({one: values[one]}, sources[one]) for one in moved)
