# SPDX-License-Identifier: MIT
"""``compare``: aligns the passes and draws of two recordings and finds what differs.

What both captures have is followed at once, from pair of draws to pair of draws (``state.py``).
``OpenDifferences`` has each difference from the draw where it appears to the one where it is gone,
so the cost depends on what changes, not on draws times state.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from cffpy.analysis.diff.addresses import BoundAddresses, ImageLinks
from cffpy.analysis.diff.align import Cells, DrawKeys, align_draws
from cffpy.analysis.diff.commands import addresses_of, uncompared
from cffpy.analysis.diff.differences import (
    AFTER_ALL,
    BEFORE_DRAW,
    Differ,
    barriers,
    name_order,
    uncompared_difference,
)
from cffpy.analysis.diff.model import Comparison, Difference, Entry, Extent, PassPair
from cffpy.analysis.diff.pass_alignment import align_passes, in_same_runs
from cffpy.analysis.diff.passes import is_laid_out_alike, run_structure, structure
from cffpy.analysis.diff.phases import PAIRS, only_of_phase
from cffpy.analysis.diff.report import group, missing_draws, missing_passes
from cffpy.analysis.diff.rules import OTHER
from cffpy.analysis.diff.state import CaptureState, StatePair
from cffpy.analysis.diff.tiles import TileComparer, operations_of_some_tiles
from cffpy.analysis.inputs.descriptor_sets import is_base_of_set, is_of_set
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.regdb.rows import COMMAND

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence, Set

    from cffpy.analysis.diff.commands import PipeCommand
    from cffpy.analysis.diff.model import AlignedDraws, FoundDifferences, PassIndices
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.registers import Role, Written
    from cffpy.analysis.diff.rules import RuleName
    from cffpy.analysis.diff.selection import Phase
    from cffpy.analysis.diff.state import Subject
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.frame.passes import Answers, Pass


class _Open:
    """The differences of a register or fact that hold from draw ``since`` on.

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


class OpenDifferences:
    """What differs at the present pair of draws. ``found``: what differs, and where."""

    def __init__(self, found: FoundDifferences) -> None:
        self.found = found
        #: The present pair of passes.
        self._passes: PassIndices = (None, None)
        self._open: dict[Subject, _Open] = {}

    def enter(self, good_pass: int, bad_pass: int) -> None:
        """Go on to a pair of passes."""
        self._passes = good_pass, bad_pass

    def of(self, subject: Subject) -> tuple[Difference, ...]:
        """How a register or fact differs so far."""
        known = self._open.get(subject)
        return () if known is None else known.differences

    def set(
        self,
        subject: Subject,
        differences: tuple[Difference, ...],
        number: int,
        last: int,
        left_by: PassIndices | None,
    ) -> None:
        """From draw ``number`` on it differs so. ``last``: the draw that was compared before."""
        known = self._open.get(subject)
        if known is not None:
            if known.differences == differences:
                return
            self._close(subject, last)
        if differences:
            self._open[subject] = _Open(differences, number, left_by)

    def note_written(self, written: Container[Subject], number: int) -> None:
        """Either capture wrote these for a draw."""
        for subject, opened in self._open.items():
            if subject in written:
                opened.written = number

    def forget_left_over(self, subject: Subject) -> None:
        """A pair of draws has written a register: its value is left over no more."""
        known = self._open.get(subject)
        if known is not None:
            known.left_by = None

    def skip_to(self, number: int, last: int) -> None:
        """Draws between ``last`` and ``number`` are not compared.

        What is open ends with ``last``, and holds again from the latter on.
        """
        for subject, opened in self._open.items():
            self._note(subject, opened, last)
            opened.since = number

    def close(self, last: int) -> None:
        """The pass is over, with this draw."""
        for subject in list(self._open):
            self._close(subject, last)

    def _close(self, subject: Subject, last: int) -> None:
        self._note(subject, self._open.pop(subject), last)

    def _note(self, subject: Subject, opened: _Open, last: int) -> None:
        """What is open holds up to the draw ``last``."""
        if last < opened.since:
            return
        # descriptors of sets, and what the packet of a draw says, are of each draw
        is_of_draw = is_of_set(subject) or (isinstance(subject, tuple) and subject[0] == "draw")
        extent = Extent(
            *self._passes,
            opened.since,
            last,
            written=last if is_of_draw else opened.written,
            left_by=opened.left_by,
        )
        for difference in opened.differences:
            self.found.setdefault(difference, []).append(extent)


