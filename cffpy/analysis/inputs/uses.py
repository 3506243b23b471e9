# SPDX-License-Identifier: MIT
"""DrawUses: the slots that the programs of a draw read, sample and write.

A slot is **used** if an instruction of a program that runs names it, or if it is sampled before the
fragment shader starts. Where that is not known, the rule errs to "may be used":

- the index of an operand is in a register: any slot of its kind, of the stage or of the set;
- the number of the set is in a register: any slot of its kind of any set;
- a program was not captured, or its address is not known: any slot of the stage, and any of any
  set;
- the program does not name uniform buffers (up to a5xx, which reads them by address): any of the
  stage.

A slot that only may be used, and that registers do not enable, is not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.inputs.slot_registers import (
    ALL_STAGES,
    SAMPLER,
    STORAGE,
    TEXTURE,
    UNIFORM,
    SlotRegisters,
)
from cffpy.isa import operands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cffpy.isa.operands import Descriptor

#: What an instruction names -> the kind of slot.
KIND_OF_OPERAND = {
    operands.TEXTURE: TEXTURE,
    operands.SAMPLER: SAMPLER,
    operands.IBO: STORAGE,
    operands.UBO: UNIFORM,
}

#: A stage, or the number of a bindless set. All stages of draws share storage that is not bindless:
#: packets load it for "VS"; textures of a2xx: ``ALL_STAGES``.
Owner = str | int

#: Results for slots that are kept.
_MAX_KNOWN = 1 << 12

#: What the programs of a draw name: stage, and descriptors; None: the program was not captured.
Programs = tuple[tuple[str, frozenset["Descriptor"] | None], ...]


class Use(NamedTuple):
    """How a draw uses a slot. ``stages``: those whose programs do.

    ``reads``, ``writes``: the memory that the descriptor names. ``is_sure``: False where the slot
    only may be used, see the head of this file.
    """

    stages: tuple[str, ...]
    reads: bool
    writes: bool
    is_sure: bool


class _Uses:
    """Stages that use something, and how."""

    __slots__ = ("reads", "stages", "writes")

    def __init__(self) -> None:
        self.stages: dict[str, None] = {}
        self.reads = self.writes = False

    def add(self, stage: str, reads: bool, writes: bool) -> None:
        self.stages[stage] = None
        self.reads |= reads
        self.writes |= writes


def owner_of(kind: str, stage: str, registers: SlotRegisters) -> str:
    """The stage for which packets load what a program of ``stage`` names."""
    if kind in registers.shared:
        return ALL_STAGES
    return "VS" if kind == STORAGE and stage != "CS" else stage


class DrawUses:
    """What the programs of one draw use. Draws with equal programs and registers share one."""

    def __init__(self, programs: Programs, registers: SlotRegisters, names_uniform: bool) -> None:
        """``names_uniform``: instructions name uniform buffers."""
        self.registers = registers
        known = [stage for stage, _ in programs]
        missing = tuple([(stage, None) for stage in registers.stages if stage not in known])
        programs = (*programs, *missing)
        #: The stages that run.
        self.stages = tuple([stage for stage, _ in programs])
        self._slots: dict[tuple[str, Owner], dict[int, _Uses]] = {}
        #: Kind and owner of what an index in a register chooses from.
        self._any: dict[tuple[str, Owner], _Uses] = {}
        #: Kinds of which the number of the set is in a register.
        self._any_set: dict[str, _Uses] = {}
        self._unknown = tuple([stage for stage, named in programs if named is None])
        self._names_uniform = names_uniform
        self._known: dict[tuple[str, Owner, int], Use | None] = {}
        self._kinds: dict[int, tuple[str, ...]] = {}
        self._named_slots: dict[str, tuple[tuple[Owner, int, Use], ...]] = {}
        for stage, named in programs:
            for one in named or ():
                self._add(stage, one)
        if "FS" in self.stages:
            for kind, number, slot in registers.prefetched:
                self._named(kind, "FS" if number is None else number, slot).add("FS", True, False)

    def _add(self, stage: str, one: Descriptor) -> None:
        kind = KIND_OF_OPERAND[one.kind]
        owner: Owner | None = one.base if one.is_bindless else self._owner(kind, stage)
        if owner is None:
            uses = self._any_set.setdefault(kind, _Uses())
        elif one.index is None:
            uses = self._any.setdefault((kind, owner), _Uses())
        else:
            first = 0 if one.is_bindless else self.registers.first_slots.get((stage, kind), 0)
            uses = self._named(kind, owner, first + one.index)
        uses.add(stage, one.reads, one.writes)

    def _owner(self, kind: str, stage: str) -> str:
        return owner_of(kind, stage, self.registers)

    def _named(self, kind: str, owner: Owner, slot: int) -> _Uses:
        return self._slots.setdefault((kind, owner), {}).setdefault(slot, _Uses())

    def of(self, kind: str, owner: Owner, slot: int) -> Use | None:
        """How a slot is used; None where it is not."""
        key = kind, owner, slot
        if key not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._find(kind, owner, slot)
        return self._known[key]

    def _find(self, kind: str, owner: Owner, slot: int) -> Use | None:
        named = self._slots.get((kind, owner), {}).get(slot)
        if named is None and self.is_enabled(kind, owner, slot) is False:
            return None
        others = [self._any.get((kind, owner))]
        if isinstance(owner, int):
            others.append(self._any_set.get(kind))
        unknown = self._unknown_of(kind, owner)
        found = [one for one in (named, *others) if one is not None]
        stages = dict.fromkeys([stage for one in found for stage in one.stages])
        stages.update(dict.fromkeys(unknown))
        if not stages:
            return None
        is_unknown = bool(unknown)
        reads = is_unknown or any(one.reads for one in found)
        writes = any(one.writes for one in found) or (is_unknown and kind == STORAGE)
        return Use(tuple(stages), reads, writes, named is not None)

    def _unknown_of(self, kind: str, owner: Owner) -> tuple[str, ...]:
        """The stages that run and of which it is not known what they use of an owner's slots."""
        if isinstance(owner, int):
            return self._unknown
        stages = self._unknown
        if kind == UNIFORM and not self._names_uniform:
            stages = self.stages
        return tuple([stage for stage in stages if self._owner(kind, stage) == owner])

    def is_enabled(self, kind: str, owner: Owner, slot: int) -> bool | None:
        """Whether registers enable a slot for a stage that runs; None where none says so."""
        answers = [self._enables(stage, kind, owner, slot) for stage in self.stages]
        if True in answers:
            return True
        return None if None in answers else False

    def _enables(self, stage: str, kind: str, owner: Owner, slot: int) -> bool | None:
        if isinstance(owner, int):
            return self.registers.has_sets(stage, kind)
        if self._owner(kind, stage) != owner:
            return False
        return self.registers.has_slot(stage, kind, slot)

    def named(self, kind: str) -> tuple[tuple[Owner, int, Use], ...]:
        """The slots of a kind that instructions name, and how they use them.

        Those of stages by name, then those of sets by number: instructions are in sets, whose order
        differs from run to run.
        """
        if kind not in self._named_slots:
            named = [
                (owner, slot, use)
                for (found, owner), slots in self._slots.items()
                if found == kind
                for slot in slots
                if (use := self.of(kind, owner, slot)) is not None
            ]
            named.sort(key=lambda one: (isinstance(one[0], int), one[:2]))
            self._named_slots[kind] = tuple(named)
        return self._named_slots[kind]

    def names_all(self, kind: str) -> bool:
        """Whether ``named`` has all that may be used: no index in a register, all captured."""
        has_any = kind in self._any_set or any(found == kind for found, _ in self._any)
        return not self._unknown and not has_any

    def kinds_of_set(self, number: int) -> tuple[str, ...]:
        """The kinds of descriptors that are or may be used of a bindless set."""
        known = self._kinds.get(number)
        if known is None:
            known = self._kinds[number] = tuple(self._kinds_of_set(number))
        return known

    def _kinds_of_set(self, number: int) -> Iterator[str]:
        for kind in (TEXTURE, SAMPLER, STORAGE, UNIFORM):
            key = kind, number
            if self._unknown or key in self._slots or key in self._any or kind in self._any_set:
                yield kind


