# SPDX-License-Identifier: MIT
"""Microcode of the command processor (afuc, a5xx to a7xx): its disassembler and its assembler.

A firmware file is a dword that the kernel leaves out, then sections: SQE, and after it sections of
further processors (a7xx: BV and LPAC; a660: LPAC). The second dword of a section is a nop whose low
bits are the offset of its packet table, in dwords: 128 entries, the place of each packet's handler.
A section ends after its table. (Mesa's src/freedreno/afuc: README.rst, disasm.c; it runs the
bootstrap code to find tables and sections, which gives the same places.)

``AfucDisassembler`` prints, and Mesa's afuc tools take, this text: one instruction a line, labels,
``[0123abcd]`` and ``[#label]`` for data, ``.section``, ``.align``, ``.jumptbl``; ``;`` begins a
comment. An instruction is brought to the form that the disassembler prints, then assembled by the
description, and must be printed so again. A move of a register may be written as ``or`` with $00,
$sp and $lr as $1a and $1b, ``bl`` as ``preemptleave`` (its name in older versions of Mesa).

A packet table has the places of labels: of packets' names, of whatever generation (the number of a
name is the same in all), and of ``UNKN15``. Mesa's assembler does the same, but is silent about a
label that looks like a packet and is none, and about two handlers of one packet; here both are
errors.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Protocol

from cffpy.capture.gpu import GENERATIONS, Microcode
from cffpy.errors import IsaError
from cffpy.isa.encode import Assembler
from cffpy.isa.interpret import BRANCH_MARK
from cffpy.isa.render import Renderer
from cffpy.isa.store import load
from cffpy.value_object import ValueObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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

    ``start``: its first dword in the file, without the dword that the kernel leaves out. ``table``:
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
        for number, instruction in enumerate(self.instructions):
            names = self.labels.get(number, ())
            if number and any(not name.startswith("l") for name in names):
                yield ""
            for name in names:
                yield f"{name}:"
            yield (
                f"{instruction.text}\t; {instruction.comment}"
                if instruction.comment
                else instruction.text
            )
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
            (instruction.target, "fxn" if instruction.is_call else "l")
            for instruction in instructions
            if instruction.target is not None and 0 <= instruction.target < len(instructions)
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


_WORD = re.compile(
    r"(?P<space>[ \t\r\f\v]+|;[^\n]*)|(?P<line>\n)"
    r"|(?P<data>\[[ \t]*(?:0[xX])?[0-9a-fA-F]+[ \t]*\])"
    r"|(?P<prefix>\([A-Za-z]\w*\))|(?P<directive>\.[A-Za-z]\w*)"
    r"|(?P<bit>b[0-9]+(?![A-Za-z_]))|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operand>\$\w+|[@%#][A-Za-z_]\w*|#-?[0-9]+|0[xX][0-9a-fA-F]*|[0-9]+|<<|[,\[\]+!:])"
)

#: Words that begin a statement, unless they continue one.
_BEGINS = ("data", "prefix", "directive", "name", "bit")


class Statement(ValueObject):
    """One statement. ``line``: of its first word, from 1.

    ``kind``: ``label``, ``directive``, or ``code`` (an instruction or data). ``text``: a label's
    name; else the words, with a space after the directive or the instruction's name alone.
    """

    __slots__ = ("kind", "line", "text")

    def __init__(self, kind: str, text: str, line: int) -> None:
        self.kind = kind
        self.text = text
        self.line = line


def statements(text: str) -> Iterator[Statement]:
    """The statements of ``text``. Raises IsaError, with its line, for a word that there is none."""
    words: list[tuple[str, str]] = []
    first = line = 1
    place = 0
    while place < len(text):
        match = _WORD.match(text, place)
        if match is None:
            raise IsaError(f"unknown character {text[place]!r}", "", line)
        place = match.end()
        kind, word = match.lastgroup or "", match[0]
        if kind == "line":
            line += 1
        elif kind != "space":
            if words and _is_over(words, kind, word):
                yield _statement(words, first)
                words = []
            if not words:
                first = line
            words.append((kind, word))
    if words:
        yield _statement(words, first)


def _is_over(words: list[tuple[str, str]], kind: str, word: str) -> bool:
    """Whether the statement of ``words`` ends before this word."""
    last_kind, last = words[-1]
    if words[0][0] == "name" and last == ":":
        return True
    if kind not in _BEGINS and word != "[":
        return False
    if kind == "name" and last in (".section", ".align"):
        return False
    if last_kind == "prefix":
        return kind not in ("name", "prefix")
    return last not in (",", "+", "[", "<<")


def _statement(words: list[tuple[str, str]], line: int) -> Statement:
    texts = [word for _, word in words]
    if len(words) > 1 and words[0][0] == "name" and texts[1] == ":":
        return Statement("label", texts[0], line)
    if words[0][0] == "directive":
        return Statement("directive", " ".join(texts), line)
    is_name = [kind != "prefix" for kind, _ in words]
    head = is_name.index(True) + 1 if True in is_name else len(words)
    return Statement("code", f"{''.join(texts[:head])} {''.join(texts[head:])}".rstrip(), line)


_LITERAL = re.compile(r"\[\s*(?:#([A-Za-z_]\w*)|(?:0x)?([0-9a-fA-F]{1,8}))\s*\]")
_INSTRUCTION = re.compile(r"((?:\(\w+\)\s*)*)([a-z][a-z0-9]*)\s*(.*)")
_MEMORY = re.compile(r"\[\s*(\$\w+)\s*\+([^\]]*)\]\s*(!?)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,8}|0|[1-9][0-9]{0,9}")
_NAME = re.compile(r"([@%#])([A-Za-z_]\w*)")
_PREFIXES = re.compile(r"\((rep|peek|xmov[1-3]|sds[1-3])\)")

#: What memory operands of these are: a mark in front of the number.
_SPACES = {"cread": "@", "cwrite": "@", "sread": "%", "swrite": "%", "load": "", "store": ""}
_BRANCHES = ("brne", "breq", "jump", "jumpa", "call", "bl", "setsecure")

#: Instructions that had another name in older versions of Mesa.
_OLD_NAMES = {"preemptleave": "bl"}

#: Registers that the disassembler prints by another name.
_REGISTERS = {"$1a": "$sp", "$1b": "$lr"}

#: Dwords of a file, at most; more than any processor addresses.
_MOST_DWORDS = 1 << 20


class _Line:
    """A statement of a section that makes dwords. ``place``: the first one; ``size``: how many."""

    __slots__ = ("number", "place", "size", "text")

    def __init__(self, number: int, text: str, place: int, size: int) -> None:
        self.number = number
        self.text = text
        self.place = place
        self.size = size


class _Section:
    """Lines and labels of a section; ``handlers``: packet -> its label."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.labels: dict[str, int] = {}
        self.handlers: dict[int, str] = {}
        self.size = 0
        self.has_table = False

    def add(self, number: int, text: str, size: int) -> None:
        """A line of ``size`` dwords at the end."""
        self.lines.append(_Line(number, text, self.size, size))
        self.size += size


