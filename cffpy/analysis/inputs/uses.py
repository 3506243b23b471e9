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

``SlotRegisters`` is what registers say: counts, flags, prefetches, tables. A slot is **enabled** if
the count registers of its stage include it; a bindless set, if the flag of the stage is set.
Sources: SP_xS_CONFIG (a6xx and later), TPL1_xS_TEX_COUNT and HLSQ_xS_CNTL (a5xx),
TPL1_TP_TEX_COUNT, TPL1_TP_FS_TEX_COUNT and HLSQ_xS_CONTROL_REG (a4xx). a2xx and a3xx have no
counts, nor have samplers up to a5xx. The slots of textures of a2xx are fetch constants, which all
stages share.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.capture.gpu import STAGES
from cffpy.isa import operands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.gpu import Generation
    from cffpy.isa.operands import Descriptor

#: Kinds of what programs name by a slot.
TEXTURE, SAMPLER, STORAGE, UNIFORM = "texture", "sampler", "storage", "uniform buffer"

#: The most descriptors that are used before a fragment shader starts (a6xx and later).
_MAX_PREFETCHES = 8

#: In place of a stage: of slots that all stages share.
ALL_STAGES = "all"

#: SP_xS_CONFIG: kind -> the field with the count, the field with the flag of bindless sets.
_CONFIG = {
    TEXTURE: ("NTEX", "BINDLESS_TEX"),
    SAMPLER: ("NSAMP", "BINDLESS_SAMP"),
    STORAGE: ("NIBO", "BINDLESS_IBO"),
    UNIFORM: ("", "BINDLESS_UBO"),
}

#: Table of storage descriptors and its length in descriptors, of draws and of dispatches.
_STORAGE_TABLES = {
    "VS": ("SP_IBO", "SP_IBO_COUNT"),
    "CS": ("SP_CS_IBO", "SP_CS_IBO_COUNT"),
}

#: Low bits of the address of a table that do not count.
_TABLE_FLAGS = 0xF


class Prefetch(NamedTuple):
    """A texture or sampler that is used before the fragment shader starts (a6xx and later).

    ``set``: None for one that is not bindless.
    """

    kind: str
    set: int | None
    slot: int


#: Stage and kind -> a number.
_Numbers = dict[tuple[str, str], int]


class SlotRegisters:
    """The values of the registers at a draw or dispatch. Do not change it.

    Equal ones of a capture are mostly the same object.
    """

    __slots__ = (
        "_counts",
        "_flags",
        "_hash",
        "_values",
        "first_slots",
        "prefetched",
        "prefetched_of_sets",
        "shared",
        "stages",
        "tables",
    )

    def __init__(
        self,
        stages: tuple[str, ...] = (),
        prefetched: tuple[Prefetch, ...] = (),
        counts: _Numbers | None = None,
        flags: _Numbers | None = None,
        first_slots: _Numbers | None = None,
        tables: dict[str, tuple[int, int | None]] | None = None,
        shared: frozenset[str] = frozenset(),
    ) -> None:
        #: The stages that run, as far as registers say so.
        self.stages = stages
        self.prefetched = prefetched
        #: Set and slot of each prefetch that is bindless.
        self.prefetched_of_sets = tuple(
            [(one.set, one.slot) for one in prefetched if one.set is not None]
        )
        self._counts = counts or {}
        self._flags = flags or {}
        #: Stage and kind -> the slot that number 0 of a program is, where it is not 0 (a3xx).
        self.first_slots = first_slots or {}
        #: "VS" (all stages of draws) or "CS" -> address and length of the table with descriptors of
        #: storage that is not bindless (a6xx and later). The length is None where it is unknown.
        self.tables = tables or {}
        #: Kinds whose slots all stages share (a2xx).
        self.shared = shared
        self._values = (
            stages,
            prefetched,
            *(tuple(one.items()) for one in (self._counts, self._flags, self.first_slots)),
            tuple(self.tables.items()),
            shared,
        )
        self._hash = hash(self._values)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, SlotRegisters) and self._values == other._values)

    def __hash__(self) -> int:
        return self._hash

    def has_slot(self, stage: str, kind: str, slot: int) -> bool | None:
        """Whether a slot of a stage is enabled; None where no register says so."""
        count = self._counts.get((stage, kind))
        return None if count is None else slot < count

    def has_sets(self, stage: str, kind: str) -> bool | None:
        """Whether a stage may use descriptors of bindless sets; None where no register says so."""
        flag = self._flags.get((stage, kind))
        return None if flag is None else bool(flag)


NO_SLOT_REGISTERS = SlotRegisters()
"""Where nothing is known of them."""


