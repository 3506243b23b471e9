# SPDX-License-Identifier: MIT
"""Packets, both ways: statements -> dwords, and dwords -> lines of the language.

Lines are given only where building them gives the same dwords again; what cannot be said so (wrong
parity, bits without a field) is the caller's to show as data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cffpy.container.writer import dwords_bytes
from cffpy.pm4.reader import (
    BAD,
    IDLE,
    OPCODE,
    REGISTERS,
    TYPE2_HEADER,
    Fields,
    HeaderMemo,
    next_packet,
    type0_header,
    type3_header,
    type4_header,
    type7_header,
)
from cffpy.pm4asm.contents import hex_rows, row_words, string_row, string_words
from cffpy.pm4asm.fields import Structure, Vocabulary, build_row, build_value, show_row, show_value
from cffpy.pm4asm.model import Call, Item, Name, Number, SourceProblem, Statement, Value
from cffpy.pm4asm.values import NO_LABELS, Labels, Resolve, encode, plain_field

#: CP_SET_CONSTANT of this type writes registers, counted from here on.
SET_REGISTERS = 4
CONTEXT_REGISTERS = 0x2000
#: Packets of pairs (register offset, value) -> dwords before the first pair.
PAIRS = {"CP_CONTEXT_REG_BUNCH": 0, "CP_CONTEXT_REG_BUNCH2": 2}

_ONE_DWORD = plain_field("value", 0, 31)
_LAST_OPCODE = 0x7F


def build_structure(structure: Structure, items: Sequence[Item], resolve: Resolve) -> list[int]:
    """A structure in memory, all of its dwords."""
    words = build_row(structure, items, resolve)
    return words + [0] * (structure.dwords - len(words))


class Builder:
    """Builds packets of one generation from statements."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        #: The row that is being built, 0 for the head: where a problem is.
        self.row = 0

    def value(self, name: str, value: Value, resolve: Resolve) -> int:
        """The dword or dwords of the register of this name."""
        _, element = self.vocabulary.named_register(name)
        return build_value(
            element, value, name, self.vocabulary.database, self.vocabulary.variants, resolve
        )

    def build(self, head: Statement, more: Sequence[Statement], resolve: Resolve) -> list[int]:
        """The dwords of a packet, a register write or a structure. Raises SourceProblem."""
        self.row = 0
        if head.kind == "idle":
            return [TYPE2_HEADER]
        if head.kind == "register":
            return self._build_registers(head, more, resolve)
        if head.kind == "numbered":
            number = head.parts[0]
            assert isinstance(number, Number)
            opcode = number.integer
            if opcode > _LAST_OPCODE:
                raise SourceProblem(
                    f"{number} is not an opcode: the largest is 0x7f", number.column
                )
            return self._build_packet(opcode, None, [], more, resolve)
        name, *items = head.parts
        assert isinstance(name, Name)
        known = self.vocabulary.opcode(name.text)
        structure = self.vocabulary.structure(name.text)
        fields = [item for item in items if isinstance(item, Item)]
        if known is not None:
            return self._build_packet(known, structure, fields, more, resolve)
        if structure is None:
            near = self.vocabulary.unknown(name.text)
            raise SourceProblem(
                f"neither a packet nor a structure is called {name.text}{near}", name.column
            )
        if more:
            self.row = 1
            raise SourceProblem("no packet to continue: + belongs to packets", more[0].column)
        return build_structure(structure, fields, resolve)

    def _build_packet(
        self,
        opcode: int,
        structure: Structure | None,
        fields: Sequence[Item],
        more: Sequence[Statement],
        resolve: Resolve,
    ) -> list[int]:
        payload: list[int] = []
        if fields and structure is not None:
            payload = build_row(structure, fields, resolve)
        for self.row, row in enumerate(more, 1):
            payload += self._build_more(structure, row, resolve)
        self.row = 0
        return [opcode_header(self.vocabulary.gpu.is_64bit, opcode, len(payload)), *payload]

    def _build_more(
        self, structure: Structure | None, row: Statement, resolve: Resolve
    ) -> list[int]:
        if row.kind == "more_row":
            return row_words(str(row.parts[0]))
        if row.kind == "more_string":
            return string_words(str(row.parts[0]))
        if row.kind == "more_items":
            items = [part for part in row.parts if isinstance(part, Item)]
            if structure is not None and structure.entry:
                return build_row(structure, items, resolve)
            first = items[0]
            if first.value is None and isinstance(first.name, str):
                inner = self.vocabulary.structure(first.name)
                if inner is None:
                    near = self.vocabulary.unknown(first.name)
                    raise SourceProblem(f"no structure {first.name}{near}", first.column)
                return build_structure(inner, items[1:], resolve)
            return self._register_words(row, resolve)[1]
        if row.kind == "more_pair":
            offset, words = self._register_words(row, resolve)
            if len(words) != 1:
                raise SourceProblem("a pair writes a register of one dword", row.column)
            return [offset, *words]
        return self._register_words(row, resolve)[1]

    def _build_registers(
        self, head: Statement, more: Sequence[Statement], resolve: Resolve
    ) -> list[int]:
        first, words = self._register_words(head, resolve)
        for self.row, row in enumerate(more, 1):
            offset, values = self._register_words(row, resolve)
            if offset != first + len(words):
                message = f"{offset:#x} does not follow: {first + len(words):#x} does"
                known = self.vocabulary.register(first + len(words))
                if known is not None:
                    message += f" ({known[0]})"
                raise SourceProblem(message, row.column)
            words += values
        self.row = 0
        return [register_header(self.vocabulary.gpu.is_64bit, first, len(words)), *words]

    def _register_words(self, row: Statement, resolve: Resolve) -> tuple[int, list[int]]:
        """Offset and dwords of ``NAME = value``, also in a continuation row."""
        if row.kind == "more_items":
            items = [part for part in row.parts if isinstance(part, Item)]
            item = items[0]
            if len(items) != 1 or item.value is None or not isinstance(item.name, str):
                raise SourceProblem("a register and its value are expected here", row.column)
            register: Name | Number = Name(item.name, item.column)
            value: Value = item.value
        elif row.kind in ("register", "more_register", "more_pair"):
            register, value = row.parts  # type: ignore[assignment]
        else:
            raise SourceProblem("a register and its value are expected here", row.column)
        offset, element, name = self.vocabulary.target(register)
        if element is None:
            return offset, [encode(_ONE_DWORD, value, resolve, register.column)]
        word = build_value(
            element, value, name, self.vocabulary.database, self.vocabulary.variants, resolve
        )
        return offset, [word] if element.dwords == 1 else [word & 0xFFFFFFFF, word >> 32]


