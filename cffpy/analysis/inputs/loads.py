# SPDX-License-Identifier: MIT
"""What packets load for draws: constants, descriptors, programs.

``Loads`` is what CP_LOAD_STATE* and CP_SET_CONSTANT have loaded. ``RunLoads`` is that of one run: a
tile, a binning run. Drivers load what draws use anew in each run, since all runs execute the same
commands. But what was loaded before a run began is still in force. So a draw also has what was
loaded since the action before, or outside of runs before its pass, and those descriptors that its
programs name, and that its own run has not loaded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.inputs.facts import FactKey, Facts, InputFact, digest
from cffpy.analysis.inputs.uses import KIND_OF_OPERAND, SAMPLER, STORAGE, TEXTURE, owner_of
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
from cffpy.pm4.reader import Fields, Packets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cffpy.analysis.inputs.facts import Contents
    from cffpy.analysis.inputs.uses import SlotRegisters
    from cffpy.analysis.registers import Programs
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.frame.passes import PassRun
    from cffpy.frame.places import PacketLocation
    from cffpy.isa.operands import Descriptor
    from cffpy.pm4.reader import Payload

#: Packets that load constants from memory (a2xx); dwords of one that are looked at, at most.
LOAD_CONSTANT_CONTEXT = Fields("CP_LOAD_CONSTANT_CONTEXT", "ADDR", "TYPE", "INDEX", "COUNT")
_MAX_CONSTANTS = 1 << 16

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
        self.facts: dict[FactKey, InputFact] = {}
        #: Keys of what was loaded since the last action: it is for the next one, whatever run that
        #: is of.
        self.fresh: set[FactKey] = set()
        #: Whether packets are outside of runs; what was loaded before the pass began, and nothing
        #: has replaced since.
        self.is_outside = True
        self.outside: dict[FactKey, InputFact] = {}
        #: Index of the pass of the last run.
        self._pass: int | None = None
        #: Stage -> address of the program that was loaded for it, if the packet names one.
        self._programs: dict[str, int] = {}

    def copy(self) -> Loads:
        """The same, from which on both go their own way."""
        other = Loads(self._machine, self._contents)
        other.facts.update(self.facts)
        other.fresh, other.outside = {*self.fresh}, {**self.outside}
        other.is_outside, other._pass = self.is_outside, self._pass
        other._programs.update(self._programs)
        return other

    def leave(self, run: PassRun | None) -> None:
        """Another run begins; None: what lies outside of runs.

        What was loaded since the last action stays, and what was loaded before the first run of the
        same pass.
        """
        fresh = {key: fact for key, fact in self.facts.items() if key in self.fresh}
        programs = {
            stage: address
            for stage, address in self._programs.items()
            if ("loaded program", stage) in fresh
        }
        if run is None and not fresh:
            self.outside.clear()
        if run is not None and run.pass_index != self._pass:
            self.outside = {**self.outside, **fresh} if self.is_outside else {**fresh}
        self.note_run(run)
        self.facts, self._programs = {**self.outside, **fresh}, programs

    def note_run(self, run: PassRun | None) -> None:
        """What follows is of this run."""
        self.is_outside = run is None
        if run is not None:
            self._pass = run.pass_index

    def stages_of_others(self, shaders: Programs) -> tuple[str, ...]:
        """The stages whose program was loaded from another address than the draw runs it at."""
        loaded = self._programs
        if not loaded:
            return ()
        return tuple([one for one, address in shaders if loaded.get(one, address) != address])

    def facts_with_others(self, stages: Iterable[str]) -> dict[FactKey, InputFact]:
        """The facts of a draw with these ``stages_of_others``.

        What the programs are is compared as shaders, and where they are as registers: here it only
        counts whether both addresses are the same.
        """
        found = dict(self.facts)
        for stage in stages:
            key = "loaded program", stage
            found[key] = replace(found[key], digest="from another address")
        return found

    def load_state(self, payload: Payload, packet: PacketLocation) -> bool:
        """CP_LOAD_STATE and its kin. Returns whether it loads descriptors of a bindless set, which
        only fills a cache: they are compared as the set's.
        """
        generation = self._machine.gpu.facts
        loaded = loaded_state(self._machine, payload)
        if loaded.kind == SHADER:
            self._program(loaded, packet)
            return False
        is_of_set = loaded.source == BINDLESS and loaded.kind != CONSTANTS
        place = state_place(self._machine, payload, loaded)
        first = loaded.first
        is_in_packet = place == (payload.words, payload.index + loaded.packet_dwords)
        # the reference reads the packet also where the source is a uniform buffer or address 0
        if place is None or (is_in_packet and loaded.source != DIRECT):
            self._not_captured(loaded, first, packet)
            return is_of_set
        words, index = place
        dwords = words.data[index : words.count]
        if loaded.kind == CONSTANTS:
            size = loaded.units * generation.constant_dwords * 4
            self._drop_constants(loaded, first)
            self._put(("constants", loaded.stage, first), dwords[: size // 4].cast("B"), packet)
        elif is_of_set:
            return True
        elif generation.pushes_by_storage and loaded.kind in _PUSHED:
            self._push_constants(loaded, first, dwords, packet)
        elif stage := generation.level_address_blocks.get(loaded.block):
            self._texture_addresses(stage, first, dwords[: loaded.units], packet)
        elif loaded.kind in _DESCRIPTORS:
            self._descriptors(loaded, first, dwords, packet)
        elif loaded.kind == UBO and "ubo" in generation.descriptors:
            self._uniform_buffers(loaded, first, dwords, packet)
        return False

    def _program(self, loaded: LoadedState, packet: PacketLocation) -> None:
        what = f"{loaded.units} units" + (f" at {loaded.first}" if loaded.first else "")
        if loaded.source != INDIRECT:
            what += ", in the packet"
        self._set(("loaded program", loaded.stage), InputFact(what, place=packet))
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
        fact = InputFact(
            "of a uniform buffer" if is_of_buffer else None,
            address=loaded.address if loaded.source == INDIRECT else None,
            place=packet,
        )
        for key in keys:
            if self._has_room(key):
                self._set(key, fact)

    def _drop_constants(self, loaded: LoadedState, first: int) -> None:
        for position in range(first, first + loaded.units):
            self._drop(("constants", loaded.stage, position))

    def _push_constants(
        self, loaded: LoadedState, first: int, dwords: memoryview, packet: PacketLocation
    ) -> None:
        """Constants that all stages share, in dwords."""
        for position in range(first, first + loaded.units):
            self._drop(("push constants", position))
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
            self._set(key, InputFact(None, None, address, packet))

    def _put(self, key: FactKey, data: memoryview, packet: PacketLocation) -> None:
        if data and self._has_room(key):
            self._set(key, InputFact(digest(data), data, None, packet))

    def _set(self, key: FactKey, fact: InputFact) -> None:
        self.facts[key] = fact
        self.fresh.add(key)
        if self.is_outside:
            self.outside[key] = fact
        else:
            self.outside.pop(key, None)

    def _drop(self, key: FactKey) -> None:
        self.facts.pop(key, None)
        self.outside.pop(key, None)

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
            self._set(key, self._contents.descriptor(data, domain, packet))

    def _texture_addresses(
        self, stage: str, first: int, addresses: memoryview, packet: PacketLocation
    ) -> None:
        """Where textures of a3xx are: it has no addresses in descriptors."""
        for level in range(0, len(addresses), _LEVELS_OF_TEXTURE):
            key = "texture address", stage, (first + level) // _LEVELS_OF_TEXTURE
            of = addresses[level : level + _LEVELS_OF_TEXTURE]
            # the levels of a texture, from its start; where it lies is compared as an address
            distances = str([one and one - of[0] for one in of])
            fact = InputFact(distances, of.cast("B"), place=packet, points_at=of[0] or None)
            self._set(key, fact)

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
            fact = self._contents.descriptor(data, domain, packet)
            self._set(("uniform buffer", *place), fact)
            address, extent = uniform_buffer(self._machine.packets, domain, descriptor)
            fact = self._contents.region(address, extent, packet)
            self._set(("uniform data", *place), fact)


#: Kind of what an instruction names -> the first parts of the keys of facts that are kept.
_KINDS = {
    TEXTURE: ("texture", "texture address"),
    SAMPLER: ("sampler",),
    STORAGE: ("storage", "storage size", "storage address"),
}
_KEPT = frozenset(kind for kinds in _KINDS.values() for kind in kinds)

#: Descriptors of earlier runs, and programs, that are kept at most.
_MAX_KEPT = 4096

_NONE: frozenset[FactKey] = frozenset()


class RunLoads:
    """Follows packets that load state, and has the facts of each draw."""

    def __init__(
        self,
        machine: Machine,
        contents: Contents,
        descriptors_of: Callable[[memoryview], frozenset[Descriptor]],
    ) -> None:
        """``descriptors_of``: those that the instructions of a program name."""
        self._machine = machine
        self._contents = contents
        self._loads = Loads(machine, contents)
        self._descriptors_of = descriptors_of
        self._run: PassRun | None = None
        #: Descriptors that were loaded in runs before this one.
        self._earlier: dict[FactKey, InputFact] = {}
        #: The facts now, until a packet changes them, by stages with a program from another address
        #: and by descriptors of earlier runs.
        self._known: dict[tuple[tuple[str, ...], frozenset[FactKey]], Facts] = {}
        #: The descriptors of earlier runs that this one has not loaded so far, until that changes.
        self._left: frozenset[FactKey] | None = None
        #: Stage, digest of a program and registers -> the descriptors that it names.
        self._named: dict[tuple[object, ...], frozenset[FactKey]] = {}

    def copy(self) -> RunLoads:
        """The same, from which on both go their own way."""
        other = RunLoads(self._machine, self._contents, self._descriptors_of)
        other._loads = self._loads.copy()
        other._run, other._earlier = self._run, {**self._earlier}
        return other

    def enter(self, run: PassRun | None) -> bool:
        """What follows is of this run. Returns whether it is another one."""
        if run is self._run:
            return False
        self._run = run
        self._leave()
        return True

    def acted(self) -> None:
        """An action was executed: what is loaded next is for another one."""
        self._loads.fresh.clear()

    def load_state(self, payload: Payload, packet: PacketLocation) -> bool:
        """CP_LOAD_STATE and its kin, in this run. Returns the same."""
        is_of_set = self._loads.load_state(payload, packet)
        self._changed()
        return is_of_set

    def constant(self, kind: int, index: int, payload: Payload, packet: PacketLocation) -> None:
        """CP_SET_CONSTANT that writes no registers (a2xx), in this run."""
        self._loads.constant(kind, index, payload, packet)
        self._changed()

    def constants_of_memory(self, payload: Payload, packet: PacketLocation) -> None:
        """CP_LOAD_CONSTANT_CONTEXT that loads no registers (a2xx), in this run."""
        self._loads.constants_of_memory(payload, packet)
        self._changed()

    def of(
        self, action: Action, run: PassRun | None, programs: Facts, registers: SlotRegisters
    ) -> Facts:
        """The facts of a draw or dispatch of ``run``; the same object until they change.

        A dispatch or a copy may begin a run itself, and what it uses is loaded before.
        """
        before, self._run = self._run, run
        if run is not before and before is not None and action.kind == "draw":
            self._leave()  # as if the run were entered
        self._loads.note_run(run)
        stages = self._loads.stages_of_others(action.programs)
        earlier = self._used_of_earlier(programs, registers)
        known = self._known.get((stages, earlier))
        if known is None:
            facts = self._loads.facts_with_others(stages)
            facts.update((key, self._earlier[key]) for key in earlier)
            known = self._known[stages, earlier] = Facts(facts)
        return known

    def _leave(self) -> None:
        """Another run begins: of what was loaded, only descriptors are kept."""
        for key, fact in self._loads.facts.items():
            if key[0] in _KEPT and (key in self._earlier or len(self._earlier) < _MAX_KEPT):
                self._earlier[key] = fact
        self._loads.leave(self._run)
        self._changed()

    def _changed(self) -> None:
        self._known = {}
        self._left = None

    def _used_of_earlier(self, programs: Facts, registers: SlotRegisters) -> frozenset[FactKey]:
        """The descriptors of earlier runs that a draw with these programs uses."""
        if self._left is None:
            self._left = frozenset(self._earlier.keys() - self._loads.facts.keys())
        if not self._left:
            return _NONE
        named: frozenset[FactKey] = frozenset(
            (kind, "FS", slot) for kind, number, slot in registers.prefetched if number is None
        )
        for (_, stage, *_), program in programs.items():
            if isinstance(program.digest, bytes):
                named |= self._named_by(str(stage), program, registers)
        return named & self._left

    def _named_by(
        self, stage: str, program: InputFact, registers: SlotRegisters
    ) -> frozenset[FactKey]:
        """The descriptors that the instructions of a program name, without those of sets."""
        first = registers.first_slots
        key = stage, program.digest, *first.items()
        known = self._named.get(key)
        if known is None:
            if len(self._named) >= _MAX_KEPT:
                self._named.clear()
            code = program.data
            known = self._named[key] = frozenset(
                (part, owner_of(kind, stage, registers), first.get((stage, kind), 0) + one.index)
                for one in (() if code is None else self._descriptors_of(code))
                if not one.is_bindless and one.index is not None
                for kind in (KIND_OF_OPERAND[one.kind],)
                for part in _KINDS.get(kind, ())
            )
        return known
