# SPDX-License-Identifier: MIT
"""The values of a comparison: recordings, what is selected of them, differences, entries."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.inputs.slot_registers import NO_SLOT_REGISTERS
from cffpy.errors import CaptureError
from cffpy.frame.places import DrawName, PassName, SubmitName, no_draw, no_pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Set

    from cffpy.analysis.diff.rules import Category, NoiseClass
    from cffpy.analysis.inputs.descriptor_sets import Memory, SetPlace, Sets
    from cffpy.analysis.inputs.facts import Fact, FactKey
    from cffpy.analysis.inputs.slot_registers import SlotRegisters
    from cffpy.analysis.inputs.uses import Prefetches
    from cffpy.analysis.register_store.writes import Change
    from cffpy.container.damage import Damage
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, Passes
    from cffpy.frame.place import PacketLocation
    from cffpy.frame.places import Place
    from cffpy.isa.operands import Descriptor
    from cffpy.regdb.database import Database

#: Submits that an error lists.
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a capture; all of it where everything is None.

    ``submit``, ``index`` (of a pass) and ``draw`` (of the program, in the pass) count from 0.
    """

    submit: int | None = None
    index: int | None = None
    draw: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.submit is None and self.index is None

    @property
    def place(self) -> Place | None:
        """The same as a place; None for all of it."""
        if self.submit is not None:
            return SubmitName(self.submit)
        if self.index is None:
            return None
        return PassName(self.index) if self.draw is None else DrawName(self.draw, self.index)

    def __str__(self) -> str:
        """As it is written after a path: ``@p3:7``."""
        return "" if self.place is None else f"@{self.place}"


WHOLE = Selection()

#: Indices of two passes that are each other's counterparts; None: there is none.
PassIndices = tuple[int | None, int | None]


def selection_of(place: Place | None) -> Selection | None:
    """The part that a place is; None for a place that is not a submit, a pass, a draw of one."""
    if place is None:
        return WHOLE
    if isinstance(place, SubmitName):
        return Selection(submit=place.number)
    if isinstance(place, PassName):
        return Selection(index=place.number)
    if isinstance(place, DrawName) and place.pass_index is not None:
        return Selection(index=place.pass_index, draw=place.number)
    return None


