# SPDX-License-Identifier: MIT
"""What another edition of the register database names or places otherwise, by generation.

Registers are the same where domain and offset are, also where one became the upper dword of a
64-bit register or an element of a new array; fields, where they are bits of the same
register, packet or structure; enum values, where they are numbers of the same enum; domains, where
all offsets and bits are equal. Offsets are in dwords, and arrays are compared by their first
element. Packets and structures in memory are compared as lists of fields: their dwords have no
names that mean anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from cffpy.frame.facts import described
from cffpy.regdb import rows
from cffpy.regdb.catalog import Catalog, RegisterPattern, StructureField, catalogs, structure_fields

#: What a change is.
RENAMED, MOVED, ADDED, REMOVED = "renamed", "moved", "added", "removed"
#: What changed. Halves: a field of 32 bits that is now a part of one of 64. A high dword: a
#: register that is now the upper dword of one of 64 bits; the lower one is a register like others.
REGISTER, FIELD, ENUM, VALUE, DOMAIN = "register", "field", "enum", "value", "domain"
LOW_HALF, HIGH_HALF, HIGH_DWORD = "low half", "high half", "high dword"

#: Dwords of a 64-bit register.
_WIDE = 2

#: Name and offset of each register of a domain -> its row.
_Registers = Mapping[tuple[str, int], rows.ElementRow]


@described(
    "edition_change",
    is_value=False,
    words={"change": (RENAMED, MOVED, ADDED, REMOVED)},
    change="what the new edition does",
    kind="register, field, enum, value, domain, ...",
    within=(
        "the domain of a register, the register, packet or structure of a field, the enum of a"
        " value, as the new edition calls it; else empty"
    ),
    old="its name in the old edition; empty for what was added",
    new="its name in the new edition; empty for what was removed",
    place=(
        "a register's offset in dwords, a field's bits (of a packet from the dword after its header"
        " on), a value's number; of what moved, the old one"
    ),
)
class EditionChange(NamedTuple):
    """A difference of two editions."""

    change: str
    kind: str
    within: str
    old: str
    new: str
    place: str


def compare_editions(old: str | None, new: str | None) -> dict[str, list[EditionChange]]:
    """The changes of each generation that either edition describes, by chip ("A6XX").

    Editions are directories, None is the bundled one. A generation that only one has is all added
    or removed: its list has one entry, the generation itself as a domain.
    """
    before = {catalog.chip: catalog for catalog in catalogs(old)}
    after = {catalog.chip: catalog for catalog in catalogs(new)}
    changes: dict[str, list[EditionChange]] = {}
    for chip in sorted({*before, *after}):
        if chip in before and chip in after:
            changes[chip] = _Comparison(before[chip], after[chip]).changes()
        elif chip in after:
            changes[chip] = [EditionChange(ADDED, DOMAIN, "", "", chip, "")]
        else:
            changes[chip] = [EditionChange(REMOVED, DOMAIN, "", chip, "", "")]
    return changes


class _Comparison:
    def __init__(self, old: Catalog, new: Catalog) -> None:
        self._old = old
        self._new = new
        #: Enums of the old edition -> their names in the new one, as the same fields use them.
        self._enums = {name: name for name in old.enum_names if new.enum(name) is not None}
        self._domains = {name: name for name in old.domain_names if new.domain(name) is not None}

    def changes(self) -> list[EditionChange]:
        domains = list(self._domain_changes())
        registers = [
            change
            for old, new in self._domains.items()
            for change in (
                self._register_changes(old, new)
                if old in self._old.register_domains
                else self._structure_changes(old, new)
            )
        ]
        return [*domains, *registers, *self._enum_changes()]

    def _domain_changes(self) -> Iterator[EditionChange]:
        missing = {name for name in self._old.domain_names if name not in self._domains}
        added = {name for name in self._new.domain_names if self._old.domain(name) is None}
        shapes = {_shape(self._new, name): name for name in sorted(added)}
        for name in sorted(missing):
            other = shapes.get(_shape(self._old, name))
            if other is None:
                yield EditionChange(REMOVED, DOMAIN, "", name, "", "")
            else:
                self._domains[name] = other
                added.discard(other)
                yield EditionChange(RENAMED, DOMAIN, "", name, other, "")
        for name in sorted(added):
            yield EditionChange(ADDED, DOMAIN, "", "", name, "")

    def _register_changes(self, old_domain: str, new_domain: str) -> Iterator[EditionChange]:
        before = _registers(self._old, old_domain)
        after = _registers(self._new, new_domain)
        former, names = {name for name, _ in before}, {name for name, _ in after}
        # what a name means counts by its offset: some names were given to other registers
        renamed = _by_offset(before, after)
        taken = set(renamed.values())
        inside = {**_elements(self._new, new_domain, former), **_upper_dwords(after)}
        for (name, offset), row in before.items():
            other = renamed.get((name, offset), name)
            if other != name:
                yield EditionChange(RENAMED, REGISTER, new_domain, name, other, f"{offset:#x}")
            elif (name, offset) not in after:
                if row[6] == 1 and offset in inside and name not in names:
                    kind, other = inside[offset]
                    yield EditionChange(RENAMED, kind, new_domain, name, other, f"{offset:#x}")
                    continue
                moved = name in names and name not in taken
                change = (MOVED, name) if moved else (REMOVED, "")
                domain = new_domain if moved else old_domain
                yield EditionChange(change[0], REGISTER, domain, name, change[1], f"{offset:#x}")
                continue
            yield from self._field_changes(other, row[7], after[other, offset][7])
        for name, offset in after:
            if name not in former and name not in taken:
                yield EditionChange(ADDED, REGISTER, new_domain, "", name, f"{offset:#x}")

    def _field_changes(
        self, register: str, old: rows.TypeRow, new: rows.TypeRow
    ) -> Iterator[EditionChange]:
        self._match_enums(old, new)
        before, after = _fields(old), _fields(new)
        names = {name for name, _row in after.values()}
        former = {name for name, _row in before.values()}
        # fields of this name are also where they were
        shared = {name for bits, (name, _) in before.items() if name == after.get(bits, ("",))[0]}
        for bits, (name, row) in before.items():
            renamed = after.get(bits)
            if renamed is None:
                change, other = (MOVED, name) if name in names else (REMOVED, "")
                if name not in shared:
                    yield EditionChange(change, FIELD, register, name, other, _bits(bits))
                continue
            other, other_row = renamed
            self._match_enums(row, other_row)
            if other != name and name not in names:
                yield EditionChange(RENAMED, FIELD, register, name, other, _bits(bits))
        for bits, (name, _row) in after.items():
            if name not in former and bits not in before:
                yield EditionChange(ADDED, FIELD, register, "", name, _bits(bits))

    def _structure_changes(self, old: str, new: str) -> Iterator[EditionChange]:
        """The changes of a packet or of a structure in memory."""
        before = structure_fields(self._old.domain(old) or ())
        after = structure_fields(self._new.domain(new) or ())
        former = {field.name for field in before}
        taken = set()
        for field in before:
            change = self._structure_change(new, field, former, after)
            if change is not None:
                taken.add(change.new)
                yield change
        for field in after:
            if field.name not in former and field.name not in taken:
                taken.add(field.name)
                yield EditionChange(ADDED, FIELD, new, "", field.name, _bits(field.bits))

    def _structure_change(
        self,
        within: str,
        field: StructureField,
        former: Collection[str],
        after: Sequence[StructureField],
    ) -> EditionChange | None:
        """What became of a field of a structure, whose fields were called ``former``."""
        same = [other for other in after if other.bits == field.bits]
        if any(other.name == field.name for other in same):
            for other in same:
                self._match_enums(field.type_row, other.type_row)
            return None
        place = _bits(field.bits)
        half = _half(field, after)
        if half is not None and half[1] == field.name:
            return None
        if any(other.name == field.name for other in after):
            return EditionChange(MOVED, FIELD, within, field.name, field.name, place)
        if half is not None:
            return EditionChange(RENAMED, half[0], within, field.name, half[1], place)
        renamed = next((other.name for other in same if other.name not in former), None)
        if renamed is not None:
            return EditionChange(RENAMED, FIELD, within, field.name, renamed, place)
        return EditionChange(REMOVED, FIELD, within, field.name, "", place)

    def _match_enums(self, old: rows.TypeRow, new: rows.TypeRow) -> None:
        if old[0] == rows.ENUM and new[0] == rows.ENUM:
            self._enums.setdefault(old[7], new[7])

    def _enum_changes(self) -> Iterator[EditionChange]:
        for old, new in sorted(self._enums.items()):
            if old != new:
                yield EditionChange(RENAMED, ENUM, "", old, new, "")
            before, after = _values(self._old, old), _values(self._new, new)
            names, former = set(after.values()), set(before.values())
            for number, name in before.items():
                other = after.get(number)
                if other == name:
                    continue
                if name in names:
                    yield EditionChange(MOVED, VALUE, new, name, name, str(number))
                elif other is None:
                    yield EditionChange(REMOVED, VALUE, new, name, "", str(number))
                elif other not in former:
                    yield EditionChange(RENAMED, VALUE, new, name, other, str(number))
            for number, name in after.items():
                if name not in former and number not in before:
                    yield EditionChange(ADDED, VALUE, new, "", name, str(number))
        known = {*self._enums.values()}
        for name in sorted({*self._old.enum_names} - {*self._enums}):
            yield EditionChange(REMOVED, ENUM, "", name, "", "")
        for name in sorted({*self._new.enum_names} - known):
            yield EditionChange(ADDED, ENUM, "", "", name, "")


def _registers(catalog: Catalog, domain: str) -> _Registers:
    """Register patterns of a domain: name and offset -> row."""
    registers: dict[tuple[str, int], rows.ElementRow] = {}
    for pattern in _plain_patterns(catalog, domain):
        offset = pattern.offset_at(())
        if offset is not None:
            registers.setdefault((pattern.name, offset), pattern.row)
    return registers


def _upper_dwords(registers: _Registers) -> dict[int, tuple[str, str]]:
    """Offsets of the upper dwords of 64-bit registers -> kind of change, name of the register."""
    return {
        offset + 1: (HIGH_DWORD, name)
        for (name, offset), row in registers.items()
        if row[6] == _WIDE and "[" not in name
    }


def _elements(catalog: Catalog, domain: str, former: Collection[str]) -> dict[int, tuple[str, str]]:
    """Offsets of the elements of arrays but the first -> kind of change, name with the index.

    Only of arrays of registers of one dword that the other edition, with the names ``former``, has
    not.
    """
    names: dict[int, tuple[str, str]] = {}
    for pattern in _plain_patterns(catalog, domain):
        if pattern.depth != 1 or pattern.name in former or pattern.row[6] == _WIDE:
            continue
        length = next(level.length for level in pattern.levels if level.repeated)
        for index in range(1, length):
            offset = pattern.offset_at((index,))
            if offset is not None:
                names.setdefault(offset, (REGISTER, pattern.name_at((index,))))
    return names


def _by_offset(before: _Registers, after: _Registers) -> dict[tuple[str, int], str]:
    """The registers that have another name at the same offset: old name, offset -> new name."""
    at: dict[int, list[str]] = {}
    for name, offset in after:
        if (name, offset) not in before:
            at.setdefault(offset, []).append(name)
    return {
        (name, offset): at[offset].pop(0)
        for name, offset in before
        if at.get(offset) and (name, offset) not in after
    }


def _plain_patterns(catalog: Catalog, domain: str) -> Iterator[RegisterPattern]:
    return (pattern for pattern in catalog.patterns(domain) if pattern.row[0] == rows.REGISTER)


def _shape(catalog: Catalog, domain: str) -> tuple[tuple[int | None, int], ...]:
    """Offsets and bits of all fields of a domain: equal for one that was only renamed."""
    shape = []
    for pattern in _plain_patterns(catalog, domain):
        offset = pattern.offset_at(())
        shape.append((offset, -1))
        shape += [(offset, low << 8 | high) for low, high in _fields(pattern.row[7])]
    return tuple(shape)


def _fields(kind: rows.TypeRow) -> Mapping[tuple[int, int], tuple[str, rows.TypeRow]]:
    """Low and high bit of each field -> its name and type."""
    if kind[0] not in rows.BITSETS:
        return {}
    fields: dict[tuple[int, int], tuple[str, rows.TypeRow]] = {}
    for name, _condition, row in kind[7]:
        fields.setdefault((row[2], row[3]), (name, row))
    return fields


def _half(field: StructureField, others: Sequence[StructureField]) -> tuple[str, str] | None:
    """The kind of half that a field is of one of 64 bits among ``others``, and its name."""
    low, high = field.bits
    for other in others:
        if other.bits == (low, low + 63) and high == low + 31:
            return LOW_HALF, other.name
        if other.bits == (low - 32, low + 31) and high == low + 31:
            return HIGH_HALF, other.name
    return None


def _bits(bits: tuple[int, int]) -> str:
    return f"{bits[0]}..{bits[1]}"


def _values(catalog: Catalog, enum: str) -> dict[int, str]:
    names: dict[int, str] = {}
    for name, number, _condition in catalog.enum(enum) or ():
        if number is not None:
            names.setdefault(number, name)
    return names
