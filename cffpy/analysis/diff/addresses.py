# SPDX-License-Identifier: MIT
"""Addresses: which address of one capture stands for which of the other, and images by address.

An address of one capture stands for the same one of the other everywhere. Captures of one
program by one driver mostly have the same addresses. An address that differs alone is therefore of
another image or buffer, and so are two that were swapped. But where a program allocates a little
more, what is allocated later has moved.

Images: which passes write the images that textures are of. A change of an image that one pass
draws to and another samples appears twice, as a target and as a texture. An image with other levels
is filled by other passes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.diff.model import Difference, Extent
from cffpy.analysis.diff.rules import ADDRESSES, IMAGES
from cffpy.analysis.inputs.recorder import LOADED
from cffpy.regdb.register_text import RegisterText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from cffpy.analysis.diff.model import Comparison, Entry, Extent
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.rules import NoiseClass
    from cffpy.analysis.inputs.descriptor_sets import SetPlace
    from cffpy.analysis.inputs.facts import Facts
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.frame.passes import Pass

#: Bytes compared where two addresses differ, to see whether the same lies there.
HEAD_BYTES = 64

#: Buffers begin at pages.
_PAGE_BYTES = 4096

#: What an address is of: a texture, an attachment, anything else that a register names, memory
#: of the driver's own, or uniform data by a descriptor that itself lies at two addresses.
AddressKind = Literal["texture", "target", "address", "private", "uniform"]

#: Kinds that are images.
_IMAGES = ("texture", "target")

#: The role that an address plays: what it is of, and a name.
Role = tuple[AddressKind, str]


#: In place of two addresses that need not be compared.
NO_PAIR = None, None


class Buffers:
    """Where the buffers of a capture lie: those of all submits."""

    def __init__(self, buffers: Sequence[tuple[int, int]]) -> None:
        self._buffers = buffers
        self._starts = [start for start, _ in buffers]

    def find(self, address: int) -> tuple[int, int] | None:
        """Start and size in bytes of the buffer that holds an address."""
        position = bisect_right(self._starts, address) - 1
        if position < 0:
            return None
        start, size = self._buffers[position]
        return (start, size) if address < start + size else None


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
        goods, bads = dict(same), {bad: good for good, bad in same}
        own = {
            pair
            for pair in self.same()
            if goods.get(pair[0], pair[1]) == pair[1] and bads.get(pair[1], pair[0]) == pair[0]
        }
        kept = own | same
        for (good, bad), uses in (*self._pairs.items(), *self._nulls.items()):
            if (good, bad) in kept:
                continue
            by_role: dict[Role, list[Extent]] = {}
            for role, extent in uses:
                by_role.setdefault(role, []).append(extent)
            for (kind, name), extents in by_role.items():
                title, about = (f"{name}: image", IMAGES) if kind in _IMAGES else (name, ADDRESSES)
                yield Difference(title, f"{good:#x}", f"{bad:#x}", about), extents

    def moved(self) -> Iterator[tuple[NoiseClass, str]]:
        """Noise class and name of each pair of different addresses that count as the same."""
        for good, bad in self.same():
            if good == bad:
                continue
            kinds = {kind for (kind, _), _ in self._pairs[good, bad]}
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
            if good not in goods and bad not in bads:
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
            return kinds == {"private"} and (bad - good) % _PAGE_BYTES == 0
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
