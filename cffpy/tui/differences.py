# SPDX-License-Identifier: MIT
"""What the browser needs of a comparison: signs of draws and passes, counterparts, text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from cffpy.analysis.diff.model import Extent, PassPair
    from cffpy.api.comparison import Comparison

DIFFERS, MISSING = "≠", "∅"
"""Signs of what differs, and of what the other capture lacks."""


class Differences:
    """Of two captures, in this order; index 0 is the first.

    ``signs``: of each capture, sign by ``Action.order`` of draws and ~index of passes.
    ``counterparts``: of each, ``order`` of a draw -> ``order`` in the other capture.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.lines = [visible(line) for line in comparison.lines()] or ["no difference"]
        self.summary = comparison.summary
        self.signs: tuple[dict[int, str], dict[int, str]] = ({}, {})
        self.counterparts: tuple[dict[int, int], dict[int, int]] = ({}, {})
        pairs = comparison.passes
        for pair in pairs:
            self._add_pair(pair)
        for entry in comparison.entries:
            for extent in entry.extents:
                self._add_extent(extent, pairs)

    def _add_pair(self, pair: PassPair) -> None:
        for side, one, other in ((0, pair.good, pair.bad), (1, pair.bad, pair.good)):
            if one is not None and other is None:
                self.signs[side][~one.index] = MISSING
        for records in pair.draws:
            good, bad = (None if one is None else one.action.order for one in records)
            for side, mine, other_order in ((0, good, bad), (1, bad, good)):
                if mine is not None and other_order is not None:
                    self.counterparts[side][mine] = other_order
                elif mine is not None:
                    self.signs[side][mine] = MISSING

    def _add_extent(self, extent: Extent, pairs: list[PassPair]) -> None:
        for side, index in enumerate((extent.good_pass, extent.bad_pass)):
            if index is not None:
                self.signs[side].setdefault(~index, DIFFERS)
        side = 1 if extent.in_bad else 0
        wanted = extent.bad_pass if extent.in_bad else extent.good_pass
        for pair in pairs:
            one = pair.bad if extent.in_bad else pair.good
            if one is None or one.index != wanted or extent.first is None:
                continue
            last = extent.first if extent.last is None else extent.last
            for draw in one.draws[extent.first : last + 1]:
                self.signs[side].setdefault(draw.order, DIFFERS)
                other = self.counterparts[side].get(draw.order)
                if other is not None:
                    self.signs[1 - side].setdefault(other, DIFFERS)
