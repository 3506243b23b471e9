# SPDX-License-Identifier: MIT
"""Which entries of a draw stream belong to which draw packet of the binning run.

Most packets have one entry. Of some only a range is known: draws that only the GPU decides on, and
multi draws. The number of entries of the whole stream often settles these.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.frame.passes import StreamDraw

_UNLIMITED = 1 << 64


class Spans:
    """The entries of ``draws`` in a stream of ``entries`` entries.

    ``least``, ``most``: entries of all draws together. Where ``entries`` lies outside, the stream
    is not of these draws, and no entry belongs to any.
    """

    def __init__(self, draws: Sequence[StreamDraw], entries: int) -> None:
        self.draws = draws
        least = list(accumulate((draw.least for draw in draws), initial=0))
        most = list(
            accumulate(
                (_UNLIMITED if draw.most is None else draw.most for draw in draws), initial=0
            )
        )
        self.least, self.most = least[-1], most[-1]
        self.fits = self.least <= entries <= self.most
        #: The first entry of each draw, and the end of the last one; None: unknown.
        self.starts: list[int | None] = [None] * len(least)
        #: Draws whose first entry and end are known: (first, end, position), ascending.
        self.known: list[tuple[int, int, int]] = []
        if not self.fits:
            return
        for position, (before, at_most) in enumerate(zip(least, most, strict=True)):
            lowest = max(before, entries - (self.most - at_most))
            highest = min(at_most, entries - (self.least - before))
            if lowest == highest:
                self.starts[position] = lowest
        for position in range(len(draws)):
            first, end = self.starts[position], self.starts[position + 1]
            if first is not None and end is not None and end > first:
                self.known.append((first, end, position))
        self._firsts = [first for first, _, _ in self.known]

    @property
    def limited(self) -> int | None:
        """``most``, or None where nothing limits the entries."""
        return self.most if self.most < _UNLIMITED else None

    def draw_at(self, entry: int) -> StreamDraw | None:
        """The draw that an entry belongs to; None if it is unknown."""
        if not self.known:
            return None
        place = bisect_right(self._firsts, entry) - 1
        if place < 0 or entry >= self.known[place][1]:
            return None
        return self.draws[self.known[place][2]]

    def instances(self, entries: int) -> list[int | None]:
        """Instances of each entry, None where not known."""
        found: list[int | None] = [None] * entries
        for first, end, position in self.known:
            if end == first + 1:
                found[first] = self.draws[position].instances
        return found

    def primitives(self) -> int | None:
        """All primitives of all instances of all draws, None where one's are not known."""
        total = 0
        for position, draw in enumerate(self.draws):
            first, end = self.starts[position], self.starts[position + 1]
            if first is not None and first == end:
                continue
            if draw.most != 1 or draw.primitives is None or draw.instances is None:
                return None
            total += draw.primitives * draw.instances
        return total
