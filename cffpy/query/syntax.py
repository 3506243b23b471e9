# SPDX-License-Identifier: MIT
"""The syntax tree of a filter. Columns count from 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias, TypeVar


class Number(NamedTuple):
    """A number, its unit multiplied in."""

    value: int | float
    column: int


class Text(NamedTuple):
    """A string in quotes."""

    value: str
    column: int


class Path(NamedTuple):
    """A name: a register, a field of one, a property such as ``pass.mode``, an enum value."""

    text: str
    column: int


class Call(NamedTuple):
    """``changed(REG)`` and similar functions."""

    name: str
    arguments: tuple[Node, ...]
    column: int


class Negative(NamedTuple):
    """``-X``."""

    operand: Node
    column: int


class Arithmetic(NamedTuple):
    """``A + B - C``: the first operand, then operators with their operands, left to right."""

    first: Node
    rest: tuple[tuple[str, Node], ...]
    column: int


class Compare(NamedTuple):
    """``A == B``."""

    operator: str
    left: Node
    right: Node
    column: int


class Within(NamedTuple):
    """``A in (1, 5..9)``: each choice is a value, or the first and last of a range."""

    operand: Node
    choices: tuple[tuple[Node, Node | None], ...]
    is_negated: bool
    column: int


class Match(NamedTuple):
    """``A ~ "regular expression"``."""

    operand: Node
    pattern: Text
    is_negated: bool
    column: int


class Logic(NamedTuple):
    """Terms joined by ``and`` (``is_all``) or ``or``."""

    is_all: bool
    terms: tuple[Node, ...]
    column: int


class Not(NamedTuple):
    """``not A``."""

    term: Node
    column: int


Node: TypeAlias = (
    Number | Text | Path | Call | Negative | Arithmetic | Compare | Within | Match | Logic | Not
)

_Kind = TypeVar("_Kind", Path, Call)


def nodes_of(node: object, kind: type[_Kind]) -> Iterator[_Kind]:
    """The nodes of a kind in a syntax tree: nodes are tuples."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, tuple):
        for part in node:
            yield from nodes_of(part, kind)
