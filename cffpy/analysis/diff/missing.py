# SPDX-License-Identifier: MIT
"""Entries for passes and draws that only one of the captures has."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from cffpy.analysis.diff.model import Entry, Extent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.diff.model import DrawRecord, PassPair

#: Ranges of draws that a title gives.
_MAX_RANGES = 6


def missing_passes(pairs: list[PassPair]) -> Iterator[Entry]:
    """Passes without a counterpart: one entry for those that follow each other."""
    for side, group in groupby(pairs, key=_side_alone):
        if side is None:
            continue
        passes = [one for pair in group if (one := pair.good or pair.bad) is not None]
        absent = "bad" if side == "good" else "good"
        draws = sum(len(one.program_draws) for one in passes)
        counted = f"{draws} draw{'s'[: draws != 1]}"
        if len(passes) == 1:
            (one,) = passes
            mode = f", {one.mode}" if one.mode else ""
            title = (
                f"pass {one.index} of {side} is missing in {absent} ({one.kind}{mode}, {counted})"
            )
        else:
            numbers = f"{passes[0].index}..{passes[-1].index}"
            title = f"passes {numbers} of {side} are missing in {absent} ({counted})"
        extents = tuple(
            Extent(one.index, None) if side == "good" else Extent(None, one.index) for one in passes
        )
        yield Entry(title, extents, rank=0)


def _side_alone(pair: PassPair) -> str | None:
    if pair.good is not None and pair.bad is not None:
        return None
    return "bad" if pair.good is None else "good"


def missing_draws(pair: PassPair) -> Iterator[Entry]:
    """Draws without a counterpart: one entry for those of good, one for those of bad."""
    assert pair.good is not None
    assert pair.bad is not None
    for in_bad in (False, True):
        numbers = [
            _number(theirs if in_bad else mine)
            for mine, theirs in pair.draws
            if (mine is None) is in_bad and (theirs is None) is not in_bad
        ]
        if not numbers:
            continue
        extents = joined(
            Extent(pair.good.index, pair.bad.index, number, number, in_bad) for number in numbers
        )
        there, absent = ("bad", "good") if in_bad else ("good", "bad")
        index = pair.bad.index if in_bad else pair.good.index
        draws = draws_text(extents)
        verb = "is" if len(numbers) == 1 else "are"
        title = f"pass {index}: {draws} of {there} {verb} missing in {absent}"
        yield Entry(title, extents, rank=0)


def joined(extents: Iterator[Extent] | list[Extent]) -> tuple[Extent, ...]:
    """Neighbours of one pair of passes joined to ranges."""
    found: list[Extent] = []
    for extent in extents:
        last = found[-1] if found else None
        if (
            last is not None
            and (last.good_pass, last.bad_pass) == (extent.good_pass, extent.bad_pass)
            and last.in_bad == extent.in_bad
            and last.last is not None
            and extent.first == last.last + 1
        ):
            found[-1] = Extent(last.good_pass, last.bad_pass, last.first, extent.last, last.in_bad)
        else:
            found.append(extent)
    return tuple(found)


def draws_text(extents: tuple[Extent, ...]) -> str:
    """``draw 17`` or ``draws 3, 10..14``."""
    ranges = [
        str(extent.first) if extent.first == extent.last else f"{extent.first}..{extent.last}"
        for extent in extents
    ]
    is_one = len(ranges) == 1 and extents[0].first == extents[0].last
    if len(ranges) > _MAX_RANGES:
        ranges = [*ranges[:_MAX_RANGES], f"{len(ranges) - _MAX_RANGES} more ranges"]
    return f"draw{'' if is_one else 's'} {', '.join(ranges)}"


def _number(record: DrawRecord | None) -> int:
    assert record is not None
    assert record.action.program_number is not None
    return record.action.program_number
