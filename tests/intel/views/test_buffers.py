# SPDX-License-Identifier: MIT
"""Rows of dwords: columns, pitch, limits, and what is taken for a float."""

from __future__ import annotations

from struct import pack

import pytest

from cffpy.intel.views.aubinator.handlers import dword_rows, looks_like_float


@pytest.mark.parametrize(
    ("word", "is_float"),
    [(0x3F800000, True), (0, True), (0x80000000, True), (1, False), (0xC0000000, True)],
)
def test_floats(word: int, is_float: bool) -> None:
    assert looks_like_float(word) == is_float


def rows(count: int, pitch: int, lines: int = -1) -> list[int]:
    """How many dwords each line has."""
    text = dword_rows(pack(f"<{count}I", *range(1, count + 1)), pitch, lines, True)
    assert text.endswith("\n")
    return [len(line.split()) for line in text[:-1].split("\n")]


def test_rows() -> None:
    assert rows(10, 0) == [0, 8, 2]
    assert rows(10, 12) == [3, 3, 3, 1]
    assert rows(12, 40) == [8, 2, 2]
    assert rows(10, 7) == [8, 2]
    assert rows(0, 0) == [0]


def test_lines_are_limited() -> None:
    assert rows(10, 12, 2) == [3, 3, 3, 0]
    assert rows(10, 12, 3) == [3, 3, 3, 1]
    assert rows(10, 12, 0) == [3, 0]
    assert rows(20, 0, 1) == [0, 8, 0]
    assert rows(20, 0, 0) == [0, 0]


def test_text() -> None:
    data = pack("<fIf", 1.5, 7, -2)
    assert dword_rows(data, 12, -1, True) == "        1.50   0x00000007      -2.00\n"
    assert dword_rows(data[:4], 4, -1, False) == "    0x3fc00000\n"
