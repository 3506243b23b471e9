# SPDX-License-Identifier: MIT
"""Finds text in the names of registers, fields, packets, bitsets, enums and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from cffpy.regdb import rows
from cffpy.regdb.aliases import Aliases
from cffpy.regdb.catalog import Catalog
from cffpy.regdb.spelling import folded

if TYPE_CHECKING:
    from cffpy.regdb.database import Database

_INDEX = re.compile(r"\[[^\]]*\]")


class Hit(NamedTuple):
    """A name that holds the text. ``where`` is what it belongs to: a domain, register or enum.

    ``number`` is an offset in dwords, a field's lowest bit, or an enum value; or None.
    """

    kind: str
    name: str
    where: str
    number: int | None


def search(catalogs: Sequence[Catalog], text: str) -> dict[Hit, list[str]]:
    """All hits, in the order of the database, each with the generations in which it is."""
    hits: dict[Hit, list[str]] = {}
    wanted = text.upper()
    for catalog in catalogs:
        for hit in dict.fromkeys(_names(catalog)):
            if wanted in hit.name.upper():
                hits.setdefault(hit, []).append(catalog.chip)
    return hits


def has_register(catalog: Catalog, pattern: str) -> bool:
    """Whether a register has this name; ``*`` and ``?`` as in file names, case and indices open."""
    wanted = _folded(pattern)
    return any(fnmatchcase(name, wanted) for name in map(_folded, _register_names(catalog)))


def has_renamed(catalog: Catalog, pattern: str) -> bool:
    """The same by the names that other installed editions have for the registers."""
    wanted = _folded(pattern)
    others = map(Aliases.installed().registers, _register_names(catalog))
    return any(fnmatchcase(_folded(name), wanted) for names in others for name in names)


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

    known = {_folded(known): known for known in _register_names(catalog)}
    return [known[near] for near in get_close_matches(_folded(name), known, n=count, cutoff=0.6)]


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
        for pattern in catalog.patterns(domain):
            if pattern.row[0] == rows.REGISTER:
                yield pattern.name


def _folded(name: str) -> str:
    """The name in capitals without its indices, which would not match open indices."""
    return _INDEX.sub("", name).upper()


def _names(catalog: Catalog) -> Iterator[Hit]:
    for domain in catalog.domain_names:
        yield Hit("domain", domain, "", None)
        for pattern in catalog.patterns(domain):
            kind = "array" if pattern.row[0] == rows.ARRAY else "register"
            yield Hit(kind, pattern.name, domain, pattern.offset_at(()))
            if kind == "register":
                type_row = pattern.row[7]
                if type_row[0] == rows.INLINE_BITSET:
                    yield from _fields(pattern.name, type_row[7])
                elif type_row[0] == rows.INLINE_ENUM:
                    yield from _values(pattern.name, type_row[7])
    for name, type_row in catalog.bitsets().items():
        yield Hit("bitset", name, "", None)
        yield from _fields(name, type_row[7])
    for name in catalog.enum_names:
        yield Hit("enum", name, "", None)
        yield from _values(name, catalog.enum(name) or ())


def _fields(where: str, fields: Sequence[rows.FieldRow]) -> Iterator[Hit]:
    for name, _condition, type_row in fields:
        yield Hit("field", name, where, type_row[2])
        if type_row[0] == rows.INLINE_BITSET:
            yield from _fields(f"{where}.{name}", type_row[7])
        elif type_row[0] == rows.INLINE_ENUM:
            yield from _values(f"{where}.{name}", type_row[7])


def _values(where: str, values: Sequence[rows.ValueRow]) -> Iterator[Hit]:
    for name, number, _condition in values:
        yield Hit("value", name, where, number)
