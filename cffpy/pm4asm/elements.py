# SPDX-License-Identifier: MIT
"""Elements: a register, or a dword of a packet or structure, as fields; both ways.

A packet's fields may choose the meaning of the fields after them (a *variant*). A variant applies
until the end of the packet, so each line can be read without the lines before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.pm4asm.model import FieldList, Item, Number, SourceProblem, Value
from cffpy.pm4asm.values import (
    DwordField,
    Labels,
    Resolve,
    decode,
    encode,
    make_field,
    nearest,
    plain_field,
)
from cffpy.regdb.database import Database, Found, holds
from cffpy.regdb.rows import BITSET, ENUM, INLINE_BITSET, INLINE_ENUM, NAMED_INLINE_BITSET

if TYPE_CHECKING:
    from cffpy.row_readers import Rows

_BITSETS = (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET)
_ENUMS = (ENUM, INLINE_ENUM)

Variants = dict[str, int]


class Element(NamedTuple):
    """One or two dwords and their fields. ``is_bitset``: each field has a name."""

    fields: tuple[DwordField, ...]
    dwords: int
    is_bitset: bool

    def holding(self, word: int, variants: Variants, database: Database) -> list[DwordField]:
        """The fields that are there in these variants, which the word's fields may change."""
        for field in self.fields:
            if field.selects and _holds(field, variants):
                _select(field, field.extract(word), variants, database)
        return [field for field in self.fields if _holds(field, variants)]


def make_element(register: Found, name: str, database: Database, variants: Variants) -> Element:
    """The element that the database found; ``name`` is that of an element with one field."""
    row = register.type
    assert row is not None
    if row[0] not in _BITSETS:
        field = make_field(name, row, None, database, variants)
        return Element((field,), register.dwords, False)
    fields = [
        make_field(inner, kind, condition, database, variants) for inner, condition, kind in row[7]
    ]
    return Element(tuple(fields), register.dwords, True)


def row_elements(rows: Rows) -> dict[int, Element]:
    """Dword -> element, for a packet of which only rows are known."""
    elements: dict[int, Element] = {}
    for path, dword, low, width in rows:
        _, dot, name = path.rpartition(".")
        field = plain_field(name, low, low + width - 1)
        before = elements[dword].fields if dword in elements else ()
        elements[dword] = Element((*before, field), (low + width + 31) // 32, bool(dot))
    return elements


def _holds(field: DwordField, variants: Variants) -> bool:
    return field.condition is None or holds(field.condition, variants)


def _select(field: DwordField, bits: int, variants: Variants, database: Database) -> None:
    name = database.enum_name(field.selects, bits, variants)
    position = None if name is None else database.variant(field.selects, name)
    if position is not None:
        variants[field.selects] = position


def show(fields: Sequence[DwordField], word: int, labels: Labels) -> tuple[list[Item], int]:
    """The items of the fields of ``word``, and the bits that no field covers.

    Numbers that are 0 are left out, as what is not said is 0.
    """
    items = []
    covered = 0
    for field in fields:
        mask = field.mask
        if not mask & ~covered or not field.name:
            continue
        bits = (word & mask) >> field.low
        if bits or (field.kind in _ENUMS and 0 in field.names):
            items.append(Item(field.name, decode(field, bits, labels)))
            covered |= mask
    return items, word & ~covered


class Taken:
    """Items of a line that are still to be encoded, by name."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items: dict[str | int, Item] = {}
        self._seen: list[str] = []
        for item in items:
            if item.name in self._items:
                raise SourceProblem(f"{item.name} is given twice", item.column)
            self._items[item.name] = item

    def __bool__(self) -> bool:
        return bool(self._items)

    def __contains__(self, name: str | int) -> bool:
        return name in self._items

    def take(self, name: str | int) -> Item | None:
        """Remove and return the item of this name, or None."""
        if isinstance(name, str):
            self._seen.append(name)
        return self._items.pop(name, None)

    def rename(self, known: Collection[str], others: Callable[[str], Iterable[str]]) -> None:
        """Give each item whose name is not ``known`` the known one among its ``others``."""
        for name in [one for one in self._items if isinstance(one, str) and one not in known]:
            for other in others(name):
                if other in known and other not in self._items:
                    self._items[other] = self._items.pop(name)
                    break

    def places(self) -> Iterator[int]:
        """Dwords that are named by number."""
        return (name for name in self._items if isinstance(name, int))

    def unknown(self, where: str) -> SourceProblem:
        """The error for the items that are left."""
        item = next(iter(self._items.values()))
        near = nearest(item.name, self._seen) if isinstance(item.name, str) else ""
        name = f"[{item.name}]" if isinstance(item.name, int) else item.name
        return SourceProblem(f"{where} has no field {name}{near}", item.column)


def build(
    element: Element, taken: Taken, variants: Variants, database: Database, resolve: Resolve
) -> tuple[int, bool]:
    """The element's dwords from the items that are its fields; and whether there were any."""
    word = given = 0
    there = False
    ordered = [field for field in element.fields if field.selects]
    ordered += [field for field in element.fields if not field.selects]
    for field in ordered:
        if not field.name or not _holds(field, variants):
            continue
        item = taken.take(field.name)
        bits = 0
        if item is not None:
            there = True
            bits = encode(field, item.value, resolve, item.column)
            mask = field.mask
            if given & mask and (word ^ bits << field.low) & given & mask:
                message = f"{field.name} contradicts another field of the same bits"
                raise SourceProblem(message, item.column)
            word |= bits << field.low
            given |= mask
        if field.selects:
            _select(field, bits, variants, database)
    return word, there


def show_value(element: Element, word: int, labels: Labels) -> Value:
    """A register's value; what its fields cannot say, as a number."""
    if not element.is_bitset:
        field = element.fields[0]
        shown = decode(field, field.extract(word), labels)
        return Number("1") if shown is None else shown
    items, rest = show(element.fields, word, labels)
    return FieldList((*items, Number(f"{rest:#x}")) if rest else tuple(items))


def build_value(
    element: Element,
    value: Value,
    name: str,
    database: Database,
    variants: Variants,
    resolve: Resolve,
) -> int:
    """The dwords of a register from its value."""
    if not element.is_bitset:
        field = element.fields[0]
        return encode(field, value, resolve) << field.low
    whole = plain_field(name, 0, element.dwords * 32 - 1)
    if not isinstance(value, FieldList):
        return encode(whole, value, resolve)
    taken = Taken([item for item in value.items if isinstance(item, Item)])
    names = {field.name for field in element.fields}
    taken.rename(names, partial(database.other_fields, name))
    word, _ = build(element, taken, dict(variants), database, resolve)
    if taken:
        raise taken.unknown(name)
    for item in value.items:
        if isinstance(item, Number):
            word |= encode(whole, item, resolve)
    return word
