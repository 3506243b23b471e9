# SPDX-License-Identifier: MIT
"""Assembles the text of microcode (afuc) to a firmware file.

The text is that of ``AfucDisassembler`` and of Mesa's afuc tools: one instruction a line, labels,
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
from collections.abc import Iterator

from cffpy.errors import IsaError
from cffpy.isa.afuc import (
    ALIGNMENT,
    DWORD_BYTES,
    TABLE_ENTRIES,
    AfucDisassembler,
    Names,
    nop_literal,
    packet_of_label,
)
from cffpy.isa.encode import Assembler
from cffpy.value_object import ValueObject

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
        """As for ``AfucDisassembler``."""
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
        for one in statements(text):
            section = sections[-1]
            before = section.size
            try:
                if one.kind == "label":
                    self._label(one.text, section)
                elif one.kind == "directive":
                    self._directive(one, sections)
                else:
                    section.add(one.line, one.text, 1)
            except IsaError as problem:
                raise IsaError(problem.message, "", one.line) from None
            total += section.size - before
            if total > _MOST_DWORDS:
                raise IsaError(f"more than {_MOST_DWORDS} dwords", "", one.line)
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

    def _directive(self, one: Statement, sections: list[_Section]) -> None:
        section = sections[-1]
        directive, _, argument = one.text.partition(" ")
        if directive == ".align":
            section.add(one.line, directive, -section.size % _alignment(argument))
        elif directive == ".section":
            if not re.fullmatch(r"[A-Za-z_]\w*", argument):
                raise IsaError(f"not the name of a section: {argument!r}")
            section.add(one.line, ".align", -section.size % (ALIGNMENT // DWORD_BYTES))
            sections.append(_Section())
        elif directive != ".jumptbl" or argument:
            raise IsaError(f"unknown directive {one.text!r}: known are .align, .jumptbl, .section")
        elif section.has_table:
            raise IsaError("the section has a packet table already")
        else:
            section.has_table = True
            section.add(one.line, directive, TABLE_ENTRIES)

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
