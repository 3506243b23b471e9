# SPDX-License-Identifier: MIT
"""What follows from what: state that drivers work out when a pass, its draws or a shader change.

A difference is held against each cause in its passes, by its category and by the draws it is at.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.analysis.diff.model import Difference, Entry, Extent, PassPair

#: Indices of two passes that are each other's counterparts; None: there is none.
PassIndices = tuple[int | None, int | None]

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
_SHADER_CAUSES = frozenset(("shader", "draw parameters"))


def passes_of(extents: Iterable[Extent]) -> frozenset[PassIndices]:
    """The passes that extents lie in."""
    return frozenset((extent.good_pass, extent.bad_pass) for extent in extents)


class Coverage:
    """In how many draws of each pass anything of a category differs."""

    def __init__(self, found: dict[Difference, list[Extent]], pairs: Sequence[PassPair]) -> None:
        ranges: dict[tuple[PassIndices, str], list[tuple[int, int]]] = {}
        for difference, extents in found.items():
            for extent in extents:
                if extent.first is not None and extent.last is not None:
                    key = (extent.good_pass, extent.bad_pass), difference.category.name
                    ranges.setdefault(key, []).append((extent.first, extent.last))
        self._counts = {key: _union(of) for key, of in ranges.items()}
        self._whole: dict[PassIndices, int] = {
            (pair.good.index, None if pair.bad is None else pair.bad.index): len(
                pair.good.program_draws
            )
            for pair in pairs
            if pair.good is not None
        }

    def is_of_passes(self, category: str, passes: Iterable[PassIndices]) -> bool:
        """Whether most draws of these passes differ in it, so that it is no single draw's."""
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

    def __init__(self, entry: Entry, following: dict[PassIndices, PassIndices]) -> None:
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
        self.near = self.passes | {following[one] for one in self.passes if one in following}

    @property
    def is_one(self) -> bool:
        """Whether anything can follow from it."""
        return not self.entry.differences or bool(self._following)

    def explains(
        self,
        category: str,
        extents: tuple[Extent, ...],
        passes: frozenset[PassIndices],
        coverage: Coverage,
    ) -> bool:
        """Whether a difference of this category, there, follows from it."""
        if category == "barriers" and passes <= self.near:
            return True
        if not self.entry.differences:
            return category in _FOLLOWS_MISSING and self._is_before(extents)
        if category in ("image", "address") and self.moves_images:
            return True
        return (
            category in self._following
            and passes <= self.passes
            and coverage.is_of_passes(category, passes)
        )

    def _is_before(self, extents: tuple[Extent, ...]) -> bool:
        """Whether draws are missing before all of it, in the same pass."""
        for extent in extents:
            start = self._missing_from.get((extent.good_pass, extent.bad_pass))
            if start is None or extent.first is None or extent.first < start:
                return False
        return True


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


def next_passes(pairs: Sequence[PassPair]) -> dict[PassIndices, PassIndices]:
    """The next pair of passes: what waits behind a pass stands before the first draw of it."""
    found: dict[PassIndices, PassIndices] = {}
    following: PassIndices | None = None
    for pair in reversed(pairs):
        one = None if pair.good is None else pair.good.index
        other = None if pair.bad is None else pair.bad.index
        if following is not None:
            found[one, other] = following
        if one is not None and other is not None:
            following = one, other
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
        return all(
            difference.category.name in _FOLLOWS_SHADER for difference in entry.differences
        ) and all(self._holds(extent) for extent in entry.extents)

    def _holds(self, extent: Extent) -> bool:
        ranges = self._ranges.get((extent.good_pass, extent.bad_pass))
        if not ranges or extent.first is None or extent.last is None:
            return False
        position = bisect_right(ranges, (extent.first, 1 << 62)) - 1
        return position >= 0 and extent.last <= ranges[position][1]


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
