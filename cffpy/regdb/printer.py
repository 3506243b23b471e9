# SPDX-License-Identifier: MIT
"""Model -> description text, aligned in columns; parsing it gives the same model again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from cffpy.descriptions import printer
from cffpy.descriptions.printer import Row, bits_text, join, number_format, string, table
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


def print_description(description: Description) -> str:
    """The text of one file. Raises ValueError for a name that the language cannot write."""
    return printer.blocks(_blocks(description))


def _blocks(description: Description) -> Iterator[list[Row]]:
    """Each declaration apart, imports together."""
    for are_imports, group in groupby(
        description.declarations, lambda declaration: isinstance(declaration, Import)
    ):
        rows = [_declaration(declaration) for declaration in group]
        yield from [rows] if are_imports else ([row] for row in rows)


def quoted(name: str) -> str:
    """``name`` as the language writes it, in quotes where it has to be."""
    return printer.quoted(name, KEYWORDS)


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


def _declaration(declaration: Declaration) -> Row:
    match declaration:
        case Import(name):
            return Row((f"import {string(name)}",))
        case Enum():
            head = ("enum", quoted(declaration.name), _inline(declaration.inline))
            body = table(_values(declaration.values))
        case Bitset():
            head = ("bitset", quoted(declaration.name), _inline(declaration.inline))
            body = table(_field(field) for field in declaration.fields)
        case Domain():
            width = "" if declaration.width == 32 else f"width {declaration.width}"
            head = ("domain", quoted(declaration.name), width)
            body = table(_elements(declaration.elements))
    return Row((*head, condition_text(declaration.condition)), body)


def _inline(inline: bool) -> str:
    return "inline" if inline else ""


def _values(values: Sequence[Value]) -> list[Row]:
    number = number_format([value.number for value in values if value.number is not None])
    rows = []
    for value in values:
        text = "" if value.number is None else f"= {number.format(value.number)}"
        rows.append(Row((quoted(value.name), text, condition_text(value.condition))))
    return rows


def _field(field: Bitfield) -> Row:
    bits = bits_text(field.low, field.high)
    rest = join(_type(field.type), _subject(field.subject), condition_text(field.condition))
    return Row((bits, quoted(field.name), rest), _type_body(field.type))


def _type(kind: Type, bits: tuple[int, int] | None = None) -> str:
    return join(
        "" if kind.name is None else f": {quoted(kind.name)}",
        "" if bits is None else f"bits {bits[0]}..{bits[1]}",
        f"shr {kind.shr}" if kind.shr else "",
        f"radix {kind.radix}" if kind.radix else "",
        f"align {kind.align}" if kind.align else "",
        "addvariant" if kind.addvariant else "",
    )


def _subject(subject: Subject) -> str:
    return join(
        "" if subject.topic is None else f"about {quoted(subject.topic)}",
        "derived" if subject.derived else "",
        f"role {', '.join(map(quoted, subject.roles))}" if subject.roles else "",
        "" if subject.engine is None else f"engine {quoted(subject.engine)}",
    )


def _type_body(kind: Type) -> list[str] | None:
    if not kind.fields and not kind.values:
        return None
    return table([*(_field(field) for field in kind.fields), *_values(kind.values)])


def _elements(elements: Sequence[Element]) -> list[Row]:
    offsets: list[int] = []
    for element in elements:
        match element:
            case Array():
                offsets.extend(element.offsets)
            case Register() | Stripe():
                offsets.append(element.offset)
    number = number_format(offsets)
    return [_element(element, number) for element in elements]


def _element(element: Element, number: str) -> Row:
    match element:
        case Register():
            kind = f"reg{element.width}"
            repeat = "" if element.length == 1 else _repeat(element.length)
            rest = join(
                _type(element.type, element.bits),
                _stride(element.stride),
                _usage(element.usage),
                "" if element.access is None else f"access {quoted(element.access)}",
                _subject(element.subject),
                condition_text(element.condition),
            )
            offset = number.format(element.offset)
            name = quoted(element.name) + repeat
            return Row((kind, offset, name, rest), _type_body(element.type))
        case Array():
            offset = ", ".join(number.format(offset) for offset in element.offsets)
            rest = join(
                _stride(element.stride),
                "" if element.index is None else f"index {quoted(element.index)}",
                _usage(element.usage),
                _subject(element.subject),
                condition_text(element.condition),
            )
            name = quoted(element.name) + _repeat(element.length)
            return Row(("array", offset, name, rest), table(_elements(element.elements)))
        case Stripe():
            offset = number.format(element.offset) if element.offset else ""
            name = "" if element.name is None else quoted(element.name)
            repeat = "" if element.length == 1 else _repeat(element.length)
            rest = join(_stride(element.stride), condition_text(element.condition))
            cells = ("stripe", offset, name, repeat, rest)
            return Row((join(*cells),), table(_elements(element.elements)))


def _repeat(length: int) -> str:
    return f"[{length}]" if length else "[]"


def _stride(stride: int) -> str:
    return f"stride {stride}" if stride else ""


def _usage(usage: Sequence[str]) -> str:
    return f"usage {', '.join(quoted(name) for name in usage)}" if usage else ""
