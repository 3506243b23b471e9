# SPDX-License-Identifier: MIT
"""Loads a grammar of grammars/ and parses text with it; syntax errors become DslError.

Imported lazily by the parsers only (lark costs more than a whole start-up of the dump command).
"""

from __future__ import annotations

from typing import TypeVar

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, VisitError

from cffpy._data import data_path
from cffpy.errors import DslError

_Result = TypeVar("_Result")


def load_grammar(name: str) -> Lark:
    """The LALR parser of ``grammars/<name>.lark``, with positions kept for error messages."""
    path = data_path("grammars", f"{name}.lark")
    with open(path, encoding="utf-8") as file:
        return Lark(file.read(), parser="lalr", propagate_positions=True, maybe_placeholders=True)


def parse(
    grammar: Lark,
    transformer: Transformer[Token, _Result],
    text: str,
    file: str,
    error: type[DslError] = DslError,
) -> _Result:
    """Parse ``text`` and build the result with ``transformer``.

    Raises ``error`` with file, line, column and the offending line with a caret under it.
    """
    try:
        return transformer.transform(grammar.parse(text))
    except UnexpectedInput as problem:
        expected = sorted(_expected(problem))
        listed = ", ".join(expected[:8]) + (", ..." if len(expected) > 8 else "")
        context = problem.get_context(text, 40).rstrip()
        raise error(
            f"unexpected input, expected one of: {listed}\n{context}" if listed else context,
            file,
            problem.line,
            problem.column,
        ) from None
    except VisitError as problem:
        if isinstance(problem.orig_exc, DslError):
            raise problem.orig_exc from None
        raise


def _expected(problem: UnexpectedInput) -> set[str]:
    for attribute in ("accepts", "expected", "allowed"):
        found = getattr(problem, attribute, None)
        if found:
            return {str(item) for item in found}
    return set()
