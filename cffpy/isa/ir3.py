# SPDX-License-Identifier: MIT
"""The listing of an ir3 program (a3xx to a7xx) as the reference prints it.

Mirrors disasm-a3xx.c and isaspec's decoder (mesa 25.0.7, 25.3).
"""

from __future__ import annotations

import struct

from cffpy.capture.gpu import generation_of
from cffpy.editions.record import edition_record
from cffpy.isa.interpret import BRANCH_MARK, MAXIMUM_ERRORS
from cffpy.isa.render import Renderer, tabs_of
from cffpy.isa.statistics import BARY, CHSH, END, NOP_NAME, ListedInstruction, Statistics
from cffpy.isa.store import ir3_generation, load
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Branch = tuple[int, bool, bool]
    from cffpy.isa.operands import Descriptor, OperandReader, Operands


#: Words in the memo, at most.
_WORDS = 1 << 16

#: Buffers whose results are kept. Programs of several stages alternate.
_BUFFERS = 4


class _Searched:
    """Data that was searched, and the branches in it."""

    __slots__ = ("branches", "data")

    def __init__(self, data: bytes, branches: list[tuple[int, Branch]]) -> None:
        self.data = data
        #: (Words from the branch, included, to the end of the data; branch), the last one first.
        self.branches = branches


class BranchFinder:
    """Finds branches. ``branch_of`` decodes a word with ``word & mask == match``."""

    def __init__(self, mask: int, match: int, branch_of: Callable[[int], Branch | None]) -> None:
        self._mask = mask
        self._match = match
        self._branch_of = branch_of
        self._known: dict[int, Branch | None] = {}
        #: Most recently used first.
        self._searched: list[_Searched] = []

    def targets(self, data: bytes) -> tuple[set[int], set[int]]:
        """Indices within ``data`` that branches and calls jump to; ``data`` is whole words."""
        count = len(data) // 8
        labels: set[int] = set()
        calls: set[int] = set()
        for distance, (target, relative, call) in self._search(data, count).branches:
            if distance > count:
                break
            if relative:
                target += count - distance
            if 0 <= target < count:
                (calls if call else labels).add(target)
        return labels, calls

    def _search(self, data: bytes, count: int) -> _Searched:
        """The branches in ``data``; possibly also branches in data before it."""
        alike = [
            searched
            for searched in self._searched
            if searched.data.endswith(data) or data.endswith(searched.data)
        ]
        if alike:
            searched = max(alike, key=lambda searched: len(searched.data))
            self._searched.remove(searched)
        else:
            searched = _Searched(b"", [])
            del self._searched[_BUFFERS - 1 :]
        self._searched.insert(0, searched)
        if len(searched.data) < len(data):
            self._extend(searched, data, count)
        return searched

    def _extend(self, searched: _Searched, data: bytes, count: int) -> None:
        """Search ``data``, whose end was searched before."""
        words = struct.unpack_from(f"<{count - len(searched.data) // 8}Q", data)
        searched.data = data
        mask, match = self._mask, self._match
        candidates = {word for word in words if word & mask == match}
        branches = {word: branch for word in candidates if (branch := self._branch(word))}
        if branches:
            places = [index for index, word in enumerate(words) if word in branches]
            searched.branches += [
                (count - index, branches[words[index]]) for index in reversed(places)
            ]

    def _branch(self, word: int) -> Branch | None:
        if word not in self._known:
            if len(self._known) >= _WORDS:
                self._known.clear()
            self._known[word] = self._branch_of(word)
        return self._known[word]


_MAXIMUM_BAD = 6
"""Instructions in a row without match or with errors, after which the listing stops."""
_NOPS_AFTER_END = 4
"""Distinct words in the memo, at most."""
_PROGRAM_BYTES = 1 << 25
"""Bytes of programs and their texts in the memo, at most."""
_WITH_DESCRIPTORS = (5, 6)
"""Categories of instructions that use descriptors."""


class Listing(ValueObject):
    """A program's text, and how many instructions were listed before it stopped."""

    __slots__ = ("code", "instructions", "statistics", "text")

    def __init__(
        self, text: str, instructions: int, statistics: Statistics, code: str = ""
    ) -> None:
        self.text = text
        #: The text without the statistics after it.
        self.code = code
        #: Instructions listed; each takes 8 bytes.
        self.instructions = instructions
        self.statistics = statistics


