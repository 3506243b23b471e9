# SPDX-License-Identifier: MIT
"""Looks up names: what a name or an offset is, names that have a text, names of registers.

Generations in which a name is the same share one description. Offsets are in dwords, widths in
bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cffpy.frame.description import (
    ArrayLevel,
    DescribedArray,
    DescribedBitset,
    DescribedDomain,
    DescribedEnum,
    DescribedField,
    DescribedName,
    DescribedRegister,
    DescribedType,
    DescribedValue,
    Description,
    RegisterPort,
    RegisterSummary,
    add_description,
)
from cffpy.regdb import rows
from cffpy.regdb.aliases import Aliases
from cffpy.regdb.catalog import Catalog, Level, RegisterPattern, field_names
from cffpy.regdb.spelling import folded

if TYPE_CHECKING:
    from cffpy.regdb.database import Database

_MAX_FULL = 32

#: Bits of a register of two dwords.
_WIDE = 64

_INDEX = re.compile(r"\[\s*(0[xX][0-9a-fA-F]{1,10}|[0-9]{1,10})?\s*\]")
_OFFSET = re.compile(r"0[xX][0-9a-fA-F]{1,10}|[0-9]{1,10}")

_FORMS = {
    rows.HEX: "hex",
    rows.INT: "int",
    rows.UINT: "uint",
    rows.FLOAT: "float",
    rows.BOOLEAN: "boolean",
    rows.FIXED: "fixed",
    rows.UFIXED: "ufixed",
    rows.REGID: "register id",
    rows.ENUM: "enum",
    rows.INLINE_ENUM: "enum",
    rows.BITSET: "bitset",
    rows.NAMED_INLINE_BITSET: "bitset",
    rows.INLINE_BITSET: "bitset",
}


def explain(catalogs: Sequence[Catalog], asked: str) -> list[Description]:
    """All that ``asked`` names: an offset of a register, or a name (case is not important).

    ``RB_MRT[2].CONTROL`` is one register of an array, ``RB_MRT[].CONTROL`` or ``RB_MRT.CONTROL``
    any, ``RB_MRT`` the array itself. A field (``RB_DEPTH_CNTL.ZFUNC``, ``CP_MEM_WRITE.ADDR``) is
    explained by its register, packet or structure, an enum's value by its enum, ``X_LO`` and
    ``X_HI`` by a 64-bit register ``X`` and the other way round.
    """
    if _OFFSET.fullmatch(asked):
        return _merged(catalogs, asked, _by_offset)
    for look_up in (_by_name, _by_part, _by_dwords):
        descriptions = _merged(catalogs, asked, look_up)
        if descriptions:
            return descriptions
    return []


def _merged(
    catalogs: Sequence[Catalog],
    asked: str,
    look_up: Callable[[Catalog, str], Iterator[Description]],
) -> list[Description]:
    """What the catalogs say, once for all generations in which it is the same."""
    merged: list[Description] = []
    for catalog in catalogs:
        for description in look_up(catalog, asked):
            add_description(merged, description, catalog.chip)
    return merged


def nearest(catalogs: Sequence[Catalog], asked: str, count: int = 5) -> list[str]:
    """Names of registers, arrays, domains, enums and bitsets that look like ``asked``."""
    from difflib import get_close_matches  # lazy: for errors only

    known: dict[str, str] = {}
    for catalog in catalogs:
        names = [*catalog.domain_names, *catalog.enum_names, *catalog.bitsets()]
        for domain in catalog.domain_names:
            names.extend(element.name for element in catalog.elements(domain))
        known.update((_folded(name), name) for name in names)
    close = get_close_matches(_folded(asked), known, n=count, cutoff=0.6)
    return [known[name] for name in close]


def _folded(name: str) -> str:
    return _INDEX.sub("", name).upper()


# ---- look-up


def _by_offset(catalog: Catalog, asked: str) -> Iterator[Description]:
    for domain in catalog.register_domains:
        place = catalog.at(domain, _number(asked))
        if place is not None:
            yield _pattern(catalog, *place)
            return


def _by_name(catalog: Catalog, asked: str) -> Iterator[Description]:
    folded = _folded(asked)
    given = [None if not match[1] else _number(match[1]) for match in _INDEX.finditer(asked)]
    for domain in catalog.domain_names:
        for pattern in catalog.named(domain, folded):
            if len(given) <= pattern.depth and pattern.offset_at(given) is not None:
                yield _pattern(catalog, pattern, given)
    for name in catalog.domain_names:
        if name.upper() == folded:
            yield DescribedDomain("domain", name, _registers(catalog, name), [])
    for name in catalog.enum_names:
        if name.upper() == folded:
            yield DescribedEnum("enum", name, _values(catalog, catalog.enum(name) or ()), [])
    for name, kind in catalog.bitsets().items():
        if name.upper() == folded:
            yield DescribedBitset("bitset", name, _fields(catalog, kind[7]), [])


def _by_part(catalog: Catalog, asked: str) -> Iterator[Description]:
    """What has a field or value of this name."""
    owner, _, field = asked.rpartition(".")
    for description in _by_name(catalog, owner) if owner else ():
        if field.upper() in map(str.upper, _field_names(catalog, description)):
            yield description
    for name in catalog.enum_names:
        if any(value[0].upper() == asked.upper() for value in catalog.enum(name) or ()):
            yield from _by_name(catalog, name)


def _field_names(catalog: Catalog, description: Description) -> Iterable[str]:
    if isinstance(description, DescribedDomain):
        if description.name in catalog.register_domains:
            return ()
        return field_names(catalog.domain(description.name) or ())
    fields: Iterable[DescribedField] | None = None
    if isinstance(description, DescribedRegister):
        fields = description.type.fields
    elif isinstance(description, DescribedBitset):
        fields = description.fields
    return [field.name for field in fields or ()]


def _by_dwords(catalog: Catalog, asked: str) -> Iterator[Description]:
    """The 64-bit register that a name is one dword of, or the two registers that it is both of."""
    base, _, half = asked.rpartition("_")
    if half.upper() in ("LO", "HI"):
        for description in _by_name(catalog, base):
            if isinstance(description, DescribedRegister) and description.width == _WIDE:
                yield description
    low, high = (list(_by_name(catalog, f"{asked}{end}")) for end in ("_LO", "_HI"))
    if low and high:
        yield from (*low, *high)


def _number(text: str) -> int:
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


# ---- descriptions


# Of a packet or structure all, of a space of registers a summary each.
def _registers(catalog: Catalog, domain: str) -> list[DescribedRegister | RegisterSummary]:
    patterns = list(catalog.patterns(domain))
    if len(patterns) > _MAX_FULL:
        return [_summary(pattern) for pattern in patterns]
    return [_register(catalog, pattern, ()) for pattern in patterns if pattern.row[0] != rows.ARRAY]


def _pattern(
    catalog: Catalog, pattern: RegisterPattern, indices: Sequence[int | None]
) -> DescribedRegister | DescribedArray:
    describe = _array if pattern.row[0] == rows.ARRAY else _register
    return describe(catalog, pattern, indices)


def _array(
    catalog: Catalog, pattern: RegisterPattern, indices: Sequence[int | None]
) -> DescribedArray:
    depth = len(pattern.levels)
    return DescribedArray(
        "array",
        pattern.name_at(indices),
        pattern.domain,
        pattern.offset_at(indices),
        _arrays(pattern),
        _condition(catalog, pattern.row[2]),
        pattern.row[6],
        [
            _summary(inner)
            for inner in catalog.patterns(pattern.domain)
            if len(inner.levels) > depth and inner.levels[:depth] == pattern.levels
        ],
        [],
    )


def _register(
    catalog: Catalog, pattern: RegisterPattern, indices: Sequence[int | None]
) -> DescribedRegister:
    row, offset = pattern.row, pattern.offset_at(indices)
    port, pointer_of = None, None
    if pattern.domain in catalog.register_domains:
        port, pointer_of = _port(catalog, offset)
    return DescribedRegister(
        "register",
        pattern.name_at(indices),
        pattern.domain,
        offset,
        _arrays(pattern),
        _condition(catalog, row[2]),
        row[6] * 32,
        list(row[8]),
        _type(catalog, row[7]),
        port,
        pointer_of,
    )


def _arrays(pattern: RegisterPattern) -> list[ArrayLevel]:
    return [_array_level(level) for level in pattern.levels if level.repeated]


def _array_level(level: Level) -> ArrayLevel:
    if isinstance(level.start, tuple):
        return ArrayLevel(level.name, None, list(level.start), level.length, level.stride)
    return ArrayLevel(level.name, level.start, None, level.length, level.stride)


# Of a port: the dwords behind it, and the register that says which is written next; of the latter:
# the port.
def _port(catalog: Catalog, offset: int | None) -> tuple[RegisterPort | None, str | None]:
    port, pointer_of = None, None
    for known in catalog.ports:
        if known.offset == offset:
            pointer = catalog.at(catalog.register_domains[0], known.pointer)
            name = None if pointer is None else pointer[0].name
            port = RegisterPort(len(known.elements), name)
        elif known.pointer == offset:
            pointer_of = known.name
    return port, pointer_of


def _summary(pattern: RegisterPattern) -> RegisterSummary:
    row, offset = pattern.row, pattern.offset_at(())
    if row[0] == rows.ARRAY:
        return RegisterSummary("array", pattern.name, offset)
    return RegisterSummary("register", pattern.name, offset, row[6] * 32, row[7][1])


def _type(catalog: Catalog, kind: rows.TypeRow) -> DescribedType:
    number, name, low, high, shr, radix, addvariant, payload = kind
    fields = _fields(catalog, payload) if number in rows.BITSETS else None
    values = None
    if number == rows.ENUM:
        values = _values(catalog, catalog.enum(payload) or ())
    elif number == rows.INLINE_ENUM:
        values = _values(catalog, payload)
    return DescribedType(
        name,
        _FORMS[number],
        low,
        high,
        shr or None,
        radix or None,
        True if addvariant else None,
        fields,
        values,
    )


def _fields(catalog: Catalog, fields: Iterable[rows.FieldRow]) -> list[DescribedField]:
    return [
        DescribedField(name, _condition(catalog, condition), _type(catalog, kind))
        for name, condition, kind in fields
    ]


def _values(catalog: Catalog, values: Iterable[rows.ValueRow]) -> list[DescribedValue]:
    return [
        DescribedValue(name, number, _condition(catalog, condition))
        for name, number, condition in values
    ]


# The names of the variants to which something applies, by varset; None: all.
def _condition(catalog: Catalog, condition: rows.Condition) -> dict[str, list[str]] | None:
    if condition is None:
        return None
    names: dict[str, list[str]] = {}
    for varset, mask in condition:
        values = catalog.enum(varset) or ()
        names[varset] = [value[0] for position, value in enumerate(values) if mask >> position & 1]
    return names


_ANY_INDEX = re.compile(r"\[[^\]]*\]")


#: Kind, name, where, number: see ``DescribedName``.
_Name = tuple[str, str, str, int | None]


def search(catalogs: Sequence[Catalog], text: str) -> list[DescribedName]:
    """All names that have the text, in the order of the database."""
    generations: dict[_Name, list[str]] = {}
    wanted = text.upper()
    for catalog in catalogs:
        matching = (known for known in _names(catalog) if wanted in known[1].upper())
        for known in dict.fromkeys(matching):
            generations.setdefault(known, []).append(catalog.chip)
    return [DescribedName(*known, chips) for known, chips in generations.items()]


def has_register(catalog: Catalog, pattern: str) -> bool:
    """Whether a register has this name; ``*`` and ``?`` as in file names, case and indices open."""
    wanted = _without_indices(pattern)
    return any(
        fnmatchcase(name, wanted) for name in map(_without_indices, _register_names(catalog))
    )


def has_renamed(catalog: Catalog, pattern: str) -> bool:
    """The same by the names that other installed editions have for the registers."""
    wanted = _without_indices(pattern)
    others = map(Aliases.installed().registers, _register_names(catalog))
    return any(fnmatchcase(_without_indices(name), wanted) for names in others for name in names)


def matching_names(database: Database, names: Iterable[str], pattern: str) -> set[str]:
    """Those of ``names``, of registers, that a pattern with ``*`` and ``?`` matches.

    If it matches none, those whose names in other installed editions it matches.
    """
    wanted = folded(pattern)
    if any(known in database.ports for known in (wanted, *database.other_names(wanted))):
        wanted += "[*]"  # which has no value of its own, but its elements have
    wanted = wanted.replace("[", "[[]")  # '[' is an array index, not a set
    known = set(names)
    matching = {name for name in known if fnmatchcase(name.upper(), wanted)}
    others = database.other_names
    return matching or {
        name for name in known if any(fnmatchcase(other.upper(), wanted) for other in others(name))
    }


def nearest_registers(catalog: Catalog, name: str, count: int = 3) -> list[str]:
    """Names of registers that are spelt like ``name``, the nearest first."""
    from difflib import get_close_matches  # lazy: for errors only

    known = {_without_indices(known): known for known in _register_names(catalog)}
    return [
        known[near]
        for near in get_close_matches(_without_indices(name), known, n=count, cutoff=0.6)
    ]


def no_such_register(catalog: Catalog, name: str) -> str:
    """The message for a name that no register of the generation has."""
    others = [
        other for other in Aliases.installed().registers(name) if has_register(catalog, other)
    ]
    if others:
        return f"{catalog.chip.lower()} has no register {name}: this edition calls it {others[0]}"
    near = nearest_registers(catalog, name)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"{catalog.chip.lower()} has no register {name}{hint}"


def _register_names(catalog: Catalog) -> Iterator[str]:
    for domain in catalog.register_domains:
        for element in catalog.elements(domain):
            if element.row[0] == rows.REGISTER:
                yield element.name


def _without_indices(name: str) -> str:
    """The name in capitals without its indices, which would not match open indices."""
    return _ANY_INDEX.sub("", name).upper()


def _names(catalog: Catalog) -> Iterator[_Name]:
    for domain in catalog.domain_names:
        yield ("domain", domain, "", None)
        for row, name, offset in catalog.elements(domain):
            if row[0] == rows.ARRAY:
                yield ("array", name, domain, offset)
                continue
            yield ("register", name, domain, offset)
            type_row = row[7]
            if type_row[0] == rows.INLINE_BITSET:
                yield from _names_of_fields(name, type_row[7])
            elif type_row[0] == rows.INLINE_ENUM:
                yield from _names_of_values(name, type_row[7])
    for name, type_row in catalog.bitsets().items():
        yield ("bitset", name, "", None)
        yield from _names_of_fields(name, type_row[7])
    for name in catalog.enum_names:
        yield ("enum", name, "", None)
        yield from _names_of_values(name, catalog.enum(name) or ())


def _names_of_fields(where: str, fields: Sequence[rows.FieldRow]) -> Iterator[_Name]:
    for name, _condition, type_row in fields:
        yield ("field", name, where, type_row[2])
        if type_row[0] == rows.INLINE_BITSET:
            yield from _names_of_fields(f"{where}.{name}", type_row[7])
        elif type_row[0] == rows.INLINE_ENUM:
            yield from _names_of_values(f"{where}.{name}", type_row[7])


def _names_of_values(where: str, values: Sequence[rows.ValueRow]) -> Iterator[_Name]:
    for name, number, _condition in values:
        yield ("value", name, where, number)
