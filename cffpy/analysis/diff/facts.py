# SPDX-License-Identifier: MIT
"""Facts: what a draw depends on besides registers, each under a key, compared by a digest.

Shaders by content, parameters of draw packets, constants and descriptors that packets load, and the
captured bytes of vertex, index and uniform data. A digest is None where the capture lacks the
bytes: nothing is known about them then.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from cffpy.capture.generations import BINDLESS_STRIDE
from cffpy.cp.loadstate import (
    BINDLESS,
    CONSTANTS,
    DIRECT,
    FROM_UBO,
    INDIRECT,
    SAMPLERS,
    SHADER,
    SSBO_0,
    SSBO_1,
    SSBO_2,
    TEXTURES,
    UBO,
    LoadedState,
    loaded_state,
    state_place,
)
from cffpy.pm4.fields import Fields, Packets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from hashlib import blake2b

    from cffpy.analysis.bound_programs import Programs
    from cffpy.capture.memory import MemoryImage
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload
    from cffpy.frame.place import PacketLocation
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

#: Packets that load constants from memory (a2xx); dwords of one that are looked at, at most.
LOAD_CONSTANT_CONTEXT = Fields("CP_LOAD_CONSTANT_CONTEXT", "ADDR", "TYPE", "INDEX", "COUNT")
_MAX_CONSTANTS = 1 << 16

#: Names of the parts of descriptors that hold addresses.
_ADDRESS_FIELDS = (
    *("BASE_LO", "BASE_HI", "BASE", "FLAG_LO", "FLAG_HI"),
    *("BASE_ADDRESS", "MIP_ADDRESS"),  # a2xx
)


@dataclass(slots=True, frozen=True, eq=False)
class Fact:
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
            isinstance(other, Fact)
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
        self._regions: dict[tuple[int, int, int], Fact] = {}
        self._left = _MAX_READ
        #: Regions that were not read, because so much was read before.
        self.left_out = 0
        self._masks: dict[str, list[int]] = {}

    def region(
        self, address: int, size: int, place: PacketLocation | None = None, offset: int = 0
    ) -> Fact:
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

    def largest_index(self, indices: Fact, size: int) -> int | None:
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

    def descriptor(self, data: memoryview, domain: str, place: PacketLocation | None) -> Fact:
        """A descriptor, compared without the addresses in it."""
        masks = self._masks.get(domain)
        if masks is None:
            masks = self._masks[domain] = address_masks(self._database, domain)
        return descriptor(data, domain, masks, place)


class KnownRegions:
    """Facts of memory that has the same bytes in several submits, or in two captures."""

    def __init__(self) -> None:
        self._facts: dict[tuple[int, int, int], Fact] = {}
        #: How often a fact was the one of memory before.
        self.taken = 0

    def region(self, data: memoryview | None, address: int, size: int, offset: int) -> Fact:
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
) -> Fact:
    """The first ``size`` of the bytes that were captured from ``address`` plus ``offset`` on."""
    if not data or size <= 0:
        return Fact(None, None, address, place)
    data = data[: min(size, _MAX_BYTES)]
    return Fact(digest(data), data, address, place, offset=offset)


def descriptor(
    data: memoryview, domain: str, masks: list[int], place: PacketLocation | None
) -> Fact:
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
    return Fact(digest(memoryview(bytes(masked))), data, None, place, domain, first or None)


def digest(data: memoryview) -> bytes:
    """A short digest of some bytes."""
    return _hash()(data, digest_size=_DIGEST_BYTES).digest()


@cache
def _hash() -> type[blake2b]:
    from hashlib import blake2b  # lazy: OpenSSL takes 10 ms, and only diff needs it

    return blake2b


def largest_index(indices: Fact, size: int) -> int | None:
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


_VECTOR_BYTES = 16

#: Addresses of levels that each texture has in the blocks ``Generation.level_address_blocks``.
_LEVELS_OF_TEXTURE = 14

#: Where ``Generation.pushes_by_storage``: what push constants are loaded as, by draws as constants,
#: by dispatches as UBOs.
_PUSHED = (SSBO_1, SSBO_2)

#: What is loaded -> the first part of its facts' keys, and its descriptors by generation.
_DESCRIPTORS = {
    SAMPLERS: "sampler",
    TEXTURES: "texture",
    SSBO_0: "storage",
    SSBO_1: "storage size",
    SSBO_2: "storage address",
}

#: Facts that are kept at most: each draw is compared by all of them, and none has nearly as many.
_MAX_FACTS = 2048

#: UBO descriptors by domain; SIZE counts vectors of four.
_UBO_FIELDS = {
    "A5XX_UBO": Fields("A5XX_UBO", "BASE_LO", "BASE_HI", "SIZE", variant="SIZED"),
    "A6XX_UBO": Fields("A6XX_UBO", "BASE_LO", "BASE_HI", "SIZE"),
}


def uniform_buffer(packets: Packets, domain: str, dwords: Sequence[int]) -> tuple[int, int]:
    """The address of a uniform buffer and its size in bytes, of a descriptor of ``domain``."""
    low, high, size = packets[_UBO_FIELDS[domain]].read(dwords)
    return low | high << 32, size * _VECTOR_BYTES


class Loads:
    """What CP_LOAD_STATE* and CP_SET_CONSTANT have loaded, under the keys of facts."""

    def __init__(self, machine: Machine, contents: Contents) -> None:
        self._machine = machine
        self._contents = contents
        self.facts: dict[FactKey, Fact] = {}
        #: Stage -> address of the program that was loaded for it, if the packet names one.
        self._programs: dict[str, int] = {}

    def copy(self) -> Loads:
        """The same, from which on both go their own way."""
        other = Loads(self._machine, self._contents)
        other.facts.update(self.facts)
        other._programs.update(self._programs)
        return other

    def forget(self) -> None:
        """Nothing is loaded."""
        self.facts.clear()
        self._programs.clear()

    def stages_of_others(self, shaders: Programs) -> tuple[str, ...]:
        """The stages whose program was loaded from another address than the draw runs it at."""
        loaded = self._programs
        if not loaded:
            return ()
        return tuple([one for one, address in shaders if loaded.get(one, address) != address])

    def facts_with_others(self, stages: Iterable[str]) -> dict[FactKey, Fact]:
        """The facts of a draw with these ``stages_of_others``.

        What the programs are is compared as shaders, and where they are as registers: here it only
        counts whether both addresses are the same.
        """
        found = dict(self.facts)
        for stage in stages:
            key = "loaded program", stage
            found[key] = replace(found[key], digest="from another address")
        return found

    def load_state(self, payload: Payload, packet: PacketLocation) -> None:
        """CP_LOAD_STATE and its kin."""
        generation = self._machine.gpu.facts
        loaded = loaded_state(self._machine, payload)
        if loaded.kind == SHADER:
            self._program(loaded, packet)
            return
        place = state_place(self._machine, payload, loaded)
        first = loaded.first
        is_in_packet = place == (payload.words, payload.index + loaded.packet_dwords)
        # the reference reads the packet also where the source is a uniform buffer or address 0
        if place is None or (is_in_packet and loaded.source != DIRECT):
            self._not_captured(loaded, first, packet)
            return
        words, index = place
        dwords = words.data[index : words.count]
        if loaded.kind == CONSTANTS:
            size = loaded.units * generation.constant_dwords * 4
            self._drop_constants(loaded, first)
            self._put(("constants", loaded.stage, first), dwords[: size // 4].cast("B"), packet)
        elif loaded.source == BINDLESS:
            return  # a descriptor of a set, which is compared as that
        elif generation.pushes_by_storage and loaded.kind in _PUSHED:
            self._push_constants(loaded, first, dwords, packet)
        elif stage := generation.level_address_blocks.get(loaded.block):
            self._texture_addresses(stage, first, dwords[: loaded.units], packet)
        elif loaded.kind in _DESCRIPTORS:
            self._descriptors(loaded, first, dwords, packet)
        elif loaded.kind == UBO and "ubo" in generation.descriptors:
            self._uniform_buffers(loaded, first, dwords, packet)

    def _program(self, loaded: LoadedState, packet: PacketLocation) -> None:
        what = f"{loaded.units} units" + (f" at {loaded.first}" if loaded.first else "")
        if loaded.source != INDIRECT:
            what += ", in the packet"
        self.facts["loaded program", loaded.stage] = Fact(what, place=packet)
        if loaded.source == INDIRECT:
            self._programs[loaded.stage] = loaded.address
        else:  # in the packet
            self._programs.pop(loaded.stage, None)

    def _not_captured(self, loaded: LoadedState, first: int, packet: PacketLocation) -> None:
        """Nothing is known of what is in force from here on."""
        if loaded.kind == CONSTANTS:
            self._drop_constants(loaded, first)
            keys: list[FactKey] = [("constants", loaded.stage, first)]
        elif loaded.kind in _DESCRIPTORS and loaded.source != BINDLESS:
            name = _DESCRIPTORS[loaded.kind]
            keys = [(name, loaded.stage, first + unit) for unit in range(loaded.units)]
        else:
            return
        is_of_buffer = loaded.source == FROM_UBO
        fact = Fact(
            "of a uniform buffer" if is_of_buffer else None,
            address=loaded.address if loaded.source == INDIRECT else None,
            place=packet,
        )
        for key in keys:
            if self._has_room(key):
                self.facts[key] = fact

    def _drop_constants(self, loaded: LoadedState, first: int) -> None:
        for position in range(first, first + loaded.units):
            self.facts.pop(("constants", loaded.stage, position), None)

    def _push_constants(
        self, loaded: LoadedState, first: int, dwords: memoryview, packet: PacketLocation
    ) -> None:
        """Constants that all stages share, in dwords."""
        for position in range(first, first + loaded.units):
            self.facts.pop(("push constants", position), None)
        self._put(("push constants", first), dwords[: loaded.units].cast("B"), packet)

    def constant(self, kind: int, index: int, payload: Payload, packet: PacketLocation) -> None:
        """CP_SET_CONSTANT that writes no registers (a2xx)."""
        end = payload.index + max(1, payload.count)
        data = payload.words.data[payload.index + 1 : end].cast("B")
        self._put(("constants", kind << 16 | index), data, packet)

    def constants_of_memory(self, payload: Payload, packet: PacketLocation) -> None:
        """CP_LOAD_CONSTANT_CONTEXT that loads no registers (a2xx)."""
        values = payload.read(self._machine.packets[LOAD_CONSTANT_CONTEXT])
        address, kind, index, count = values
        key = "constants", kind << 16 | index
        place = self._machine.image.place(address)
        data = memoryview(b"")
        if place is not None:
            words, first = place
            data = words.data[first : first + min(count, _MAX_CONSTANTS)].cast("B")
        if data:
            self._put(key, data, packet)
        elif self._has_room(key):
            self.facts[key] = Fact(None, None, address, packet)

    def _put(self, key: FactKey, data: memoryview, packet: PacketLocation) -> None:
        if data and self._has_room(key):
            self.facts[key] = Fact(digest(data), data, None, packet)

    def _has_room(self, key: FactKey) -> bool:
        return key in self.facts or len(self.facts) < _MAX_FACTS

    def _descriptors(
        self, loaded: LoadedState, first: int, dwords: memoryview, packet: PacketLocation
    ) -> None:
        name = _DESCRIPTORS[loaded.kind]
        row = self._machine.gpu.facts.descriptors.get(name)
        if row is None:
            return
        domain, size = row
        for unit in range(min(loaded.units, len(dwords) // size)):
            data = dwords[unit * size : (unit + 1) * size].cast("B")
            key = (name, loaded.stage, first + unit)
            if not self._has_room(key):
                return
            self.facts[key] = self._contents.descriptor(data, domain, packet)

    def _texture_addresses(
        self, stage: str, first: int, addresses: memoryview, packet: PacketLocation
    ) -> None:
        """Where textures of a3xx are: it has no addresses in descriptors."""
        for level in range(0, len(addresses), _LEVELS_OF_TEXTURE):
            key = "texture address", stage, (first + level) // _LEVELS_OF_TEXTURE
            of = addresses[level : level + _LEVELS_OF_TEXTURE]
            # the levels of a texture, from its start; where it lies is compared as an address
            distances = str([one and one - of[0] for one in of])
            self.facts[key] = Fact(distances, of.cast("B"), place=packet, points_at=of[0] or None)

    def _uniform_buffers(
        self, loaded: LoadedState, first: int, dwords: memoryview, packet: PacketLocation
    ) -> None:
        domain, size = self._machine.gpu.facts.descriptors["ubo"]
        for unit in range(min(loaded.units, len(dwords) // size)):
            descriptor = dwords[unit * size : (unit + 1) * size]
            place = loaded.stage, first + unit
            if not self._has_room(("uniform data", *place)):
                return
            data = descriptor.cast("B")
            self.facts["uniform buffer", *place] = self._contents.descriptor(data, domain, packet)
            address, extent = uniform_buffer(self._machine.packets, domain, descriptor)
            self.facts["uniform data", *place] = self._contents.region(address, extent, packet)
