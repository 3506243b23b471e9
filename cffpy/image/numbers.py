# SPDX-License-Identifier: MIT
"""Rounding in layout rules. Alignments need not be powers of two."""

from __future__ import annotations


def align(value: int, alignment: int) -> int:
    """``value`` rounded up to a multiple of ``alignment``."""
    return -(-value // alignment) * alignment


def align_down(value: int, alignment: int) -> int:
    """``value`` rounded down to a multiple of ``alignment``."""
    return value // alignment * alignment


def divide_up(value: int, divisor: int) -> int:
    """``number / divisor``, rounded up to a whole number."""
    return -(-value // divisor)


def minify(size: int, level: int) -> int:
    """The size of a mip level: halved for each level, never below 1."""
    return max(1, size >> level)


def next_power_of_two(value: int) -> int:
    """The smallest power of two that is not below ``value``; 1 for 0."""
    return 1 << max(0, value - 1).bit_length()


def trailing_zeros(value: int) -> int:
    """The number of zero bits below the lowest set bit of a positive number."""
    return (value & -value).bit_length() - 1
