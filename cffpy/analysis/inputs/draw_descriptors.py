# SPDX-License-Identifier: MIT
"""DrawDescriptors: the descriptors of a draw, with how it uses each.

A slot is **bound** if it has a descriptor: a packet loaded it, or it lies in a bindless set or in
the table of storage descriptors. The length of a set is not recorded anywhere; so of a set, those
descriptors are listed that the draw uses or may use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.inputs.descriptor_sets import SetSlot
from cffpy.analysis.inputs.uses import SAMPLER, STORAGE, TEXTURE, UNIFORM
from cffpy.capture.gpu import BINDLESS_STRIDE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.analysis.inputs.descriptor_sets import Memory, SetPlace, Sets
    from cffpy.analysis.inputs.facts import FactKey, InputFact
    from cffpy.analysis.inputs.uses import DrawUses, Owner, Use

#: First part of a fact's key -> the kind of slot that it is about.
KIND_OF_FACT = {
    "texture": TEXTURE,
    "sampler": SAMPLER,
    "storage": STORAGE,
    "storage size": STORAGE,
    "uniform buffer": UNIFORM,
    "uniform data": UNIFORM,
}

#: Kind of slot -> what a descriptor in a set is taken for, if no instruction says what it is.
_LOOKS_LIKE = {
    TEXTURE: "texture",
    STORAGE: "texture",
    SAMPLER: "sampler",
    UNIFORM: "uniform buffer",
}

#: Lists of descriptors of sets that are kept; descriptors of a table that are looked at.
_MAX_KEPT, _MAX_TABLE = 256, 128

_BYTES = BINDLESS_STRIDE * 4


class Flags(NamedTuple):
    """What a draw does with a bound slot. ``use``: None where it does not use it.

    ``is_enabled``: None where no register says so.
    """

    is_enabled: bool | None
    use: Use | None

    @property
    def is_used(self) -> bool:
        """Whether a program of the draw uses the slot, or may use it."""
        return self.use is not None

    @property
    def is_sure(self) -> bool:
        """Whether an instruction names the slot."""
        return self.use is not None and self.use.is_sure

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages whose programs use the slot, or may use it."""
        return () if self.use is None else self.use.stages

    @property
    def reads(self) -> bool:
        """Whether the draw may read the memory that the descriptor names."""
        return self.use is not None and self.use.reads

    @property
    def writes(self) -> bool:
        """Whether the draw may write it."""
        return self.use is not None and self.use.writes


#: Key and fact of each.
_Descriptors = list[tuple["FactKey", "InputFact"]]


class DrawDescriptors:
    """The descriptors of draws with the same uses."""

    def __init__(self, uses: DrawUses) -> None:
        self.uses = uses
        self._flags: dict[tuple[str, Owner, int], Flags] = {}
        #: By number of the set and ids of its contents, which ``Sets`` keeps, and of the memory,
        #: which records keep.
        self._of_sets: dict[tuple[int, int, int], _Descriptors] = {}
        self._tables = uses.registers.tables

    def flags(self, key: FactKey) -> Flags | None:
        """What the draw does with what a fact is about; None for what has no slot."""
        kind = KIND_OF_FACT.get(str(key[0]))
        if kind is None:
            return None
        slot = key[-1]
        if isinstance(slot, SetSlot):
            place: tuple[str, Owner, int] = kind, slot.set, slot.slot
        elif isinstance(slot, int) and isinstance(key[1], str):
            place = kind, key[1], slot
        else:
            return None
        known = self._flags.get(place)
        if known is None:
            known = Flags(self.uses.is_enabled(*place), self.uses.of(*place))
            self._flags[place] = known
        return known

    def of_sets(
        self, sets: Sets, places: Mapping[int, SetPlace]
    ) -> Iterator[tuple[FactKey, InputFact]]:
        """Those of bindless sets that are or may be used. ``places``: the sets that are bound."""
        for number, place in places.items():
            kinds = self.uses.kinds_of_set(number)
            if not kinds:
                continue
            contents = sets.read(place)
            key = number, id(contents), id(place[0])
            known = self._of_sets.get(key)
            if known is None:
                if len(self._of_sets) >= _MAX_KEPT:
                    self._of_sets.clear()
                known = list(self._of_set(sets, number, place, kinds))
                self._of_sets[key] = known
            yield from known

    def _of_set(
        self, sets: Sets, number: int, place: SetPlace, kinds: tuple[str, ...]
    ) -> Iterator[tuple[FactKey, InputFact]]:
        parts = sets.read(place)[1]
        data = {slot: fact for (looks, slot), fact in parts if looks == "uniform data"}
        for (looks, slot), fact in parts:
            if looks == "uniform data":
                continue
            for kind in kinds:
                use = self.uses.of(kind, number, slot)
                if use is None or not (use.is_sure or looks == _LOOKS_LIKE[kind]):
                    continue
                described = sets.described(fact, kind)
                yield (kind, SetSlot(number, slot)), described
                if kind == UNIFORM:
                    contents = data.get(slot) or sets.uniform_data(place, described)
                    if contents is not None:
                        yield ("uniform data", SetSlot(number, slot)), contents

    def of_tables(self, sets: Sets, memory: Memory | None) -> Iterator[tuple[FactKey, InputFact]]:
        """Storage descriptors of the tables that SP_IBO and SP_CS_IBO name: those that are used."""
        for owner, (address, count) in self._tables.items():
            slots = {slot for of, slot, _ in self.uses.named(STORAGE) if of == owner}
            if not self.uses.names_all(STORAGE):
                slots.update(range(min(count or 0, _MAX_TABLE)))
            for slot in sorted(slots):
                data = None if memory is None else memory.head(address + slot * _BYTES, _BYTES)
                if data is not None and self.uses.of(STORAGE, owner, slot) is not None:
                    yield (STORAGE, owner, slot), sets.descriptor(data, STORAGE)
