# SPDX-License-Identifier: MIT
"""Loads a grammar of grammars/ and parses text with it; syntax errors become DslError.

Imported lazily, by the parsers only: importing lark takes longer than the dump command to start.
"""

from __future__ import annotations

import re
from typing import Protocol, TypeVar

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError
from lark.lexer import PatternStr

from cffpy._data import data_path
from cffpy.errors import CffpyError, DslError

_Result = TypeVar("_Result")
_Made = TypeVar("_Made", covariant=True)

_BRACES = re.compile(r'#[^\n]*|"(?:\\["\\]|[^"\\\n\r])*"|([{}])')


class Builder(Protocol[_Made]):
    """Builds a result from a tree: a lark Transformer, or a class with the same interface."""

    def transform(self, tree: Tree[Token]) -> _Made:
        """The result. Raises CffpyError for errors that the grammar does not detect."""


def load_grammar(name: str) -> Lark:
    """The LALR parser of ``grammars/<name>.lark``, with positions kept for error messages."""
    path = data_path("grammars", f"{name}.lark")
    with open(path, encoding="utf-8") as file:
        return Lark(file.read(), parser="lalr", propagate_positions=True, maybe_placeholders=True)


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
        found = getattr(problem, attribute, None)
        if found:
            return {str(item) for item in found}
    return set()
