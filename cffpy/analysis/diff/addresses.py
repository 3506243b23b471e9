# SPDX-License-Identifier: MIT
"""Addresses: which address of one capture stands for which of the other, and images by address.

An address of one capture stands for the same one of the other everywhere. Captures of one
program by one driver mostly have the same addresses. An address that differs alone is therefore of
another image or buffer, and so are two that were swapped. But where a program allocates a little
more, what is allocated later has moved. ``BoundAddresses`` are those that pairs of draws use: in
registers, of facts, of attachments.

Images: which passes write the images that textures are of. A change of an image that one pass
draws to and another samples appears twice, as a target and as a texture. An image with other levels
is filled by other passes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.differences import constant_addresses, key_text
from cffpy.analysis.diff.model import Difference, Extent
from cffpy.analysis.diff.rules import ADDRESSES, IMAGES
from cffpy.analysis.inputs.descriptor_sets import DrawSlots, SetSlot, is_of_set
from cffpy.analysis.inputs.recorder import LOADED
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Set

    from cffpy.analysis.diff.model import Comparison, Entry
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.registers import AddressRole, Role
    from cffpy.analysis.diff.rules import RuleName
    from cffpy.analysis.diff.state import Buffers, Slot, StatePair
    from cffpy.analysis.inputs.descriptor_sets import SetPlace
    from cffpy.analysis.inputs.facts import FactKey, Facts, InputFact
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.frame.passes import Pass

#: Buffers begin at pages.
_PAGE_BYTES = 4096

#: Kinds that are images.
_IMAGES = ("texture", "target")


#: In place of two addresses that need not be compared.
NO_PAIR = None, None


class Addresses:
    """Collects pairs of addresses that play the same role."""

    def __init__(self, good: Buffers, bad: Buffers, keeps_equal: bool = True) -> None:
        """``keeps_equal``: without, it is not kept in which draws both addresses are the same.

        That only counts for ``differences`` that are not to contradict those of others.
        """
        self._buffers = good, bad
        self.keeps_equal = keeps_equal
        #: Addresses that play a role on both sides; those of which it is not kept where.
        self._equal: set[int] = set()
        #: Those that packets name on both sides: they stand for nothing else, but do not show
        #: whether the captures have the same addresses.
        self._of_packets: set[int] = set()
        #: Roles of uniform data that one of these plays.
        self._unmoved: set[Role] = set()
        #: (good, bad) -> what they are in which draws.
        self._pairs: dict[tuple[int, int], list[tuple[Role, Extent]]] = {}
        #: The same, where one of the two is 0.
        self._nulls: dict[tuple[int, int], list[tuple[Role, Extent]]] = {}
        #: Role -> the distances by which what plays it has moved, once they are asked for.
        self._shifts: dict[Role, set[int]] | None = None
        #: Role -> (good, bad), and the draw since which they play it.
        self._bound: dict[Role, tuple[tuple[int | None, int | None], int]] = {}

    def note(self, good: int | None, bad: int | None, role: Role, extent: Extent) -> None:
        """The addresses of a role in a pair of draws; None where one is unknown."""
        if good == bad and not self.keeps_equal:
            self._note_equal(good, role)
        elif good and bad:
            self._pairs.setdefault((good, bad), []).append((role, extent))
        elif good is not None and bad is not None and good != bad:
            self._nulls.setdefault((good, bad), []).append((role, extent))

    def bind(
        self, role: Role, pair: tuple[int | None, int | None], extent: Extent, last: int
    ) -> None:
        """These addresses play a role from the draw of ``extent`` on; ``last``: the draw before."""
        known = self._bound.get(role) if self._bound else None
        if known is not None:
            if known[0] == pair:
                return
            self._release(role, extent, last)
        if pair[0] == pair[1] and not self.keeps_equal:
            self._note_equal(pair[0], role)
        elif pair != NO_PAIR:
            assert extent.first is not None
            self._bound[role] = pair, extent.first

    @property
    def has_bound(self) -> bool:
        """Whether some role is played by two addresses, of which it is kept where."""
        return self.keeps_equal or bool(self._bound)

    def _note_equal(self, address: int | None, role: Role) -> None:
        if address:
            self._equal.add(address)
            if role[0] == "uniform":
                self._unmoved.add(role)

    def note_equal(self, addresses: Iterable[int]) -> None:
        """These are the same on both sides; they are not of uniform data that has moved."""
        self._equal.update(addresses)
        self._equal.discard(0)

    def note_of_packets(self, addresses: Iterable[int]) -> None:
        """Packets between actions name these on both sides."""
        self._of_packets.update(addresses)

    def release(self, extent: Extent, last: int) -> None:
        """The pass of ``extent`` is over, with this draw."""
        for role in list(self._bound):
            self._release(role, extent, last)

    def _release(self, role: Role, extent: Extent, last: int) -> None:
        known = self._bound.pop(role, None)
        if known is not None and known[1] <= last:
            (good, bad), since = known
            self.note(good, bad, role, Extent(extent.good_pass, extent.bad_pass, since, last))

    def differences(
        self, same: Set[tuple[int, int]] = frozenset()
    ) -> Iterator[tuple[Difference, list[Extent]]]:
        """Roles that are played by different images or buffers.

        ``same``: pairs that are taken for the same one elsewhere, which no pair may contradict.
        """
        kept = self._kept(same)
        for (good, bad), uses in (*self._pairs.items(), *self._nulls.items()):
            if (good, bad) in kept:
                continue
            by_role: dict[Role, list[Extent]] = {}
            for role, extent in uses:
                by_role.setdefault(role, []).append(extent)
            for (kind, name), extents in by_role.items():
                title, about = (f"{name}: image", IMAGES) if kind in _IMAGES else (name, ADDRESSES)
                if kind == "packet":
                    title = f"address of {name}"
                yield Difference(title, f"{good:#x}", f"{bad:#x}", about), extents

    def _kept(self, same: Set[tuple[int, int]]) -> Set[tuple[int, int]]:
        """The pairs that are taken for the same one, here or elsewhere."""
        goods, bads = dict(same), {bad: good for good, bad in same}
        own = {
            pair
            for pair in self.same()
            if goods.get(pair[0], pair[1]) == pair[1] and bads.get(pair[1], pair[0]) == pair[0]
        }
        return own | same

    def moved(self, same: Set[tuple[int, int]] = frozenset()) -> Iterator[tuple[RuleName, str]]:
        """Rule and name of each pair of different addresses that count as the same; of packets, of
        each packet. ``same``: as for ``differences``.
        """
        for good, bad in self._kept(same):
            if good == bad or (good, bad) not in self._pairs:
                continue
            kinds = {kind for (kind, _), _ in self._pairs[good, bad]}
            for (kind, name), _ in self._pairs[good, bad]:
                if kind == "packet":
                    yield "addresses", name
            if not kinds.isdisjoint(_IMAGES):
                yield "addresses", "images at other addresses"
            elif "uniform" in kinds:
                yield "uncaptured", "uniform data at other addresses"

    def same(self) -> set[tuple[int, int]]:
        """The pairs that are taken for the same image or buffer."""
        uses = {pair: len(of) for pair, of in self._pairs.items()}
        goods = dict(zip(self._equal, self._equal, strict=True))
        bads = dict(goods)
        for good, bad in sorted(uses, key=lambda pair: (pair[0] != pair[1], -uses[pair], pair)):
            if good not in goods and bad not in bads and self._may_be_same(good, bad):
                goods[good] = bad
                bads[bad] = good
        same = sum(good == bad for good, bad in goods.items())
        if same * 2 < len(goods):  # elsewhere throughout
            return {pair for pair in goods.items() if not self._is_swapped(*pair, goods)}
        shifts = Counter(bad - good for good, bad in goods.items())
        return {
            (good, bad)
            for good, bad in goods.items()
            if good == bad
            or (self._is_elsewhere(good, bad, shifts) and not _comes_back(good, goods))
        }

    def _may_be_same(self, good: int, bad: int) -> bool:
        """Whether no packets of both captures name one of two different addresses."""
        return good == bad or self._of_packets.isdisjoint((good, bad))

    def _is_elsewhere(self, good: int, bad: int, shifts: Counter[int]) -> bool:
        """Whether the same lies at two addresses: it has moved, or takes turns with its like."""
        return shifts[bad - good] > 1 or self._takes_turns(good, bad) or self._has_moved(good, bad)

    def _is_swapped(self, good: int, bad: int, goods: dict[int, int]) -> bool:
        """Whether addresses have changed places that nobody draws to, this one among them."""
        if good == bad or any(kind == "target" for (kind, _), _ in self._pairs[good, bad]):
            return False
        return _comes_back(good, goods)

    def _takes_turns(self, good: int, bad: int) -> bool:
        """Whether they are alike and only drawn to: frames take turns with buffers."""
        is_drawn_to = all(kind == "target" for (kind, _), _ in self._pairs[good, bad])
        return is_drawn_to and self._starts_of_alike(good, bad) is not None

    def _has_moved(self, good: int, bad: int) -> bool:
        """Whether the whole buffer lies elsewhere: each is one that the other capture lacks."""
        if self._buffers[0].find(good) is None and self._buffers[1].find(bad) is None:
            kinds = {kind for (kind, _), _ in self._pairs[good, bad]}
            if kinds == {"uniform"}:
                return self._moves_as_one(good, bad)
            return kinds <= {"private", "packet"} and (bad - good) % _PAGE_BYTES == 0
        starts = self._starts_of_alike(good, bad)
        if starts is None:
            return False
        size = (self._buffers[0].find(good) or (0, 0))[1]
        start, other = starts
        return self._buffers[1].find(start) != (start, size) and self._buffers[0].find(other) != (
            other,
            size,
        )

    def _moves_as_one(self, good: int, bad: int) -> bool:
        """Whether all that plays the roles of this pair has moved by the same distance.

        Programs put the uniform data of each frame elsewhere, and drivers the descriptors of it.
        """
        if self._shifts is None:
            self._shifts = {role: {0} for role in self._unmoved}
            for one, uses in self._pairs.items():
                for role, _ in uses:
                    self._shifts.setdefault(role, set()).add(one[1] - one[0])
        return all(self._shifts[role] == {bad - good} for role, _ in self._pairs[good, bad])

    def _starts_of_alike(self, good: int, bad: int) -> tuple[int, int] | None:
        """Where the buffers begin that the addresses lie in, if both lie at the same place of them.

        None where they do not, or the buffers have other sizes.
        """
        found = self._buffers[0].find(good), self._buffers[1].find(bad)
        if found[0] is None or found[1] is None:
            return None
        (start, size), (other_start, other_size) = found[0], found[1]
        is_alike = size == other_size and good - start == bad - other_start
        return (start, other_start) if is_alike else None


def _comes_back(start: int, goods: dict[int, int]) -> bool:
    """Whether addresses have changed places, this one among them."""
    place: int | None = goods.get(start)
    for _ in range(len(goods)):
        if place is None or place == start:
            break
        place = goods.get(place)
    return place == start


_TEXTURES = ("texture", "texture address")

#: Registers of the 2D engine with the lower half of an address.
_COPIED_TO = re.compile(r"_2D_DST(_LO)?$")
_COPIED = re.compile(r"_2D_(DST|SRC)(_LO)?$")


class ImageLinks:
    """Passes and textures of both captures, by the addresses of images."""

    def __init__(self, result: Comparison) -> None:
        self._sides = _Images(result.good), _Images(result.bad)
        self._positions: dict[tuple[int | None, int | None], int] = {}
        for position, pair in enumerate(result.pairs):
            one = None if pair.good is None else pair.good.index
            other = None if pair.bad is None else pair.bad.index
            self._positions[one, other] = position
        self._is_pair = [p.good is not None and p.bad is not None for p in result.pairs]

    def image_of(self, address: int, side: int) -> int:
        """The image that an address is in, by its first level. ``side``: 0 good, 1 bad."""
        return self._sides[side].of(address)

    def written_images(self, found: Pass, side: int) -> set[int]:
        """The images that a pass draws or copies to. ``side``: 0 good, 1 bad."""
        images = self._sides[side]
        written = [*images.written(found)]
        for record in images.records(found):
            written.extend(images.copied(record, _COPIED_TO))
        return {images.of(address) for address in written}

    def drawn_by(
        self, causes: Iterable[tuple[int, Entry]]
    ) -> dict[tuple[int | None, int | None], int]:
        """Pairs of images that passes which differ draw to -> the first such passes, by number.

        Not of passes that only fill images: there, what samples the images is the cause.
        """
        found: dict[tuple[int | None, int | None], int] = {}
        for number, entry in causes:
            if self._only_fills(entry):
                continue
            for extent in entry.extents:
                good, bad = (self._sides[side].pass_of(extent, side) for side in range(2))
                if good is None or bad is None:
                    continue
                others = {target.name: target.address for target in bad.attachments}
                for target in good.attachments:
                    other = others.get(target.name)
                    if target.address and other:
                        found.setdefault((target.address, other), number)
        return found

    def fills(self, entry: Entry, textures: Entry) -> bool:
        """Whether passes or draws do nothing but fill the images of these textures."""
        if not self._only_fills(entry):
            return False
        for side, images in enumerate(self._sides):
            of = {images.of(image) for d in textures.differences if (image := d.images[side])}
            for found, records in self._parts(entry, side):
                if records is None:
                    written = self.written_images(found, side)
                else:
                    copied = (images.copied(record, _COPIED_TO) for record in records)
                    written = {images.of(address) for part in copied for address in part}
                if not written or not written <= of:
                    return False
        return True

    def uploads(self, entry: Entry, textures: Entry) -> bool:
        """Whether an entry is of copies that the 2D engine makes into the images of textures."""
        images = self._sides[0]
        of = {images.of(image) for d in textures.differences if (image := d.images[0])}
        for extent in entry.extents:
            found = images.pass_of(extent, 0)
            if found is None or extent.in_bad or extent.first is None or extent.last is None:
                return False
            for record in images.records(found)[extent.first : extent.last + 1]:
                written = {images.of(address) for address in images.copied(record, _COPIED_TO)}
                if not written or not written <= of:
                    return False
        return True

    def resolves(self, entry: Entry, cause: Entry) -> bool:
        """Whether passes of one capture use the samples of a pass right before, which has others.

        ``entry``: passes that are missing.
        """
        if not any(d.name == "samples" for d in cause.differences):
            return False
        if not self._only_fills(entry) or not self._is_right_behind(entry, cause):
            return False
        for side, images in enumerate(self._sides):
            targets = self._targets(cause, side)
            for found, _ in self._parts(entry, side):
                if targets & set(images.used(found)):
                    return True
        return False

    def _is_right_behind(self, entry: Entry, cause: Entry) -> bool:
        """Whether no pair of passes lies between."""
        places = [self._place(extent) for extent in entry.extents]
        starts = [self._place(extent) for extent in cause.extents]
        first = min(places)
        before = [start for start in starts if start < first]
        return bool(before) and not any(self._is_pair[max(before) + 1 : max(places)])

    def _place(self, extent: Extent) -> int:
        return self._positions[extent.good_pass, extent.bad_pass]

    def _only_fills(self, entry: Entry) -> bool:
        """Whether all its passes have at most one draw, or are of copies; or it is of draws."""
        return all(
            extent.first is not None
            or all(
                found.kind == "transfer" or len(found.draws) <= 1
                for side in range(2)
                if (found := self._sides[side].pass_of(extent, side)) is not None
            )
            for extent in entry.extents
        )

    def _parts(self, entry: Entry, side: int) -> Iterator[tuple[Pass, list[DrawInputs] | None]]:
        """The passes of an entry on one side; of draws that are missing, those."""
        for extent in entry.extents:
            found = self._sides[side].pass_of(extent, side)
            if found is None:
                continue
            if extent.first is None or extent.last is None:
                yield found, None
            elif extent.in_bad == bool(side):
                yield found, self._sides[side].records(found)[extent.first : extent.last + 1]

    def _targets(self, entry: Entry, side: int) -> set[int]:
        return {
            address
            for found, _ in self._parts(entry, side)
            for address in self._sides[side].written(found)
        }


class _Images:
    """The images of one capture."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._passes = {one.index: one for one in recording.passes.passes}
        #: Names of registers that draws have.
        self._names: dict[int, str] = {}
        self._text: RegisterText | None = None
        self._roots: dict[int, int] | None = None

    def pass_of(self, extent: Extent, side: int) -> Pass | None:
        """The pass that an extent is of."""
        index = extent.bad_pass if side else extent.good_pass
        return None if index is None else self._passes.get(index)

    def records(self, found: Pass) -> list[DrawInputs]:
        """Its draws."""
        return self._recording.of(found)

    def written(self, found: Pass) -> Iterator[int]:
        """Addresses of the attachments of a pass."""
        return (one.address for one in found.attachments if one.address)

    def used(self, found: Pass) -> Iterator[int]:
        """Addresses of all that a pass draws to, samples or copies."""
        yield from self.written(found)
        for record in self.records(found):
            yield from self.copied(record, _COPIED)
        yield from self._sampled(found)

    def copied(self, record: DrawInputs, pattern: re.Pattern[str]) -> Iterator[int]:
        """Addresses in registers of the 2D engine."""
        if record.action.kind != "blit":
            return
        order = record.action.order
        history = self._recording.store.history(order)
        for register in history.registers(order):
            if pattern.search(self._name(register)):
                low, high = (history.value(one, order) for one in (register, register + 1))
                yield (low or 0) | (high or 0) << 32

    def _name(self, register: int) -> str:
        known = self._names.get(register)
        if known is None:
            if self._text is None:
                assert self._recording.database is not None
                self._text = RegisterText(self._recording.database)
            known = self._names[register] = self._text.name(register)
        return known

    def of(self, address: int) -> int:
        """The image that an address is in, by its first level: levels are made of one another."""
        if self._roots is None:
            self._roots = self._linked()
        return self._roots.get(address, address)

    def _linked(self) -> dict[int, int]:
        """Level -> first level.

        A copy, or a pass of one draw, that reads what another wrote and writes after it makes a
        level.
        """
        roots: dict[int, int] = {}
        for one in self._recording.passes.passes:
            if one.kind == "transfer":
                for record in self.records(one):
                    read = set(self.copied(record, _COPIED)) - set(self.copied(record, _COPIED_TO))
                    _link(roots, read, self.copied(record, _COPIED_TO))
            elif len(one.draws) == 1:
                _link(roots, set(self._sampled(one)), self.written(one))
            else:
                _link(roots, set(), self.written(one))
        return roots

    def _sampled(self, found: Pass) -> Iterator[int]:
        """Addresses of the textures that draws of a pass bind."""
        places: set[SetPlace] = set()
        loads: dict[int, Facts] = {}  # draws share them
        for record in self.records(found):
            if len(record.facts) > LOADED:
                loads[id(record.facts[LOADED])] = record.facts[LOADED]
            places.update(record.sets.values())
        for facts in loads.values():
            for key, fact in facts.items():
                if key[0] in _TEXTURES and fact.points_at:
                    yield fact.points_at
        if self._recording.sets is not None:
            for place in places:
                for key, fact in self._recording.sets.read(place)[1]:
                    if key[0] == "texture" and fact.points_at:
                        yield fact.points_at


