# SPDX-License-Identifier: MIT
"""Pages of a draw of an Intel capture: its state, what it has bound, its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.api.capture import Capture
    from cffpy.api.intel import Intel, IntelState
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.draw_state import SetValue


class IntelRow(NamedTuple):
    """A slot or a register at a draw, as text; the members of ``StateRow``."""

    name: str
    value: str
    decoded: str
    written_by: str
    other: str
    fields: tuple[tuple[str, str, str], ...]


def state_rows(
    capture: Capture, intel: Intel, draw: Action, changed: bool, this_pass: bool
) -> list[IntelRow]:
    """What holds at a draw; ``changed``: since the draw before; ``this_pass``: set in its pass."""
    draws = list(capture.draws)
    index = next((number for number, one in enumerate(draws) if one is draw), 0)
    first = draws[index - 1] if index and changed else draw
    *before, state = intel.states([first, draw]) if first is not draw else intel.states([draw])
    known = {one.name: one.words for one in before[0].values()} if before else {}
    return [
        _row(state, one)
        for one in state.values()
        if not (changed and before and known.get(one.name, ()) == one.words)
        and not (this_pass and state.origin(one) != "this pass")
    ]


def _row(state: IntelState, one: SetValue) -> IntelRow:
    database = state.model.state.database
    fields = (
        (field.name, f"{field.high}:{field.low}", visible(field.text))
        for field in one.fields(database)
    )
    value = "" if one.offset is None else "?" if one.value is None else f"{one.value:#x}"
    place = f"{one.command.name}, {one.command.place}"
    return IntelRow(one.name, value, one.text(database), place, "", tuple(fields))


def binding_lines(intel: Intel, draw: Action) -> list[str]:
    """Kernels, tables, sets, samplers and buffers of a draw."""
    return [visible(line) for line in intel.states([draw])[0].uses_lines()]


def field_lines(capture: Capture, draw: Action, most: int) -> list[str]:
    """The lines of ``cffpy lines`` of a draw, without the columns that are the same in all."""
    found: list[str] = []

    def take(text: str) -> None:
        if len(found) < most:
            found.extend(_shown(text))

    capture.write_lines(take, scope=capture.scope(draw.name or f"#{draw.dump_draw}"))
    return found


def _shown(text: str) -> Iterator[str]:
    for line in text.splitlines():
        columns = line.split("\t")
        yield f"{columns[3]} {columns[7]}: {columns[8]} = {columns[10]}"
