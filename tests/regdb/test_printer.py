# SPDX-License-Identifier: MIT
"""Printing and parsing again gives the same model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.descriptions import MAX_NUMBER
from cffpy.regdb.language import (
    KEYWORDS,
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
    parse_text,
    print_description,
    quoted,
)

names = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True),
    st.sampled_from(sorted(KEYWORDS)),
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
