# SPDX-License-Identifier: MIT
"""``compare``: aligns the passes and draws of two recordings and finds the differences of state.

The states of both captures are followed at once. A difference is open from the draw where it
appears to the one where it is gone: the cost depends on what changes, not on draws times state.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.diff.addresses import NO_PAIR, Addresses, ImageLinks
from cffpy.analysis.diff.align import (
    Cells,
    StateNoter,
    align_draws,
    align_passes,
    in_same_runs,
)
from cffpy.analysis.diff.apart import PAIRS, AlignedDraws, only_apart
from cffpy.analysis.diff.barriers import AFTER_ALL, BEFORE_DRAW, barriers
from cffpy.analysis.diff.descriptors import DrawSlots, SetSlot, is_of_set, set_of_base
from cffpy.analysis.diff.differences import Differ, constant_addresses, key_text
from cffpy.analysis.diff.model import Comparison, Difference, Entry, Extent, PassPair
from cffpy.analysis.diff.passes import is_laid_out_alike, structure
from cffpy.analysis.diff.report import group, missing_draws, missing_passes
from cffpy.analysis.diff.rules import COUNTERS
from cffpy.analysis.diff.side import NamedRegisters, SharedRegisters, Side, parted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence, Set

    from cffpy.analysis.diff.addresses import Role
    from cffpy.analysis.diff.facts import FactKey
    from cffpy.analysis.diff.model import (
        Apart,
        DrawRecord,
        FoundDifferences,
        PassIndices,
        Recording,
    )
    from cffpy.analysis.diff.rules import NoiseClass
    from cffpy.analysis.diff.side import AddressRole, Subject
    from cffpy.analysis.passes.model import Pass


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
        noise: Counter(dict(sorted(names.items()))) for noise, names in result.hidden.items()
    }
    links = ImageLinks(result)
    result.equal_writes = comparer.equal_writes
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
        #: Pairs of draws before which both sides wrote the same to the same registers.
        self.equal_writes = 0
        #: Registers that a draw without a counterpart has written last -> its passes.
        self._left_over: dict[str, PassIndices] = {}
        self.hidden = hidden
        #: What differs -> where.
        self.found: FoundDifferences = {}
        #: Entries of passes as wholes, and of draws that are missing.
        self.structures: list[Entry] = []
        shared: SharedRegisters = {}
        self._sides = Side(result.good, shared), Side(result.bad, shared)
        all_shown = "addresses" not in hidden
        self._differ = Differ(self._sides, self._hides, self._has_slots, all_shown, of_draws)
        self._open: dict[Subject, _Open] = {}
        #: What is not the same on both sides, hidden or not.
        self._unequal: set[Subject] = set()
        #: What is looked at where the next pair of draws begins.
        self._pending: set[Subject] = set()
        self._addresses = Addresses(self._sides[0].buffers, self._sides[1].buffers)
        self._cells = Cells()
        self._states = StateNoter(result.good), StateNoter(result.bad)
        #: Descriptors that the pair of draws can use, by what, and whether the pair before could
        #: use others.
        self._slots = DrawSlots(())
        self._uses: Hashable = None
        self._has_other_uses = False
        #: The kind of command of the pair before.
        self._kind = ""
        #: The attachments of the last pair of draws; both addresses and the name of each.
        self._targets: tuple[object, list[tuple[int | None, int | None, str]]] = (None, [])
        #: Key of constants -> the roles of the addresses in them that differ.
        self._in_constants: dict[FactKey, list[Role]] = {}
        #: Key of a fact -> the roles of its address, once it is asked for.
        self._roles: dict[FactKey, tuple[Role, ...]] = {}
        #: Keys of descriptors of sets whose addresses are known.
        self._bound: set[FactKey] = set()
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
        for apart in self.apart.values():
            apart._one_sided(pair)
        for one, recording, side in (
            (pair.good, self.result.good, self._sides[0]),
            (pair.bad, self.result.bad, self._sides[1]),
        ):
            for record in () if one is None else recording.of(one):
                written, facts = side.go_on(record)
                self._pending |= facts
                for named in written:
                    self._pending.update(named.values)
                self._note_left_over(written, _indices(pair.good, pair.bad))

    # -- draws ----------------------------------------------------------------------------------

    def _compare_draws(self, aligned: AlignedDraws, good: Pass, bad: Pass) -> None:
        alike = is_laid_out_alike(good, bad)
        # the last draw that was compared, and the last one that has a counterpart
        last = before = -1
        touched, self._pending = self._pending, set()
        written: set[Subject] = set()
        events: tuple[list[str], list[str]] = ([], [])
        for mine, theirs in aligned:
            for record, heard in zip((mine, theirs), events, strict=True):
                if record is not None and record.events:
                    heard.extend(record.events)
            written |= self._apply(mine, theirs, (good.index, bad.index))
            is_chosen = self._is_chosen(mine, theirs)
            if not is_chosen:
                events[0].clear()
                events[1].clear()
            if mine is None or theirs is None:
                continue
            number = mine.action.program_number
            assert number is not None
            touched |= written
            self._note_uses(touched, mine.action.kind)
            extent = Extent(good.index, bad.index, number, number)
            if is_chosen:
                if last < before:
                    self._go_on_after_gap(extent, last)
                self._settle(touched, mine.action.kind, number, alike, (good, bad), last)
                if self._open:
                    self._note_written({*written, *mine.facts, *theirs.facts}, number)
                self._compare_events(BEFORE_DRAW, events, extent, alike)
                self._last = extent, alike
            self._note_targets(mine, theirs, extent)
            self._note_addresses(mine.action.kind, touched, written, extent, before)
            before = number
            if is_chosen:
                events[0].clear()
                events[1].clear()
                touched, written = set(), set()
                last = number
        self._pending = touched | written | self._unequal
        for subject in list(self._open):
            self._close(subject, last, (good, bad))
        self._addresses.release(Extent(good.index, bad.index), before)

    def _apply(
        self, mine: DrawRecord | None, theirs: DrawRecord | None, passes: PassIndices
    ) -> set[Subject]:
        """Go on to these records: the facts that may be others, and registers that were written.

        Registers to which both sides write the same are left out where they were equal before and
        nothing depends on them.
        """
        written: set[Subject] = set()
        lists: list[list[NamedRegisters]] = [[], []]
        for number, record in enumerate((mine, theirs)):
            if record is not None:
                lists[number], facts = self._sides[number].go_on(record)
                written |= facts
        if mine is None or theirs is None:
            self._note_left_over([*lists[0], *lists[1]], passes)
        elif self._left_over:
            self._forget_left_over([*lists[0], *lists[1]])
        both, others = parted(*lists) if self._skips_equal else ((), [*lists[0], *lists[1]])
        if self._skips_equal and not others:
            self.equal_writes += 1
        for named in both:
            if named.notable:
                written.update(named.notable)
            if self._unequal or self._open:
                written |= named.values.keys() & self._unequal
                written |= named.values.keys() & self._open.keys()
        for named in others:
            written.update(named.values)
        return written

    def _note_left_over(self, written: Iterable[NamedRegisters], passes: PassIndices) -> None:
        """A draw without a counterpart has written these: later ones may still have the values."""
        for named in written:
            self._left_over.update(dict.fromkeys(named.values, passes))

    def _forget_left_over(self, written: Iterable[NamedRegisters]) -> None:
        """A pair of draws has written these, at least one of the two."""
        for named in written:
            for name in named.values.keys() & self._left_over.keys():
                del self._left_over[name]
                if name in self._open:
                    self._open[name].left_by = None

    def _note_uses(self, touched: set[Subject], kind: str) -> None:
        """Add to what was touched the differences that a draw may use, and those before did not."""
        uses = self._sides[0].uses, self._sides[1].uses
        self._has_other_uses = uses != self._uses
        if self._has_other_uses:
            self._uses, self._slots = uses, DrawSlots(side.slots() for side in self._sides)
            touched |= {
                key for key in self._unequal if is_of_set(key) or set_of_base(key) is not None
            }
        if kind != self._kind or not touched.isdisjoint(COUNTERS):
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
            if one.value(subject) == other.value(subject):
                self._unequal.discard(subject)
            else:
                self._unequal.add(subject)
                if isinstance(subject, str):
                    found = self._differ.register(subject, kind, alike, passes)
                else:
                    found = self._differ.fact(subject, alike, self._is_used(subject))
            known = self._open.get(subject)
            if known is not None:
                if known.differences == found:
                    continue
                self._close(subject, last, passes)
            if found:
                left_by = self._left_over.get(subject) if isinstance(subject, str) else None
                self._open[subject] = _Open(found, number, left_by)

    def _note_written(self, written: set[Subject], number: int) -> None:
        """Either capture wrote these for a draw; its own packet has the draw's parameters."""
        for subject, opened in self._open.items():
            if subject in written or (isinstance(subject, tuple) and subject[0] == "draw"):
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

    # -- addresses ------------------------------------------------------------------------------

    def _note_targets(self, mine: DrawRecord, theirs: DrawRecord, extent: Extent) -> None:
        targets = mine.action.targets, theirs.action.targets
        if targets != self._targets[0]:
            others = {target.name: target.address for target in targets[1]}
            pairs = [(one.address, others.get(one.name), one.name) for one in targets[0]]
            self._targets = targets, pairs
        for good, bad, name in self._targets[1]:
            self._addresses.note(good, bad, ("target", name), extent)

    def _note_addresses(
        self,
        kind: str,
        touched: set[Subject],
        written: set[Subject],
        extent: Extent,
        last: int,
    ) -> None:
        """The addresses of facts that may be others now, and of registers that were written.

        An address that is left over from draws without a counterpart says nothing.
        """
        roles: dict[Role, tuple[int | None, int | None]] = {}
        # parameters of draws, the most frequent ones, have no addresses
        keys = {one for one in touched if isinstance(one, tuple) and one[0] != "draw"}
        if self._has_other_uses:
            keys.update(self._slots.textures(), self._bound)
        for key in keys:
            if key[0] == "constants":
                roles.update(self._constant_roles(key))
                continue
            pair = self._addresses_of(key)
            if pair is not None:
                roles.update(self._fact_roles(key, pair))
        for found in self._used_addresses(written, kind):
            if found.role not in roles:
                roles[found.role] = self._addresses_in(found)
        for role, pair in roles.items():
            good, bad = pair
            if good != bad and self._has_same_contents(good, bad):
                pair = NO_PAIR
            self._addresses.bind(role, pair, extent, last)

    def _constant_roles(self, key: FactKey) -> Iterator[tuple[Role, tuple[int | None, int | None]]]:
        """The roles of addresses in constants; of those that it had before, that it has none."""
        for before in self._in_constants.pop(key, ()):
            yield before, (None, None)
        good, bad = (side.facts.get(key) for side in self._sides)
        if good is None or bad is None or good.digest == bad.digest:
            return
        found = self._in_constants[key] = []
        for offset, *addresses in constant_addresses(good, bad, self._sides):
            role: Role = "address", f"{key_text(key)} (offset {offset:#x})"
            found.append(role)
            yield role, (addresses[0], addresses[1])

    def _fact_roles(
        self, key: FactKey, pair: tuple[int | None, int | None]
    ) -> tuple[tuple[Role, tuple[int | None, int | None]], ...]:
        """The role of a fact; of uniform data, which of its two roles, and that it has no other."""
        roles = self._roles.get(key)
        if roles is None:
            roles = self._roles[key] = _roles_of(key)
        if len(roles) == 1:
            return ((roles[0], pair),)
        first, second = (pair, NO_PAIR) if self._descriptor_has_moved(key) else (NO_PAIR, pair)
        return (roles[0], first), (roles[1], second)

    def _descriptor_has_moved(self, key: FactKey) -> bool:
        """Whether the descriptor of uniform data lies at another address in the other capture."""
        slot = key[-1]
        if isinstance(slot, SetSlot):
            places = [side.sets.get(slot.set) for side in self._sides]
            return len({None if place is None else place[1] for place in places}) > 1
        packets = [fact.place for side in self._sides if (fact := side.facts.get(key))]
        return len({packet.words.address for packet in packets if packet is not None}) > 1

    def _addresses_of(self, key: FactKey) -> tuple[int | None, int | None] | None:
        """Where two facts lie, or what two descriptors are of; None: nothing to compare."""
        one, other = self._sides
        facts = one.facts.get(key), other.facts.get(key)
        if key[0] == "texture address":
            return None  # of the texture, which asks for it
        if key[0] == "uniform buffer" and self._has_contents(("uniform data", *key[1:])):
            return None, None  # compared by what lies there
        if is_of_set(key):
            self._bound.add(key)
            if not self._is_used(key):
                return None, None
        return (
            None if facts[0] is None else one.address_of(key, facts[0]),
            None if facts[1] is None else other.address_of(key, facts[1]),
        )

    def _has_contents(self, key: FactKey) -> bool:
        """Whether both captures hold the contents of a fact."""
        facts = [side.facts.get(key) for side in self._sides]
        return all(fact is not None and fact.digest is not None for fact in facts)

    def _used_addresses(self, written: set[Subject], kind: str) -> Iterator[AddressRole]:
        """Those in registers that were written and that a command of this kind uses."""
        one, other = self._sides
        for name in written:
            if isinstance(name, str):
                found = (one if name in one.offsets else other).used_address(name, kind)
                if found is not None:
                    yield found

    def _addresses_in(self, found: AddressRole) -> tuple[int | None, int | None]:
        """The two addresses that a register holds."""
        one, other = self._sides
        good, bad = one.address(found.register), other.address(found.register)
        if found.is_of_contents and good != bad and self._is_captured(good, bad):
            return NO_PAIR  # compared by what lies there
        return good, bad

    def _is_captured(self, good: int | None, bad: int | None) -> bool:
        one, other = self._sides
        return (
            good is not None
            and bad is not None
            and one.head(good) is not None
            and other.head(bad) is not None
        )

    def _has_same_contents(self, good: int | None, bad: int | None) -> bool:
        """Whether the same was captured at two addresses, and not only zeros."""
        if good is None or bad is None:
            return False
        one, other = self._sides
        head = one.head(good)
        return head is not None and head == other.head(bad) and any(head)

    # -- the end --------------------------------------------------------------------------------

    def finish(self, same: Set[tuple[int, int]] = frozenset()) -> None:
        """Compare what only the captures as wholes show. ``same``: as ``Addresses`` has it."""
        for one in self.apart.values():
            one.finish(self._addresses.same())
        sides = self.result.good, self.result.bad
        is_all = all(side.chosen is None for side in sides)
        is_whole = is_all and all(side.selection.is_whole for side in sides)
        if is_whole and self._last is not None and self._ends_alike():
            events = self.result.good.last_events, self.result.bad.last_events
            self._compare_events(AFTER_ALL, events, *self._last)
        self.structures.extend(missing_passes(self.result.pairs))
        for difference, extents in self._addresses.differences(same):
            compared = extents if is_all else self._only_chosen(extents)
            if compared:
                self.found[difference] = compared
        for noise, name in self._addresses.moved():
            self.result.hide(noise, name)

    def _only_chosen(self, extents: list[Extent]) -> list[Extent]:
        """Without the draws that the filter left out: addresses are followed at all draws."""
        if self._chosen is None:
            self._chosen = {
                _indices(pair.good, pair.bad): [
                    mine.action.program_number
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

    def _is_used(self, key: FactKey) -> bool:
        """Whether the draw can use it; of the descriptors of sets not all are its own."""
        return not is_of_set(key) or self._slots.holds(key)

    def _has_slots(self, number: int) -> bool:
        """Whether the draw can use descriptors of a set."""
        return self._slots.has_set(number)

    def _hides(self, noise: NoiseClass, name: str) -> bool:
        if noise not in self.hidden:
            return False
        self.result.hide(noise, name)
        return True


def _roles_of(key: FactKey) -> tuple[Role, ...]:
    """The roles of a fact's address, of which uniform data has one at a time."""
    name = key_text(key)
    if key[0] in ("uniform buffer", "uniform data"):
        return ("uniform", name), ("address", name)
    return (("texture" if key[0] == "texture" else "address", name),)


def _indices(good: Pass | None, bad: Pass | None) -> PassIndices:
    return None if good is None else good.index, None if bad is None else bad.index
