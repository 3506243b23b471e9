# SPDX-License-Identifier: MIT
"""The language of .gen files: what they declare, their parser and their printer.

Names are as genxml has them, spaces included. Bits count from the start of the group, both ends
included. ``line`` is the line in the file, for messages; it is not compared. Parsing what was
printed gives the same declarations again. No other module of cffpy.intel knows lark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lark import v_args
from lark.tree import Meta

from cffpy.descriptions.language import (
    BlockBuilder,
    Language,
    Row,
    bits_text,
    blocks,
    grouped,
    join,
    string,
    table,
)
from cffpy.errors import RegisterDbError

ENGINES = ("render", "compute", "video", "blitter")


@dataclass(frozen=True, slots=True)
class Value:
    """A named value of an enum or a field."""

    name: str
    number: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Field:
    """Bits of a group. ``type`` is written as in genxml: ``uint``, ``u4.8``, a struct, an enum.

    ``default`` identifies instructions where it lies in bits 16 to 31 of the first dword.
    """

    name: str
    low: int
    high: int
    type: str
    default: int | None = None
    prefix: str | None = None
    nonzero: bool = False
    values: tuple[Value, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Fields that repeat: item i starts at bit ``start + i * size``.

    ``count`` 0: until the end of the instruction.
    """

    count: int
    start: int
    size: int
    members: tuple[Member, ...]
    line: int = field(default=0, compare=False)


Member = Field | Repeat


@dataclass(frozen=True, slots=True)
class Import:
    """All of another file, without the named items."""

    name: str
    without: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Generation:
    """The hardware generation that a file describes; ``verx10`` is 125 for 12.5."""

    name: str
    verx10: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Prefer:
    """Of two items with the same opcode or register offset, the one that a look-up finds.

    ``kind`` is ``instruction`` or ``register``.
    """

    kind: str
    name: str
    over: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Enum:
    """Names of the values of fields that have this type."""

    name: str
    values: tuple[Value, ...]
    prefix: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """An instruction, a structure in memory or a register.

    ``length`` in dwords, None where an instruction has none. ``bias`` is added to an instruction's
    field "DWord Length". ``engines`` is empty for all engines. ``offset`` is a register's.
    """

    kind: str
    name: str
    members: tuple[Member, ...]
    length: int | None = None
    bias: int | None = None
    engines: tuple[str, ...] = ()
    offset: int | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU by its PCI id; ``verx10`` names the generation that describes it."""

    pci_id: int
    name: str
    verx10: int
    line: int = field(default=0, compare=False)


Declaration = Import | Generation | Prefer | Enum | Group | Device


@dataclass(frozen=True, slots=True)
class Description:
    """A file: what it declares, in order."""

    declarations: tuple[Declaration, ...]


MAX_NESTING = 8
"""How deep braces may nest. Mesa's descriptions need 4."""


@v_args(meta=True)
class _Builder(BlockBuilder[Description]):
    def start(self, meta: Meta, items: list[Declaration]) -> Description:
        return Description(tuple(items))

    def generation(self, meta: Meta, items: list[Any]) -> Generation:
        return Generation(items[0], items[1], meta.line)

    def import_file(self, meta: Meta, items: list[Any]) -> Import:
        return Import(items[0], items[1] or (), meta.line)

    def prefer(self, meta: Meta, items: list[Any]) -> Prefer:
        return Prefer(str(items[0]), items[1], items[2], meta.line)

    def enum(self, meta: Meta, items: list[Any]) -> Enum:
        name, prefix, *values = items
        return Enum(name, tuple(values), prefix, meta.line)

    def value(self, meta: Meta, items: list[Any]) -> Value:
        return Value(items[0], items[1], meta.line)

    def group(self, meta: Meta, items: list[Any]) -> Group:
        kind, name, *rest = items
        given, members = self._split(rest)
        engines = given.get("engine", ())
        for engine in engines:
            if engine not in ENGINES:
                raise self._wrong(f"no such engine: {engine}", meta)
        if kind == "register" and "at" not in given:
            raise self._wrong(f"register {name} has no offset", meta)
        return Group(
            str(kind),
            name,
            tuple(members),
            given.get("length"),
            given.get("bias"),
            engines,
            given.get("at"),
            meta.line,
        )

    def field(self, meta: Meta, items: list[Any]) -> Field:
        (low, high), name, kind, *rest = items
        given, values = self._split(rest)
        return Field(
            name,
            low,
            high,
            str(kind),
            given.get("default"),
            given.get("prefix"),
            "nonzero" in given,
            tuple(values),
            meta.line,
        )

    def repeat(self, meta: Meta, items: list[Any]) -> Repeat:
        count, start, size, *members = items
        return Repeat(count or 0, start, size, tuple(members), meta.line)

    def device(self, meta: Meta, items: list[Any]) -> Device:
        return Device(items[0], items[1], items[2], meta.line)


LANGUAGE = Language("intel", _Builder, MAX_NESTING, RegisterDbError)
parse_text = LANGUAGE.parse_text
parse_file = LANGUAGE.parse_file
quoted = LANGUAGE.quoted

_FIXED_POINT = re.compile(r"[us][0-9]+\.[0-9]+")


def print_description(description: Description) -> str:
    """The text of one file. Raises ValueError for a name that the language cannot write."""
    return blocks(grouped(description.declarations, _declaration, Device, Prefer))


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