class AfucAssembler:
    """Assembles microcode of one generation (5 to 7)."""

    def __init__(self, generation: int, names: Names, directory: str | None = None) -> None:
        """``names``: see ``AfucDisassembler``."""
        self._disassembler = AfucDisassembler(generation, names, directory)
        self._assembler = Assembler(generation, directory, "afuc")
        self._generation = generation
        self._names = names
        self._nop = self._assembler.assemble("nop")

    def assemble(self, text: str, is_raw: bool = False, name: str = "") -> bytes:
        """A firmware file; ``is_raw``: without the dword in front that the kernel leaves out.

        Raises IsaError with the number of the line that is wrong, in the file ``name``.
        """
        words: list[int] = [] if is_raw else [0]
        number = 0
        try:
            for section in self._read(text):
                for line in section.lines:
                    number = line.number
                    words += self._dwords(line, section)
        except IsaError as problem:
            raise IsaError(problem.message, name, problem.line or number) from None
        return b"".join(word.to_bytes(4, "little") for word in words)

    def _read(self, text: str) -> list[_Section]:
        """The first pass: places of lines and labels."""
        sections = [_Section()]
        total = 0
        for statement in statements(text):
            section = sections[-1]
            before = section.size
            try:
                if statement.kind == "label":
                    self._label(statement.text, section)
                elif statement.kind == "directive":
                    self._directive(statement, sections)
                else:
                    section.add(statement.line, statement.text, 1)
            except IsaError as problem:
                raise IsaError(problem.message, "", statement.line) from None
            total += section.size - before
            if total > _MOST_DWORDS:
                raise IsaError(f"more than {_MOST_DWORDS} dwords", "", statement.line)
        return [section for section in sections if section.lines]

    def _label(self, name: str, section: _Section) -> None:
        if name in section.labels:
            raise IsaError(f"label {name} is declared twice in its section")
        section.labels[name] = section.size
        packet = packet_of_label(name, self._names)
        if packet is None:
            return
        other = section.handlers.setdefault(packet, name)
        if section.labels[other] != section.size:
            raise IsaError(f"label {name}: packet {packet} has a handler already: {other}")

    def _directive(self, statement: Statement, sections: list[_Section]) -> None:
        section = sections[-1]
        directive, _, argument = statement.text.partition(" ")
        if directive == ".align":
            section.add(statement.line, directive, -section.size % _alignment(argument))
        elif directive == ".section":
            if not re.fullmatch(r"[A-Za-z_]\w*", argument):
                raise IsaError(f"not the name of a section: {argument!r}")
            section.add(statement.line, ".align", -section.size % (ALIGNMENT // DWORD_BYTES))
            sections.append(_Section())
        elif directive != ".jumptbl" or argument:
            raise IsaError(
                f"unknown directive {statement.text!r}: known are .align, .jumptbl, .section"
            )
        elif section.has_table:
            raise IsaError("the section has a packet table already")
        else:
            section.has_table = True
            section.add(statement.line, directive, TABLE_ENTRIES)

    def _dwords(self, line: _Line, section: _Section) -> list[int]:
        text = line.text
        if text == ".align":
            return [self._nop] * line.size
        if text == ".jumptbl":
            places = {packet: section.labels[name] for packet, name in section.handlers.items()}
            return [places.get(opcode, 0) for opcode in range(TABLE_ENTRIES)]
        literal = _LITERAL.fullmatch(text)
        if literal and literal[2]:
            return [int(literal[2], 16)]
        if literal:
            return [nop_literal(self._generation, _place(literal[1], section))]
        return [self._assembler.assemble(self._normal(text, section), line.place, section.labels)]

    # -- an instruction as the disassembler prints it ---------------------------------------

    def _normal(self, text: str, section: _Section) -> str:
        match = _INSTRUCTION.fullmatch(text)
        if match is None:
            raise IsaError(f"not an instruction: {text[:80]!r}")
        prefixes, name, operands = match.groups()
        name = _OLD_NAMES.get(name, name)
        given = _PREFIXES.findall(prefixes)
        if "".join(f"({prefix})" for prefix in given) != "".join(prefixes.split()):
            raise IsaError(f"unknown prefix: {prefixes.strip()!r}")
        shown = [self._operand(operand.strip(), name, section) for operand in _split(operands)]
        if name == "or" and len(shown) == 3 and shown[1] == "$00" and shown[2].startswith("$"):
            name, shown = "mov", [shown[0], shown[2]]  # the same bits
        head = "".join(f"({prefix})" for prefix in given) + name
        return f"{head} {', '.join(shown)}" if shown else head

    def _operand(self, text: str, name: str, section: _Section) -> str:
        memory = _MEMORY.fullmatch(text)
        if memory:
            register, base, increment = memory.groups()
            mark = "" if increment else _SPACES.get(name, "")
            return f"[{_register(register)} + {mark}0x{self._value(base, section):x}]{increment}"
        if text.startswith("$"):
            return _register(text)
        if text.startswith("#") and name in _BRANCHES:
            if _NAME.fullmatch(text):
                _place(text[1:], section)
            return text
        value, shift, amount = text.partition("<<")
        if re.fullmatch(r"b[0-9]{1,2}", text):
            return text
        shown = f"0x{self._value(value, section):x}"
        if not shift:
            return shown
        by = _number(amount.strip())
        if by is None:
            raise IsaError(f"not a number: {amount.strip()!r}")
        return f"{shown} << {by}" if by else shown

    def _value(self, text: str, section: _Section) -> int:
        """A sum of numbers, of registers by name, and of labels."""
        total = 0
        for part in text.split("+"):
            term = part.strip()
            named = _NAME.fullmatch(term)
            if named and named[1] == "#":
                total += _place(named[2], section)
                continue
            value = self._names.number(named[1], named[2]) if named else _number(term)
            if value is None:
                raise IsaError(f"{'unknown register' if named else 'not a number'}: {term[:40]!r}")
            total += value
        return total


def _alignment(argument: str) -> int:
    """The dwords of an ``.align``, whose argument is in bytes."""
    wanted = _number(argument)
    if not wanted or wanted % DWORD_BYTES or wanted > _MOST_DWORDS:
        raise IsaError(f"not a number of bytes, a multiple of {DWORD_BYTES}: {argument!r}")
    return wanted // DWORD_BYTES


def _place(label: str, section: _Section) -> int:
    if label not in section.labels:
        raise IsaError(f"label {label} is not declared in its section")
    return section.labels[label]


def _register(text: str) -> str:
    name = text.lower()
    return _REGISTERS.get(name, name)


def _number(text: str) -> int | None:
    return int(text, 16 if text[:2] in ("0x", "0X") else 10) if _NUMBER.fullmatch(text) else None


def _split(operands: str) -> list[str]:
    return operands.split(",") if operands.strip() else []
