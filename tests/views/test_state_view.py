# SPDX-License-Identifier: MIT
"""Values of registers in the documents and tables of cffpy state."""

from __future__ import annotations

import pytest

from cffpy.analysis.register_store.history import State
from cffpy.analysis.register_store.register_state import LoggedState
from cffpy.frame.execution import Executed
from cffpy.frame.register_write import RegisterWrite
from cffpy.regdb.database import Database
from cffpy.regdb.rows import REGISTER
from cffpy.views.state import columns, lines, rows
from tests.selection import first_always
from tests.views.diff_html.comparisons import draw, place


def state(chip: str, values: dict[str, int], *upper: int) -> State:
    """Registers by name; ``upper``: their upper dwords, in the same order."""
    database = Database.open(chip)
    registers = {}
    for (name, value), high in zip(values.items(), upper or (None,) * len(values), strict=True):
        register = database.register_offset(name)
        registers[register] = value
        if high is not None:
            registers[register + 1] = high
    return State(draw(0), database, registers, {})


def first(found: State) -> tuple[dict[str, object], dict[str, object], str]:
    """The first register as JSON, as CSV and as a line."""
    state = LoggedState.of(found)
    values = list(state.values_of(found.registers))
    row = next(iter(rows(values)))
    (register, *_) = state.document(values)["registers"]
    return (
        register,
        dict(zip(columns(), row, strict=True)),
        list(lines(state, values))[1],
    )


@pytest.mark.parametrize("chip", first_always(["A5XX", "A6XX", "A7XX"]))
def test_every_64_bit_register_has_its_whole_value(chip: str) -> None:
    database = Database.open(chip)
    elements = (database.domain(database.register_domains[0]) or ((), None))[0]
    names = [row[1] for row in elements if row[0] == REGISTER and row[6] == 2 and row[2] is None]
    assert names or chip == "A5XX"
    for name in names:
        if database.register_offset(name):
            register, row, line = first(state(chip, {name: 0x89ABCDEF}, 0x1234))
            assert (register["value"], row["value"]) == (0x123489ABCDEF, "0x123489abcdef"), name
            assert line.startswith("0000123489abcdef  "), name


def test_two_registers_that_are_a_pair() -> None:
    register, row, _line = first(state("A5XX", {"RB_MRT[0].BASE_LO": 0x10, "RB_MRT[0].BASE_HI": 5}))
    assert (register["value"], register["pair_value"]) == (0x10, 0x500000010)
    assert (row["value"], row["pair_value"]) == ("0x10", "0x500000010")
    register, row, _line = first(state("A5XX", {"RB_MRT[0].BASE_LO": 0x10}))
    assert register["pair_value"] is row["pair_value"] is None, "the other half is unknown"


def test_half_unknown_is_unknown() -> None:
    found = state("A6XX", {"RB_MRT[0].BASE": 1})
    (base,) = found.registers
    write = RegisterWrite(place(), str, None, Executed.YES)
    writes = {**found.writes, base + 1: write}
    found = State(found.action, found.database, found.registers, writes)
    register, row, line = first(found)
    assert register["value"] is row["value"] is None
    assert register["fields"] == {}
    assert line.startswith("unknown")
