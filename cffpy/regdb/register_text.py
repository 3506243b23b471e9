# SPDX-License-Identifier: MIT
"""Names and values of registers as plain text, the lower dword of a 64-bit one for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.regdb.database import holds
from cffpy.regdb.decode import Decoder, Palette, type_mask
from cffpy.regdb.rows import BITSET, INLINE_BITSET, NAMED_INLINE_BITSET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cffpy.regdb.database import Database, Found
    from cffpy.regdb.rows import FieldRow

_BITSETS = (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET)


class DescriptorField(NamedTuple):
    """A field of a structure in memory: its name, its value as text, the name of its dword."""

    name: str
    text: str
    dword: str


class RegisterText:
    """Text of the registers of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._decoder = Decoder(database, Palette())

    def name(self, register: int) -> str:
        """The register's name, its offset in hex where it has none."""
        found = self._found(register)
        return f"{register:#x}" if found is None else found.name

    def text(self, register: int, registers: Mapping[int, int]) -> str:
        """The decoded value of the register, of both its dwords where it has two."""
        value = registers[register]
        found = self._found(register)
        if found is None or found.type is None:
            return f"{value:#x}"
        if found.dwords == 2:
            value |= registers.get(register + 1, 0) << 32
        return self._decoder.formatter(found.type).text(value)

    def fields(self, register: int, value: int) -> list[tuple[str, str]]:
        """Names and texts of the fields of one dword; a single one without a name where none are.

        What a description leaves out of a bitset comes last, as "other bits". Bits that two fields
        share are in the wider one.
        """
        found = self._found(register)
        if found is None or found.type is None or found.dwords == 2:
            return [("", f"{value:#x}")]
        type_row = found.type
        if type_row[0] not in _BITSETS:
            return [("", self._decoder.formatter(type_row).text(value))]
        shown = []
        covered = 0
        for name, _, field in self._without_parts(type_row[7]):
            mask = type_mask(field[2], field[3])
            covered |= mask
            shown.append((name, self._decoder.formatter(field).text(value & mask)))
        if value & ~covered:
            shown.append(("other bits", f"{value & ~covered:#x}"))
        return shown

    def type_name(self, register: int) -> str:
        """The name of the register's type; empty where it is unknown."""
        found = self._found(register)
        return "" if found is None or found.type is None else found.type[1]

    def descriptor_fields(self, domain: str, dwords: Sequence[int]) -> list[DescriptorField]:
        """The fields of a structure in memory. Bits that two fields share are in the wider one."""
        shown = []
        for offset, value in enumerate(dwords):
            found = self._database.lookup(domain, offset, self._decoder.variants)
            if found is None or found.type is None:
                shown.append(DescriptorField(f"dword {offset}", f"{value:#x}", ""))
                continue
            kind, fields = found.type[0], found.type[7]
            rows = fields if kind in _BITSETS else [(found.name, None, found.type)]
            for name, _, field in self._without_parts(rows):
                text = self._decoder.formatter(field).text(value & type_mask(field[2], field[3]))
                shown.append(DescriptorField(name, text, found.name))
        return shown

    def _without_parts(self, rows: Iterable[FieldRow]) -> list[FieldRow]:
        """The fields in force whose bits are not all bits of another, wider one.

        a6xx has such: CHROMA_MIDPOINT_X of a texture lies in MIPLVLS.
        """
        live = [row for row in rows if row[1] is None or holds(row[1], self._decoder.variants)]
        bits = [(row[2][2], row[2][3]) for row in live]
        return [
            row
            for row, (low, high) in zip(live, bits, strict=True)
            if not any(
                first <= low and high <= last and last - first > high - low for first, last in bits
            )
        ]

    def listed(self, registers: Iterable[int]) -> list[int]:
        """The registers in order, without the upper halves of those that have two dwords."""
        ordered = sorted(registers)
        there = set(ordered)
        return [
            register
            for register in ordered
            if not (register - 1 in there and self._is_upper(register))
        ]

    def _is_upper(self, register: int) -> bool:
        found = self._found(register)
        return found is not None and found.dwords == 2 and found.parts[-1][0] in ("high", "plus")

    def _found(self, register: int) -> Found | None:
        return self._database.register(register, self._decoder.variants)
