# SPDX-License-Identifier: MIT
"""Explains registers, arrays, packets, enums and bitsets by name or offset: plain documents.

A document is what ``cffpy db show --json`` prints of one thing; generations in which it is the
same share one. Offsets are in dwords, widths in bits.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from cffpy.regdb import rows
from cffpy.regdb.catalog import Catalog, RegisterPattern
from cffpy.regdb.structures import field_names

Document = dict[str, Any]

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


def explain(catalogs: Sequence[Catalog], asked: str) -> list[Document]:
    """All that ``asked`` names: an offset of a register, or a name (case is not important).

    ``RB_MRT[2].CONTROL`` is one register of an array, ``RB_MRT[].CONTROL`` or ``RB_MRT.CONTROL``
    any, ``RB_MRT`` the array itself. A field (``RB_DEPTH_CNTL.ZFUNC``, ``CP_MEM_WRITE.ADDR``) is
    explained by its register, packet or structure, an enum's value by its enum, ``X_LO`` and
    ``X_HI`` by a 64-bit register ``X`` and the other way round.
    """
    if _OFFSET.fullmatch(asked):
        return _merged(catalogs, asked, _by_offset)
    for find in (_by_name, _by_part, _by_dwords):
        documents = _merged(catalogs, asked, find)
        if documents:
            return documents
    return []


def _merged(
    catalogs: Sequence[Catalog], asked: str, find: Callable[[Catalog, str], Iterator[Document]]
) -> list[Document]:
    """What is found, once for all generations in which it is the same."""
    documents: list[Document] = []
    for catalog in catalogs:
        for document in find(catalog, asked):
            same = next((known for known in documents if _same(known, document)), None)
            if same is None:
                documents.append({**document, "generations": [catalog.chip]})
            else:
                same["generations"].append(catalog.chip)
    return documents


def nearest(catalogs: Sequence[Catalog], asked: str, count: int = 5) -> list[str]:
    """Names of registers, arrays, domains, enums and bitsets that look like ``asked``."""
    known: dict[str, str] = {}
    for catalog in catalogs:
        names = [*catalog.domain_names, *catalog.enum_names, *catalog.bitsets()]
        for domain in catalog.domain_names:
            names.extend(pattern.name for pattern in catalog.patterns(domain))
        known.update((_folded(name), name) for name in names)
    close = difflib.get_close_matches(_folded(asked), known, n=count, cutoff=0.6)
    return [known[name] for name in close]


def _same(known: Document, document: Document) -> bool:
    return {**known, "generations": None} == {**document, "generations": None}


def _folded(name: str) -> str:
    return _INDEX.sub("", name).upper()


# ---- finding


def _by_offset(catalog: Catalog, asked: str) -> Iterator[Document]:
    for domain in catalog.register_domains:
        place = catalog.at(domain, _number(asked))
        if place is not None:
            yield _pattern(catalog, *place)
            return


def _by_name(catalog: Catalog, asked: str) -> Iterator[Document]:
    folded = _folded(asked)
    given = [None if not match[1] else _number(match[1]) for match in _INDEX.finditer(asked)]
    for domain in catalog.domain_names:
        for pattern in catalog.patterns(domain):
            if _folded(pattern.name) != folded or len(given) > pattern.depth:
                continue
            if pattern.offset_at(given) is not None:
                yield _pattern(catalog, pattern, given)
    for name in catalog.domain_names:
        if name.upper() == folded:
            yield _domain(catalog, name)
    for name in catalog.enum_names:
        if name.upper() == folded:
            values = _values(catalog, catalog.enum(name) or ())
            yield {"kind": "enum", "name": name, "values": values}
    for name, kind in catalog.bitsets().items():
        if name.upper() == folded:
            yield {"kind": "bitset", "name": name, "fields": _fields(catalog, kind[7])}


def _by_part(catalog: Catalog, asked: str) -> Iterator[Document]:
    """What has a field or value of this name."""
    register, _, field = asked.rpartition(".")
    for document in _by_name(catalog, register) if register else ():
        if document["kind"] == "domain":
            elements = catalog.domain(document["name"]) or ()
            is_register_domain = document["name"] in catalog.register_domains
            names = frozenset() if is_register_domain else field_names(elements)
        else:
            fields = document.get("type", document).get("fields", ())
            names = frozenset(field["name"] for field in fields)
        if field.upper() in map(str.upper, names):
            yield document
    for name in catalog.enum_names:
        if any(value[0].upper() == asked.upper() for value in catalog.enum(name) or ()):
            yield from _by_name(catalog, name)


def _by_dwords(catalog: Catalog, asked: str) -> Iterator[Document]:
    """The 64-bit register that a name is one dword of, or the two registers that it is both of."""
    base, _, half = asked.rpartition("_")
    if half.upper() in ("LO", "HI"):
        yield from (
            document for document in _by_name(catalog, base) if document.get("width") == _WIDE
        )
    low, high = (list(_by_name(catalog, f"{asked}{end}")) for end in ("_LO", "_HI"))
    if low and high:
        yield from (*low, *high)


def _number(text: str) -> int:
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


# ---- documents


# A packet or structure with all its fields; of a space of registers only the names.
def _domain(catalog: Catalog, name: str) -> Document:
    patterns = list(catalog.patterns(name))
    if len(patterns) > _MAX_FULL:
        registers = [_summary(pattern) for pattern in patterns]
    else:
        registers = [
            _pattern(catalog, pattern, ()) for pattern in patterns if pattern.row[0] != rows.ARRAY
        ]
    return {"kind": "domain", "name": name, "registers": registers}


def _pattern(catalog: Catalog, pattern: RegisterPattern, indices: Sequence[int | None]) -> Document:
    row = pattern.row
    document: Document = {
        "kind": "array" if row[0] == rows.ARRAY else "register",
        "name": pattern.name_at(indices),
        "domain": pattern.domain,
        "offset": pattern.offset_at(indices),
    }
    document["arrays"] = [
        {"name": level.name, "start": level.start, "length": level.length, "stride": level.stride}
        for level in pattern.levels
        if level.repeated
    ]
    document["condition"] = _condition(catalog, row[2])
    if row[0] == rows.ARRAY:
        document["index"] = row[6]
        inside = catalog.patterns(pattern.domain)
        depth = len(pattern.levels)
        document["registers"] = [
            _summary(inner)
            for inner in inside
            if len(inner.levels) > depth and inner.levels[:depth] == pattern.levels
        ]
        return document
    document["width"] = row[6] * 32
    document["usage"] = list(row[8])
    document["type"] = _type(catalog, row[7])
    if pattern.domain in catalog.register_domains:
        document.update(_port(catalog, pattern.offset_at(indices)))
    return document


# Of a port: the dwords behind it, and the register that says which is written next; of that: ports.
def _port(catalog: Catalog, offset: int | None) -> Document:
    document: Document = {}
    for port in catalog.ports:
        if port.offset == offset:
            pointer = catalog.at(catalog.register_domains[0], port.pointer)
            name = None if pointer is None else pointer[0].name
            document["port"] = {"elements": len(port.elements), "pointer": name}
        elif port.pointer == offset:
            document["pointer_of"] = port.name
    return document


def _summary(pattern: RegisterPattern) -> Document:
    kind = "array" if pattern.row[0] == rows.ARRAY else "register"
    document = {"kind": kind, "name": pattern.name, "offset": pattern.offset_at(())}
    if pattern.row[0] == rows.REGISTER:
        document["width"] = pattern.row[6] * 32
        document["type"] = pattern.row[7][1]
    return document


def _type(catalog: Catalog, kind: rows.TypeRow) -> Document:
    number, name, low, high, shr, radix, addvariant, payload = kind
    document: Document = {"name": name, "form": _FORMS[number], "low": low, "high": high}
    if shr:
        document["shr"] = shr
    if radix:
        document["radix"] = radix
    if addvariant:
        document["selects_variant"] = True
    if number in rows.BITSETS:
        document["fields"] = _fields(catalog, payload)
    elif number == rows.ENUM:
        document["values"] = _values(catalog, catalog.enum(payload) or ())
    elif number == rows.INLINE_ENUM:
        document["values"] = _values(catalog, payload)
    return document


def _fields(catalog: Catalog, fields: Iterable[rows.FieldRow]) -> list[Document]:
    return [
        {"name": name, "condition": _condition(catalog, condition), "type": _type(catalog, kind)}
        for name, condition, kind in fields
    ]


def _values(catalog: Catalog, values: Iterable[rows.ValueRow]) -> list[Document]:
    documents = []
    for name, number, condition in values:
        document: Document = {"name": name, "number": number}
        if condition is not None:
            document["condition"] = _condition(catalog, condition)
        documents.append(document)
    return documents


# The names of the variants to which something applies, by varset; None: all.
def _condition(catalog: Catalog, condition: rows.Condition) -> dict[str, list[str]] | None:
    if condition is None:
        return None
    names: dict[str, list[str]] = {}
    for varset, mask in condition:
        values = catalog.enum(varset) or ()
        names[varset] = [value[0] for position, value in enumerate(values) if mask >> position & 1]
    return names
