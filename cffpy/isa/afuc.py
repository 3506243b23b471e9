# SPDX-License-Identifier: MIT
"""Microcode of the command processor (afuc, a5xx to a7xx): its sections and their instructions.

A firmware file is a dword that the kernel leaves out, then sections: SQE, and after it those of
further processors (a7xx: BV and LPAC; a660: LPAC). The second dword of a section is a nop whose low
bits are the offset of its packet table, in dwords: 128 entries, the place of each packet's handler.
A section ends after its table. (Mesa's src/freedreno/afuc: README.rst, disasm.c; it runs the
bootstrap code to find tables and sections, which gives the same places.)
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from typing import Protocol

from cffpy.capture.gpu import GENERATIONS, Microcode
from cffpy.errors import IsaError
from cffpy.isa.interpret import BRANCH_MARK
from cffpy.isa.render import Renderer
from cffpy.isa.store import load
from cffpy.value_object import ValueObject

#: Entries of a packet table.
TABLE_ENTRIES = 128

#: Bytes to which the sections of a file are aligned.
ALIGNMENT = 32

DWORD_BYTES = 4

#: A label of a packet by its number. (Mesa's assembler reads it by scanf, so text may follow.)
_UNKNOWN_PACKET = re.compile(r"UNKN([0-9]{1,9})")

_ROOT = "#instruction"
_OFFSET_MASK = 0xFFFFFF
#: Dwords of a section before its instructions: its id, and where its table is.
_HEAD = 2


class Names(Protocol):
    """Names of what instructions mention; None where a number has none."""

    def control_register(self, number: int) -> str | None:
        """The name of a control register, maybe with ``+0x1``."""

    def sqe_register(self, number: int) -> str | None:
        """The name of a register of the processor itself."""

    def pipe_register(self, number: int) -> str | None:
        """The name of a pipe register."""

    def gpu_register(self, number: int) -> str | None:
        """The name of a register of the GPU; ``number`` is its offset in dwords."""

    def packet(self, opcode: int) -> str | None:
        """The name of a packet."""

    def packet_number(self, name: str) -> int | None:
        """The opcode of a packet's name, which may be one of another generation."""

    def number(self, kind: str, name: str) -> int | None:
        """The number of a name: of a control register (``@``) or SQE register (``%``)."""


def microcode_of(generation: int) -> Microcode:
    """What is known of a generation's microcode. Raises IsaError where there is none."""
    facts = GENERATIONS.get(generation)
    if facts is None or facts.microcode is None:
        raise IsaError(f"a{generation}xx has no microcode of this instruction set")
    return facts.microcode


def nop_literal(generation: int, value: int) -> int:
    """A nop that carries 24 bits: 0 is not an instruction from a6xx on."""
    facts = microcode_of(generation)
    return value & _OFFSET_MASK | (1 << 24 if facts.has_marks else 0)


def packet_of_label(label: str, names: Names) -> int | None:
    """The packet whose handler a label names: by the packet's name or as ``UNKN15``.

    None for other labels. Raises IsaError for one that looks like a packet and is none.
    """
    unknown = _UNKNOWN_PACKET.match(label)
    number = int(unknown[1]) if unknown else names.packet_number(label)
    if number is None and label.startswith("CP_"):
        raise IsaError(
            f"label {label}: no packet of this name is known; write UNKN and the packet's number, "
            "or, where it is no handler, a name without CP_"
        )
    if number is not None and number >= TABLE_ENTRIES:
        raise IsaError(f"label {label}: packets are numbered 0 to {TABLE_ENTRIES - 1}")
    return number


class Instruction(ValueObject):
    """A dword of a section. ``text``: as the assembler takes it; ``comment`` may be empty.

    ``target``: of a branch, the number of a dword in the section, else None. ``is_data``: no
    instruction, or one whose text would not give the same bits.
    """

    __slots__ = ("comment", "is_call", "is_data", "target", "text", "word")

    def __init__(
        self,
        word: int,
        text: str,
        comment: str = "",
        target: int | None = None,
        is_call: bool = False,
        is_data: bool = False,
    ) -> None:
        self.word = word
        self.text = text
        self.comment = comment
        self.target = target
        self.is_call = is_call
        self.is_data = is_data


