# SPDX-License-Identifier: MIT
"""RunLoads: what packets have loaded for the draws of one run: a tile, a binning run.

Drivers load what draws use anew in each run, since all runs execute the same commands. But what was
loaded before a run began is still in force. So a draw also has those descriptors that its programs
name, and that its own run has not loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.draw_facts import Facts
from cffpy.analysis.diff.facts import FactKey, Loads
from cffpy.analysis.inputs.slot_registers import SAMPLER, STORAGE, TEXTURE
from cffpy.analysis.inputs.uses import KIND_OF_OPERAND, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.diff.facts import Contents, Fact
    from cffpy.analysis.inputs.slot_registers import SlotRegisters
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action
    from cffpy.frame.passes import PassRun
    from cffpy.frame.place import PacketLocation
    from cffpy.isa.operands import Descriptor

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
        self._earlier: dict[FactKey, Fact] = {}
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

    def load_state(self, payload: Payload, packet: PacketLocation) -> None:
        """CP_LOAD_STATE and its kin, in this run."""
        self._loads.load_state(payload, packet)
        self._changed()

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
        if run is not self._run and self._run is not None and action.kind == "draw":
            self._leave()  # as if the run were entered
        self._run = run
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
        self._loads.forget()
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

    def _named_by(self, stage: str, program: Fact, registers: SlotRegisters) -> frozenset[FactKey]:
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
