# SPDX-License-Identifier: MIT
"""Packets: statements -> dwords, headers for the counts and offsets that a text gives."""

from __future__ import annotations

from collections.abc import Sequence

from cffpy.pm4.reader import (
    TYPE2_HEADER,
    type0_header,
    type3_header,
    type4_header,
    type7_header,
)
from cffpy.pm4asm.data import row_words, string_words
from cffpy.pm4asm.elements import build_value
from cffpy.pm4asm.model import Item, Name, Number, SourceProblem, Statement, Value
from cffpy.pm4asm.rows import build_row
from cffpy.pm4asm.values import Resolve, encode, plain_field
from cffpy.pm4asm.vocabulary import Structure, Vocabulary

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
