# SPDX-License-Identifier: MIT
"""What programs do, by their instructions; FragmentPrograms: that of each draw's fragment program.

The names of instructions are those of the ir3 descriptions. A program that was not captured, or of
a2xx, has no facts.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.isa.operands import CONSTANT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action
    from cffpy.isa.operands import Operands

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


#: Instructions that change nothing.
_IDLE = ("nop", "end")


class ProgramFacts(NamedTuple):
    """What a program's instructions do."""

    kills: bool
    writes_memory: bool
    #: Reads textures or global memory.
    fetches: bool
    #: Reads varyings.
    has_inputs: bool
    reads_constants: bool = False
    #: It changes nothing: what it is given is what it passes on.
    is_idle: bool = False


class CapturedPrograms:
    """Reads programs at addresses while a walk runs."""

    def __init__(self, walk: Walk, register_db: str | None = None) -> None:
        """``register_db``: the directory of another edition, whose instructions are used."""
        self._walk = walk
        self._disassemblers = walk.disassemblers(register_db)
        #: Of the buffers that the machine has now: address -> facts.
        self._known: dict[int, ProgramFacts | None] = {}
        self._drops = -1
        self._looked = 0

    def at(self, address: int) -> ProgramFacts | None:
        """The facts of the program at an address now; None where they are not known."""
        image = self._walk.machine.image
        if image.drops != self._drops:
            self._drops = image.drops
            self._known.clear()
        if address not in self._known:
            self._known[address] = self._read(address)
        return self._known[address]

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
        return _facts([disassembler.operands(word) for word in _distinct(data, count)])


class FragmentPrograms(Observer):
    """Takes the facts of the fragment program of each draw that is observed."""

    def __init__(self, walk: Walk, register_db: str | None = None) -> None:
        """``register_db``: the directory of another edition, whose instructions are used."""
        self._programs = CapturedPrograms(walk, register_db)
        #: Address in a submit -> facts when it was first seen.
        self._facts: dict[tuple[int, int], ProgramFacts | None] = {}

    def action(self, action: Action) -> None:
        """Read the program of a draw that may be executed."""
        if action.kind != "draw" or not action.execution.is_possible:
            return
        address = _fragment_address(action)
        if address is not None:
            self._facts[action.place.submit, address] = self._programs.at(address)

    def of(self, action: Action) -> ProgramFacts | None:
        """The facts of a draw's fragment program; None where they are not known."""
        address = _fragment_address(action)
        return None if address is None else self._facts.get((action.place.submit, address))


def _distinct(data: bytes, count: int) -> set[int]:
    """The words of the program's ``count`` instructions."""
    return {word for (word,) in struct.iter_unpack("<Q", data[: 8 * count])}


def _facts(instructions: Sequence[Operands]) -> ProgramFacts:
    """``instructions``: the distinct ones of a program."""
    names = {instruction.name for instruction in instructions}
    families = {name.partition(".")[0] for name in names}
    return ProgramFacts(
        kills="kill" in families,
        writes_memory=not families.isdisjoint(_WRITES)
        or any(name.startswith(_MEMORY_ATOMICS) for name in names),
        fetches=not families.isdisjoint(_FETCHES)
        or any(name.startswith(_SAMPLES) for name in families),
        has_inputs=not names.isdisjoint(_INPUTS),
        reads_constants=any(
            read.file == CONSTANT for instruction in instructions for read in instruction.reads
        ),
        is_idle=names.issubset(_IDLE),
    )


def _fragment_address(action: Action) -> int | None:
    return next((address for stage, address in action.programs if stage == "FS"), None)