class Section(ValueObject):
    """The microcode of one processor.

    ``start``: its first dword in the file, without the one that the kernel leaves out. ``table``:
    offset of the handler of each packet in dwords of the section; empty without a table.
    ``rest``: dwords after the table that are of no section.
    """

    __slots__ = ("instructions", "labels", "name", "rest", "start", "table")

    def __init__(
        self,
        name: str,
        start: int,
        instructions: list[Instruction],
        labels: dict[int, list[str]],
        table: tuple[int, ...],
        rest: tuple[int, ...],
    ) -> None:
        self.name = name
        self.start = start
        self.instructions = instructions
        #: Names of a dword, in the order in which they are printed.
        self.labels = labels
        self.table = table
        self.rest = rest

    def lines(self) -> Iterable[str]:
        """Its text, as the assembler takes it, without line ends."""
        for number, one in enumerate(self.instructions):
            names = self.labels.get(number, ())
            if number and any(not name.startswith("l") for name in names):
                yield ""
            for name in names:
                yield f"{name}:"
            yield f"{one.text}\t; {one.comment}" if one.comment else one.text
        if self.table:
            yield "jumptbl:"
            yield ".jumptbl"
        for word in self.rest:
            yield f"[{word:08x}]"


class AfucDisassembler:
    """Disassembles microcode of one generation (5 to 7)."""

    def __init__(self, generation: int, names: Names, directory: str | None = None) -> None:
        """``directory``: of another edition's instruction sets. Raises IsaError."""
        self._facts = microcode_of(generation)
        self.generation = generation
        self._names = names
        self._renderer = Renderer(load("afuc", generation * 100, directory), _ROOT)

    def sections(self, data: bytes) -> list[Section]:
        """The sections of a firmware file. Raises IsaError where it cannot be one."""
        if len(data) < 4 * (_HEAD + 1) or any(data[:4]):
            raise IsaError("no microcode: a firmware file begins with a dword of 0")
        count = len(data) // 4 - 1
        words = struct.unpack_from(f"<{count}I", data, 4)
        places = [0]
        tables = [self._table(words, 0)]
        names = self._facts.sections
        while tables[-1] is not None and len(places) < len(names):
            start = tables[-1] + TABLE_ENTRIES
            is_aligned = not start * DWORD_BYTES % ALIGNMENT
            table = self._table(words, start) if is_aligned else None
            if table is None:
                break
            places.append(start)
            tables.append(table)
        ends = [*places[1:], count]
        return [
            self._section(name, words, start, end, table)
            for name, start, end, table in zip(names, places, ends, tables, strict=False)
        ]

    def words(self, data: bytes) -> Section:
        """All dwords of ``data`` as one section, without interpreting them."""
        words = struct.unpack_from(f"<{len(data) // 4}I", data)
        return self._section("", words, 0, len(words), None)

    def _table(self, words: tuple[int, ...], start: int) -> int | None:
        """Where the packet table of the section at ``start`` begins; None where none fits."""
        if start + _HEAD > len(words):
            return None
        head, place = words[start], words[start + 1]
        offset = place & (_OFFSET_MASK if self._facts.has_marks else 0xFFFF)
        if self._facts.has_marks and (head >> 24 != 1 or place >> 24 != 1):
            return None
        table = start + offset
        entries = words[table : table + TABLE_ENTRIES]
        if offset < _HEAD or len(entries) < TABLE_ENTRIES or max(entries) >= offset:
            return None
        return table

    def _section(
        self, name: str, words: tuple[int, ...], start: int, end: int, table: int | None
    ) -> Section:
        stop = end if table is None else table
        code = words[start:stop]
        entries = () if table is None else words[table : table + TABLE_ENTRIES]
        rest = () if table is None else words[table + TABLE_ENTRIES : end]
        count = len(code)
        instructions = [self.instruction(word, number, count) for number, word in enumerate(code)]
        if table is not None and code[1] == nop_literal(self.generation, table - start):
            instructions[1] = Instruction(code[1], "[#jumptbl]", is_data=True)
        labels = self._labels(instructions, entries)
        return Section(name, start, instructions, labels, tuple(entries), tuple(rest))

    def _labels(
        self, instructions: list[Instruction], table: Iterable[int]
    ) -> dict[int, list[str]]:
        """Packets in alphabetical order, then functions, then targets of branches."""
        labels: dict[int, list[str]] = {}
        for opcode, place in enumerate(table):
            if place:  # 0: the assembler's value for a packet without a handler
                labels.setdefault(place, []).append(self.packet_label(opcode))
        for names in labels.values():
            names.sort()
        targets = {
            (one.target, "fxn" if one.is_call else "l")
            for one in instructions
            if one.target is not None and 0 <= one.target < len(instructions)
        }
        for target, kind in sorted(targets):
            labels.setdefault(target, []).append(f"{kind}{target}")
        return labels

    def packet_label(self, opcode: int) -> str:
        """The label of a packet's handler: its name where the assembler reads it so."""
        name = self._names.packet(opcode)
        if name is None or self._names.packet_number(name) != opcode:
            return f"UNKN{opcode}"
        return name

    # -- instructions -----------------------------------------------------------------------

    def instruction(self, word: int, number: int = 0, count: int = 0) -> Instruction:
        """One instruction, dword ``number`` of a section of ``count`` dwords.

        A branch out of the section shows what the instruction has: an offset, or a place.
        """
        matched, text, _events, branch, errors = self._renderer.render(word)
        if not matched or errors:
            comment = f"{text.replace(BRANCH_MARK, '...')}: {errors[0]}" if matched else ""
            name = self._names.gpu_register(word) if not matched and word >> 8 else None
            return Instruction(word, f"[{word:08x}]", name or comment, is_data=True)
        text = self._with_names(text)
        if branch is None:
            return Instruction(word, text, self._comment(text))
        shown, is_relative, is_call = branch
        target = number + shown if is_relative else shown
        label = f"{'fxn' if is_call else 'l'}{target}" if 0 <= target < count else str(shown)
        return Instruction(word, text.replace(BRANCH_MARK, label), "", target, is_call)

    def _with_names(self, text: str) -> str:
        """``@0x24`` and ``%0x5`` by name, else as three digits."""
        for mark, name_of in (
            ("@", self._names.control_register),
            ("%", self._names.sqe_register),
        ):
            before, separator, after = text.partition(f"{mark}0x")
            if separator:
                digits, bracket, rest = after.partition("]")
                name = name_of(int(digits, 16))
                shown = f"0x{int(digits, 16):03x}" if name is None else mark + name
                text = f"{before}{shown}{bracket}{rest}"
        return text

    def _comment(self, text: str) -> str:
        """The register that an immediate value names, as Mesa's disassembler says it."""
        value, shift, is_address = _immediate(text)
        if value is None:
            return ""
        value <<= shift
        if is_address and shift >= 16:
            value &= 0xFFFFFFFF & ~0x40000  # bit 18: the address is not incremented
            if value & _OFFSET_MASK:
                return ""
            name = self._names.pipe_register(value >> 24)
            return f"0x{value >> 24:03x}" if name is None else f"|{name}"
        return (self._names.gpu_register(value) or "") if value >> 8 else ""


def _immediate(text: str) -> tuple[int | None, int, bool]:
    """The last operand of an ALU instruction where it is a number, its shift, and whether the
    destination is ``$addr``.
    """
    name, _, operands = text.partition(" ")
    parts = operands.split(", ")
    value, _, shift = parts[-1].partition(" << ")
    if not value.startswith("0x") or "[" in operands or name.endswith("not"):
        return None, 0, False
    return int(value, 16), int(shift or "0"), parts[0] == "$addr"
