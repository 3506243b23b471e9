# SPDX-License-Identifier: MIT
"""Groups (instructions, structs, registers) of one generation and the fields that they unfold to.

A repeat unfolds to its items. A struct inside a group is not unfolded here: text.py prints it as a
separate group. ``Database`` has the groups of a generation, and look-ups.
"""

from __future__ import annotations

import marshal
from struct import unpack_from

from cffpy.intel.descriptions import rows, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_M64 = (1 << 64) - 1

#: Fields that one group may unfold to; the largest of Mesa's has 4,000.
_MAX_FIELDS = 1 << 16
#: Fields that a group keeps, of all its lengths together.
_MAX_KEPT_FIELDS = 1 << 9

_UNKNOWN = -1

_MI, _BLITTER, _RENDER = 0, 2, 3


def length_by_header(header: int) -> int:
    """Length in dwords, or _UNKNOWN. (intel_decoder.c: intel_group_get_length, mesa 25.0.7)."""
    kind = header >> 29
    if kind == _MI:
        return 1 if (header >> 23 & 0x3F) < 16 else (header & 0xFF) + 2
    if kind == _BLITTER:
        return (header & 0xFF) + 2
    if kind == _RENDER:
        return _render_length(header)
    return _UNKNOWN


def _render_length(header: int) -> int:
    opcode = header >> 24 & 7
    whole = header >> 16
    match header >> 27 & 3:
        case 0:
            if whole == 0x6104:  # PIPELINE_SELECT of gen4
                return 1
            return (header & 0xFF) + 2 if opcode < 2 else _UNKNOWN
        case 1:
            return 1 if opcode < 2 else _UNKNOWN
        case 2:
            if whole == 0x73A2:  # HCP_PAK_INSERT_OBJECT
                return (header & 0xFFF) + 2
            if opcode == 0:
                return (header & 0xFF) + 2
            return (header & 0xFFFF) + 2 if opcode < 3 else _UNKNOWN
        case _:
            if whole == 0x780B:
                return 1
            return (header & 0xFF) + 2 if opcode < 4 else _UNKNOWN


class Field:
    """A field at its place: ``low`` and ``high`` bits from the start of the group.

    ``name`` has the indices of repeats. ``dword`` holds the value; ``is_wide``: it and the next.
    ``shift`` and ``mask`` take the value out of these, ``left`` shifts addresses back to their
    place.
    """

    __slots__ = (
        "argument",
        "dword",
        "high",
        "is_opcode",
        "is_wide",
        "kind",
        "left",
        "low",
        "mask",
        "name",
        "shift",
        "values",
    )

    def __init__(self, row: tuple[Any, ...], base: int, indices: str, p_bit: int = 0) -> None:
        name, low, high, kind, self.argument, self.values, self.is_opcode = row
        self.name: str = name + indices
        self.kind: int = kind
        low += base
        high += base
        self.low: int = low
        self.high: int = high
        self.dword: int = low // 32
        distance = high - low
        start = (low + p_bit) % 32
        self.shift: int = start
        self.left = start if kind in (rows.ADDRESS, rows.OFFSET) else 0
        if start + distance < 32:  # nearly all
            self.is_wide = False
            self.mask = (2 << distance) - 1
            return
        self.is_wide = distance > 32
        # intel_decoder.c reduces the last bit modulo 32, too, where a field fits one dword; its
        # shifts count modulo 64 on the machines that it runs on (mesa 25.0.7)
        end = start + distance if self.is_wide else (high + p_bit) % 32
        ones = _M64 >> ((63 - end + start) & 63)
        self.mask = (ones << start & _M64) >> start

    def value(self, words: Sequence[int]) -> int:
        """The raw value; dwords that are missing count as 0. Addresses keep their low zeros."""
        count = len(words)
        word: int = words[self.dword] if self.dword < count else 0
        if self.is_wide and self.dword + 1 < count:
            word |= words[self.dword + 1] << 32
        value: int = (word >> self.shift & self.mask) << self.left & _M64
        return value


