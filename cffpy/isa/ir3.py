# SPDX-License-Identifier: MIT
"""The listing of an ir3 program (a3xx to a7xx) as the reference prints it.

Mirrors disasm-a3xx.c and isaspec's decoder (mesa 25.0.7).
"""

from __future__ import annotations

import struct

from cffpy.isa.branches import BranchFinder
from cffpy.isa.interpret import BRANCH_MARK, MAXIMUM_ERRORS
from cffpy.isa.record import BARY, CHSH, END, NOP_NAME, OTHER, make_record
from cffpy.isa.render import Renderer
from cffpy.isa.statistics import Statistics
from cffpy.isa.store import load
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.isa.operands import Descriptor, OperandReader, Operands
    from cffpy.isa.record import WordRecord

_MAXIMUM_BAD = 6
"""Instructions in a row without match or with errors, after which the listing stops."""
_NOPS_AFTER_END = 4
_RECORDS = 1 << 16
"""Distinct words that are remembered."""
_PROGRAM_BYTES = 1 << 25
"""Bytes of programs and their texts that are remembered."""
_DEEPEST_TABS = 9
_WITH_DESCRIPTORS = (5, 6)
"""Categories of instructions that use descriptors."""


def tabs_of(level: int) -> str:
    """The indentation of a level: tabs, and where the reference runs out of them an ``x``."""
    return "\t" * level if level <= _DEEPEST_TABS else "x"


class Listing(ValueObject):
    """A program's text, and how far the listing went before it stopped."""

    __slots__ = ("instructions", "statistics", "text")

    def __init__(self, text: str, instructions: int, statistics: Statistics) -> None:
        self.text = text
        #: Instructions listed; each takes 8 bytes.
        self.instructions = instructions
        self.statistics = statistics


class Ir3Disassembler:
    """Disassembles programs of one generation (3 ... 8); remembers words and programs."""

    def __init__(self, generation: int, directory: str | None = None) -> None:
        number = min(max(generation, 3), 8) * 100
        self._generation = number
        self._isa = load("ir3", number, directory)
        self._renderer = Renderer(self._isa, "#instruction")
        self._operand_reader: OperandReader | None = None
        self._operands: dict[int, Operands] = {}
        self._branches = BranchFinder(*self._renderer.branch_bits, self._renderer.branch)
        self._records: dict[int, WordRecord] = {}
        self._programs: dict[tuple[int, bytes], Listing] = {}
        self._program_bytes = 0

    def disassemble(self, data: bytes | memoryview, level: int) -> str:
        """The text of a program: lines, labels, errors and statistics.

        ``data``: little-endian, a tail of less than 8 bytes is ignored; ``level``: tabs in front.
        """
        return self.listing(data, level).text

    def listing(self, data: bytes | memoryview, level: int) -> Listing:
        """As ``disassemble``, with where the program ends and its statistics as numbers."""
        key = level, bytes(data)
        known = self._programs.get(key)
        if known is None:
            known = self._list(key[1], level)
            self._program_bytes += len(known.text) + len(key[1])
            if self._program_bytes > _PROGRAM_BYTES:
                self._programs.clear()
                self._program_bytes = len(known.text) + len(key[1])
            self._programs[key] = known
        return known

    def instruction(self, word: int) -> tuple[str, tuple[str, ...]]:
        """Text and errors of one word alone; a branch shows its offset."""
        record = self._record(word)
        text = record.body.rstrip("\n").partition("] ")[2]
        if record.branch is not None:
            text = text.replace(BRANCH_MARK, str(record.branch[0]))
        return text, record.errors

    def operands(self, word: int) -> Operands:
        """What one word uses: registers, constants, inputs, descriptors."""
        known = self._operands.get(word)
        if known is None:
            if self._operand_reader is None:
                from cffpy.isa.operands import OperandReader

                self._operand_reader = OperandReader(self._isa)
            known = self._operand_reader.read(word)
            if len(self._operands) >= _RECORDS:
                self._operands.clear()
            self._operands[word] = known
        return known

    def descriptors(self, code: bytes | memoryview) -> frozenset[Descriptor]:
        """The descriptors that the instructions of a program use.

        ``code``: the program's bytes alone, without what lies behind its end.
        """
        words = {word for (word,) in struct.iter_unpack("<Q", code[: len(code) // 8 * 8])}
        return frozenset(
            descriptor
            for word in words
            if word >> 61 in _WITH_DESCRIPTORS
            for descriptor in self.operands(word).descriptors
        )

    def _record(self, word: int) -> WordRecord:
        record = self._records.get(word)
        if record is None:
            matched, text, events, branch, errors = self._renderer.render(word)
            if not matched:
                text = f"no match: {word:016x}"
            record = make_record(word, matched, text, events, branch, errors)
            if len(self._records) >= _RECORDS:
                self._records.clear()
            self._records[word] = record
        return record

    def _list(self, data: bytes, level: int) -> Listing:
        count = len(data) // 8
        data = data[: count * 8]
        labels, calls = self._branches.targets(data)
        tabs = tabs_of(level)
        line = tabs + ":%d:%04d:%04d%s"
        known = self._records
        lines: list[str] = []
        records: list[WordRecord] = []
        pending: list[str] = []
        cycles = bad = nops = last_bary = 0
        ended = stop = False
        for index, (word,) in enumerate(struct.iter_unpack("<Q", data)):
            record = known.get(word) or self._record(word)
            records.append(record)
            if index in labels or index in calls:
                start = line % (record.category, index, index + cycles, record.body[:22])
                if index in calls:
                    lines.append(start + "\n" if index else "")
                    lines.append(f"{start}fxn{index}:\n")
                if index in labels:
                    lines.append(f"{start}l{index}:\n")
            if record.plain and not pending:
                lines.append(line % (record.category, index, index + cycles, record.body))
                bad = 0
                if record.name == OTHER:
                    nops = 0
            else:
                name = record.name
                if name == NOP_NAME:
                    if ended:
                        nops += 1
                        stop = nops >= _NOPS_AFTER_END
                elif name:
                    nops = 0
                    if name == END:
                        ended = True
                    elif name == CHSH:
                        stop = True
                    elif name == BARY:
                        last_bary = index
                body = record.body.rstrip("\n")
                if record.branch is not None:
                    body = body.replace(BRANCH_MARK, self._target(record.branch, index, count))
                pending = [*pending, *record.errors][:MAXIMUM_ERRORS]
                if not record.matched:
                    bad += 1
                elif pending:
                    body += "\t; " + ", ".join(pending)
                    pending = []
                    bad += 1
                else:
                    bad = 0
                lines.append(line % (record.category, index, index + cycles, body + "\n"))
            cycles += record.cycles
            if bad >= _MAXIMUM_BAD or (stop and record.matched):
                break
        statistics = Statistics(records, cycles, last_bary, self._generation)
        lines.append(statistics.text(tabs))
        return Listing("".join(lines), len(records), statistics)

    @staticmethod
    def _target(branch: tuple[int, bool, bool], index: int, count: int) -> str:
        target, relative, call = branch
        place = target + index if relative else target
        if 0 <= place < count:
            return f"fxn{place}" if call else f"l{place}"
        return str(target)