def is_packet(kind: str) -> bool:
    """Whether rows that begin with + may follow a statement of this kind."""
    return kind in ("named", "numbered", "register", "idle")


def register_header(is_64bit: bool, register: int, count: int) -> int:
    """The header that writes ``count`` registers. Raises SourceProblem if there is none."""
    if is_64bit:
        if not 0 <= register <= 0x3FFFF or not 1 <= count <= 127:
            raise SourceProblem(f"no packet writes {count} registers from {register:#x} on")
        return type4_header(register, count)
    if not 0 <= register <= 0x7FFF or not 1 <= count <= 0x4000:
        raise SourceProblem(f"no packet writes {count} registers from {register:#x} on")
    return type0_header(register, count)


def opcode_header(is_64bit: bool, opcode: int, count: int) -> int:
    """The header of a packet with ``count`` dwords of payload. Raises SourceProblem."""
    if is_64bit:
        if count > 0x3FFF:
            raise SourceProblem(f"a packet has no {count} dwords")
        return type7_header(opcode, count)
    if not 1 <= count <= 0x4000:
        raise SourceProblem(f"a packet has no {count} dwords; it has 1 to 16384")
    return type3_header(opcode, count)


#: Structures in a packet: first dword in the payload, name of the structure, how many.
Hint = tuple[int, str, int]

#: Packets and register values in the memo; more than these seldom come again.
_MEMO = 1 << 12
#: Dwords of the longest packet in the memo.
_MEMO_DWORDS = 64

_SET_CONSTANT = Fields("CP_SET_CONSTANT", "INDEX", "TYPE", "ADD")

#: Dwords of CP_IM_LOAD_IMMEDIATE before the program.
_A2XX_PROGRAM = 2

