# SPDX-License-Identifier: MIT
"""Bindings: what each of the program's draws has bound, as the comparison's recording has it.

A recording has facts as changes from draw to draw. Here each fact has its changes by draw, so that
those in force at one draw are found by binary searches, and memory grows with what changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.descriptors import DrawSlots, SetSlot, UsedDescriptors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cffpy.analysis.diff.facts import Fact, FactKey
    from cffpy.analysis.diff.model import DrawRecord, Recording

#: Descriptors of bindless sets that ``Bindings.spans`` looks at, each as often as its set changes.
_MAX_LOOKED = 1 << 24


def stage_of(key: FactKey) -> str | None:
    """The stage that a packet loaded something for; None in a bindless set."""
    return next((part for part in key[1:] if isinstance(part, str)), None)


def set_of(key: FactKey) -> int | None:
    """The number of the bindless set that something is in; None where a packet loaded it."""
    slot = key[-1]
    return slot.set if isinstance(slot, SetSlot) else None


def slot_of(key: FactKey) -> int:
    """The index of something: among those of its stage, or in its set."""
    slot = key[-1]
    if isinstance(slot, SetSlot):
        return slot.slot
    return slot if isinstance(slot, int) else 0


class BoundDescriptor(NamedTuple):
    """A descriptor of one draw. ``address``: as in ``Span``."""

    key: FactKey
    fact: Fact
    address: Fact | None

    @property
    def gpuaddr(self) -> int | None:
        """Where the image or buffer that it describes begins; None without an address."""
        return (self.fact if self.address is None else self.address).points_at

    @property
    def stage(self) -> str | None:
        """See ``stage_of``."""
        return stage_of(self.key)

    @property
    def set(self) -> int | None:
        """See ``set_of``."""
        return set_of(self.key)

    @property
    def slot(self) -> int:
        """See ``slot_of``."""
        return slot_of(self.key)

    @property
    def data(self) -> bytes | memoryview[int] | None:
        """Its bytes; None where they were not captured."""
        return self.fact.data


class Span(NamedTuple):
    """A descriptor, and the first and the last draw, by ``Action.order``, between which it holds.

    ``address``: where the texture of a3xx lies, whose descriptors have no addresses; else None.
    """

    key: FactKey
    fact: Fact
    address: Fact | None
    first: int
    last: int


class Bindings:
    """The facts of a recording by draw. ``order`` is ``Action.order`` of a draw of the program."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._used = UsedDescriptors(recording.descriptors)
        #: Fact -> draws at which it changed, and what it is from then on; None: it is not there.
        self._changes: dict[FactKey, tuple[list[int], list[Fact | None]]] = {}
        self._orders = sorted(recording.records)
        for order in self._orders:
            for key, fact in recording.records[order].facts.items():
                orders, facts = self._changes.setdefault(key, ([], []))
                orders.append(order)
                facts.append(fact)
        #: Kind -> the facts of this kind that packets load.
        self._keys: dict[str, list[FactKey]] = {}
        #: Draws at whose sets ``spans`` has not looked, because there were too many descriptors.
        self.left_out = 0

    def of_draw(self, order: int) -> Iterator[tuple[FactKey, Fact]]:
        """The facts in force at a draw; none at an action that was not recorded."""
        record = self._recording.records.get(order)
        if record is None:
            return
        for key in self._changes:
            fact = self._at(key, order)
            if fact is not None:
                is_own = key[0] == "draw"
                yield key, replace(fact, place=record.action.place) if is_own else fact
        yield from self._of_sets(record)

    def of_kind(self, order: int, kind: str) -> list[BoundDescriptor] | None:
        """The descriptors of one kind in force at a draw; None at one that was not recorded."""
        record = self._recording.records.get(order)
        if record is None:
            return None
        keys = self._keys.get(kind)
        if keys is None:
            keys = self._keys[kind] = [key for key in self._changes if key[0] == kind]
        found = []
        for key in keys:
            fact = self._at(key, order)
            if fact is not None:
                found.append(
                    BoundDescriptor(key, fact, self._at((f"{kind} address", *key[1:]), order))
                )
        of_sets = self._of_sets(record)
        found += [BoundDescriptor(key, fact, None) for key, fact in of_sets if key[0] == kind]
        return found

    def has(self, order: int) -> bool:
        """Whether a draw was recorded."""
        return order in self._recording.records

    def lists(self, kind: str) -> Iterator[tuple[int, list[BoundDescriptor] | None]]:
        """The draws at which ``of_kind`` may change, in their order, with its result from then on.

        None from the draw on where too many descriptors of bindless sets were looked at.
        """
        kinds = kind, f"{kind} address"
        last: object = None
        looked = 0
        for order in self._orders:
            record = self._recording.records[order]
            bound = record.sets, self._used.of(record.shaders, record.prefetched)
            if bound == last and not any(key[0] in kinds for key in record.facts):
                continue
            if looked > _MAX_LOOKED:
                yield order, None
                return
            last = bound
            looked += self._size_of_sets(record)
            found = self.of_kind(order, kind) or []
            looked += len(found)
            yield order, found

    def _at(self, key: FactKey, order: int) -> Fact | None:
        orders, facts = self._changes.get(key, ([], []))
        position = bisect_right(orders, order) - 1
        return facts[position] if position >= 0 else None

    def _of_sets(self, record: DrawRecord) -> Iterator[tuple[FactKey, Fact]]:
        """Descriptors of bindless sets that the draw can use."""
        sets = self._recording.sets
        if sets is None:
            return
        used = DrawSlots([self._used.of(record.shaders, record.prefetched)])
        for number, place in record.sets.items():
            _, parts = sets.read(place)
            for (kind, slot), fact in parts:
                key = kind, SetSlot(number, slot)
                if used.holds(key):
                    yield key, fact

    # -- all draws ------------------------------------------------------------------------------

    def spans(self, kinds: Collection[str]) -> Iterator[Span]:
        """The descriptors of these kinds, one for each change: "texture", "sampler", ...

        One that is loaded again with the same contents is one span. A descriptor of a bindless set
        is in force at the draws that can use it.
        """
        if self._orders:
            loaded = [key for key in self._changes if key[0] in kinds]
            yield from chain.from_iterable(map(self._spans_of, loaded))
            yield from self._spans_of_sets(kinds)

    def _spans_of(self, key: FactKey) -> Iterator[Span]:
        """The spans of a descriptor that packets load."""
        where = self._changes.get((f"{key[0]} address", *key[1:]), ([], []))
        facts = dict(zip(*self._changes[key], strict=True))
        addresses = dict(zip(*where, strict=True))
        fact = address = None
        open_span: Span | None = None
        for order in sorted({*facts, *addresses}):
            fact, address = facts.get(order, fact), addresses.get(order, address)
            if open_span is not None:
                if fact is not None and _is_same(open_span, fact, address):
                    continue
                yield open_span._replace(last=self._before(order))
            open_span = None
            if fact is not None and fact.domain is not None:
                open_span = Span(key, fact, address, order, self._orders[-1])
        if open_span is not None:
            yield open_span

    def _spans_of_sets(self, kinds: Collection[str]) -> Iterator[Span]:
        found: dict[FactKey, Span] = {}
        last: object = None
        looked = 0
        self.left_out = 0
        for order in self._orders:
            record = self._recording.records[order]
            bound = record.sets, self._used.of(record.shaders, record.prefetched)
            if bound == last:
                continue
            if looked > _MAX_LOOKED:
                self.left_out += 1
                continue
            last = bound
            looked += self._size_of_sets(record)
            now = {key: fact for key, fact in self._of_sets(record) if key[0] in kinds}
            for key in [*found]:
                if key not in now or not _is_same(found[key], now[key], None):
                    yield found.pop(key)._replace(last=self._before(order))
            for key, fact in now.items():
                if key not in found:
                    found[key] = Span(key, fact, None, order, self._orders[-1])
        yield from found.values()

    def _size_of_sets(self, record: DrawRecord) -> int:
        sets = self._recording.sets
        return 0 if sets is None else sum(len(sets.read(one)[1]) for one in record.sets.values())

    def _before(self, order: int) -> int:
        return self._orders[bisect_left(self._orders, order) - 1]


def _is_same(span: Span, fact: Fact, address: Fact | None) -> bool:
    is_same = span.fact is fact or (span.fact == fact and span.fact.data == fact.data)
    return is_same and span.address == address
