# SPDX-License-Identifier: MIT
"""Model -> description text, aligned in columns; parsing it gives the same model again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cffpy.regdb.model import (
    Array,
    Bitfield,
    Bitset,
    Condition,
    Declaration,
    Description,
    Domain,
    Element,
    Enum,
    Import,
    Register,
    Stripe,
    Subject,
    Type,
    Value,
)

# fmt: off
KEYWORDS = frozenset({
    "import", "enum", "bitset", "domain", "reg32", "reg64", "array", "stripe", "inline", "width",
    "bits", "shr", "radix", "align", "addvariant", "stride", "usage", "access", "index", "when",
    "about", "derived", "role", "engine",
})
# fmt: on
"""Words that a name can only be in quotes."""

_INDENT = "    "
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class _Row:
    # One item: its text in columns, and the lines between its braces or None without braces.
    cells: tuple[str, ...]
    body: list[str] | None = None


def print_description(description: Description) -> str:
    """The text of one file. Raises ValueError for a name that the language cannot write."""
    blocks: list[str] = []
    previous: Declaration | None = None
    for declaration in description.declarations:
        if previous is not None and not (
            isinstance(previous, Import) and isinstance(declaration, Import)
        ):
            blocks.append("")
        blocks.extend(_table([_declaration(declaration)]))
        previous = declaration
    return "".join(f"{line}\n" for line in blocks)


def quoted(name: str) -> str:
    """``name`` as the language writes it, in quotes where it has to be."""
    if _PLAIN_NAME.fullmatch(name) and name not in KEYWORDS:
        return name
    return _string(name)


def condition_text(condition: Condition | None) -> str:
    """``when VARSET RANGE, ...``, or the empty string."""
    if condition is None:
        return ""
    parts = []
    for variants in condition.ranges:
        first = "" if variants.first is None else quoted(variants.first)
        last = "" if variants.last is None else quoted(variants.last)
        single = variants.first is not None and variants.first == variants.last
        parts.append(first if single else f"{first}-{last}")
    return f"when {quoted(condition.varset)} {', '.join(parts)}"


def _string(name: str) -> str:
    if "\n" in name or "\r" in name:
        raise ValueError(f"a name with a line break cannot be written: {name!r}")
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _declaration(declaration: Declaration) -> _Row:
    match declaration:
        case Import(name):
            return _Row((f"import {_string(name)}",))
        case Enum():
            head = ("enum", quoted(declaration.name), _inline(declaration.inline))
            body = _table(_values(declaration.values))
        case Bitset():
            head = ("bitset", quoted(declaration.name), _inline(declaration.inline))
            body = _table(_field(field) for field in declaration.fields)
        case Domain():
            width = "" if declaration.width == 32 else f"width {declaration.width}"
            head = ("domain", quoted(declaration.name), width)
            body = _table(_elements(declaration.elements))
    return _Row((*head, condition_text(declaration.condition)), body)


def _inline(inline: bool) -> str:
    return "inline" if inline else ""


def _values(values: Sequence[Value]) -> list[_Row]:
    number = _number_format([value.number for value in values if value.number is not None])
    rows = []
    for value in values:
        text = "" if value.number is None else f"= {number.format(value.number)}"
        rows.append(_Row((quoted(value.name), text, condition_text(value.condition))))
    return rows


def _field(field: Bitfield) -> _Row:
    bits = str(field.low) if field.low == field.high else f"{field.low}..{field.high}"
    rest = _join(_type(field.type), _subject(field.subject), condition_text(field.condition))
    return _Row((bits, quoted(field.name), rest), _type_body(field.type))


def _type(kind: Type, bits: tuple[int, int] | None = None) -> str:
    return _join(
        "" if kind.name is None else f": {quoted(kind.name)}",
        "" if bits is None else f"bits {bits[0]}..{bits[1]}",
        f"shr {kind.shr}" if kind.shr else "",
        f"radix {kind.radix}" if kind.radix else "",
        f"align {kind.align}" if kind.align else "",
        "addvariant" if kind.addvariant else "",
    )


def _subject(subject: Subject) -> str:
    return _join(
        "" if subject.topic is None else f"about {quoted(subject.topic)}",
        "derived" if subject.derived else "",
        f"role {', '.join(map(quoted, subject.roles))}" if subject.roles else "",
        "" if subject.engine is None else f"engine {quoted(subject.engine)}",
    )


def _type_body(kind: Type) -> list[str] | None:
    if not kind.fields and not kind.values:
        return None
    return _table([*(_field(field) for field in kind.fields), *_values(kind.values)])


def _elements(elements: Sequence[Element]) -> list[_Row]:
    offsets: list[int] = []
    for element in elements:
        match element:
            case Array():
                offsets.extend(element.offsets)
            case Register() | Stripe():
                offsets.append(element.offset)
    number = _number_format(offsets)
    return [_element(element, number) for element in elements]


def _element(element: Element, number: str) -> _Row:
    match element:
        case Register():
            kind = f"reg{element.width}"
            repeat = "" if element.length == 1 else _repeat(element.length)
            rest = _join(
                _type(element.type, element.bits),
                _stride(element.stride),
                _usage(element.usage),
                "" if element.access is None else f"access {quoted(element.access)}",
                _subject(element.subject),
                condition_text(element.condition),
            )
            offset = number.format(element.offset)
            name = quoted(element.name) + repeat
            return _Row((kind, offset, name, rest), _type_body(element.type))
        case Array():
            offset = ", ".join(number.format(offset) for offset in element.offsets)
            rest = _join(
                _stride(element.stride),
                "" if element.index is None else f"index {quoted(element.index)}",
                _usage(element.usage),
                _subject(element.subject),
                condition_text(element.condition),
            )
            name = quoted(element.name) + _repeat(element.length)
            return _Row(("array", offset, name, rest), _table(_elements(element.elements)))
        case Stripe():
            offset = number.format(element.offset) if element.offset else ""
            name = "" if element.name is None else quoted(element.name)
            repeat = "" if element.length == 1 else _repeat(element.length)
            rest = _join(_stride(element.stride), condition_text(element.condition))
            cells = ("stripe", offset, name, repeat, rest)
            return _Row((_join(*cells),), _table(_elements(element.elements)))


def _repeat(length: int) -> str:
    return f"[{length}]" if length else "[]"


def _stride(stride: int) -> str:
    return f"stride {stride}" if stride else ""


def _usage(usage: Sequence[str]) -> str:
    return f"usage {', '.join(quoted(name) for name in usage)}" if usage else ""


# Small numbers in decimal, others in hexadecimal of one width, so that columns line up.
def _number_format(numbers: Sequence[int]) -> str:
    largest = max(numbers, default=0)
    if largest < 16:
        return "{}"
    return f"{{:#0{len(f'{largest:x}') + 2}x}}"


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


# Neighbouring items without a body share their columns; an item with a body is on its own.
def _table(rows: Iterable[_Row]) -> list[str]:
    lines: list[str] = []
    group: list[tuple[str, ...]] = []
    for row in rows:
        if row.body is None:
            group.append(row.cells)
            continue
        lines.extend(_aligned(group))
        group = []
        head = _join(*row.cells)
        if row.body:
            lines.append(f"{head} {{")
            lines.extend(_INDENT + line for line in row.body)
            lines.append("}")
        else:
            lines.append(f"{head} {{ }}")
    lines.extend(_aligned(group))
    return lines


def _aligned(group: Sequence[tuple[str, ...]]) -> list[str]:
    if not group:
        return []
    columns = max(len(cells) for cells in group)
    widths = [
        max((len(cells[column]) for cells in group if column < len(cells)), default=0)
        for column in range(columns)
    ]
    lines = []
    for cells in group:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False) if width]
        lines.append(" ".join(padded).rstrip())
    return lines
