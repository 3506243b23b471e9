# SPDX-License-Identifier: MIT
"""Pairs of draws that change the same facts in the same way in both captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.capture.generations import generation_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from cffpy.analysis.diff.model import DrawRecord, Recording
    from cffpy.analysis.inputs.descriptor_sets import SetPart, SetPlace
    from cffpy.analysis.inputs.facts import Fact, FactKey

#: What a descriptor of a set is, and its slot.
SetKey = tuple[str, int]

#: Facts whose address depends on nothing but the fact, and plays one role.
_PLAIN = frozenset(
    (
        "shader",
        "loaded program",
        "vertex buffer",
        "index buffer",
        "indirect parameters",
        "push constants",
        "constants",  # only addresses in constants that differ count
        "write of",
        "sampler",
        "storage",
        "storage size",
        "storage address",
    )
)

#: Results that are kept, of facts and of sets.
_MAX_KNOWN = 4096


class ChangedAlike:
    """The keys of facts that both captures change in the same way.

    ``with_addresses``: of those that may have one. ``is_plain``: whether these depend on nothing
    else, so that they need not be noted twice; ``is_noted``: whether they were. ``addresses``: what
    they are, where the facts alone tell; None: they have to be noted.
    """

    __slots__ = ("addresses", "gone", "is_noted", "is_plain", "with_addresses")

    def __init__(self, changed: Mapping[FactKey, Fact | None], has_texture_addresses: bool) -> None:
        """``has_texture_addresses``: addresses of textures are facts apart from these."""
        self.with_addresses = frozenset(filter(has_address, changed))
        plain = _PLAIN if has_texture_addresses else _PLAIN | {"texture"}
        self.is_plain = all(_is_plain(key, plain, changed) for key in self.with_addresses)
        self.is_noted = False
        self.gone = tuple([key for key, fact in changed.items() if fact is None])
        self.addresses: tuple[int, ...] | None = None
        if {key[0] for key in self.with_addresses} <= plain:
            self.addresses = tuple(_addresses(changed))


def _is_plain(key: FactKey, plain: Set[str], changed: Mapping[FactKey, Fact | None]) -> bool:
    """Whether the address of a fact depends only on what is changed together with it."""
    if key[0] == "uniform buffer":
        return ("uniform data", *key[1:]) in changed
    return key[0] in plain or key[0] == "uniform data"


def _addresses(changed: Mapping[FactKey, Fact | None]) -> Iterator[int]:
    """The addresses of plain facts, which are the same on both sides."""
    for key, fact in changed.items():
        if fact is not None and has_address(key) and key[0] != "constants":
            address = address_of(fact)
            if address:
                yield address


def address_of(fact: Fact) -> int | None:
    """What a descriptor is of, or where something lies that was not captured."""
    return fact.address if fact.points_at is None and fact.digest is None else fact.points_at


def has_address(key: FactKey) -> bool:
    """Whether facts with such a key may have an address; parameters of draws have none."""
    return key[0] != "draw"


class EqualFacts:
    """Recognises such pairs."""

    def __init__(self, good: Recording, bad: Recording) -> None:
        self._sides = good, bad
        #: By the ids of both dictionaries, which the recordings keep.
        self._facts: dict[tuple[int, int], ChangedAlike | None] = {}
        #: By the ids of the contents, which the recordings keep, too.
        self._sets: dict[tuple[int, int], tuple[SetKey, ...] | None] = {}
        #: The last pair of sets that are equal.
        self._last: tuple[Mapping[int, SetPlace], Mapping[int, SetPlace]] = ({}, {})
        generations = (generation_of(one.generation) for one in (good, bad) if one.records)
        self._has_texture_addresses = any(one.level_address_blocks for one in generations)

    def of(self, mine: DrawRecord, theirs: DrawRecord) -> ChangedAlike | None:
        """What both draws change; None where their facts or their bindless sets differ."""
        key = id(mine.facts), id(theirs.facts)
        try:
            found = self._facts[key]
        except KeyError:
            if len(self._facts) >= _MAX_KNOWN:
                self._facts.clear()
            found = self._facts[key] = self._changed_alike(mine.facts, theirs.facts)
        return found if found is not None and self._have_equal_sets(mine, theirs) else None

    def addresses_of_set(self, mine: SetPlace, theirs: SetPlace) -> tuple[SetKey, ...] | None:
        """The parts of two equal sets whose addresses may count; None where the sets differ."""
        good, bad = (one.sets for one in self._sides)
        if good is None or bad is None:
            return None
        one, other = good.read(mine), bad.read(theirs)
        key = id(one), id(other)
        try:
            return self._sets[key]
        except KeyError:
            pass
        if len(self._sets) >= _MAX_KNOWN:
            self._sets.clear()
        is_equal = one is other or one[1] == other[1]
        found = self._sets[key] = tuple(_with_addresses(one[1])) if is_equal else None
        return found

    def _have_equal_sets(self, mine: DrawRecord, theirs: DrawRecord) -> bool:
        good, bad = mine.sets, theirs.sets
        if self._last[0] is good and self._last[1] is bad:
            return True
        if good.keys() != bad.keys():
            return False
        last, last_other = self._last
        for number, place in good.items():
            other = bad[number]
            is_known = last.get(number) == place and last_other.get(number) == other
            if not is_known and self.addresses_of_set(place, other) is None:
                return False
        self._last = good, bad
        return True

    def _changed_alike(
        self, mine: Mapping[FactKey, Fact | None], theirs: Mapping[FactKey, Fact | None]
    ) -> ChangedAlike | None:
        return ChangedAlike(mine, self._has_texture_addresses) if mine == theirs else None


def _with_addresses(parts: Sequence[SetPart]) -> Iterator[SetKey]:
    captured = {
        slot for (kind, slot), fact in parts if kind == "uniform data" and fact.digest is not None
    }
    for part, fact in parts:
        is_of_contents = part[0] == "uniform buffer" and part[1] in captured
        if not is_of_contents and (fact.points_at is not None or fact.digest is None):
            yield part
