# SPDX-License-Identifier: MIT
"""Reads packet headers: word -> (kind, register or opcode, dwords with header), memoised by word.

The order of the tests is the reference's: types 0, 4, 3, 7, 2, on every generation.
"""

from __future__ import annotations

from cffpy.layout import Layout
from cffpy.pm4.layouts import (
    TYPE0_HEADER,
    TYPE2_HEADER,
    TYPE3_HEADER,
    TYPE4_HEADER,
    TYPE7_HEADER,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Kinds of a packet: it writes registers, has an opcode, is one idle dword, or is none.
REGISTERS, OPCODE, IDLE, BAD = range(4)

Header = tuple[int, int, int]

#: Headers kept at most: hostile streams may hold nothing but different words.
_MEMO_LIMIT = 1 << 16


def odd_parity(value: int) -> int:
    """The bit that makes the number of set bits of ``value`` and it odd."""
    return (value.bit_count() & 1) ^ 1


def read_header(word: int) -> Header:
    """Kind, register offset or opcode, and size in dwords (header included) of a packet."""
    if word >> 30 == 0:
        register, count, _ = _fields(TYPE0_HEADER, word)
        return REGISTERS, register, count + 2
    if word >> 28 == 4:
        count, count_parity, register, register_parity, _ = _fields(TYPE4_HEADER, word)
        if count_parity == odd_parity(count) and register_parity == odd_parity(register):
            return REGISTERS, register, count + 1
    if word >> 30 == 3:
        _, zero, opcode, zero_15, count, _ = _fields(TYPE3_HEADER, word)
        if not zero and not zero_15:
            return OPCODE, opcode, count + 2
    if word >> 28 == 7:
        count, count_parity, opcode, opcode_parity, zero, _ = _fields(TYPE7_HEADER, word)
        good = count_parity == odd_parity(count) and opcode_parity == odd_parity(opcode)
        if good and not zero:
            return OPCODE, opcode, count + 1
    if word == TYPE2_HEADER:
        return IDLE, 0, 1
    return BAD, 0, 1


class HeaderMemo(dict[int, Header]):
    """Header word -> what it means, read once for each distinct word."""

    def __missing__(self, word: int) -> Header:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        header = self[word] = read_header(word)
        return header


def is_type4_or_type7(word: int) -> bool:
    """True for a header whose parity shows that it is one (a5xx and later)."""
    return word >> 28 in (4, 7) and read_header(word)[0] != BAD


def next_packet(dwords: Sequence[int], index: int, end: int) -> int:
    """Index of the next type-4 or type-7 header from ``index`` on, ``end`` if there is none."""
    while index < end:
        word = dwords[index]
        if word >> 28 in (4, 7) and is_type4_or_type7(word):
            return index
        index += 1
    return end


def _fields(layout: Layout, word: int) -> tuple[int, ...]:
    return layout.read_dwords((word,))