class Group:
    """An instruction, struct or register of a generation."""

    __slots__ = (
        "_blob",
        "_fields",
        "_kept",
        "_members",
        "_readers",
        "bias",
        "code",
        "engines",
        "has_open_repeat",
        "kind",
        "length",
        "length_bits",
        "mask",
        "name",
        "offset",
    )

    def __init__(self, row: tuple[Any, ...], kind: str) -> None:
        (
            self.name,
            self.length,
            self.bias,
            self.engines,
            self.length_bits,
            self.mask,
            self.code,
            self.offset,
            self._blob,
        ) = row
        self.kind = kind
        self._members: tuple[Any, ...] | None = None
        #: Whether a repeat continues until the end of the instruction; known with the members.
        self.has_open_repeat = True
        self._readers: dict[tuple[int, tuple[str, ...]], list[Field | None]] = {}
        #: Fields by what they depend on, and how many there are.
        self._fields: dict[tuple[int, int, int], list[Field]] = {}
        self._kept = 0

    @property
    def members(self) -> tuple[Any, ...]:
        """The rows of fields and repeats (descriptions/rows.py)."""
        if self._members is None:
            self._members = marshal.loads(self._blob)
            assert self._members is not None
            self.has_open_repeat = any(row[0] is None and not row[2] for row in self._members)
        return self._members

    @property
    def dwords(self) -> int:
        """The length of a struct or register in dwords."""
        length: int | None = self.length
        return length or 0

    def length_of(self, header: int) -> int:
        """Length in dwords by the first dword; -1 where it is unknown."""
        if self.kind != "instruction":
            return self.dwords
        if self.length_bits is not None:
            low, high = self.length_bits
            length: int = (header >> low & ((1 << (high - low + 1)) - 1)) + self.bias
            return length
        return length_by_header(header)

    def fields(self, length: int, header: int = 0, p_bit: int = 0) -> Sequence[Field]:
        """The fields of a group of ``length`` dwords (-1: no limit) in the order of printing.

        It ends with the first field that begins past the length. ``header`` decides how often
        an open repeat repeats.
        """
        key = (length, length_by_header(header) if self.has_open_repeat else 0, p_bit)
        fields = self._fields.get(key)
        if fields is None:
            fields = list(self._limited_fields(length, header, p_bit))
            if self._kept + len(fields) <= _MAX_KEPT_FIELDS:
                self._kept += len(fields)
                self._fields[key] = fields
        return fields

    def _limited_fields(self, length: int, header: int, p_bit: int) -> Iterator[Field]:
        limit = length if length >= 0 else _MAX_FIELDS
        for count, field in enumerate(_unfold(self.members, 0, "", header, p_bit)):
            if field.dword >= limit or count >= _MAX_FIELDS:
                return
            if field.dword + 1 == limit:
                field.is_wide = False  # the reference does not read past the length
            yield field

    def reader(self, length: int, names: tuple[str, ...], header: int = 0) -> list[Field | None]:
        """For each name the last field that has it, or None."""
        fields = self._readers.get((length, names))
        if fields is None:
            last = {field.name: field for field in self.fields(length, header)}
            fields = self._readers[length, names] = [last.get(name) for name in names]
        return fields

    def values(
        self, words: Sequence[int], names: tuple[str, ...], length: int | None = None
    ) -> list[int | None]:
        """The raw values of the named fields; None where the group has no such field."""
        if length is None:
            length = self.length_of(words[0]) if words else 0
        fields = self.reader(length, names, words[0] if words else 0)
        return [None if field is None else field.value(words) for field in fields]


class Command:
    """An instruction: its description, its dwords, and maybe some dwords that follow."""

    __slots__ = ("group", "words")

    def __init__(self, group: Group, data: bytes) -> None:
        self.group = group
        self.words: tuple[int, ...] = unpack_from(f"<{len(data) // 4}I", data)

    def dword(self, number: int) -> int:
        """The dword of this number; 0 where it is missing."""
        return self.words[number] if number < len(self.words) else 0

    def values(self, *names: str) -> list[int | None]:
        """The raw values of the named fields, None where the instruction has no such field."""
        return self.group.values(self.words, names)

    def number(self, name: str) -> int:
        """The raw value of a field; 0 where the instruction has none of this name."""
        return self.group.values(self.words, (name,))[0] or 0

    def text(self, name: str) -> str:
        """The name of a field's value, else a decimal; "" where there is no such field."""
        header = self.dword(0)
        field = self.group.reader(self.group.length_of(header), (name,), header)[0]
        if field is None:
            return ""
        value = field.value(self.words)
        return next((text for number, text in field.values if number == value), str(value))


