# SPDX-License-Identifier: MIT
"""Bindless descriptor sets (a6xx and later): their contents, and which of them a draw uses.

Registers have the address of a set, but not its length. Drivers put sets after one another, or
between commands. So a set ends at the latest where another set begins that a draw of the submit
uses, or where a command stream does.

Of the descriptors in a set, a draw uses those that instructions of its shaders name, and those that
are sampled before its fragment shader starts. Where the index of an operand is in a register, it
may use any descriptor of the set; where the set's number is in a register, or a shader was not
captured, any of any set. Nothing else of a draw reads descriptors, so it cannot observe the others,
nor the base of a set that no operand names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.inputs.facts import (
    InputFact,
    KnownRegions,
    address_masks,
    descriptor,
    digest,
)
from cffpy.analysis.inputs.loads import uniform_buffer
from cffpy.analysis.inputs.uses import add_slots
from cffpy.analysis.registers import RegisterReader
from cffpy.capture.gpu import BINDLESS_STRIDE, generation_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from cffpy.analysis.inputs.facts import FactKey
    from cffpy.analysis.inputs.uses import Slots
    from cffpy.capture.memory import Buffer, MemoryImage
    from cffpy.cp.machine import Machine
    from cffpy.pm4.reader import Packets
    from cffpy.regdb.database import Database

_SETS = 8

#: Descriptors of one set that are looked at, at most.
_MAX_DESCRIPTORS = 1024

_BYTES = BINDLESS_STRIDE * 4

#: Bytes.
_UBO_ALIGNMENT = 64

#: Low bits of a base that are not part of the address: the size of descriptors.
_BASE_FLAGS = 3

#: Combinations of bases that are kept.
_MAX_BOUND = 4096

#: Sets with the same bytes that are kept.
MAX_SETS = 1 << 12

_NO_BYTES = memoryview(b"")


class SetSlot(NamedTuple):
    """A descriptor of a bindless set, as the last part of a fact's key."""

    set: int
    slot: int


#: Part of a set: its kind and slot, and its fact.
SetPart = tuple[tuple[str, int], InputFact]


class Memory:
    """The buffers of one submit, kept for later."""

    def __init__(self, image: MemoryImage) -> None:
        self.buffers = image.buffers
        self._starts = [buffer.gpuaddr for buffer in self.buffers]
        #: Upper halves of the addresses of buffers.
        self.uppers = frozenset(address >> 32 for address in self._starts)
        #: Where sets and streams of commands begin.
        self._bounds: list[int] = []
        self._is_sorted = True
        #: For a recorder: whether the buffers are among those of the capture.
        self.is_noted = False

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
        self._bounds.append(address)
        self._is_sorted = False

    @property
    def bounds(self) -> list[int]:
        """Where sets and streams of commands begin, in order."""
        if not self._is_sorted:
            self._bounds = sorted(set(self._bounds))
            self._is_sorted = True
        return self._bounds


#: A set that a draw uses: the submit's memory, and its base.
SetPlace = tuple[Memory, int]


#: Registers with the bases of sets, of draws and of dispatches.
_BASES = tuple(
    tuple(f"{prefix}[{number}].DESCRIPTOR" for number in range(_SETS))
    for prefix in ("SP_BINDLESS_BASE", "SP_CS_BINDLESS_BASE")
)


class BoundSets:
    """Number and base of each set that is bound, by the values that registers have now.

    The same mapping each time for the same values: do not change it.
    """

    def __init__(self, machine: Machine, is_compute: bool) -> None:
        reader = RegisterReader(machine)
        offsets = [reader.offset(one) or reader.offset(f"{one}_LO") for one in _BASES[is_compute]]
        self._machine = machine
        self._numbers = [number for number, offset in enumerate(offsets) if offset]
        #: The registers with the lower halves, and after them those with the upper ones.
        self._registers = [offset + half for half in range(2) for offset in offsets if offset]
        self._known: dict[tuple[int | None, ...], dict[int, int]] = {}
        #: All registers that it reads.
        self.registers: Set[int] = frozenset(self._registers)

    def __call__(self) -> Mapping[int, int]:
        """Number -> address."""
        values = tuple(map(self._machine.state.registers.get, self._registers))
        found = self._known.get(values)
        if found is None:
            if len(self._known) >= _MAX_BOUND:
                self._known.clear()
            found = self._known[values] = {}
            count = len(self._numbers)
            for number, low, high in zip(self._numbers, values, values[count:], strict=False):
                address = (low or 0) & ~_BASE_FLAGS | (high or 0) << 32
                if address and low is not None:
                    found[number] = address
        return found


