# SPDX-License-Identifier: MIT
"""Names, texts and values of registers and their fields."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.regdb import registers, rows
from cffpy.regdb.database import Database
from cffpy.regdb.registers import RegisterText
from tests.selection import first_always

A6XX = Database.open("A6XX")


@pytest.fixture
def text() -> RegisterText:
    return RegisterText(A6XX)


def at(name: str) -> int:
    offset = A6XX.register_offset(name)
    assert offset
    return offset


def test_names(text: RegisterText) -> None:
    assert text.name(at("RB_DEPTH_CNTL")) == "RB_DEPTH_CNTL"
    assert text.name(at("RB_MRT[1].CONTROL")) == "RB_MRT[1].CONTROL"
    assert text.name(0x3FFF0) == "0x3fff0"


def test_both_dwords_of_a_wide_register_are_one_value(text: RegisterText) -> None:
    base = at("RB_MRT[0].BASE")
    assert text.text(base, {base: 0x1000, base + 1: 0x5}) == "0x500001000"
    assert text.text(base, {base: 0x1000}) == "0x1000"
    assert text.listed([base + 1, base, at("RB_DEPTH_CNTL")]) == [base, at("RB_DEPTH_CNTL")]
    assert text.listed([base + 1]) == [base + 1]


def test_fields_cover_the_whole_value(text: RegisterText) -> None:
    fields = {field.name: field.text for field in text.fields(at("RB_DEPTH_CNTL"), 0x5)}
    assert fields["Z_TEST_ENABLE"] == "TRUE"
    assert fields["ZFUNC"] == "FUNC_LESS"
    assert "other bits" not in fields
    assert text.fields(at("RB_DEPTH_CNTL"), 0x80000005)[-1] == (
        "other bits",
        "0x80000000",
        1 << 31,
        "",
    )


def test_registers_without_fields(text: RegisterText) -> None:
    assert text.fields(at("VFD_INDEX_OFFSET"), 7) == (("", "0x7", 7, ""),)
    assert text.fields(0x3FFF0, 7) == (("", "0x7", 7, ""),)
    assert text.type_name(0x3FFF0) == ""
    assert text.type_name(at("RB_MRT[0].BASE")) in ("address", "waddress")


def test_fields_do_not_depend_on_what_is_kept(
    text: RegisterText, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [(at(name), value) for name in ("RB_DEPTH_CNTL", "GRAS_SU_CNTL") for value in (1, 5, 1)]
    kept = [text.fields(*one) for one in asked]
    monkeypatch.setattr(registers, "MAX_KNOWN", 1)
    assert [text.fields(*one) for one in asked] == kept
    assert kept[0] is kept[2]


def test_descriptors(text: RegisterText) -> None:
    fields = text.descriptor_fields("A6XX_TEX_SAMP", [0x2 | 0x1 << 1, 0, 0, 0])
    shown = {field.name: field.text for field in fields}
    assert shown["XY_MAG"] == "A6XX_TEX_LINEAR"
    assert text.descriptor_fields("A6XX_UBO", [0x10] * 3)[-1] == ("dword 2", "0x10", 16, "")
    assert text.descriptor_fields("A6XX_TEX_SAMP", [0, 0x80])[-1][:3] == (
        "other bits of dword 1",
        "0x80",
        128,
    )


def test_bits_of_two_fields_are_shown_in_the_wider_one(text: RegisterText) -> None:
    names = {field.name for field in text.descriptor_fields("A6XX_TEX_CONST", [0] * 16)}
    assert "MIPLVLS" in names
    assert "CHROMA_MIDPOINT_X" not in names


def test_field_values_have_types(text: RegisterText) -> None:
    register = at("GRAS_SU_POINT_MINMAX")
    fields = {one.name: one for one in text.field_values(register, {register: 0x00180008})}
    assert (fields["MIN"].value, fields["MAX"].value) == (0.5, 1.5)
    register = at("RB_DEPTH_CNTL")
    fields = {one.name: one for one in text.field_values(register, {register: 0x1001D})}
    assert fields["Z_TEST_ENABLE"].value is True
    assert (fields["ZFUNC"].value, fields["ZFUNC"].low, fields["ZFUNC"].high) == (
        "FUNC_ALWAYS",
        2,
        4,
    )
    assert fields["other bits"].value == 0x10000
    assert text.field_values(at("RB_MRT[0].BASE"), {at("RB_MRT[0].BASE"): 1}) == []


def test_a_lone_upper_dword_is_a_value_of_its_own(text: RegisterText) -> None:
    base = at("RB_MRT[0].BASE")
    registers = {base + 1: 0x5, base + 2: 0xBAD}
    assert text.value(base + 1, registers) == 5
    assert text.text(base + 1, registers) == "0x5"


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
