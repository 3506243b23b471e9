# SPDX-License-Identifier: MIT
"""The values of a comparison: differences, where they are, entries."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.rules import Category, NoiseClass
    from cffpy.analysis.diff.selection import Apart
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import PacketLocation


#: Indices of two passes that are each other's counterparts; None: there is none.
PassIndices = tuple[int | None, int | None]


@dataclass(slots=True, frozen=True)
class Difference:
    """One thing that is ``good`` in the first capture and ``bad`` in the second, as text."""

    #: E.g. ``RB_DEPTH_CNTL.ZFUNC`` or ``shader FS``.
    name: str
    good: str
    bad: str
    category: Category
    #: The packets that wrote the values, where packets did.
    good_place: PacketLocation | None = field(default=None, compare=False)
    bad_place: PacketLocation | None = field(default=None, compare=False)
    #: More of it: the lines of a shader that differ, the words of a buffer.
    details: tuple[str, ...] = ()
    #: Of a texture's descriptor: the images that it is of, where it differs first.
    images: tuple[int | None, int | None] = field(default=(None, None), compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Extent:  # not frozen: that makes it cost three times as much, and each pair of draws has one
    """Draws of a pair of passes, by their numbers in the good capture (if not, the bad one).

    ``first`` is None for the pass as a whole.
    """

    good_pass: int | None
    bad_pass: int | None
    first: int | None = None
    last: int | None = None
    #: Numbers are the bad capture's.
    in_bad: bool = False
    #: Set where it is not of the program's draws. Of operations there are no numbers.
    apart: Apart | None = None
    #: The last of these draws for which a packet of either capture wrote the value; at later ones
    #: it is left over. None: not known.
    written: int | None = field(default=None, compare=False)
    #: The passes of the draw, itself without a counterpart, that the value is left over from.
    left_by: PassIndices | None = field(default=None, compare=False)


@dataclass(slots=True)
class Entry:
    """One cause: what differs, where, and what follows from it."""

    title: str
    extents: tuple[Extent, ...]
    differences: list[Difference] = field(default_factory=list)
    consequences: list[Entry] = field(default_factory=list)
    #: Lower comes first.
    rank: int = 0
    #: Its first consequences are its parts: the same kind of difference with other values.
    has_parts: bool = False

    @property
    def is_derived(self) -> bool:
        """Whether all of it is worked out by drivers from other state."""
        return bool(self.differences) and all(d.category.derived for d in self.differences)


#: Draws of a pass side by side; None where one capture has no such draw.
AlignedDraw = tuple["DrawInputs | None", "DrawInputs | None"]
AlignedDraws = list[AlignedDraw]


@dataclass(slots=True)
class PassPair:
    """Two passes that are each other's counterparts, and their draws; None: there is none."""

    good: Pass | None
    bad: Pass | None
    draws: list[AlignedDraw] = field(default_factory=list)


@dataclass(slots=True)
class Comparison:
    """The result. ``hidden``: how many differences each noise class hides, with names."""

    good: Recording
    bad: Recording
    pairs: list[PassPair] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    hidden: dict[NoiseClass, Counter[str]] = field(default_factory=dict)
    #: Whether limits left out a part of either capture.
    is_truncated: bool = False

    @property
    def differs(self) -> bool:
        """Whether anything differs that is not hidden."""
        return bool(self.entries)

    def hide(self, noise: NoiseClass, name: str) -> None:
        """Count a difference that is not shown."""
        self.hidden.setdefault(noise, Counter())[name] += 1


#: Differences, and where each is.
FoundDifferences = dict[Difference, list[Extent]]


def joined(extents: Iterator[Extent] | list[Extent]) -> tuple[Extent, ...]:
    """Neighbours of one pair of passes joined to ranges."""
    found: list[Extent] = []
    for extent in extents:
        last = found[-1] if found else None
        if (
            last is not None
            and (last.good_pass, last.bad_pass) == (extent.good_pass, extent.bad_pass)
            and (last.in_bad, last.apart) == (extent.in_bad, extent.apart)
            and last.last is not None
            and extent.first == last.last + 1
        ):
            left_by = last.left_by if last.left_by == extent.left_by else None
            found[-1] = replace(last, last=extent.last, written=extent.written, left_by=left_by)
        else:
            found.append(extent)
    return tuple(found)
