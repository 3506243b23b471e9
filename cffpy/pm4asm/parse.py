# SPDX-License-Identifier: MIT
"""A line of text -> statement. The only module of the language that knows lark."""

from __future__ import annotations

import functools
from typing import Any

from lark import Lark, Token, Tree

from cffpy.descriptions.parse import load_grammar, parse
from cffpy.errors import AssemblyError
from cffpy.pm4asm.model import Call, FieldList, Item, Name, Number, Statement


@functools.cache
def _grammar() -> Lark:
    return load_grammar("pm4asm")


def parse_line(text: str, file: str = "<text>", line: int = 1, indent: int = 0) -> Statement:
    """The statement on a line. Raises AssemblyError with file, line, column and what was expected.

    ``indent``: characters before ``text`` on its line, for errors; columns of the statement count
    from the text's first character.
    """
    return parse(_grammar(), _Builder(), text, file, AssemblyError, (line, indent))


class _Builder:
    """Tree -> statement. No lark Transformer, which costs several times as much for small trees."""

    def transform(self, tree: Tree[Token]) -> Statement:
        """The statement; parts that are optional and not there are None."""
        parts = tuple([self._part(child) for child in tree.children])
        return Statement(str(tree.data), parts, _column(tree))

    def _part(self, child: Any) -> Any:  # noqa: ANN401
        if isinstance(child, Tree):
            return getattr(self, f"_{child.data}")(child)
        if child is None:
            return None
        if child.type == "NUMBER":
            return Number(str(child), child.column)
        if child.type == "NAME":
            return Name(str(child), child.column)
        return str(child)

    def _name(self, tree: Tree[Token]) -> Name:
        name: Name = self._part(tree.children[0])
        return name

    def _sum(self, tree: Tree[Token]) -> Call:
        name, addend = map(self._part, tree.children)
        return Call("", name.text, addend.integer, name.column)

    def _call(self, tree: Tree[Token]) -> Call:
        function, name, addend = map(self._part, tree.children)
        return Call(function, name.text, 0 if addend is None else addend.integer, _column(tree))

    def _fields(self, tree: Tree[Token]) -> FieldList:
        parts = [self._part(child) for child in tree.children if child is not None]
        return FieldList(tuple(parts), _column(tree))

    def _item(self, tree: Tree[Token]) -> Item:
        name = self._part(tree.children[0])
        value = self._part(tree.children[1]) if len(tree.children) > 1 else None
        return Item(name.text, value, name.column)

    def _place(self, tree: Tree[Token]) -> Item:
        number, value = map(self._part, tree.children)
        return Item(number.integer, value, _column(tree))

    def _size(self, tree: Tree[Token]) -> Item:
        return Item(str(tree.data), self._part(tree.children[0]), _column(tree))

    _contents = _declared = _size


def _column(tree: Tree[Token]) -> int:
    return 1 if tree.meta.empty else tree.meta.column
