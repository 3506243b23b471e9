# SPDX-License-Identifier: MIT
"""The language of .regs files: what they declare, their parser and their printer.

Everything is immutable and compares by content; ``line`` (from 1, 0 where unknown) is only for
messages and does not affect comparisons. Offsets and strides are in dwords, bit positions in bits.
Parsing what was printed gives the same declarations again.

No other module of the register database knows lark. Parsing is slow (about 0.5 MB/s): only the
compiler and the tools parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from lark import Token, v_args

from cffpy.descriptions.language import (
    BlockBuilder,
    Language,
    Row,
    bits_text,
    blocks,
    grouped,
    join,
    number_format,
    string,
    table,
    unquoted,
)
from cffpy.errors import RegisterDbError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark.tree import Meta


@dataclass(frozen=True, slots=True)
class Range:
    """Variants of a varset from ``first`` to ``last``, both included; None is the open end."""

    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class Condition:
    """In force for the variants of the enum ``varset`` that one of ``ranges`` covers."""

    varset: str
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an enum; ``number`` is None where the description gives only the name."""

    name: str
    number: int | None = None
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Type:
    """How the bits of a field or register are shown.

    ``name`` names an enum, a bitset or a built-in type. ``shr``: bits by which the
    stored value is shifted right; ``radix``: bits after the binary point; ``align``: bytes, of an
    address.
    """

    name: str | None = None
    shr: int = 0
    radix: int = 0
    align: int = 0
    addvariant: bool = False
    fields: tuple[Bitfield, ...] = ()
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What a register or a field is for. Added by hand: Mesa's XML does not say it.

    ``topic``: what part of the pipeline it sets; ``derived``: drivers work the value out from other
    state. ``roles``: what kind of value it is. ``engine``: which commands use it; registers only.
    ``cffpy.regdb.subjects`` lists the words.
    """

    topic: str | None = None
    derived: bool = False
    roles: tuple[str, ...] = ()
    engine: str | None = None


NO_SUBJECT = Subject()


@dataclass(frozen=True, slots=True)
class Bitfield:
    """Bits ``low`` to ``high`` (both included) of a bitset or register."""

    name: str
    low: int
    high: int
    type: Type = Type()
    condition: Condition | None = None
    line: int = field(default=0, compare=False)
    subject: Subject = NO_SUBJECT


@dataclass(frozen=True, slots=True)
class Enum:
    """Named values; ``inline``: its values are copied to where it is used."""

    name: str
    values: tuple[Value, ...] = ()
    inline: bool = False
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Bitset:
    """Named fields; ``inline``: the fields are copied to where it is used, conditions and all."""

    name: str
    fields: tuple[Bitfield, ...] = ()
    inline: bool = False
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Register:
    """A register of 32 or 64 bits, or ``length`` registers, one each ``stride`` dwords.

    ``bits`` is (low, high) where the register does not use its whole width.
    """

    name: str
    offset: int
    width: int = 32
    bits: tuple[int, int] | None = None
    type: Type = Type()
    length: int = 1
    stride: int = 0
    usage: tuple[str, ...] = ()
    access: str | None = None
    condition: Condition | None = None
    line: int = field(default=0, compare=False)
    subject: Subject = NO_SUBJECT


@dataclass(frozen=True, slots=True)
class Array:
    """``length`` repeats (0: unbounded) of ``elements``, one each ``stride`` dwords.

    ``offsets`` has one number, or one for each repeat of an array without a regular stride.
    ``index`` names the enum whose values count the repeats. ``subject`` is that of offsets at which
    no element is.
    """

    name: str
    offsets: tuple[int, ...]
    length: int
    stride: int = 0
    index: str | None = None
    usage: tuple[str, ...] = ()
    condition: Condition | None = None
    elements: tuple[Element, ...] = ()
    line: int = field(default=0, compare=False)
    subject: Subject = NO_SUBJECT


@dataclass(frozen=True, slots=True)
class Stripe:
    """Elements under one condition; repeated ``length`` times (0: unbounded) at ``stride``."""

    name: str | None = None
    offset: int = 0
    length: int = 1
    stride: int = 0
    condition: Condition | None = None
    elements: tuple[Element, ...] = ()
    line: int = field(default=0, compare=False)


Element: TypeAlias = Register | Array | Stripe


@dataclass(frozen=True, slots=True)
class Domain:
    """A space of registers, the dwords of a packet, or a structure in memory; ``width`` in bits."""

    name: str
    elements: tuple[Element, ...] = ()
    width: int = 32
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Import:
    """The declarations of another file, ``name`` without its extension, belong here."""

    name: str
    line: int = field(default=0, compare=False)


Declaration: TypeAlias = Import | Enum | Bitset | Domain


@dataclass(frozen=True, slots=True)
class Description:
    """One file of the database: what it declares, in order."""

    declarations: tuple[Declaration, ...] = ()


MAX_NESTING = 12
"""How deep braces may nest. Mesa's descriptions need 4."""


