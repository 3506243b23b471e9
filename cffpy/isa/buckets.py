# SPDX-License-Identifier: MIT
"""How the leaves that a word may match are found: by a few bits that most leaves fix."""

from __future__ import annotations

_KEY_BITS = 9
"""Bits of a word that choose the leaves to try."""


def key_mask(leaves: list[tuple[int, int, int, int]], size: int) -> int:
    """The bits that most leaves fix."""
    uses = sorted(
        range(size), key=lambda bit: sum(leaf[1] >> bit & 1 for leaf in leaves), reverse=True
    )
    mask = 0
    for bit in uses[:_KEY_BITS]:
        mask |= 1 << bit
    return mask


def key_values(key: int, match: int, test: int) -> list[int]:
    """All values of the key bits that a leaf allows."""
    values = [match & key]
    free = key & ~test
    while free:
        bit = free & -free
        free ^= bit
        values += [value | bit for value in values]
    return values


def common_bits(leaves: list[tuple[int, int]]) -> tuple[int, int]:
    """(mask, match) that holds for each of ``leaves``; never true for none."""
    if not leaves:
        return 0, 1
    mask = -1
    for _match, test in leaves:
        mask &= test
    for match, _test in leaves:
        mask &= ~(match ^ leaves[0][0])
    return mask, leaves[0][0] & mask