def _link(roots: dict[int, int], read: set[int], written: Iterable[int]) -> None:
    """Note what is written: a level of what is read, or a separate image."""
    for address in written:
        below = [source for source in read if source in roots and source < address]
        roots.setdefault(address, roots[max(below)] if below else address)


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
        self, slot: Slot, mine: Mapping[FactKey, InputFact], theirs: Mapping[FactKey, InputFact]
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
        self, slot: Slot, mine: Mapping[FactKey, InputFact], theirs: Mapping[FactKey, InputFact]
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
        return len({packet._words.address for packet in packets if packet is not None}) > 1

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
    about: _AboutFact, mine: Mapping[FactKey, InputFact], theirs: Mapping[FactKey, InputFact]
) -> bool:
    return about.contents is not None and _have_contents(about.contents, mine, theirs)


def _address_among(facts: Mapping[FactKey, InputFact], key: FactKey, fact: InputFact) -> int | None:
    """What a descriptor is of, or where something lies that was not captured."""
    of = fact if key[0] != "texture" else facts.get(("texture address", *key[1:]), fact)
    return of.address if of.points_at is None and of.digest is None else of.points_at


def _have_contents(
    key: FactKey, mine: Mapping[FactKey, InputFact], theirs: Mapping[FactKey, InputFact]
) -> bool:
    facts = mine.get(key), theirs.get(key)
    return all(fact is not None and fact.digest is not None for fact in facts)


def _is_moved(mine: InputFact, theirs: InputFact) -> bool:
    """Whether packets at two addresses have made two facts."""
    places = mine.place, theirs.place
    return len({place._words.address for place in places if place is not None}) > 1
