# SPDX-License-Identifier: MIT
"""From differences to entries: one cause one entry, what follows from it folded under it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cffpy.analysis.diff.merge import merged
from cffpy.analysis.diff.missing import draws_text, joined
from cffpy.analysis.diff.model import Difference, Entry, Extent, PassPair

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Categories of state that follows from the shape of a pass: its mode, size, samples, targets.
_FOLLOWS_STRUCTURE = frozenset(
    (
        "pass",
        "targets",
        "samples",
        "viewport",
        "scissor",
        "lrz",
        "tiles",
        "instructions",
        "other",
        "barriers",
        "rasterizer",
    )
)

#: Categories that follow from another mode, size or number of samples besides.
_FOLLOWS_RESHAPED = frozenset(("constants", "uniform buffer", "push constants"))

#: Categories in which draws differ behind one that is missing, where a program goes on otherwise.
_FOLLOWS_MISSING = frozenset(
    (
        "draw parameters",
        "constants",
        "push constants",
        "uniform data",
        "uniform buffer",
        "vertex data",
        "index data",
        "vertex input",
        "texture",
        "sampler",
        "descriptor",
        "image",
        "instructions",
        "other",
        "barriers",
        "lrz",
    )
)

#: Categories of a pass as a whole that follow from which draws it has.
_FOLLOWS_DRAWS = frozenset(("targets", "lrz"))

#: Categories that follow from another shader, or from other draw parameters.
_FOLLOWS_SHADER = frozenset(
    (
        "instructions",
        "other",
        "constants",
        "vertex input",
        "lrz",
        "descriptor",
        "colour mask",
        "barriers",
        "targets",
        "uniform buffer",
    )
)


def group(
    found: dict[Difference, list[Extent]], structures: list[Entry], pairs: list[PassPair]
) -> list[Entry]:
    """The entries, most telling first."""
    by_extents: dict[tuple[Extent, ...], list[Difference]] = {}
    for difference, extents in found.items():
        by_extents.setdefault(joined(extents), []).append(difference)
    entries = [_entry(extents, of) for extents, of in by_extents.items()]
    for entry in structures:
        if entry.differences:
            _title_structure(entry)
    entries = [*_merged_structures(structures), *entries]
    entries.sort(key=_order)
    if len(entries) > _MAX_FOLDED:
        entries = merged(entries, _title)
    if len(entries) <= _MAX_FOLDED:
        entries = _folded(entries, _whole_passes(pairs))
    return merged(entries, _title)


#: Entries that are compared with each other, at most.
_MAX_FOLDED = 1000


def _entry(extents: tuple[Extent, ...], of: list[Difference]) -> Entry:
    of.sort(key=_difference_order)
    entry = Entry("", extents, of, rank=of[0].category.rank)
    _title(entry)
    return entry


def _title(entry: Entry) -> None:
    entry.title = f"{where(entry.extents)}: {_cause(entry.differences)}"


def _cause(of: list[Difference]) -> str:
    first = of[0]
    more = len(of) - 1
    rest = "" if not more else f" (+{more} field{'s' if more > 1 else ''})"
    return f"{first.name}: {first.good} → {first.bad}{rest}"


def _title_structure(entry: Entry) -> None:
    entry.differences.sort(key=_difference_order)
    first = entry.differences[0]
    rest = len(entry.differences) - 1
    more = f" (+{rest} more)" if rest else ""
    if first.name == "mode":
        text = f"{first.bad} in bad, {first.good} in good"
    else:
        text = f"{first.name}: {first.good} → {first.bad}"
    entry.title = f"{where(entry.extents)}: {text}{more}"


def _merged_structures(structures: list[Entry]) -> list[Entry]:
    """The same differences of several passes are one entry."""
    by_differences: dict[object, list[Entry]] = {}
    merged = []
    for entry in structures:
        key = tuple(
            (difference.name, difference.good, difference.bad) for difference in entry.differences
        )
        if key and key in by_differences:
            by_differences[key].append(entry)
            continue
        merged.append(entry)
        if key:
            by_differences[key] = [entry]
    for same in by_differences.values():
        if len(same) > 1:
            same[0].extents = tuple(extent for entry in same for extent in entry.extents)
            _title_structure(same[0])
    return merged


def where(extents: Iterable[Extent]) -> str:
    """Passes and draws: ``pass 0, draws 10..14``."""
    by_pass: dict[tuple[int | None, int | None], list[Extent]] = {}
    for extent in extents:
        by_pass.setdefault((extent.good_pass, extent.bad_pass), []).append(extent)
    parts = [_pass_text(*key, of) for key, of in by_pass.items()]
    if len(parts) > _MAX_PASSES:
        parts = [*parts[:_MAX_PASSES], f"and {len(parts) - _MAX_PASSES} more passes"]
    return "; ".join(parts)


_MAX_PASSES = 3


def _pass_text(good: int | None, bad: int | None, of: list[Extent]) -> str:
    if good is None:
        name = f"pass {bad} of bad"
    elif bad is None or bad == good:
        name = f"pass {good}"
    else:
        name = f"pass {good} ({bad} of bad)"
    drawn = tuple(extent for extent in of if extent.first is not None)
    return f"{name}, {draws_text(drawn)}" if drawn else name


# -- folding ------------------------------------------------------------------------------------


#: Entries that others are looked for under, at most, the most telling ones.
_MAX_CAUSES = 64

#: Pairs of extents that are held against each other to tell whether one entry lies within another.
_MAX_PAIRS = 100_000

_PassPairs = frozenset[tuple[int | None, int | None]]


class _Cause:
    """An entry that others may follow from, with what is asked of it each time."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.categories = {difference.category.name for difference in entry.differences}
        self.passes = _passes(entry)
        self.next_passes = _next_passes(self.passes)

    @property
    def is_one(self) -> bool:
        """Whether anything can follow from it."""
        structural = not self.entry.differences or self.entry.rank == 1
        return structural or bool(self.categories & {"shader", "draw parameters"})