#: A digest of a set, and its parts.
SetContents = tuple[bytes, list[SetPart]]

#: Address, size in bytes, and fact of each piece of uniform data of a set.
_UniformData = list[tuple[int, int, InputFact]]


class KnownSets:
    """Sets that hold the same in several submits, or in two captures. Both read them as one."""

    def __init__(self) -> None:
        #: By what says how a set is read, and its bytes.
        self._known: dict[tuple[object, ...], tuple[SetContents, _UniformData]] = {}
        self._regions = KnownRegions()
        #: How often a set was known.
        self.taken = 0

    def find(self, key: tuple[object, ...], memory: Memory) -> SetContents | None:
        """The contents of a set with this key, whose uniform data is the same in ``memory``."""
        known = self._known.get(key)
        if known is None:
            return None
        contents, data = known
        if any(self.region(memory, one, size) is not fact for one, size, fact in data):
            return None
        self.taken += 1
        return contents

    def region(self, memory: Memory, address: int, size: int) -> InputFact:
        """A fact of uniform data, the same object where its bytes are the same."""
        buffer = memory.find(address)
        behind = None if buffer is None else buffer.contents[address - buffer.gpuaddr :]
        return self._regions.region(behind, address, size, 0)

    def add(self, key: tuple[object, ...], contents: SetContents, data: _UniformData) -> None:
        """Keep what was read."""
        if len(self._known) >= MAX_SETS:
            self._known.clear()
        self._known[key] = contents, data


