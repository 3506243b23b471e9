# SPDX-License-Identifier: MIT
"""Alignment of two sequences: what is the same on both sides, what is missing on one.

Equal items are matched first, from both ends and then around items that occur once on each side
(patience); what lies between is matched by likeness, so that a changed item stays opposite its
counterpart and an inserted one stays alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

_Item = TypeVar("_Item")

#: Positions on the two sides; None where an item has no counterpart.
Pair = tuple[int | None, int | None]

#: Pairs of items whose likeness is worked out, at most; beyond, items are matched in their order.
_MAX_CELLS = 1_000_000

#: The same, for all gaps of a comparison together.
_ALL_CELLS = 2_000_000

#: Less like than this, two items are not each other's counterparts.
_LEAST_LIKENESS = 0.3


class Cells:
    """How many more likenesses a comparison may work out; when they are spent, order decides."""

    def __init__(self) -> None:
        self._left = _ALL_CELLS

    def take(self, count: int) -> bool:
        """Take so many; False where they are too many."""
        if count > min(self._left, _MAX_CELLS):
            return False
        self._left -= count
        return True


def align(
    left: Sequence[_Item],
    right: Sequence[_Item],
    keys: Sequence[Callable[[_Item], Hashable]],
    likeness: Callable[[_Item, _Item], float],
    cells: Cells | None = None,
) -> list[Pair]:
    """Pairs in order. ``likeness``: 0 (nothing alike) to 1.

    ``cells``: shared by all alignments of a comparison.

    ``keys``: items are equal when such a key of theirs is; the first distinguishes most, and what
    it leaves open, the next ones are asked about.
    """
    aligner = _Aligner(left, right, likeness, cells or Cells())
    return aligner.pairs((range(len(left)), range(len(right))), keys)


class _Aligner(Generic[_Item]):
    """Two sequences, and how much work may still be done on them."""

    def __init__(
        self,
        left: Sequence[_Item],
        right: Sequence[_Item],
        likeness: Callable[[_Item, _Item], float],
        cells: Cells,
    ) -> None:
        self._left = left
        self._right = right
        self._likeness = likeness
        self._cells = cells

    def pairs(
        self, gap: tuple[range, range], keys: Sequence[Callable[[_Item], Hashable]]
    ) -> list[Pair]:
        """Pairs within these ranges."""
        ones, others = gap
        if not ones or not others:
            return [*((one, None) for one in ones), *((None, other) for other in others)]
        if not keys:
            return self._by_likeness(ones, others)
        key, *coarser = keys
        found = [key(self._left[one]) for one in ones], [key(self._right[o]) for o in others]
        pairs: list[Pair] = []
        position = [0, 0]
        for first, second in [*_anchors(*found), (len(ones), len(others))]:
            inner = ones[position[0] : first], others[position[1] : second]
            pairs.extend(self.pairs(inner, coarser))
            if first < len(ones):
                pairs.append((ones[first], others[second]))
            position = [first + 1, second + 1]
        return pairs

    def _by_likeness(self, ones: range, others: range) -> list[Pair]:
        """Pairs of what lies between two anchors."""
        if len(ones) == len(others):
            both = zip(ones, others, strict=True)
            if all(self._alike_at(one, other) for one, other in both):
                return list(zip(ones, others, strict=True))
        if not self._cells.take(len(ones) * len(others)):
            shorter = min(len(ones), len(others))
            return [
                *zip(ones[:shorter], others[:shorter], strict=True),
                *((one, None) for one in ones[shorter:]),
                *((None, other) for other in others[shorter:]),
            ]
        return _best_pairs(ones, others, self._alike_at)

    def _alike_at(self, one: int, other: int) -> float:
        value = self._likeness(self._left[one], self._right[other])
        return value if value >= _LEAST_LIKENESS else 0.0


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of equal items, increasing on both sides."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    room = min(len(left), len(right)) - start
    while end < room and left[-1 - end] == right[-1 - end]:
        end += 1
    middle = _unique_anchors(left[start : len(left) - end], right[start : len(right) - end])
    return [
        *((position, position) for position in range(start)),
        *((start + one, start + other) for one, other in middle),
        *((len(left) - end + number, len(right) - end + number) for number in range(end)),
    ]


def _unique_anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Items that occur once on each side: the longest increasing run of their positions."""
    counts = Counter(left), Counter(right)
    places = {item: place for place, item in enumerate(right) if counts[1][item] == 1}
    found = [
        (place, places[item])
        for place, item in enumerate(left)
        if counts[0][item] == 1 and item in places
    ]
    return _longest_increasing(found)


def _longest_increasing(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    tails: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(found):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else None)
        if length == len(tails):
            tails.append(place)
            ends.append(number)
        else:
            tails[length] = place
            ends[length] = number
    chain: list[tuple[int, int]] = []
    number_or_none: int | None = ends[-1] if ends else None
    while number_or_none is not None:
        chain.append(found[number_or_none])
        number_or_none = before[number_or_none]
    return chain[::-1]


def _best_pairs(ones: range, others: range, alike_at: Callable[[int, int], float]) -> list[Pair]:
    """The pairing, in order, with the greatest sum of likeness."""
    width = len(others) + 1
    best = [[0.0] * width for _ in range(len(ones) + 1)]
    alike = [[alike_at(one, other) for other in others] for one in ones]
    for row in range(len(ones) - 1, -1, -1):
        for column in range(len(others) - 1, -1, -1):
            best[row][column] = max(
                best[row + 1][column],
                best[row][column + 1],
                best[row + 1][column + 1] + alike[row][column],
            )
    pairs: list[Pair] = []
    row = column = 0
    while row < len(ones) and column < len(others):
        here = best[row][column]
        # where several pairings are as good, what is missing is missing early: behind the last
        # items that are equal
        if here == best[row + 1][column]:
            pairs.append((ones[row], None))
            row += 1
        elif here == best[row][column + 1]:
            pairs.append((None, others[column]))
            column += 1
        else:
            pairs.append((ones[row], others[column]))
            row, column = row + 1, column + 1
    pairs.extend((one, None) for one in ones[row:])
    pairs.extend((None, other) for other in others[column:])
    return pairs
