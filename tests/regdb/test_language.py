# SPDX-License-Identifier: MIT
"""Text of .regs to model and back, and the messages about wrong text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.descriptions import MAX_NUMBER
from cffpy.errors import RegisterDbError
from cffpy.regdb.language import (
    LANGUAGE,
    MAX_NESTING,
    Array,
    Bitfield,
    Bitset,
    Condition,
    Description,
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
    print_description,
    quoted,
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


names = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True),
    st.sampled_from(sorted(LANGUAGE.keywords)),
    st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=8),
)
numbers = st.one_of(st.integers(0, 20), st.integers(0, MAX_NUMBER))
attribute = st.integers(0, 40)


def tuples(strategy, **bounds):
    return st.lists(strategy, max_size=3, **bounds).map(tuple)


@st.composite
def ranges(draw):
    first, last = draw(st.one_of(st.none(), names)), draw(st.one_of(st.none(), names))
    return Range(first, last if first is not None or last is not None else draw(names))


conditions = st.none() | st.builds(Condition, names, tuples(ranges(), min_size=1))
values = st.builds(Value, names, st.none() | numbers, conditions)
bits = st.tuples(st.integers(0, 63), st.integers(0, 63)).map(lambda pair: tuple(sorted(pair)))
type_names = st.none() | names
plain_types = st.builds(Type, type_names, attribute, attribute, attribute, st.booleans())


def fields_of(types):
    return st.builds(
        lambda name, pair, kind, condition: Bitfield(name, *pair, kind, condition),
        names,
        bits,
        types,
        conditions,
    )


inner_fields = fields_of(plain_types)
types = st.builds(
    Type,
    type_names,
    attribute,
    attribute,
    attribute,
    st.booleans(),
    tuples(inner_fields),
    tuples(values),
)
fields = fields_of(types)
registers = st.builds(
    Register,
    names,
    numbers,
    st.sampled_from([32, 64]),
    st.none() | bits,
    types,
    attribute,
    attribute,
    tuples(names),
    st.none() | names,
    conditions,
)


def containers(elements):
    array = st.builds(
        Array,
        names,
        tuples(numbers, min_size=1),
        attribute,
        attribute,
        st.none() | names,
        tuples(names),
        conditions,
        tuples(elements),
    )
    stripe = st.builds(
        Stripe, st.none() | names, numbers, attribute, attribute, conditions, tuples(elements)
    )
    return array | stripe


elements = st.recursive(registers, containers, max_leaves=4)
declarations = st.one_of(
    st.builds(Import, names),
    st.builds(Enum, names, tuples(values), st.booleans(), conditions),
    st.builds(Bitset, names, tuples(fields), st.booleans(), conditions),
    st.builds(Domain, names, tuples(elements), attribute, conditions),
)
descriptions = st.builds(Description, tuples(declarations))


@pytest.mark.slow
@given(descriptions)
def test_any_model_survives_printing_and_parsing(description):
    assert parse_text(print_description(description)) == description


def test_names_that_need_quotes():
    assert quoted("RB_MRT") == "RB_MRT"
    assert [quoted(name) for name in ("2", "64B", "A ", "usage", "")] == [
        '"2"',
        '"64B"',
        '"A "',
        '"usage"',
        '""',
    ]


def test_layout():
    text = """\
import "common"
import "other"

enum e {
    A    = 0
    LONG = 1 when chip A6XX-
    B
}

bitset b inline when chip A2XX {
    0..3 NAME : uint shr 4
    4    FLAG
}

domain D width 8 {
    reg32 0x0001 A      : uint usage x, y
    reg64 0x1000 LONGER
    reg32 0x1002 C {
        0 X : boolean
    }
    array 0x1010 R[4] stride 2 {
        reg32 0 S
    }
    stripe when e A { }
}
"""
    assert print_description(parse_text(text)) == text