#: Undescribed dwords of a packet that are still listed one by one, on its line.
_FEW = 2


class Shower:
    """Shows packets of one generation."""

    def __init__(
        self, vocabulary: Vocabulary, listing: Callable[[bytes, bool], str] | None = None
    ) -> None:
        """``listing``: returns the text of an a2xx program; the flag marks a fragment program."""
        self.vocabulary = vocabulary
        self._listing = listing
        self.labels = NO_LABELS
        self._headers = HeaderMemo()
        self._builder = Builder(vocabulary)
        self._values: dict[tuple[int, int], str] = {}
        self._packets: dict[tuple[int, ...], list[str] | None] = {}

    def label(self, labels: Labels) -> None:
        """Use these labels from now on."""
        self.labels = labels
        self._packets.clear()

    def size(self, words: Sequence[int], index: int) -> int:
        """Dwords of the packet at ``index``; where none is, up to the next, as the machine goes."""
        kind, _, size = self._headers[words[index]]
        if kind == BAD:
            end = len(words)
            return (next_packet(words, index, end) if self.vocabulary.gpu.is_64bit else end) - index
        return size

    def show(self, words: Sequence[int], hint: Hint | None) -> list[str] | None:
        """The lines of the packet with the dwords ``words``; None if it must be shown as data."""
        if hint is not None or len(words) > _MEMO_DWORDS:
            return self._show(words, hint)
        key = tuple(words)
        try:
            return self._packets[key]
        except KeyError:
            if len(self._packets) >= _MEMO:
                self._packets.clear()
            lines = self._packets[key] = self._show(words, None)
            return lines

    def _show(self, words: Sequence[int], hint: Hint | None) -> list[str] | None:
        kind, number, _ = self._headers[words[0]]
        try:
            if kind == REGISTERS:
                return self._show_registers(number, words)
            if kind == OPCODE:
                return self._show_opcode(number, words, hint)
        except SourceProblem:  # a packet that the language cannot express
            return None
        return ["idle"] if kind == IDLE else None

    # -- register writes --------------------------------------------------------------------

    def _show_registers(self, register: int, words: Sequence[int]) -> list[str] | None:
        count = len(words) - 1
        if words[0] != register_header(self.vocabulary.gpu.is_64bit, register, count):
            return None
        lines = []
        position = 1
        while position <= count:
            known = self.vocabulary.register(register)
            word, dwords = words[position], 1
            if known is not None and known[1].dwords == 2:
                if position < count:
                    word, dwords = word | words[position + 1] << 32, 2
                else:
                    known = None
            lines.append(self.show_register(register, word, known is not None))
            position += dwords
            register += dwords
        return [lines[0], *["+ " + line for line in lines[1:]]]

    def show_register(self, register: int, word: int, is_whole: bool = True) -> str:
        """``NAME = value``; by offset where the name's fields cannot say the value."""
        key = (register, word) if is_whole else (-1 - register, word)
        text = self._values.get(key)
        if text is None or word in self.labels:
            text = self._register_text(register, word, is_whole)
            if word not in self.labels:
                if len(self._values) > _MEMO:
                    self._values.clear()
                self._values[key] = text
        return text

    def _register_text(self, register: int, word: int, is_whole: bool) -> str:
        known = self.vocabulary.register(register) if is_whole else None
        if known is None:
            return f"{register:#x} = {word:#x}"
        name, element = known
        value = show_value(element, word, self.labels)
        try:
            if self._builder.value(name, value, self._resolve) == word:
                return f"{name} = {value}"
        except SourceProblem:
            pass
        if element.is_bitset or element.dwords == 2:
            return f"{name} = {word:#x}"
        return f"{register:#x} = {word:#x}"

    def _resolve(self, call: Call) -> int:
        if call.function == "reg":
            return self.vocabulary.register_of(call)
        return self.labels.value(call)

    # -- packets with an opcode -------------------------------------------------------------

    def _show_opcode(
        self, opcode: int, words: Sequence[int], hint: Hint | None
    ) -> list[str] | None:
        payload = words[1:]
        if words[0] != opcode_header(self.vocabulary.gpu.is_64bit, opcode, len(payload)):
            return None
        name = self.vocabulary.packet_name(opcode)
        if name is None:
            return [f"packet {opcode:#x}", *_more(hex_rows(payload))]
        structure = self.vocabulary.structure(name)
        if name in PAIRS:
            return self._show_pairs(name, payload)
        head: list[Item] = []
        lines: list[str] = []
        used = 0
        if structure is not None and structure.entry:
            lines, used = self._show_entries(structure, payload)
        elif structure is not None and structure.is_known:
            head, used = show_row(structure, payload, self.labels, self.vocabulary)
            built = build_row(structure, head, self._resolve)
            if built != list(payload[:used]):
                head, used = [], 0
        elif len(payload) <= _FEW and name != "CP_NOP":
            head = [Item(place, Number(f"{word:#x}")) for place, word in enumerate(payload)]
            used = len(payload)
        lines += self._show_rest(name, payload, used, hint)
        return [" ".join([name, *map(str, head)]), *lines]

    def _show_entries(self, structure: Structure, payload: Sequence[int]) -> tuple[list[str], int]:
        lines = []
        size = structure.entry
        used = 0
        while used + size <= len(payload):
            words = list(payload[used : used + size])
            items, shown = show_row(structure, words, self.labels, self.vocabulary)
            if not items or shown > size or build_row(structure, items, self._resolve) != words:
                lines += _more(hex_rows(words))
            else:
                lines.append("+ " + " ".join(map(str, items)))
            used += size
        return lines, used

    def _show_rest(
        self, name: str, payload: Sequence[int], used: int, hint: Hint | None
    ) -> list[str]:
        rest = payload[used:]
        if not rest:
            return []
        if name == "CP_SET_CONSTANT" and used == 1:
            return self._show_constants(payload)
        if hint is not None and used == hint[0]:
            _, domain, count = hint
            return self.show_structures(domain, count, rest, "+ ")
        if name == "CP_NOP":
            text = string_row(rest)
            if text is not None:
                return ["+ " + text]
        comments = []
        if name == "CP_IM_LOAD_IMMEDIATE" and used == _A2XX_PROGRAM and self._listing is not None:
            text = self._listing(dwords_bytes(rest), payload[0] == 1)
            comments = [f"// {line.strip()}" for line in text.splitlines()]
        return comments + _more(hex_rows(rest))

    def _show_constants(self, payload: Sequence[int]) -> list[str]:
        index, kind, add = self.vocabulary.packets[_SET_CONSTANT].read(payload)
        if kind != SET_REGISTERS or add:
            return _more(hex_rows(payload[1:]))
        register = CONTEXT_REGISTERS + index
        return [
            "+ " + self.show_register(register + place, word)
            for place, word in enumerate(payload[1:])
        ]

    def _show_pairs(self, name: str, payload: Sequence[int]) -> list[str]:
        used = PAIRS[name]
        if len(payload) < used or (len(payload) - used) % 2:
            return [name, *_more(hex_rows(payload))]
        lines = [name, *_more(hex_rows(payload[:used]))]
        for place in range(used, len(payload), 2):
            register, word = payload[place], payload[place + 1]
            known = self.vocabulary.register(register)
            is_whole = known is not None and known[1].dwords == 1
            lines.append("+ pair " + self.show_register(register, word, is_whole))
        return lines

    def show_structures(
        self, domain: str, count: int, words: Sequence[int], prefix: str = ""
    ) -> list[str]:
        """Lines of up to ``count`` structures in a row; what is left over is data."""
        structure = self.vocabulary.structure(domain)
        size = 0 if structure is None else structure.dwords
        lines: list[str] = []
        used = 0
        while structure is not None and size and count > 0 and used + size <= len(words):
            part = list(words[used : used + size])
            lines += self._show_structure(structure, part, prefix)
            used += size
            count -= 1
        return lines + [prefix + row for row in hex_rows(words[used:])]

    def _show_structure(self, structure: Structure, words: list[int], prefix: str) -> list[str]:
        items, _ = show_row(structure, words, self.labels, self.vocabulary)
        try:
            if build_structure(structure, items, self._resolve) == words:
                return [prefix + " ".join([structure.name, *map(str, items)])]
        except SourceProblem:
            pass
        return [prefix + row for row in hex_rows(words)]


def _more(rows: Sequence[str]) -> list[str]:
    return ["+ " + row for row in rows]
