# SPDX-License-Identifier: MIT
"""The ``Stats:`` block behind an ir3 listing (spec/disassembly.md section 4)."""

from __future__ import annotations

from cffpy.isa.record import (
    CLEAR,
    CONVERSIONS,
    COUNT_BITS,
    MOVES,
    NOPS,
    SS_COUNT,
    STALL_SS,
    STALL_START,
    SY_COUNT,
    follow_registers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.isa.record import Maxima, Record, RegisterState

_SFU_CYCLES = 10
"""Cycles that an instruction of category 4 keeps a later (ss) waiting."""


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


def _registers(records: Sequence[Record]) -> Maxima:
    distinct = {id(record): record for record in records}.values()
    if all(record.after == CLEAR for record in distinct):
        maxima = [record.maxima for record in distinct]
        return (
            max((m[0] for m in maxima), default=0),
            max((m[1] for m in maxima), default=0),
            max((m[2] for m in maxima), default=0),
        )
    half = full = const = 0
    state: RegisterState = CLEAR
    for record in records:
        found, after = record.maxima, record.after
        if state != CLEAR:
            found, after = follow_registers(record.events, state)
        state = after
        half, full, const = max(half, found[0]), max(full, found[1]), max(const, found[2])
    return half, full, const


def stats_block(
    records: Sequence[Record], cycles: int, last_bary: int, generation: int, tabs: str
) -> str:
    """The five lines for the listed instructions; ``cycles`` are all their repeats and nops."""
    counts = sum(record.counts for record in records)
    mask = (1 << COUNT_BITS) - 1

    def count(position: int) -> int:
        return counts >> COUNT_BITS * position & mask & 0xFFFFFFFF

    half, full, const = _registers(records)
    if generation >= 600:
        full = max(full, (half + 1) // 2)
        half = 0
    instructions = len(records) + cycles
    nops = count(NOPS)
    categories = ", ".join(f"{count(number)} cat{number}" for number in range(8))
    stalls = _stalls([record.stall for record in records])
    return (
        f"{tabs}Stats:\n"
        f"{tabs}- shaderdb: {instructions} instr, {nops} nops, "
        f"{instructions - nops & 0xFFFFFFFF} non-nops, "
        f"{count(MOVES)} mov, {count(CONVERSIONS)} cov\n"
        f"{tabs}- shaderdb: {last_bary} last-baryf, {(half + 3) // 4} half, "
        f"{(full + 3) // 4} full, {(const + 3) // 4} constlen\n"
        f"{tabs}- shaderdb: {categories}\n"
        f"{tabs}- shaderdb: {stalls} sstall, {count(SS_COUNT)} (ss), {count(SY_COUNT)} (sy)\n"
    )
