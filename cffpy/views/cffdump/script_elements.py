# SPDX-License-Identifier: MIT
"""Elements of the register database as tables for Lua scripts.

cffdump: rnnutil.c, script.c (mesa 25.0.7) look elements, fields and enum values up in the order of
declaration and pass over all conditions, those on the chip too.
"""

from __future__ import annotations

from cffpy.regdb import rows
from cffpy.regdb.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from cffpy.regdb.rows import ElementRow, TypeRow, ValueRow

    #: A table of the Lua runtime.
    Table = Any

#: The kind of a value as script_objects.lua names it; other types are objects.
_PLAIN = {
    rows.ENUM: "enum",
    rows.INLINE_ENUM: "enum",
    rows.HEX: "integer",
    rows.INT: "integer",
    rows.UINT: "integer",
    rows.FLOAT: "float",
    rows.BOOLEAN: "boolean",
}

#: The reference's numbers of types that are neither plain nor bitsets (enum rnnttype).
_NUMBERS = {rows.FIXED: 11, rows.UFIXED: 12, rows.REGID: 13}


class DeclaredElements:
    """The elements that a root file ("a6xx") and its imports declare."""

    def __init__(self, lua: Any, declared: Database) -> None:  # noqa: ANN401
        """``lua``: the runtime that the tables are for. ``declared``: ``Database.declared``."""
        self._lua = lua
        self._database = declared
        self._enums: dict[str, Table] = {}
        self._packets: dict[str, Table | None] = {}

    def register(self, name: str) -> Table | None:
        """The first element of the register domains with this name, as a table."""
        for domain in self._database.register_domains:
            for row in self._elements(domain):
                if row[1] == name:
                    return self._element(row)
        return None

    def packet(self, domain: str) -> Table | None:
        """Offset -> table of the first element there, of a packet's or structure's domain."""
        if domain not in self._packets:
            self._packets[domain] = self._of_domain(domain)
        return self._packets[domain]

    def _of_domain(self, domain: str) -> Table | None:
        if self._database.domain(domain) is None:
            return None
        first: dict[int, Table] = {}
        for row in self._elements(domain):
            offset = _offset(row)
            if offset not in first:
                first[offset] = self._element(row)
        return self._lua.table_from(first)

    def _elements(self, domain: str) -> Iterable[ElementRow]:
        return (self._database.domain(domain) or ((), None))[0]

    def _element(self, row: ElementRow) -> Table:
        if row[0] == rows.STRIPE:
            return self._lua.table(kind="stripe", offset=_offset(row))
        if row[0] == rows.ARRAY:
            return self._array(row)
        kind: TypeRow = row[7]
        element = self._lua.table(
            kind=_PLAIN.get(kind[0], "object"),
            offset=row[3],
            wide=row[6] == 2,
            shr=kind[4],
            number=_NUMBERS.get(kind[0], 0),
        )
        if kind[0] in rows.BITSETS:
            element.fields = self._lua.table_from(dict(self._fields(kind)))
        elif kind[0] in (rows.ENUM, rows.INLINE_ENUM):
            element.names = self._names(kind)
        return element

    def _array(self, row: ElementRow) -> Table:
        inside = row[7]
        array = self._lua.table(kind="array", offset=_offset(row), stride=row[5])
        if len(inside) == 1:
            array.single = self._element(inside[0])
        else:
            elements = {element[1]: self._element(element) for element in reversed(inside)}
            elements.pop(None, None)
            array.elements = self._lua.table_from(elements)
        return array

    def _fields(self, kind: TypeRow) -> Iterator[tuple[str, Table]]:
        for name, _, field in reversed(kind[7]):  # the first of a name counts
            low, high = field[2], field[3]
            made = self._lua.table(
                kind=_PLAIN.get(field[0], "object"),
                mask=(2 << min(high, 31)) - (1 << low) if low < 32 else 0,
                low=low,
                shr=field[4],
            )
            if field[0] in (rows.ENUM, rows.INLINE_ENUM):
                made.names = self._names(field)
            yield name, made

    def _names(self, kind: TypeRow) -> Table:
        """Number -> name of an enum's values; numbers are signed, of 64 bits."""
        if kind[0] == rows.INLINE_ENUM:
            return self._lua.table_from(_by_number(kind[7]))
        table = self._enums.get(kind[7])
        if table is None:
            table = self._lua.table_from(_by_number(self._database.enum(kind[7])))
            self._enums[kind[7]] = table
        return table


def _offset(row: ElementRow) -> int:
    offset = row[3]
    return offset[0] if isinstance(offset, tuple) else int(offset)


def _by_number(values: Iterable[ValueRow]) -> dict[int, str]:
    names: dict[int, str] = {}
    for name, number, _ in values:
        if number is not None:
            names.setdefault(number - (1 << 64) if number >> 63 else number, name)
    return names
