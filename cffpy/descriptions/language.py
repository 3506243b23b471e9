# SPDX-License-Identifier: MIT
"""What the languages of descriptions (.regs, .isa, .gen) have in common: parsing and printing.

``parse`` loads a grammar of grammars/ and parses text with it; syntax errors become DslError.
Filters and the packet assembly language use it, too; their parsers are kept in compiled form.
``BlockBuilder`` makes declarations of blocks. Printers put items in columns, blocks in braces,
names in quotes. Only modules that parse or print import this, and others import these lazily: lark
takes longer to import than the dump command to start.
"""

from __future__ import annotations

import marshal
import os
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import lark
from lark import Lark, Token, Transformer, Tree, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError
from lark.grammar import Rule
from lark.lexer import PatternStr, TerminalDef
from lark.tree import Meta

from cffpy._data import data_path
from cffpy.descriptions import MAX_NUMBER
from cffpy.descriptions.store import Store
from cffpy.errors import CffpyError, DslError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


_Result = TypeVar("_Result")
_Made = TypeVar("_Made", covariant=True)
_Declared = TypeVar("_Declared")

_BRACES = re.compile(r'#[^\n]*|"(?:\\["\\]|[^"\\\n\r])*"|([{}])')


_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"t": "\t", "n": "\n"}


class Builder(Protocol[_Made]):
    """Builds a result from a tree: a lark Transformer, or a class with the same interface."""

    def transform(self, tree: Tree[Token]) -> _Made:
        """The result. Raises CffpyError for errors that the grammar does not detect."""


#: Grammars that are parsed at each start, so that their parsers are kept.
_KEPT = ("filter", "pm4asm")


def load_grammar(name: str) -> Lark:
    """The LALR parser of ``grammars/<name>.lark``, with positions kept for error messages."""
    kept = GRAMMARS.load(_part(name)) if name in _KEPT else None
    if kept is None:
        return make_parser(name)
    parser: Lark = Lark.load(kept)
    return parser