def _folded(entries: list[Entry], whole: dict[int, int]) -> list[Entry]:
    """Put entries under those that they follow from."""
    kept: list[_Cause] = []
    causes: list[_Cause] = []
    for entry in entries:
        one = _Cause(entry)
        cause = next((other for other in causes if _follows(one, other, whole)), None)
        if cause is not None:
            cause.entry.consequences.append(entry)
            continue
        kept.append(one)
        if one.is_one and len(causes) < _MAX_CAUSES:
            causes.append(one)
    first: dict[tuple[int | None, int | None], tuple[int, Entry]] = {}
    for number, one in enumerate(kept):
        if not one.entry.is_derived:
            for pair in one.passes:
                first.setdefault(pair, (number, one.entry))
    shown = []
    for one in kept:
        found = [first[pair] for pair in one.passes if pair in first]
        if one.entry.is_derived and found:
            min(found, key=lambda pair: pair[0])[1].consequences.append(one.entry)
        else:
            shown.append(one.entry)
    return shown


def _follows(one: _Cause, cause: _Cause, whole: dict[int, int]) -> bool:
    entry, categories = one.entry, one.categories
    if not categories:
        return False
    if categories == {"barriers"} and cause.entry.rank <= 1:
        return all(pair in cause.passes or pair in cause.next_passes for pair in one.passes)
    if not cause.entry.differences:  # draws or passes that are missing
        if entry.rank == 1 and categories <= _FOLLOWS_DRAWS:
            return one.passes <= cause.passes
        return categories <= _FOLLOWS_MISSING and _is_behind(entry, cause.entry)
    if cause.entry.rank == 1:  # the pass as a whole
        reshaped = "pass" in cause.categories
        if categories == {"image"} and reshaped:
            return True  # memory is laid out otherwise from here on
        following = _FOLLOWS_STRUCTURE | (_FOLLOWS_RESHAPED if reshaped else set())
        inside = one.passes <= cause.passes
        return inside and categories <= following and _covers_passes(entry, whole)
    if cause.categories & {"shader", "draw parameters"} and categories <= _FOLLOWS_SHADER:
        return _within(entry.extents, cause.entry.extents)
    return False


def _is_behind(entry: Entry, cause: Entry) -> bool:
    """Whether all of it lies behind missing draws of the same pass."""
    starts = {
        (extent.good_pass, extent.bad_pass): extent.first
        for extent in cause.extents
        if extent.first is not None
    }
    return all(
        extent.first is not None
        and (start := starts.get((extent.good_pass, extent.bad_pass))) is not None
        and extent.first >= start
        for extent in entry.extents
    )


def _next_passes(passes: _PassPairs) -> _PassPairs:
    """What waits behind a pass stands before the first draw of the next."""
    return frozenset(
        (good + 1, bad + 1) for good, bad in passes if good is not None and bad is not None
    )


def _covers_passes(entry: Entry, whole: dict[int, int]) -> bool:
    """Whether it touches nearly all draws of its passes, so that it is no single draw's."""
    counts: dict[int, int] = {}
    for extent in entry.extents:
        if extent.good_pass is not None and extent.first is not None and extent.last is not None:
            counts[extent.good_pass] = (
                counts.get(extent.good_pass, 0) + extent.last - extent.first + 1
            )
    return all(number * 2 > whole.get(index, 0) for index, number in counts.items())


def _whole_passes(pairs: list[PassPair]) -> dict[int, int]:
    return {
        pair.good.index: len(pair.good.program_draws) for pair in pairs if pair.good is not None
    }


def _passes(entry: Entry) -> _PassPairs:
    return frozenset((extent.good_pass, extent.bad_pass) for extent in entry.extents)


def _within(inner: tuple[Extent, ...], outer: tuple[Extent, ...]) -> bool:
    if len(inner) * len(outer) > _MAX_PAIRS:
        return False
    return all(any(_holds(one, extent) for one in outer) for extent in inner)


def _holds(outer: Extent, inner: Extent) -> bool:
    if (outer.good_pass, outer.bad_pass) != (inner.good_pass, inner.bad_pass):
        return False
    if outer.first is None or outer.last is None:
        return True
    if inner.first is None or inner.last is None:
        return False
    return outer.first <= inner.first and inner.last <= outer.last


def _order(entry: Entry) -> tuple[int, int, int, str]:
    first = entry.extents[0]
    index = first.good_pass if first.good_pass is not None else first.bad_pass
    return entry.rank, index or 0, first.first or 0, entry.title


def _difference_order(difference: Difference) -> tuple[int, list[str | int], str, str]:
    """By rank, then by name; numbers in names count as numbers."""
    parts = re.split(r"(\d+)", difference.name)
    name = [int(part) if number % 2 else part for number, part in enumerate(parts)]
    return difference.category.rank, name, difference.good, difference.bad
