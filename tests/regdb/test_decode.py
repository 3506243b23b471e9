# SPDX-License-Identifier: MIT
"""Values to text: every kind of type, compared with C and the reference's own algorithms."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cffpy.regdb.database import Database
from cffpy.regdb.decode import (
    Decoder,
    Palette,
    c_hex,
    float32_text,
    float64_text,
    is_unknown,
    type_mask,
)
from cffpy.regdb.rows import (
    BITSET,
    BOOLEAN,
    ENUM,
    FIXED,
    FLOAT,
    HEX,
    INLINE_BITSET,
    INLINE_ENUM,
    INT,
    NAMED_INLINE_BITSET,
    REGID,
    UFIXED,
    UINT,
    Condition,
    FieldRow,
    TypeRow,
)
from cffpy.views.cffdump.quirks import COLOURS, reference_fields, reference_half

MODES, CHIPS = "modes", "chip"
ENUMS = {
    MODES: (("LOW", 1, None), ("AGAIN", 1, None), ("HIGH", 2, None)),
    CHIPS: (("A5XX", 5, None), ("A6XX", 6, None), ("A7XX", 7, None)),
    "split": (("OLD", 3, ((MODES, 0b001),)), ("NEW", 3, ((MODES, 0b100),))),
}


def decoder(palette: Palette | None = None, **options: object) -> Decoder:
    database = Database({"chip": "A6XX", "register_domains": (), "domains": {}, "enums": {}})
    database._enums.update(ENUMS)
    return Decoder(database, palette or Palette(), **options)


def row(
    kind: int,
    high: int = 31,
    low: int = 0,
    shr: int = 0,
    radix: int = 0,
    payload: object = None,
    addvariant: bool = False,
) -> TypeRow:
    return (kind, "", low, high, shr, radix, addvariant, payload)


def text(type_row: TypeRow, value: int, **options: object) -> str:
    return decoder(**options).formatter(type_row).text(value)


def field(name: str, type_row: TypeRow, condition: Condition = None) -> FieldRow:
    return (name, condition, type_row)


def bitset(*fields: FieldRow, kind: int = INLINE_BITSET) -> TypeRow:
    return row(kind, payload=fields)


@pytest.fixture(scope="module")
def c_printf():
    if not sys.platform.startswith("linux"):
        pytest.skip("needs the C library that the reference was recorded with")
    snprintf = ctypes.CDLL(None).snprintf

    def format_as_c(template: bytes, value: object) -> str:
        buffer = ctypes.create_string_buffer(512)
        snprintf(buffer, ctypes.c_size_t(512), template, value)
        return buffer.value.decode()

    return format_as_c


# --- numbers, against the C library --------------------------------------------------------------


@given(st.integers(0, 0xFFFFFFFF))
@example(0x7FC00000)
@example(0xFFC00000)
@example(0xFF800000)
@example(0x80000000)
@example(0x00000001)
@example(0x7F7FFFFF)
def test_float32_is_percent_f(c_printf, bits: int) -> None:
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    expected = c_printf(b"%f", ctypes.c_double(value))
    if value != value:  # Python may lose a NaN's sign on the way
        expected = ("-" if bits >> 31 else "") + "nan"
    assert float32_text(bits) == text(row(FLOAT), bits) == expected


@given(st.floats(allow_nan=False))
@example(-0.0)
@example(0.0000005)
@example(1e300)
def test_float64_is_percent_f(c_printf, value: float) -> None:
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    expected = c_printf(b"%f", ctypes.c_double(value))
    assert float64_text(bits) == text(row(FLOAT, 63), bits) == expected


@given(st.integers(0, 0xFFFFFFFFFFFFFFFF))
@example(0)
def test_hex_is_percent_number_sign_x(c_printf, value: int) -> None:
    assert c_hex(value) == c_printf(b"%#lx", ctypes.c_uint64(value))
    assert text(row(HEX, 63), value) == c_hex(value)


@given(st.integers(0, 0xFFFFFFFF))
def test_uint_and_int(c_printf, value: int) -> None:
    assert text(row(UINT), value) == c_printf(b"%u", ctypes.c_uint32(value))
    assert text(row(INT), value) == c_printf(b"%d", ctypes.c_int32(value))


@given(st.integers(0, 0xFFFF), st.integers(0, 15))
def test_fixed_is_sign_and_magnitude(c_printf, value: int, radix: int) -> None:
    unsigned = c_printf(b"%f", ctypes.c_double(value / (1 << radix)))
    assert text(row(UFIXED, 15, radix=radix), value) == unsigned
    if value & 0x8000:
        expected = "-" + c_printf(b"%f", ctypes.c_double((0x10000 - value) / (1 << radix)))
    else:
        expected = unsigned
    assert text(row(FIXED, 15, radix=radix), value) == expected


@pytest.mark.parametrize(
    ("type_row", "value", "expected"),
    [
        (row(HEX), 0, "0"),
        (row(HEX), 0x10, "0x10"),
        (row(HEX, 11, 4, shr=5), 0x0FF0, "0x1fe0"),
        (row(UINT, 7), 0x1FF, "255 | 0x100"),
        (row(UINT, 7, 4), 0x1F3, "15 | 0x103"),
        (row(INT, 3), 0x8, "-8"),
        (row(INT, 3), 0x7, "7"),
        (row(FIXED, 15, radix=4), 0xFFF0, "-1.000000"),
        (row(UFIXED, 15, radix=4), 0xFFF0, "4095.000000"),
        (row(FLOAT, 15), 0x3C00, "1.000000"),
        (row(FLOAT, 15), 0xFC00, "-inf"),
        (row(FLOAT, 15), 0x8000, "-0.000000"),
        (row(FLOAT, 23), 0x3C00, "0x3c00"),  # no float of C's
        (row(REGID, 7), 0x07, "r1.w"),
        (row(REGID, 7), 0xFC, "r63.x"),
        (row(BOOLEAN, 0), 1, "TRUE"),
        (row(BOOLEAN, 0), 0, "FALSE"),
        (row(BOOLEAN, 3), 2, "(null)"),
        (row(BOOLEAN, 0), 0x11, "TRUE | 0x10"),
        (row(ENUM, payload=MODES), 1, "LOW"),
        (row(ENUM, payload=MODES), 2, "HIGH"),
        (row(ENUM, payload=MODES), 9, "0x9"),
        (row(ENUM, payload=MODES), 0, "0"),
        (row(ENUM, 1, payload=MODES), 6, "HIGH | 0x4"),
        (row(ENUM, payload="no such enum"), 3, "0x3"),
        (row(INLINE_ENUM, payload=(("A", 0, None), ("B", None, None))), 0, "A"),
        (row(HEX, 63), 0xFFFFFFFFFFFFFFFF, "0xffffffffffffffff"),
    ],
)
def test_plain_types(type_row: TypeRow, value: int, expected: str) -> None:
    assert text(type_row, value) == expected


# --- 16-bit floats: the reference's algorithm, written as it is there ----------------------------


def float16_as_the_reference(value: int) -> float:
    sign, fraction, exponent = (value & 0x8000) << 16, value & 0x3FF, value >> 10 & 0x1F
    if exponent == 0 and not fraction:
        bits = sign
    elif exponent == 0x1F:
        bits = sign | 0x7F800000 | fraction << 13
    else:
        if exponent == 0:
            shift = (32 - fraction.bit_length()) - 21
            fraction <<= shift
            exponent = -shift
        bits = sign | exponent + 127 - 15 << 23 | fraction << 13
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def test_every_16_bit_float_is_the_reference_s() -> None:
    for value in range(0x10000):
        if value & 0x7C00 == 0x7C00 and value & 0x3FF:
            assert reference_half(value) != reference_half(value)
        else:
            assert reference_half(value) == float16_as_the_reference(value), hex(value)


def test_a_denormal_of_half_its_value() -> None:
    assert text(row(FLOAT, 15), 0x0200, half=reference_half) == "0.000015"
    assert text(row(FLOAT, 15), 0x0200) == "0.000031"


# --- bitsets -------------------------------------------------------------------------------------

PLAIN_BITSET = bitset(
    field("MODE", row(ENUM, 1, payload=MODES)),
    field("FLAG", row(BOOLEAN, 2, 2)),
    field("UNK3", row(BOOLEAN, 3, 3)),
    field("UNK4", row(UINT, 7, 4)),
    field("UNKNOWN", row(UINT, 9, 8)),
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "{ MODE = 0 | UNKNOWN = 0 }"),
        (1, "{ MODE = LOW | UNKNOWN = 0 }"),
        (4, "{ MODE = 0 | FLAG | UNKNOWN = 0 }"),
        (8, "{ MODE = 0 | UNK3 | UNKNOWN = 0 }"),
        (0xA0, "{ MODE = 0 | UNK4 = 0xa | UNKNOWN = 0 }"),
        (0x100, "{ MODE = 0 | UNKNOWN = 1 }"),
        (0x8400, "{ MODE = 0 | UNKNOWN = 0 | 0x8400 }"),
    ],
)
def test_bitsets(value: int, expected: str) -> None:
    assert text(PLAIN_BITSET, value) == expected


def test_a_bitset_with_nothing_to_print() -> None:
    assert text(bitset(field("FLAG", row(BOOLEAN, 2, 2))), 0) == "{ 0 }"
    assert text(bitset(field("FLAG", row(BOOLEAN, 2, 2))), 8) == "{ 0x8 }"
    assert text(bitset(), 0) == "{ 0 }"


def test_bits_outside_a_bitset_s_own_range_are_not_shown() -> None:
    narrow = row(INLINE_BITSET, 7, payload=(field("A", row(UINT, 3)),))
    assert text(narrow, 0xF12) == "{ A = 2 | 0x10 }"
    high = row(INLINE_BITSET, 15, 8, payload=(field("A", row(UINT, 3)),))
    assert text(high, 0xF12) == "{ A = 15 }"


def test_a_bitset_in_a_bitset() -> None:
    inner = row(BITSET, 15, 8, payload=(field("X", row(UINT, 3)), field("Y", row(BOOLEAN, 7, 7))))
    assert text(bitset(field("IN", inner)), 0x8300) == "{ IN = { X = 3 | Y } }"


@pytest.mark.parametrize(
    ("name", "unknown"),
    [("UNK0", True), ("UNK1F", True), ("UNK12_", True), ("UNK", False), ("UNKNOWN", False)],
)
def test_placeholder_names(name: str, unknown: bool) -> None:
    assert is_unknown(name) is unknown


def test_register_ids_of_unknown_meaning_are_still_register_ids() -> None:
    assert text(bitset(field("UNK0", row(REGID, 7))), 5) == "{ UNK0 = r1.y }"


@given(st.integers(0, 63), st.integers(0, 63))
def test_masks(low: int, high: int) -> None:
    if low <= high:
        assert type_mask(low, high) == sum(1 << bit for bit in range(low, high + 1))


# --- variants ------------------------------------------------------------------------------------

CHOOSER = bitset(
    field("BITS", row(UINT, 7), ((MODES, 0b001),)),
    field("WIDE", row(HEX, 15), ((MODES, 0b100),)),
    field("MODE", row(ENUM, 31, 30, payload=MODES, addvariant=True)),
)


def test_without_a_current_variant_every_field_applies() -> None:
    assert text(CHOOSER, 0x105) == "{ BITS = 5 | WIDE = 0x105 | MODE = 0 }"


def test_a_selecting_field_decides_for_what_follows_and_stays() -> None:
    one = decoder()
    chooser, plain = one.formatter(CHOOSER), row(ENUM, payload="split")
    assert not chooser.fixed
    assert not one.formatter(plain).fixed
    assert chooser.text(0x4000_0105) == "{ BITS = 5 | WIDE = 0x105 | MODE = LOW }"
    assert one.variants[MODES] == 0
    assert chooser.text(0x8000_0105) == "{ BITS = 5 | MODE = HIGH | 0x100 }"
    assert one.variants[MODES] == 2
    assert one.formatter(plain).text(3) == "NEW"
    assert chooser.text(0xC000_0105) == "{ WIDE = 0x105 | MODE = 0x3 }", "no name, no change"
    assert one.variants[MODES] == 2


def test_the_reference_decodes_the_selecting_field_first() -> None:
    one = decoder(fields=reference_fields)
    assert one.formatter(CHOOSER).text(0x8000_0105) == "{ MODE = HIGH | WIDE = 0x105 }"


def names(fields: Sequence[FieldRow]) -> str:
    return "".join(name for name, _, _ in fields)


def test_a_selecting_field_changes_place_with_the_first_other() -> None:
    def plain(name: str) -> FieldRow:
        return field(name, row(UINT))

    def selecting(name: str) -> FieldRow:
        return field(name, row(ENUM, payload=MODES, addvariant=True))

    three = (plain("A"), plain("B"), selecting("X"), plain("C"))
    assert names(reference_fields(bitset(*three))) == "XBAC"
    assert names(reference_fields(bitset(*three, kind=NAMED_INLINE_BITSET))) == "XBAC"
    assert names(reference_fields(bitset(*three, kind=BITSET))) == "ABXC", "not when not inline"
    two = (plain("A"), selecting("X"), plain("B"), selecting("Y"))
    assert names(reference_fields(bitset(*two))) == "XYBA"


def test_named_inline_bitsets_lose_their_radix() -> None:
    fields = (field("X", row(UFIXED, 7, radix=4)),)
    for kind, expected in (
        (NAMED_INLINE_BITSET, "{ X = 64.000000 }"),
        (INLINE_BITSET, "{ X = 4.000000 }"),
        (BITSET, "{ X = 4.000000 }"),
    ):
        assert text(bitset(*fields, kind=kind), 64, fields=reference_fields) == expected


# --- colour --------------------------------------------------------------------------------------


def test_colours_of_each_sort() -> None:
    assert text(row(HEX), 5, palette=COLOURS) == "\x1b[0;33m0x5\x1b[0m"
    assert text(row(ENUM, payload=MODES), 1, palette=COLOURS) == "\x1b[0;35mLOW\x1b[0m"
    assert text(row(UINT, 3), 0x15, palette=COLOURS) == (
        "\x1b[0;33m5\x1b[0m | \x1b[0;1;31m0x10\x1b[0m"
    )
    assert text(PLAIN_BITSET, 0x8C, palette=COLOURS) == (
        "{ \x1b[0;32mMODE\x1b[0m = \x1b[0;33m0\x1b[0m | \x1b[0;36mFLAG\x1b[0m"
        " | \x1b[0;1;31mUNK3\x1b[0m | \x1b[0;32mUNK4\x1b[0m = \x1b[0;1;31m0x8\x1b[0m"
        " | \x1b[0;32mUNKNOWN\x1b[0m = \x1b[0;33m0\x1b[0m }"
    )
    assert text(bitset(), 0, palette=COLOURS) == "{ \x1b[0;33m0\x1b[0m }"
