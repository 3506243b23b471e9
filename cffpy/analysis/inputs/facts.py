# SPDX-License-Identifier: MIT
"""Facts: what a draw depends on besides registers, each under a key, compared by a digest.

Shaders by content, parameters of draw packets, constants and descriptors that packets load, and the
captured bytes of vertex, index and uniform data. A digest is None where the capture lacks the
bytes: nothing is known about them then.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from cffpy.capture.gpu import BINDLESS_STRIDE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from hashlib import blake2b

    from cffpy.capture.memory import MemoryImage
    from cffpy.frame.places import PacketLocation
    from cffpy.regdb.database import Database

#: What a fact is about, from the general to the special: ("texture", "FS", 0), ("shader", "VS").
FactKey = tuple[Hashable, ...]

_DIGEST_BYTES = 12

#: Bytes of one buffer that are compared at most; and of all together, each as often as it is read.
_MAX_BYTES = 64 << 20
_MAX_READ = 2 << 30

#: Regions that are known, and bytes of one.
MAX_REGIONS, _MOST_COMPARED = 1 << 14, 1 << 20

#: An index costs as much as this number of bytes.
_INDEX_COST = 32

#: Names of the parts of descriptors that hold addresses.
_ADDRESS_FIELDS = (
    *("BASE_LO", "BASE_HI", "BASE", "FLAG_LO", "FLAG_HI"),
    *("BASE_ADDRESS", "MIP_ADDRESS"),  # a2xx
)


@dataclass(slots=True, frozen=True, eq=False)
class InputFact:
    """A value under a key. Two are equal whose digests, domains and both addresses are."""

    digest: bytes | int | str | None
    #: The bytes themselves: of the file, not copied.
    data: memoryview | None = None
    #: Their address, if they are in separate memory.
    address: int | None = None
    #: The packet that named them; None for the parameters of the draw's own packet.
    place: PacketLocation | None = None
    #: Domain of the register database that describes them.
    domain: str | None = None
    #: Address of what a descriptor points at.
    points_at: int | None = None
    #: Bytes from the address to ``data``, where a draw does not read its first ones.
    offset: int = 0

    def __eq__(self, other: object) -> bool:  # written out: facts are compared at each draw
        return (
            isinstance(other, InputFact)
            and self.digest == other.digest
            and self.address == other.address
            and self.points_at == other.points_at
            and self.domain == other.domain
        )

    def __hash__(self) -> int:
        return hash((self.digest, self.address, self.points_at))


class Contents:
    """Reads captured memory, and remembers digests as long as memory stays."""

    def __init__(
        self, image: MemoryImage, database: Database, known: KnownRegions | None = None
    ) -> None:
        """``known``: of captures that are compared; otherwise of this one."""
        self._image = image
        self._known = KnownRegions() if known is None else known
        self._database = database
        self._epoch = -1
        self._regions: dict[tuple[int, int, int], InputFact] = {}
        self._left = _MAX_READ
        #: Regions that were not read, because so much was read before.
        self.left_out = 0
        self._masks: dict[str, list[int]] = {}

    def region(
        self, address: int, size: int, place: PacketLocation | None = None, offset: int = 0
    ) -> InputFact:
        """The captured bytes from ``address`` plus ``offset`` on, up to ``size``."""
        if self._epoch != self._image.epoch:
            self._epoch = self._image.epoch
            self._regions.clear()
        known = self._regions.get((address, size, offset))
        if known is None:
            buffer = self._image.find(address)
            data = None if buffer is None else buffer.contents[address + offset - buffer.gpuaddr :]
            if data is not None and not self._may_read(min(size, len(data), _MAX_BYTES)):
                data = None
            known = self._regions[address, size, offset] = (
                self._known.region(data, address, size, offset)
                if place is None
                else region(data, address, size, place, offset)
            )
        return known

    def largest_index(self, indices: InputFact, size: int) -> int | None:
        """The largest of captured indices of ``size`` bytes each; None where there are none."""
        data = indices.data
        if data is None or not self._may_read(len(data) // size * _INDEX_COST):
            return None
        return largest_index(indices, size)

    def _may_read(self, size: int) -> bool:
        if size > self._left:
            self.left_out += 1
            return False
        self._left -= size
        return True

    def descriptor(self, data: memoryview, domain: str, place: PacketLocation | None) -> InputFact:
        """A descriptor, compared without the addresses in it."""
        masks = self._masks.get(domain)
        if masks is None:
            masks = self._masks[domain] = address_masks(self._database, domain)
        return descriptor(data, domain, masks, place)


class KnownRegions:
    """Facts of memory that has the same bytes in several submits, or in two captures."""

    def __init__(self) -> None:
        self._facts: dict[tuple[int, int, int], InputFact] = {}
        #: How often a fact was the one of memory before.
        self.taken = 0

    def region(self, data: memoryview | None, address: int, size: int, offset: int) -> InputFact:
        """As the function ``region``; the same object for the same bytes at the same address."""
        data = None if data is None else data[: max(0, min(size, _MAX_BYTES))]
        key = (address, size, offset) if data else (address, 0, 0)
        known = self._facts.get(key)
        if known is not None and _is_same(known.data, data):
            self.taken += 1
            return known
        found = region(data, address, size, None, offset)
        # not of memory that packets have written to: they may do so again
        if found.data is None or (found.data.readonly and len(found.data) <= _MOST_COMPARED):
            if len(self._facts) >= MAX_REGIONS:
                self._facts.clear()
            self._facts[key] = found
        return found


def _is_same(one: memoryview | None, other: memoryview | None) -> bool:
    if not one or not other:
        return not one and not other
    return len(one) == len(other) and one.tobytes() == other.tobytes()


def region(
    data: memoryview | None,
    address: int,
    size: int,
    place: PacketLocation | None = None,
    offset: int = 0,
) -> InputFact:
    """The first ``size`` of the bytes that were captured from ``address`` plus ``offset`` on."""
    if not data or size <= 0:
        return InputFact(None, None, address, place)
    data = data[: min(size, _MAX_BYTES)]
    return InputFact(digest(data), data, address, place, offset=offset)


def descriptor(
    data: memoryview, domain: str, masks: list[int], place: PacketLocation | None
) -> InputFact:
    """A descriptor, compared without the bits of ``masks``, which hold addresses.

    What counts of an address after the first one, say of the UBWC flags of a texture, is its
    distance from that.
    """
    dwords = list(data[: len(data) // 4 * 4].cast("I"))
    masked = bytearray()
    for value, mask in zip(dwords, masks, strict=False):
        masked += (value & ~mask).to_bytes(4, "little")
    first, *others = [*_addresses(dwords, masks)] or [0]
    for other in others:
        if other:
            masked += (other - first).to_bytes(16, "little", signed=True)
    return InputFact(digest(memoryview(bytes(masked))), data, None, place, domain, first or None)


def digest(data: memoryview) -> bytes:
    """A short digest of some bytes."""
    return _hash()(data, digest_size=_DIGEST_BYTES).digest()


@cache
def _hash() -> type[blake2b]:
    from hashlib import blake2b  # lazy: OpenSSL takes 10 ms, and only diff needs it

    return blake2b


def largest_index(indices: InputFact, size: int) -> int | None:
    """The largest of captured indices of ``size`` bytes each; None where there are none."""
    if indices.data is None:
        return None
    whole = indices.data[: len(indices.data) // size * size]
    values = whole.cast("B") if size == 1 else whole.cast("H") if size == 2 else whole.cast("I")
    restart = (1 << 8 * size) - 1
    return max((value for value in values if value != restart), default=None)


def address_masks(database: Database, domain: str) -> list[int]:
    """For each dword of a descriptor, the bits that are part of an address."""
    masks: dict[int, int] = {}
    row = database.domain(domain)
    for element in () if row is None else row[0]:
        name, offset, type_row = element[1], element[3], element[7]
        fields = type_row[7] if isinstance(type_row[7], tuple) else ()
        parts = [(field[0], field[2][2], field[2][3]) for field in fields if len(field) == 3]
        parts = parts or [(name, type_row[2], type_row[3])]
        for part, low, high in parts:
            if part in _ADDRESS_FIELDS:
                mask = (1 << (high + 1)) - (1 << low)
                masks[offset] = masks.get(offset, 0) | mask & 0xFFFFFFFF
                if high > 31:
                    masks[offset + 1] = masks.get(offset + 1, 0) | mask >> 32
    return [masks.get(position, 0) for position in range(BINDLESS_STRIDE)]


def _addresses(dwords: list[int], masks: list[int]) -> Iterator[int]:
    """The addresses in a descriptor, in order."""
    position = 0
    while position < len(dwords) and position < len(masks):
        mask = masks[position]
        if not mask:
            position += 1
            continue
        low = dwords[position] & mask
        has_high = position + 1 < len(dwords) and masks[position + 1]
        high = dwords[position + 1] & masks[position + 1] if has_high else 0
        yield low | high << 32
        position += 2 if has_high else 1


# -- the facts of a draw --------------------------------------------------------------------------

#: Facts by key, None for one that is gone.
ChangedFacts = dict[FactKey, InputFact | None]

#: Facts that belong to one draw alone, by which draws are recognised.
_OWN = (
    "draw",
    "shader",
    "push constants",
    "constants",
    "uniform data",
    "vertex buffer",
    "index buffer",
)


class Facts(dict[FactKey, InputFact]):
    """Facts by key. They are shared, never change, and are compared by identity.

    ``own``: a hash of those by which draws are recognised.
    """

    __slots__ = ("own",)
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, facts: Mapping[FactKey, InputFact]) -> None:
        super().__init__(facts)
        self.own = hash(tuple([(key, one.digest) for key, one in facts.items() if key[0] in _OWN]))

    def __eq__(self, other: object) -> bool:
        return self is other


NO_FACTS = Facts({})

#: Facts that are known.
MAX_KNOWN = 1 << 12


class KnownFacts:
    """Facts that draws of other submits may have, too, or those of the capture compared with.

    ``regions``: the facts of memory among them.
    """

    def __init__(self) -> None:
        self.regions = KnownRegions()
        #: By the keys and ids of their facts.
        self._known: dict[tuple[tuple[FactKey, int], ...], Facts] = {}

    def of(self, found: Mapping[FactKey, InputFact]) -> Facts:
        """These facts; the same object where they are the same objects."""
        key = tuple([(key, id(fact)) for key, fact in found.items()])
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            known = self._known[key] = Facts(found)
        return known


class FactChanges:
    """What changes from one draw to the next, of facts that draws share."""

    def __init__(self) -> None:
        self._last: Sequence[Facts] = ()
        self._known: dict[tuple[Facts, Facts], ChangedFacts] = {}

    def next(self, facts: Sequence[Facts]) -> ChangedFacts:
        """The facts that are others than at the draw before; None for one that is gone.

        Do not change the result.
        """
        last, self._last = self._last, facts
        changed = [
            self._between(now, before)
            for now, before in zip_longest(facts, last, fillvalue=NO_FACTS)
            if now is not before
        ]
        if len(changed) == 1:
            return changed[0]
        return {key: fact for part in changed for key, fact in part.items()}

    def _between(self, now: Facts, before: Facts) -> ChangedFacts:
        known = self._known.get((now, before))
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            known = self._known[now, before] = _changed(now, before)
        return known


def _changed(now: Facts, before: Facts) -> ChangedFacts:
    found: ChangedFacts = {}
    for key, fact in now.items():
        known = before.get(key)
        # another value, or the same one from another packet
        if known is not fact and (known != fact or known.place is not fact.place):
            found[key] = fact
    found.update((key, None) for key in before if key not in now)
    return found
