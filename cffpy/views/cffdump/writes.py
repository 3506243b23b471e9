# SPDX-License-Identifier: MIT
"""Text of whole register-write packets: the line ``write NAME (offset)`` and the registers' lines.

Most writes of a capture are the same few registers with the same few values; their text is kept
(``WrittenKey`` says by what). Runs with a register before the last one that shows more than its
value are not taken: they go the long way, register by register.
"""

from __future__ import annotations

from cffpy.views.cffdump.followups import ALWAYS
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.registers import RegisterEntry, RegisterTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.cp.machine import Machine

    #: The text of a packet, and its last register.
    Written = tuple[str, RegisterEntry]

    #: First register, level, whether hidden and complained of, and the values (or, where they are
    #: hidden, their number).
    WrittenKey = tuple[int, int, bool, bool, tuple[int, ...] | int]

#: Registers of a run whose text is kept, at most.
_RUN_LIMIT = 16

#: Texts kept at most.
_TEXTS_LIMIT = 1 << 15


class WriteTable:
    """Texts of register-write packets, in the current database and memory image."""

    def __init__(self, registers: RegisterTable, machine: Machine) -> None:
        self._registers = registers
        self._image = machine.image
        self._complains = machine.complains
        self._epoch = -1
        self._written: dict[WrittenKey, Written] = {}
        self._heads: dict[tuple[int, int], str] = {}
        self._silent: dict[tuple[int, int], bool] = {}
        #: (First register, number) -> entries with the width of each, or None for the long way.
        self._runs: dict[tuple[int, int], list[tuple[RegisterEntry, int]] | None] = {}

    def head(self, register: int, level: int) -> str:
        """The line ``write NAME (offset)``."""
        key = (register, level)
        head = self._heads.get(key)
        if head is None:
            name = self._registers.entry(register).name
            head = self._heads[key] = f"{LEVELS[level]}write {name} ({register:04x})\n"
        return head

    def complaint(self, register: int) -> str:
        """What is said of a register that is written without a wait for idle."""
        return f"NEEDS WFI: {self._registers.entry(register).name} ({register:x})\n"

    def find(
        self, register: int, values: list[int], level: int, hidden: bool, complains: bool
    ) -> Written | None:
        """The whole text of a run of registers but for what follows the last one, and that one.

        ``hidden``: only the complaints; ``complains``: whether there are any, about registers that
        lack a wait for idle now.

        None if one needs more than its value: a follow-up (of any but the last one), another
        register's value, or an upper half without its lower one.
        """
        if self._epoch != self._image.epoch:
            self._epoch = self._image.epoch
            self._written.clear()
        shown = len(values) if hidden else tuple(values)
        key = (register, level, hidden, complains, shown)
        written = self._written.get(key)
        if written is None:
            run = self._run(register, len(values))
            if run is None:
                return None
            lines = self._lines(register, run, values, level, hidden, complains)
            written = "".join(lines), run[-1][0]
            if len(values) <= _RUN_LIMIT:
                if len(self._written) >= _TEXTS_LIMIT:
                    self._written.clear()
                self._written[key] = written
        return written

    def _run(self, register: int, count: int) -> list[tuple[RegisterEntry, int]] | None:
        """The registers of a run and their dwords, or None."""
        key = (register, count)
        if key not in self._runs:
            if len(self._runs) >= _TEXTS_LIMIT:
                self._runs.clear()
            self._runs[key] = self._make_run(register, count)
        return self._runs[key]

    def is_silent(self, register: int, count: int) -> bool:
        """Whether a run does nothing where registers are not shown: no latch, no odd halves."""
        key = (register, count)
        silent = self._silent.get(key)
        if silent is None:
            if len(self._silent) >= _TEXTS_LIMIT:
                self._silent.clear()
            silent = self._silent[key] = self._find_silent(register, count)
        return silent

    def _find_silent(self, register: int, count: int) -> bool:
        position = 0
        while position < count:
            entry = self._registers.entry(register + position)
            if (entry.wide and not entry.is_low) or entry.follow_up in ALWAYS:
                return False
            position += 2 if entry.wide else 1
        return True

    def _make_run(self, register: int, count: int) -> list[tuple[RegisterEntry, int]] | None:
        run = []
        position = 0
        while position < count:
            entry = self._registers.entry(register + position)
            dwords = 2 if entry.wide else 1
            is_last = position + dwords == count
            if entry.other_half or (entry.wide and not entry.is_low):
                return None
            if entry.follow_up is not None and not is_last:
                return None
            run.append((entry, dwords))
            position += dwords
        return run

    def _lines(
        self,
        register: int,
        run: list[tuple[RegisterEntry, int]],
        values: list[int],
        level: int,
        hidden: bool,
        complains: bool,
    ) -> Iterator[str]:
        tabs = LEVELS[level + 1]
        if not hidden:
            yield self.head(register, level)
        position = 0
        for entry, dwords in run:
            value = values[position]
            end = position + dwords
            if complains:
                for written in range(register + position, register + min(end, len(values))):
                    if self._complains(written, 1):
                        yield self.complaint(written)
            position = end
            if end > len(values):
                return  # a lone lower half at a packet's end prints nothing
            if dwords == 2:
                value |= values[end - 1] << 32
            if not hidden:
                yield tabs + self._registers.line(entry, value)
