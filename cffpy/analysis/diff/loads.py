# SPDX-License-Identifier: MIT
"""Loads: the state that packets have loaded, as facts: constants, descriptors, uniform buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.facts import Contents, Fact, FactKey, digest
from cffpy.cp.loadstate import (
    BINDLESS,
    CONSTANTS,
    SAMPLERS,
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
    from collections.abc import Sequence

    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

_VECTOR_BYTES = 16

#: a3xx: state block of CP_LOAD_STATE -> the stage whose textures' levels lie at the addresses that
#: it loads, so many of one texture. Source: SB_*_MIPADDR, and fd3_emit of freedreno.
_A3XX_LEVELS = {1: "VS", 3: "FS"}
_A3XX_LEVELS_OF_TEXTURE = 14

#: a6xx: what push constants are loaded as, into the block for storage: by draws as constants, by
#: dispatches as UBOs. As captures of turnip have it; storage itself is bindless there.
_PUSHED = (SSBO_1, SSBO_2)

#: What is loaded -> the first part of its facts' keys, and its descriptors by generation.
_DESCRIPTORS = {
    SAMPLERS: "sampler",
    TEXTURES: "texture",
    SSBO_0: "storage",
    SSBO_1: "storage size",
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

    def load_state(self, payload: Payload, packet: PacketLocation) -> None:
        """CP_LOAD_STATE and its kin."""
        generation = self._machine.gpu.generation
        loaded = loaded_state(self._machine, payload)
        place = state_place(self._machine, payload, loaded)
        first = loaded.first
        if place is None:
            self._not_captured(loaded, first, packet)
            return
        words, index = place
        dwords = words.data[index : words.count]
        if loaded.kind == CONSTANTS:
            size = loaded.units * self._machine.gpu.facts.constant_dwords * 4
            self._drop_constants(loaded, first)
            self._put(("constants", loaded.stage, first), dwords[: size // 4].cast("B"), packet)
        elif loaded.source == BINDLESS:
            return  # a descriptor of a set, which is compared as that
        elif generation == 6 and loaded.kind in _PUSHED:
            self._push_constants(loaded, first, dwords, packet)
        elif generation == 3 and (stage := _A3XX_LEVELS.get(loaded.block)):
            self._texture_addresses(stage, first, dwords[: loaded.units], packet)
        elif loaded.kind in _DESCRIPTORS:
            self._descriptors(loaded, first, dwords, packet)
        elif loaded.kind == UBO and "ubo" in self._machine.gpu.facts.descriptors:
            self._uniform_buffers(loaded, first, dwords, packet)

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
        for key in keys:
            if self._has_room(key):
                self.facts[key] = Fact(None, place=packet)

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
        for level in range(0, len(addresses), _A3XX_LEVELS_OF_TEXTURE):
            key = "texture address", stage, (first + level) // _A3XX_LEVELS_OF_TEXTURE
            data = addresses[level : level + _A3XX_LEVELS_OF_TEXTURE].cast("B")
            self.facts[key] = Fact(0, data, place=packet, points_at=addresses[level] or None)

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