def _unfold(
    members: tuple[Any, ...], base: int, indices: str, header: int, p_bit: int
) -> Iterator[Field]:
    for row in members:
        if row[0] is not None:
            yield Field(row, base, indices, p_bit)
            continue
        _, start, count, size, inside = row
        index = 0
        while True:
            offset = base + start + index * size
            yield from _unfold(inside, offset, f"{indices}[{index}]", header, p_bit)
            index += 1
            if count == 0:
                # aubinator measures a repeat by the header, not by the bias of the instruction
                # (intel_decoder.c: iter_more_array_elems, mesa 25.0.7)
                length = length_by_header(header)
                if length >= 0 and offset + size >= length * 32:
                    break
                if index >= _MAX_FIELDS:
                    break
            elif index >= count:
                break


class Database:
    """Instructions, structs and registers of the generation ``verx10`` (125 for 12.5).

    ``directory``: another edition; None is the bundled one. Raises UnsupportedGpu.
    """

    def __init__(self, verx10: int, directory: str | None = None) -> None:
        rows = store.load_generation(directory, verx10)
        self.verx10 = verx10
        self.ver = verx10 // 10
        self.name: str = rows["name"]
        self._directory = directory
        self._formats: dict[int, str] | None = None
        self._instruction_rows: list[tuple[Any, ...]] = rows["instructions"]
        self._instructions: dict[int, Group] = {}
        self._struct_rows: dict[str, Any] = rows["structs"]
        self._register_rows: dict[str, Any] = rows["registers"]
        self._by_offset: dict[int, str] = rows["by_offset"]
        self._structs: dict[str, Group] = {}
        self._registers: dict[str, Group] = {}
        #: Instructions by the upper half of their first dword, for each engine.
        self._found: dict[int, dict[int, Group | None]] = {}

    @property
    def formats(self) -> dict[int, str]:
        """Names of surface formats by number."""
        if self._formats is None:
            self._formats = store.formats(self._directory)
        return self._formats

    @property
    def instructions(self) -> list[Group]:
        """All instructions, in the order of look-up."""
        return [self._instruction(number) for number in range(len(self._instruction_rows))]

    def _instruction(self, number: int) -> Group:
        group = self._instructions.get(number)
        if group is None:
            group = Group(self._instruction_rows[number], "instruction")
            self._instructions[number] = group
        return group

    @property
    def struct_names(self) -> list[str]:
        """Names of all structs."""
        return list(self._struct_rows)

    @property
    def register_names(self) -> list[str]:
        """Names of all registers."""
        return list(self._register_rows)

    def instruction(self, header: int, engine: int) -> Group | None:
        """The instruction that begins with this dword on an engine (a bit of rows.ENGINE_BITS)."""
        remembered = self._found.setdefault(engine, {})
        upper = header >> 16  # masks have no lower bits
        if upper in remembered:
            return remembered[upper]
        group = None
        for number, (_, _, _, engines, _, mask, code, _, _) in enumerate(self._instruction_rows):
            if header & mask == code and engines & engine:
                group = self._instruction(number)
                break
        remembered[upper] = group
        return group

    def struct(self, name: str) -> Group | None:
        """The struct of this name, or None."""
        return _group(self._structs, self._struct_rows, name, "struct")

    def register(self, name: str) -> Group | None:
        """The register of this name, or None."""
        return _group(self._registers, self._register_rows, name, "register")

    def register_at(self, offset: int) -> Group | None:
        """The register at this offset in bytes, or None."""
        name = self._by_offset.get(offset)
        return None if name is None else self.register(name)


def _group(known: dict[str, Group], rows: dict[str, Any], name: str, kind: str) -> Group | None:
    group = known.get(name)
    if group is None and name in rows:
        group = known[name] = Group(rows[name], kind)
    return group