#: What is compared apart from the program's draws: these in binning runs; clears, loads and stores.
Apart = Literal["binning run", "operations"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The draws of a capture for which a filter holds, by their passes and program numbers."""

    #: The text of the filter.
    expression: str
    draws: Mapping[int, Set[int]]
    #: Passes that are compared as wholes, too: the filter is about passes, and holds for them.
    passes: frozenset[int] = frozenset()


@dataclass(slots=True)
class DrawRecord:
    """One of the program's draws, dispatches or copies.

    ``changes`` of registers and ``facts`` are what was written since the record before, whatever
    the value; a fact that is gone is None. Where another pipe (BR, BV) executes it than the record
    before, they are what leads from the registers of the one to those of the other.
    """

    action: Action
    #: In order: of two changes of a register, the later one counts. Records share dictionaries.
    changes: list[Change]
    facts: dict[FactKey, Fact | None]
    #: The bindless sets that are bound, by number.
    sets: dict[int, SetPlace]
    #: Barriers since the record before, by name.
    events: tuple[str, ...]
    #: Digests of its shaders, as far as they are captured.
    shaders: tuple[object, ...] = ()
    #: What registers say about the slots of its stages.
    slots: SlotRegisters = NO_SLOT_REGISTERS
    #: Changes if anything in it changes; for the alignment.
    fingerprint: int = 0
    #: Equal where all state is, also what is not its own. For the alignment, once it is asked for.
    state: int = 0
    #: The buffers of its submit.
    memory: Memory | None = None
    #: Registers, by offset, that the pipe of the record before has, and its own never wrote.
    gone: frozenset[int] = frozenset()

    @property
    def prefetched(self) -> Prefetches:
        """Set and slot of what is used of bindless sets before its fragment shader starts."""
        return self.slots.prefetched_of_sets if self.sets else ()

    @property
    def registers(self) -> dict[int, int]:
        """The registers that were written, by offset."""
        found: dict[int, int] = {}
        for values, _ in self.changes:
            found.update(values)
        return found


@dataclass
class Recording:
    """A capture for comparison. ``records`` by ``Action.order``."""

    name: str
    passes: Passes
    database: Database | None
    generation: int
    records: dict[int, DrawRecord] = field(default_factory=dict)
    #: Listings of shaders by digest.
    listings: dict[bytes, str] = field(default_factory=dict)
    #: What the instructions of shaders use, by digest; a3xx and later.
    descriptors: dict[bytes, frozenset[Descriptor]] = field(default_factory=dict)
    sets: Sets | None = None
    #: Barriers after the last record, by name.
    last_events: tuple[str, ...] = ()
    #: Address and size of every buffer, by address.
    buffers: list[tuple[int, int]] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    #: The part that is compared.
    selection: Selection = WHOLE
    #: The draws of that part that are compared; None: all.
    chosen: Chosen | None = None
    #: What is compared apart, each as the draws of the passes that it is in.
    apart: dict[Apart, Recording] = field(default_factory=dict)
    #: Records the capture once more, the passes with these indices in their binning runs.
    record_binning: Callable[[frozenset[int]], Recording] | None = None

    def of(self, one: Pass) -> list[DrawRecord]:
        """The records of a pass, in order."""
        return [self.records[draw.order] for draw in one.draws if draw.order in self.records]

    def in_binning_runs(self, passes: frozenset[int]) -> Recording:
        """The same recording; of passes with these indices, with the draws of the binning run.

        The capture is executed once more.
        """
        if not passes or self.record_binning is None:
            return self
        found = self.record_binning(passes)
        return replace(found, name=self.name, selection=self.selection, chosen=self.chosen)

    @cached_property
    def passes_by_index(self) -> dict[int, Pass]:
        """The passes by their indices."""
        return {one.index: one for one in self.passes.passes}

    def compared_apart(self, apart: Apart) -> Recording | None:
        """What is compared apart, of the same part and for the same filter; None: nothing is.

        A filter that holds for passes holds for their clears, loads and stores, too.
        """
        found, chosen = self.apart.get(apart), self.chosen
        if found is None or (apart == "operations" and self.selection.draw is not None):
            return None
        if apart == "operations" and chosen is not None:
            draws = {
                one.index: set(range(len(one.draws)))
                for one in found.passes.passes
                if one.index in chosen.passes
            }
            chosen = replace(chosen, draws=draws)
        return replace(found, name=self.name, selection=self.selection, chosen=chosen)

    def selected(self, selection: Selection) -> Recording:
        """The same recording with only a part to compare.

        Raises CaptureError where the capture has no such part.
        """
        if selection.is_whole:
            return self
        found = replace(self, name=f"{self.name}{selection}", selection=selection)
        passes = found.selected_passes()
        if not passes and selection.submit is not None:
            submits = sorted({one.submit for one in self.passes.passes})
            there = ", ".join(f"s{one}" for one in submits[:_SHOWN]) or "none"
            more = f" and {len(submits) - _SHOWN} more" if len(submits) > _SHOWN else ""
            text = f"no passes in s{selection.submit}; submits with passes: {there}{more}"
            raise CaptureError(f"{self.name}: {text}")
        if not passes and selection.index is not None:
            problem = no_pass(selection.index, len(self.passes.passes))
            raise CaptureError(f"{self.name}: {problem}")
        draws = len(self.of(passes[0])) if passes else 0
        if selection.draw is not None and selection.draw >= draws:
            problem = no_draw(DrawName(selection.draw, selection.index), draws)
            raise CaptureError(f"{self.name}: {problem}")
        return found

    def selected_passes(self) -> list[Pass]:
        """The passes that are compared, in order."""
        chosen = self.selection
        return [
            one
            for one in self.passes.passes
            if chosen.is_whole
            or (chosen.submit is not None and one.submit == chosen.submit)
            or (chosen.index is not None and one.index == chosen.index)
        ]

    def selected_records(self, one: Pass) -> list[DrawRecord]:
        """The records of a selected pass that are compared."""
        draw = self.selection.draw
        return self.of(one) if draw is None else self.of(one)[draw : draw + 1]

    def is_chosen(self, record: DrawRecord) -> bool:
        """Whether a draw is among those that the filter left to compare."""
        chosen, action = self.chosen, record.action
        if chosen is None:
            return True
        index = -1 if action.pass_index is None else action.pass_index
        return action.number in chosen.draws.get(index, ())

    def is_compared_whole(self, one: Pass) -> bool:
        """Whether the filter left the pass as a whole to compare, not only draws of it."""
        return self.chosen is None or one.index in self.chosen.passes

    def has_chosen(self, one: Pass) -> bool:
        """Whether the filter left anything of a pass to compare."""
        chosen = self.chosen
        return chosen is None or one.index in chosen.passes or one.index in chosen.draws

    def records_before(self) -> Iterator[DrawRecord]:
        """The records of what lies before the part: its state depends on them."""
        if self.selection.is_whole:
            return
        first = self.selected_passes()[0]
        for one in self.passes.passes:
            if one.index >= first.index:
                break
            yield from self.of(one)
        if self.selection.draw is not None:
            yield from self.of(first)[: self.selection.draw]


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


@dataclass(slots=True)
class PassPair:
    """Two passes that are each other's counterparts, and their draws; None: there is none."""

    good: Pass | None
    bad: Pass | None
    draws: list[tuple[DrawRecord | None, DrawRecord | None]] = field(default_factory=list)


@dataclass(slots=True)
class Comparison:
    """The result. ``hidden``: how many differences each noise class hides, with names."""

    good: Recording
    bad: Recording
    pairs: list[PassPair] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    hidden: dict[NoiseClass, Counter[str]] = field(default_factory=dict)
    #: Pairs of draws before which both captures wrote the same values to the same registers.
    equal_writes: int = 0
    #: Those of them that were not looked at further: what else they depend on is equal, too.
    queued: int = 0
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
