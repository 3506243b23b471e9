# SPDX-License-Identifier: MIT
"""FragmentPrograms: what the fragment programs of draws do, by their instructions.

The names of instructions are those of the ir3 descriptions. A program that was not captured, or of
a2xx, has no facts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.isa.edition import Disassemblers

if TYPE_CHECKING:
    from cffpy.analysis.actions import Action
    from cffpy.analysis.walk import Walk

#: Bytes in which programs are looked for, each up to the end of its buffer, at most; and those of
#: one program.
_MAX_LOOKED = 256 << 20
_MAX_PROGRAM = 1 << 20

#: Instructions in a line of a listing: behind the number in brackets and flags like (sy).
_KILL = re.compile(r"[\s)](?:kill|demote)\b")
_WRITES = re.compile(r"[\s)](?:stg|stgb|stib|atomic\.[sgb])\b")
_SAMPLES = re.compile(r"[\s)](?:sam\w*|isam\w*|gather\w*|getlod|ldib|ldg)\b")
_INPUTS = re.compile(r"[\s)](?:bary\.f|flat\.b|ldlv)\b")


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
        self._disassemblers = Disassemblers(register_db)
        #: Of the buffers that the machine has now: address -> facts.
        self._known: dict[int, ProgramFacts | None] = {}
        self._drops = -1
        self._looked = 0
        #: Address in a submit -> facts, of all submits.
        self._found: dict[tuple[int, int], ProgramFacts | None] = {}

    def action(self, action: Action) -> None:
        """Read the program of a draw that may be executed."""
        if action.kind != "draw" or not action.executed.is_possible:
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
        listing = self._disassemblers.ir3(self._walk.generation).listing(data, 0)
        if not listing.instructions:
            return None
        patterns = (_KILL, _WRITES, _SAMPLES, _INPUTS)
        return ProgramFacts(*(pattern.search(listing.text) is not None for pattern in patterns))


def _fragment_address(action: Action) -> int | None:
    return next((address for stage, address in action.shaders if stage == "FS"), None)
