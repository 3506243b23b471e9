# SPDX-License-Identifier: MIT
"""Names and values of registers as plain text."""

from __future__ import annotations

import pytest

from cffpy.regdb import registers
from cffpy.regdb.database import Database
from cffpy.regdb.registers import RegisterText

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
