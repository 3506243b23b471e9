# SPDX-License-Identifier: MIT
"""Parity bits of packet headers."""

from __future__ import annotations


def odd_parity(value: int) -> int:
    """The bit that makes the number of set bits of ``value`` and it odd."""
    return (value.bit_count() & 1) ^ 1
