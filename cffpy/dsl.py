# SPDX-License-Identifier: MIT
"""Loads a grammar of grammars/ and parses text with it; syntax errors become DslError.

Imported lazily, by the parsers only: importing lark takes longer than the dump command to start.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError
from lark.lexer import PatternStr

from cffpy._data import data_path
from cffpy.errors import CffpyError, DslError

_Result = TypeVar("_Result")
_Made = TypeVar("_Made", covariant=True)


class Builder(Protocol[_Made]):
    """Builds a result from a tree: a lark Transformer, or a class with the same interface."""

    def transform(self, tree: Tree[Token]) -> _Made:
        """The result. Raises CffpyError for errors that the grammar does not detect."""


def load_grammar(name: str) -> Lark:
    """The LALR parser of ``grammars/<name>.lark``, with positions kept for error messages."""
    path = data_path("grammars", f"{name}.lark")
    with open(path, encoding="utf-8") as file:
        return Lark(file.read(), parser="lalr", propagate_positions=True, maybe_placeholders=True)


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
        context = problem.get_context(text, 40).rstrip()
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
    if isinstance(problem, UnexpectedToken) and problem.token.type == "$END":
        line = text.count("\n") + 1
        column = len(text) - (text.rfind("\n") + 1) + 1
    return start[0] + line - 1, column + (start[1] if line == 1 else 0)


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
