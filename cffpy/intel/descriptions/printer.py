# SPDX-License-Identifier: MIT
"""Model -> text of a .gen file, aligned in columns; parsing it gives the same model again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from cffpy.descriptions import printer
from cffpy.descriptions.printer import Row, bits_text, join, string, table
from cffpy.intel.descriptions.model import (
    Declaration,
    Description,
    Device,
    Enum,
    Field,
    Generation,
    Group,
    Import,
    Member,
    Prefer,
    Repeat,
    Value,
)

# fmt: off
KEYWORDS = frozenset({
    "generation", "verx10", "import", "without", "prefer", "over", "enum", "prefix", "instruction",
    "struct", "register", "length", "bias", "engine", "at", "default", "nonzero", "repeat", "size",
    "device",
})
# fmt: on
"""Words that a name can only be in quotes."""

_FIXED_POINT = re.compile(r"[us][0-9]+\.[0-9]+")


def print_description(description: Description) -> str:
    """The text of one file. Raises ValueError for a name that the language cannot write."""
    return printer.blocks(_blocks(description))


def _blocks(description: Description) -> Iterator[list[Row]]:
    """Each declaration apart, but devices and preferences together."""
    for kind, group in groupby(description.declarations, type):
        rows = [_declaration(declaration) for declaration in group]
        yield from [rows] if kind in (Device, Prefer) else ([row] for row in rows)


def quoted(name: str) -> str:
    """``name`` as the language writes it, in quotes where it has to be."""
    return printer.quoted(name, KEYWORDS)


def _declaration(declaration: Declaration) -> Row:
    match declaration:
        case Generation():
            return Row((f"generation {quoted(declaration.name)} verx10 {declaration.verx10}",))
        case Import():
            return Row((f"import {string(declaration.name)}{_without(declaration.without)}",))
        case Prefer():
            names = f"{quoted(declaration.name)} over {quoted(declaration.over)}"
            return Row((f"prefer {declaration.kind} {names}",))
        case Device():
            name = string(declaration.name)
            return Row((f"device {declaration.pci_id:#06x} {name} verx10 {declaration.verx10}",))
        case Enum():
            cells = ("enum", quoted(declaration.name), _prefix(declaration.prefix))
            return Row(cells, table(_values(declaration.values)))
        case Group():
            return Row(_group_head(declaration), table(_members(declaration.members)))


def _without(names: Sequence[str]) -> str:
    if not names:
        return ""
    return " without\n    " + ",\n    ".join(quoted(name) for name in names)


def _prefix(prefix: str | None) -> str:
    return "" if prefix is None else f"prefix {quoted(prefix)}"


def _group_head(group: Group) -> tuple[str, ...]:
    return (
        group.kind,
        quoted(group.name),
        "" if group.offset is None else f"at {group.offset:#x}",
        "" if group.length is None else f"length {group.length}",
        "" if group.bias is None else f"bias {group.bias}",
        f"engine {', '.join(group.engines)}" if group.engines else "",
    )


def _values(values: Sequence[Value]) -> list[Row]:
    return [Row((quoted(value.name), f"= {value.number}")) for value in values]


def _members(members: Sequence[Member]) -> Iterator[Row]:
    for member in members:
        if isinstance(member, Repeat):
            head = f"repeat [{member.count or ''}] at {member.start} size {member.size}"
            yield Row((head,), table(_members(member.members)))
        else:
            cells = (bits_text(member.low, member.high), quoted(member.name), _rest(member))
            yield Row(cells, table(_values(member.values)) if member.values else None)


def _rest(field: Field) -> str:
    kind = field.type if _FIXED_POINT.fullmatch(field.type) else quoted(field.type)
    return join(
        f": {kind}",
        "" if field.default is None else f"default {field.default}",
        _prefix(field.prefix),
        "nonzero" if field.nonzero else "",
    )
