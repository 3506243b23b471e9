# SPDX-License-Identifier: MIT
"""Pairs of draws that change the same facts in the same way in both captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cffpy.analysis.diff.descriptors import SetPart, SetPlace
    from cffpy.analysis.diff.facts import Fact, FactKey
    from cffpy.analysis.diff.model import DrawRecord, Recording

#: What a descriptor of a set is, and its slot.
SetKey = tuple[str, int]

#: Facts whose address depends on nothing but the fact.
_PLAIN = (
    "shader",
    "loaded program",
    "vertex buffer",
    "index buffer",
    "indirect parameters",
    "push constants",
    "sampler",
    "storage",
    "storage size",
)

#: Results that are kept, of facts and of sets.
_MAX_KNOWN = 4096


class ChangedAlike:
    """The keys of facts that both captures change in the same way.

    ``with_addresses``: of those that may have one. ``is_plain``: whether these depend on nothing
    else, so that they need not be noted twice; ``is_noted``: whether they were.
    """

    __slots__ = ("gone", "is_noted", "is_plain", "with_addresses")

    def __init__(self, changed: Mapping[FactKey, Fact | None]) -> None:
        self.with_addresses = frozenset(filter(has_address, changed))
        self.is_plain = all(key[0] in _PLAIN for key in self.with_addresses)
        self.is_noted = False
        self.gone = tuple([key for key, fact in changed.items() if fact is None])


def has_address(key: FactKey) -> bool:
    """Whether facts with such a key may have an address; parameters of draws have none."""
    return key[0] != "draw"


class EqualFacts:
    """Recognises such pairs."""

    def __init__(self, good: Recording, bad: Recording) -> None:
        self._sides = good, bad
        #: By the ids of both dictionaries, which the recordings keep.
        self._facts: dict[tuple[int, int], ChangedAlike | None] = {}
        self._sets: dict[tuple[SetPlace, SetPlace], tuple[SetKey, ...] | None] = {}
        #: The last pair of sets that are equal.
        self._last: tuple[object, object] = (None, None)

    def of(self, mine: DrawRecord, theirs: DrawRecord) -> ChangedAlike | None:
        """What both draws change; None where their facts or their bindless sets differ."""
        key = id(mine.facts), id(theirs.facts)
        try:
            found = self._facts[key]
        except KeyError:
            if len(self._facts) >= _MAX_KNOWN:
                self._facts.clear()
            found = self._facts[key] = _changed_alike(mine.facts, theirs.facts)
        return found if found is not None and self._have_equal_sets(mine, theirs) else None

    def addresses_of_set(self, mine: SetPlace, theirs: SetPlace) -> tuple[SetKey, ...] | None:
        """The parts of two equal sets whose addresses may count; None where the sets differ."""
        key = mine, theirs
        try:
            return self._sets[key]
        except KeyError:
            pass
        if len(self._sets) >= _MAX_KNOWN:
            self._sets.clear()
        good, bad = (one.sets for one in self._sides)
        found: tuple[SetKey, ...] | None = None
        if good is not None and bad is not None:
            parts = good.read(mine)[1]
            if parts == bad.read(theirs)[1]:
                found = tuple(_with_addresses(parts))
        self._sets[key] = found
        return found

    def _have_equal_sets(self, mine: DrawRecord, theirs: DrawRecord) -> bool:
        if self._last[0] is mine.sets and self._last[1] is theirs.sets:
            return True
        if mine.sets.keys() != theirs.sets.keys():
            return False
        for number, place in mine.sets.items():
            if self.addresses_of_set(place, theirs.sets[number]) is None:
                return False
        self._last = mine.sets, theirs.sets
        return True


def _with_addresses(parts: Sequence[SetPart]) -> Iterator[SetKey]:
    captured = {
        slot for (kind, slot), fact in parts if kind == "uniform data" and fact.digest is not None
    }
    for part, fact in parts:
        is_of_contents = part[0] == "uniform buffer" and part[1] in captured
        if not is_of_contents and (fact.points_at is not None or fact.digest is None):
            yield part


def _changed_alike(
    mine: Mapping[FactKey, Fact | None], theirs: Mapping[FactKey, Fact | None]
) -> ChangedAlike | None:
    return ChangedAlike(mine) if mine == theirs else None
