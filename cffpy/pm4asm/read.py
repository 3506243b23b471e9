# SPDX-License-Identifier: MIT
"""A line of text -> statement, in two ways. The only module of the language that knows lark.

The grammar decides what the language is. Nearly all lines of a decompiled capture are register
writes, packets with their fields, heads of blocks and addresses. They are read by regular
expressions: the text of 5,000 draws (31 MB) compiles in 4.4 s so, in 16.3 s without; one of 6 MB in
0.9 s and 1.5 s. What is not plainly one of these lines, errors included, is left to the grammar;
a test compares both.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from lark import Lark, Token, Tree

from cffpy.descriptions.language import load_grammar, parse
from cffpy.errors import AssemblyError
from cffpy.pm4asm.model import KEYWORDS, Call, FieldList, Item, Name, Number, Statement, Value


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


# the terminals of grammars/pm4asm.lark
_NUMBER_TEXT = (
    r"(?:0x[0-9A-Fa-f]{1,16}|-?[0-9]{1,40}(?:\.[0-9]{1,60})?(?:e[-+]?[0-9]{1,3})?)"
    r"(?![0-9A-Za-z_.])"
)
_NAME_TEXT = (
    r"(?:[A-Za-z_]|[0-9]+[A-DF-WYZa-df-wyz])[A-Za-z0-9_]*"
    r"(?:\[[0-9A-Za-z_]+\]|\.[A-Za-z0-9_]+)*"
)
_SPACE = r"[ \t]*"
_ADDEND = rf"(?:{_SPACE}\+{_SPACE}({_NUMBER_TEXT}))?"
_CALL = rf"(sizeof|lo|hi|reg)\({_SPACE}({_NAME_TEXT}){_ADDEND}{_SPACE}\)"

#: A number, a call, a name or a sum, or where fields begin.
_VALUE = rf"({_NUMBER_TEXT})|{_CALL}|({_NAME_TEXT}){_ADDEND}|(\{{)"
#: What a value belongs to (a name, the number of a dword, or a number), and the value.
_ITEM = re.compile(
    rf"{_SPACE}(?:({_NAME_TEXT})|(\[){_SPACE}({_NUMBER_TEXT}){_SPACE}\]|({_NUMBER_TEXT}))"
    rf"(?:{_SPACE}={_SPACE}(?:{_VALUE}))?{_SPACE}"
)
_ITEM_NAME, _BRACKET, _PLACE, _ITEM_NUMBER = 1, 2, 3, 4
_NUMBER, _FUNCTION, _CALLED, _CALL_ADDEND, _NAME, _SUM_ADDEND, _BRACE = range(5, 12)

_BLOCK = re.compile(
    rf"(commands|data|shader)[ \t]+({_NAME_TEXT})[ \t]+at[ \t]+({_NUMBER_TEXT}){_SPACE}\{{"
)
_AT = re.compile(rf"at[ \t]+({_NUMBER_TEXT})")
_EMPTY = re.compile(rf"{_SPACE}\}}{_SPACE}")
_PAIR = "+ pair "
#: Eight hex digits begin a row of data where a statement or a continuation begins.
_ROW_START = re.compile(r"\+?[ \t]*[0-9a-f]{8}(?![0-9A-Za-z_.\[])")


def read_line(text: str) -> Statement | None:
    """The statement that ``parse_line`` returns, or None where the grammar has to decide.

    ``text``: a line without comment and without space around it.
    """
    if _ROW_START.match(text):
        return None
    if text.startswith(_PAIR):
        return _write("more_pair", text, len(_PAIR))
    is_more = text[:1] == "+"
    first = _ITEM.match(text, is_more)
    if first is None or (first[_BRACKET] and not is_more):
        return None
    if first[_ITEM_NAME] in KEYWORDS:
        return _block(text)
    if first[_ITEM_NUMBER]:
        return _write("more_register" if is_more else "register", text, int(is_more))
    if is_more:
        items = _items(text, 1)
        return None if items is None else Statement("more_items", tuple(items))
    if _has_value(first):
        return _write("register", text, 0)
    items = _items(text, first.end())
    return None if items is None else Statement("named", (Name(first[_ITEM_NAME], 1), *items))


def _block(text: str) -> Statement | None:
    """The head of a block in a buffer, or an address in it."""
    match = _BLOCK.fullmatch(text)
    if match is not None:
        name = Name(match[2], match.start(2) + 1)
        return Statement(match[1], (name, Number(match[3], match.start(3) + 1)))
    match = _AT.fullmatch(text)
    return None if match is None else Statement("at", (Number(match[1], match.start(1) + 1),))


def _write(kind: str, text: str, position: int) -> Statement | None:
    """A line that is a register and its value."""
    match = _ITEM.match(text, position)
    if match is None or match[_BRACKET] or not _has_value(match):
        return None
    value, end = _value(text, match)
    if value is None or end != len(text):
        return None
    register: Name | Number
    if match[_ITEM_NAME]:
        register = Name(match[_ITEM_NAME], match.start(_ITEM_NAME) + 1)
    else:
        register = Number(match[_ITEM_NUMBER], match.start(_ITEM_NUMBER) + 1)
    return Statement(kind, (register, value))


def _items(text: str, position: int) -> list[Item] | None:
    """The items from ``position`` to the end of the text."""
    items = []
    while position < len(text):
        match = _ITEM.match(text, position)
        if match is None:
            return None
        item, position = _item(text, match)
        if not isinstance(item, Item):
            return None
        items.append(item)
    return items


def _item(text: str, match: re.Match[str]) -> tuple[Item | Number | None, int]:
    """A field with its value, or a number of bits; and where it ends."""
    if match[_ITEM_NUMBER]:
        if _has_value(match):
            return None, 0
        return Number(match[_ITEM_NUMBER], match.start(_ITEM_NUMBER) + 1), match.end()
    if not _has_value(match):
        name = match[_ITEM_NAME]
        return (Item(name, None, match.start(_ITEM_NAME) + 1) if name else None), match.end()
    value, end = _value(text, match)
    if value is None:
        return None, 0
    if match[_ITEM_NAME]:
        return Item(match[_ITEM_NAME], value, match.start(_ITEM_NAME) + 1), end
    number = Number(match[_PLACE], match.start(_PLACE) + 1)
    return Item(number.integer, value, match.start(_BRACKET) + 1), end


def _has_value(match: re.Match[str]) -> bool:
    return match.lastindex is not None and match.lastindex >= _NUMBER


def _value(text: str, match: re.Match[str]) -> tuple[Value | None, int]:
    """The value of an item, and where the item ends."""
    if match[_NUMBER]:
        return Number(match[_NUMBER], match.start(_NUMBER) + 1), match.end()
    if match[_BRACE]:
        return _fields(text, match)
    if match[_FUNCTION]:
        addend = _addend(match, _CALL_ADDEND)
        column = match.start(_FUNCTION) + 1
        return Call(match[_FUNCTION], match[_CALLED], addend, column), match.end()
    column = match.start(_NAME) + 1
    if match[_SUM_ADDEND]:
        return Call("", match[_NAME], _addend(match, _SUM_ADDEND), column), match.end()
    return Name(match[_NAME], column), match.end()


def _addend(match: re.Match[str], group: int) -> int:
    return Number(match[group], match.start(group) + 1).integer if match[group] else 0


def _fields(text: str, match: re.Match[str]) -> tuple[FieldList | None, int]:
    """The list of fields after the brace with which the match ends, and where the list ends."""
    column = match.start(_BRACE) + 1
    position = match.end()
    empty = _EMPTY.match(text, position)
    if empty is not None:
        return FieldList((), column), empty.end()
    items: list[Item | Number] = []
    while True:
        inner = _ITEM.match(text, position)
        if inner is None or inner[_BRACE]:  # fields within fields: for the grammar
            return None, 0
        item, position = _item(text, inner)
        if item is None:
            return None, 0
        items.append(item)
        mark = text[position : position + 1]
        if mark == "}":
            end = position + 1
            while text[end : end + 1] in (" ", "\t"):
                end += 1
            return FieldList(tuple(items), column), end
        if mark != ",":
            return None, 0
        position += 1
