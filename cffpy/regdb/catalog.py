# SPDX-License-Identifier: MIT
"""Walks the compiled rows of one generation by name: what show and search look through.

Dwords of packets and of structures in memory have no names that mean anything, so a field belongs
to the whole. An address is one
field of 64 bits, or two of 32: ``X_LO`` (or ``X``) and ``X_HI``. A name may be written in either
form, regardless of the descriptions.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cffpy.regdb import rows, store
from cffpy.regdb.rows import Port
from cffpy.regdb.spelling import names_of_halves


class Level(NamedTuple):
    """One step of the path to a register: an array around it, or the register itself.

    ``start`` is relative to the step before, in dwords; it is a tuple for an array without a
    regular stride. ``length`` 0 is an array without an end.
    """

    name: str
    start: int | tuple[int, ...]
    length: int
    stride: int
    repeated: bool

    def offset(self, index: int) -> int | None:
        """Start of the repeat ``index``, or None beyond the last."""
        if self.length and index >= self.length:
            return None
        if isinstance(self.start, tuple):
            return self.start[index] if index < len(self.start) else None
        return self.start + index * self.stride


class RegisterPattern(NamedTuple):
    """A register or an array of a domain, at any indices."""

    domain: str
    row: rows.ElementRow
    levels: tuple[Level, ...]

    @property
    def name(self) -> str:
        """The name with open indices, such as ``RB_MRT[].CONTROL``."""
        return self.name_at(())

    @property
    def depth(self) -> int:
        """How many indices the name has."""
        return sum(level.repeated for level in self.levels)

    def name_at(self, indices: Sequence[int | None]) -> str:
        """The name with these indices; missing indices stay open."""
        rest = iter(indices)
        parts = []
        for level in self.levels:
            index = next(rest, None) if level.repeated else None
            shown = "" if index is None else str(index)
            parts.append(f"{level.name}[{shown}]" if level.repeated else level.name)
        return ".".join(parts)

    def offset_at(self, indices: Sequence[int | None]) -> int | None:
        """The offset in the domain in dwords, open indices being 0; None beyond an array's end."""
        rest = iter(indices)
        total = 0
        for level in self.levels:
            start = level.offset((next(rest, None) or 0) if level.repeated else 0)
            if start is None:
                return None
            total += start
        return total


class NamedElement(NamedTuple):
    """A register or an array of a domain: what a search through all names needs of it.

    ``name`` has open indices; ``offset`` is the first one's, in dwords.
    """

    row: rows.ElementRow
    name: str
    offset: int


class Catalog:
    """One generation, its domains and enums decoded when they are asked for."""

    def __init__(self, generation: Mapping[str, Any]) -> None:
        self.chip: str = generation["chip"]
        self.register_domains: tuple[str, ...] = generation["register_domains"]
        self.domain_names: tuple[str, ...] = tuple(generation["domains"])
        self.enum_names: tuple[str, ...] = tuple(generation["enums"])
        self.ports = tuple(Port(*row) for row in generation["ports"])
        self._generation = generation
        self._domains: dict[str, Sequence[rows.ElementRow]] = {}

    def domain(self, name: str) -> Sequence[rows.ElementRow] | None:
        """The elements of a domain, or None."""
        elements = self._domains.get(name)
        if elements is None:
            packed = self._generation["domains"].get(name)
            if packed is None:
                return None
            elements = self._domains[name] = marshal.loads(packed)[0]
        return elements

    def enum(self, name: str) -> tuple[rows.ValueRow, ...] | None:
        """The values of an enum, or None."""
        packed = self._generation["enums"].get(name)
        if packed is None:
            return None
        values: tuple[rows.ValueRow, ...] = marshal.loads(packed)
        return values

    def patterns(self, domain: str) -> Iterator[RegisterPattern]:
        """All registers and arrays of a domain."""
        yield from _patterns(domain, self.domain(domain) or (), 0, ())

    def elements(self, domain: str) -> Iterator[NamedElement]:
        """All registers and arrays of a domain, with less work than ``patterns``."""
        yield from _elements(self.domain(domain) or (), "", 0)

    def named(self, domain: str, name: str) -> Iterator[RegisterPattern]:
        """The registers and arrays with a name, which is in capitals and has no indices."""
        yield from _named(domain, self.domain(domain) or (), 0, (), name)

    def at(self, domain: str, offset: int) -> tuple[RegisterPattern, tuple[int, ...]] | None:
        """The first register of the domain that covers ``offset`` (in dwords), and its indices."""
        return _at(domain, self.domain(domain) or (), offset, 0, (), ())

    def bitsets(self) -> dict[str, rows.TypeRow]:
        """The named bitsets that some register or field of this generation uses."""
        bitsets: dict[str, rows.TypeRow] = {}
        for domain in self.domain_names:
            _collect_bitsets_of_elements(self.domain(domain) or (), bitsets)
        return bitsets


def catalogs(directory: str | None, chips: Sequence[str] | None = None) -> list[Catalog]:
    """The catalogs of an edition's generations, or of the ``chips`` named."""
    wanted = store.chips(directory) if chips is None else chips
    return [Catalog(store.load(directory, chip)) for chip in wanted]


def _patterns(
    domain: str, elements: Sequence[rows.ElementRow], base: int, around: tuple[Level, ...]
) -> Iterator[RegisterPattern]:
    for row in elements:
        if row[0] == rows.STRIPE:
            yield from _patterns(domain, row[6], base + row[3], around)
            continue
        levels = (*around, _level(row, base))
        yield RegisterPattern(domain, row, levels)
        if row[0] == rows.ARRAY:
            yield from _patterns(domain, row[7], 0, levels)