def compare(
    good: Recording, bad: Recording, hidden: frozenset[RuleName], skips_equal: bool = True
) -> Comparison:
    """Compare two recordings. ``hidden``: the rules whose differences are counted only.

    ``skips_equal``: what both captures write alike is not looked at. The result does not depend on
    it.
    """
    keys = DrawKeys(good), DrawKeys(bad)
    good, bad = in_same_runs(good, bad, keys)
    if good is not keys[0].recording or bad is not keys[1].recording:
        keys = DrawKeys(good), DrawKeys(bad)
    result = Comparison(good, bad)
    comparer = _Comparer(result, hidden, skips_equal, keys)
    comparer.skip()
    for pair in align_passes(*keys):
        comparer.compare_passes(pair)
    comparer.finish()
    for phase in comparer.phases.values():
        result.hide_also(phase.result, comparer.found)
    result.hidden = {
        rule: Counter({name: names[name] for name in sorted(names, key=name_order)})
        for rule, names in result.hidden.items()
    }
    links = ImageLinks(result)
    others = [
        (only_of_phase(phase, one.found, comparer.found, one.result.good), one.structures)
        for phase, one in comparer.phases.items()
    ]
    if comparer.tiles is not None:
        tiles = only_of_phase("tiles", comparer.tiles.found, comparer.found, good)
        others.append((tiles, comparer.tiles.missing))
    result.entries = group(comparer.found, comparer.structures, result.pairs, links, others)
    _name_state_groups(result.entries, (good.passes.answers, bad.passes.answers))
    return result


def _name_state_groups(
    entries: list[Entry], answers: tuple[Answers | None, Answers | None]
) -> None:
    """Name the draw-state groups of the packets that wrote what differs."""
    left = list(entries)
    while left:
        entry = left.pop()
        left.extend(entry.consequences)
        for position, difference in enumerate(entry.differences):
            places = difference.good_place, difference.bad_place
            good, bad = (
                None if place is None or asked is None else asked.state_group_at(place)
                for place, asked in zip(places, answers, strict=True)
            )
            if good is not None or bad is not None:
                named = replace(difference, good_group=good, bad_group=bad)
                entry.differences[position] = named


