# SPDX-License-Identifier: MIT
"""Model -> text of a .gen file, aligned in columns; parsing it gives the same model again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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

_INDENT = "    "
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_TYPE = re.compile(r"[us][0-9]+\.[0-9]+")


def print_description(description: Description) -> str:
    """The text of one file. Raises ValueError for a name that the language cannot write."""
    lines: list[str] = []
    previous: Declaration | None = None
    for declaration in description.declarations:
        one_line = isinstance(declaration, (Device, Prefer))
        if previous is not None and not (one_line and type(previous) is type(declaration)):
            lines.append("")
        lines.extend(_declaration(declaration))
        previous = declaration
    return "".join(f"{line}\n" for line in lines)


def quoted(name: str) -> str:
    """``name`` as the language writes it, in quotes where it has to be."""
    if _PLAIN_NAME.fullmatch(name) and name not in KEYWORDS:
        return name
    if "\n" in name or "\r" in name:
        raise ValueError(f"a name with a line break cannot be written: {name!r}")
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _string(name: str) -> str:
    text = quoted(name)
    return text if text.startswith('"') else f'"{text}"'


def _declaration(declaration: Declaration) -> Iterator[str]:
    match declaration:
        case Generation():
            yield f"generation {quoted(declaration.name)} verx10 {declaration.verx10}"
        case Import():
            yield from _import(declaration)
        case Prefer():
            names = f"{quoted(declaration.name)} over {quoted(declaration.over)}"
            yield f"prefer {declaration.kind} {names}"
        case Device():
            name = _string(declaration.name)
            yield f"device {declaration.pci_id:#06x} {name} verx10 {declaration.verx10}"
        case Enum():
            prefix = "" if declaration.prefix is None else f" prefix {quoted(declaration.prefix)}"
            yield f"enum {quoted(declaration.name)}{prefix} {{"
            yield from _values(declaration.values, _INDENT)
            yield "}"
        case Group():
            yield f"{_group_head(declaration)} {{"
            yield from _members(declaration.members, _INDENT)
            yield "}"


def _import(declaration: Import) -> Iterator[str]:
    head = f"import {_string(declaration.name)}"
    if not declaration.without:
        yield head
        return
    yield f"{head} without"
    names = [quoted(name) for name in declaration.without]
    yield from (f"{_INDENT}{name}," for name in names[:-1])
    yield _INDENT + names[-1]


def _group_head(group: Group) -> str:
    parts = [group.kind, quoted(group.name)]
    if group.offset is not None:
        parts.append(f"at {group.offset:#x}")
    if group.length is not None:
        parts.append(f"length {group.length}")
    if group.bias is not None:
        parts.append(f"bias {group.bias}")
    if group.engines:
        parts.append(f"engine {', '.join(group.engines)}")
    return " ".join(parts)


def _values(values: Sequence[Value], indent: str) -> Iterator[str]:
    width = max((len(quoted(value.name)) for value in values), default=0)
    for value in values:
        yield f"{indent}{quoted(value.name):<{width}} = {value.number}"


def _members(members: Sequence[Member], indent: str) -> Iterator[str]:
    fields = [member for member in members if isinstance(member, Field)]
    bits_width = max((len(_bits(field)) for field in fields), default=0)
    name_width = min(40, max((len(_string(field.name)) for field in fields), default=0))
    for member in members:
        if isinstance(member, Repeat):
            count = member.count or ""
            yield f"{indent}repeat [{count}] at {member.start} size {member.size} {{"
            yield from _members(member.members, indent + _INDENT)
            yield f"{indent}}}"
            continue
        name = _string(member.name)
        head = f"{indent}{_bits(member):<{bits_width}} {name:<{name_width}} : {_rest(member)}"
        if member.values:
            yield f"{head} {{"
            yield from _values(member.values, indent + _INDENT)
            yield f"{indent}}}"
        else:
            yield head


def _bits(field: Field) -> str:
    return str(field.low) if field.low == field.high else f"{field.low}..{field.high}"


def _rest(field: Field) -> str:
    kind = field.type if _PLAIN_TYPE.fullmatch(field.type) else quoted(field.type)
    parts = [kind]
    if field.default is not None:
        parts.append(f"default {field.default}")
    if field.prefix is not None:
        parts.append(f"prefix {quoted(field.prefix)}")
    if field.nonzero:
        parts.append("nonzero")
    return " ".join(parts)