def _elements(elements: Sequence[rows.ElementRow], path: str, base: int) -> Iterator[NamedElement]:
    for row in elements:
        offset = row[3]
        start = base + (offset[0] if isinstance(offset, tuple) else offset)
        if row[0] == rows.STRIPE:
            yield from _elements(row[6], path, start)
        elif row[0] == rows.ARRAY:
            name = f"{path}{row[1]}[]"
            yield NamedElement(row, name, start)
            yield from _elements(row[7], f"{name}.", start)
        else:
            name = path + row[1] if row[4] == 1 else f"{path}{row[1]}[]"
            yield NamedElement(row, name, start)


def _named(
    domain: str,
    elements: Sequence[rows.ElementRow],
    base: int,
    around: tuple[Level, ...],
    wanted: str,
) -> Iterator[RegisterPattern]:
    for row in elements:
        if row[0] == rows.STRIPE:
            yield from _named(domain, row[6], base + row[3], around, wanted)
            continue
        name = row[1].upper()
        if name == wanted:
            yield RegisterPattern(domain, row, (*around, _level(row, base)))
        elif row[0] == rows.ARRAY and wanted.startswith(f"{name}."):
            inner = wanted[len(name) + 1 :]
            yield from _named(domain, row[7], 0, (*around, _level(row, base)), inner)


def _level(row: rows.ElementRow, base: int) -> Level:
    kind, name, _condition, offset, length, stride = row[:6]
    start = tuple(base + each for each in offset) if isinstance(offset, tuple) else base + offset
    return Level(name, start, length, stride, kind == rows.ARRAY or length != 1)


def _at(
    domain: str,
    elements: Sequence[rows.ElementRow],
    offset: int,
    base: int,
    around: tuple[Level, ...],
    indices: tuple[int, ...],
) -> tuple[RegisterPattern, tuple[int, ...]] | None:
    for row in elements:
        level = _level(row, base)
        index = _index(level, offset)
        start = None if index is None else level.offset(index)
        if index is None or start is None:
            continue
        place = None
        if row[0] == rows.STRIPE:
            place = _at(domain, row[6], offset, start, around, indices)
        else:
            levels = (*around, level)
            inner = (*indices, index) if level.repeated else indices
            if row[0] == rows.ARRAY:
                place = _at(domain, row[7], offset - start, 0, levels, inner)
            elif offset - start < row[6]:
                place = (RegisterPattern(domain, row, levels), inner)
        if place is not None:
            return place
    return None


# The only array element that can contain a dword at ``offset``.
def _index(level: Level, offset: int) -> int | None:
    if isinstance(level.start, tuple):
        matching = (
            index
            for index, start in enumerate(level.start)
            if start <= offset < start + level.stride
        )
        return next(matching, None)
    if offset < level.start:
        return None
    return 0 if level.length == 1 else (offset - level.start) // level.stride


def _collect_bitsets_of_elements(
    elements: Sequence[rows.ElementRow], bitsets: dict[str, rows.TypeRow]
) -> None:
    for row in elements:
        if row[0] == rows.REGISTER:
            _collect_bitsets(row[7], bitsets)
        else:
            _collect_bitsets_of_elements(row[-1], bitsets)


def _collect_bitsets(kind: rows.TypeRow, bitsets: dict[str, rows.TypeRow]) -> None:
    number, name, payload = kind[0], kind[1], kind[7]
    named = number in (rows.BITSET, rows.NAMED_INLINE_BITSET)
    # A register may add fields before the fields of its bitset; the shortest list is the bitset's.
    if named and (name not in bitsets or len(payload) < len(bitsets[name][7])):
        bitsets[name] = kind
    if named or number == rows.INLINE_BITSET:
        for field in payload:
            _collect_bitsets(field[2], bitsets)


#: Highest bit of a field of 64 bits, less its lowest.
_WIDE = 63


class StructureField(NamedTuple):
    """A field: its name, its lowest and highest bit, counted from the first dword on, its type."""

    name: str
    bits: tuple[int, int]
    type_row: rows.TypeRow


def structure_fields(elements: Sequence[rows.ElementRow]) -> list[StructureField]:
    """The fields of a domain's elements; of an array, the fields of its first entry.

    Where two elements begin at one dword, the first counts, unless it has a condition.
    """
    fields: list[StructureField] = []
    covered: set[int] = set()
    for offset, row, is_certain in _registers(elements, 0, True):
        if offset in covered:
            continue
        if is_certain:
            covered.update(range(offset, offset + row[6]))
        kind = row[7]
        described = kind[7] if kind[0] in rows.BITSETS else [(row[1], None, kind)]
        fields += [
            StructureField(name, (32 * offset + field[2], 32 * offset + field[3]), field)
            for name, _condition, field in described
            if name and not name.isdigit()
        ]
    return fields


def _registers(
    elements: Sequence[rows.ElementRow], base: int, is_certain: bool
) -> Iterator[tuple[int, rows.ElementRow, bool]]:
    """Offset, row, and whether it exists in all variants, of each register."""
    for row in elements:
        certain = is_certain and row[2] is None
        start = base + (row[3] if isinstance(row[3], int) else row[3][0])
        if row[0] == rows.REGISTER:
            yield start, row, certain
        else:
            yield from _registers(row[-1], start, certain)


def field_names(elements: Sequence[rows.ElementRow]) -> frozenset[str]:
    """Names of the fields, and names by which addresses or their halves are known."""
    fields = structure_fields(elements)
    names = {field.name for field in fields}
    wide = (field.name for field in fields if field.bits[1] - field.bits[0] == _WIDE)
    halves = (half for name in wide for half in names_of_halves(name))
    bases = (name.removesuffix("_HI") for name in names if name.endswith("_HI"))
    return frozenset((*names, *halves, *bases))
