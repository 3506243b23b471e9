# SPDX-License-Identifier: MIT
"""Facts: what a draw depends on besides registers, each under a key, comparable by a digest.

Shaders by content, descriptors, constants, and the captured bytes of vertex, index and uniform
data. A digest is None where the capture does not hold the bytes: nothing can be said then.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from cffpy.capture.generations import BINDLESS_STRIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.memory import MemoryImage
    from cffpy.regdb.database import Database

#: What a fact is about, from the general to the special: ("texture", "FS", 0), ("shader", "VS").
FactKey = tuple[Hashable, ...]

_DIGEST_BYTES = 12

#: Bytes of one buffer that are compared at most; and of all together, each as often as it is read.
_MAX_BYTES = 64 << 20
_MAX_READ = 2 << 30

#: An index costs as much as so many bytes.
_INDEX_COST = 32

_VERTEX_BUFFERS = 32

#: Names of the parts of descriptors that hold addresses.
_ADDRESS_FIELDS = ("BASE_LO", "BASE_HI", "BASE", "FLAG_LO", "FLAG_HI")


@dataclass(slots=True, frozen=True)
class Fact:
    """A value under a key. Two are the same when their digests are."""

    digest: bytes | int | str | None
    #: The bytes themselves: of the file, not copied.
    data: memoryview | None = field(default=None, compare=False)
    #: Where they lie, if in memory of their own.
    address: int | None = None
    #: The packet that named them.
    place: PacketLocation | None = field(default=None, compare=False)
    #: Domain of the register database that describes them.
    domain: str | None = None
    #: Address of what a descriptor points at.
    points_at: int | None = None


class Contents:
    """Reads captured memory, and remembers digests as long as memory stays."""

    def __init__(self, image: MemoryImage, database: Database) -> None:
        self._image = image
        self._database = database
        self._epoch = -1
        self._regions: dict[tuple[int, int], Fact] = {}
        self._left = _MAX_READ
        #: Regions that were not read, because so much was read before.
        self.left_out = 0
        self._masks: dict[str, list[int]] = {}

    def region(self, address: int, size: int, place: PacketLocation | None = None) -> Fact:
        """The captured bytes at ``address``, up to ``size``."""
        if self._epoch != self._image.epoch:
            self._epoch = self._image.epoch
            self._regions.clear()
        known = self._regions.get((address, size))
        if known is None:
            buffer = self._image.find(address)
            data = None if buffer is None else buffer.contents[address - buffer.gpuaddr :]
            if data is not None and not self._may_read(min(size, len(data), _MAX_BYTES)):
                data = None
            known = self._regions[address, size] = region(data, address, size, place)
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


def region(
    data: memoryview | None, address: int, size: int, place: PacketLocation | None = None
) -> Fact:
    """The first ``size`` of the bytes that were captured from ``address`` on."""
    if not data or size <= 0:
        return Fact(None, None, address, place)
    data = data[: min(size, _MAX_BYTES)]
    return Fact(digest(data), data, address, place)


def descriptor(
    data: memoryview, domain: str, masks: list[int], place: PacketLocation | None
) -> Fact:
    """A descriptor, compared without the bits of ``masks``, which hold addresses."""
    dwords = list(data[: len(data) // 4 * 4].cast("I"))
    masked = bytearray()
    for value, mask in zip(dwords, masks, strict=False):
        masked += (value & ~mask).to_bytes(4, "little")
    return Fact(
        digest(memoryview(bytes(masked))), data, None, place, domain, _points_at(dwords, masks)
    )


def digest(data: memoryview) -> bytes:
    """A short digest of some bytes."""
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()


def vertex_buffers(
    reader: RegisterReader, contents: Contents, generation: int, elements: int | None
) -> Iterator[tuple[FactKey, Fact]]:
    """The vertex data that draws fetch (a3xx and later).

    ``elements``: vertices or instances that are fetched at most. Sizes in registers reach to the
    end of a buffer, where other things may lie; so nothing is told where it is None.
    """
    if elements is None:
        return
    field = reader.field
    if generation >= 6:
        count = field("VFD_CONTROL_0", "FETCH_CNT")
    elif generation == 5:
        count = field("VFD_CONTROL_0", "VTXCNT")
    else:
        count = field("VFD_CONTROL_0", "STRMFETCHINSTRCNT")
    for index in range(min(count or 0, _VERTEX_BUFFERS)):
        name = f"VFD_FETCH[{index}]"
        size = None
        if generation >= 5:
            address, size = reader.address(f"{name}.BASE"), reader.value(f"{name}.SIZE")
            stride = reader.value(f"{name}.STRIDE")
        else:
            address = reader.value(f"{name}.INSTR_1")
            stride = field(f"{name}.INSTR_0", "BUFSTRIDE")
            if generation == 4:
                size = field(f"{name}.INSTR_2", "SIZE")
        if stride:
            size = stride * elements if size is None else min(size, stride * elements)
        if address and size:
            yield ("vertex buffer", index), contents.region(address, size)


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


def _points_at(dwords: list[int], masks: list[int]) -> int | None:
    """The address in a descriptor: that of its first dwords with one."""
    for position, mask in enumerate(masks[: len(dwords)]):
        if mask:
            low = dwords[position] & mask
            has_high = position + 1 < len(dwords) and masks[position + 1]
            high = dwords[position + 1] & masks[position + 1] if has_high else 0
            return (low | high << 32) or None
    return None
