# SPDX-License-Identifier: MIT
"""The differences from another capture, as reports have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.reports.columns import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.analysis.diff.model import Entry, Extent, PassPair
    from cffpy.api.comparison import Comparison
    from cffpy.reports.columns import Cuts
    from cffpy.reports.documents import ReportedComparison, ReportedDifference

#: Entries, and of one entry its extents, fields and consequences, that a report has.
_MAX_ENTRIES, _MAX_EXTENTS, _MAX_FIELDS, _MAX_CONSEQUENCES = 2000, 200, 60, 60
_MAX_DEPTH = 3


def differences(
    comparison: Comparison, orders: Mapping[int, int], cuts: Cuts
) -> ReportedComparison:
    """The entries of a comparison. ``orders``: position of a draw -> its number in the report."""
    numbers = _Numbers(comparison, orders)
    entries = comparison.entries
    if len(entries) > _MAX_ENTRIES:
        cuts.note(f"differences after the first {_MAX_ENTRIES:,}")
    return {
        "other": comparison.model.good.name,
        "damage": [str(damage) for damage in comparison.model.good.damage],
        "summary": comparison.summary,
        "entries": [_entry(entry, numbers, 0) for entry in entries[:_MAX_ENTRIES]],
        "missing": [
            f"pass {pair.good.index} of the other capture is missing"
            for pair in comparison.model.pairs
            if pair.bad is None and pair.good is not None
        ],
    }


class _Numbers:
    """Pass and number of a draw in either capture -> its number in the report."""

    def __init__(self, comparison: Comparison, orders: Mapping[int, int]) -> None:
        self._of: dict[tuple[bool, int, int], int] = {}
        self._passes: dict[int, int] = {}
        for pair in comparison.model.pairs:
            if pair.good is not None and pair.bad is not None:
                self._passes[pair.good.index] = pair.bad.index
            for in_bad, index, number, order in _pair_rows(pair):
                if order in orders:
                    self._of[in_bad, index, number] = orders[order]

    def of(self, extent: Extent) -> list[int]:
        """Pass, first and last draw in the report; -1 for what it does not have."""
        index = extent.bad_pass
        if index is None and extent.good_pass is not None:
            index = self._passes.get(extent.good_pass)
        own = extent.bad_pass if extent.in_bad else extent.good_pass
        if own is None or extent.first is None or extent.last is None:
            return [NONE if index is None else index, NONE, NONE]
        first = self._of.get((extent.in_bad, own, extent.first), NONE)
        last = self._of.get((extent.in_bad, own, extent.last), first)
        return [NONE if index is None else index, first, last]


def _pair_rows(pair: PassPair) -> Iterator[tuple[bool, int, int, int]]:
    """Whether it is of the bad capture, pass, number of the draw, position in the bad capture."""
    for mine, theirs in pair.draws:
        if theirs is None:
            continue
        order = theirs.action.order
        for in_bad, record_in, record in ((False, pair.good, mine), (True, pair.bad, theirs)):
            if record_in is not None and record is not None:
                number = record.action.number
                if number is not None:
                    yield in_bad, record_in.index, number, order


def _entry(entry: Entry, numbers: _Numbers, depth: int) -> ReportedDifference:
    below = entry.consequences if depth < _MAX_DEPTH else []
    return {
        "title": entry.title,
        "extents": [numbers.of(extent) for extent in entry.extents[:_MAX_EXTENTS]],
        "fields": [
            [
                difference.name,
                difference.good,
                difference.bad,
                list(difference.details[:_MAX_FIELDS]),
            ]
            for difference in entry.differences[:_MAX_FIELDS]
        ],
        "more": max(0, len(entry.differences) - _MAX_FIELDS),
        "consequences": [_entry(one, numbers, depth + 1) for one in below[:_MAX_CONSEQUENCES]],
    }