class Sets:
    """Reads sets once all bases are known."""

    def __init__(
        self,
        database: Database,
        packets: Packets,
        generation: int,
        known: KnownSets | None = None,
    ) -> None:
        """``known``: sets of captures that are compared; otherwise of this one."""
        self._packets = packets
        self._shared = KnownSets() if known is None else known
        self._descriptions = database.chip, database.directory, generation
        descriptors = generation_of(generation).descriptors
        self._domains = descriptors["texture"], descriptors["sampler"], descriptors["ubo"]
        self._rows = dict(zip(("texture", "sampler", "uniform buffer"), self._domains, strict=True))
        self._rows["storage"] = descriptors["storage"]
        domains = {domain for domain, _ in self._rows.values()}
        self._masks = {domain: address_masks(database, domain) for domain in domains}
        #: The keys hold the memory itself: an id() returns once its object is gone.
        self._known: dict[SetPlace, SetContents] = {}

    def read(self, place: SetPlace) -> SetContents:
        """A digest of a set, and its parts: what each descriptor is, and uniform data.

        Sets that hold the same, and whose memory no packet writes to, are one object.
        """
        known = self._known.get(place)
        if known is None:
            memory, base = place
            data = _bytes_of_set(memory, base)
            key = *self._descriptions, memory.uppers, digest(data)
            found = self._shared.find(key, memory) if data.readonly else None
            known = self._known[place] = found or self._read(memory, data, key)
        return known

    def described(self, fact: InputFact, kind: str) -> InputFact:
        """A descriptor of a set as one of ``kind``: the instructions that name it say what it is.

        Bytes that ``fact`` lacks are 0.
        """
        row = self._rows[kind]
        if fact.domain == row[0] or fact.data is None:
            return fact
        return self.descriptor(fact.data, kind)

    def descriptor(self, data: memoryview, kind: str) -> InputFact:
        """A descriptor of ``kind``. Bytes that ``data`` lacks are 0."""
        row = self._rows[kind]
        if len(data) < row[1] * 4:
            data = memoryview(bytes(data).ljust(row[1] * 4, b"\0"))
        return self._descriptor(data, row)

    def uniform_data(self, place: SetPlace, descriptor: InputFact) -> InputFact | None:
        """What lies where a descriptor of a uniform buffer says; None without its bytes."""
        if descriptor.data is None or descriptor.domain is None:
            return None
        words = descriptor.data.cast("B").cast("I").tolist()
        address, size = uniform_buffer(self._packets, descriptor.domain, words)
        return self._shared.region(place[0], address, size)

    def _read(self, memory: Memory, data: memoryview, key: tuple[object, ...]) -> SetContents:
        uniform: _UniformData = []
        parts = list(self._parts(memory, data, uniform))
        whole = b"".join(fact.digest for _, fact in parts if isinstance(fact.digest, bytes))
        contents = digest(memoryview(whole)), parts
        if data.readonly:
            self._shared.add(key, contents, uniform)
        return contents

    def _parts(self, memory: Memory, whole: memoryview, uniform: _UniformData) -> Iterator[SetPart]:
        """No register tells what a descriptor is; it is taken for what it looks like.

        Two dwords with an aligned address where buffers lie: a UBO. No more than four dwords: a
        sampler. Else a texture.
        """
        texture, sampler, ubo = self._domains
        for slot in range(len(whole) // _BYTES):
            data = whole[slot * _BYTES : (slot + 1) * _BYTES]
            words = data.cast("I").tolist()
            if not any(words):
                continue
            address, size = uniform_buffer(self._packets, ubo[0], words)
            if not any(words[2:]) and _may_be_buffer(memory, address):
                fact = self._shared.region(memory, address, size)
                uniform.append((address, size, fact))
                yield ("uniform buffer", slot), self._descriptor(data, ubo)
                yield ("uniform data", slot), fact
            elif any(words[4:]):
                yield ("texture", slot), self._descriptor(data, texture)
            else:
                yield ("sampler", slot), self._descriptor(data, sampler)

    def _descriptor(self, data: memoryview, row: tuple[str, int]) -> InputFact:
        domain, dwords = row
        return descriptor(data[: dwords * 4], domain, self._masks[domain], None)


def _bytes_of_set(memory: Memory, base: int) -> memoryview:
    """The captured descriptors of a set."""
    buffer = memory.find(base)
    if buffer is None:
        return _NO_BYTES
    bounds = memory.bounds
    following = bisect_right(bounds, base)
    end = buffer.gpuaddr + len(buffer.contents)
    if following < len(bounds):
        end = min(end, bounds[following])
    count = max(0, min((end - base) // _BYTES, _MAX_DESCRIPTORS))
    start = base - buffer.gpuaddr
    return buffer.contents[start : start + count * _BYTES]


def _may_be_buffer(memory: Memory, address: int) -> bool:
    """Whether a UBO may lie here: not all buffers are captured."""
    aligned = bool(address & 0xFFFFFFFF) and not address % _UBO_ALIGNMENT
    return aligned and address >> 32 in memory.uppers


class DrawSlots:
    """The slots that a draw can use, in either of two captures."""

    def __init__(self, slots: Iterable[Slots | None]) -> None:
        self._slots: Slots | None = {}
        for found in slots:
            if found is None:
                self._slots = None
                return
            add_slots(self._slots, found)

    def holds(self, key: FactKey) -> bool:
        """Whether a fact of a set, see ``is_of_set``, may be used."""
        if self._slots is None:
            return True
        slot = key[-1]
        assert isinstance(slot, SetSlot)
        used = self._slots.get(slot.set, set())
        return used is None or slot.slot in used

    def has_set(self, number: int) -> bool:
        """Whether any descriptor of a set may be used."""
        return self._slots is None or number in self._slots

    def textures(self) -> Iterator[FactKey]:
        """Keys of textures at the slots, as far as those are known."""
        for number, used in (self._slots or {}).items():
            for slot in used or ():
                yield "texture", SetSlot(number, slot)


#: Registers with the base of a set: of draws and of dispatches, and copies of both.
_BASE = re.compile(r"(?:SP|HLSQ)(?:_CS)?_BINDLESS_BASE\[(?:0x)?([0-7])\]")


def set_of_base(subject: object) -> int | None:
    """The number of the set whose base a register holds, by its name; None: it holds none."""
    found = _BASE.match(subject) if isinstance(subject, str) else None
    return None if found is None else int(found[1])


def is_base_of_set(name: str | None) -> bool:
    """Whether a register holds the base of a set, by its name."""
    return set_of_base(name) is not None


def is_of_set(key: object) -> bool:
    """Whether a fact's key is of a descriptor of a bindless set."""
    return isinstance(key, tuple) and isinstance(key[-1], SetSlot)