#: Set -> its slots that are used; None: any.
Slots = dict[int, set[int] | None]

#: Set and slot of each descriptor that is used before a fragment shader starts.
Prefetches = tuple[tuple[int, int], ...]


def slots_of(descriptors: Iterable[Descriptor]) -> Slots | None:
    """The slots of bindless sets among ``descriptors``; None where a set's number is unknown."""
    found: Slots = {}
    for one in descriptors:
        if not one.is_bindless:
            continue
        if one.base is None:
            return None
        _add(found, one.base, None if one.index is None else [one.index])
    return found


def _add(found: Slots, number: int, indices: list[int] | None) -> None:
    known = found.setdefault(number, set())
    if indices is None or known is None:
        found[number] = None
    else:
        known.update(indices)


def add_slots(found: Slots, more: Slots) -> None:
    """Add to ``found``."""
    for number, used in more.items():
        _add(found, number, None if used is None else list(used))


class UsedDescriptors:
    """What the draws of a capture use, by their programs."""

    def __init__(self, descriptors: Mapping[bytes, frozenset[Descriptor]]) -> None:
        """``descriptors``: what instructions of programs name, by digest."""
        self._descriptors = descriptors
        self._by_shader: dict[object, Slots | None] = {}
        self._by_uses: dict[object, Slots | None] = {}
        self._draws: dict[object, DrawUses] = {}

    def of_draw(
        self,
        stages: tuple[str, ...],
        shaders: tuple[object, ...],
        registers: SlotRegisters,
        names_uniform: bool,
    ) -> DrawUses:
        """The uses of a draw; the same object each time. ``shaders``: digests by ``stages``.

        ``names_uniform``: see DrawUses.
        """
        key = stages, shaders, registers
        known = self._draws.get(key)
        if known is None:
            named = [self._named_by(one) for one in shaders]
            programs = tuple(zip(stages, named, strict=True))
            known = self._draws[key] = DrawUses(programs, registers, names_uniform)
        return known

    def _named_by(self, shader: object) -> frozenset[Descriptor] | None:
        return self._descriptors.get(shader) if isinstance(shader, bytes) else None

    def of(self, shaders: tuple[object, ...], prefetches: Prefetches) -> Slots | None:
        """The slots of sets that a draw with these shaders uses; None: any of them may be used.

        ``shaders``: their digests.
        """
        key = shaders, prefetches
        if key not in self._by_uses:
            self._by_uses[key] = self._find(shaders, prefetches)
        return self._by_uses[key]

    def _find(self, shaders: tuple[object, ...], prefetches: Prefetches) -> Slots | None:
        whole: Slots = {}
        for shader in shaders:
            slots = self._of_shader(shader)
            if slots is None:
                return None
            add_slots(whole, slots)
        for number, slot in prefetches:
            _add(whole, number, [slot])
        return whole

    def _of_shader(self, shader: object) -> Slots | None:
        if shader not in self._by_shader:
            named = self._named_by(shader)
            self._by_shader[shader] = None if named is None else slots_of(named)
        return self._by_shader[shader]
