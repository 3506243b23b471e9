# SPDX-License-Identifier: MIT
"""The language of .isa files: what they declare (names are not resolved), parser and printer.

Bit numbers count from 0 at the least significant bit; ranges include both ends. Names are resolved
in cffpy.isa.resolve; errors within one declaration are reported here, with their location. Parsing
what was printed, which is aligned in columns, gives the same declarations again. No other module of
the instruction sets knows lark.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lark import v_args

from cffpy.descriptions.language import (
    BlockBuilder,
    Language,
    Row,
    bits_text,
    blocks,
    join,
    string,
    table,
)
from cffpy.errors import IsaError
from cffpy.isa.rows import Tree, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lark.tree import Meta

ANY_GENERATION = (0, 1 << 32)
"""Default generations of a bitset (generation x 100, both ends included)."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Position of a declaration, for error messages."""

    file: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition or a value: a tree, or the name of a declared expression."""

    tree: Tree | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An outer field ``name`` that is visible as ``known_as`` inside a field's bitset."""

    name: str
    known_as: str


@dataclass(frozen=True, slots=True)
class EncodingField:
    """A field, or a derived field when ``expression`` is set (``low`` is 0, ``high`` width - 1)."""

    name: str
    low: int
    high: int
    type: str
    display: str | None = None
    parameters: tuple[Parameter, ...] = ()
    expression: Expression | None = None
    call: bool = False
    location: SourceLocation = dataclasses.field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Bits that must be 0 or 1, or should be 0 (x); most significant first."""

    low: int
    high: int
    bits: str
    location: SourceLocation = dataclasses.field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """An override (``expression`` set) or the default case of a bitset.

    Only patterns of the default case are matched; an override's patterns document its bits.
    ``asserts`` are patterns whose violation is reported with the text.
    """

    expression: Expression | None
    display: str | None
    fields: tuple[EncodingField, ...]
    asserts: tuple[Pattern, ...]
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Preset:
    """The value that the assembler gives a field that no display shows; without one it is 0."""

    name: str
    value: int
    location: SourceLocation = dataclasses.field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Bitset:
    """A node in a hierarchy of encodings: a root has a size, a child extends another bitset.

    ``cases``: the overrides in their order, then the default case.
    """

    name: str
    size: int | None
    extends: str | None
    display_name: str | None
    generations: tuple[int, int]
    cases: tuple[Case, ...]
    presets: tuple[Preset, ...] = ()
    location: SourceLocation = dataclasses.field(default=SourceLocation(), compare=False)

    @property
    def default(self) -> Case:
        """What applies where no override does."""
        return self.cases[-1]


@dataclass(frozen=True, slots=True)
class Enum:
    """Texts for the numbers of a field; of two texts for a number, the first counts."""

    name: str
    values: tuple[tuple[int, str], ...]
    location: SourceLocation = dataclasses.field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """An expression that conditions and derived fields use by its name."""

    name: str
    tree: Tree
    location: SourceLocation = dataclasses.field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Template:
    """A declared piece of display text."""

    name: str
    text: str
    location: SourceLocation = dataclasses.field(default=SourceLocation(), compare=False)


Declaration = Bitset | Enum | NamedExpression | Template


@dataclass(frozen=True, slots=True)
class File:
    """One .isa file: imports and declarations in order, and the copyright notice."""

    name: str
    imports: tuple[str, ...]
    declarations: tuple[Declaration, ...]
    notice: str = ""


BASIC_TYPES = (
    "bool",
    "bool_inv",
    "int",
    "uint",
    "hex",
    "offset",
    "uoffset",
    "float",
    "branch",
    "absbranch",
    "custom",
)
"""Types that are neither an enum nor a bitset."""

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
        given, items = self._split(rest)
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


LANGUAGE = Language("isa", _Builder, MAX_NESTING, IsaError)
parse_text = LANGUAGE.parse_text
parse_file = LANGUAGE.parse_file
quoted = LANGUAGE.quoted


def parse_expression(text: str) -> Tree:
    """The tree of a single expression, for the importer."""
    declaration = parse_text(f"expr x = {text}", "expression").declarations[0]
    assert isinstance(declaration, NamedExpression)
    return declaration.tree


def parse_files(paths: Sequence[str]) -> list[File]:
    """The models of .isa files."""
    return list(LANGUAGE.parse_files(paths).values())


def print_file(file: File) -> str:
    """The text of a whole file: notice, imports, declarations.

    Raises ValueError for a name that the language cannot write.
    """
    notice = "".join(f"# {line}".rstrip() + "\n" for line in file.notice.splitlines())
    text = blocks(_blocks(file))
    return "\n".join(part for part in (notice, text) if part)


def _blocks(file: File) -> Iterator[list[Row]]:
    """Blocks of the file: one for the imports, and one for each declaration."""
    if file.imports:
        yield [Row((f"import {string(name)}",)) for name in file.imports]
    for declaration in file.declarations:
        yield [_declaration(declaration)]


def _declaration(declaration: Declaration) -> Row:
    match declaration:
        case Enum(name, values):
            rows = (Row((quoted(text), f"= {number}")) for number, text in values)
            return Row((f"enum {quoted(name)}",), table(rows))
        case NamedExpression(name, tree):
            return Row((f"expr {quoted(name)} = {_expression(Expression(tree))}",))
        case Template(name, text):
            return Row((f"template {quoted(name)} = {string(text)}",))
        case Bitset():
            return _bitset(declaration)


def _expression(expression: Expression) -> str:
    if expression.tree is None:
        return f"@{quoted(expression.name)}"
    return to_text(expression.tree, quoted)


def _bitset(bitset: Bitset) -> Row:
    head = join(
        f"bitset {quoted(bitset.name)}",
        "" if bitset.size is None else f"size {bitset.size}",
        "" if bitset.extends is None else f"extends {quoted(bitset.extends)}",
        "" if bitset.display_name is None else f"as {string(bitset.display_name)}",
        _generations(bitset.generations),
    )
    rows = []
    for case in bitset.cases[:-1]:
        assert case.expression is not None
        rows.append(Row((f"override {_expression(case.expression)}",), table(_case(case))))
    rows.extend(_case(bitset.default))
    rows.extend(Row((f"encode {quoted(item.name)} = {item.value}",)) for item in bitset.presets)
    return Row((head,), table(rows))


def _generations(generations: tuple[int, int]) -> str:
    if generations == ANY_GENERATION:
        return ""
    low, high = generations
    first = "" if low == ANY_GENERATION[0] else str(low)
    last = "" if high == ANY_GENERATION[1] else str(high)
    return f"gen {first}..{last}"


def _case(case: Case) -> Iterator[Row]:
    """The display; what has bits, by the lowest of them; derived fields."""
    if case.display is not None:
        yield Row((f"display {string(case.display)}",))
    placed: list[tuple[int, Row]] = [
        (field.low, _field(field)) for field in case.fields if field.expression is None
    ]
    for word, patterns in (("pattern", case.patterns), ("assert", case.asserts)):
        placed.extend((pattern.low, _pattern(word, pattern)) for pattern in patterns)
    placed.sort(key=lambda item: item[0])
    yield from (row for _, row in placed)
    for field in case.fields:
        if field.expression is not None:
            width = f"[{field.high + 1}]" if field.high else ""
            head = f"derived {quoted(field.name)}{width} : {_type(field)}"
            yield Row((f"{head} = {_expression(field.expression)}",))


def _pattern(word: str, pattern: Pattern) -> Row:
    return Row((f"{word} {bits_text(pattern.low, pattern.high)} {pattern.bits}",))


def _field(field: EncodingField) -> Row:
    return Row((f"{bits_text(field.low, field.high)} {quoted(field.name)} : {_type(field)}",))


def _type(field: EncodingField) -> str:
    return join(
        quoted(field.type),
        "call" if field.call else "",
        "" if field.display is None else string(field.display),
        _parameters(field.parameters),
    )


def _parameters(parameters: Sequence[Parameter]) -> str:
    names = (
        quoted(parameter.name)
        if parameter.name == parameter.known_as
        else f"{quoted(parameter.name)} as {quoted(parameter.known_as)}"
        for parameter in parameters
    )
    return f"({', '.join(names)})" if parameters else ""