class Ir3Disassembler:
    """Disassembles programs of one generation (3 to 8). Words and programs are memoised."""

    def __init__(self, generation: int, directory: str | None = None) -> None:
        """``directory``: of an edition that has the instruction set."""
        number = ir3_generation(generation)
        self._generation = number
        self._merges_registers = generation_of(number // 100).merges_registers
        self._counts_aliases = edition_record(directory).counts_aliases
        self._isa = load("ir3", number, directory)
        self._renderer = Renderer(self._isa, "#instruction")
        self._operand_reader: OperandReader | None = None
        self._operands: dict[int, Operands] = {}
        self._branches = BranchFinder(*self._renderer.branch_bits, self._renderer.branch)
        self._instructions: dict[int, ListedInstruction] = {}
        self._programs: dict[tuple[int, bytes], Listing] = {}
        self._program_bytes = 0

    def disassemble(self, data: bytes | memoryview, level: int) -> str:
        """The text of a program: lines, labels, errors and statistics.

        ``data``: little-endian, a tail of less than 8 bytes is ignored; ``level``: tabs in front.
        """
        return self.listing(data, level).text

    def listing(self, data: bytes | memoryview, level: int) -> Listing:
        """The text of a program, as of ``disassemble``, its length and its statistics."""
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
        listed = self._instruction(word)
        text = listed.body.rstrip("\n").partition("] ")[2]
        if listed.branch is not None:
            text = text.replace(BRANCH_MARK, str(listed.branch[0]))
        return text, listed.errors

    def operands(self, word: int) -> Operands:
        """The operands of one word: registers, constants, inputs, descriptors."""
        known = self._operands.get(word)
        if known is None:
            if self._operand_reader is None:
                from cffpy.isa.operands import OperandReader

                self._operand_reader = OperandReader(self._isa)
            known = self._operand_reader.read(word)
            if len(self._operands) >= _WORDS:
                self._operands.clear()
            self._operands[word] = known
        return known

    def descriptors(self, code: bytes | memoryview) -> frozenset[Descriptor]:
        """The descriptors that the instructions of a program use.

        ``code``: the bytes of the program, without the data after its end.
        """
        words = {word for (word,) in struct.iter_unpack("<Q", code[: len(code) // 8 * 8])}
        return frozenset(
            descriptor
            for word in words
            if word >> 61 in _WITH_DESCRIPTORS
            for descriptor in self.operands(word).descriptors
        )

    def _instruction(self, word: int) -> ListedInstruction:
        listed = self._instructions.get(word)
        if listed is None:
            matched, text, events, branch, errors = self._renderer.render(word)
            if not matched:
                text = f"no match: {word:016x}"
            listed = ListedInstruction(word, matched, text, events, branch, errors)
            if len(self._instructions) >= _WORDS:
                self._instructions.clear()
            self._instructions[word] = listed
        return listed

    def _list(self, data: bytes, level: int) -> Listing:
        count = len(data) // 8
        data = data[: count * 8]
        labels, calls = self._branches.targets(data)
        targets = labels | calls
        tabs = tabs_of(level)
        line = tabs + ":%d:%04d:%04d%s"
        known = self._instructions
        lines: list[str] = []
        listed: list[ListedInstruction] = []
        state = _ListingState(count)
        cycles = 0
        for index, (word,) in enumerate(struct.iter_unpack("<Q", data)):
            instruction = known.get(word) or self._instruction(word)
            listed.append(instruction)
            if index in targets:
                start = line % (instruction.category, index, index + cycles, instruction.body[:22])
                lines += _label_lines(start, index, index in labels, index in calls)
            if instruction.plain and not state.pending:
                lines.append(line % (instruction.category, index, index + cycles, instruction.body))
                state.bad = 0
                if instruction.name:
                    state.nops = 0
                cycles += instruction.cycles
                continue
            body = state.body(instruction, index)
            lines.append(line % (instruction.category, index, index + cycles, body))
            cycles += instruction.cycles
            if state.is_over:
                break
        statistics = Statistics(
            listed, cycles, state.last_bary, self._merges_registers, self._counts_aliases
        )
        code = "".join(lines)
        return Listing(code + statistics.text(tabs), len(listed), statistics, code)


class _ListingState:
    """The state of a listing between instructions, and its stop rules.

    ``pending``: errors of instructions that did not match, shown with the next that does.
    ``bad``: instructions in a row without match or with errors. ``nops``: since the last other
    instruction with a name.
    """

    __slots__ = ("_count", "_has_ended", "bad", "is_over", "last_bary", "nops", "pending")

    def __init__(self, count: int) -> None:
        """``count``: instructions in the data."""
        self._count = count
        self._has_ended = False
        self.pending: list[str] = []
        self.bad = self.nops = self.last_bary = 0
        self.is_over = False

    def body(self, listed: ListedInstruction, index: int) -> str:
        """The end of the line of an instruction that is not plain, or has pending errors."""
        self._watch(listed, index)
        body = listed.body.rstrip("\n")
        if listed.branch is not None:
            body = body.replace(BRANCH_MARK, self._target(listed.branch, index))
        self.pending = [*self.pending, *listed.errors][:MAXIMUM_ERRORS]
        if not listed.matched:
            self.bad += 1
        elif self.pending:
            body += "\t; " + ", ".join(self.pending)
            self.pending = []
            self.bad += 1
        else:
            self.bad = 0
        self.is_over = self.is_over or self.bad >= _MAXIMUM_BAD
        return body + "\n"

    def _watch(self, listed: ListedInstruction, index: int) -> None:
        """Update the state for the names that the stop rules and the statistics depend on."""
        name = listed.name
        if name == NOP_NAME:
            if self._has_ended:
                self.nops += 1
                self.is_over = self.nops >= _NOPS_AFTER_END
            return
        if name:
            self.nops = 0
        if name == END:
            self._has_ended = True
        elif name == CHSH:
            self.is_over = True
        elif name == BARY:
            self.last_bary = index

    def _target(self, branch: tuple[int, bool, bool], index: int) -> str:
        target, relative, call = branch
        place = target + index if relative else target
        if 0 <= place < self._count:
            return f"fxn{place}" if call else f"l{place}"
        return str(target)


def _label_lines(start: str, index: int, is_label: bool, is_call: bool) -> list[str]:
    """The lines before a branch target; ``start``: its line up to the raw words."""
    lines = []
    if is_call:
        lines.append(start + "\n" if index else "")
        lines.append(f"{start}fxn{index}:\n")
    if is_label:
        lines.append(f"{start}l{index}:\n")
    return lines
