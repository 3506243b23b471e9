# SPDX-License-Identifier: MIT
"""FragmentPrograms: what the fragment programs of draws do, by their instructions.

The names of instructions are those of the ir3 descriptions. A program that was not captured, or of
a2xx, has no facts.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer

if TYPE_CHECKING:
    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action

#: Bytes in which programs are looked for, each up to the end of its buffer, at most; and those of
#: one program.
_MAX_LOOKED = 256 << 20
_MAX_PROGRAM = 1 << 20

#: Names of instructions up to the first full stop, and of those that sample the beginning.
_WRITES = ("stg", "stgb", "stib")
_FETCHES = ("getlod", "ldg", "ldib")
_SAMPLES = ("gather", "isam", "sam")
_INPUTS = ("bary.f", "flat.b", "ldlv")
#: Atomics on global memory, storage buffers and images; others are on local memory.
_MEMORY_ATOMICS = ("atomic.b.", "atomic.g.", "atomic.s.")


class ProgramFacts(NamedTuple):
    """What a program's instructions do."""

    kills: bool
    writes_memory: bool
    #: Reads textures or global memory.
    fetches: bool
    #: Reads varyings.
    has_inputs: bool


class FragmentPrograms(Observer):
    """Takes the facts of the fragment program of each draw that is observed."""

    def __init__(self, walk: Walk, register_db: str | None = None) -> None:
        """``register_db``: the directory of another edition, whose instructions are used."""
        self._walk = walk
        self._disassemblers = walk.disassemblers(register_db)
        #: Of the buffers that the machine has now: address -> facts.
        self._known: dict[int, ProgramFacts | None] = {}
        self._drops = -1
        self._looked = 0
        #: Address in a submit -> facts, of all submits.
        self._found: dict[tuple[int, int], ProgramFacts | None] = {}

    def action(self, action: Action) -> None:
        """Read the program of a draw that may be executed."""
        if action.kind != "draw" or not action.execution.is_possible:
            return
        address = _fragment_address(action)
        if address is None:
            return
        image = self._walk.machine.image
        if image.drops != self._drops:
            self._drops = image.drops
            self._known.clear()
        if address not in self._known:
            self._known[address] = self._read(address)
            self._found[action.place.submit.submit, address] = self._known[address]

    def of(self, action: Action) -> ProgramFacts | None:
        """The facts of a draw's fragment program; None where they are not known."""
        address = _fragment_address(action)
        return None if address is None else self._found.get((action.place.submit.submit, address))

    def _read(self, address: int) -> ProgramFacts | None:
        place = self._walk.machine.image.place(address)
        if (
            place is None
            or self._walk.machine.gpu.facts.instruction_set != "ir3"
            or self._looked > _MAX_LOOKED
        ):
            return None
        words, index = place
        data = words.bytes(index, min(words.count - index, _MAX_PROGRAM // 4))
        self._looked += len(data)
        disassembler = self._disassemblers.ir3(self._walk.generation)
        count = disassembler.listing(data, 0).instructions
        if not count:
            return None
        return _facts({disassembler.operands(word).name for word in _distinct(data, count)})


def _distinct(data: bytes, count: int) -> set[int]:
    """The words of the program's ``count`` instructions."""
    return {word for (word,) in struct.iter_unpack("<Q", data[: 8 * count])}


def _facts(names: set[str]) -> ProgramFacts:
    """``names``: of all instructions of a program."""
    families = {name.partition(".")[0] for name in names}
    return ProgramFacts(
        kills="kill" in families,
        writes_memory=not families.isdisjoint(_WRITES)
        or any(name.startswith(_MEMORY_ATOMICS) for name in names),
        fetches=not families.isdisjoint(_FETCHES)
        or any(name.startswith(_SAMPLES) for name in families),
        has_inputs=not names.isdisjoint(_INPUTS),
    )


def _fragment_address(action: Action) -> int | None:
    return next((address for stage, address in action.programs if stage == "FS"), None)
