# SPDX-License-Identifier: MIT
"""A field's value is a number, a bool or a name; its text is another member, on all surfaces."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.regdb import rows
from cffpy.regdb.database import Database
from cffpy.regdb.registers import RegisterText
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: Types whose values are names.
NAMED = (rows.ENUM, rows.INLINE_ENUM, rows.REGID)


def test_a_field_without_a_type_is_a_number() -> None:
    decoded = cffpy.registers("a6xx")["RB_STENCILMASK"].decode(255)
    assert decoded.MASK == 255
    assert (decoded.fields["MASK"].value, decoded.fields["MASK"].text) == (255, "0xff")


def test_an_enum_has_a_name_or_a_number() -> None:
    known = cffpy.registers("a6xx")["RB_MRT[0].BUF_INFO"].decode(0x30)
    assert known.fields["COLOR_FORMAT"].value == "FMT6_8_8_8_8_UNORM"
    unknown = cffpy.registers("a6xx")["RB_MRT[0].BUF_INFO"].decode(0xFE)
    assert (unknown.COLOR_FORMAT, unknown.fields["COLOR_FORMAT"].text) == (0xFE, "0xfe")


@pytest.mark.parametrize("chip", first_always(["A2XX", "A3XX", "A4XX", "A5XX", "A6XX", "A7XX"], 3))
def test_only_names_are_texts(chip: str) -> None:
    database = Database.open(chip)
    text = RegisterText(database)
    checked = 0
    for value in (0, 0xFFFFFFFF, 0x12345678):
        for _, offset in database.register_names():
            found = database.register(offset, {})
            for field in text.field_values(offset, {offset: value, offset + 1: value}):
                assert found is not None
                assert found.type is not None
                kinds = {name: row[0] for name, _, row in found.type[7]}
                is_name = kinds.get(field.name) in NAMED or field.text.lstrip("-") in ("nan", "inf")
                assert is_name or not isinstance(field.value, str), field
                checked += isinstance(field.value, int)
    assert checked > 100


def test_json_and_sql_have_numbers(samples: Path, run_cffpy: Run) -> None:
    path = samples / "a630-triangle.rd.gz"
    document = json.loads(run_cffpy("state", "--at", "p0:0", "--json", path).stdout)
    registers = {one["register"]: one for one in document["registers"]}
    assert all(isinstance(one["value"], int) for one in registers.values())
    base, control = registers["RB_MRT[0].BASE"], registers["RB_MRT[0].CONTROL"]
    assert (base["value"], base["decoded"]) == (0x100100000, "0x100100000")
    enabled = control["fields"]["COMPONENT_ENABLE"]
    assert (enabled["number"], enabled["decoded"]) == (15, "0xf")

    query = (
        "SELECT field, decoded, number, raw FROM fields WHERE register LIKE 'RB_MRT[0].BUF_INFO'"
        " OR register = 'GRAS_SU_CNTL' OR field = 'COMPONENT_ENABLE' ORDER BY ALL"
    )
    found = {
        row[0]: row[1:]
        for row in json.loads(run_cffpy("sql", "--json", path, query).stdout)["rows"]
    }
    assert found["COMPONENT_ENABLE"] == ["0xf", 15.0, 15]
    assert found["COLOR_FORMAT"] == ["FMT6_8_8_8_8_UNORM", 48.0, 48]
    assert found["CULL_BACK"] == ["TRUE", 1.0, 1]
    assert found["LINEHALFWIDTH"] == ["0.500000", 0.5, 2]


@pytest.mark.slow
def test_sql_needs_no_quotes(samples: Path, run_cffpy: Run) -> None:
    from cffpy.index.tables import CORPUS, OWN
    from cffpy.tables.schema import TABLES

    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    for table in (*TABLES.values(), *OWN.values(), *CORPUS.values()):
        for column in table.columns:
            if "." in column.name:
                continue
            one = f'(SELECT 1 AS "{column.name}") t'
            database.execute(f"SELECT {column.name} FROM {one} ORDER BY {column.name}")
            database.execute(f"SELECT count(*) FROM {one} WHERE t.{column.name} = 1")
    path = samples / "a630-triangle.rd.gz"
    shown = run_cffpy("sql", path, "SHOW TABLES", "--csv").stdout.decode().split()
    assert {"draws", "passes", "registers", "fields", "register_at_draw"} < set(shown)
    listed = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'shaders'"
    rows_found = json.loads(run_cffpy("sql", path, listed, "--json").stdout)["rows"]
    assert rows_found == [[len(TABLES["shaders"].columns)]]