def make_parser(name: str) -> Lark:
    """The same, made of the grammar."""
    return Lark.open(_path(name), parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _path(name: str) -> str:
    return data_path("grammars", f"{name}.lark")


def _part(name: str) -> str:
    """The tables of a parser are those of one version of lark."""
    return f"{name}-{lark.__version__}"


def _compile_grammars(_directory: str) -> dict[str, bytes]:
    parts = {}
    for name in _KEPT:
        data, memo = make_parser(name).memo_serialize([TerminalDef, Rule])
        parts[_part(name)] = marshal.dumps(_plain({"data": data, "memo": memo}))
    return parts


def _plain(value: Any) -> Any:  # noqa: ANN401
    """The same of types that marshal takes: some texts of lark are of classes of their own."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return str(value) if isinstance(value, str) else value


#: The parsers that lark makes of grammars: it takes 15 times as long to make one as to load it.
GRAMMARS = Store(
    "grammars",
    1,
    lambda _directory: [*map(_path, _KEPT), os.path.abspath(lark.__file__)],
    _compile_grammars,
    of_editions=False,
)


def read_text(path: str, error: type[DslError] = DslError) -> str:
    """The text of a description. Raises ``error`` with the line where it is not UTF-8."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise error("not UTF-8 text", path, line) from None


def check_nesting(text: str, file: str, deepest: int, error: type[DslError] = DslError) -> None:
    """Raise ``error`` where braces nest too deep: what walks the tree would exhaust the stack.

    Braces in comments (``#``) and in quoted names do not count.
    """
    depth = 0
    for match in _BRACES.finditer(text):
        if match[1] == "{":
            depth += 1
            if depth > deepest:
                start = match.start()
                line = text.count("\n", 0, start) + 1
                column = start - text.rfind("\n", 0, start)
                raise error(f"braces nested more than {deepest} deep", file, line, column)
        elif match[1] == "}":
            depth -= 1


def parse(
    grammar: Lark,
    transformer: Builder[_Result],
    text: str,
    file: str,
    error: type[DslError] = DslError,
    start: tuple[int, int] = (1, 0),
) -> _Result:
    """Parse ``text`` and build the result with ``transformer``.

    ``start``: the line on which the text begins, and the number of characters before it.

    Raises ``error`` with file, line, column and the offending line with a caret under it.
    """
    try:
        return transformer.transform(grammar.parse(text))
    except UnexpectedInput as problem:
        expected = sorted(_shown(grammar, name) for name in _expected(problem))
        listed = ", ".join(expected[:8]) + (", ..." if len(expected) > 8 else "")
        context = _context(problem, text)
        raise error(
            f"unexpected input, expected one of: {listed}\n{context}" if listed else context,
            file,
            *_place(problem, text, start),
        ) from None
    except VisitError as problem:
        if isinstance(problem.orig_exc, CffpyError):
            raise problem.orig_exc from None
        raise


def _place(problem: UnexpectedInput, text: str, start: tuple[int, int]) -> tuple[int, int]:
    """Line and column in the file. (At the end of the text, lark gives those of the last token.)"""
    line, column = problem.line, problem.column
    if _is_at_end(problem):
        line = text.count("\n") + 1
        column = len(text) - (text.rfind("\n") + 1) + 1
    return start[0] + line - 1, column + (start[1] if line == 1 else 0)


def _context(problem: UnexpectedInput, text: str) -> str:
    """The line with a caret. (At the end of the text, lark puts it under the last token.)"""
    last = text[-40:].rpartition("\n")[2]
    if _is_at_end(problem) and not text.endswith("\n"):
        return f"{last}\n{' ' * len(last.expandtabs())}^"
    return problem.get_context(text, 40).rstrip()


def _is_at_end(problem: UnexpectedInput) -> bool:
    return isinstance(problem, UnexpectedToken) and problem.token.type == "$END"


def _shown(grammar: Lark, name: str) -> str:
    """The text of a terminal, or its name if it matches many texts."""
    if name == "$END":
        return "the end"
    for terminal in grammar.terminals:
        if terminal.name == name and isinstance(terminal.pattern, PatternStr):
            return f"'{terminal.pattern.value}'"
    return name


def _expected(problem: UnexpectedInput) -> set[str]:
    for attribute in ("accepts", "expected", "allowed"):
        terminals = getattr(problem, attribute, None)
        if terminals:
            return {str(item) for item in terminals}
    return set()


def unquoted(text: str) -> str:
    """The name that ``text`` writes, with or without quotes."""
    if not text.startswith('"'):
        return str(text)
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


class Language(Generic[_Result]):
    """A language of descriptions: text -> model, and how it writes names.

    ``grammar``: its name in grammars/. ``builder``: makes what builds a model, of the file and the
    error that it raises. ``deepest``: how deep braces may nest. ``error``: what is raised.
    """

    def __init__(
        self,
        grammar: str,
        builder: Callable[[str, type[DslError]], Builder[_Result]],
        deepest: int,
        error: type[DslError],
    ) -> None:
        self._name = grammar
        self._builder = builder
        self._deepest = deepest
        self._error = error

    @cached_property
    def _grammar(self) -> Lark:
        return load_grammar(self._name)

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The words of the grammar: a name that is one of them can only be in quotes."""
        patterns = (terminal.pattern for terminal in self._grammar.terminals)
        words = (pattern.value for pattern in patterns if isinstance(pattern, PatternStr))
        return frozenset(word for word in words if _PLAIN_NAME.fullmatch(word))

    def quoted(self, name: str) -> str:
        """``name`` as the language writes it, in quotes where it has to be."""
        is_plain = _PLAIN_NAME.fullmatch(name) and name not in self.keywords
        return name if is_plain else string(name)

    def parse_text(self, text: str, file: str = "<text>") -> _Result:
        """The declarations of a text. Raises the error with file, line and column."""
        check_nesting(text, file, self._deepest, self._error)
        try:
            return parse(self._grammar, self._builder(file, self._error), text, file, self._error)
        except RecursionError:
            raise self._error("an expression is nested too deeply", file) from None

    def parse_file(self, path: str) -> _Result:
        """The declarations of a file. Raises the error, also where it is not UTF-8."""
        return self.parse_text(read_text(path, self._error), path)

    def parse_files(self, paths: Sequence[str]) -> dict[str, _Result]:
        """The declarations of files by their names without extension, in order."""
        names = (os.path.splitext(os.path.basename(path))[0] for path in paths)
        return {name: self.parse_file(path) for name, path in zip(names, paths, strict=True)}


class Attribute(NamedTuple):
    """A word of a declaration with its value, True where it has none, and where it stands."""

    name: str
    value: Any
    line: int
    column: int


@v_args(meta=True)
class BlockBuilder(Transformer[Token, _Result]):
    """Builds the model of a language of descriptions: methods for what block.lark has.

    A rule for which the language has no method is an ``Attribute``. ``error`` is what problems that
    the grammar does not detect are raised as.
    """

    def __init__(self, file: str, error: type[DslError]) -> None:
        super().__init__(visit_tokens=True)
        self._file = file
        self._error = error

    # Tokens lose their position here, rules have their own.

    def NAME(self, token: Token) -> str:  # noqa: N802 (lark calls it by the terminal's name)
        """The text of a token that names something, without quotes."""
        return str(token)

    def STRING(self, token: Token) -> str:  # noqa: N802
        """The text between the quotes, without escapes."""
        return unquoted(token)

    def NUMBER(self, token: Token) -> int:  # noqa: N802
        """A number of up to 64 bits."""
        number = int(token, 16 if token.startswith("0x") else 10)
        if number > MAX_NUMBER:
            raise self._wrong("number of more than 64 bits", token)
        return number

    def names(self, meta: Meta, items: list[str]) -> tuple[str, ...]:
        """Names with commas between them."""
        return tuple(items)

    def bits(self, meta: Meta, items: list[int | None]) -> tuple[int, int]:
        """The lowest and the highest bit."""
        low, high = items
        assert low is not None  # the grammar makes sure
        if high is not None and high < low:
            raise self._wrong(f"bits {low}..{high}: the low bit comes first", meta)
        return low, low if high is None else high

    def __default__(self, data: Token, children: list[Any], meta: Meta) -> Attribute:
        value = children[0] if len(children) == 1 else tuple(children) or True
        return Attribute(str(data), value, *_position(meta))

    def _split(self, items: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """The values of the attributes by name, and the other items."""
        given = self._collect([item for item in items if isinstance(item, Attribute)])
        return given, [item for item in items if not isinstance(item, Attribute)]

    def _collect(self, attributes: list[Attribute]) -> dict[str, Any]:
        """The values by name. Raises the error where a word is given twice."""
        given: dict[str, Any] = {}
        for attribute in attributes:
            if attribute.name in given:
                message = f"'{attribute.name.replace('_', ' ')}' given twice"
                raise self._error(message, self._file, attribute.line, attribute.column)
            given[attribute.name] = attribute.value
        return given

    def _wrong(self, message: str, place: Meta | Token) -> DslError:
        return self._error(message, self._file, *_position(place))


def _position(place: Meta | Token) -> tuple[int, int]:
    """Line and column; zeros where a rule has no token of its own."""
    return getattr(place, "line", None) or 0, getattr(place, "column", None) or 0


_INDENT = "    "
_QUOTED = str.maketrans({"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n"})


@dataclass(frozen=True, slots=True)
class Row:
    """One item: its text in columns, and the lines between its braces, None without braces."""

    cells: tuple[str, ...]
    body: list[str] | None = None


def string(text: str) -> str:
    """A text in quotes. Raises ValueError for one that the languages cannot write."""
    if "\r" in text:
        raise ValueError(f"a name with a carriage return cannot be written: {text!r}")
    return f'"{text.translate(_QUOTED)}"'


def join(*parts: str) -> str:
    """The parts that are not empty, with spaces between them."""
    return " ".join(part for part in parts if part)


def bits_text(low: int, high: int) -> str:
    """A range of bits as the languages write it: ``3`` or ``0..7``."""
    return str(low) if low == high else f"{low}..{high}"


def number_format(numbers: Sequence[int]) -> str:
    """A format for these numbers: small in decimal, else hexadecimal of one width for columns."""
    largest = max(numbers, default=0)
    if largest < 16:
        return "{}"
    return f"{{:#0{len(f'{largest:x}') + 2}x}}"


def table(rows: Iterable[Row]) -> list[str]:
    """The lines of items. Neighbours without a body share columns; others are on their own."""
    lines: list[str] = []
    group: list[tuple[str, ...]] = []
    for row in rows:
        if row.body is None:
            group.append(row.cells)
            continue
        lines.extend(_aligned(group))
        group = []
        head = join(*row.cells)
        if row.body:
            lines.append(f"{head} {{")
            lines.extend(_INDENT + line for line in row.body)
            lines.append("}")
        else:
            lines.append(f"{head} {{ }}")
    lines.extend(_aligned(group))
    return lines


def grouped(
    declarations: Iterable[_Declared], row: Callable[[_Declared], Row], *together: type
) -> Iterator[list[Row]]:
    """The parts of a file: each declaration is one, but neighbours of a type in ``together``."""
    for kind, neighbours in groupby(declarations, type):
        rows = [row(declaration) for declaration in neighbours]
        yield from [rows] if kind in together else ([each] for each in rows)


def blocks(parts: Iterable[Sequence[Row]]) -> str:
    """A file: the items of each part, with an empty line between parts."""
    return "\n".join("".join(f"{line}\n" for line in table(rows)) for rows in parts)


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
