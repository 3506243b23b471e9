# SPDX-License-Identifier: MIT
"""Registers at a draw and the packets that wrote them: as lines, as a document, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict, cast

from cffpy.analysis.register_store.register_state import LoggedState
from cffpy.document_types import Facts, FactsOf, Of
from cffpy.frame.faces import facts_documents
from cffpy.frame.places import names_text, tile_text
from cffpy.frame.register_state import RegisterState, StateValue, with_commands
from cffpy.views.model_documents import csv_columns, csv_rows
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.register_store.store import Inherited
    from cffpy.frame.action import Action
    from cffpy.frame.driver import StateGroup
    from cffpy.frame.register_write import RegisterWrite

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


#: A document has the facts of a state that cost no walk.
_FACTS = FactsOf("cffpy.frame.register_state:RegisterState", without=("written", "changed"))


class StateDocument(TypedDict):
    """Registers at a draw: cffpy state --json."""

    uses: NotRequired[
        Annotated[
            Facts,
            "of an Intel GPU, what no register says",
            Of("cffpy.intel.analysis.draw_state:DrawState"),
        ]
    ]


ShownState = Annotated[StateDocument, _FACTS]


class StatesDocument(TypedDict):
    """Registers at several draws: cffpy state --where --json."""

    states: Annotated[Iterable[ShownState], "the draws with their registers"]


class InheritedState(TypedDict):
    """The first draw of a submit, with the registers of earlier submits in force."""

    submit: Annotated[int, "number of the submit"]


class InheritedDocument(TypedDict):
    """Registers of earlier submits at the first draw of each: cffpy draws --inherited --json."""

    submits: Annotated[list[Annotated[InheritedState, _FACTS]], "the submits"]


def lines(
    state: RegisterState, values: Iterable[StateValue], with_uses: bool = False
) -> Iterator[str]:
    """A line for each register: value, name, fields; then where it was written.

    Of an instruction, and of a structure in memory, a line for each field. ``with_uses``: also what
    no register says.
    """
    action = state.action
    yield Styled(heading(action))
    yield from (f"  {line}" for line in (state.uses_lines() if with_uses else ()))
    for value in with_commands(values):
        has_fields_alone = value.register_offset is None
        yield value.name if has_fields_alone else _number_line(value)
        write = value.written_by
        if write is not None:
            yield from _origin_lines(write, action, value.group)
        if has_fields_alone:
            yield from (f"    {field.name} = {field.text}" for field in value.fields.values())


def _number_line(value: StateValue) -> str:
    number, width = value.value, value.bits // 4
    digits = "unknown".ljust(width) if number is None else f"{number:0{width}x}"
    return f"{digits}  {value.name}: {value.text}"


def _origin_lines(write: RegisterWrite, action: Action, group: StateGroup | None) -> Iterator[str]:
    """Where a value was written."""
    name = "" if group is None or group.name is None else f", {group}"
    condition = f", conditional: {write.condition}" if write.executed.is_unknown else ""
    pipe = "" if write.pipe == action.pipe else f", pipe {write.pipe or 'not said'}"
    yield f"          {write.origin(action)}{name}: {write.place}{condition}{pipe}"
    if write.patched_by is not None:
        yield f"          stored there by CP_MEM_WRITE: {write.patched_by}"
    for place in write.computed_from:
        yield f"          computed from: {place}"


def columns() -> list[str]:
    """The columns of ``rows``."""
    return csv_columns(StateValue)


def rows(values: Iterable[StateValue]) -> Iterator[list[object]]:
    """A row for each register, with the columns of the model."""
    return csv_rows(with_commands(values))


def items(values: Iterable[StateValue]) -> Iterator[dict[str, Any]]:
    """The objects of ``registers`` of the document."""
    return facts_documents(with_commands(values))


def inherited_lines(inherited: Iterable[Inherited]) -> Iterator[str]:
    """For each submit what its first draw sees of earlier ones."""
    for submit in inherited:
        state = LoggedState.of(submit.state)
        values = list(state.values_of(submit.registers))
        yield f"submit {submit.submit}: {len(values)} registers of earlier submits in force at"
        yield f"  {heading(state.action)}"
        for value in values:
            write = submit.state.writes[value.register.number]
            yield f"  {value.name}: {value.text}"
            yield f"    submit {write.submit}: {write.place}"


def inherited_document(inherited: Iterable[Inherited]) -> InheritedDocument:
    """The same for JSON."""
    submits: list[InheritedState] = []
    for submit in inherited:
        state = LoggedState.of(submit.state)
        document = state.document(state.values_of(submit.registers))
        submits.append(cast("InheritedState", {"submit": submit.submit, **document}))
    return {"submits": submits}
