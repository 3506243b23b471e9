# SPDX-License-Identifier: MIT
"""Description text -> model, and the messages about wrong text."""

import pytest

from cffpy.errors import RegisterDbError
from cffpy.regdb.language import (
    MAX_NESTING,
    Array,
    Bitfield,
    Bitset,
    Condition,
    Domain,
    Enum,
    Import,
    Range,
    Register,
    Stripe,
    Type,
    Value,
    parse_file,
    parse_text,
)


def one(text):
    (declaration,) = parse_text(text).declarations
    return declaration


def test_import():
    assert one('import "adreno_common"') == Import("adreno_common")


def test_enum_values_with_and_without_number():
    text = "enum e { A = 0x10 B C = 3 when chip A6XX- }"
    only_later = Condition("chip", (Range("A6XX", None),))
    assert one(text) == Enum("e", (Value("A", 16), Value("B"), Value("C", 3, only_later)))


def test_inline_enum_and_bitset():
    assert one("enum e inline { }") == Enum("e", (), True)
    assert one("bitset b inline { }") == Bitset("b", (), True)
    assert one("bitset b { }") == Bitset("b", (), False)


def test_field_attributes_in_any_order():
    text = "bitset b { 0..3 A radix 2 : fixed shr 4 align 8 addvariant 4 B }"
    kind = Type("fixed", 4, 2, 8, True)
    assert one(text) == Bitset("b", (Bitfield("A", 0, 3, kind), Bitfield("B", 4, 4)))


def test_field_with_values_and_with_fields():
    text = "bitset b { 0 A { X = 0 Y = 1 } 1..4 B { 0 P 1..2 Q } }"
    values = Type(values=(Value("X", 0), Value("Y", 1)))
    fields = Type(fields=(Bitfield("P", 0, 0), Bitfield("Q", 1, 2)))
    assert one(text) == Bitset("b", (Bitfield("A", 0, 0, values), Bitfield("B", 1, 4, fields)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", Range("A", "A")),
        ("A-", Range("A", None)),
        ("-B", Range(None, "B")),
        ("A-B", Range("A", "B")),
        ('"x y"-"8"', Range("x y", "8")),
    ],
)
def test_ranges(text, expected):
    enum = one(f"enum e {{ V when chip {text} W }}")
    assert enum.values == (Value("V", None, Condition("chip", (expected,))), Value("W"))


def test_several_ranges():
    enum = one("enum e { V when chip A-B, C, D- W = 1 }")
    ranges = (Range("A", "B"), Range("C", "C"), Range("D", None))
    assert enum.values == (Value("V", None, Condition("chip", ranges)), Value("W", 1))


def test_registers():
    text = """domain D {
        reg32 0x10 A : uint bits 0..15 usage rp_blit, cmd access r when chip A6XX
        reg64 16 "2" : address align 64
        reg32 0x20 R[4] stride 2 { 0 X }
    }"""
    registers = (
        Register(
            "A",
            16,
            bits=(0, 15),
            type=Type("uint"),
            usage=("rp_blit", "cmd"),
            access="r",
            condition=Condition("chip", (Range("A6XX", "A6XX"),)),
        ),
        Register("2", 16, 64, type=Type("address", align=64)),
        Register("R", 32, type=Type(fields=(Bitfield("X", 0, 0),)), length=4, stride=2),
    )
    assert one(text) == Domain("D", registers)


def test_arrays_and_stripes():
    text = """domain D width 8 when chip A6XX {
        array 0x10 A[8] stride 4 index e usage cmd { reg32 0 X }
        array 1, 2, 3 ""[3] { }
        array 0 B[] stride 1 { }
        stripe { }
        stripe 4 S[2] stride 8 when chip A7XX { stripe { } }
    }"""
    seven = Condition("chip", (Range("A7XX", "A7XX"),))
    elements = (
        Array("A", (16,), 8, 4, "e", ("cmd",), None, (Register("X", 0),)),
        Array("", (1, 2, 3), 3),
        Array("B", (0,), 0, 1),
        Stripe(),
        Stripe("S", 4, 2, 8, seven, (Stripe(),)),
    )
    assert one(text) == Domain("D", elements, 8, Condition("chip", (Range("A6XX", "A6XX"),)))


def test_lines_are_kept_for_messages():
    domain = one("\n\ndomain D {\n  reg32 0 A\n\n  reg32 1 B { 0 F }\n}")
    assert domain.line == 3
    assert [register.line for register in domain.elements] == [4, 6]


def test_comments_and_quotes():
    text = r"""# enum not { here
    enum "a \"b\" \\ #c" { "usage" = 1 } # end"""
    assert one(text) == Enum(r'a "b" \ #c', (Value("usage", 1),))


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("enum e {\n  A = }", 2, 7, "expected one of: NUMBER"),
        ("enum e { A = 12x }", 1, 14, "expected one of: NUMBER"),
        ("\nfoo", 2, 1, "expected one of:"),
        ("domain D { reg32 0 A shr 1 shr 2 }", 1, 28, "'shr' given twice"),
        ("bitset b { 4..3 X }", 1, 12, "bits 4..3: the low bit comes first"),
        ("domain D { reg32 0 A bits 4..3 }", 1, 27, "bits 4..3: the low bit comes first"),
        ("enum e { A = 0xfffffffffffffffff }", 1, 14, "expected one of: NUMBER"),
        ("enum e { A = 99999999999999999999 }", 1, 14, "number of more than 64 bits"),
    ],
)
def test_errors_name_the_place(text, line, column, message):
    with pytest.raises(RegisterDbError) as caught:
        parse_text(text, "x.regs")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"x.regs:{line}:{column}: ")
    assert message in str(caught.value)


def test_syntax_error_shows_the_line_with_a_caret():
    with pytest.raises(RegisterDbError) as caught:
        parse_text("enum e { A = }", "x.regs")
    assert str(caught.value).splitlines()[1:] == ["enum e { A = }", "             ^"]


def test_deep_nesting_is_an_error_and_no_crash():
    with pytest.raises(RegisterDbError, match="nested more than 12 deep"):
        parse_text("domain D {" + "stripe {" * 100_000)


def test_deepest_nesting_allowed():
    depth = MAX_NESTING - 1
    assert one("domain D {" + "stripe {" * depth + "}" * depth + "}").elements


def test_braces_in_strings_and_comments_do_not_count():
    assert parse_text('import "' + "{" * 50 + '"\n#' + "{" * 50).declarations


def test_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "x.regs"
    path.write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(RegisterDbError, match=r"x\.regs:2: not UTF-8"):
        parse_file(str(path))
