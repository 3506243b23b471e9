# SPDX-License-Identifier: MIT
"""Primitive streams: runs, their ends, errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.errors import VisibilityStreamError
from cffpy.vsc.primitive_stream import PrimitiveRun, decode, encode, primitives_per_bin
from tests.vsc.streams import BIN_COUNTS, PRIMITIVE_STREAMS, drain

EXAMPLE = bytes.fromhex("f9628000")  # of the document: 10 triangles, 4 bins


def plain(runs):
    """Runs without their positions."""
    return [run[:2] for run in runs]


def test_the_example_of_the_document() -> None:
    runs = [PrimitiveRun(0b1111, 5, 0), PrimitiveRun(0, 5, 11)]
    assert list(decode(EXAMPLE, 4)) == runs
    assert list(decode(EXAMPLE, 4, 10)) == runs
    assert encode(runs, 4) == EXAMPLE
    assert primitives_per_bin(runs, 4) == [5, 5, 5, 5]


@given(PRIMITIVE_STREAMS)
def test_encoded_is_decoded(stream) -> None:
    bin_count, runs = stream
    data = encode(runs, bin_count)
    again = list(decode(data, bin_count))
    assert plain(again) == plain(runs)
    assert again == list(decode(data, bin_count, sum(run.primitives for run in runs)))
    assert encode(again, bin_count) == data
    assert len(data) % 4 == 0
    by_hand = [
        sum(run.primitives for run in runs if f"{run.bins:0{bin_count}b}"[-1 - slot] == "1")
        for slot in range(bin_count)
    ]
    assert primitives_per_bin(runs, bin_count) == by_hand


@given(PRIMITIVE_STREAMS.filter(lambda stream: stream[1]), st.data(), st.booleans())
def test_any_wrong_bit_is_noticed(stream, choice, known: bool) -> None:
    bin_count, runs = stream
    count = sum(run.primitives for run in runs) if known else None
    data = bytearray(encode(runs, bin_count))
    bit = choice.draw(st.integers(0, 8 * len(data) - 1))
    data[bit >> 3] ^= 0x80 >> (bit & 7)
    with pytest.raises(VisibilityStreamError):
        list(decode(data, bin_count, count))


@pytest.mark.parametrize("count", [None, 10])
def test_any_wrong_bit_of_the_example_is_noticed(count: int | None) -> None:
    for bit in range(32):
        data = bytearray(EXAMPLE)
        data[bit >> 3] ^= 0x80 >> (bit & 7)
        with pytest.raises(VisibilityStreamError):
            list(decode(data, 4, count))


@pytest.mark.parametrize(
    ("count", "runs", "message", "offset"),
    [
        (11, 2, "the stream ends after 10 of 11 primitives", 18),
        (9, 1, "a run of 5 primitives, but only 4 of 9 are left", 11),
        (5, 1, "set bits after the 5 primitives", 11),
        (4, 0, "a run of 5 primitives, but only 4 of 4 are left", 0),
        (0, 0, "set bits after the 0 primitives", 0),
    ],
)
def test_counts_that_do_not_fit(count: int, runs: int, message: str, offset: int) -> None:
    stream = decode(EXAMPLE, 4, count)
    for _ in range(runs):
        next(stream)
    with pytest.raises(VisibilityStreamError) as caught:
        next(stream)
    assert (caught.value.reason, caught.value.bit_offset) == (message, offset)


def test_padding_may_be_longer_than_a_dword() -> None:
    """All zeros are valid. Only a caller that knows the size can report that it is too large."""
    assert plain(decode(EXAMPLE + bytes(4), 4, 10)) == [(15, 5), (0, 5)]


def test_a_stream_that_was_not_written() -> None:
    assert list(decode(b"", 4)) == []
    with pytest.raises(VisibilityStreamError, match="nothing but zeros"):
        list(decode(bytes(8), 4))


@given(st.binary(max_size=300), BIN_COUNTS, st.none() | st.integers(0, 100))
def test_noise(data: bytes, bin_count: int, count: int | None) -> None:
    runs, problem = drain(decode(data, bin_count, count))
    if problem is None:
        assert encode(runs, bin_count).rstrip(b"\0") == data.rstrip(b"\0")
    else:
        assert 0 <= problem.bit_offset <= 8 * len(data)