@v_args(meta=True)
class _Builder(BlockBuilder[Description]):
    def RANGE(self, token: Token) -> Range:  # noqa: N802
        name = r'([A-Za-z_][A-Za-z0-9_]*|"(?:\\["\\]|[^"\\])*")?'
        match = re.fullmatch(f"{name}-{name}", token)
        assert match is not None  # the terminal is made of the same two patterns
        first, last = (None if part is None else unquoted(part) for part in match.groups())
        return Range(first, last)

    # Rules, in the order of the grammar.

    def start(self, meta: Meta, items: list[Declaration]) -> Description:
        return Description(tuple(items))

    def import_file(self, meta: Meta, items: list[str]) -> Import:
        return Import(items[0], meta.line)

    def enum(self, meta: Meta, items: list[Any]) -> Enum:
        name, inline, condition, *values = items
        return Enum(name, tuple(values), inline is not None, condition, meta.line)

    def value(self, meta: Meta, items: list[Any]) -> Value:
        name, number, condition = items
        return Value(name, number, condition, meta.line)

    def bitset(self, meta: Meta, items: list[Any]) -> Bitset:
        name, inline, condition, *fields = items
        return Bitset(name, tuple(fields), inline is not None, condition, meta.line)

    def field(self, meta: Meta, items: list[Any]) -> Bitfield:
        (low, high), name, *attributes, condition, body = items
        given = self._collect(attributes)
        kind, subject = self._type(given, body), _subject(given)
        return Bitfield(name, low, high, kind, condition, meta.line, subject)

    def type_body(self, meta: Meta, items: list[Any]) -> list[Any]:
        return items

    def domain(self, meta: Meta, items: list[Any]) -> Domain:
        name, width, condition, elements = items
        width = 32 if width is None else width
        return Domain(name, elements, width, condition, meta.line)

    def element_body(self, meta: Meta, items: list[Element]) -> tuple[Element, ...]:
        return tuple(items)

    def register(self, meta: Meta, items: list[Any]) -> Register:
        kind, offset, name, repeat, *attributes, condition, body = items
        given = self._collect(attributes)
        return Register(
            name,
            offset,
            64 if kind == "reg64" else 32,
            given.get("used_bits"),
            self._type(given, body),
            1 if repeat is None else repeat,
            given.get("stride", 0),
            given.get("usage", ()),
            given.get("access"),
            condition,
            meta.line,
            _subject(given),
        )

    def array(self, meta: Meta, items: list[Any]) -> Array:
        offsets, name, length, *attributes, condition, elements = items
        given = self._collect(attributes)
        return Array(
            name,
            offsets,
            length,
            given.get("stride", 0),
            given.get("index"),
            given.get("usage", ()),
            condition,
            elements,
            meta.line,
            _subject(given),
        )

    def stripe(self, meta: Meta, items: list[Any]) -> Stripe:
        offset, name, length, *attributes, condition, elements = items
        given = self._collect(attributes)
        length = 1 if length is None else length
        stride = given.get("stride", 0)
        return Stripe(name, offset or 0, length, stride, condition, elements, meta.line)

    def offsets(self, meta: Meta, items: list[int]) -> tuple[int, ...]:
        return tuple(items)

    def repeat(self, meta: Meta, items: list[int | None]) -> int:
        return items[0] or 0

    def when(self, meta: Meta, items: list[Any]) -> Condition:
        varset, *parts = items
        ranges = (part if isinstance(part, Range) else Range(part, part) for part in parts)
        return Condition(varset, tuple(ranges))

    def _type(self, given: dict[str, Any], body: list[Any] | None) -> Type:
        if body is None and not given.keys() & _OF_TYPE:
            return _PLAIN
        inside = body or []
        return Type(
            given.get("type"),
            given.get("shr", 0),
            given.get("radix", 0),
            given.get("align", 0),
            given.get("addvariant", False),
            tuple(item for item in inside if isinstance(item, Bitfield)),
            tuple(item for item in inside if isinstance(item, Value)),
        )


_PLAIN = Type()
_OF_TYPE = frozenset(("type", "shr", "radix", "align", "addvariant"))


def _subject(given: dict[str, Any]) -> Subject:
    topic, derived = given.get("about", (None, None))
    roles, engine = given.get("role", ()), given.get("engine")
    subject = Subject(topic, derived is not None, roles, engine)
    return NO_SUBJECT if subject == NO_SUBJECT else subject


LANGUAGE = Language("register", _Builder, MAX_NESTING, RegisterDbError)
parse_text = LANGUAGE.parse_text
parse_file = LANGUAGE.parse_file
quoted = LANGUAGE.quoted


def print_description(description: Description) -> str:
    """The text of one file. Raises ValueError for a name that the language cannot write."""
    return blocks(grouped(description.declarations, _declaration, Import))


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
    rest = join(_type(field.type), _subject_text(field.subject), condition_text(field.condition))
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


def _subject_text(subject: Subject) -> str:
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
                _subject_text(element.subject),
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
                _subject_text(element.subject),
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
