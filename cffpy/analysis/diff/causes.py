# SPDX-License-Identifier: MIT
"""Causes: what follows from what, say state that drivers compute from a pass, a draw or a shader.

A difference follows from a cause in its passes by its category and by the draws that it is at.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.model import Difference, Extent, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.analysis.diff.addresses import ImageLinks
    from cffpy.analysis.diff.model import Entry, FoundDifferences, PassIndices, PassPair

#: Categories of state that drivers set by anything about a pass.
_ALWAYS = frozenset(("lrz", "tiles", "barriers", "other", "instructions"))

#: Data that programs compute from the size of what they draw to.
_SIZED_DATA = frozenset(("constants", "push constants", "uniform data", "uniform buffer"))

#: What a pass differs in -> categories that follow from it.
_FOLLOWS_PASS: dict[str, frozenset[str]] = {
    "framebuffer": _ALWAYS | _SIZED_DATA | {"viewport", "scissor", "targets"},
    "render area": _ALWAYS | _SIZED_DATA | {"viewport", "scissor", "targets"},
    "samples": _ALWAYS | _SIZED_DATA | {"samples", "targets"},
    "views": _ALWAYS | _SIZED_DATA | {"viewport", "scissor", "targets", "rasterizer"},
    "layers": _ALWAYS | _SIZED_DATA | {"viewport", "scissor", "targets", "rasterizer"},
    "mode": _ALWAYS | {"scissor", "targets", "samples"},
    "binning": _ALWAYS | {"scissor", "targets", "samples"},
}
_FOLLOWS_COLOUR = _ALWAYS | {"targets", "blend", "colour mask"}
_FOLLOWS_DEPTH = _ALWAYS | {"targets", "depth and stencil"}
_FOLLOWS_OPERATIONS = frozenset(("lrz", "tiles", "barriers", "other"))

#: Categories in which draws after a missing one differ, where the program continues differently.
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
        "storage",
        "descriptor",
        "image",
        "address",
        "instructions",
        "other",
        "barriers",
        "lrz",
    )
)

#: Categories that differ where memory is laid out otherwise.
_MOVED = ("image", "address")

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
        "loaded program",
    )
)
_SHADER_CAUSES = frozenset(("shader", "draw parameters"))


def passes_of(extents: Iterable[Extent]) -> frozenset[PassIndices]:
    """The passes that extents lie in."""
    return frozenset((extent.good_pass, extent.bad_pass) for extent in extents)


#: More than any pass has.
_ALL_DRAWS = 1 << 62


class Coverage:
    """In how many draws of each pass anything of a category differs."""

    def __init__(self, found: FoundDifferences, pairs: Sequence[PassPair]) -> None:
        ranges: dict[tuple[PassIndices, str], list[tuple[int, int]]] = {}
        for difference, extents in found.items():
            for extent in extents:
                key = (extent.good_pass, extent.bad_pass), difference.category.name
                if extent.first is not None and extent.last is not None:
                    ranges.setdefault(key, []).append((extent.first, extent.last))
                elif extent.phase != "draws":  # of the pass as a whole
                    ranges.setdefault(key, []).append((0, _ALL_DRAWS))
        self._counts = {key: _union(of) for key, of in ranges.items()}
        self._whole: dict[PassIndices, int] = {
            (pair.good.index, None if pair.bad is None else pair.bad.index): len(pair.good.draws)
            for pair in pairs
            if pair.good is not None
        }

    def is_of_passes(self, category: str, passes: Iterable[PassIndices]) -> bool:
        """Whether most draws of these passes differ in it, so no single draw is the cause."""
        return all(
            self._counts.get((one, category), 0) * 2 > self._whole.get(one, 0) for one in passes
        )


def _union(ranges: list[tuple[int, int]]) -> int:
    """How many numbers lie in any of these ranges; both ends are part of them."""
    total, end = 0, -1
    for first, last in sorted(ranges):
        if last > end:
            total += last - max(first, end + 1) + 1
            end = last
    return total


class PassCause:
    """Passes that differ as wholes, or passes or draws that are missing."""

    def __init__(self, entry: Entry, following: dict[PassIndices, frozenset[PassIndices]]) -> None:
        self.entry = entry
        self.passes = passes_of(entry.extents)
        self._following = frozenset(
            name for difference in entry.differences for name in _following(difference)
        )
        #: Memory is laid out otherwise from here on.
        self.moves_images = any(
            difference.category.name in ("pass", "targets") and not difference.category.derived
            for difference in entry.differences
        )
        self._missing_from: dict[PassIndices, int] = {}
        for extent in entry.extents:
            if not entry.differences and extent.first is not None:
                where = extent.good_pass, extent.bad_pass
                self._missing_from.setdefault(where, extent.first)
        self.near = self.passes.union(*(following.get(one, ()) for one in self.passes))

    @property
    def is_one(self) -> bool:
        """Whether anything can follow from it."""
        return not self.entry.differences or bool(self._following)

    def explains(self, effect: Effect) -> bool:
        """Whether a difference follows from it."""
        return any(rule.holds(self, effect) for rule in PASS_RULES)

    @property
    def is_missing(self) -> bool:
        """Whether passes or draws are missing, which differ in nothing else."""
        return not self.entry.differences

    def follows(self, category: str) -> bool:
        """Whether drivers set state of this category by what the passes differ in."""
        return category in self._following

    def is_before(self, extents: tuple[Extent, ...]) -> bool:
        """Whether draws are missing before all of it, in the same pass."""
        for extent in extents:
            start = self._missing_from.get((extent.good_pass, extent.bad_pass))
            if start is None or extent.first is None or extent.first < start:
                return False
        return True


class Effect(NamedTuple):
    """A difference of draws that may follow from passes that differ as wholes.

    ``coverage``: how many draws of each pass differ in its category.
    """

    category: str
    extents: tuple[Extent, ...]
    passes: frozenset[PassIndices]
    coverage: Coverage


class CauseRule(NamedTuple):
    """A named reason why a difference follows from a pass."""

    name: str
    holds: Callable[[PassCause, Effect], bool]


#: One that holds is enough.
PASS_RULES: tuple[CauseRule, ...] = (
    CauseRule(
        "drivers wait by what passes do, before the next one, too",
        lambda cause, of: of.category == "barriers" and of.passes <= cause.near,
    ),
    CauseRule(
        "values that missing draws, or those in their place, have left behind",
        lambda cause, of: (
            cause.is_missing and all(one.left_by in cause.passes for one in of.extents)
        ),
    ),
    CauseRule(
        "the program goes on otherwise after a missing draw",
        lambda cause, of: (
            cause.is_missing and of.category in _FOLLOWS_MISSING and cause.is_before(of.extents)
        ),
    ),
    CauseRule(
        "memory is laid out otherwise",
        lambda cause, of: cause.moves_images and of.category in _MOVED,
    ),
    CauseRule(
        "drivers compute it from what the pass differs in, for most draws",
        lambda cause, of: (
            not cause.is_missing
            and cause.follows(of.category)
            and of.passes <= cause.passes
            and of.coverage.is_of_passes(of.category, of.passes)
        ),
    ),
)


def _following(difference: Difference) -> frozenset[str]:
    """The categories of what follows from a difference of a pass as a whole."""
    about = difference.category
    if about.derived:
        return frozenset()
    if about.name == "load, clear and store":
        return _FOLLOWS_OPERATIONS
    if difference.name.endswith(" UBWC"):
        return _ALWAYS | {"targets", "UBWC"}
    if about.name == "targets":
        return _FOLLOWS_COLOUR if difference.name.startswith("color") else _FOLLOWS_DEPTH
    return _FOLLOWS_PASS.get(difference.name, _ALWAYS)


def next_passes(pairs: Sequence[PassPair]) -> dict[PassIndices, frozenset[PassIndices]]:
    """The next pair of passes, and the next with draws: what waits after a pass stands before the
    first draw that follows.
    """
    found: dict[PassIndices, frozenset[PassIndices]] = {}
    following: frozenset[PassIndices] = frozenset()
    drawn: frozenset[PassIndices] = frozenset()
    for pair in reversed(pairs):
        one = None if pair.good is None else pair.good.index
        other = None if pair.bad is None else pair.bad.index
        found[one, other] = following | drawn
        if one is not None and other is not None:
            following = frozenset({(one, other)})
            drawn = following if pair.draws else drawn
    return found


class DrawCause:
    """An entry with another shader or other draw parameters."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._ranges: dict[PassIndices, list[tuple[int, int]]] = {}
        for extent in entry.extents:
            if extent.first is not None and extent.last is not None:
                where = extent.good_pass, extent.bad_pass
                self._ranges.setdefault(where, []).append((extent.first, extent.last))
        for ranges in self._ranges.values():
            ranges.sort()

    @staticmethod
    def is_one(entry: Entry) -> bool:
        """Whether anything can follow from an entry."""
        return any(difference.category.name in _SHADER_CAUSES for difference in entry.differences)

    def explains(self, entry: Entry) -> bool:
        """Whether all of another entry follows from it."""
        # binning runs execute variants of the same shaders
        in_binning = all(extent.phase == "binning run" for extent in entry.extents)
        following = _FOLLOWS_SHADER | _SHADER_CAUSES if in_binning else _FOLLOWS_SHADER
        return all(
            difference.category.name in following for difference in entry.differences
        ) and all(self._holds(extent) for extent in entry.extents)

    def _holds(self, extent: Extent) -> bool:
        ranges = self._ranges.get((extent.good_pass, extent.bad_pass))
        if not ranges or extent.first is None or extent.last is None:
            return False
        position = bisect_right(ranges, (extent.first, _ALL_DRAWS)) - 1
        # what a program leaves behind follows from it, too
        end = extent.last if extent.written is None else extent.written
        return position >= 0 and end <= ranges[position][1]


