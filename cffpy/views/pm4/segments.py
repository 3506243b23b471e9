# SPDX-License-Identifier: MIT
"""A buffer's findings as segments that do not overlap, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cffpy.analysis.survey import Finding
from cffpy.value_object import ValueObject


class Segment(ValueObject):
    """Bytes ``start`` to ``end`` of a buffer, as ``finding`` says; a finding begins at ``start``
    where ``is_start``, or an earlier one continues after one inside it.
    """

    __slots__ = ("end", "finding", "is_start", "start")

    def __init__(self, start: int, end: int, finding: Finding, is_start: bool) -> None:
        self.start = start
        self.end = end
        self.finding = finding
        self.is_start = is_start


def segments(findings: Iterable[Finding]) -> Iterator[Segment]:
    """The segments by rising address. Where findings overlap the stronger kind decides.

    Of the same kind, each start begins a segment; of those that start at one place, the longest
    says what it is.
    """
    import heapq

    # by start; the strongest and then the longest first
    ordered = sorted(findings, key=lambda finding: (finding.gpuaddr, finding.kind, -finding.dwords))
    open_ones: list[tuple[int, int, int, int, Finding]] = []
    edges = sorted({edge for item in ordered for edge in (item.gpuaddr, _end(item))})
    following = iter(ordered)
    upcoming = next(following, None)
    current: Segment | None = None
    number = 0
    for edge in edges:
        starts = False
        while upcoming is not None and upcoming.gpuaddr == edge:
            # kind first; then what began last, then the longest
            number += 1
            entry = (upcoming.kind, -upcoming.gpuaddr, -upcoming.dwords, number, upcoming)
            heapq.heappush(open_ones, entry)
            upcoming = next(following, None)
        while open_ones and _end(open_ones[0][4]) <= edge:
            heapq.heappop(open_ones)
        best = open_ones[0][4] if open_ones else None
        starts = best is not None and best.gpuaddr == edge
        if current is not None and best is current.finding and not starts:
            continue
        if current is not None:
            yield Segment(current.start, edge, current.finding, current.is_start)
        current = None if best is None else Segment(edge, edge, best, starts)


def _end(finding: Finding) -> int:
    return finding.gpuaddr + finding.dwords * 4
