# SPDX-License-Identifier: MIT
"""What a listing shows and counts of one ir3 word, computed once for each distinct word."""

from __future__ import annotations

from cffpy.isa.events import (
    CLEAR,
    NAME,
    NOP,
    NOP_NAME,
    REPEAT,
    SS,
    SY,
    follow_registers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.isa.events import Events, Maxima, RegisterState

COUNT_BITS = 40
"""Width of one counter in the packed counts of an instruction."""
NOPS, MOVES, CONVERSIONS, SY_COUNT, SS_COUNT = range(8, 13)
"""Positions of counters after the eight categories."""

STALL_SS = 1 << 16
"""In ``stall``: the instruction has (ss)."""
STALL_START = 1 << 15
"""In ``stall``: category 4, which starts the countdown; otherwise the cycles it takes."""


class ListedInstruction:
    """One word, ready for any place in any program of its generation.

    ``plain``: matched, without errors, branch or a name that the listing watches. ``body``: from
    the raw words to the end of the line (with BRANCH_MARK for a branch target, without errors and
    newline unless plain). ``cycles``: repeats and nops. ``counts``: counters, COUNT_BITS each.
    ``name``: the last NAME event's value. ``maxima``: highest half, full and constant components,
    valid when no operand was pending before; ``after``: what is pending after it then.
    """

    __slots__ = (
        "after",
        "body",
        "branch",
        "category",
        "counts",
        "cycles",
        "errors",
        "events",
        "matched",
        "maxima",
        "name",
        "plain",
        "stall",
    )

    def __init__(
        self,
        word: int,
        matched: bool,
        text: str,
        events: Events,
        branch: tuple[int, bool, bool] | None,
        errors: tuple[str, ...],
    ) -> None:
        """The instruction ``word`` from its rendering."""
        self.matched = matched
        self.category = category = word >> 61
        self.events = events
        self.branch = branch
        self.errors = errors
        totals = [0] * (SS + 1)
        last = [0] * (SS + 1)
        for event in events:
            kind = event & 15
            if kind <= SS:
                totals[kind] += event >> 4
                last[kind] = event >> 4
        self.name = name = last[NAME]
        self.cycles = totals[REPEAT] + totals[NOP]
        nops = totals[NOP] + (_named_nops(events) if name == NOP_NAME else 0)
        self.counts = (
            (1 + totals[REPEAT] << COUNT_BITS * category)
            + totals[NOP]  # nops are of category 0, whose counter is the lowest
            + (nops << COUNT_BITS * NOPS)
            + (totals[SY] << COUNT_BITS * SY_COUNT)
            + (totals[SS] << COUNT_BITS * SS_COUNT)
            + _moves(word)
        )
        self.stall = STALL_START if category == 4 else 1 + last[REPEAT] + last[NOP]
        if last[SS]:
            self.stall |= STALL_SS
        self.plain = matched and not errors and branch is None and name < NOP_NAME
        body = f"[{word >> 32:08x}x_{word & 0xFFFFFFFF:08x}x] {text}"
        self.body = body + "\n" if self.plain else body
        self.maxima: Maxima
        self.after: RegisterState
        self.maxima, self.after = follow_registers(events, CLEAR)


def _named_nops(events: Events) -> int:
    """Nops by name, with the repeats that were printed before."""
    nops = repeat = 0
    for event in events:
        if event & 15 == REPEAT:
            repeat = event >> 4
        elif event == NOP_NAME << 4 | NAME:
            nops += 1 + repeat
    return nops


def _moves(word: int) -> int:
    """The counter of moves or conversions, by the bits of a word, whether it matches or not."""
    if word >> 61 != 1 or word >> 57 & 3:
        return 0
    same = word >> 50 & 7 == word >> 46 & 7
    return 1 << COUNT_BITS * (MOVES if same else CONVERSIONS)
