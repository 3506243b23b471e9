# SPDX-License-Identifier: MIT
"""The state at draws as values with fields: instructions that set state, and registers.

A slot's value is the instruction that set it, with its fields; that of a register is a dword.
"""

from __future__ import annotations

from typing import NamedTuple

from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.field_values import field_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.field import FieldValue
    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.analysis.survey import Survey, SurveyWalk
    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Group

#: Values at draws that are kept: a limit for hostile captures.
_MAX_SPANS = 1 << 22


class SetValue(NamedTuple):
    """What a slot or a register holds.

    ``name``: of the slot, as in ``3DSTATE_SO_BUFFER[1]``, or of the register. ``offset``: of a
    register, in bytes. ``words``: the dwords; None where only the GPU knows them. ``command``: the
    instruction that set it.
    """

    name: str
    offset: int | None
    words: tuple[int, ...] | None
    command: Instruction
    group: Group | None

    def fields(self, database: Database) -> list[FieldValue]:
        """Its fields; none where it is unknown or has no description."""
        if self.words is None or self.group is None:
            return []
        return list(field_values(database, self.group, self.words))

    @property
    def value(self) -> int | None:
        """The dword of a register; None for a slot, and where only the GPU knows it."""
        return None if self.offset is None or self.words is None else self.words[0]

    def text(self, database: Database) -> str:
        """Its fields in one line; of a register without any the dword."""
        if self.words is None:
            return "only the GPU knows"
        fields = [f"{one.name} = {one.text}" for one in self.fields(database)]
        if not fields and self.value is not None:
            return f"{self.value:#010x}"
        return f"{{ {' | '.join(fields)} }}" if fields else "{}"


class Span(NamedTuple):
    """A value, and the program's draws at which it holds, by their position among all of them."""

    held: SetValue
    first: int
    last: int


def slot_value(slot: str, command: Instruction) -> SetValue:
    """The value of a slot."""
    return SetValue(slot, None, command.words, command, command.group)


def register_value(
    database: Database, offset: int, value: int | None, command: Instruction
) -> SetValue:
    """The value of a register at an offset in bytes."""
    register = database.register_at(offset)
    name = f"{offset:#x}" if register is None else register.name
    return SetValue(name, offset, None if value is None else (value,), command, register)


def values_of(state: State) -> Iterator[SetValue]:
    """All that is set: slots by name, then registers by offset."""
    for slot, command in sorted(state.slots.items()):
        yield slot_value(slot, command)
    for offset, (value, writer) in sorted(state.registers.items()):
        yield register_value(state.database, offset, value, writer)


class StateSpans:
    """What holds at the program's draws: ``spans``, in the order in which they end.

    ``survey``: what else the run has found. ``is_cut``: a limit left out spans.
    """

    def __init__(self, content: Content, directory: str | None) -> None:
        self.spans: list[Span] = []
        self.is_cut = False
        self._draws = 0
        #: What holds since which draw: slots by name, registers by offset.
        self._slots: dict[str, tuple[int, Instruction]] = {}
        self._registers: dict[int, tuple[int, int | None, Instruction]] = {}
        self._database: Database | None = None
        self.survey: Survey = survey(content, directory, self._take)
        self._finish()

    @property
    def database(self) -> Database | None:
        """The descriptions of the GPU; None where no draw was run."""
        return self._database

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans)

    def _take(self, walk: SurveyWalk, action: Action, _command: Instruction) -> bool:
        if is_program(action) and action.pass_index is not None:
            self._database = walk.database
            self._compare(walk.state, self._draws)
            self._draws += 1
        return False

    def _compare(self, state: State, draw: int) -> None:
        known = self._slots
        for slot, command in state.slots.items():
            held = known.get(slot)
            if held is not None and (held[1] is command or held[1].words == command.words):
                continue
            if held is not None:
                self._add(slot_value(slot, held[1]), held[0], draw - 1)
            known[slot] = draw, command
        for offset, (value, writer) in state.registers.items():
            before = self._registers.get(offset)
            if before is not None and before[1] == value:
                continue
            if before is not None:
                self._add(register_value(state.database, offset, *before[1:]), before[0], draw - 1)
            self._registers[offset] = draw, value, writer

    def _add(self, held: SetValue, first: int, last: int) -> None:
        if len(self.spans) < _MAX_SPANS:
            self.spans.append(Span(held, first, last))
        else:
            self.is_cut = True

    def _finish(self) -> None:
        """What holds at the last draw."""
        database = self._database
        if database is None:
            return
        last = self._draws - 1
        for slot, (first, command) in self._slots.items():
            self._add(slot_value(slot, command), first, last)
        for offset, (first, value, writer) in self._registers.items():
            self._add(register_value(database, offset, value, writer), first, last)
        self.spans.sort(key=lambda one: (one.held.name, one.first))
