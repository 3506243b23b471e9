# SPDX-License-Identifier: MIT
"""The addresses that pairs of draws use: in registers, of facts, of attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.addresses import NO_PAIR, Addresses
from cffpy.analysis.diff.differences import constant_addresses, key_text
from cffpy.analysis.inputs.descriptor_sets import DrawSlots, SetSlot, is_of_set

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from cffpy.analysis.diff.addresses import Role
    from cffpy.analysis.diff.model import Extent
    from cffpy.analysis.diff.registers import AddressRole
    from cffpy.analysis.diff.state import Slot, StatePair
    from cffpy.analysis.inputs.facts import Fact, FactKey
    from cffpy.analysis.inputs.recorder import DrawInputs

#: An address of each capture.
_Pair = tuple["int | None", "int | None"]

#: Results that are kept.
_MAX_KNOWN = 1 << 14

#: Facts with such a kind have an address that another fact says, or say that of another.
_RELATED = {
    "texture address": "texture",
    "uniform data": "uniform buffer",
    "uniform buffer": "uniform data",
}


class _AboutFact(NamedTuple):
    """What a fact's key says of its address.

    ``role`` is that of the address; of uniform data whose descriptor has moved, ``other_role`` is.
    ``contents``: the key of what lies there, if that is a fact. ``is_of_texture``: it is an address
    of a texture, whose own role it is.
    """

    role: Role
    other_role: Role | None
    contents: FactKey | None
    is_of_set: bool
    is_of_texture: bool
    is_of_constants: bool
    is_of_packet: bool

    @property
    def has_address(self) -> bool:
        """Whether the fact itself has an address that plays the role."""
        return not (self.is_of_texture or self.is_of_constants or self.is_of_packet)

    @staticmethod
    def of(key: FactKey) -> _AboutFact:
        """By the key."""
        name, kind = key_text(key), key[0]
        is_uniform = kind in ("uniform buffer", "uniform data")
        role: Role = ("texture" if kind == "texture" else "address", name)
        contents = ("uniform data", *key[1:]) if kind == "uniform buffer" else None
        return _AboutFact(
            role,
            ("uniform", name) if is_uniform else None,
            contents,
            is_of_set(key),
            kind == "texture address",
            kind == "constants",
            kind == "draw",
        )


class _EqualFacts(NamedTuple):
    """The addresses of facts that both captures have alike, and those that have to be followed."""

    addresses: tuple[int, ...]
    followed: frozenset[FactKey]


class BoundAddresses:
    """Follows the addresses of both captures, pair of draws by pair of draws."""

    def __init__(self, states: StatePair, keeps_equal: bool) -> None:
        """``keeps_equal``: as for ``Addresses``."""
        self._states = states
        self._captures = states.captures
        one, other = states.captures
        self.addresses = Addresses(one.buffers, other.buffers, keeps_equal)
        #: Descriptors that the pair of draws can use, by what, and whether the pair before could
        #: use others.
        self._slots = DrawSlots(())
        self._uses: tuple[Hashable, Hashable] = (None, None)
        self._has_other_uses = False
        #: The attachments of the last pair of draws; both addresses and the name of each.
        self._targets: tuple[tuple[object, object], list[tuple[int | None, int | None, str]]] = (
            (None, None),
            [],
        )
        #: Key of constants -> the roles of the addresses in them that differ.
        self._in_constants: dict[FactKey, list[Role]] = {}
        self._about: dict[FactKey, _AboutFact] = {}
        #: By the ids of what both captures have, which they keep, and of the slots that count.
        self._equal: dict[tuple[int, int, int], tuple[object, object, object, _EqualFacts]] = {}

    @property
    def keeps_all(self) -> bool:
        """Whether addresses count that are equal and known."""
        return self.addresses.has_bound

    def note_uses(self) -> bool:
        """Go on to the next pair; whether it can use other descriptors than the one before."""
        one, other = self._captures
        uses = one.uses, other.uses
        self._has_other_uses = uses != self._uses
        if self._has_other_uses:
            self._uses, self._slots = uses, DrawSlots(capture.slots() for capture in (one, other))
        return self._has_other_uses

    def is_used(self, key: FactKey) -> bool:
        """Whether the draw can use it; of the descriptors of sets not all are its own."""
        return not is_of_set(key) or self._slots.holds(key)

    def has_slots(self, number: int) -> bool:
        """Whether the draw can use descriptors of a set."""
        return self._slots.has_set(number)

    def note_targets(self, mine: DrawInputs, theirs: DrawInputs, extent: Extent) -> None:
        """The addresses of the attachments of a pair of draws."""
        targets = mine.action.targets, theirs.action.targets
        if targets != self._targets[0]:
            others = {target.name: target.address for target in targets[1]}
            pairs = [(one.address, others.get(one.name), one.name) for one in targets[0]]
            self._targets = targets, pairs
            if not self.addresses.keeps_equal:
                self._targets = targets, [one for one in pairs if one[0] != one[1]]
                for good, bad, name in pairs:
                    self.addresses.note(good, bad, ("target", name), extent)
                return
        for good, bad, name in self._targets[1]:
            self.addresses.note(good, bad, ("target", name), extent)

    def note(self, kind: str, extent: Extent, last: int) -> None:
        """The addresses of facts that may be others now, and of registers that were written.

        ``kind``: of both commands; ``last``: the draw before. An address that is left over from
        draws without a counterpart says nothing.
        """
        registers, inputs = self._states.registers, self._states.inputs
        if registers.equal_addresses:
            self.addresses.note_equal(registers.equal_addresses)
        is_changed = inputs.changed or inputs.touched or self._has_other_uses
        if not is_changed and not registers.addressed:
            return
        roles: dict[Role, _Pair] = {}
        for key in self._keys():
            self._note_fact(key, roles, extent, last)
        if registers.addressed:
            registers.settle()
        for found in self._used_addresses(registers.addressed, kind):
            if found.role not in roles:
                roles[found.role] = self._addresses_in(found)
        for role, pair in roles.items():
            if pair[0] != pair[1] and self._has_same_contents(*pair):
                pair = NO_PAIR
            self.addresses.bind(role, pair, extent, last)

    def _keys(self) -> set[FactKey]:
        """The facts whose addresses have to be looked at; those of others are noted."""
        inputs = self._states.inputs
        keys = set(inputs.touched)
        for key in inputs.touched:
            if key[0] in _RELATED:
                keys.add((_RELATED[str(key[0])], *key[1:]))
        changed = dict(inputs.changed)
        if self._has_other_uses:  # of which other descriptors of sets are used
            changed.update((slot, pair) for slot, pair in inputs.parts.items() if slot < 0)
            keys.update(filter(is_of_set, inputs.differing))
        for slot, (mine, theirs) in changed.items():
            if self.addresses.keeps_equal:
                keys |= mine.keys() | theirs.keys()
            else:
                keys |= self._note_equal(slot, mine, theirs)
        return keys

    def _note_equal(
        self, slot: Slot, mine: Mapping[FactKey, Fact], theirs: Mapping[FactKey, Fact]
    ) -> frozenset[FactKey]:
        """Note the addresses of facts that are the same; returns those that are to be followed."""
        slots = self._slots if slot < 0 else None
        key = id(mine), id(theirs), id(slots)
        known = self._equal.get(key)
        if known is None:
            if len(self._equal) >= _MAX_KNOWN:
                self._equal.clear()
            found = _EqualFacts(*self._find_equal(slot, mine, theirs))
            known = self._equal[key] = mine, theirs, slots, found
            self.addresses.note_equal(found.addresses)
        return known[3].followed

    def _find_equal(
        self, slot: Slot, mine: Mapping[FactKey, Fact], theirs: Mapping[FactKey, Fact]
    ) -> tuple[tuple[int, ...], frozenset[FactKey]]:
        addresses: set[int | None] = set()
        followed: set[FactKey] = set()
        is_moved = slot < 0 and self._is_set_moved(-1 - slot)
        for key, fact in mine.items():
            other, about = theirs.get(key), self._about_of(key)
            if other is None or fact != other or not about.has_address:
                continue
            if about.other_role is not None and (is_moved or _is_moved(fact, other)):
                followed.add(key)
            elif self.is_used(key) and not _is_compared_by_contents(about, mine, theirs):
                addresses.add(_address_among(mine, key, fact))
        return tuple([one for one in addresses if one]), frozenset(followed)

    def _is_set_moved(self, number: int) -> bool:
        """Whether a set lies at another address in the other capture."""
        records = [capture.record for capture in self._captures]
        return len({None if one is None else one.bases.get(number) for one in records}) > 1

    def _about_of(self, key: FactKey) -> _AboutFact:
        about = self._about.get(key)
        if about is None:
            about = self._about[key] = _AboutFact.of(key)
        return about

    def _note_fact(self, key: FactKey, roles: dict[Role, _Pair], extent: Extent, last: int) -> None:
        about = self._about_of(key)
        if about.is_of_constants:
            roles.update(self._constant_roles(key))
            return
        pair = None if about.is_of_packet else self._addresses_of(key, about)
        if pair is None:
            return
        if pair[0] != pair[1] and self._has_same_contents(*pair):
            pair = NO_PAIR
        role = about.role
        if about.other_role is not None:
            other = about.other_role
            if self._descriptor_has_moved(key):
                role, other = other, role
            self.addresses.bind(other, NO_PAIR, extent, last)
        self.addresses.bind(role, pair, extent, last)

    def _constant_roles(self, key: FactKey) -> Iterator[tuple[Role, _Pair]]:
        """The roles of addresses in constants; of those that it had before, that it has none."""
        for before in self._in_constants.pop(key, ()):
            yield before, NO_PAIR
        good, bad = (capture.fact(key) for capture in self._captures)
        if good is None or bad is None or good.digest == bad.digest:
            return
        found = self._in_constants[key] = []
        for offset, *addresses in constant_addresses(good, bad, self._captures):
            role: Role = "address", f"{key_text(key)} (offset {offset:#x})"
            found.append(role)
            yield role, (addresses[0], addresses[1])

    def _descriptor_has_moved(self, key: FactKey) -> bool:
        """Whether the descriptor of uniform data lies at another address in the other capture."""
        slot = key[-1]
        if isinstance(slot, SetSlot):
            return self._is_set_moved(slot.set)
        packets = [fact.place for capture in self._captures if (fact := capture.fact(key))]
        return len({packet.words.address for packet in packets if packet is not None}) > 1

    def _addresses_of(self, key: FactKey, about: _AboutFact) -> _Pair | None:
        """Where two facts lie, or what two descriptors are of; None: nothing to compare."""
        if about.is_of_texture:
            return None
        one, other = self._captures
        if about.contents is not None and self._has_contents(about.contents):
            return NO_PAIR  # compared by what lies there
        if about.is_of_set and not self._slots.holds(key):
            return NO_PAIR
        mine, theirs = one.fact(key), other.fact(key)
        return (
            None if mine is None else one.address_of(key, mine),
            None if theirs is None else other.address_of(key, theirs),
        )

    def _has_contents(self, key: FactKey) -> bool:
        """Whether both captures hold the contents of a fact."""
        facts = [capture.fact(key) for capture in self._captures]
        return all(fact is not None and fact.digest is not None for fact in facts)

    def _used_addresses(self, written: Iterable[int], kind: str) -> Iterator[AddressRole]:
        """Those in registers that were written and that a command of this kind uses."""
        one, other = (capture.registers for capture in self._captures)
        names = one.names.names
        for key in written:
            found = (one if key in one.values else other).used_address(names[key], kind)
            if found is not None:
                yield found

    def _addresses_in(self, found: AddressRole) -> _Pair:
        """The two addresses that a register holds."""
        good, bad = (capture.registers.address(found.register) for capture in self._captures)
        if found.is_of_contents and good != bad and self._is_captured(good, bad):
            return NO_PAIR  # compared by what lies there
        return good, bad

    def _is_captured(self, good: int | None, bad: int | None) -> bool:
        one, other = self._captures
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
        one, other = self._captures
        head = one.head(good)
        return head is not None and head == other.head(bad) and any(head)


def _is_compared_by_contents(
    about: _AboutFact, mine: Mapping[FactKey, Fact], theirs: Mapping[FactKey, Fact]
) -> bool:
    return about.contents is not None and _have_contents(about.contents, mine, theirs)


def _address_among(facts: Mapping[FactKey, Fact], key: FactKey, fact: Fact) -> int | None:
    """What a descriptor is of, or where something lies that was not captured."""
    of = fact if key[0] != "texture" else facts.get(("texture address", *key[1:]), fact)
    return of.address if of.points_at is None and of.digest is None else of.points_at


def _have_contents(
    key: FactKey, mine: Mapping[FactKey, Fact], theirs: Mapping[FactKey, Fact]
) -> bool:
    facts = mine.get(key), theirs.get(key)
    return all(fact is not None and fact.digest is not None for fact in facts)


def _is_moved(mine: Fact, theirs: Fact) -> bool:
    """Whether packets at two addresses have made two facts."""
    places = mine.place, theirs.place
    return len({place.words.address for place in places if place is not None}) > 1
