# SPDX-License-Identifier: MIT
"""The addresses that pairs of draws use: in registers, of facts, of attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.addresses import NO_PAIR, Addresses
from cffpy.analysis.diff.differences import constant_addresses, key_text
from cffpy.analysis.diff.equal_facts import address_of
from cffpy.analysis.inputs.descriptor_sets import DrawSlots, SetSlot, is_of_set

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Set

    from cffpy.analysis.diff.addresses import Role
    from cffpy.analysis.diff.equal_facts import SetKey
    from cffpy.analysis.diff.model import DrawRecord, Extent
    from cffpy.analysis.diff.side import AddressRole, Side
    from cffpy.analysis.inputs.descriptor_sets import SetPlace
    from cffpy.analysis.inputs.facts import FactKey


#: An address of each side.
_Pair = tuple["int | None", "int | None"]


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
        )


class BoundAddresses:
    """Follows the addresses of both sides, pair of draws by pair of draws."""

    def __init__(self, sides: tuple[Side, Side], keeps_equal: bool) -> None:
        """``keeps_equal``: as for ``Addresses``."""
        self._sides = sides
        self.addresses = Addresses(sides[0].buffers, sides[1].buffers, keeps_equal)
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
        #: Keys of descriptors of sets whose addresses are known.
        self._bound: set[FactKey] = set()

    def note_uses(self) -> bool:
        """Go on to the next pair; whether it can use other descriptors than the one before."""
        uses = self._sides[0].uses, self._sides[1].uses
        self._has_other_uses = uses != self._uses
        if self._has_other_uses:
            self._uses, self._slots = uses, DrawSlots(side.slots() for side in self._sides)
        return self._has_other_uses

    @property
    def uses(self) -> object:
        """The descriptors that the last pair could use: another object for other ones."""
        return self._slots

    def is_as_before(self, mine: DrawRecord, theirs: DrawRecord) -> bool:
        """Whether a pair can use the same descriptors as the last one, and has its attachments.

        False also where these lie at two addresses, which count for each pair.
        """
        targets, moved = self._targets
        return (
            not moved
            and mine.action.targets == targets[0]
            and theirs.action.targets == targets[1]
            and (mine.shaders, mine.prefetched) == self._uses[0]
            and (theirs.shaders, theirs.prefetched) == self._uses[1]
        )

    def note_set(self, number: int, place: SetPlace, parts: Iterable[SetKey]) -> None:
        """The addresses of these parts of a set, which both sides have at the same address."""
        side = self._sides[0]
        facts = side.facts_of_set(number, place)
        found: list[int | None] = []
        for part in parts:
            key = side.set_key(number, part)
            self._bound.add(key)
            if self._slots.holds(key):
                found.append(address_of(facts[key]))
        self.addresses.note_equal(one for one in found if one)

    def is_used(self, key: FactKey) -> bool:
        """Whether the draw can use it; of the descriptors of sets not all are its own."""
        return not is_of_set(key) or self._slots.holds(key)

    def has_slots(self, number: int) -> bool:
        """Whether the draw can use descriptors of a set."""
        return self._slots.has_set(number)

    def note_targets(self, mine: DrawRecord, theirs: DrawRecord, extent: Extent) -> None:
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

    def note(
        self, kind: str, keys: Set[FactKey], written: Set[int], extent: Extent, last: int
    ) -> None:
        """The addresses of facts that may be others now, and of registers that were written.

        An address that is left over from draws without a counterpart says nothing.
        """
        if self._has_other_uses:
            keys = {*keys, *self._slots.textures(), *self._bound}
        roles: dict[Role, _Pair] = {}
        bind = self.addresses.bind
        for key in keys:
            about = self._about.get(key)
            if about is None:
                about = self._about[key] = _AboutFact.of(key)
            if about.is_of_constants:
                roles.update(self._constant_roles(key))
                continue
            pair = self._addresses_of(key, about)
            if pair is None:
                continue
            if pair[0] != pair[1] and self._has_same_contents(*pair):
                pair = NO_PAIR
            role = about.role
            if about.other_role is not None:
                if self._descriptor_has_moved(key):
                    role, other = about.other_role, role
                else:
                    other = about.other_role
                bind(other, NO_PAIR, extent, last)
            bind(role, pair, extent, last)
        for found in self._used_addresses(written, kind):
            if found.role not in roles:
                roles[found.role] = self._addresses_in(found)
        for role, pair in roles.items():
            if pair[0] != pair[1] and self._has_same_contents(*pair):
                pair = NO_PAIR
            bind(role, pair, extent, last)

    def _constant_roles(self, key: FactKey) -> Iterator[tuple[Role, _Pair]]:
        """The roles of addresses in constants; of those that it had before, that it has none."""
        for before in self._in_constants.pop(key, ()):
            yield before, NO_PAIR
        good, bad = (side.facts.get(key) for side in self._sides)
        if good is None or bad is None or good.digest == bad.digest:
            return
        found = self._in_constants[key] = []
        for offset, *addresses in constant_addresses(good, bad, self._sides):
            role: Role = "address", f"{key_text(key)} (offset {offset:#x})"
            found.append(role)
            yield role, (addresses[0], addresses[1])

    def _descriptor_has_moved(self, key: FactKey) -> bool:
        """Whether the descriptor of uniform data lies at another address in the other capture."""
        slot = key[-1]
        if isinstance(slot, SetSlot):
            places = [side.sets.get(slot.set) for side in self._sides]
            return len({None if place is None else place[1] for place in places}) > 1
        packets = [fact.place for side in self._sides if (fact := side.facts.get(key))]
        return len({packet.words.address for packet in packets if packet is not None}) > 1

    def _addresses_of(self, key: FactKey, about: _AboutFact) -> _Pair | None:
        """Where two facts lie, or what two descriptors are of; None: nothing to compare."""
        if about.is_of_texture:
            return None
        one, other = self._sides
        if about.contents is not None and self._has_contents(about.contents):
            return NO_PAIR  # compared by what lies there
        if about.is_of_set:
            self._bound.add(key)
            if not self._slots.holds(key):
                return NO_PAIR
        mine, theirs = one.facts.get(key), other.facts.get(key)
        return (
            None if mine is None else one.address_of(key, mine),
            None if theirs is None else other.address_of(key, theirs),
        )

    def _has_contents(self, key: FactKey) -> bool:
        """Whether both captures hold the contents of a fact."""
        facts = [side.facts.get(key) for side in self._sides]
        return all(fact is not None and fact.digest is not None for fact in facts)

    def _used_addresses(self, written: Iterable[int], kind: str) -> Iterator[AddressRole]:
        """Those in registers that were written and that a command of this kind uses."""
        one, other = self._sides
        names, registers = one.names.names, one.registers.by_key
        for key in written:
            found = (one if key in registers else other).used_address(names[key], kind)
            if found is not None:
                yield found

    def _addresses_in(self, found: AddressRole) -> _Pair:
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
