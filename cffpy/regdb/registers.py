# SPDX-License-Identifier: MIT
"""Registers of a GPU by name or offset; the text of their values and fields.

A 64-bit register is named by its lower dword.
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import UnknownName
from cffpy.frame.field import FieldValue
from cffpy.frame.register import Register
from cffpy.regdb import rows
from cffpy.regdb.database import holds
from cffpy.regdb.decode import Decoder, Palette, type_mask
from cffpy.regdb.rows import LAST_OFFSET, offset_of
from cffpy.regdb.spelling import names_of_halves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cffpy.regdb.database import Database, Found

#: The text of a number without a name, and of a field without a type.
_HEX = re.compile(r"0|0x[0-9a-f]+")
_SIGNED = (rows.INT, rows.FIXED)
_SCALED = (rows.FIXED, rows.UFIXED)
#: struct formats of a float and of its bits, by width.
_FLOATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}


#: Values whose fields are kept, at most.
MAX_KNOWN = 1 << 12


def named_field(fields: Mapping[str, FieldValue], name: str) -> FieldValue | None:
    """A field of a packet by name; an address also by its halves, or by both together."""
    if name in fields:
        return fields[name]
    low, high = names_of_halves(name)
    lower, upper = fields.get(low, fields.get(name)), fields.get(high)
    if lower is not None and upper is not None and upper.low == lower.high + 1:
        first, second = number_of(lower), number_of(upper)
        if first is not None and second is not None:
            return _number(name, lower.low, upper.high, first | second << 32)
    for shift, end in ((0, "_LO"), (32, "_HI")):
        whole = fields.get(name.removesuffix(end)) if name.endswith(end) else None
        bits = None if whole is None else number_of(whole)
        if whole is not None and bits is not None and whole.high == whole.low + 63:
            start = whole.low + shift
            return _number(name, start, start + 31, bits >> shift & 0xFFFFFFFF)
    return None


def number_of(field: FieldValue) -> int | None:
    """The value as an integer; None where it is a name or a float."""
    return int(field.value) if isinstance(field.value, int) else None


def _number(name: str, low: int, high: int, value: int) -> FieldValue:
    return FieldValue(name, low, high, f"{value:#x}", value, value)


class FieldText(NamedTuple):
    """A field of one dword: its name, its value as text, and its bits, in place.

    ``dword``: the name of the dword, of a structure in memory.
    """

    name: str
    text: str
    bits: int
    dword: str = ""


class RegisterText:
    """Text of the registers of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._decoder = Decoder(database, Palette())
        #: Fields by register, value and the variants in force.
        self._fields: dict[tuple[object, ...], tuple[FieldText, ...]] = {}

    def name(self, register: int) -> str:
        """The register's name, its offset in hex where it has none."""
        described = self._found(register)
        return f"{register:#x}" if described is None else described.name

    def other_fields(self, register: str, field: str) -> tuple[str, ...]:
        """Names of a register's field in other installed editions."""
        return self._database.other_fields(register, field)

    def is_port(self, register: int) -> bool:
        """Whether this is the register of a port, whose values are its elements' values."""
        return any(port.offset == register for port in self._database.ports.values())

    def is_wide(self, register: int) -> bool:
        """Whether this is the lower dword of a 64-bit register."""
        described = self._found(register)
        return described is not None and described.dwords == 2 and not _is_upper(described)

    def value(self, register: int, registers: Mapping[int, int]) -> int:
        """The value of the register; 64 bits where it is the lower dword of a 64-bit register.

        An upper dword that is not in ``registers`` counts as 0.
        """
        value = registers[register]
        return value | registers.get(register + 1, 0) << 32 if self.is_wide(register) else value

    def text(self, register: int, registers: Mapping[int, int]) -> str:
        """The decoded value, of both dwords of a 64-bit register."""
        return self.formatter(register)(self.value(register, registers))

    def formatter(self, register: int) -> Callable[[int], str]:
        """The function that decodes values of the register, of all bits of a 64-bit register."""
        described = self._found(register)
        if described is None or described.type is None or _is_upper(described):
            return hex
        return self._decoder.formatter(described.type).text

    def field_values(self, register: int, registers: Mapping[int, int]) -> list[FieldValue]:
        """The bitfields in the order of the description; [] where the register is not a bitset.

        Bits that the description leaves out come last, as one field "other bits" of all bits. Bits
        that two fields share are in the wider one.
        """
        described = self._found(register)
        if described is None or described.type is None or described.type[0] not in rows.BITSETS:
            return []
        if _is_upper(described):
            return []
        value = self.value(register, registers)
        shown = []
        covered = 0
        for name, _, field in self._without_parts(described.type[7]):
            low, high = field[2], field[3]
            mask = type_mask(low, high)
            covered |= mask
            text = self._decoder.formatter(field).text(value & mask)
            typed = _typed(field, value & mask, text)
            shown.append(FieldValue(name, low, high, text, typed, (value & mask) >> low))
        rest = value & ~covered
        if rest:
            high = 63 if described.dwords == 2 else 31
            shown.append(FieldValue("other bits", 0, high, f"{rest:#x}", rest, rest))
        return shown

    def fields(self, register: int, value: int) -> tuple[FieldText, ...]:
        """The fields of one dword; a single one without a name where the register has none.

        What a description leaves out of a bitset comes last, as "other bits". Bits that two fields
        share are in the wider one.
        """
        key = register, value, self._decoder.variants_key
        known = self._fields.get(key)
        if known is None:
            if len(self._fields) >= MAX_KNOWN:
                self._fields.clear()
            known = tuple(self._fields_of(register, value))
            self._fields[key] = known
        return known

    def _fields_of(self, register: int, value: int) -> Iterator[FieldText]:
        described = self._found(register)
        if described is None or described.type is None or described.dwords == 2:
            yield FieldText("", f"{value:#x}", value)
            return
        if described.type[0] not in rows.BITSETS:
            yield FieldText("", self._decoder.formatter(described.type).text(value), value)
            return
        covered = 0
        for name, _, field in self._without_parts(described.type[7]):
            mask = type_mask(field[2], field[3])
            covered |= mask
            bits = value & mask
            yield FieldText(name, self._decoder.formatter(field).text(bits), bits)
        rest = value & ~covered
        if rest:
            yield FieldText("other bits", f"{rest:#x}", rest)

    def type_name(self, register: int) -> str:
        """The name of the register's type; empty where it is unknown."""
        described = self._found(register)
        return "" if described is None or described.type is None else described.type[1]

    def variants(self, domain: str, dwords: Sequence[int]) -> dict[str, int]:
        """The variants that the fields of a packet choose: position in the enum by its name."""
        self._decoder.choose(domain, dwords)
        return dict(self._decoder.variants)

    def descriptor_fields(self, domain: str, dwords: Sequence[int]) -> list[FieldText]:
        """The fields of a structure in memory. Bits that two fields share are in the wider one.

        Bits of a dword that the description leaves out come last, as "other bits of dword N".
        """
        shown = []
        self._decoder.choose(domain, dwords)
        for offset, value in enumerate(dwords):
            described_dword = self._database.lookup(domain, offset, self._decoder.variants)
            if described_dword is None or described_dword.type is None:
                shown.append(FieldText(f"dword {offset}", f"{value:#x}", value))
                continue
            kind, fields = described_dword.type[0], described_dword.type[7]
            described = (
                fields
                if kind in rows.BITSETS
                else [(described_dword.name, None, described_dword.type)]
            )
            rest = value
            for name, _, field in self._without_parts(described):
                bits = value & type_mask(field[2], field[3])
                rest &= ~bits
                text = self._decoder.formatter(field).text(bits)
                shown.append(FieldText(name, text, bits, described_dword.name))
            if rest:
                name = f"other bits of dword {offset}"
                shown.append(FieldText(name, f"{rest:#x}", rest, described_dword.name))
        return shown

    def structure_fields(self, domain: str, dwords: Sequence[int]) -> list[FieldValue]:
        """The fields of a packet or of a structure in memory; bits count from its first dword on.

        A field of an array is named with its element, as in ``[1].COUNT``. What is not described
        is left out. Where a field chooses the meaning of others, such as MODE of CP_COND_REG_EXEC,
        those are listed that it chooses.
        """
        shown = []
        self._decoder.choose(domain, dwords)
        offset = 0
        while offset < len(dwords):
            described_dword = self._database.lookup(domain, offset, self._decoder.variants)
            start, value = offset, dwords[offset]
            offset += 1
            if described_dword is None or described_dword.type is None:
                continue
            if described_dword.type[3] >= 32 and offset < len(dwords):
                value |= dwords[offset] << 32
                offset += 1
            is_bitset = described_dword.type[0] in rows.BITSETS
            element, _, name = described_dword.name.rpartition(".")
            element = f"{element}." if element else ""
            described = (
                described_dword.type[7] if is_bitset else [(name, None, described_dword.type)]
            )
            for field_name, _, field in self._without_parts(described):
                low, high = field[2], field[3]
                bits = value & type_mask(low, high)
                text = self._decoder.formatter(field).text(bits)
                typed = _typed(field, bits, text)
                place = 32 * start + low, 32 * start + high
                shown_name = f"{element}{field_name}"
                shown.append(FieldValue(shown_name, *place, text, typed, bits >> low))
        return shown

    def _without_parts(self, fields: Iterable[rows.FieldRow]) -> list[rows.FieldRow]:
        """The fields in force whose bits are not all bits of another, wider one.

        An example is CHROMA_MIDPOINT_X of an a6xx texture, which is part of MIPLVLS.
        """
        live = [row for row in fields if row[1] is None or holds(row[1], self._decoder.variants)]
        bits = [(row[2][2], row[2][3]) for row in live]
        return [
            row
            for row, (low, high) in zip(live, bits, strict=True)
            if not any(
                first <= low and high <= last and last - first > high - low for first, last in bits
            )
        ]

    def listed(self, registers: Iterable[int]) -> list[int]:
        """The registers by offset, without the upper halves of registers of two dwords."""
        ordered = sorted(registers)
        if ordered and ordered[-1] > LAST_OFFSET:
            ordered.sort(key=offset_of)  # elements of a port, in order, where the port is
        present = set(ordered)
        return [
            register
            for register in ordered
            if not (register - 1 in present and self._is_upper(register))
        ]

    def _is_upper(self, register: int) -> bool:
        described = self._found(register)
        return described is not None and _is_upper(described)

    def _found(self, register: int) -> Found | None:
        return self._database.register(register, self._decoder.variants)


