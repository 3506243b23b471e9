# SPDX-License-Identifier: MIT
"""The offset index of a large domain: which elements a lookup of an offset has to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cffpy.regdb import rows

ELSEWHERE = -1
"""The bucket of elements that can be anywhere, for offsets without a bucket."""

_SMALL = 32
_UNBOUNDED_SPAN = 1 << 32

# An element over more buckets than this (0x40000 dwords are 16,384 of them) counts as unbounded.
_MAX_BUCKETS = 16384


def bucketed(elements: Sequence[rows.ElementRow]) -> rows.DomainRow:
    """The domain row: with buckets of 16 dwords if it has more than 32 elements."""
    if len(elements) <= _SMALL:
        return tuple(elements), None
    anywhere: list[int] = []
    buckets: dict[int, list[int]] = {}
    for index, element in enumerate(elements):
        numbers = _bucket_numbers(element)
        if numbers is None:
            anywhere.append(index)
            continue
        for number in numbers:
            buckets.setdefault(number, []).append(index)
    if anywhere:
        buckets.setdefault(ELSEWHERE, [])
    return tuple(elements), {
        number: tuple(sorted([*found, *anywhere])) for number, found in sorted(buckets.items())
    }


def span(elements: Sequence[rows.ElementRow]) -> int:
    """Dwords from offset 0 to the end of the elements, at least 1."""
    end = 1
    for element in elements:
        if element[0] == rows.STRIPE and element[4] == 1:
            end = max(end, element[3] + span(element[6]))
            continue
        extents = _extents(element)
        if extents is None:
            return _UNBOUNDED_SPAN
        end = max(end, *(last + 1 for _first, last in extents))
    return end


# First and last dword of each stretch that the element can cover, or None: it can be anywhere.
def _extents(element: rows.ElementRow) -> list[tuple[int, int]] | None:
    kind, _name, _condition, offset, length, stride = element[:6]
    if length == 0 or kind == rows.STRIPE:
        return None
    if kind == rows.REGISTER:
        return [(offset, offset + (length - 1) * stride + element[6] - 1)]
    if isinstance(offset, tuple):
        return [(first, first + stride - 1) for first in offset]
    return [(offset, offset + length * stride - 1)]


def _bucket_numbers(element: rows.ElementRow) -> Sequence[int] | None:
    extents = _extents(element)
    if extents is None:
        return None
    if sum((last >> 4) - (first >> 4) + 1 for first, last in extents) > _MAX_BUCKETS:
        return None
    return sorted(set(_numbers(extents)))


def _numbers(extents: Sequence[tuple[int, int]]) -> Iterator[int]:
    for first, last in extents:
        yield from range(first >> 4, (last >> 4) + 1)
