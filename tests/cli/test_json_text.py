# SPDX-License-Identifier: MIT
"""Tests of cffpy.cli.json_text: the text is that of the standard encoder."""

from __future__ import annotations

import json
from enum import IntEnum, StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.cli.json_text import json_pieces, json_text


class _Text(StrEnum):
    ONE = "one"


class _Number(IntEnum):
    ONE = 1


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from([*_Text])
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inside: (
        st.lists(inside) | st.dictionaries(st.text(), inside) | st.tuples(inside, inside)
    ),
    max_leaves=40,
)


@pytest.mark.slow
@given(st.dictionaries(st.text() | st.integers(), _VALUES))
def test_text_is_that_of_the_standard_encoder(document: dict[str, object]) -> None:
    """For documents of all shapes, empty containers and names that are numbers included."""
    assert "".join(json_pieces(document)) == json.dumps(document, indent=2)


def test_floats_that_are_not_finite_are_texts() -> None:
    """JSON has none; readers of other languages refuse what Python's encoder writes for them."""
    values = {"rows": [{"a": float("nan"), "b": [float("-inf"), 1.5], "c": {"d": float("inf")}}]}
    expected = {"rows": [{"a": "nan", "b": ["-inf", 1.5], "c": {"d": "inf"}}]}
    assert "".join(json_pieces(values)) == json.dumps(expected, indent=2)
    assert json_text(values) == json.dumps(expected)


def test_subclasses_of_numbers_and_strings() -> None:
    document = {"rows": [{"number": _Number.ONE, "text": _Text.ONE, "flag": True}]}
    assert "".join(json_pieces(document)) == json.dumps(document, indent=2)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_iterator_is_an_array(count: int) -> None:
    rows = [{"row": number, "items": [number]} for number in range(count)]
    text = "".join(json_pieces({"rows": iter(rows)}))
    assert text == json.dumps({"rows": rows}, indent=2)


def test_pieces_are_large_and_rows_are_taken_when_they_are_written() -> None:
    taken = 0

    def rows() -> object:
        nonlocal taken
        for taken in range(1, 20_001):
            yield {"row": taken, "text": "x" * 40}

    pieces = json_pieces({"rows": rows()})
    first = next(pieces)
    assert 1 << 18 <= len(first) < 1 << 19
    assert 0 < taken < 10_000
    assert 2 <= sum(1 for _ in pieces) < 10


def test_what_json_has_no_form_for() -> None:
    with pytest.raises(TypeError):
        "".join(json_pieces({"rows": [{"value": object()}]}))
