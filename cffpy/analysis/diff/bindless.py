# SPDX-License-Identifier: MIT
"""Bindless descriptor sets (a6xx and later): their descriptors, and the uniform data behind them.

Registers hold where a set begins, nothing how long it is. Drivers put sets behind one another, or
among commands; so one ends at the latest where another begins that any draw of the submit uses, or
where a stream of commands does.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.facts import Fact, address_masks, descriptor, digest, region
from cffpy.analysis.diff.loads import uniform_buffer
from cffpy.capture.generations import BINDLESS_STRIDE, generation_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.memory import Buffer, MemoryImage
    from cffpy.pm4.fields import Packets
    from cffpy.regdb.database import Database

_SETS = 8

#: Descriptors of one set that are looked at, at most.
_MAX_DESCRIPTORS = 1024

_BYTES = BINDLESS_STRIDE * 4

#: Bytes.
_UBO_ALIGNMENT = 64

#: Low bits of a base that are no part of the address: the size of descriptors.
_BASE_FLAGS = 3


class SetSlot(NamedTuple):
    """A descriptor of a bindless set, as the last part of a fact's key."""

    set: int
    slot: int


#: Part of a set: its kind and slot, and its fact.
SetPart = tuple[tuple[str, int], Fact]


class Memory:
    """The buffers of one submit, kept for later."""

    def __init__(self, image: MemoryImage) -> None:
        self.buffers = image.buffers
        self._starts = [buffer.gpuaddr for buffer in self.buffers]
        #: Upper halves of the addresses of buffers.
        self.uppers = {address >> 32 for address in self._starts}
        #: Where sets and streams of commands begin, in order.
        self.bounds: list[int] = []

    def find(self, address: int) -> Buffer | None:
        """The buffer that holds an address."""
        position = bisect_right(self._starts, address)
        if position:
            buffer = self.buffers[position - 1]
            if address < buffer.gpuaddr + buffer.size:
                return buffer
        return None

    def head(self, address: int, size: int) -> memoryview | None:
        """The first bytes at an address, at most ``size``; None where none were captured."""
        buffer = self.find(address)
        if buffer is None:
            return None
        start = address - buffer.gpuaddr
        return buffer.contents[start : start + size] or None

    def add_bound(self, address: int) -> None:
        """A set or a stream begins here."""
        position = bisect_right(self.bounds, address)
        if not position or self.bounds[position - 1] != address:
            insort(self.bounds, address)


#: A set that a draw uses: the submit's memory, and its base.
SetPlace = tuple[Memory, int]


def bases(reader: RegisterReader, is_compute: bool) -> Iterator[tuple[int, int]]:
    """Number and base of each set that is bound."""
    prefix = "SP_CS_BINDLESS_BASE" if is_compute else "SP_BINDLESS_BASE"
    for number in range(_SETS):
        address = reader.address(f"{prefix}[{number}].DESCRIPTOR")
        if address and address & ~_BASE_FLAGS:
            yield number, address & ~_BASE_FLAGS


class Sets:
    """Reads sets once all bases are known."""

    def __init__(self, database: Database, packets: Packets, generation: int) -> None:
        self._packets = packets
        descriptors = generation_of(generation).descriptors
        self._domains = descriptors["texture"], descriptors["sampler"], descriptors["ubo"]
        self._masks = {domain: address_masks(database, domain) for domain, _dwords in self._domains}
        self._known: dict[tuple[int, int], tuple[bytes, list[SetPart]]] = {}

    def read(self, place: SetPlace) -> tuple[bytes, list[SetPart]]:
        """A digest of a set, and its parts: what each descriptor is, and uniform data."""
        memory, base = place
        key = id(memory), base
        known = self._known.get(key)
        if known is None:
            parts = list(self._parts(memory, base))
            whole = b"".join(fact.digest for _, fact in parts if isinstance(fact.digest, bytes))
            known = self._known[key] = digest(memoryview(whole)), parts
        return known

    def _parts(self, memory: Memory, base: int) -> Iterator[SetPart]:
        """No register tells what a descriptor is; it is taken for what it looks like.

        Two dwords with an aligned address where buffers lie: a UBO. No more than four dwords: a
        sampler. Else a texture.
        """
        buffer = memory.find(base)
        if buffer is None:
            return
        following = bisect_right(memory.bounds, base)
        end = buffer.gpuaddr + len(buffer.contents)
        if following < len(memory.bounds):
            end = min(end, memory.bounds[following])
        count = min((end - base) // _BYTES, _MAX_DESCRIPTORS)
        texture, sampler, ubo = self._domains
        for slot in range(count):
            start = base - buffer.gpuaddr + slot * _BYTES
            data = buffer.contents[start : start + _BYTES]
            words = data.cast("I").tolist()
            if not any(words):
                continue
            address, size = uniform_buffer(self._packets, ubo[0], words)
            if not any(words[2:]) and _may_be_buffer(memory, address):
                target = memory.find(address)
                behind = None if target is None else target.contents[address - target.gpuaddr :]
                yield ("uniform buffer", slot), self._descriptor(data, ubo)
                yield ("uniform data", slot), region(behind, address, size)
            elif any(words[4:]):
                yield ("texture", slot), self._descriptor(data, texture)
            else:
                yield ("sampler", slot), self._descriptor(data, sampler)

    def _descriptor(self, data: memoryview, row: tuple[str, int]) -> Fact:
        domain, dwords = row
        return descriptor(data[: dwords * 4], domain, self._masks[domain], None)


def _may_be_buffer(memory: Memory, address: int) -> bool:
    """Whether a UBO may lie here: not all buffers are captured."""
    aligned = bool(address & 0xFFFFFFFF) and not address % _UBO_ALIGNMENT
    return aligned and address >> 32 in memory.uppers
