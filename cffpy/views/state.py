# SPDX-License-Identifier: MIT
"""Registers at a draw and the packets that wrote them: as lines, as a document, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cffpy.analysis.register_store.register_state import RegisterState, StateDocument, StateValue
from cffpy.frame.faces import facts_documents
from cffpy.frame.places import names_text, tile_text
from cffpy.regdb.register_text import RegisterText
from cffpy.views.model_documents import csv_columns, csv_rows
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.register_store.store import Inherited
    from cffpy.frame.action import Action

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


class StatesDocument(TypedDict):
    """Registers at several draws: cffpy state --where --json."""

    states: Annotated[Iterable[StateDocument], "the draws with their registers"]


class InheritedState(StateDocument):
    """The first draw of a submit, with the registers of earlier submits in force."""

    submit: Annotated[int, "number of the submit"]


class InheritedDocument(TypedDict):
    """Registers of earlier submits at the first draw of each: cffpy draws --inherited --json."""

    submits: Annotated[list[InheritedState], "the submits"]


def lines(state: RegisterState, registers: Iterable[int]) -> Iterator[str]:
    """A line for each register: value, name, fields; then where it was written."""
    action = state.action
    yield Styled(heading(action))
    for value in state.values_of(registers):
        number, width = value.value, value.bits // 4
        digits = "unknown".ljust(width) if number is None else f"{number:0{width}x}"
        yield f"{digits}  {value.name}: {value.text}"
        write = value.written_by
        if write is None:
            continue
        is_conditional = write.executed.is_unknown
        condition = f", conditional: {write.condition}" if is_conditional else ""
        pipe = "" if write.pipe == action.pipe else f", pipe {write.pipe or 'not said'}"
        yield f"          {write.origin(action)}: {write.place}{condition}{pipe}"
        if write.patched_by is not None:
            yield f"          stored there by CP_MEM_WRITE: {write.patched_by}"
        for place in write.computed_from:
            yield f"          computed from: {place}"


def columns() -> list[str]:
    """The columns of ``rows``."""
    return csv_columns(StateValue)


def rows(state: RegisterState, registers: Iterable[int]) -> Iterator[list[object]]:
    """A row for each register, with the columns of the model."""
    return csv_rows(state.values_of(registers))


def items(state: RegisterState, registers: Iterable[int]) -> Iterator[dict[str, Any]]:
    """The objects of ``registers`` of the document."""
    return facts_documents(state.values_of(registers))


def inherited_lines(found: Iterable[Inherited]) -> Iterator[str]:
    """For each submit what its first draw sees of earlier ones."""
    for one in found:
        state = RegisterState.of(one.state)
        listed = RegisterText(state.database).listed(one.registers)
        yield f"submit {one.submit}: {len(listed)} registers of earlier submits in force at"
        yield f"  {heading(state.action)}"
        for register in listed:
            value, write = state.at(register), one.state.writes[register]
            yield f"  {value.name}: {value.text}"
            yield f"    submit {write.submit}: {write.place}"


def inherited_document(found: Iterable[Inherited]) -> InheritedDocument:
    """The same for JSON."""
    return {
        "submits": [
            {"submit": one.submit, **RegisterState.of(one.state).document(one.registers)}
            for one in found
        ]
    }