def _is_upper(register: Found) -> bool:
    """Whether it is the upper dword of a 64-bit register."""
    return register.dwords == 2 and register.parts[-1][0] in ("high", "plus")


def _typed(field: rows.TypeRow, masked: int, text: str) -> bool | int | float | str:
    """The value of a field for ``FieldValue``. ``masked``: the field's bits, in place."""
    kind, _name, low, high, shr, radix = field[:6]
    width = high - low + 1
    value = masked >> low << shr
    if kind == rows.BOOLEAN:
        return bool(value)
    if kind in _SIGNED and masked >> high & 1:
        value -= 1 << width
    if kind in _SCALED:
        return float(value / (1 << radix))
    if kind in (rows.INT, rows.UINT):
        return value
    if kind == rows.FLOAT and width in _FLOATS:
        number, bits = _FLOATS[width]
        number_value: float = struct.unpack(number, struct.pack(bits, value))[0]
        return number_value if math.isfinite(number_value) else text
    is_named = kind == rows.REGID or (
        kind in (rows.ENUM, rows.INLINE_ENUM) and not _HEX.fullmatch(text)
    )
    return text if is_named else value


class Registers:
    """All registers of a GPU: ``registers["RB_DEPTH_CNTL"]``, ``registers[0x8871]``."""

    def __init__(self, database: Database) -> None:
        #: The descriptions of the GPU; their shape may change.
        self.database = database
        self._text = RegisterText(database)
        #: Registers that were looked up, by name or offset; do not change it.
        self.known: dict[str | int, Register] = {}
        #: Those at offsets, also where none is described.
        self._at: dict[int, Register] = {}

    def __getitem__(self, key: str | int) -> Register:
        """The register of a name, with indices as in ``RB_MRT[0].CONTROL``, or of an offset.

        Case and the radix of indices do not matter. Raises UnknownName, which is a KeyError; its
        message has names that are spelt like it.
        """
        try:
            return self.known[key]
        except (KeyError, TypeError):
            pass
        register = self.find(key) if isinstance(key, str | int) else None
        if register is None:
            raise UnknownName(self._no_such_register(key))
        return register

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str | int) and self.find(key) is not None

    def __iter__(self) -> Iterator[str]:
        """The names of all registers; of arrays, those of the first element."""
        return (name for name, _offset in self.database.register_names())

    def at(self, offset: int) -> Register:
        """The register at an offset in dwords; one without a name where none is described."""
        known = self._at.get(offset)
        if known is None:
            text = self._text
            bits = 64 if text.is_wide(offset) else 32
            known = self._at[offset] = Register(
                text.name(offset), offset, offset_of(offset), bits, False, text
            )
        return known

    def find(self, key: str | int) -> Register | None:
        """As ``self[key]``; None where there is no such register."""
        known = self.known.get(key)
        if known is None:
            known = self._find(key)
            if known is not None:
                self.known[key] = known
        return known

    def _find(self, key: str | int) -> Register | None:
        if isinstance(key, int):
            return None if self.database.register(key, {}) is None else self.at(key)
        named = self.database.find_named(key)
        if named is None:
            return None
        if named.is_described:
            return self.at(named.offset)
        number, bits = named.offset, named.bits
        return Register(named.name, number, offset_of(number), bits, bits > 32, self._text)

    def _no_such_register(self, key: str | int) -> str:
        chip = self.database.chip
        if not isinstance(key, str):
            shown = f"{key:#x}" if isinstance(key, int) else repr(key)
            return f"{chip.lower()} has no register at offset {shown}"
        from cffpy.regdb import store
        from cffpy.regdb.catalog import Catalog
        from cffpy.regdb.lookup import no_such_register

        return no_such_register(Catalog(store.load(self.database.directory, chip)), key)

    def __repr__(self) -> str:
        return f"<Registers of {self.database.chip.lower()}>"