def slot_registers(
    generation: Generation, is_compute: bool
) -> Callable[[RegisterReader], SlotRegisters]:
    """A function that reads the registers of draws or of dispatches of a generation."""
    read = {"a2xx": _a2xx, "a3xx": _a3xx, "a4xx": _a4xx, "a5xx": _a5xx, "a6xx": _a6xx}
    return partial(
        read.get(generation.slot_registers, _none), ("CS",) if is_compute else STAGES[:-1]
    )


def _none(_stages: tuple[str, ...], _reader: RegisterReader) -> SlotRegisters:
    return NO_SLOT_REGISTERS


def _a2xx(_stages: tuple[str, ...], _reader: RegisterReader) -> SlotRegisters:
    return SlotRegisters(shared=frozenset((TEXTURE,)))


def _a3xx(stages: tuple[str, ...], reader: RegisterReader) -> SlotRegisters:
    first: _Numbers = {}
    for stage in stages:
        for kind, field in ((SAMPLER, "SAMPLEROFFSET"), (TEXTURE, "MEMOBJOFFSET")):
            slot = reader.field(f"TPL1_TP_{stage}_TEX_OFFSET", field)
            if slot:
                first[stage, kind] = slot
    return SlotRegisters(_always_run(stages), first_slots=first)


def _always_run(stages: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the stages that no register enables (a3xx, a4xx)."""
    return tuple([stage for stage in stages if stage in ("VS", "FS", "CS")])


def _a4xx(stages: tuple[str, ...], reader: RegisterReader) -> SlotRegisters:
    counts: _Numbers = {}
    running = _always_run(stages)
    for stage in stages:
        name = "TPL1_TP_FS_TEX_COUNT" if stage in ("FS", "CS") else "TPL1_TP_TEX_COUNT"
        _put(counts, stage, TEXTURE, reader.field(name, stage))
        control = f"HLSQ_{stage}_CONTROL_REG"
        if reader.field(control, "SSBO_ENABLE") == 0:
            counts[stage, STORAGE] = 0
        if stage not in running and reader.flag(control, "ENABLED"):
            running = (*running, stage)
    return SlotRegisters(running, counts=counts)


def _a5xx(stages: tuple[str, ...], reader: RegisterReader) -> SlotRegisters:
    counts: _Numbers = {}
    for stage in stages:
        _put(counts, stage, TEXTURE, reader.field(f"TPL1_{stage}_TEX_COUNT"))
        if reader.field(f"HLSQ_{stage}_CNTL", "SSBO_ENABLE") == 0:
            counts[stage, STORAGE] = 0
    return SlotRegisters(_configured(stages, reader), counts=counts)


def _configured(stages: tuple[str, ...], reader: RegisterReader) -> tuple[str, ...]:
    """The stages that SP_xS_CONFIG enables."""
    return tuple([stage for stage in stages if reader.flag(f"SP_{stage}_CONFIG", "ENABLED")])


def _a6xx(stages: tuple[str, ...], reader: RegisterReader) -> SlotRegisters:
    counts: _Numbers = {}
    flags: _Numbers = {}
    running = _configured(stages, reader)
    for stage in running:
        config = f"SP_{stage}_CONFIG"
        for kind, (count, flag) in _CONFIG.items():
            if count:
                _put(counts, stage, kind, reader.field(config, count))
            _put(flags, stage, kind, reader.field(config, flag))
    tables = {}
    for stage in ("CS",) if stages == ("CS",) else ("VS",):
        name, length = _STORAGE_TABLES[stage]
        address = (reader.address(name) or 0) & ~_TABLE_FLAGS
        if address:
            tables[stage] = address, reader.field(length)
    prefetched = () if stages == ("CS",) else _prefetched(reader)
    return SlotRegisters(running, prefetched, counts, flags, tables=tables)


def _put(numbers: _Numbers, stage: str, kind: str, value: int | None) -> None:
    if value is not None:
        numbers[stage, kind] = value


def _prefetched(reader: RegisterReader) -> tuple[Prefetch, ...]:
    count = reader.field("SP_FS_PREFETCH_CNTL", "COUNT") or 0
    found = []
    for index in range(min(count, _MAX_PREFETCHES)):
        command, slots = f"SP_FS_PREFETCH[{index}].CMD", f"SP_FS_BINDLESS_PREFETCH[{index}].CMD"
        is_bindless = reader.flag(command, "BINDLESS")
        for kind, field in ((TEXTURE, "TEX_ID"), (SAMPLER, "SAMP_ID")):
            number = reader.field(command, field)
            slot = reader.field(slots, field) if is_bindless else number
            if number is not None and slot is not None:
                found.append(Prefetch(kind, number if is_bindless else None, slot))
    return tuple(found)


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
