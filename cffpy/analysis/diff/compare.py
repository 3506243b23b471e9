# SPDX-License-Identifier: MIT
"""``compare``: aligns the passes and draws of two recordings and finds the differences of state.

The states of both captures are followed at once. A difference is open from the draw where it
appears to the one where it is gone: the cost depends on what changes, not on draws times state.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.diff.addresses import ImageLinks
from cffpy.analysis.diff.align import (
    Cells,
    align_draws,
    align_passes,
    in_same_runs,
)
from cffpy.analysis.diff.apart import PAIRS, AlignedDraws, only_apart
from cffpy.analysis.diff.barriers import AFTER_ALL, BEFORE_DRAW, barriers
from cffpy.analysis.diff.bound_addresses import BoundAddresses
from cffpy.analysis.diff.differences import Differ, name_order
from cffpy.analysis.diff.draw_states import States
from cffpy.analysis.diff.equal_facts import EqualFacts, has_address
from cffpy.analysis.diff.equal_pairs import EqualPairs, Watched
from cffpy.analysis.diff.model import Comparison, Difference, Entry, Extent, PassPair
from cffpy.analysis.diff.passes import is_laid_out_alike, structure
from cffpy.analysis.diff.register_state import Written, parted
from cffpy.analysis.diff.report import group, missing_draws, missing_passes
from cffpy.analysis.diff.side import Side
from cffpy.analysis.inputs.descriptor_sets import is_of_set, set_of_base

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence, Set

    from cffpy.analysis.diff.equal_facts import ChangedAlike
    from cffpy.analysis.diff.model import (
        Apart,
        DrawRecord,
        FoundDifferences,
        PassIndices,
        Recording,
    )
    from cffpy.analysis.diff.rules import NoiseClass
    from cffpy.analysis.diff.side import Subject
    from cffpy.analysis.inputs.facts import FactKey
    from cffpy.frame.passes import Pass


def compare(
    good: Recording, bad: Recording, hidden: frozenset[NoiseClass], skips_equal: bool = True
) -> Comparison:
    """Compare two recordings. ``hidden``: the noise classes that are counted only.

    ``skips_equal``: registers to which both captures write the same for a draw are not looked at.
    The result does not depend on it.
    """
    good, bad = in_same_runs(good, bad)
    result = Comparison(good, bad)
    comparer = _Comparer(result, hidden, skips_equal)
    comparer.skip()
    for mine, theirs in align_passes(good, bad):
        comparer.compare_passes(mine, theirs)
    comparer.finish()
    result.hidden = {
        noise: Counter({name: names[name] for name in sorted(names, key=name_order)})
        for noise, names in result.hidden.items()
    }
    links = ImageLinks(result)
    result.equal_writes, result.queued = comparer.equal_writes, comparer.queued
    apart = [
        (only_apart(of, one.found, comparer.found, one.result.good), one.structures)
        for of, one in comparer.apart.items()
    ]
    result.entries = group(comparer.found, comparer.structures, result.pairs, links, apart)
    return result


class _Open:
    """A difference that holds from draw ``since`` on.

    ``written``: the last draw for which either capture wrote it. ``left_by``: as in ``Extent``.
    """

    __slots__ = ("differences", "left_by", "since", "written")

    def __init__(
        self, differences: tuple[Difference, ...], since: int, left_by: PassIndices | None
    ) -> None:
        self.differences = differences
        self.since = since
        self.written = since
        self.left_by = left_by


class _Comparer:
    """Goes through the pairs of passes in order."""

    def __init__(
        self,
        result: Comparison,
        hidden: frozenset[NoiseClass],
        skips_equal: bool,
        of_draws: Differ | None = None,
    ) -> None:
        """``of_draws``: where something is compared apart, what compares the program's draws."""
        self.result = result
        self._skips_equal = skips_equal
        #: The same as ``equal_writes``, of pairs that were looked at.
        self._equal_writes = 0
        #: Keys of registers that a draw without a counterpart has written last -> its passes.
        self._left_over: dict[int, PassIndices] = {}
        self.hidden = hidden
        #: What differs -> where.
        self.found: FoundDifferences = {}
        #: Entries of passes as wholes, and of draws that are missing.
        self.structures: list[Entry] = []
        good_side = Side(result.good)
        self._sides = good_side, Side(result.bad, good_side)
        self._addresses = BoundAddresses(self._sides, keeps_equal=of_draws is not None)
        all_shown = "addresses" not in hidden
        has_slots = self._addresses.has_slots
        self._differ = Differ(self._sides, self._hides, has_slots, all_shown, of_draws)
        self._open: dict[Subject, _Open] = {}
        #: What is not the same on both sides, hidden or not; of that, the keys of registers, and
        #: facts.
        self._unequal: set[Subject] = set()
        self._unequal_registers: set[int] = set()
        self._unequal_facts: set[FactKey] = set()
        #: What is looked at where the next pair of draws begins.
        self._pending: set[Subject] = set()
        self._cells = Cells()
        self._states = States(result.good, result.bad, self._sides[1].is_alike)
        self._equal_facts = EqualFacts(result.good, result.bad)
        watched = Watched(self._unequal_registers, self._unequal_facts, self._left_over)
        self._equal = EqualPairs(self._sides, self._addresses, self._equal_facts, watched)
        is_all = result.good.chosen is result.bad.chosen is None
        self._queues = skips_equal and is_all and not self._addresses.addresses.keeps_equal
        #: Facts that may be others than before, but the same ones on both sides; and keys of
        #: registers with addresses that were written.
        self._rebound: set[FactKey] = set()
        self._rewritten: set[int] = set()
        #: Whether registers that count others were written.
        self._has_counts = False
        #: The kind of command of the pair before.
        self._kind = ""
        #: The last pair of draws, and whether its passes are laid out alike.
        self._last: tuple[Extent, bool] | None = None
        #: Pair of passes -> the draws that the filter left, once it is asked for.
        self._chosen: dict[PassIndices, list[int | None]] | None = None
        #: What is compared apart, where both captures have it.
        self.apart: dict[Apart, _Comparer] = {}
        for of in PAIRS:
            good, bad = (one.compared_apart(of) for one in (result.good, result.bad))
            if good is not None and bad is not None:
                of_both = Comparison(good, bad)
                self.apart[of] = _Comparer(of_both, hidden, skips_equal, self._differ)

    @property
    def equal_writes(self) -> int:
        """Pairs of draws before which both sides wrote the same to the same registers."""
        return self._equal_writes + self.queued

    @property
    def queued(self) -> int:
        """Pairs of draws that were not looked at further, since they are equal."""
        return self._equal.count

    def skip(self) -> None:
        """Take over the state that lies before the parts that are compared."""
        for side in self._sides:
            for record in side.recording.records_before():
                self._pending |= side.apply(record)
        for one in self.apart.values():
            one.skip()

    # -- passes ---------------------------------------------------------------------------------

    def compare_passes(self, good: Pass | None, bad: Pass | None) -> None:
        """Compare the next pair; one of the two may be missing."""
        pair = PassPair(good, bad)
        sides = self.result.good, self.result.bad
        both = tuple(zip(sides, (good, bad), strict=True))
        if any(one is not None and side.has_chosen(one) for side, one in both):
            self.result.pairs.append(pair)
        if good is None or bad is None:
            self._one_sided(pair)
            return
        is_whole = sides[0].is_compared_whole(good) or sides[1].is_compared_whole(bad)
        is_of_passes = is_whole and sides[0].selection.draw is sides[1].selection.draw is None
        found = list(structure(good, bad)) if is_of_passes else []
        if found:
            extent = Extent(good.index, bad.index)
            self.structures.append(Entry(f"pass {good.index}", (extent,), found, rank=1))
        records = sides[0].selected_records(good), sides[1].selected_records(bad)
        if sides[0].selection.draw is not None and sides[1].selection.draw is not None:
            aligned: AlignedDraws = [(records[0][0], records[1][0])]
        else:
            aligned = align_draws(*records, self._cells, self._states)
        pair.draws = [drawn for drawn in aligned if self._is_chosen(*drawn)]
        for of, one in self.apart.items():
            one._compare_apart(of, good, bad, aligned)
        self._compare_draws(aligned, good, bad)
        self.structures.extend(missing_draws(pair))

    def _compare_apart(self, of: Apart, good: Pass, bad: Pass, aligned: AlignedDraws) -> None:
        """Compare what is apart in the next pair of passes. ``aligned``: their draws."""
        pair = PassPair(good, bad, aligned)
        found = PAIRS[of](pair, (self.result.good, self.result.bad))
        pair.draws = [drawn for drawn in found.draws if self._is_chosen(*drawn)]
        self.result.pairs.append(pair)
        self._compare_draws(found.draws, good, bad)
        self.structures.extend(found.missing())

    def _is_chosen(self, mine: DrawRecord | None, theirs: DrawRecord | None) -> bool:
        """Whether the filter holds for either draw of a pair."""
        return (mine is not None and self.result.good.is_chosen(mine)) or (
            theirs is not None and self.result.bad.is_chosen(theirs)
        )

    def _one_sided(self, pair: PassPair) -> None:
        """State is inherited from a pass without a counterpart, too."""
        self._equal.apply()
        for apart in self.apart.values():
            apart._one_sided(pair)
        for one, recording, side in (
            (pair.good, self.result.good, self._sides[0]),
            (pair.bad, self.result.bad, self._sides[1]),
        ):
            for record in () if one is None else recording.of(one):
                written = side.write_registers(record)
                self._pending |= side.change_facts(record)
                self._pending |= self._names_of(written)
                self._note_left_over(written, _indices(pair.good, pair.bad))

    # -- draws ----------------------------------------------------------------------------------

    def _compare_draws(self, aligned: AlignedDraws, good: Pass, bad: Pass) -> None:
        alike = is_laid_out_alike(good, bad)
        # the last draw that was compared, and the last one that has a counterpart
        last = before = -1
        touched, self._pending = self._pending, set()
        written: set[Subject] = set()
        self._rewritten.clear()  # by draws without a counterpart: their addresses say nothing
        events: tuple[list[str], list[str]] = ([], [])
        for mine, theirs in self._equal.others(aligned):
            if self._equal.last is not None:
                before = last = self._equal.last
                self._note_queued()
            _add_events(events, mine, theirs)
            written |= self._apply(mine, theirs, (good.index, bad.index))
            is_chosen = self._is_chosen(mine, theirs)
            if not is_chosen:
                events[0].clear()
                events[1].clear()
            if mine is None or theirs is None:
                continue
            number = mine.action.number
            assert number is not None
            touched |= written
            kind = mine.action.kind
            self._note_uses(touched, kind)
            extent = Extent(good.index, bad.index, number, number)
            if is_chosen:
                if last < before:
                    self._go_on_after_gap(extent, last)
                self._settle(touched, kind, number, alike, (good, bad), last)
                self._note_written((written, mine.facts, theirs.facts), number)
                self._compare_events(BEFORE_DRAW, events, extent, alike)
                self._last = extent, alike
            self._addresses.note_targets(mine, theirs, extent)
            self._note_addresses(touched, kind, extent, before)
            before = number
            if is_chosen:
                self._forget_touched(touched, written, *events)
                last = number
                if self._queues:
                    self._equal.begin(mine, theirs)
        if self._equal.last is not None:
            before = last = self._equal.last
            self._note_queued()
            self._last = Extent(good.index, bad.index, last, last), alike
        self._pending = touched | written | self._unequal
        for subject in list(self._open):
            self._close(subject, last, (good, bad))
        self._addresses.addresses.release(Extent(good.index, bad.index), before)

    def _note_queued(self) -> None:
        """Pairs were queued; differences of parameters of draws have held at all of them."""
        assert self._equal.last is not None
        self._note_written((), self._equal.last)

    def _note_addresses(
        self, touched: set[Subject], kind: str, extent: Extent, before: int
    ) -> None:
        if touched:
            facts = (one for one in touched if isinstance(one, tuple))
            self._rebound.update(filter(has_address, facts))
        self._addresses.note(kind, self._rebound, self._rewritten, extent, before)

    def _forget_touched(
        self,
        touched: set[Subject],
        written: set[Subject],
        mine: list[str],
        theirs: list[str],
    ) -> None:
        """A pair of draws was compared: what follows is looked at with the next one."""
        for one in (touched, written, mine, theirs, self._rebound, self._rewritten):
            one.clear()
        self._has_counts = False

    def _apply(
        self, mine: DrawRecord | None, theirs: DrawRecord | None, passes: PassIndices
    ) -> set[Subject]:
        """Go on to these records: the facts that may be others, and registers that were written.

        Registers to which both sides write the same are left out where they were equal before and
        nothing depends on them.
        """
        lists: list[Sequence[Written]] = [(), ()]
        if mine is not None:
            lists[0] = self._sides[0].write_registers(mine)
        if theirs is not None:
            lists[1] = self._sides[1].write_registers(theirs, lists[0])
        if mine is None or theirs is None:
            self._note_left_over([*lists[0], *lists[1]], passes)
        elif self._left_over:
            self._forget_left_over([*lists[0], *lists[1]])
        both, others = parted(*lists) if self._skips_equal else ((), [*lists[0], *lists[1]])
        if self._skips_equal and not others:
            self._equal_writes += 1
        return {
            *self._change_facts(mine, theirs),
            *self._names_of(others),
            *self._unequal_of(both, "" if mine is None else mine.action.kind),
        }

    def _unequal_of(self, written: Iterable[Written], kind: str) -> Iterable[str]:
        """Registers to which both sides wrote the same, and that were not the same before."""
        unequal = self._unequal_registers
        found: set[int] = set()
        has_bound = self._addresses.addresses.has_bound
        for one in written:
            if one.addresses and (has_bound or one.noted != kind):
                one.noted = kind if one.is_whole else ""
                self._rewritten.update(one.addresses)
            if one.counts:
                self._has_counts = True
            if unequal and not one.values.keys().isdisjoint(unequal):
                found |= one.values.keys() & unequal
        return map(self._sides[0].names.names.__getitem__, found)

    def _change_facts(self, mine: DrawRecord | None, theirs: DrawRecord | None) -> Set[FactKey]:
        """Go on to the facts of these records: those that may be others now.

        Where both sides have the same ones, only those that differed before; the addresses of the
        others are noted.
        """
        one, other = self._sides
        if mine is not None and theirs is not None and self._skips_equal:
            facts = self._equal_facts.of(mine, theirs)
            if facts is not None:
                return self._take_facts(mine, theirs, facts)
        return {
            key
            for side, record in ((one, mine), (other, theirs))
            if record is not None
            for key in side.change_facts(record)
        }

    def _take_facts(
        self, mine: DrawRecord, theirs: DrawRecord, facts: ChangedAlike
    ) -> Set[FactKey]:
        one, other = self._sides
        one.take_facts(mine, facts.gone)
        other.take_facts(theirs, facts.gone)
        has_moved = self._addresses.addresses.has_bound
        if has_moved or not facts.is_noted:
            self._rebound |= facts.with_addresses
            facts.is_noted = facts.is_plain
        unequal = self._unequal_facts
        touched = mine.facts.keys() & unequal if unequal else set()
        for side, record in ((one, mine), (other, theirs)):
            for number, before in side.take_sets(record.sets):
                now = side.keys_of_set(number)
                if unequal:
                    touched |= (now & unequal) | (before - now) & unequal
                if has_moved:
                    self._rebound |= now | before
                else:
                    place = mine.sets[number], theirs.sets[number]
                    parts = self._equal_facts.addresses_of_set(*place) or ()
                    self._rebound.update([side.set_key(number, part) for part in parts])
        return touched

    def _names_of(self, written: Iterable[Written]) -> set[str]:
        """Registers that were written, by name, of those that matter."""
        one, other = (side.registers.by_key for side in self._sides)
        unequal = self._unequal_registers
        found: set[int] = set()
        for part in written:
            self._rewritten.update(part.addresses)
            self._has_counts = self._has_counts or part.counts
            if not self._skips_equal:
                found.update(part.values)
            else:
                found.update(
                    key for key in part.values if one.get(key) != other.get(key) or key in unequal
                )
        return set(map(self._sides[0].names.names.__getitem__, found))

    def _note_left_over(self, written: Iterable[Written], passes: PassIndices) -> None:
        """A draw without a counterpart has written these: later ones may still have the values."""
        for one in written:
            self._left_over.update(dict.fromkeys(one.values, passes))

    def _forget_left_over(self, written: Iterable[Written]) -> None:
        """A pair of draws has written these, at least one of the two."""
        for one in written:
            for key in one.values.keys() & self._left_over.keys():
                del self._left_over[key]
                name = self._sides[0].names.names[key]
                if name in self._open:
                    self._open[name].left_by = None

    def _note_uses(self, touched: set[Subject], kind: str) -> None:
        """Add to what was touched the differences that a draw may use, and those before did not."""
        if self._addresses.note_uses():
            touched |= {
                key for key in self._unequal if is_of_set(key) or set_of_base(key) is not None
            }
        if kind != self._kind or self._has_counts:
            self._kind = kind  # which may use registers that the one before did not
            touched |= self._unequal

    def _settle(
        self,
        touched: set[Subject],
        kind: str,
        number: int,
        alike: bool,
        passes: tuple[Pass, Pass],
        last: int,
    ) -> None:
        """Open, keep or close the differences in what was touched."""
        one, other = self._sides
        for subject in touched:
            found: tuple[Difference, ...] = ()
            known = self._open.get(subject)
            if one.value(subject) == other.value(subject):
                if subject in self._unequal:
                    self._note_equal(subject)
            else:
                self._unequal.add(subject)
                if isinstance(subject, str):
                    self._unequal_registers.add(one.names.keys[subject])
                    before = () if known is None else known.differences
                    found = self._differ.register(subject, kind, alike, passes, before)
                else:
                    self._unequal_facts.add(subject)
                    found = self._differ.fact(subject, alike, self._addresses.is_used(subject))
            if known is not None:
                if known.differences == found:
                    continue
                self._close(subject, last, passes)
            if found:
                left_by = self._left_by(subject)
                self._open[subject] = _Open(found, number, left_by)

    def _note_equal(self, subject: Subject) -> None:
        self._unequal.remove(subject)
        if isinstance(subject, str):
            self._unequal_registers.remove(self._sides[0].names.keys[subject])
        else:
            self._unequal_facts.remove(subject)

    def _left_by(self, subject: Subject) -> PassIndices | None:
        """The passes of the draw without a counterpart that left a register's value."""
        if not self._left_over or not isinstance(subject, str):
            return None
        return self._left_over.get(self._sides[0].names.keys[subject])

    def _note_written(self, written: Iterable[Container[object]], number: int) -> None:
        """Either capture wrote these for a draw; its own packet has the draw's parameters."""
        for subject, opened in self._open.items():
            is_parameter = isinstance(subject, tuple) and subject[0] == "draw"
            if is_parameter or any(subject in one for one in written):
                opened.written = number

    def _close(self, subject: Subject, last: int, passes: tuple[Pass, Pass]) -> None:
        opened = self._open.pop(subject)
        self._note_extent(subject, opened, last, Extent(passes[0].index, passes[1].index))

    def _note_extent(self, subject: Subject, opened: _Open, last: int, pair: Extent) -> None:
        """A difference that is open holds up to the draw ``last`` of this pair of passes."""
        if last < opened.since:
            return
        written = last if is_of_set(subject) else opened.written
        extent = replace(
            pair, first=opened.since, last=last, written=written, left_by=opened.left_by
        )
        for difference in opened.differences:
            self.found.setdefault(difference, []).append(extent)

    def _go_on_after_gap(self, extent: Extent, last: int) -> None:
        """Draws between ``last`` and that of ``extent`` are not compared.

        What is open ends with ``last``, and holds again from this draw on.
        """
        assert extent.first is not None
        for subject, opened in self._open.items():
            self._note_extent(subject, opened, last, extent)
            opened.since = extent.first

    def _compare_events(
        self, where: str, events: tuple[Sequence[str], Sequence[str]], extent: Extent, alike: bool
    ) -> None:
        if events[0] == events[1]:
            return
        for difference in barriers(where, *events):
            if alike or not self._hides("barriers", "waits and cache events"):
                self.found.setdefault(difference, []).append(extent)

    # -- the end --------------------------------------------------------------------------------

    def finish(self, same: Set[tuple[int, int]] = frozenset()) -> None:
        """Compare what only the captures as wholes show. ``same``: as ``Addresses`` has it."""
        for one in self.apart.values():
            one.finish(self._addresses.addresses.same())
        sides = self.result.good, self.result.bad
        is_all = all(side.chosen is None for side in sides)
        is_whole = is_all and all(side.selection.is_whole for side in sides)
        if is_whole and self._last is not None and self._ends_alike():
            events = self.result.good.last_events, self.result.bad.last_events
            self._compare_events(AFTER_ALL, events, *self._last)
        self.structures.extend(missing_passes(self.result.pairs))
        for difference, extents in self._addresses.addresses.differences(same):
            compared = extents if is_all else self._only_chosen(extents)
            if compared:
                self.found[difference] = compared
        for noise, name in self._addresses.addresses.moved():
            self.result.hide(noise, name)

    def _only_chosen(self, extents: list[Extent]) -> list[Extent]:
        """Without the draws that the filter left out: addresses are followed at all draws."""
        if self._chosen is None:
            self._chosen = {
                _indices(pair.good, pair.bad): [
                    mine.action.number
                    for mine, theirs in pair.draws
                    if mine is not None and theirs is not None
                ]
                for pair in self.result.pairs
            }
        return [
            replace(extent, first=number, last=number)
            for extent in extents
            for number in self._chosen.get((extent.good_pass, extent.bad_pass), ())
            if (extent.first or 0) <= (number or 0) <= (extent.last or 0)
        ]

    def _ends_alike(self) -> bool:
        """Whether the last draws of both captures are each other's counterparts."""
        for pair in reversed(self.result.pairs):
            if pair.draws or pair.good is None or pair.bad is None:
                return bool(pair.draws) and None not in pair.draws[-1]
        return False

    def _hides(self, noise: NoiseClass, name: str) -> bool:
        if noise not in self.hidden:
            return False
        self.result.hide(noise, name)
        return True


def _add_events(
    events: tuple[list[str], list[str]], mine: DrawRecord | None, theirs: DrawRecord | None
) -> None:
    for record, heard in zip((mine, theirs), events, strict=True):
        if record is not None and record.events:
            heard.extend(record.events)


def _indices(good: Pass | None, bad: Pass | None) -> PassIndices:
    return None if good is None else good.index, None if bad is None else bad.index
