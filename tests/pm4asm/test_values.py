# SPDX-License-Identifier: MIT
"""Values of fields: bits to text and back for any field; values as users write them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cffpy.pm4asm.model import (
    Call,
    FieldList,
    Name,
    Number,
    SourceProblem,
    is_name,
    quoted,
    unquoted,
)
from cffpy.pm4asm.read import parse_line
from cffpy.pm4asm.values import NO_LABELS, DwordField, Label, Labels, decode, encode, nearest
from cffpy.regdb.rows import BOOLEAN, ENUM, FIXED, FLOAT, HEX, INT, REGID, UFIXED, UINT

ENUM_NAMES = {0: "ZERO", 1: "ONE", 7: "SEVEN"}


def field(kind: int, width: int = 32, *, low: int = 0, shr: int = 0, radix: int = 0) -> DwordField:
    names = ENUM_NAMES if kind == ENUM else {}
    numbers = {name: number for number, name in names.items()}
    high = low + width - 1
    return DwordField("F", low, high, shr, kind, radix, names, numbers, "", None, kind == HEX)


def resolve(call: Call) -> int:
    return Labels({0x1_0000_2000: Label("here", 12)}).value(call)


@st.composite
def fields(draw: st.DrawFn) -> tuple[DwordField, int]:
    kind = draw(st.sampled_from([BOOLEAN, ENUM, FIXED, FLOAT, HEX, INT, REGID, UFIXED, UINT]))
    width = draw(st.sampled_from([16, 32, 64]) if kind == FLOAT else st.integers(1, 32))
    radix = draw(st.integers(0, min(width, 16))) if kind in (FIXED, UFIXED) else 0
    shr = draw(st.integers(0, 12)) if kind in (HEX, INT, UINT) else 0
    low = draw(st.integers(0, 32 - width)) if width <= 32 else 0
    bits = draw(st.integers(0, (1 << width) - 1))
    return field(kind, width, low=low, shr=shr, radix=radix), bits


@given(fields())
@example((field(FLOAT), 0x7FC00001))
@example((field(FLOAT), 0xFF800000))
@example((field(FLOAT), 0x80000000))
@example((field(FLOAT, 16), 1))
@example((field(FIXED, 16, radix=16), 0x8000))
def test_bits_come_back(given_field: tuple[DwordField, int]) -> None:
    """As a value, and as the text of the value that the parser reads."""
    what, bits = given_field
    value = decode(what, bits, NO_LABELS)
    assert encode(what, value, resolve) == bits
    if value is not None:
        _, read = parse_line(f"X = {value}").parts
        assert encode(what, read, resolve) == bits


@pytest.mark.parametrize(
    ("what", "text", "bits"),
    [
        (field(UINT, 8), "255", 255),
        (field(UINT, 8, shr=5), "32", 1),
        (field(HEX, 8, shr=5), "0x20", 1),
        (field(INT, 8), "-1", 255),
        (field(INT, 8), "0xff", 255),
        (field(FLOAT), "1", 0x3F800000),
        (field(FLOAT), "1.0", 0x3F800000),
        (field(FLOAT), "0x1", 1),
        (field(FLOAT), "-0.0", 0x80000000),
        (field(FIXED, 8, radix=2), "-0.25", 0xFF),
        (field(UFIXED, 8, radix=4), "1.5", 24),
        (field(UFIXED, 8, radix=4), "0x18", 24),
        (field(ENUM, 3), "SEVEN", 7),
        (field(ENUM, 3), "2", 2),
        (field(REGID, 8), "r63.w", 0xFF),
        (field(REGID, 8), "4", 4),
        (field(BOOLEAN, 1), "0", 0),
        (field(HEX, 64), "here", 0x1_0000_2000),
        (field(HEX, 64), "here+0x10", 0x1_0000_2010),
        (field(HEX), "lo(here+4)", 0x2004),
        (field(HEX), "hi(here)", 1),
        (field(UINT, 16), "sizeof(here)", 12),
    ],
)
def test_what_people_write(what: DwordField, text: str, bits: int) -> None:
    _, value = parse_line(f"X = {text}").parts
    assert encode(what, value, resolve) == bits


@pytest.mark.parametrize(
    ("what", "text", "message"),
    [
        (field(UINT, 8), "256", "256 does not fit into 8 bits"),
        (field(UINT, 8), "-1", "does not fit"),
        (field(BOOLEAN, 1), "2", "2 does not fit into 1 bit"),
        (field(INT, 8), "-129", "-129 does not fit"),
        (field(HEX, 8, shr=5), "0x21", "is not a multiple of 0x20"),
        (field(FLOAT), "1e39", "does not fit"),
        (field(UINT, 8), "1.5", "1.5 is not a whole number"),
        (field(UFIXED, 8, radix=4), "0.1", "is not a multiple of 0.0625"),
        (field(UFIXED, 8, radix=4), "-1.0", "does not fit"),
        (field(ENUM, 3), "SEVN", "has no value SEVN, did you mean SEVEN?"),
        (field(REGID, 8), "r64.x", "does not fit"),
        (field(REGID, 8), "r0.q", "no label r0.q"),
        (field(HEX), "here", "does not fit into 32 bits"),
        (field(HEX), "there", "no label there"),
        (field(UINT), "{ }", "is one field and has no fields in it"),
    ],
)
def test_what_does_not_fit(what: DwordField, text: str, message: str) -> None:
    _, value = parse_line(f"X = {text}").parts
    with pytest.raises(SourceProblem, match=message.replace("?", r"\?")):
        encode(what, value, resolve)


def test_a_label_stands_for_its_address() -> None:
    labels = Labels({0x2000: Label("here", 12)})
    assert decode(field(HEX), 0x2000, labels) == Name("here")
    assert decode(field(UINT), 0x2000, labels) == Number("8192")
    assert decode(field(HEX), 0x2004, labels) == Number("0x2004")


@given(st.binary(max_size=60))
def test_strings(data: bytes) -> None:
    text = quoted(data)
    assert text.isascii()
    assert text.isprintable()
    assert unquoted(text) == data
    assert parse_line(f"cmd {text}").parts == (text,)


def test_text_beyond_ascii() -> None:
    assert unquoted('"ä"') == "ä".encode()
    assert unquoted('"ä\\xff"') == "ä".encode() + b"\xff"


@pytest.mark.slow
@given(st.text(max_size=12))
@example("64B")
@example("section")
@example("0x1")
@example("1e5")
@example("12345678")
@example("deadbeef")
def test_names(text: str) -> None:
    """Names are read as names, alone and as a field's value."""
    if is_name(text):
        assert parse_line(f"X = {text}").parts == (Name("X", 1), Name(text, 5))
        kind, parts, _ = parse_line(f"{text} = {{ {text} }}")
        assert kind == "register"
        assert isinstance(parts[1], FieldList)


def test_nearest() -> None:
    assert nearest("FUNC_LES", ["FUNC_LESS", "FUNC_NEVER"]) == ", did you mean FUNC_LESS?"
    assert nearest("x", ["FUNC_LESS"]) == ""


def test_floats_are_short() -> None:
    for value in (0.1, 0.5, 1.0, 4092.0, 1e-5, 3.14159):
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        assert float(str(decode(field(FLOAT), bits, NO_LABELS))) == pytest.approx(value)
        assert len(str(decode(field(FLOAT), bits, NO_LABELS))) < 9
