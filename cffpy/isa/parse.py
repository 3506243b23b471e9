# SPDX-License-Identifier: MIT
"""Parses the instruction-set language into the model. Uses lark.

Names are resolved later (cffpy/isa/resolve.py); errors within one declaration are reported here,
with their location.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from lark import v_args
from lark.tree import Meta

from cffpy.descriptions.parse import Attribute, BlockBuilder, Language
from cffpy.errors import IsaError
from cffpy.isa.expression import Tree
from cffpy.isa.model import (
    ANY_GENERATION,
    Bitset,
    Case,
    EncodingField,
    Enum,
    Expression,
    File,
    NamedExpression,
    Parameter,
    Pattern,
    Preset,
    SourceLocation,
    Template,
)

MAX_NESTING = 8
"""How deep braces may nest. Mesa's descriptions need 3."""


class _Import(str):
    """The name of an imported file."""


class _Override:
    """A parsed override: its condition and items."""

    def __init__(self, expression: Expression, items: list[Any]) -> None:
        self.expression = expression
        self.items = items


class _Display(str):
    """The template of a ``display`` line, apart from other texts."""


class _Assert(Pattern):
    """A parsed assert; its type distinguishes it from a pattern."""


@v_args(meta=True)
class _Builder(BlockBuilder[File]):
    """Builds a file's model from its tree, the leaves first."""

    def _location(self, meta: Meta) -> SourceLocation:
        if meta.empty:
            return SourceLocation(self._file)
        return SourceLocation(self._file, meta.line, meta.column)

    # expressions

    def number(self, _meta: Meta, parts: list[int]) -> Tree:
        return ("int", parts[0])

    def reference(self, _meta: Meta, parts: list[str]) -> Tree:
        return ("field", parts[0])

    def generation(self, _meta: Meta, _parts: list[Any]) -> Tree:
        return ("gen",)

    def choice(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("?:", *parts)

    def not_(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("!", parts[0])

    def binary(self, _meta: Meta, parts: list[Any]) -> Tree:
        return (str(parts[1]), parts[0], parts[2])

    def binary_or(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("||", *parts)

    def binary_and(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("&&", *parts)

    def binary_bit_or(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("|", *parts)

    def binary_bit_xor(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("^", *parts)

    def binary_bit_and(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("&", *parts)

    def binary_product(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("*", *parts)

    def use(self, _meta: Meta, parts: list[str]) -> Expression:
        return Expression(None, parts[0])

    def inline(self, _meta: Meta, parts: list[Tree]) -> Expression:
        return Expression(parts[0])

    # parts of a bitset

    def pattern(self, meta: Meta, parts: list[Any]) -> Pattern:
        (low, high), text = parts[0], str(parts[1])
        if len(text) != high - low + 1:
            bits = f"{high - low + 1} bits ({low}..{high})"
            raise self._wrong(f"pattern of {len(text)} bits for {bits}", meta)
        return Pattern(low, high, text, self._location(meta))

    def must(self, meta: Meta, parts: list[Any]) -> Pattern:
        (low, high), text = parts[0], str(parts[1])
        if len(text) != high - low + 1 or "x" in text:
            raise self._wrong(f"an assert has no x, and a bit for each of {low}..{high}", meta)
        return _Assert(low, high, text, self._location(meta))

    def preset(self, meta: Meta, parts: list[Any]) -> Preset:
        return Preset(parts[0], parts[1], self._location(meta))

    def display(self, _meta: Meta, parts: list[str]) -> _Display:
        return _Display(parts[0])

    def parameter(self, _meta: Meta, parts: list[Any]) -> Parameter:
        name, known_as = parts
        return Parameter(name, name if known_as is None else known_as)

    def parameters(self, _meta: Meta, parts: list[Parameter]) -> tuple[Parameter, ...]:
        return tuple(parts)

    def type(self, _meta: Meta, parts: list[Any]) -> tuple[Any, ...]:
        name, call, shown, parameters = parts
        return name, call is not None, shown, parameters or ()

    def field(self, meta: Meta, parts: list[Any]) -> EncodingField:
        (low, high), name, (kind, call, shown, parameters) = parts
        location = self._location(meta)
        return EncodingField(name, low, high, kind, shown, parameters, None, call, location)

    def width(self, _meta: Meta, parts: list[int]) -> int:
        return parts[0]

    def derived(self, meta: Meta, parts: list[Any]) -> EncodingField:
        name, width, (kind, call, shown, parameters), expression = parts
        high = (1 if width is None else width) - 1
        location = self._location(meta)
        return EncodingField(name, 0, high, kind, shown, parameters, expression, call, location)

    def override(self, _meta: Meta, parts: list[Any]) -> _Override:
        return _Override(parts[0], parts[1:])

    def _case(self, expression: Expression | None, items: list[Any], meta: Meta) -> Case:
        shown = [item for item in items if isinstance(item, _Display)]
        if len(shown) > 1:
            raise self._wrong("more than one display in one case", meta)
        fields = tuple(item for item in items if isinstance(item, EncodingField))
        self._check_names(fields)
        patterns = [item for item in items if isinstance(item, Pattern)]
        return Case(
            expression,
            str(shown[0]) if shown else None,
            fields,
            tuple(item for item in patterns if isinstance(item, _Assert)),
            tuple(item for item in patterns if not isinstance(item, _Assert)),
        )

    def _check_names(self, fields: tuple[EncodingField, ...]) -> None:
        names = [field.name for field in fields]
        for field in fields:
            if names.count(field.name) > 1:
                place = field.location.line, field.location.column
                message = f"field {field.name} is declared twice in one case"
                raise IsaError(message, self._file, *place)

    def bitset(self, meta: Meta, parts: list[Any]) -> Bitset:
        name, *rest = parts
        given = self._collect([part for part in rest if isinstance(part, Attribute)])
        items = [part for part in rest if not isinstance(part, Attribute)]
        if ("size" in given) == ("extends" in given):
            message = f"bitset {name} needs either a size or a bitset that it extends"
            raise self._wrong(message, meta)
        overrides = [
            self._case(item.expression, item.items, meta)
            for item in items
            if isinstance(item, _Override)
        ]
        default = self._case(None, [i for i in items if not isinstance(i, _Override)], meta)
        low, high = given.get("generations", (None, None))
        return Bitset(
            name,
            given.get("size"),
            given.get("extends"),
            given.get("shown_as"),
            (
                ANY_GENERATION[0] if low is None else low,
                ANY_GENERATION[1] if high is None else high,
            ),
            (*overrides, default),
            tuple(item for item in items if isinstance(item, Preset)),
            self._location(meta),
        )

    # declarations

    def value(self, _meta: Meta, parts: list[Any]) -> tuple[int, str]:
        name, number = parts
        return number, name

    def enum(self, meta: Meta, parts: list[Any]) -> Enum:
        return Enum(parts[0], tuple(parts[1:]), self._location(meta))

    def named_expression(self, meta: Meta, parts: list[Any]) -> NamedExpression:
        return NamedExpression(parts[0], parts[1], self._location(meta))

    def template(self, meta: Meta, parts: list[str]) -> Template:
        return Template(parts[0], parts[1], self._location(meta))

    def import_file(self, _meta: Meta, parts: list[str]) -> _Import:
        return _Import(parts[0])

    def start(self, _meta: Meta, parts: list[Any]) -> File:
        imports = tuple(str(part) for part in parts if isinstance(part, _Import))
        declarations = tuple(part for part in parts if not isinstance(part, _Import))
        return File(os.path.basename(self._file), imports, declarations)


_LANGUAGE = Language("isa", _Builder, MAX_NESTING, IsaError)
parse_text = _LANGUAGE.parse_text
parse_file = _LANGUAGE.parse_file


def parse_expression(text: str) -> Tree:
    """The tree of a single expression, for the importer."""
    declaration = parse_text(f"expr x = {text}", "expression").declarations[0]
    assert isinstance(declaration, NamedExpression)
    return declaration.tree


def parse_files(paths: Iterable[str]) -> list[File]:
    """The models of .isa files."""
    return [parse_file(path) for path in paths]