#: Whether of a colour attachment -> categories of the state that draws use it by.
_USES = {True: frozenset(("colour mask", "blend")), False: frozenset(("depth and stencil",))}


def uses_attachments(entry: Entry) -> bool:
    """Whether draws differ in state that they use attachments by."""
    about = {difference.category.name for difference in entry.differences}
    return any(not about.isdisjoint(of) for of in _USES.values())


def is_used_otherwise(entry: Entry, cause: Entry) -> bool:
    """Whether attachments are loaded and stored otherwise since draws test or write them otherwise.

    Drivers load and store what draws use. ``cause``: of the same passes, ``uses_attachments``.
    """
    about = {difference.category.name for difference in cause.differences}
    operations = [d for d in entry.differences if not d.category.derived]
    return (
        bool(operations)
        and all(
            difference.category.name == "load, clear and store"
            and " at the " in difference.name
            and bool(about & _USES[difference.name.startswith("color")])
            for difference in operations
        )
        and passes_of(entry.extents) <= passes_of(cause.extents)
    )


def is_without_draws(entry: Entry, cause: Entry) -> bool:
    """Whether attachments are there by draws that are missing."""
    return (
        not cause.differences
        and all(d.category.name in ("targets", "lrz") for d in entry.differences)
        and bool(entry.differences)
        and passes_of(entry.extents) <= passes_of(cause.extents)
    )


