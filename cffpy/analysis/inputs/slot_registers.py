# SPDX-License-Identifier: MIT
"""SlotRegisters: what registers say about the slots of a draw: counts, flags, prefetches, tables.

A slot is **enabled** if the count registers of its stage include it; a bindless set, if the flag of
the stage is set. Sources: SP_xS_CONFIG (a6xx and later), TPL1_xS_TEX_COUNT and HLSQ_xS_CNTL (a5xx),
TPL1_TP_TEX_COUNT, TPL1_TP_FS_TEX_COUNT and HLSQ_xS_CONTROL_REG (a4xx). a2xx and a3xx have no
counts, nor have samplers up to a5xx. The slots of textures of a2xx are fetch constants, which all
stages share.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.capture.gpu import STAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.gpu import Generation

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
