# SPDX-License-Identifier: MIT
"""GpuStores: what draws, dispatches and blits may store over values that packets left in memory.

Programs that store are found by their instructions, when a value is asked for. Blits store to the
buffer that their registers name. Render targets are taken to lie elsewhere than such values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cffpy.analysis.bound_programs import Programs
    from cffpy.analysis.known_memory import KnownMemory
    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import ActionKind
    from cffpy.pm4.descriptions import Disassemblers

#: Instructions of a3xx and later that store to memory that others see.
_STORES = re.compile(r"\b(stg|stib|stgb|atomic)\b")

#: Bytes of a program that are looked at.
_MAX_PROGRAM = 1 << 20

#: Where a blit stores; names of all generations.
_BLIT_DESTINATIONS = ("RB_2D_DST", "RB_COPY_DEST_BASE")
_RESOLVE_DESTINATIONS = ("RB_BLIT_DST",)


class GpuStores:
    """Follows the actions of a submit, for one GPU."""

    def __init__(
        self,
        machine: Machine,
        registers: RegisterReader,
        memory: KnownMemory,
        disassemblers: Disassemblers,
    ) -> None:
        self._machine = machine
        self._registers = registers
        self._memory = memory
        self._disassemblers = disassemblers
        #: The lists of programs that have run while values were known -> order of the last action.
        self._ran: dict[Programs, int] = {}
        #: Where a program lies -> whether it stores.
        self._storing: dict[tuple[Words, int], bool] = {}

    def new_submit(self) -> None:
        """The buffers are others."""
        self._ran.clear()
        self._storing.clear()

    def action(self, kind: ActionKind, programs: Programs, order: int) -> None:
        """An action that may be executed."""
        if kind in ("draw", "dispatch"):
            self._ran[programs] = order
            return
        names = _BLIT_DESTINATIONS if kind == "blit" else _RESOLVE_DESTINATIONS
        name = self._registers.first(*names, *(f"{name}_LO" for name in names))
        address = None if name is None else self._registers.address(name.removesuffix("_LO"))
        if address:
            self._memory.forget_from(address)

    def since(self, order: int) -> bool:
        """Whether programs of this action or a later one may have stored anything."""
        return any(
            last >= order and any(self._stores(address) for _, address in programs)
            for programs, last in self._ran.items()
        )

    def _stores(self, address: int) -> bool:
        place = self._machine.image.place(address)
        if place is None:
            return True  # it was not captured
        known = self._storing.get(place)
        if known is None:
            known = self._storing[place] = self._read(*place)
        return known

    def _read(self, words: Words, index: int) -> bool:
        facts = self._machine.gpu.facts
        if facts.instruction_set == "a2xx":
            return False
        data = words.bytes(index, min(words.count - index, _MAX_PROGRAM // 4))
        listing = self._disassemblers.ir3(facts.number).listing(data, 0)
        return not listing.instructions or _STORES.search(listing.text) is not None