#: Entries that others are looked for under, at most, the most telling ones.
_MAX_CAUSES = 64


#: Differences, and where each is.
_Found = dict[Difference, tuple[Extent, ...]]


class PassCauses:
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
        self._known: dict[object, int | None] = {}

    def explained(
        self, found: FoundDifferences, coverage: Coverage
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
        left_by = dict.fromkeys(extent.left_by for extent in extents)
        key = category, extents, tuple(left_by)
        if key not in self._known:
            passes = passes_of(extents)
            effect = Effect(category, extents, passes, coverage)
            near = list(self._near.get(next(iter(passes)), []))
            near += [n for one in left_by if one is not None for n in self._near.get(one, [])]
            candidates = [*near, *self._moving] if category in _MOVED else near
            self._known[key] = next(
                (n for n in candidates if self._causes[n].explains(effect)),
                None,
            )
        return self._known[key]


def under_draws(entries: list[Entry]) -> list[Entry]:
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


def under_same_names(entries: list[Entry]) -> list[Entry]:
    """Put entries of binning runs and other tiles under those of the same registers at draws."""
    by_name: dict[str, list[Entry]] = {}
    kept: list[Entry] = []
    for entry in entries:
        names = {difference.name for difference in entry.differences}
        if names and all(extent.phase in ("binning run", "tiles") for extent in entry.extents):
            candidates = islice(by_name.get(entry.differences[0].name, ()), _MAX_CAUSES)
            cause = next((one for one in candidates if _is_of_same(entry, names, one)), None)
            if cause is not None:
                cause.consequences.append(entry)
                continue
        elif all(extent.phase == "draws" for extent in entry.extents):
            for name in names:
                by_name.setdefault(name, []).append(entry)
        kept.append(entry)
    return kept


def _is_of_same(entry: Entry, names: set[str], cause: Entry) -> bool:
    """Whether a cause has all the names, and draws in common with each place of the entry."""
    return names <= {difference.name for difference in cause.differences} and all(
        any(_have_draws_in_common(extent, other) for other in cause.extents)
        for extent in entry.extents
    )


def _have_draws_in_common(one: Extent, other: Extent) -> bool:
    if (one.good_pass, one.bad_pass) != (other.good_pass, other.bad_pass):
        return False
    if one.phase == "tiles":
        return True
    if None in (one.first, one.last, other.first, other.last):
        return False
    return (one.first or 0) <= (other.last or 0) and (other.first or 0) <= (one.last or 0)


def under_textures(
    structures: list[Entry], entries: list[Entry], links: ImageLinks
) -> tuple[list[Entry], list[Entry]]:
    """Fold passes and copies that fill the images of textures which differ under the textures.

    So a texture with another format, or with other levels, is one entry. Returns what is left of
    ``structures`` and of ``entries``.
    """
    entries = _under_first_use(entries)
    textures = _first(entry for entry in entries if any(any(d.images) for d in entry.differences))
    sampled = _first(
        entry for entry in structures if any(d.name == "samples" for d in entry.differences)
    )

    def cause_of(entry: Entry) -> Entry | None:
        found = next((one for one in textures if links.fills(entry, one)), None)
        if found is None and not entry.differences:
            found = next((one for one in sampled if links.resolves(entry, one)), None)
        return found

    def uploaded(entry: Entry) -> Entry | None:
        of = (one for one in textures if one is not entry and links.uploads(entry, one))
        return next(of, None)

    return _folded(structures, cause_of), _folded(entries, uploaded)


def _folded(entries: Iterable[Entry], cause_of: Callable[[Entry], Entry | None]) -> list[Entry]:
    """Put each entry that has a cause under it; return the others."""
    kept = []
    for entry in entries:
        cause = cause_of(entry)
        if cause is None:
            kept.append(entry)
        else:
            cause.consequences.append(entry)
    return kept


def _under_first_use(entries: list[Entry]) -> list[Entry]:
    """Fold entries of one change of one image, bound at several slots, under the first of them."""
    first: dict[object, Entry] = {}
    kept = []
    for entry in entries:
        key = frozenset(
            (d.name.rpartition(": ")[2], d.good, d.bad, d.images) for d in entry.differences
        )
        is_of_images = all(None not in d.images for d in entry.differences)
        if is_of_images and first.setdefault(key, entry) is not entry:
            first[key].consequences.append(entry)
        else:
            kept.append(entry)
    return kept


def under_state(structures: list[Entry], entries: list[Entry]) -> list[Entry]:
    """Put what passes do with attachments under draws that use those otherwise, or are missing."""
    states = _first(entry for entry in entries if uses_attachments(entry))
    missing = _first(entry for entry in structures if not entry.differences)

    def cause_of(entry: Entry) -> Entry | None:
        found = next((one for one in states if is_used_otherwise(entry, one)), None)
        return found or next((one for one in missing if is_without_draws(entry, one)), None)

    return _folded(structures, cause_of)


def _first(entries: Iterable[Entry]) -> list[Entry]:
    """Causes that entries are held against, each with each: a limited number."""
    return list(islice(entries, _MAX_CAUSES))


def without_derived(entries: list[Entry]) -> list[Entry]:
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


def by_choice(entries: list[Entry]) -> list[Entry]:
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
