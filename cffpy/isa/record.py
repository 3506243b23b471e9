# SPDX-License-Identifier: MIT
"""What the listing and its statistics need of one ir3 word, computed once for each distinct word.

Mirrors the field callback of the reference (disasm-a3xx.c, disasm_field_cb; mesa 25.0.7): what is
counted is what the template *prints*, in its order.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

(REPEAT, NOP, NAME, SY, SS, CONST, GPR, REPEATED, DST, HALF, SWIZ) = range(11)
"""Kinds of events: printed fields that the statistics know. An event is ``value << 4 | kind``."""

(UNNAMED, OTHER, NOP_NAME, END, CHSH, BARY) = range(6)
"""Values of a NAME event; UNNAMED: the template shows no name."""

_KINDS = {
    "REPEAT": REPEAT,
    "NOP": NOP,
    "NAME": NAME,
    "SY": SY,
    "SS": SS,
    "CONST": CONST,
    "GPR": GPR,
    "SRC_R": REPEATED,
    "SRC1_R": REPEATED,
    "SRC2_R": REPEATED,
    "SRC3_R": REPEATED,
    "DST": DST,
    "SWIZ": SWIZ,
}
_NAMES = {"nop": NOP_NAME, "end": END, "chsh": CHSH, "bary.f": BARY}

Events: TypeAlias = "tuple[int, ...]"
RegisterState: TypeAlias = "tuple[bool, bool, int, int]"
Maxima: TypeAlias = "tuple[int, int, int]"

CLEAR: RegisterState = (False, False, 0, 0)
"""No operand pending: half, repeated, file, number."""
_FILE_GPR, _FILE_CONST = 1, 2

COUNT_BITS = 40
"""Width of one counter in a record's packed counts."""
NOPS, MOVES, CONVERSIONS, SY_COUNT, SS_COUNT = range(8, 13)
"""Positions of counters behind the eight categories."""

STALL_SS = 1 << 16
"""In a record's ``stall``: the instruction has (ss)."""
STALL_START = 1 << 15
"""In a record's ``stall``: category 4, which starts the countdown; else the cycles it takes."""


def event_kind(reference: str) -> int:
    """The kind of event of a field reference as the template writes it, or -1."""
    kind = _KINDS.get(reference)
    if kind is not None:
        return kind
    return HALF if "HALF" in reference else -1


def name_event(name: str) -> int:
    """The event of printing the instruction's name."""
    return _NAMES.get(name, OTHER) << 4 | NAME


class WordRecord:
    """One word, ready for any place in any program of its generation.

    ``plain``: matched, without errors, branch or a name that the listing watches. ``body``: from
    the raw words to the end of the line (with BRANCH_MARK for a branch target, without errors and
    newline unless plain). ``cycles``: repeats and nops. ``counts``: counters, COUNT_BITS each.
    ``maxima``: highest half, full and constant register components, valid when no operand was
    pending before; ``after``: what is pending behind it then.
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
        matched: bool,
        category: int,
        events: Events,
        branch: tuple[int, bool, bool] | None,
        errors: tuple[str, ...],
    ) -> None:
        self.matched = matched
        self.category = category
        self.events = events
        self.branch = branch
        self.errors = errors
        self.plain = False
        self.body = ""
        self.cycles = 0
        self.counts = 0
        self.stall = 0
        self.name = UNNAMED
        self.maxima: Maxima = (0, 0, 0)
        self.after: RegisterState = CLEAR


def follow_registers(events: Events, state: RegisterState) -> tuple[Maxima, RegisterState]:
    """Run the events of one instruction from ``state``: maxima, and the state behind it."""
    half, repeated, file, number = state
    repeat = 0
    most_half = most_full = most_const = 0
    for event in events:
        kind = event & 15
        value = event >> 4
        if kind == REPEAT:
            repeat = value
        elif kind == CONST:
            number, file = value, _FILE_CONST
        elif kind == GPR:
            if value < 48:
                number, file = value, _FILE_GPR
        elif kind == REPEATED:
            repeated = bool(value)
        elif kind == DST:
            repeated = True
        elif kind == HALF:
            half = bool(value)
        elif kind == SWIZ:
            component = number << 2 | value
            if repeated:
                component += repeat
            if file == _FILE_GPR:
                if not half:
                    if component > most_full:
                        most_full = component
                elif component > most_half:
                    most_half = component
            elif file == _FILE_CONST and component > most_const:
                most_const = component
            half = repeated = False
            file = number = 0
    return (most_half, most_full, most_const), (half, repeated, file, number)


def make_record(
    word: int,
    matched: bool,
    text: str,
    events: Events,
    branch: tuple[int, bool, bool] | None,
    errors: tuple[str, ...],
) -> WordRecord:
    """The record of ``word`` from its rendering."""
    category = word >> 61
    cycles = repeat = nop = nops = sy = ss = ss_last = 0
    repeated_cycles = 0
    name = UNNAMED
    registers = False
    for event in events:
        kind = event & 15
        if kind > SS:
            registers = True
            continue
        value = event >> 4
        if kind == REPEAT:
            repeat = value
            repeated_cycles += value
        elif kind == NOP:
            nop = value
            cycles += value
            nops += value
        elif kind == NAME:
            name = value
            if name == NOP_NAME:
                nops += 1 + repeat
        elif kind == SY:
            sy += value
        else:
            ss += value
            ss_last = value
    counts = 1 + repeated_cycles << COUNT_BITS * category
    if cycles:
        counts += cycles
    if nops:
        counts += nops << COUNT_BITS * NOPS
    if sy:
        counts += sy << COUNT_BITS * SY_COUNT
    if ss:
        counts += ss << COUNT_BITS * SS_COUNT
    if category == 1 and not word >> 57 & 3:
        same = word >> 50 & 7 == word >> 46 & 7
        counts += 1 << COUNT_BITS * (MOVES if same else CONVERSIONS)
    stall = STALL_START if category == 4 else 1 + repeat + nop
    if ss_last:
        stall |= STALL_SS
    record = WordRecord(matched, category, events, branch, errors)
    record.plain = plain = matched and not errors and branch is None and name <= OTHER
    body = f"[{word >> 32:08x}x_{word & 0xFFFFFFFF:08x}x] {text}"
    record.body = body + "\n" if plain else body
    record.cycles = cycles + repeated_cycles
    record.counts = counts
    record.stall = stall
    record.name = name
    if registers:
        record.maxima, record.after = follow_registers(events, CLEAR)
    return record
