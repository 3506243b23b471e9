# SPDX-License-Identifier: MIT
"""The states of draws, by which the alignment tells draws of one mesh apart.

To set them for each draw of both captures is costly. In passes whose draws have the same
fingerprints in the same order, it is enough to know what of the state differs between draws at the
same position: mostly nothing, or something that differs throughout.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import zip_longest
from typing import TYPE_CHECKING

from cffpy.analysis.diff.rules import is_program_state
from cffpy.regdb.subjects import Subjects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cffpy.analysis.diff.model import DrawRecord, Recording
    from cffpy.analysis.inputs.descriptor_sets import SetPlace

#: Lists of registers that are kept.
_MAX_LISTS = 4096

#: Pairs of facts whose equality is kept.
_MAX_KNOWN = 4096

_NOT_THERE = object()


class StateNoter:
    """Sets ``state`` of records: equal where all state is equal, noise left out.

    Draws of one mesh may differ in state alone: in a viewport, a base vertex, an address of uniform
    data that was not captured. Where all of it is equal on both sides, the draw is recognised even
    among others like it.
    """

    def __init__(self, recording: Recording) -> None:
        self._orders = iter(sorted(recording.records))
        self._records = recording.records
        #: The last record whose state is set, by ``Action.order``.
        self.last = -1
        self._values: dict[object, object] = {}
        #: Those of the last record.
        self._sets: Mapping[int, SetPlace] | None = None
        self._total = 0
        database = recording.database
        self._state = None if database is None else _ProgramState(Subjects.open(database))

    def note(self, records: Sequence[DrawRecord]) -> None:
        """Set the state of these records, in order; that of earlier ones is set, too."""
        while records and self.last < records[-1].action.order:
            self.last = next(self._orders)
            self._note(self._records[self.last])

    @property
    def values(self) -> Mapping[object, object]:
        """The state of the last record."""
        return self._values

    def written(self, record: DrawRecord) -> dict[object, object]:
        """What a record writes of the state, whether it has this value already or not."""
        assert self._state is not None
        found: dict[object, object] = {}
        for registers, _ in record.changes:
            for register in self._state.of(registers, record.action.kind):
                found[register] = registers[register]
        for register in self._gone(record):
            found[register] = None
        for key, fact in record.facts.items():
            found[key] = None if fact is None else (fact.digest, fact.address)
        found["sets"] = _bases(record.sets)
        return found

    def registers(self, registers: Mapping[int, int], kind: str) -> list[int]:
        """Those of the registers that are state, of a command of this kind."""
        assert self._state is not None
        return self._state.of(registers, kind)

    def _note(self, record: DrawRecord) -> None:
        assert self._state is not None
        values, kind = self._values, record.action.kind
        for register in self._gone(record):
            before = values.pop(register, _NOT_THERE)
            if before is not _NOT_THERE:
                self._total ^= hash((register, before))
        for registers, _ in record.changes:
            for register in self._state.of(registers, kind):
                value = registers[register]
                if values.get(register) != value:
                    self._change(register, value)
        for key, fact in record.facts.items():
            of_fact = None if fact is None else (fact.digest, fact.address)
            if of_fact is None or values.get(key) != of_fact:
                self._change(key, of_fact)
        if record.sets is not self._sets:  # one object for draws with the same ones
            self._sets = record.sets
            self._change("sets", _bases(record.sets))
        record.state = self._total

    def _gone(self, record: DrawRecord) -> list[int]:
        assert self._state is not None
        return self._state.of(dict.fromkeys(sorted(record.gone), 0), record.action.kind)

    def _change(self, key: object, value: object) -> None:
        """Something has a value from now on; the order of changes does not matter."""
        before = self._values.get(key, _NOT_THERE)
        if before != value:
            if before is not _NOT_THERE:
                self._total ^= hash((key, before))
            self._total ^= hash((key, value))
            self._values[key] = value


class _ProgramState:
    """Which registers are state of programs. Draws write the same ones again and again."""

    def __init__(self, subjects: Subjects) -> None:
        self._subjects = subjects
        self._known: dict[tuple[str, int], bool] = {}
        #: Kind of command and registers -> those of them that are.
        self._lists: dict[tuple[str, tuple[int, ...]], list[int]] = {}

    def of(self, registers: Mapping[int, int], kind: str) -> list[int]:
        """Those of the registers that a program sets for such a command."""
        key = kind, tuple(registers)
        found = self._lists.get(key)
        if found is None:
            if len(self._lists) >= _MAX_LISTS:
                self._lists.clear()
            found = self._lists[key] = [one for one in registers if self._is_state(kind, one)]
        return found

    def _is_state(self, kind: str, register: int) -> bool:
        key = kind, register
        known = self._known.get(key)
        if known is None:
            known = is_program_state(self._subjects.register(register), kind)
            self._known[key] = known
        return known


def _bases(sets: Mapping[int, SetPlace]) -> tuple[tuple[int, int], ...]:
    return tuple((number, base) for number, (_, base) in sorted(sets.items()))


class States:
    """The states of the draws of two captures."""

    def __init__(self, good: Recording, bad: Recording, is_alike: bool) -> None:
        """``is_alike``: both captures have the same descriptions."""
        self._noters = StateNoter(good), StateNoter(bad)
        self._differing = _Differing(self._noters, good, bad) if is_alike else None
        #: Passes whose states were not set.
        self.spared = 0

    def note(self, good: Sequence[DrawRecord], bad: Sequence[DrawRecord]) -> None:
        """Set ``state`` of the draws of two passes."""
        for noter, records in zip(self._noters, (good, bad), strict=True):
            noter.note(records)
        if self._differing is not None:
            self._differing.resume()

    def keep_order(self, good: Sequence[DrawRecord], bad: Sequence[DrawRecord]) -> bool:
        """Whether no draw of one pass is to be aligned with one at another position.

        These are two passes whose draws have the same fingerprints in order. False: it may be.
        """
        if self._differing is None or not self._differing.keep_order(good, bad):
            return False
        self.spared += 1
        return True


class _Differing:
    """Follows what of the state is not the same after as many draws of two captures.

    Draws with equal state are aligned first. At the same position, that keeps the order. No draw
    has the state of one at another position if something has two values throughout, one in each
    capture.
    """

    def __init__(
        self, noters: tuple[StateNoter, StateNoter], good: Recording, bad: Recording
    ) -> None:
        self._noters = noters
        self._orders = sorted(good.records), sorted(bad.records)
        self._records = good.records, bad.records
        #: The next record of each.
        self._next = [0, 0]
        #: What may differ -> both values; None: one of them is not known.
        self._values: dict[object, tuple[object, object] | None] = {}
        #: By the ids of both dictionaries, which the recordings keep.
        self._equal_facts: dict[tuple[int, int], bool] = {}
        self._sets: tuple[object, object] = (None, None)

    def keep_order(self, good: Sequence[DrawRecord], bad: Sequence[DrawRecord]) -> bool:
        """As for ``States``."""
        start, other_start = self._start(0, good), self._start(1, bad)
        if start is None or other_start is None:
            return False
        skipped = self._up_to(0, start), self._up_to(1, other_start)
        for pair in zip_longest(*skipped):
            self._go_on(*pair)
        throughout: dict[object, tuple[object, object]] | None = None
        for mine, theirs in zip(good, bad, strict=True):
            has_changed = self._go_on(mine, theirs)
            if throughout is None and self._values:
                throughout = {key: both for key, both in self._values.items() if both is not None}
            elif throughout is not None and has_changed:
                throughout = {
                    key: both for key, both in throughout.items() if self._values.get(key) == both
                }
            if throughout is not None and not throughout:
                return False
        self._next = [self._next[0] + len(good), self._next[1] + len(bad)]
        return True

    def resume(self) -> None:
        """Go on from the records whose state was set last."""
        for side, noter in enumerate(self._noters):
            self._next[side] = bisect_right(self._orders[side], noter.last)
        one, other = (noter.values for noter in self._noters)
        self._values = {
            key: (one.get(key, _NOT_THERE), other.get(key, _NOT_THERE))
            for key in one.keys() | other.keys()
            if one.get(key, _NOT_THERE) != other.get(key, _NOT_THERE)
        }

    def _start(self, side: int, records: Sequence[DrawRecord]) -> int | None:
        """The position of the first of these; None where they are not the ones from there on."""
        first, last = records[0].action.order, records[-1].action.order
        orders = self._orders[side]
        start = bisect_left(orders, first)
        count = bisect_left(orders, last) - start + 1
        is_next = start >= self._next[side] and count == len(records)
        return start if is_next else None

    def _up_to(self, side: int, start: int) -> Iterator[DrawRecord]:
        """The records before that position, which are the next ones."""
        orders = self._orders[side][self._next[side] : start]
        self._next[side] = start
        return map(self._records[side].__getitem__, orders)

    def _go_on(self, mine: DrawRecord | None, theirs: DrawRecord | None) -> bool:
        """Go on by a record on each side; whether something else differs, or with other values."""
        if mine is not None and theirs is not None and self._are_equal(mine, theirs):
            return bool(self._values) and self._forget(mine)
        one, other = (
            {} if record is None else noter.written(record)
            for noter, record in zip(self._noters, (mine, theirs), strict=True)
        )
        has_changed = False
        for key in one.keys() | other.keys():
            both: tuple[object, object] | None = None
            if key in one and key in other:
                both = one[key], other[key]
                if both[0] == both[1]:
                    has_changed |= self._values.pop(key, _NOT_THERE) is not _NOT_THERE
                    continue
            if both is None or self._values.get(key) != both:
                self._values[key] = both
                has_changed = True
        return has_changed

    def _are_equal(self, mine: DrawRecord, theirs: DrawRecord) -> bool:
        """Whether two records write the same."""
        if len(mine.changes) != len(theirs.changes) or mine.action.kind != theirs.action.kind:
            return False
        if mine.gone != theirs.gone:
            return False
        for (values, _), (others, _) in zip(mine.changes, theirs.changes, strict=True):
            if values is not others and values != others:
                return False
        key = id(mine.facts), id(theirs.facts)
        is_equal = self._equal_facts.get(key)
        if is_equal is None:
            if len(self._equal_facts) >= _MAX_KNOWN:
                self._equal_facts.clear()
            is_equal = self._equal_facts[key] = mine.facts == theirs.facts
        if not is_equal:
            return False
        if self._sets[0] is mine.sets and self._sets[1] is theirs.sets:
            return True
        self._sets = mine.sets, theirs.sets
        if _bases(mine.sets) == _bases(theirs.sets):
            return True
        self._sets = None, None
        return False

    def _forget(self, record: DrawRecord) -> bool:
        """Both sides have written what this record writes; whether some of it differed."""
        differing = self._values
        found: set[object] = set(filter(differing.__contains__, ("sets",)))
        for values, _ in record.changes:
            if not values.keys().isdisjoint(differing):
                registers = self._noters[0].registers(values, record.action.kind)
                found.update(one for one in registers if one in differing)
        found.update(filter(differing.__contains__, record.gone))
        found |= record.facts.keys() & differing.keys()
        for key in found:
            del differing[key]
        return bool(found)
