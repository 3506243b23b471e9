# SPDX-License-Identifier: MIT
"""The ``Stats:`` block after an ir3 listing, and the events that it counts: printed fields.

Mirrors the field callback of the reference and its text (disasm-a3xx.c, disasm_field_cb and
print_stats; mesa 25.0.7, 25.3): what is counted is what the template *prints*, in its order.
``follow_registers`` is the part of it that finds the highest registers.
"""

from __future__ import annotations

from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

(REPEAT, NOP, NAME, SY, SS, CONST, GPR, REPEATED, DST, HALF, SWIZ, SCOPE, SIZE) = range(13)
"""Kinds of events: printed fields that the statistics know. An event is ``value << 4 | kind``."""

(UNNAMED, OTHER, ALIAS, NOP_NAME, END, CHSH, BARY) = range(7)
"""Values of a NAME event; UNNAMED: the template shows no name. A listing watches values from
NOP_NAME on."""

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
    "SCOPE": SCOPE,
}
_NAMES = {"alias": ALIAS, "nop": NOP_NAME, "end": END, "chsh": CHSH, "bary.f": BARY}

Events: TypeAlias = "tuple[int, ...]"
RegisterState: TypeAlias = "tuple[bool, bool, int, int]"
Maxima: TypeAlias = "tuple[int, int, int]"

CLEAR: RegisterState = (False, False, 0, 0)
"""No operand pending: half, repeated, file, number."""
_NOWHERE, _FILE_HALF, _FILE_GPR, _FILE_CONST = 0, 1, 2, 3
"""Register files; components of others count nowhere."""
_TEXTURES = 0
"""The scope of an ``alias`` that only texture instructions see."""


def event_kind(reference: str) -> int:
    """The kind of event of a field reference as the template writes it, or -1."""
    kind = _KINDS.get(reference)
    if kind is not None:
        return kind
    if "HALF" in reference:
        return HALF
    return SIZE if "TYPE_SIZE" in reference else -1


def name_event(name: str) -> int:
    """The event of printing the instruction's name."""
    return _NAMES.get(name, OTHER) << 4 | NAME


class Aliases:
    """Registers that ``alias`` defines for the next texture instruction.

    They are not registers of the program, and not part of its footprint (mesa 25.3).
    """

    __slots__ = ("_full", "_half")

    def __init__(self) -> None:
        self._full: set[int] = set()
        self._half: set[int] = set()

    def begin(self, events: Events) -> None:
        """An instruction begins: an ``alias`` prints scope and size before its register."""
        is_full = is_of_texture = False
        for event in events:
            kind, value = event & 15, event >> 4
            if kind == NAME:
                is_of_texture = value == ALIAS
            elif kind == SCOPE:
                is_of_texture = is_of_texture and value == _TEXTURES
            elif kind == SIZE:
                is_full = bool(value)
            elif kind == DST and is_of_texture:
                (self._full if is_full else self._half).add(value)

    def place(self, is_half: bool, file: int, component: int) -> int:
        """The file in which a component counts."""
        if file != _FILE_GPR:
            return file
        if is_half and component not in self._half:
            return _FILE_HALF
        # also a half one that is an alias
        return _NOWHERE if component in self._full else _FILE_GPR

    def clear(self) -> None:
        """A texture instruction has ended."""
        self._full.clear()
        self._half.clear()


def follow_registers(
    events: Events,
    state: RegisterState,
    aliases: Aliases | None = None,
) -> tuple[Maxima, RegisterState]:
    """Highest half, full and constant components of one instruction that begins in ``state``.

    The second value is the state after it. ``aliases``: what does not count; None: all counts.
    """
    half, repeated, file, number = state
    repeat = 0
    highest = [0, 0, 0, 0]
    for event in events:
        kind = event & 15
        value = event >> 4
        if kind == SWIZ:
            component = number << 2 | value
            if repeated:
                component += repeat
            if aliases is None:
                place = _FILE_HALF if half and file == _FILE_GPR else file
            else:
                place = aliases.place(half, file, component)
            if component > highest[place]:
                highest[place] = component
            half, repeated, file, number = CLEAR
        elif kind == GPR:
            if value < 48:
                number, file = value, _FILE_GPR
        elif kind == HALF:
            half = bool(value)
        elif kind == DST:
            repeated = True
        elif kind == REPEATED:
            repeated = bool(value)
        elif kind == CONST:
            number, file = value, _FILE_CONST
        elif kind == REPEAT:
            repeat = value
    _other, most_half, most_full, most_const = highest
    return (most_half, most_full, most_const), (half, repeated, file, number)


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
        highest, after = instruction.maxima, instruction.after
        if state != CLEAR:
            highest, after = follow_registers(instruction.events, state)
        state = after
        half, full, const = max(half, highest[0]), max(full, highest[1]), max(const, highest[2])
    return half, full, const


def _registers_without_aliases(instructions: Sequence[ListedInstruction]) -> Maxima:
    half = full = const = 0
    state: RegisterState = CLEAR
    aliases = Aliases()
    for instruction in instructions:
        aliases.begin(instruction.events)
        maxima, state = follow_registers(instruction.events, state, aliases)
        if instruction.category == _TEXTURE_CATEGORY:
            aliases.clear()
        half, full, const = max(half, maxima[0]), max(full, maxima[1]), max(const, maxima[2])
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
        ``counts_aliases``: a member of the edition's record.
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
