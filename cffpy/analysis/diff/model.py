# SPDX-License-Identifier: MIT
"""The values of a comparison: differences, where they are, entries."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.diff.rules import RULES, CategoryName, RuleName
from cffpy.analysis.diff.selection import Phase
from cffpy.frame.driver import StateGroup
from cffpy.frame.facts import described, fact, model, stored
from cffpy.frame.places import PacketLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.rules import Category
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.frame.passes import Pass


#: Indices of two passes that are each other's counterparts; None: there is none.
PassIndices = tuple[int | None, int | None]

#: The first or the second of two captures.
Capture = Literal["good", "bad"]


@model("difference", frozen=True, is_value=False)
class Difference:
    """Something that is ``good`` in the first capture and ``bad`` in the second."""

    name: str = stored("what differs: RB_DEPTH_CNTL.ZFUNC, shader FS")
    good: str = stored("its value in the first capture, as text")
    bad: str = stored("its value in the second capture, as text")
    category: Category

    @fact(name="category")
    def category_name(self) -> CategoryName:
        """What it is about."""
        return self.category.name

    good_place: PacketLocation | None = stored(
        "the packet that wrote it in the first capture, where a packet did",
        name="good_written_by",
        default=None,
        compare=False,
    )
    bad_place: PacketLocation | None = stored(
        "the packet that wrote it in the second capture, where a packet did",
        name="bad_written_by",
        default=None,
        compare=False,
    )
    details: tuple[str, ...] = stored(
        "more of it: the lines of a shader that differ, the words of a buffer", default=()
    )
    #: Of a texture's descriptor: the images that it is of, where it differs first.
    images: tuple[int | None, int | None] = field(default=(None, None), compare=False)
    good_group: StateGroup | None = stored(
        "the draw-state group that this packet is in, with the driver's name of it",
        default=None,
        compare=False,
    )
    bad_group: StateGroup | None = stored(
        "the draw-state group that this packet is in, with the driver's name of it",
        default=None,
        compare=False,
    )


@described(
    "extent",
    is_value=False,
    names={"first": "first_draw", "last": "last_draw"},
    good_pass="number of the pass in the first capture; None where it has no counterpart there",
    bad_pass="number of the pass in the second capture; None where it has no counterpart there",
    first="number of the first draw in its pass; None for the pass as a whole",
    last="number of the last draw in its pass; None for the pass as a whole",
    first_tile="number of the first tile in its pass, where only some tiles differ",
    last_tile="number of the last tile in its pass, where only some tiles differ",
)
@dataclass(slots=True, unsafe_hash=True)
class Extent:  # not frozen: that makes it cost three times as much, and each pair of draws has one
    """Draws of a pair of passes that a difference holds for, or the passes as wholes."""

    good_pass: int | None
    bad_pass: int | None
    first: int | None = None
    last: int | None = None
    #: Numbers are those of the second capture.
    in_bad: bool = False
    #: Operations have no numbers.
    phase: Phase = "draws"
    #: Of the phase "tiles".
    first_tile: int | None = None
    last_tile: int | None = None
    #: The last of these draws for which a packet of either capture wrote the value; at later ones
    #: it is left over. None: not known.
    written: int | None = field(default=None, compare=False)
    #: The passes of the draw, itself without a counterpart, that the value is left over from.
    left_by: PassIndices | None = field(default=None, compare=False)

    @property
    def numbered_pass(self) -> int | None:
        """The pass that draws are counted in."""
        return self.bad_pass if self.in_bad else self.good_pass

    @fact()
    def numbers_of(self) -> Capture:
        """The capture that draws and tiles are counted in."""
        return "bad" if self.in_bad else "good"

    @fact()
    def of(self) -> Phase:
        """The program's draws as one tile executes them, or as the binning run does; loads, clears
        and stores of attachments; or all of this in the other tiles.
        """
        return self.phase


@model("entry")
class Entry:
    """A cause: what differs, where, and what follows from it."""

    title: str = stored("where it is, and what differs first")
    extents: tuple[Extent, ...] = stored("the draws that it holds for")
    differences: list[Difference] = stored("what differs, most telling first", default_factory=list)
    consequences: list[Entry] = stored("what follows from it", default_factory=list)
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
    """Two passes that are each other's counterparts, and their draws; None: there is none.

    ``moved_to``: of a pass of good without a counterpart, the pass of bad with the same content
    that has none either; ``moved_from``: the reverse. ``has_equal_state``: as far as it has moved,
    whether all state of its draws is the same.
    """

    good: Pass | None
    bad: Pass | None
    draws: list[AlignedDraw] = field(default_factory=list)
    moved_to: Pass | None = None
    moved_from: Pass | None = None
    has_equal_state: bool = True


@model("applied_rule")
class AppliedRule:
    """A rule by which differences are counted instead of shown, and what it holds for."""

    rule: RuleName = stored("its name, as for --show")
    meaning: str = stored("when it holds")
    decided: bool = stored("the differences have no effect; else that cannot be told")
    differences: dict[str, int] = stored("what differs, and how often: the most frequent first")

    @fact()
    def count(self) -> int:
        """How many differences it holds for."""
        return sum(self.differences.values())


@dataclass(slots=True)
class Comparison:
    """The result. ``hidden``: how often each rule holds for what, by the name of what differs."""

    good: Recording
    bad: Recording
    pairs: list[PassPair] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    hidden: dict[RuleName, Counter[str]] = field(default_factory=dict)
    #: Whether limits left out a part of either capture.
    is_truncated: bool = False

    @property
    def differs(self) -> bool:
        """Whether there are entries: differences that may have an effect."""
        return bool(self.entries)

    @property
    def rules(self) -> list[AppliedRule]:
        """What is counted instead of shown, the most frequent first."""
        rules = []
        for name, names in self.hidden.items():
            rule = RULES[name]
            differences = dict(names.most_common())
            rules.append(AppliedRule(name, rule.meaning, rule.is_decided, differences))
        return sorted(rules, key=lambda rule: (-rule.count, rule.rule))

    @property
    def undecided(self) -> int:
        """How many differences the captures do not decide: they may have an effect."""
        return sum(rule.count for rule in self.rules if not rule.decided)

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs and nothing is undecided."""
        return not self.differs and not self.undecided

    def hide(self, rule: RuleName, name: str) -> None:
        """Count a difference that is not shown."""
        self.hidden.setdefault(rule, Counter())[name] += 1

    def hide_also(self, of_phase: Comparison, found: FoundDifferences) -> None:
        """Count what is not shown of a phase, but for what is counted or ``found`` here already."""
        registers = {name for one in found for name in (one.name, one.name.rpartition(".")[0])}
        for rule, names in of_phase.hidden.items():
            known = self.hidden.get(rule, Counter())
            others = {name: count for name, count in names.items() if name not in known}
            for name in registers & others.keys():
                del others[name]
            if others:
                self.hidden.setdefault(rule, Counter()).update(others)


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
            and (last.in_bad, last.phase) == (extent.in_bad, extent.phase)
            and last.last is not None
            and extent.first == last.last + 1
        ):
            left_by = last.left_by if last.left_by == extent.left_by else None
            found[-1] = replace(last, last=extent.last, written=extent.written, left_by=left_by)
        else:
            found.append(extent)
    return tuple(found)
