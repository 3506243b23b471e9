# SPDX-License-Identifier: MIT
"""The text of a filter -> syntax tree. The only module of filters that knows lark."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from lark import Lark, Token, Tree

from cffpy.descriptions.language import load_grammar, parse
from cffpy.errors import FilterError
from cffpy.query.syntax import (
    Arithmetic,
    Call,
    Compare,
    Logic,
    Match,
    Negative,
    Node,
    Not,
    Number,
    Path,
    Text,
    Within,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Characters of an expression, and nesting of parentheses, at most. What evaluates a filter calls
#: itself once for each level.
MAX_LENGTH, MAX_DEPTH = 4096, 32

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "K": 10**3, "M": 10**6, "G": 10**9}
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
#: One "=" where two compare.
_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)")
_BASES = {"0x": 16, "0b": 2, "0o": 8}


@functools.cache
def _grammar() -> Lark:
    return load_grammar("filter")


def parse_filter(text: str) -> Node:
    """The syntax tree of an expression. Raises FilterError with the column."""
    if len(text) > MAX_LENGTH:
        raise FilterError(f"the expression is longer than {MAX_LENGTH} characters")
    plain = _QUOTED.sub(lambda one: " " * len(one[0]), text)
    _check_depth(plain)
    assignment = _ASSIGNMENT.search(plain)
    if assignment is not None:
        raise FilterError("values are compared by ==", "", 1, assignment.start() + 1)
    return parse(_grammar(), _Builder(), text, "", FilterError)


def parse_paths(text: str) -> list[Path]:
    """The names of a list such as ``pass.mode,RB_DEPTH_CNTL.ZFUNC``. Raises FilterError."""
    found = []
    column = 1
    for part in text.split(","):
        node = parse_filter(part) if part.strip() else None
        if not isinstance(node, Path):
            raise FilterError(f"{part.strip()!r} is not the name of a column", "", 1, column)
        found.append(Path(node.text, column + node.column - 1))
        column += len(part) + 1
    return found


def _check_depth(text: str) -> None:
    depth = 0
    for column, character in enumerate(text, 1):
        if character == "(":
            depth += 1
            if depth > MAX_DEPTH:
                raise FilterError(f"parentheses nest deeper than {MAX_DEPTH}", "", 1, column)
        elif character == ")":
            depth -= 1


class _Builder:
    """Lark's tree -> syntax tree."""

    def transform(self, tree: Tree[Token]) -> Node:
        """The node of a tree: the method with the name of its rule makes it."""
        node: Node = getattr(self, f"_{tree.data}")(tree.children, tree.meta.column)
        return node

    def _nodes(self, children: Sequence[Tree[Token] | Token]) -> tuple[Node, ...]:
        return tuple([self.transform(child) for child in children if isinstance(child, Tree)])

    def _any_of(self, children: list[Tree[Token]], column: int) -> Node:
        return Logic(False, self._nodes(children), column)

    def _all_of(self, children: list[Tree[Token]], column: int) -> Node:
        return Logic(True, self._nodes(children), column)

    def _negate(self, children: list[Tree[Token]], column: int) -> Node:
        (term,) = self._nodes(children[-1:])
        return Not(term, column) if len(children) % 2 == 0 else Not(Not(term, column), column)

    def _compare(self, children: list[Tree[Token]], column: int) -> Node:
        left, right = self._nodes(children)
        return Compare(str(children[1]), left, right, column)

    def _within(self, children: list[Tree[Token]], column: int) -> Node:
        choices = []
        for choice in children[-1].children:
            assert isinstance(choice, Tree)
            first, *last = self._nodes(choice.children)
            choices.append((first, last[0] if last else None))
        return Within(self.transform(children[0]), tuple(choices), len(children) == 3, column)

    def _match(self, children: list[Tree[Token]], column: int) -> Node:
        operator, pattern = children[1:]
        assert isinstance(pattern, Token)
        assert pattern.column is not None
        text = Text(str(pattern)[1:-1], pattern.column)
        return Match(self.transform(children[0]), text, str(operator) == "!~", column)

    def _arithmetic(self, children: list[Tree[Token]], column: int) -> Node:
        first, *operands = self._nodes(children)
        operators = map(str, children[1::2])
        return Arithmetic(first, tuple(zip(operators, operands, strict=True)), column)

    def _minus(self, children: list[Tree[Token]], column: int) -> Node:
        (operand,) = self._nodes(children)
        if isinstance(operand, Number):
            return Number(-operand.value, column)
        return Negative(operand, column)

    def _call(self, children: list[Tree[Token]], column: int) -> Node:
        name, *arguments = self._nodes(children)
        assert isinstance(name, Path)
        return Call(name.text, tuple(arguments), column)

    def _number(self, children: list[Token], column: int) -> Node:
        return Number(_number(str(children[0])), column)

    def _negative(self, children: list[Token], column: int) -> Node:
        return Number(-_number(str(children[0])), column)

    def _string(self, children: list[Token], column: int) -> Node:
        return Text(str(children[0])[1:-1], column)

    def _path(self, children: list[Token], column: int) -> Node:
        return Path(str(children[0]), column)


def _number(text: str) -> int | float:
    unit = next((unit for unit in _UNITS if text.endswith(unit)), "")
    digits = text[: len(text) - len(unit)]
    base = _BASES.get(digits[:2].lower())
    if base is not None:
        return int(digits[2:].replace("_", "") or "0", base) * _UNITS.get(unit, 1)
    value = float(digits) if any(mark in digits for mark in ".eE") else int(digits)
    return value * _UNITS.get(unit, 1)
