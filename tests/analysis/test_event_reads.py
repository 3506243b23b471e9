# SPDX-License-Identifier: MIT
"""The table of registers that events read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis import event_reads
from cffpy.analysis.event_reads import EVENTS, Row, rows_of
from cffpy.errors import RegisterDbError
from cffpy.regdb.registers import Registers

#: A GPU of each table; a7xx has the table of a6xx.
GPUS = {2: ("200",), 3: ("320",), 4: ("430",), 5: ("530",), 6: ("660", "740")}


@pytest.mark.parametrize("generation", GPUS)
def test_each_register_and_field_of_the_table_is_one_of_a_gpu(generation: int) -> None:
    databases = [cffpy.registers(gpu) for gpu in GPUS[generation]]
    for row in rows_of(generation):
        for name in row.registers:
            assert _is_register(databases, name), name
        fields = [*row.when, *row.unless, row.pointer, row.elements]
        for field in (field for field in fields if isinstance(field, str) and field):
            assert _is_field(databases, field), field


@pytest.mark.parametrize("generation", GPUS)
def test_each_row_says_where_it_is_from_and_no_two_are_of_one_register(generation: int) -> None:
    seen: set[tuple[str, ...]] = set()
    for row in rows_of(generation):
        assert row.source
        assert row.since in ("pass", "submit")
        assert row.effect in ("hang", "pixels", "speed")
        for event in row.events:
            for name in row.registers:
                key = (event, row.kind, name)
                assert key not in seen, key
                seen.add(key)


def test_the_table_of_a_generation_that_is_not_known_is_empty(tmp_path: Path) -> None:
    assert rows_of(1) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[reads]\n", "Expected"),
        ('[[reads]]\nevents = "tile"\nregister = "A"\n', "a row cannot have register"),
        (
            '[[reads]]\nevents = "draw"\nregisters = "A"\nsince = "pass"\neffect = "pixels"\n'
            'source = "no"\n',
            "no event is called draw",
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    (tmp_path / "a6xx.toml").write_text(text)
    with pytest.raises(RegisterDbError, match=message):
        event_reads.rows_in(tmp_path / "a6xx.toml")


class _Values:
    """Registers by name: offset and fields."""

    def __init__(self, fields: dict[tuple[str, str], int]) -> None:
        self._fields = fields

    def offset(self, name: str) -> int:
        return int(name.rpartition("_")[2]) if name.startswith("R_") else 0

    def field(self, name: str, field: str = "") -> int | None:
        return self._fields.get((name, field))


def _row(registers: str, **others: object) -> Row:
    return Row(("tile",), tuple(registers.split()), "pass", "pixels", "a test", **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "names"),
    [
        (_row("R_1 R_2 NONE"), ["R_1", "R_2"]),
        (_row("R_1", when=("R_9.ON",)), ["R_1"]),
        (_row("R_1", when=("R_9.OFF",)), []),
        (_row("R_1", unless=("R_9.ON",)), []),
        (_row("R_1", kind="resolve"), []),
        (_row("R_{i}", elements=3), ["R_1", "R_2"]),
        (_row("R_{i}", elements="R_9.MANY"), [f"R_{number}" for number in range(1, 32)]),
        (_row("R_{j}", elements=1, pointer="R_9.ON"), ["R_1"]),
    ],
)
def test_rows_hold_by_their_conditions(row: Row, names: list[str]) -> None:
    reader = _Values({("R_9", "ON"): 1, ("R_9", "OFF"): 0, ("R_9", "MANY"): 1 << 20})
    reads = event_reads.EventReads([row]).of("tile", "draw", reader)
    assert [read.name for read in reads] == names


def test_all_events_have_rows_in_the_newest_table() -> None:
    with_rows = {event for row in rows_of(6) for event in row.events}
    assert with_rows == set(EVENTS) - {"resolve"}


def _is_register(databases: list[Registers], name: str) -> bool:
    name = re.sub(r"\{[ij]\}", "0", name)
    return any(name in database for database in databases)


def _is_field(databases: list[Registers], name: str) -> bool:
    name = name.replace("{i}", "0")
    register, _, field = name.rpartition(".")
    for database in databases:
        if name in database:
            return True
        if register in database:
            return field in {one.name for one in database[register].fields}
    return False
