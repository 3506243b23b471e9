# SPDX-License-Identifier: MIT
"""RunLoads: what packets have loaded for the draws of one run: a tile, a binning run.

Drivers load what draws use anew in each run, since all runs execute the same commands. But what was
loaded before a run began is still in force. So a draw also has those descriptors that its programs
name, and that its own run has not loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.descriptors import MAX_PREFETCHES
from cffpy.analysis.diff.draw_facts import Facts
from cffpy.analysis.diff.facts import FactKey, Loads
from cffpy.analysis.registers import Remembered
from cffpy.isa.operands import SAMPLER, TEXTURE

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.actions import Action
    from cffpy.analysis.diff.facts import Contents, Fact
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.model import PassRun
    from cffpy.analysis.registers import RegisterReader
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload
    from cffpy.isa.operands import Descriptor

#: What an instruction names -> the first parts of the keys of facts that are kept.
_KINDS = {TEXTURE: ("texture", "texture address"), SAMPLER: ("sampler",)}
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
        #: Stage, digest of a program and ``_first_slots`` -> the descriptors that it names.
        self._named: dict[tuple[object, ...], frozenset[FactKey]] = {}
        self._prefetched = Remembered(machine, _prefetched)
        self._first_slots = Remembered(machine, _first_slots)

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

    def of(self, action: Action, run: PassRun | None, programs: Facts) -> Facts:
        """The facts of a draw or dispatch of ``run``; the same object until they change.

        A dispatch or a copy may begin a run itself, and what it uses is loaded before.
        """
        if run is not self._run and self._run is not None and action.kind == "draw":
            self._leave()  # as if the run were entered
        self._run = run
        stages = self._loads.stages_of_others(action.shaders)
        earlier = self._used_of_earlier(programs)
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

    def _used_of_earlier(self, programs: Facts) -> frozenset[FactKey]:
        """The descriptors of earlier runs that a draw with these programs uses."""
        if self._left is None:
            self._left = frozenset(self._earlier.keys() - self._loads.facts.keys())
        if not self._left:
            return _NONE
        named = self._prefetched()
        for (_, stage, *_), program in programs.items():
            if isinstance(program.digest, bytes):
                named |= self._named_by(str(stage), program)
        return named & self._left

    def _named_by(self, stage: str, program: Fact) -> frozenset[FactKey]:
        """The descriptors that the instructions of a program name, without those of sets."""
        first = self._first_slots()
        key = stage, program.digest, first
        known = self._named.get(key)
        if known is None:
            if len(self._named) >= _MAX_KEPT:
                self._named.clear()
            offsets = dict(first)
            code = program.data
            known = self._named[key] = frozenset(
                (kind, stage, offsets.get((stage, one.kind), 0) + one.index)
                for one in (() if code is None else self._descriptors_of(code))
                if not one.is_bindless and one.index is not None
                for kind in _KINDS.get(one.kind, ())
            )
        return known


def _first_slots(reader: RegisterReader) -> tuple[tuple[tuple[str, str], int], ...]:
    """The slot that number 0 of a program is, by stage and kind, where it is not 0 (a3xx)."""
    return tuple(
        ((stage, kind), first)
        for stage in ("VS", "FS")
        for kind, field in ((SAMPLER, "SAMPLEROFFSET"), (TEXTURE, "MEMOBJOFFSET"))
        if (first := reader.field(f"TPL1_TP_{stage}_TEX_OFFSET", field))
    )


def _prefetched(reader: RegisterReader) -> frozenset[FactKey]:
    """What is sampled before the fragment program starts, of no bindless set (a6xx and later)."""
    count = reader.field("SP_FS_PREFETCH_CNTL", "COUNT") or 0
    found: set[FactKey] = set()
    for index in range(min(count, MAX_PREFETCHES)):
        command = f"SP_FS_PREFETCH[{index}].CMD"
        if reader.flag(command, "BINDLESS"):
            continue
        for kind, field in (("sampler", "SAMP_ID"), ("texture", "TEX_ID")):
            slot = reader.field(command, field)
            if slot is not None:
                found.add((kind, "FS", slot))
    return frozenset(found)
