# SPDX-License-Identifier: MIT
"""Entries of one kind are one entry: say the constants of every draw, each with other values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.missing import joined
from cffpy.analysis.diff.model import Entry, Extent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Categories of data that programs change from draw to draw: which of its words differ is chance.
_DATA = frozenset(
    ("constants", "push constants", "uniform data", "uniform buffer", "vertex data", "index data")
)


def merged(entries: Iterable[Entry], titled: Callable[[Entry], None]) -> list[Entry]:
    """Put entries of one kind together, each under the first place where one is.

    The parts stay under the whole, with their own draws. ``titled`` gives the whole its title.
    """
    by_kind: dict[object, list[Entry]] = {}
    for entry in entries:
        by_kind.setdefault(_kind(entry), []).append(entry)
    return [of[0] if len(of) == 1 else _whole(of, titled) for of in by_kind.values()]


def _kind(entry: Entry) -> object:
    if not entry.differences or any(extent.first is None for extent in entry.extents):
        return id(entry)  # of whole passes, or draws that are missing
    about = entry.differences[0].category
    if about.name in _DATA:
        return about
    return tuple(difference.name.split(" (")[0] for difference in entry.differences)


def _whole(parts: list[Entry], titled: Callable[[Entry], None]) -> Entry:
    first = parts[0]
    extents = sorted((extent for part in parts for extent in part.extents), key=_place)
    whole = Entry("", joined(_without_overlap(extents)), first.differences, rank=first.rank)
    titled(whole)
    whole.title += f", and other values at {len(parts) - 1} more"
    whole.consequences = parts
    whole.has_parts = True
    return whole


def _place(extent: Extent) -> tuple[int, int, int, int]:
    good, bad, first, last = extent.good_pass, extent.bad_pass, extent.first, extent.last
    return good or 0, bad or 0, first or 0, last or 0


def _without_overlap(extents: list[Extent]) -> list[Extent]:
    found: list[Extent] = []
    for extent in extents:
        before = found[-1] if found else None
        same = before is not None and (before.good_pass, before.bad_pass) == (
            extent.good_pass,
            extent.bad_pass,
        )
        if same and before is not None and (extent.first or 0) <= (before.last or 0):
            last = max(before.last or 0, extent.last or 0)
            found[-1] = Extent(extent.good_pass, extent.bad_pass, before.first, last)
        else:
            found.append(extent)
    return found
