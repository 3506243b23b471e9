# SPDX-License-Identifier: MIT
"""The ``Stats:`` block after an ir3 listing (Mesa: print_stats in disasm-a3xx.c)."""

from __future__ import annotations

from cffpy.isa.events import ALIAS, CLEAR, Aliases, follow_registers
from cffpy.isa.listed_instruction import (
    CONVERSIONS,
    COUNT_BITS,
    MOVES,
    NOPS,
    SS_COUNT,
    STALL_SS,
    STALL_START,
    SY_COUNT,
)
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.isa.events import Maxima, RegisterState
    from cffpy.isa.listed_instruction import ListedInstruction

_SFU_CYCLES = 10
"""Cycles that a later (ss) waits for an instruction of category 4."""
_DWORD = 0xFFFFFFFF
_TEXTURE_CATEGORY = 5


def _stalls(stalls: Iterable[int]) -> int:
    total = countdown = 0
    for stall in stalls:
        if stall & STALL_SS:
            total += countdown
            countdown = 0
            stall -= STALL_SS
        if stall == STALL_START:
            countdown = _SFU_CYCLES
        elif countdown:
            countdown = countdown - stall if countdown > stall else 0
    return total


def _registers(instructions: Sequence[ListedInstruction], counts_aliases: bool) -> Maxima:
    distinct = {id(instruction): instruction for instruction in instructions}.values()
    if not counts_aliases and any(instruction.name == ALIAS for instruction in distinct):
        return _registers_without_aliases(instructions)
    if all(instruction.after == CLEAR for instruction in distinct):
        maxima = [instruction.maxima for instruction in distinct]
        return (
            max((m[0] for m in maxima), default=0),
            max((m[1] for m in maxima), default=0),
            max((m[2] for m in maxima), default=0),
        )
    half = full = const = 0
    state: RegisterState = CLEAR
    for instruction in instructions:
        found, after = instruction.maxima, instruction.after
        if state != CLEAR:
            found, after = follow_registers(instruction.events, state)
        state = after
        half, full, const = max(half, found[0]), max(full, found[1]), max(const, found[2])
    return half, full, const


def _registers_without_aliases(instructions: Sequence[ListedInstruction]) -> Maxima:
    half = full = const = 0
    state: RegisterState = CLEAR
    aliases = Aliases()
    for instruction in instructions:
        aliases.begin(instruction.events)
        found, state = follow_registers(instruction.events, state, aliases)
        if instruction.category == _TEXTURE_CATEGORY:
            aliases.clear()
        half, full, const = max(half, found[0]), max(full, found[1]), max(const, found[2])
    return half, full, const


class Statistics(ValueObject):
    """The numbers of the block, under the reference's names."""

    __slots__ = (
        "categories",
        "constlen",
        "cov",
        "full",
        "half",
        "instr",
        "last_baryf",
        "mov",
        "nops",
        "ss",
        "sstall",
        "sy",
    )

    def __init__(
        self,
        instructions: Sequence[ListedInstruction],
        cycles: int,
        last_bary: int,
        merges_registers: bool,
        counts_aliases: bool,
    ) -> None:
        """Of the listed instructions; ``cycles`` are all their repeats and nops.

        ``merges_registers``: half registers are halves of full ones (Generation).
        ``counts_aliases``: as an edition's record has it.
        """
        counts = sum(instruction.counts for instruction in instructions)
        mask = (1 << COUNT_BITS) - 1

        def count(position: int) -> int:
            return counts >> COUNT_BITS * position & mask & _DWORD

        half, full, const = _registers(instructions, counts_aliases)
        if merges_registers:
            full = max(full, (half + 1) // 2)
            half = 0
        self.instr = len(instructions) + cycles
        self.nops = count(NOPS)
        self.mov = count(MOVES)
        self.cov = count(CONVERSIONS)
        self.last_baryf = last_bary
        self.half = (half + 3) // 4
        self.full = (full + 3) // 4
        self.constlen = (const + 3) // 4
        #: Instructions of each of the eight categories.
        self.categories = tuple([count(number) for number in range(8)])
        self.sstall = _stalls([instruction.stall for instruction in instructions])
        self.ss = count(SS_COUNT)
        self.sy = count(SY_COUNT)

    @property
    def non_nops(self) -> int:
        """Instructions without nops, as an unsigned 32-bit difference like cffdump's."""
        return self.instr - self.nops & _DWORD

    def text(self, tabs: str) -> str:
        """The five lines of the block."""
        categories = ", ".join(
            [f"{amount} cat{number}" for number, amount in enumerate(self.categories)]
        )
        return (
            f"{tabs}Stats:\n"
            f"{tabs}- shaderdb: {self.instr} instr, {self.nops} nops, {self.non_nops} non-nops, "
            f"{self.mov} mov, {self.cov} cov\n"
            f"{tabs}- shaderdb: {self.last_baryf} last-baryf, {self.half} half, "
            f"{self.full} full, {self.constlen} constlen\n"
            f"{tabs}- shaderdb: {categories}\n"
            f"{tabs}- shaderdb: {self.sstall} sstall, {self.ss} (ss), {self.sy} (sy)\n"
        )
