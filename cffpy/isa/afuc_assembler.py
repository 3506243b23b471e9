# SPDX-License-Identifier: MIT
"""Assembles the text of microcode (afuc) to a firmware file.

The text is that of ``AfucDisassembler`` and of Mesa's afuc tools: one instruction a line, labels,
``[0123abcd]`` and ``[#label]`` for data, ``.section``, ``.align``, ``.jumptbl``; ``;`` begins a
comment. An instruction is brought to the form that the disassembler prints, then assembled by the
description, and must be printed so again. A move of a register may be written as ``or`` with $00,
and $sp, $lr as $1a, $1b.
"""

from __future__ import annotations

import re

from cffpy.errors import IsaError
from cffpy.isa.afuc import ALIGNMENT, TABLE_ENTRIES, AfucDisassembler, Names, nop_literal
from cffpy.isa.encode import Assembler

_LABEL = re.compile(r"\s*([A-Za-z_]\w*)\s*:")
_LITERAL = re.compile(r"\[\s*(?:#([A-Za-z_]\w*)|(?:0x)?([0-9a-fA-F]{1,8}))\s*\]")
_INSTRUCTION = re.compile(r"((?:\(\w+\)\s*)*)([a-z][a-z0-9]*)\s*(.*)")
_MEMORY = re.compile(r"\[\s*(\$\w+)\s*\+([^\]]*)\]\s*(!?)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10}")
_NAME = re.compile(r"([@%#])([A-Za-z_]\w*)")
_PREFIXES = re.compile(r"\((rep|peek|xmov[1-3]|sds[1-3])\)")

#: What memory operands of these are: a mark in front of the number.
_SPACES = {"cread": "@", "cwrite": "@", "sread": "%", "swrite": "%", "load": "", "store": ""}
_BRANCHES = ("brne", "breq", "jump", "jumpa", "call", "bl", "setsecure")

#: Registers that the disassembler prints by another name.
_REGISTERS = {"$1a": "$sp", "$1b": "$lr"}

#: Dwords of a file, at most; more than any processor addresses.
_MOST_DWORDS = 1 << 20


class _Line:
    """A line of a section that makes dwords. ``place``: its first dword."""

    __slots__ = ("number", "place", "text")

    def __init__(self, number: int, text: str, place: int) -> None:
        self.number = number
        self.text = text
        self.place = place


class _Section:
    """Lines and labels of a section."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.labels: dict[str, int] = {}
        self.size = 0
        self.has_table = False


class AfucAssembler:
    """Assembles microcode of one generation (5 to 7)."""

    def __init__(self, generation: int, names: Names, directory: str | None = None) -> None:
        """As for ``AfucDisassembler``."""
        self._disassembler = AfucDisassembler(generation, names, directory)
        self._assembler = Assembler(generation, directory, "afuc")
        self._generation = generation
        self._names = names
        self._nop = self._assembler.assemble("nop")

    def assemble(self, text: str, is_raw: bool = False) -> bytes:
        """A firmware file; ``is_raw``: without the dword in front that the kernel leaves out.

        Raises IsaError with the number of the line that is wrong.
        """
        words: list[int] = [] if is_raw else [0]
        for section in self._read(text):
            for line in section.lines:
                try:
                    words += self._dwords(line, section)
                except IsaError as problem:
                    raise IsaError(str(problem), "", line.number) from None
        return b"".join(word.to_bytes(4, "little") for word in words)

    def _read(self, text: str) -> list[_Section]:
        """The first pass: places of lines and labels."""
        sections = [_Section()]
        total = 0
        for number, row in enumerate(text.splitlines(), 1):
            rest = row.partition(";")[0]
            section = sections[-1]
            while found := _LABEL.match(rest):
                label, rest = found[1], rest[found.end() :]
                if label in section.labels:
                    raise IsaError(f"label {label} is declared twice", "", number)
                section.labels[label] = section.size
            rest = rest.strip()
            if rest.startswith(".section"):
                sections.append(_Section())
            elif rest:
                size = self._size(rest, section, number)
                section.lines.append(_Line(number, rest, section.size))
                section.size += size
                total += size
                if total > _MOST_DWORDS:
                    raise IsaError(f"more than {_MOST_DWORDS} dwords", "", number)
        return [section for section in sections if section.lines]

    @staticmethod
    def _size(text: str, section: _Section, number: int) -> int:
        """The dwords that a line makes."""
        if not text.startswith("."):
            return 1
        directive, _, argument = text.partition(" ")
        if directive == ".align":
            wanted = _number(argument.strip() or str(ALIGNMENT))
            if wanted is None or not 0 < wanted <= _MOST_DWORDS:
                raise IsaError(f"not a number of dwords: {argument.strip()!r}", "", number)
            return -section.size % wanted
        if directive == ".jumptbl" and not section.has_table:
            section.has_table = True
            return TABLE_ENTRIES
        if directive == ".jumptbl":
            raise IsaError("the section has a packet table already", "", number)
        raise IsaError(f"unknown directive {directive}", "", number)

    def _dwords(self, line: _Line, section: _Section) -> list[int]:
        text = line.text
        if text.startswith(".align"):
            return [self._nop] * self._size(text, _at(line.place), line.number)
        if text.startswith(".jumptbl"):
            label = self._disassembler.packet_label
            return [section.labels.get(label(opcode), 0) for opcode in range(TABLE_ENTRIES)]
        literal = _LITERAL.fullmatch(text)
        if literal and literal[2]:
            return [int(literal[2], 16)]
        if literal:
            return [nop_literal(self._generation, _place(literal[1], section))]
        return [self._assembler.assemble(self._normal(text, section), line.place, section.labels)]

    # -- an instruction as the disassembler prints it ---------------------------------------

    def _normal(self, text: str, section: _Section) -> str:
        found = _INSTRUCTION.fullmatch(text)
        if found is None:
            raise IsaError(f"not an instruction: {text[:80]!r}")
        prefixes, name, operands = found.groups()
        given = _PREFIXES.findall(prefixes)
        if "".join(f"({one})" for one in given) != "".join(prefixes.split()):
            raise IsaError(f"unknown prefix: {prefixes.strip()!r}")
        shown = [self._operand(one.strip(), name, section) for one in _split(operands)]
        if name == "or" and len(shown) == 3 and shown[1] == "$00" and shown[2].startswith("$"):
            name, shown = "mov", [shown[0], shown[2]]  # the same bits
        head = "".join(f"({one})" for one in given) + name
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


def _at(place: int) -> _Section:
    """An empty section of that size."""
    section = _Section()
    section.size = place
    return section


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
