# SPDX-License-Identifier: MIT
"""Text of whole register-write packets: the line ``write NAME (offset)`` and the registers' lines.

Most writes of a capture are to the same few runs of registers. Facts about each run are kept, and
for short runs the text of each set of values. A run in which a register before the last one shows
more than its value is printed register by register instead.
"""

from __future__ import annotations

from cffpy.cp.machine import BANKED
from cffpy.views.cffdump.followups import is_always_called
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.registers import RegisterEntry, RegisterTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.capture.memory import MemoryImage
    from cffpy.views.cffdump.registers import FollowUp

    #: A run, the level, whether there are complaints, and the values.
    WrittenKey = tuple["RegisterRange", int, bool, tuple[int, ...]]

#: Registers of a run whose text is kept, at most.
_RUN_LIMIT = 16

#: Texts, and registers of runs, kept at most.
_TEXTS_LIMIT, _REGISTERS_LIMIT = 1 << 15, 1 << 18


class RegisterRange:
    """``count`` registers from ``register`` on, as a packet writes them."""

    __slots__ = (
        "complaints",
        "count",
        "follow_up",
        "formats",
        "is_banked",
        "is_silent",
        "is_whole",
        "only",
        "openings",
        "parts",
        "plain",
        "register",
    )

    def __init__(self, register: int, count: int, registers: RegisterTable) -> None:
        self.register = register
        self.count = count
        self.is_banked = register >= BANKED.start and register + count <= BANKED.stop
        #: The registers, and how many dwords each takes.
        self.parts: list[tuple[RegisterEntry, int]] = []
        #: No register needs more than its value: a follow-up (of any but the last one), another
        #: register's value, or, of an upper half, the lower one. Others are printed one by one.
        self.is_whole = count > 0
        #: Nothing happens where registers are not shown: no latch, no single halves.
        self.is_silent = count > 0
        position = 0
        while position < count:
            entry = registers.entry(register + position)
            is_upper = entry.wide and not entry.is_low
            dwords = 2 if entry.wide else 1
            position += dwords
            self.parts.append((entry, dwords))
            if is_upper or entry.other_half or (entry.follow_up and position != count):
                self.is_whole = False
            if is_upper or is_always_called(entry.follow_up):
                self.is_silent = False
        last = self.parts[-1][0] if self.parts else None
        #: What follows the last register.
        self.follow_up: FollowUp | None = None if last is None else last.follow_up
        #: The only register, if all is one line. A lone lower half has none.
        self.only = last if len(self.parts) == 1 and position == count else None
        #: The text before its value, by level and whether there are complaints.
        self.openings: dict[tuple[int, bool], str] = {}
        #: All its registers are ``RegisterEntry.plain``. Its text as a format of the values, by
        #: the same.
        self.plain = _are_plain(self.parts)
        self.formats: dict[tuple[int, bool], str] = {}
        self.complaints: str | None = None

    def last_value(self, values: list[int]) -> int:
        """The last register's value."""
        is_wide = self.parts[-1][1] == 2
        return values[-2] | values[-1] << 32 if is_wide else values[-1]


def _are_plain(parts: list[tuple[RegisterEntry, int]]) -> bool:
    return all(entry.plain for entry, _ in parts)


class WriteTable:
    """Texts of register-write packets, in the current database and memory image."""

    def __init__(self, registers: RegisterTable, image: MemoryImage) -> None:
        self._registers = registers
        self._image = image
        self._epoch = -1
        #: First register and number of registers -> the range, for those that were used.
        self.ranges: dict[tuple[int, int], RegisterRange] = {}
        self._kept = 0
        self._written: dict[WrittenKey, str] = {}

    def run(self, register: int, count: int) -> RegisterRange:
        """The facts about a run of registers."""
        run = self.ranges.get((register, count))
        if run is None:
            self._kept += count
            if self._kept > _REGISTERS_LIMIT:
                self.ranges.clear()
                self._written.clear()
                self._kept = count
            run = self.ranges[register, count] = RegisterRange(register, count, self._registers)
        return run

    def head(self, register: int, level: int) -> str:
        """The line ``write NAME (offset)``."""
        return f"{LEVELS[level]}write {self._registers.entry(register).name} ({register:04x})\n"

    def complaint(self, register: int) -> str:
        """The complaint about a register that is written without a wait for idle."""
        return f"NEEDS WFI: {self._registers.entry(register).name} ({register:x})\n"

    def complaints(self, run: RegisterRange) -> str:
        """The complaints about a run that is written without a wait for idle."""
        if run.complaints is None:
            run.complaints = self._complaints(run.register, run.count)
        return run.complaints

    def text(self, run: RegisterRange, values: list[int], level: int, complains: bool) -> str:
        """The whole text of a run that ``is_whole``, but for what follows the last register.

        ``complains``: registers lack a wait for idle now.
        """
        if run.plain:
            return (run.formats.get((level, complains)) or self._format(run, level, complains)) % (
                *values,
            )
        entry = run.only
        if entry is not None:
            opening = run.openings.get((level, complains)) or self._opening(run, level, complains)
            value = values[0] | values[1] << 32 if entry.wide else values[0]
            line = entry.values.get(value)
            if line is None or entry.is_address:
                line = self._registers.line(entry, value)
            return opening + line
        if self._epoch != self._image.epoch:
            self._epoch = self._image.epoch
            self._written.clear()
        key = (run, level, complains, tuple(values))
        text = self._written.get(key)
        if text is None:
            text = "".join(self._lines(run, values, level, complains))
            if run.count <= _RUN_LIMIT:
                if len(self._written) >= _TEXTS_LIMIT:
                    self._written.clear()
                self._written[key] = text
        return text

    def _complaints(self, register: int, count: int) -> str:
        written = range(register, register + count)
        return "".join([self.complaint(number) for number in written if number not in BANKED])

    def _opening(self, run: RegisterRange, level: int, complains: bool) -> str:
        complaints = self.complaints(run) if complains else ""
        opening = f"{self.head(run.register, level)}{complaints}{LEVELS[level + 1]}"
        run.openings[level, complains] = opening
        return opening

    def _format(self, run: RegisterRange, level: int, complains: bool) -> str:
        """The text of a plain run, with ``%08x`` in place of each value."""
        zeros = "".join(self._lines(run, [0] * run.count, level, complains)).replace("%", "%%")
        text = run.formats[level, complains] = zeros.replace(": 00000000\n", ": %08x\n")
        return text

    def _lines(
        self, run: RegisterRange, values: list[int], level: int, complains: bool
    ) -> Iterator[str]:
        tabs = LEVELS[level + 1]
        yield self.head(run.register, level)
        position = 0
        for entry, dwords in run.parts:
            left = run.count - position
            if complains:
                yield self._complaints(run.register + position, min(dwords, left))
            if dwords > left:
                return  # a lone lower half at a packet's end prints nothing
            value = values[position]
            if dwords == 2:
                value |= values[position + 1] << 32
            yield tabs + self._registers.line(entry, value)
            position += dwords