class _Comparer:
    """Goes through the pairs of passes in order."""

    def __init__(
        self,
        result: Comparison,
        hidden: frozenset[RuleName],
        skips_equal: bool,
        keys: tuple[DrawKeys, DrawKeys] | None = None,
        of_draws: Differ | None = None,
    ) -> None:
        """``keys`` align draws. ``of_draws``: of another phase, which is aligned by the program's
        draws, what compares these.
        """
        self.result = result
        self.hidden = hidden
        self._keys = keys
        #: What differs -> where.
        self.found: FoundDifferences = {}
        #: Entries of passes as wholes, and of draws that are missing.
        self.structures: list[Entry] = []
        state = CaptureState(result.good)
        self._states = StatePair(state, CaptureState(result.bad, state), skips_equal)
        self._addresses = BoundAddresses(self._states, keeps_equal=of_draws is not None)
        self._differ = Differ(
            self._states,
            self._hides,
            self._addresses.has_slots,
            "addresses" not in hidden,
            of_draws,
        )
        self._open = OpenDifferences(self.found)
        #: Keys of registers that a draw without a counterpart has written last -> its passes.
        self._left_over: dict[int, PassIndices] = {}
        #: What is looked at with the next pair, besides what changes there.
        self._pending: set[Subject] = set()
        self._cells = Cells()
        #: The kind of command of the pair before.
        self._kind = ""
        #: The last pair of draws, and whether its passes are laid out alike.
        self._last: tuple[Extent, bool] | None = None
        #: Packets that both captures have, and whose addresses were noted.
        self._equal_packets: set[PipeCommand] = set()
        #: Pair of passes -> the draws that the filter left, once it is asked for.
        self._chosen: dict[PassIndices, list[int | None]] | None = None
        #: Other phases, where both captures have them.
        self.phases: dict[Phase, _Comparer] = {}
        #: The tiles whose draws are not compared; None: there are none.
        self.tiles: TileComparer | None = None
        if of_draws is None and _have_tiles(result.good) and _have_tiles(result.bad):
            self.tiles = self._tile_comparer()
        for phase in PAIRS:
            good, bad = (one.of_phase(phase) for one in (result.good, result.bad))
            if good is not None and bad is not None:
                of_both = Comparison(good, bad)
                self.phases[phase] = _Comparer(of_both, hidden, skips_equal, None, self._differ)

    def _tile_comparer(self) -> TileComparer:
        good, bad = self.result.good, self.result.bad
        first = CaptureState(good)
        states = StatePair(first, CaptureState(bad, first), skips_equal=False)
        differ = Differ(states, self._hides, self._addresses.has_slots, all_shown=False)
        addresses = self._addresses.addresses if "addresses" in self.hidden else None
        return TileComparer((good, bad), states, differ, self.result.hide, self._hides, addresses)

    def skip(self) -> None:
        """Take over the state that lies before the parts that are compared."""
        for record in self.result.good.records_before():
            self._states.go_on(record, None)
        for record in self.result.bad.records_before():
            self._states.go_on(None, record)
        for one in self.phases.values():
            one.skip()

    # -- passes ---------------------------------------------------------------------------------

    def compare_passes(self, pair: PassPair) -> None:
        """Compare the next pair; one of the two may be missing."""
        good, bad = pair.good, pair.bad
        recordings = self.result.good, self.result.bad
        both = tuple(zip(recordings, (good, bad), strict=True))
        if any(one is not None and of.has_chosen(one) for of, one in both):
            self.result.pairs.append(pair)
        if good is None or bad is None:
            self._pass_over(pair)
            return
        is_whole = recordings[0].is_compared_whole(good) or recordings[1].is_compared_whole(bad)
        if is_whole:
            self._compare_whole(good, bad)
        aligned = self._align(good, bad)
        pair.draws = [drawn for drawn in aligned if self._is_chosen(*drawn)]
        for phase, one in self.phases.items():
            one._compare_phase(phase, good, bad, aligned)
        self._compare_draws(aligned, good, bad)
        if is_whole:
            passes = good.index, bad.index
            self._compare_skipped(passes, is_laid_out_alike(good, bad), Extent(*passes))
        self.structures.extend(missing_draws(pair))
        if self.tiles is not None and is_whole:
            self.tiles.compare(good, bad, aligned)

    def _compare_whole(self, good: Pass, bad: Pass) -> None:
        selections = self.result.good.selection, self.result.bad.selection
        if any(one.draws is not None for one in selections):
            return
        if any(one.run is not None for one in selections):
            found = list(run_structure(good, bad))
        else:
            of_tiles = frozenset() if self.tiles is None else operations_of_some_tiles(good, bad)
            found = [one for one in structure(good, bad) if one not in of_tiles]
        if found:
            extent = Extent(good.index, bad.index)
            self.structures.append(Entry(f"pass {good.index}", (extent,), found, rank=1))

    def _align(self, good: Pass, bad: Pass) -> AlignedDraws:
        recordings = self.result.good, self.result.bad
        mine, theirs = recordings[0].selected_records(good), recordings[1].selected_records(bad)
        if all(of.selection.is_one_draw for of in recordings):
            return [(mine[0], theirs[0])]
        assert self._keys is not None
        return align_draws(mine, theirs, self._keys, self._cells)

    def _compare_phase(self, phase: Phase, good: Pass, bad: Pass, aligned: AlignedDraws) -> None:
        """Compare a phase of the next pair of passes. ``aligned``: their draws."""
        pair = PassPair(good, bad, aligned)
        found = PAIRS[phase](pair, (self.result.good, self.result.bad))
        pair.draws = [drawn for drawn in found.draws if self._is_chosen(*drawn)]
        self.result.pairs.append(pair)
        self._compare_draws(found.draws, good, bad)
        self.structures.extend(found.missing())

    def _is_chosen(self, mine: DrawInputs | None, theirs: DrawInputs | None) -> bool:
        """Whether the filter holds for either draw of a pair."""
        return (mine is not None and self.result.good.is_chosen(mine)) or (
            theirs is not None and self.result.bad.is_chosen(theirs)
        )

    def _pass_over(self, pair: PassPair) -> None:
        """State is inherited from a pass without a counterpart, too."""
        for one in self.phases.values():
            one._pass_over(pair)
        passes = _indices(pair.good, pair.bad)
        for record in () if pair.good is None else self.result.good.of(pair.good):
            self._states.go_on(record, None)
            self._note_left_over(passes)
        for record in () if pair.bad is None else self.result.bad.of(pair.bad):
            self._states.go_on(None, record)
            self._note_left_over(passes)

    # -- draws ----------------------------------------------------------------------------------

    def _compare_draws(self, aligned: AlignedDraws, good: Pass, bad: Pass) -> None:
        alike = is_laid_out_alike(good, bad)
        states, passes = self._states, (good.index, bad.index)
        self._open.enter(*passes)
        self._pending |= states.registers.touched
        # by draws without a counterpart: their addresses say nothing
        states.registers.forget_written()
        # the last draw that was compared, and the last one that has a counterpart
        last = before = -1
        events: tuple[list[PipeCommand], list[PipeCommand]] = ([], [])
        for mine, theirs in aligned:
            self._add_events(events, mine, theirs)
            states.go_on(mine, theirs, self._addresses.keeps_all)
            is_chosen = self._is_chosen(mine, theirs)
            if not is_chosen:
                events[0].clear()
                events[1].clear()
            if mine is None or theirs is None:
                self._note_left_over(passes)
                continue
            if self._left_over:
                self._forget_left_over()
            number = mine.action.number
            assert number is not None
            kind = mine.action.kind
            self._note_uses(kind)
            extent = Extent(*passes, number, number)
            if is_chosen:
                self._compare_pipes(mine, theirs, extent)
                self._note_overwritten(extent)
                if last < before:
                    self._open.skip_to(number, last)
                self._settle(kind, number, alike, (good, bad), last)
                self._compare_events(BEFORE_DRAW, events, extent, alike)
                self._last = extent, alike
            self._addresses.note_targets(mine, theirs, extent)
            self._addresses.note(kind, extent, before)
            before = number
            if is_chosen:
                last = number
                states.forget()
                self._pending.clear()
                events[0].clear()
                events[1].clear()
        self._open.close(last)
        self._pending.update(self._touched())
        self._pending.update(states.registers.differing, states.inputs.differing)
        states.forget_written()
        self._addresses.addresses.release(Extent(*passes), before)

    def _add_events(
        self,
        events: tuple[list[PipeCommand], list[PipeCommand]],
        mine: DrawInputs | None,
        theirs: DrawInputs | None,
    ) -> None:
        """Add the packets before a pair of draws."""
        sides = (self.result.good, mine), (self.result.bad, theirs)
        for (recording, record), heard in zip(sides, events, strict=True):
            if record is not None and record.action.order in recording.events:
                commands = recording.events[record.action.order]
                if recording.selection.draws is not None:  # any draws may be compared
                    commands = tuple(one for one in commands if not one.begins_run)
                heard.extend(commands)

    def _touched(self) -> Iterator[Subject]:
        """What differs now or did before, of what has changed."""
        return chain(self._states.registers.touched, self._states.inputs.touched)

    def _note_left_over(self, passes: PassIndices) -> None:
        """A draw without a counterpart has written these: later ones may still have the values."""
        for one in self._written():
            self._left_over.update(dict.fromkeys(one.values, passes))

    def _forget_left_over(self) -> None:
        """A pair of draws has written these, at least one of the two."""
        for one in self._written():
            for key in one.values.keys() & self._left_over.keys():
                del self._left_over[key]
                self._open.forget_left_over(key)

    def _written(self) -> Iterable[Written]:
        return chain.from_iterable(self._states.registers.written)

    def _note_uses(self, kind: str) -> None:
        """Look at differences that a draw may use, too, and those before did not."""
        states = self._states
        if self._addresses.note_uses():
            self._pending.update(filter(is_of_set, states.inputs.differing))
            differing = states.registers.differing
            self._pending.update(key for key in differing if is_base_of_set(states.name(key)))
        if kind != self._kind or states.registers.counts:
            self._kind = kind  # which may use registers that the one before did not
            self._pending.update(states.registers.differing, states.inputs.differing)

    def _settle(
        self, kind: str, number: int, alike: bool, passes: tuple[Pass, Pass], last: int
    ) -> None:
        """Open, keep or close the differences in what is to be looked at."""
        registers, inputs = self._states.registers, self._states.inputs
        if not (self._pending or registers.touched or inputs.touched or inputs.written):
            return
        for subject in {*self._pending, *self._touched()}:
            found: tuple[Difference, ...] = ()
            left_by: PassIndices | None = None
            if isinstance(subject, int):
                if registers.note(subject):
                    name, before = self._states.name(subject), self._open.of(subject)
                    assert name is not None
                    found = self._differ.register(name, kind, alike, passes, before)
                    left_by = self._left_over.get(subject)
            elif subject in inputs.differing:
                found = self._differ.fact(subject, alike, self._addresses.is_used(subject))
            self._open.set(subject, found, number, last, left_by)
        self._open.note_written(registers.touched, number)
        self._open.note_written(inputs.written, number)

    def _note_overwritten(self, extent: Extent) -> None:
        """Values that differ between two draws, and are the same again at the second one."""
        for key, values in self._states.registers.overwritten.items():
            name = self._states.name(key)
            assert name is not None
            registers = self._states.captures[0].registers
            if COMMAND in registers.subject(name).roles or self._hides("overwritten", name):
                continue  # all writes of commands are compared, as facts
            good, bad = (" ".join(map(_value_text, of)) or "none" for of in values)
            difference = Difference(f"{name} before it", good, bad, OTHER)
            self.found.setdefault(difference, []).append(extent)

    def _compare_unread(self, extent: Extent) -> None:
        """Registers that are written after the last action. ``extent``: of the last draw."""
        captures = self._states.captures
        written = [of.recording.store.log.written_after_all() for of in captures]
        if written[0] == written[1]:
            return
        registers = captures[0].registers
        if captures[1].registers.is_alike:
            registers.by_key(dict.fromkeys((*written[0], *written[1]), 0))  # which names them
        good, bad = (
            dict(zip(of.registers.by_key(dict.fromkeys(writes, 0)), writes.values(), strict=True))
            for of, writes in zip(captures, written, strict=True)
        )
        for key in sorted(good.keys() | bad.keys()):
            name, values = registers.names.names[key], (good.get(key, []), bad.get(key, []))
            known = next(of.registers for of in captures if name in of.registers.offsets)
            is_command = COMMAND in known.subject(name).roles
            if values[0] == values[1] or (not is_command and self._hides("unread", name)):
                continue
            mine, theirs = (" ".join(map(_value_text, of)) or "none" for of in values)
            difference = Difference(f"{name} {AFTER_ALL}", mine, theirs, OTHER)
            self.found.setdefault(difference, []).append(extent)

    def _compare_pipes(self, mine: DrawInputs, theirs: DrawInputs, extent: Extent) -> None:
        """Which pipe executes a pair of draws; BR does where the stream names none."""
        good, bad = mine.action.pipe, theirs.action.pipe
        if good == bad or ({good, bad} == {None, "BR"} and self._hides("pipes", "pipe")):
            return
        difference = Difference("pipe", good or "not named", bad or "not named", OTHER)
        self.found.setdefault(difference, []).append(extent)

    def _compare_events(
        self,
        where: str,
        events: tuple[Sequence[PipeCommand], Sequence[PipeCommand]],
        extent: Extent,
        alike: bool,
    ) -> None:
        self._note_equal_packets(*events)
        if events[0] == events[1]:
            return
        for difference in barriers(where, *events):
            if alike or not self._hides("barriers", "waits and cache events"):
                self.found.setdefault(difference, []).append(extent)
        is_64bit = self._states.captures[0].registers.generation.is_64bit
        values = self.result.good.written_values, self.result.bad.written_values
        for one in uncompared(*events, is_64bit, values):
            if one.rule == "addresses" and not alike and self._hides("tiles", one.text):
                continue
            if one.rule == "addresses" in self.hidden:
                if one.good and one.bad:
                    role: Role = "packet", f"{one.text} {where}"
                    self._addresses.addresses.note(one.good, one.bad, role, extent)
                    continue
            elif one.rule is not None and self._hides(one.rule, one.text):
                continue
            self.found.setdefault(uncompared_difference(where, one), []).append(extent)

    def _compare_skipped(self, passes: PassIndices, alike: bool, extent: Extent) -> None:
        """Packets of no effect. Where tiles differ, they are executed another number of times."""
        counts = [
            of.skipped.get(index, Counter())
            for of, index in zip((self.result.good, self.result.bad), passes, strict=True)
        ]
        if not alike:
            counts = [Counter([*of]) for of in counts]
        there, gone = ((one - other).items() for one, other in (counts, counts[::-1]))
        numbers = [Counter[str](), Counter[str]()]
        for number, packets in zip(numbers, (there, gone), strict=True):
            for (what, _), count in packets:
                number[what] += count
        for what, count in (numbers[0] | numbers[1]).items():
            if "skipped" in self.hidden:
                self.result.hidden.setdefault("skipped", Counter())[what] += count
            else:
                good, bad = (f"{of[what]} that the other lacks" for of in numbers)
                self.found.setdefault(Difference(what, good, bad, OTHER), []).append(extent)

    def _note_equal_packets(
        self, mine: Iterable[PipeCommand], theirs: Iterable[PipeCommand]
    ) -> None:
        """The addresses of packets that both captures have."""
        is_64bit = self._states.captures[0].registers.generation.is_64bit
        equal = {one for one in mine if one.dwords}.intersection(theirs) - self._equal_packets
        self._equal_packets |= equal
        for one in equal:
            self._addresses.addresses.note_of_packets(addresses_of(one, is_64bit))

    # -- the end --------------------------------------------------------------------------------

    def finish(self, same: Set[tuple[int, int]] = frozenset()) -> None:
        """Compare what only the captures as wholes show. ``same``: as ``Addresses`` has it."""
        for one in self.phases.values():
            one.finish(self._addresses.addresses.same())
        if self.tiles is not None:
            self.tiles.finish(self._addresses.addresses.same())
        recordings = self.result.good, self.result.bad
        is_all = all(of.chosen is None for of in recordings)
        is_whole = is_all and all(of.selection.is_whole for of in recordings)
        if is_whole and self._last is not None and self._ends_alike():
            events = self.result.good.last_events, self.result.bad.last_events
            self._compare_events(AFTER_ALL, events, *self._last)
            self._compare_unread(self._last[0])
            self._compare_skipped((None, None), True, self._last[0])
        self.structures.extend(missing_passes(self.result.pairs))
        for difference, extents in self._addresses.addresses.differences(same):
            compared = extents if is_all else self._only_chosen(extents)
            if compared:
                self.found[difference] = compared
        for rule, name in self._addresses.addresses.moved(same):
            self.result.hide(rule, name)

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

    def _hides(self, rule: RuleName, name: str) -> bool:
        if rule not in self.hidden:
            return False
        self.result.hide(rule, name)
        return True


def _value_text(value: int) -> str:
    return "unknown" if value == UNKNOWN else f"{value:08x}"


def _have_tiles(recording: Recording) -> bool:
    """Whether a pass that is compared as a whole has several tiles."""
    if recording.selection.draws is not None or recording.selection.run is not None:
        return False
    return any(len(one.tiles) > 1 for one in recording.selected_passes())


def _indices(good: Pass | None, bad: Pass | None) -> PassIndices:
    return None if good is None else good.index, None if bad is None else bad.index
