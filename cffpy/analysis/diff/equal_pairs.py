# SPDX-License-Identifier: MIT
"""Pairs of draws at which there is nothing to compare, because both captures change the same.

Such a pair writes the same registers, facts and bindless sets on both sides, none of which differed
before, and uses what the pair before does. So what differs goes on to differ. The state of the
sides is needed only at the next pair that is another one: until then such pairs are queued.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.inputs.descriptor_sets import is_of_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from cffpy.analysis.diff.apart import AlignedDraw, AlignedDraws
    from cffpy.analysis.diff.bound_addresses import BoundAddresses
    from cffpy.analysis.diff.equal_facts import ChangedAlike, EqualFacts
    from cffpy.analysis.diff.model import DrawRecord
    from cffpy.analysis.diff.register_state import Written
    from cffpy.analysis.diff.side import Side
    from cffpy.analysis.inputs.descriptor_sets import SetPlace
    from cffpy.analysis.inputs.facts import FactKey
    from cffpy.analysis.register_store.writes import Change

#: The keys of both halves of each address in some registers; the second of 32 bits is None.
_AddressKeys = tuple[tuple[int, int | None], ...]


class Watched(NamedTuple):
    """What a pair must not change to be queued. The comparison goes on to change these sets.

    ``registers``, ``facts``: those that are not the same on both sides. ``left_over``: registers
    that a draw without a counterpart has written last.
    """

    registers: Set[int]
    facts: Set[FactKey]
    left_over: Mapping[int, object]


class EqualPairs:
    """Queues pairs of draws that are equal. Both sides have the same descriptions."""

    def __init__(
        self,
        sides: tuple[Side, Side],
        addresses: BoundAddresses,
        facts: EqualFacts,
        watched: Watched,
    ) -> None:
        self._sides = sides
        self._addresses = addresses
        self._facts = facts
        self._watched = watched
        self._queue: list[tuple[DrawRecord, DrawRecord, ChangedAlike]] = []
        #: Pairs that were queued so far.
        self.count = 0
        self._is_possible = sides[1].is_alike
        #: Whether the next pair may be queued, if it is equal.
        self._may_take = False
        #: The program's number of the pair that was queued last, since the last other one.
        self.last: int | None = None
        #: The kind of command of the pair before.
        self._kind = ""
        #: The sets of the pair before, and whether descriptors of sets differ.
        self._sets: tuple[Mapping[int, SetPlace], Mapping[int, SetPlace]] = ({}, {})
        self._have_other_sets = False
        #: Number and id of the contents of each set whose addresses are noted, for these uses.
        self._noted: set[tuple[int, int]] = set()
        self._noted_for: object = None
        #: By kind of command and registers.
        self._address_keys: dict[tuple[str, tuple[int, ...]], _AddressKeys] = {}

    def others(self, aligned: AlignedDraws) -> Iterator[AlignedDraw]:
        """The pairs of a pass that are to be looked at; what is queued before each is applied.

        Pairs are queued only after ``begin``. ``last`` is set until the next pair is asked for.
        """
        self._may_take, self.last = False, None
        for pair in aligned:
            mine, theirs = pair
            if self._may_take and mine and theirs and self._take(mine, theirs):
                self.last = mine.action.number
                continue
            self.apply()
            self._may_take = False
            yield pair
            self.last = None

    def begin(self, mine: DrawRecord, theirs: DrawRecord) -> None:
        """This pair, the last one, was looked at, and all of it: equal ones may be queued now."""
        self._may_take = self._is_possible and not self._addresses.addresses.has_bound
        self._kind = mine.action.kind
        self._sets = mine.sets, theirs.sets
        self._have_other_sets = any(map(is_of_set, self._watched.facts))
        uses = self._addresses.uses
        if uses is not self._noted_for:
            self._noted.clear()
            self._noted_for = uses

    def _take(self, mine: DrawRecord, theirs: DrawRecord) -> bool:
        """Queue a pair; False if it may be another one."""
        if (
            mine.action.kind != self._kind
            or not _are_alike(mine, theirs)
            or not self._addresses.is_as_before(mine, theirs)
        ):
            return False
        facts = self._facts.of(mine, theirs)
        if facts is None or not (facts.is_noted or facts.addresses is not None):
            return False
        unequal = self._watched.facts
        if unequal and not mine.facts.keys().isdisjoint(unequal):
            return False
        if not self._take_registers(mine.changes, theirs.changes):
            return False
        sets = self._sets
        if (sets[0] is not mine.sets or sets[1] is not theirs.sets) and not self._take_sets(
            mine.sets, theirs.sets
        ):
            return False
        if not facts.is_noted:
            self._addresses.addresses.note_equal(facts.addresses or ())
            facts.is_noted = facts.is_plain
        self._queue.append((mine, theirs, facts))
        self.count += 1
        return True

    def _take_registers(self, mine: list[Change], theirs: list[Change]) -> bool:
        """Whether both write the same to registers that were the same; their addresses are noted.

        If not, nothing is.
        """
        if len(mine) != len(theirs):
            return False
        one = self._sides[0]
        unequal, _, left_over = self._watched
        kind = self._kind
        with_addresses: list[Written] | None = None
        is_noted = True
        for (values, _), (others, _) in zip(mine, theirs, strict=True):
            part = one.written(values)
            if values is not others:
                if values != others:
                    return False
                one.write_alike(others, part)
            if unequal and (part.counts or not part.values.keys().isdisjoint(unequal)):
                return False
            if left_over and not part.values.keys().isdisjoint(left_over):
                return False
            if part.addresses:
                is_noted = is_noted and part.noted == kind
                if with_addresses is None:
                    with_addresses = [part]
                else:
                    with_addresses.append(part)
        return is_noted or with_addresses is None or self._note_registers(with_addresses)

    def _note_registers(self, parts: list[Written]) -> bool:
        """Note the addresses that these registers hold in the end; False: they are not known."""
        kind = self._kind
        found: dict[int, int] = {}
        for part in parts:
            key = kind, part.addresses
            halves = self._address_keys.get(key)
            if halves is None:
                halves = self._keys_of(part)
                if halves is None:
                    return False
                self._address_keys[key] = halves
            values, is_new = part.values, part.noted != kind
            for low, high in halves:
                if is_new or low in found:
                    found[low] = values[low] if high is None else values[low] | values[high] << 32
        self._addresses.addresses.note_equal(found.values())
        for part in parts:
            part.noted = kind
        return True

    def _keys_of(self, part: Written) -> _AddressKeys | None:
        """The addresses that are whole in these registers, and that such a command uses."""
        if not part.is_whole:
            return None
        one, other = self._sides
        found: list[tuple[int, int | None]] = []
        for key in part.addresses:
            name = one.names.names[key]
            role = one.used_address(name, self._kind)
            if role is None:
                continue
            halves: tuple[int, int | None] | None
            if one.generation.is_64bit:
                halves = one.halves(role.register)
                is_same = halves is not None and other.halves(role.register) == halves
                if not is_same or halves is None or not part.values.keys() >= {*halves}:
                    return None
            elif role.register == name:
                halves = key, None
            else:
                return None
            found.append(halves)
        return tuple(dict.fromkeys(found))

    def _take_sets(self, mine: Mapping[int, SetPlace], theirs: Mapping[int, SetPlace]) -> bool:
        """Whether the sets, which hold the same, were the same before; their addresses are noted.

        If not, only such that are the same at the pair anyway.
        """
        if self._have_other_sets:
            return False
        last, last_other = self._sets
        for number, place in mine.items():
            other = theirs[number]
            if last.get(number) == place and last_other.get(number) == other:
                continue
            if place[1] != other[1]:  # which decides what the addresses are
                return False
            key = number, self._sides[0].contents_of_set(place)
            if key not in self._noted:
                parts = self._facts.addresses_of_set(place, other)
                self._addresses.note_set(number, place, parts or ())
                self._noted.add(key)
        self._sets = mine, theirs
        return True

    def apply(self) -> None:
        """Go on to all pairs that were queued."""
        queue = self._queue
        if not queue:
            return
        self._queue = []
        one, other = self._sides
        values: dict[int, int] = {}
        for mine, _, _ in queue:
            for part, _ in mine.changes:
                values.update(one.written(part).values)
        good: Sequence[DrawRecord] = [mine for mine, _, _ in queue]
        bad: Sequence[DrawRecord] = [theirs for _, theirs, _ in queue]
        gone = [facts.gone for _, _, facts in queue]
        for side, records in ((one, good), (other, bad)):
            side.write_later(values, records)
            side.take_facts_later(records, gone)


def _are_alike(mine: DrawRecord, theirs: DrawRecord) -> bool:
    """Whether the same events are before both, and neither lacks registers of the pair before."""
    return mine.events == theirs.events and not (mine.gone or theirs.gone)
