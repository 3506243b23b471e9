# SPDX-License-Identifier: MIT
"""Packet headers: what a built header reads as, wrong parity, the order of the tests, resync."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.pm4.reader import (
    BAD,
    IDLE,
    OPCODE,
    REGISTERS,
    HeaderMemo,
    is_type4_or_type7,
    next_packet,
    read_header,
    type0_header,
    type3_header,
    type4_header,
    type7_header,
)

DWORDS = st.integers(0, 0xFFFFFFFF)


@given(st.integers(0, 0x7FFF), st.integers(0, 0x3FFF))
def test_type0(register: int, count_minus_1: int) -> None:
    word = type0_header(register, count_minus_1 + 1)
    assert read_header(word) == (REGISTERS, register, count_minus_1 + 2)


@given(st.integers(0, 0x7F), st.integers(0, 0x3FFF), st.integers(0, 1))
def test_type3(opcode: int, count_minus_1: int, predicate: int) -> None:
    word = type3_header(opcode, count_minus_1 + 1) | predicate
    assert read_header(word) == (OPCODE, opcode, count_minus_1 + 2)


@given(st.integers(0, 0x7FFFF), st.integers(0, 0x7F))
def test_type4(register: int, count: int) -> None:
    word = type4_header(register, count)
    assert read_header(word) == (REGISTERS, register, count + 1)
    assert is_type4_or_type7(word)


@given(st.integers(0, 0x7F), st.integers(0, 0x3FFF))
def test_type7(opcode: int, count: int) -> None:
    word = type7_header(opcode, count)
    assert read_header(word) == (OPCODE, opcode, count + 1)
    assert is_type4_or_type7(word)


@pytest.mark.parametrize("parity_bit", [1 << 7, 1 << 27])
@given(st.integers(0, 0x7FFFF), st.integers(0, 0x7F))
def test_type4_with_wrong_parity(parity_bit: int, register: int, count: int) -> None:
    assert read_header(type4_header(register, count) ^ parity_bit) == (BAD, 0, 1)


@pytest.mark.parametrize("parity_bit", [1 << 15, 1 << 23])
@given(st.integers(0, 0x7F), st.integers(0, 0x3FFF))
def test_type7_with_wrong_parity(parity_bit: int, opcode: int, count: int) -> None:
    assert read_header(type7_header(opcode, count) ^ parity_bit) == (BAD, 0, 1)


@pytest.mark.parametrize("bit", range(24, 28))
def test_type7_needs_zeros_above_the_opcode(bit: int) -> None:
    assert read_header(type7_header(0x10, 3) | 1 << bit) == (BAD, 0, 1)


def test_type7_ignores_bit_14() -> None:
    assert read_header(type7_header(0x10, 3) | 1 << 14) == (OPCODE, 0x10, 4)


@pytest.mark.parametrize("bit", [*range(1, 8), 15])
def test_type3_needs_zeros(bit: int) -> None:
    assert read_header(0xC0011000 | 1 << bit) == (BAD, 0, 1)


@pytest.mark.parametrize(
    ("word", "header"),
    [
        (0x00000000, (REGISTERS, 0, 2)),  # type 0: any word whose top bits are 00
        (0x3FFF7FFF, (REGISTERS, 0x7FFF, 0x4001)),
        (0x00008000, (REGISTERS, 0, 2)),  # bit 15 says nothing
        (0x40887101, (BAD, 0, 1)),  # a type-4 header without its register's parity
        (0x48887101, (REGISTERS, 0x8871, 2)),
        (0x50000000, (BAD, 0, 1)),
        (0x60000000, (BAD, 0, 1)),
        (0x70108000, (OPCODE, 0x10, 1)),
        (0x80000000, (IDLE, 0, 1)),
        (0x80000001, (BAD, 0, 1)),
        (0xC0001000, (OPCODE, 0x10, 2)),
        (0xC0001001, (OPCODE, 0x10, 2)),
        (0xFFFFFFFF, (BAD, 0, 1)),
    ],
)
def test_words_written_out(word: int, header: tuple[int, int, int]) -> None:
    assert read_header(word) == header


@given(st.lists(DWORDS, min_size=1, max_size=50))
def test_memo_equals_reading(words: list[int]) -> None:
    memo = HeaderMemo()
    for word in words + words:
        assert memo[word] == read_header(word)


@pytest.mark.slow
def test_memo_is_bounded() -> None:
    memo = HeaderMemo()
    for word in range(0x70000):
        memo[word]
    assert len(memo) <= 1 << 16
    assert memo[0x48887101] == (REGISTERS, 0x8871, 2)


def naive_next(words: list[int], start: int, end: int) -> int:
    for index in range(start, end):
        if words[index] >> 28 in (4, 7) and read_header(words[index])[0] in (REGISTERS, OPCODE):
            return index
    return end


SOME_HEADERS = st.sampled_from([0x48887101, 0x70108000, 0xC0001000, 0x48887181, 0x70908000, 0])


@given(st.lists(st.one_of(DWORDS, SOME_HEADERS), max_size=30), st.data())
def test_next_packet(words: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    assert next_packet(words, start, end) == naive_next(words, start, end)


def test_next_packet_takes_no_type3_and_no_type0() -> None:
    words = [0xFFFFFFFF, 0xC0001000, 0, 0x70108000]
    assert next_packet(words, 0, 4) == 3
    assert next_packet(words, 0, 3) == 3
    assert next_packet(words, 3, 4) == 3
