# SPDX-License-Identifier: MIT
"""The report: differences to entries, one for each cause, with what follows from it under it.

Titles of entries, entries for passes and draws that one capture lacks, and entries of one kind
merged to one.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from cffpy.analysis.diff.causes import (
    Coverage,
    PassCauses,
    by_choice,
    passes_of,
    under_draws,
    under_same_names,
    under_state,
    under_textures,
    without_derived,
)
from cffpy.analysis.diff.differences import AFTER_ALL, name_order, wait_title
from cffpy.analysis.diff.model import Difference, Entry, Extent, joined
from cffpy.frame.places import DrawRange, TileName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.analysis.diff.addresses import ImageLinks
    from cffpy.analysis.diff.differences import NameOrder
    from cffpy.analysis.diff.model import Capture, FoundDifferences, PassPair
    from cffpy.analysis.diff.selection import Phase
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.frame.passes import Pass

#: Ranges of draws that a title gives.
_MAX_RANGES = 6


def missing_passes(pairs: list[PassPair]) -> Iterator[Entry]:
    """Passes without a counterpart: an entry for those that follow each other.

    Of those that have moved, it is told where they are in good.
    """
    for capture, group in groupby(pairs, key=_capture_alone):
        if capture is None:
            continue
        for run in _runs(group):
            if run[0].moved_to is not None:
                yield _moved(run)
            elif run[0].moved_from is None:
                yield _missing(run, capture)


def _capture_alone(pair: PassPair) -> Capture | None:
    """The capture that has the pass, if the other one has no counterpart."""
    if pair.good is not None and pair.bad is not None:
        return None
    return "bad" if pair.good is None else "good"


def _runs(pairs: Iterable[PassPair]) -> list[list[PassPair]]:
    """Pairs that follow each other in both captures. A filter may have left out some between."""
    runs: list[list[PassPair]] = []
    for pair in pairs:
        if runs and _is_next(runs[-1][-1], pair):
            runs[-1].append(pair)
        else:
            runs.append([pair])
    return runs


def _is_next(before: PassPair, after: PassPair) -> bool:
    if before.has_equal_state != after.has_equal_state:
        return False
    both = (before.good, before.bad, before.moved_to, before.moved_from)
    others = (after.good, after.bad, after.moved_to, after.moved_from)
    return all(
        (one is None and other is None)
        or (one is not None and other is not None and other.index == one.index + 1)
        for one, other in zip(both, others, strict=True)
    )


def _missing(run: list[PassPair], capture: Capture) -> Entry:
    passes = [one for pair in run if (one := pair.good or pair.bad) is not None]
    absent = "bad" if capture == "good" else "good"
    verb = "is" if len(passes) == 1 else "are"
    title = f"{_passes_text(passes)} of {capture} {verb} missing in {absent} {_counted(passes)}"
    return Entry(title, tuple(_extent_alone(pair) for pair in run), rank=0)


def _moved(run: list[PassPair]) -> Entry:
    passes = [pair.good for pair in run if pair.good is not None]
    targets = [pair.moved_to for pair in run if pair.moved_to is not None]
    is_one = len(passes) == 1
    words = "has moved: it is" if is_one else "have moved: they are"
    state = "" if run[0].has_equal_state else ", with other state"
    title = (
        f"{_passes_text(passes)} of good {words} {_passes_text(targets)} of bad{state}"
        f" {_counted(passes)}"
    )
    there = tuple(Extent(None, one.index) for one in targets)
    return Entry(title, (*(_extent_alone(pair) for pair in run), *there), rank=0)


def _extent_alone(pair: PassPair) -> Extent:
    if pair.good is not None:
        return Extent(pair.good.index, None)
    return Extent(None, None if pair.bad is None else pair.bad.index)


def _passes_text(passes: list[Pass]) -> str:
    """``pass 3``, ``passes 3-5``: of passes that follow each other."""
    first, last = passes[0].index, passes[-1].index
    return f"pass {first}" if first == last else f"passes {first}-{last}"


def _counted(passes: list[Pass]) -> str:
    """``(render, gmem, 12 draws)``; of several passes how many draws they have."""
    draws = sum(len(one.draws) for one in passes)
    words = [f"{draws} draw{'s'[: draws != 1]}"]
    if len(passes) == 1:
        words = [passes[0].kind, *filter(None, (passes[0].mode,)), *words]
    return f"({', '.join(words)})"


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
        verb = "is" if len(numbers) == 1 else "are"
        title = f"{draws_text(extents)} of {there} {verb} missing in {absent}"
        yield Entry(title, extents, rank=0)


def draws_text(extents: tuple[Extent, ...]) -> str:
    """``draw p0:17`` or ``draws p0:3, p0:10-14``."""
    ranges = [
        str(DrawRange(extent.first, extent.last, extent.numbered_pass))
        for extent in extents
        if extent.first is not None and extent.last is not None
    ]
    is_one = len(ranges) == 1 and extents[0].first == extents[0].last
    if len(ranges) > _MAX_RANGES:
        ranges = [*ranges[:_MAX_RANGES], f"{len(ranges) - _MAX_RANGES} more ranges"]
    return f"draw{'' if is_one else 's'} {', '.join(ranges)}"


def tiles_text(extents: Sequence[Extent]) -> str:
    """``tile p0:t3`` or ``tiles p0:t1, p0:t3-7``."""
    ranges = []
    for extent in extents:
        first, last, index = extent.first_tile, extent.last_tile, extent.numbered_pass
        assert first is not None
        assert index is not None
        more = "" if first == last else f"-{last}"
        ranges.append(f"{TileName(first, index)}{more}")
    is_one = len(ranges) == 1 and extents[0].first_tile == extents[0].last_tile
    if len(ranges) > _MAX_RANGES:
        ranges = [*ranges[:_MAX_RANGES], f"{len(ranges) - _MAX_RANGES} more ranges"]
    return f"tile{'' if is_one else 's'} {', '.join(ranges)}"


def _number(record: DrawInputs | None) -> int:
    assert record is not None
    assert record.action.number is not None
    return record.action.number


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
    phase = entry.extents[0].phase
    about = entry.differences[0].category
    if about.name in _DATA:
        return phase, about
    return phase, tuple(d.name.split(" (")[0] for d in entry.differences)


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
            found[-1] = replace(extent, first=before.first, last=last, left_by=None)
        else:
            found.append(extent)
    return found


#: Entries whose consequences are looked for among all entries, at most.
_MAX_FOLDED = 1000


def group(
    found: FoundDifferences,
    structures: list[Entry],
    pairs: Sequence[PassPair],
    links: ImageLinks | None = None,
    others: Sequence[tuple[FoundDifferences, list[Entry]]] = (),
) -> list[Entry]:
    """The entries, most telling first. ``structures``: those of passes and draws as wholes.

    ``others``: both of other phases than the draws, which come last.
    """
    for entry in structures:
        if entry.differences:
            _title_structure(entry)
    structures = sorted(_merged_structures(structures), key=entry_order)
    causes = PassCauses(structures, pairs, links)
    entries: list[Entry] = []
    for one, missing in ((found, []), *others):
        rest, under = causes.explained(one, Coverage(one, pairs))
        for entry, of in under:
            entry.consequences.extend(_ordered(of))
        entries += sorted([*_ordered(rest), *missing], key=entry_order)
    if len(entries) > _MAX_FOLDED:
        entries = merged(entries, _title)
    if len(entries) <= _MAX_FOLDED:
        entries = under_same_names(under_draws(entries))
    if links is not None:
        structures, entries = under_textures(structures, entries, links)
    structures = under_state(structures, entries)
    entries = _with_ends(without_derived([*structures, *entries]))
    for entry in entries:
        entry.consequences = merged(entry.consequences, _title)
    return by_choice(merged(entries, _title))


def _with_ends(entries: list[Entry]) -> list[Entry]:
    """Waits and commands after the last draw folded under the first other entry of their pass.

    Drivers choose them by what the pass has done.
    """
    others = [entry for entry in entries if not _is_at_end(entry)]
    alone = []
    for entry in filter(_is_at_end, entries):
        passes = passes_of(entry.extents)
        cause = next((one for one in others if passes & passes_of(one.extents)), None)
        if cause is None:
            alone.append(entry)
        else:
            consequences, entry.consequences = entry.consequences, []
            cause.consequences += [entry, *consequences]
    return [*others, *alone]


def _is_at_end(entry: Entry) -> bool:
    return bool(entry.differences) and all(
        one.category.name == "barriers" and one.name.endswith(AFTER_ALL)
        for one in entry.differences
    )


def _ordered(found: dict[Difference, tuple[Extent, ...]]) -> list[Entry]:
    """Differences of the same draws as an entry each."""
    by_extents: dict[tuple[Extent, ...], list[Difference]] = {}
    written: dict[tuple[Extent, ...], tuple[Extent, ...]] = {}
    for difference, extents in found.items():
        by_extents.setdefault(extents, []).append(difference)
        written[extents] = _written_last(written.get(extents, extents), extents)
    return sorted(
        (entry_of(written[extents], of) for extents, of in by_extents.items()), key=entry_order
    )


def _written_last(extents: tuple[Extent, ...], others: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """The same draws; of the two draws at which each was written, the later one."""
    return tuple(
        max(pair, key=lambda one: (one.last or 0) if one.written is None else one.written)
        for pair in zip(extents, others, strict=True)
    )


def entry_of(extents: tuple[Extent, ...], of: list[Difference]) -> Entry:
    """The entry of differences that the same draws have."""
    of.sort(key=_difference_order)
    entry = Entry("", extents, of, rank=of[0].category.rank)
    _title(entry)
    return entry


def _title(entry: Entry) -> None:
    first, more = entry.differences[0], len(entry.differences) - 1
    rest = "" if not more else f" (+{more} field{'s' if more > 1 else ''})"
    place = where(entry.extents)
    waits = wait_title(first, place) if first.category.name == "barriers" else None
    entry.title = f"{waits or f'{place}: {first.name}: {first.good} → {first.bad}'}{rest}"


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
    """Passes and draws: ``draws p0:10-14``, ``pass 1``."""
    by_pass: dict[tuple[int | None, int | None, Phase], list[Extent]] = {}
    for extent in extents:
        key = extent.good_pass, extent.bad_pass, extent.phase
        by_pass.setdefault(key, []).append(extent)
    parts = [_pass_text(*key, of) for key, of in by_pass.items()]
    if len(parts) > _MAX_PASSES:
        parts = [*parts[:_MAX_PASSES], f"and {len(parts) - _MAX_PASSES} more passes"]
    return "; ".join(parts)


_MAX_PASSES = 3


def _pass_text(good: int | None, bad: int | None, phase: Phase, of: list[Extent]) -> str:
    drawn = tuple(extent for extent in of if extent.first is not None)
    if phase == "tiles":
        name = tiles_text(of)
    elif good is None:
        name = f"{draws_text(drawn) if drawn else f'pass {bad}'} of bad"
    else:
        name = draws_text(drawn) if drawn else f"pass {good}"
    if good is not None and bad not in (None, good):
        name += f" (pass {bad} of bad)"
    return f"{name}, binning run" if phase == "binning run" else name


# -- folding ------------------------------------------------------------------------------------


def entry_order(entry: Entry) -> tuple[int, int, int, NameOrder]:
    """What sorts entries: their categories, then where they are first."""
    first = entry.extents[0]
    index = first.good_pass if first.good_pass is not None else first.bad_pass
    return entry.rank, index or 0, first.first or 0, name_order(entry.title)


def _difference_order(difference: Difference) -> tuple[int, bool, NameOrder, str, str]:
    """By rank, what is switched on or off first, then by name; numbers in names are numbers.

    Different names have different keys: differences come from sets, whose order is random.
    """
    is_switch = {difference.good, difference.bad} == {
        "FALSE",
        "TRUE",
    } and " " not in difference.name
    rank = difference.category.rank
    return rank, not is_switch, name_order(difference.name), difference.good, difference.bad
