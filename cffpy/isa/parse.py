# SPDX-License-Identifier: MIT
"""Parses the instruction-set language into the model. Uses lark.

Names are resolved later (cffpy/isa/resolve.py); errors within one declaration are reported here,
with their location.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.tree import Meta

from cffpy import dsl
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

_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"t": "\t", "n": "\n"}


class _Import:
    """A parsed import line."""

    def __init__(self, path: str) -> None:
        self.path = path


class _Override:
    """A parsed override: its condition and items."""

    def __init__(self, expression: Expression, items: list[Any]) -> None:
        self.expression = expression
        self.items = items


class _Display(str):
    """A parsed display template."""


class _Assert(Pattern):
    """A parsed assert; its type distinguishes it from a pattern."""


def _unquote(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found.group(1), found.group(1)), text[1:-1])


@v_args(meta=True)
class _Builder(Transformer[Token, File]):
    """Builds the model bottom-up."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def _location(self, meta: Meta) -> SourceLocation:
        if meta.empty:
            return SourceLocation(self._file)
        return SourceLocation(self._file, meta.line, meta.column)

    def _error(self, message: str, location: SourceLocation) -> IsaError:
        return IsaError(message, location.file, location.line, location.column)

    # expressions

    def number(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("int", int(str(parts[0]).rstrip("uUlL"), 0))

    def reference(self, _meta: Meta, parts: list[Any]) -> Tree:
        return ("field", str(parts[0]))

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

    def use(self, _meta: Meta, parts: list[Any]) -> Expression:
        return Expression(None, str(parts[0]))

    def inline(self, _meta: Meta, parts: list[Any]) -> Expression:
        return Expression(parts[0])

    def condition(self, _meta: Meta, parts: list[Any]) -> Expression:
        expression: Expression = parts[0]
        return expression

    # parts of a bitset

    def bits(self, meta: Meta, parts: list[Any]) -> tuple[int, int]:
        low = int(parts[0])
        high = low if parts[1] is None else int(parts[1])
        if high < low:
            raise self._error(f"bits {low}..{high}: the low bit comes first", self._location(meta))
        return low, high

    def pattern(self, meta: Meta, parts: list[Any]) -> Pattern:
        (low, high), text = parts[0], str(parts[1])
        if len(text) != high - low + 1:
            raise self._error(
                f"pattern of {len(text)} bits for {high - low + 1} bits ({low}..{high})",
                self._location(meta),
            )
        return Pattern(low, high, text, self._location(meta))

    @v_args(inline=False, meta=True)
    def assert_(self, meta: Meta, parts: list[Any]) -> Pattern:
        pattern = self.pattern(meta, parts)
        if "x" in pattern.bits:
            raise self._error("an assert has no x", self._location(meta))
        return _Assert(pattern.low, pattern.high, pattern.bits, pattern.location)

    def preset(self, meta: Meta, parts: list[Any]) -> Preset:
        return Preset(str(parts[0]), int(str(parts[1]), 0), self._location(meta))

    def display(self, _meta: Meta, parts: list[Any]) -> _Display:
        return _Display(_unquote(parts[0]))

    def call(self, _meta: Meta, _parts: list[Any]) -> bool:
        return True

    def parameter(self, _meta: Meta, parts: list[Any]) -> Parameter:
        name = str(parts[0])
        return Parameter(name, name if parts[1] is None else str(parts[1]))

    def parameters(self, _meta: Meta, parts: list[Any]) -> tuple[Parameter, ...]:
        return tuple(parts)

    def type(self, _meta: Meta, parts: list[Any]) -> tuple[Any, ...]:
        name, call, shown, parameters = parts
        return (
            str(name),
            bool(call),
            None if shown is None else _unquote(shown),
            parameters or (),
        )

    def field(self, meta: Meta, parts: list[Any]) -> EncodingField:
        (low, high), name, (kind, call, shown, parameters) = parts
        return EncodingField(
            str(name), low, high, kind, shown, parameters, None, call, self._location(meta)
        )

    def width(self, _meta: Meta, parts: list[Any]) -> int:
        return int(parts[0])

    def derived(self, meta: Meta, parts: list[Any]) -> EncodingField:
        name, width, (kind, call, shown, parameters), expression = parts
        high = (1 if width is None else width) - 1
        return EncodingField(
            str(name), 0, high, kind, shown, parameters, expression, call, self._location(meta)
        )

    def override(self, _meta: Meta, parts: list[Any]) -> _Override:
        return _Override(parts[0], parts[1:])

    def size(self, _meta: Meta, parts: list[Any]) -> tuple[str, int]:
        return "size", int(parts[0])

    def extends(self, _meta: Meta, parts: list[Any]) -> tuple[str, str]:
        return "extends", str(parts[0])

    def shown_as(self, _meta: Meta, parts: list[Any]) -> tuple[str, str]:
        return "as", _unquote(parts[0])

    def generations(self, _meta: Meta, parts: list[Any]) -> tuple[str, tuple[int, int]]:
        low = ANY_GENERATION[0] if parts[0] is None else int(parts[0])
        high = ANY_GENERATION[1] if parts[1] is None else int(parts[1])
        return "gen", (low, high)

    def _case(
        self, expression: Expression | None, items: list[Any], location: SourceLocation
    ) -> Case:
        shown = [item for item in items if isinstance(item, _Display)]
        if len(shown) > 1:
            raise self._error("more than one display in one case", location)
        fields = tuple(item for item in items if isinstance(item, EncodingField))
        names = [item.name for item in fields]
        for item in fields:
            if names.count(item.name) > 1:
                raise self._error(f"field {item.name} is declared twice in one case", item.location)
        return Case(
            expression,
            str(shown[0]) if shown else None,
            fields,
            tuple(item for item in items if isinstance(item, _Assert)),
            tuple(
                item
                for item in items
                if isinstance(item, Pattern) and not isinstance(item, _Assert)
            ),
        )

    def bitset(self, meta: Meta, parts: list[Any]) -> Bitset:
        location = self._location(meta)
        facts: dict[str, Any] = {}
        items: list[Any] = []
        for part in parts[1:]:
            if isinstance(part, tuple):
                facts[part[0]] = part[1]
            elif part is not None:
                items.append(part)
        overrides = [
            self._case(item.expression, item.items, location)
            for item in items
            if isinstance(item, _Override)
        ]
        default = self._case(None, [i for i in items if not isinstance(i, _Override)], location)
        if "size" not in facts and "extends" not in facts:
            raise self._error(
                f"bitset {parts[0]} needs a size, or a bitset that it extends", location
            )
        return Bitset(
            str(parts[0]),
            facts.get("size"),
            facts.get("extends"),
            facts.get("as"),
            facts.get("gen", ANY_GENERATION),
            (*overrides, default),
            tuple(item for item in items if isinstance(item, Preset)),
            location,
        )

    # declarations

    def enum_value(self, _meta: Meta, parts: list[Any]) -> tuple[int, str]:
        return int(parts[0]), _unquote(parts[1])

    def enum(self, meta: Meta, parts: list[Any]) -> Enum:
        return Enum(str(parts[0]), tuple(parts[1:]), self._location(meta))

    def named_expression(self, meta: Meta, parts: list[Any]) -> NamedExpression:
        return NamedExpression(str(parts[0]), parts[1], self._location(meta))

    def template(self, meta: Meta, parts: list[Any]) -> Template:
        return Template(str(parts[0]), _unquote(parts[1]), self._location(meta))

    def import_(self, _meta: Meta, parts: list[Any]) -> _Import:
        return _Import(_unquote(parts[0]))

    def start(self, _meta: Meta, parts: list[Any]) -> File:
        imports = tuple(part.path for part in parts if isinstance(part, _Import))
        return File(
            os.path.basename(self._file),
            imports,
            tuple(part for part in parts if not isinstance(part, _Import)),
        )


# The grammar's rules "import" and "assert" are keywords of Python.
setattr(_Builder, "import", _Builder.import_)
setattr(_Builder, "assert", _Builder.assert_)


def load_grammar() -> Lark:
    """The parser of the language. Building it takes 20 ms: use one for many files."""
    return dsl.load_grammar("isa")


def parse(text: str, file: str, grammar: Lark | None = None) -> File:
    """The model of one file's text. Raises IsaError with the location of the error."""
    try:
        return dsl.parse(grammar or load_grammar(), _Builder(file), text, file, IsaError)
    except RecursionError:
        raise IsaError("an expression is nested too deeply", file) from None


def parse_expression(text: str, grammar: Lark | None = None) -> Tree:
    """The tree of a single expression, for the importer."""
    model = parse(f"expr x = {text};", "expression", grammar)
    declaration = model.declarations[0]
    assert isinstance(declaration, NamedExpression)
    return declaration.tree


def parse_files(paths: Iterable[str]) -> list[File]:
    """The models of .isa files."""
    grammar = load_grammar()
    files = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            files.append(parse(file.read(), path, grammar))
    return files
