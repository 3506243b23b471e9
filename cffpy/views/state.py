# SPDX-License-Identifier: MIT
"""Registers at a draw and the packets that wrote them: as lines, as a document, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document, facts_documents
from cffpy.frame.places import name_of, names_text, tile_text
from cffpy.frame.register_write import WrittenRegister
from cffpy.regdb.ports import offset_of
from cffpy.regdb.register_text import RegisterText
from cffpy.views.model_documents import csv_columns, csv_rows
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.register_store.inheritance import Inherited
    from cffpy.analysis.register_store.state import State
    from cffpy.frame.action import Action
    from cffpy.frame.field import FieldValue

SCHEMA = "cffpy.state/1"
#: Of the states at several draws.
STATES_SCHEMA = "cffpy.states/1"
INHERITED_SCHEMA = "cffpy.inherited/1"


def heading(action: Action) -> str:
    """What the state is of, in one line."""
    names = names_text(action)
    parts = [f"draw {names}"] if names else []
    if action.number is None and action.pass_index is not None:
        parts.append(f"pass {action.pass_index}")
    if action.binning:
        parts.append("binning run")
    elif action.tile_number is not None:
        parts.append(f"tile {tile_text(action)}")
    if action.pipe in ("BV", "unknown"):
        parts.append(f"pipe {action.pipe}")
    parts.append(action.primitive or action.packet)
    parts.append(str(action.place))
    return ", ".join(parts)


class StateDocument(TypedDict):
    """Registers at a draw: cffpy state --json."""

    draw: Annotated[Facts, "the draw", Of("cffpy.frame.action:Action")]
    registers: Annotated[
        list[Facts], "the registers, by offset", Of("cffpy.frame.register_write:WrittenRegister")
    ]


class StatesDocument(TypedDict):
    """Registers at several draws: cffpy state --where --json."""

    states: Annotated[Iterable[StateDocument], "the draws with their registers"]


class InheritedState(StateDocument):
    """The first draw of a submit, with the registers of earlier submits in force."""

    submit: Annotated[int, "number of the submit"]


class InheritedDocument(TypedDict):
    """Registers of earlier submits at the first draw of each: cffpy draws --inherited --json."""

    submits: Annotated[list[InheritedState], "the submits"]


def lines(state: State, registers: Iterable[int]) -> Iterator[str]:
    """A line for each register: value, name, fields; then where it was written."""
    text = RegisterText(state.database)
    yield Styled(heading(state.action))
    for now, register in _each_write(state, text.listed(registers)):
        value = _value(text, now, register)
        width = 16 if text.is_wide(register) else 8
        digits = "unknown".ljust(width) if value is None else f"{value:0{width}x}"
        yield f"{digits}  {text.name(register)}: {_decoded(text, now, register)}"
        write = now.writes.get(register)
        if write is None:
            continue
        origin = write.origin(state.action)
        is_conditional = write.executed.is_unknown
        condition = f", conditional: {write.condition}" if is_conditional else ""
        pipe = "" if write.pipe == state.action.pipe else f", pipe {write.pipe or 'not said'}"
        yield f"          {origin}: {write.place}{condition}{pipe}"
        if write.patched_by is not None:
            yield f"          stored there by CP_MEM_WRITE: {write.patched_by}"
        for place in write.computed_from:
            yield f"          computed from: {place}"


def registers_at(state: State, registers: Iterable[int]) -> Iterator[WrittenRegister]:
    """Each register with its value and its write; one whose writes are commands for each."""
    name = name_of(state.action)
    draw = None if name is None else str(name)
    text = RegisterText(state.database)
    for now, register in _each_write(state, text.listed(registers)):
        write = now.writes.get(register)
        yield WrittenRegister(
            draw,
            text.name(register),
            offset_of(register),
            64 if text.is_wide(register) else 32,
            _value(text, now, register),
            _pair_value(text, now, register),
            _decoded(text, now, register),
            _fields(text, now, register),
            None if write is None else write.origin(state.action),
            write,
        )


def columns() -> list[str]:
    """The columns of ``rows``."""
    return csv_columns(WrittenRegister)


def rows(state: State, registers: Iterable[int]) -> Iterator[list[object]]:
    """A row for each register, with the columns of the model."""
    return csv_rows(registers_at(state, registers))


def document(state: State, registers: Iterable[int]) -> StateDocument:
    """The draw, and each register with its value and its write."""
    return {
        "draw": facts_document(state.action),
        "registers": list(items(state, registers)),
    }


def items(state: State, registers: Iterable[int]) -> Iterator[dict[str, Any]]:
    """The objects of ``registers`` of the document."""
    return facts_documents(registers_at(state, registers))


def inherited_lines(found: Iterable[Inherited]) -> Iterator[str]:
    """For each submit what its first draw sees of earlier ones."""
    for one in found:
        text = RegisterText(one.state.database)
        listed = text.listed(one.registers)
        yield f"submit {one.submit}: {len(listed)} registers of earlier submits in force at"
        yield f"  {heading(one.state.action)}"
        for register in listed:
            write = one.state.writes[register]
            yield f"  {text.name(register)}: {_decoded(text, one.state, register)}"
            yield f"    submit {write.place.submit.submit}: {write.place}"


def inherited_document(found: Iterable[Inherited]) -> InheritedDocument:
    """The same for JSON."""
    return {
        "submits": [{"submit": one.submit, **document(one.state, one.registers)} for one in found]
    }


def _each_write(state: State, registers: Iterable[int]) -> Iterator[tuple[State, int]]:
    """Each register with its state; one whose writes are commands, with that after each write."""
    for register in registers:
        for _, value, write in state.commands.get(register, ())[:-1]:
            values = {} if value is None else {register: value}
            yield replace(state, registers=values, writes={register: write}), register
        yield state, register


def _value(text: RegisterText, state: State, register: int) -> int | None:
    """The value, of both dwords of a 64-bit register; None where a dword of it is unknown."""
    dwords = (register, register + 1) if text.is_wide(register) else (register,)
    if any(dword in state.writes and dword not in state.registers for dword in dwords):
        return None
    return text.value(register, state.registers) if register in state.registers else None


def _pair_value(text: RegisterText, state: State, register: int) -> int | None:
    """The 64-bit value of a pair that is described as two registers, ``X_LO`` and ``X_HI``.

    None for any register but a ``X_LO``, and where one of the two is unknown.
    """
    name, registers = text.name(register), state.registers
    if not name.endswith("_LO") or text.name(register + 1) != f"{name[:-3]}_HI":
        return None
    if register not in registers or register + 1 not in registers:
        return None
    return registers[register] | registers[register + 1] << 32


def _decoded(text: RegisterText, state: State, register: int) -> str:
    if _value(text, state, register) is None:
        return "only the GPU knows"
    return text.text(register, state.registers)


def _fields(text: RegisterText, state: State, register: int) -> dict[str, FieldValue]:
    """The fields of a bitset by name; none of another register or an unknown value."""
    if _value(text, state, register) is None:
        return {}
    return {field.name: field for field in text.field_values(register, state.registers)}
