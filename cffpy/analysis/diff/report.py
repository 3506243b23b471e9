# SPDX-License-Identifier: MIT
"""From differences to entries: one cause one entry, what follows from it folded under it."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.follows import (
    Coverage,
    DrawCause,
    PassCause,
    PassIndices,
    is_used_otherwise,
    is_without_draws,
    next_passes,
    passes_of,
    uses_attachments,
)
from cffpy.analysis.diff.merge import merged
from cffpy.analysis.diff.missing import draws_text, joined
from cffpy.analysis.diff.model import Difference, Entry, Extent, PassPair

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.analysis.diff.image_links import ImageLinks

#: Categories that differ where memory is laid out otherwise.
_MOVED = ("image", "address")

#: Entries that others are looked for under, at most, the most telling ones.
_MAX_CAUSES = 64

#: Entries whose consequences are looked for among all entries, at most.
_MAX_FOLDED = 1000


def group(
    found: dict[Difference, list[Extent]],
    structures: list[Entry],
    pairs: Sequence[PassPair],
    links: ImageLinks | None = None,
) -> list[Entry]:
    """The entries, most telling first. ``structures``: those of passes and draws as wholes."""
    for entry in structures:
        if entry.differences:
            _title_structure(entry)
    structures = sorted(_merged_structures(structures), key=_order)
    rest, under = _PassCauses(structures, pairs, links).explained(found, Coverage(found, pairs))
    for entry, of in under:
        entry.consequences.extend(_ordered(of))
    entries = _ordered(rest)
    if len(entries) > _MAX_FOLDED:
        entries = merged(entries, _title)
    if len(entries) <= _MAX_FOLDED:
        entries = _under_draws(entries)
    if links is not None:
        structures = _under_textures(structures, entries, links)
    structures = _under_state(structures, entries)
    entries = _without_derived([*structures, *entries])
    for entry in entries:
        entry.consequences = merged(entry.consequences, _title)
    return _by_choice(merged(entries, _title))


def _ordered(found: dict[Difference, tuple[Extent, ...]]) -> list[Entry]:
    """Differences of the same draws as an entry each."""
    by_extents: dict[tuple[Extent, ...], list[Difference]] = {}
    for difference, extents in found.items():
        by_extents.setdefault(extents, []).append(difference)
    return sorted((_entry(extents, of) for extents, of in by_extents.items()), key=_order)


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
    return _of_one_headline(merged)


def _of_one_headline(structures: list[Entry]) -> list[Entry]:
    """Passes that differ first of all in the same, say in their sizes, as one entry of parts."""
    by_headline: dict[object, list[Entry]] = {}
    for entry in structures:
        by_headline.setdefault(_headline(entry), []).append(entry)
    return [of[0] if len(of) == 1 else _of_parts(of) for of in by_headline.values()]


def _headline(entry: Entry) -> object:
    if not entry.differences or entry.is_derived:
        return id(entry)
    first = entry.differences[0]
    if first.category.name in ("pass", "mode"):
        return first.name
    return first.name, first.good, first.bad


def _of_parts(parts: list[Entry]) -> Entry:
    differences = dict.fromkeys(d for part in parts for d in part.differences)
    extents = tuple(extent for part in parts for extent in part.extents)
    whole = Entry("", extents, list(differences), parts, rank=1, has_parts=True)
    _title_structure(whole)
    return whole


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


#: Differences, and where each is.
_Found = dict[Difference, tuple[Extent, ...]]


class _PassCauses:
    """Passes that differ as wholes, or are missing, and what follows from each."""

    def __init__(
        self, structures: list[Entry], pairs: Sequence[PassPair], links: ImageLinks | None
    ) -> None:
        following = next_passes(pairs)
        causes = [PassCause(entry, following) for entry in structures]
        self._causes = [cause for cause in causes if cause.is_one]
        #: Pair of passes -> the causes near it, by number.
        self._near: dict[PassIndices, list[int]] = {}
        for number, cause in enumerate(self._causes):
            for one in cause.near:
                self._near.setdefault(one, []).append(number)
        self._moving = [n for n, cause in enumerate(self._causes) if cause.moves_images]
        moving = [(n, self._causes[n].entry) for n in self._moving]
        self._drawn_by = {} if links is None else links.drawn_by(moving)
        self._known: dict[tuple[str, tuple[Extent, ...]], int | None] = {}

    def explained(
        self, found: dict[Difference, list[Extent]], coverage: Coverage
    ) -> tuple[_Found, list[tuple[Entry, _Found]]]:
        """What follows from no pass, and for each cause that has any what follows from it."""
        rest: _Found = {}
        under: list[_Found] = [{} for _ in self._causes]
        for difference, where_found in found.items():
            extents = joined(where_found)
            number = self._cause(difference, extents, coverage)
            (rest if number is None else under[number])[difference] = extents
        return rest, [(self._causes[number].entry, of) for number, of in enumerate(under) if of]

    def _cause(
        self, difference: Difference, extents: tuple[Extent, ...], coverage: Coverage
    ) -> int | None:
        """The first cause that explains a difference there, by number."""
        drawn_by = self._drawn_by.get(difference.images) if any(difference.images) else None
        if drawn_by is not None:
            return drawn_by
        category = difference.category.name
        key = category, extents
        if key not in self._known:
            passes = passes_of(extents)
            near = self._near.get(next(iter(passes)), [])
            candidates = [*near, *self._moving] if category in _MOVED else near
            self._known[key] = next(
                (
                    n
                    for n in candidates
                    if self._causes[n].explains(category, extents, passes, coverage)
                ),
                None,
            )
        return self._known[key]


def _under_draws(entries: list[Entry]) -> list[Entry]:
    """Put entries under another shader or other draw parameters that they follow from."""
    kept: list[Entry] = []
    causes: list[DrawCause] = []
    for entry in entries:
        cause = next((one for one in causes if one.explains(entry)), None)
        if cause is not None:
            cause.entry.consequences.append(entry)
            continue
        kept.append(entry)
        if DrawCause.is_one(entry) and len(causes) < _MAX_CAUSES:
            causes.append(DrawCause(entry))
    return kept


def _under_textures(
    structures: list[Entry], entries: list[Entry], links: ImageLinks
) -> list[Entry]:
    """Passes that fill the images of other textures, say their levels, follow from those."""
    textures = _first(entry for entry in entries if any(any(d.images) for d in entry.differences))
    sampled = _first(
        entry for entry in structures if any(d.name == "samples" for d in entry.differences)
    )
    kept = []
    for entry in structures:
        cause = next((one for one in textures if links.fills(entry, one)), None)
        if cause is None and not entry.differences:
            cause = next((one for one in sampled if links.resolves(entry, one)), None)
        if cause is None:
            kept.append(entry)
        else:
            cause.consequences.append(entry)
    return kept


def _under_state(structures: list[Entry], entries: list[Entry]) -> list[Entry]:
    """Put what passes do with attachments under draws that use those otherwise, or are missing."""
    states = _first(entry for entry in entries if uses_attachments(entry))
    missing = _first(entry for entry in structures if not entry.differences)
    kept = []
    for entry in structures:
        cause = next((one for one in states if is_used_otherwise(entry, one)), None) or next(
            (one for one in missing if is_without_draws(entry, one)), None
        )
        if cause is None:
            kept.append(entry)
        else:
            cause.consequences.append(entry)
    return kept


def _first(entries: Iterable[Entry]) -> list[Entry]:
    """Causes that entries are held against, each with each: a limited number."""
    return list(islice(entries, _MAX_CAUSES))


def _without_derived(entries: list[Entry]) -> list[Entry]:
    """Put entries that drivers derive under the first of their passes that is none."""
    first: dict[PassIndices, tuple[int, Entry]] = {}
    for number, entry in enumerate(entries):
        if not entry.is_derived:
            for pair in passes_of(entry.extents):
                first.setdefault(pair, (number, entry))
    shown = []
    for entry in entries:
        found = [first[pair] for pair in passes_of(entry.extents) if pair in first]
        if entry.is_derived and found:
            min(found, key=lambda pair: pair[0])[1].consequences.append(entry)
        else:
            shown.append(entry)
    return shown


def _by_choice(entries: list[Entry]) -> list[Entry]:
    """What the program asks for before what drivers choose by it: mode and binning."""
    asked = {
        one
        for entry in entries
        if any(_CHOSEN_BY.search(difference.name) for difference in entry.differences)
        for one in passes_of(entry.extents)
    }

    def is_chosen(entry: Entry) -> bool:
        return (
            entry.rank == 1
            and entry.differences[0].category.name == "mode"
            and bool(passes_of(entry.extents) & asked)
        )

    return sorted(entries, key=is_chosen)


#: State that drivers choose a mode by.
_CHOSEN_BY = re.compile(r"\.(BLEND|BLEND2|Z_TEST_ENABLE|Z_ENABLE|STENCIL_ENABLE|ROP_ENABLE)$")


def _order(entry: Entry) -> tuple[int, int, int, str]:
    first = entry.extents[0]
    index = first.good_pass if first.good_pass is not None else first.bad_pass
    return entry.rank, index or 0, first.first or 0, entry.title


def _difference_order(difference: Difference) -> tuple[int, bool, list[str | int], str, str]:
    """By rank, what is switched on or off first, then by name; numbers in names are numbers."""
    parts = re.split(r"(\d+)", difference.name)
    name = [int(part) if number % 2 else part for number, part in enumerate(parts)]
    is_switch = {difference.good, difference.bad} == {
        "FALSE",
        "TRUE",
    } and " " not in difference.name
    return difference.category.rank, not is_switch, name, difference.good, difference.bad
