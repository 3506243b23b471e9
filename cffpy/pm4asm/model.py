# SPDX-License-Identifier: MIT
"""The model of a line of the packet assembly language: statements, fields, values.

``str`` of a value or field is its text in the language. ``column`` counts from 1, 0 where a value
was not read from a text; it does not count in comparisons of meaning.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from cffpy.errors import CffpyError


class Line(NamedTuple):
    """A line: its number, its text without comment and space around it, the space before it."""

    number: int
    text: str
    indent: int = 0


class SourceProblem(CffpyError):
    """Something is wrong in a line, at ``column``."""

    def __init__(self, message: str, column: int = 0) -> None:
        self.column = column
        super().__init__(message)


class Number(NamedTuple):
    """A number as it is written: ``0x1f``, ``-3``, ``0.5``."""

    text: str
    column: int = 0

    def __str__(self) -> str:
        return self.text

    @property
    def is_raw(self) -> bool:
        """Hex digits: the bits themselves, where a number in the field's unit would differ."""
        return self.text.startswith("0x")

    @property
    def integer(self) -> int:
        """The number. Raises SourceProblem if it has a fraction."""
        if self.is_raw:
            return int(self.text, 16)
        try:
            return int(self.text)
        except ValueError:
            raise SourceProblem(f"{self.text} is not a whole number", self.column) from None


class Name(NamedTuple):
    """A name: an enum's value, a register id like ``r0.x``, or a label."""

    text: str
    column: int = 0

    def __str__(self) -> str:
        return self.text


class Call(NamedTuple):
    """A number made from a label or a register's name, plus ``addend``.

    ``function``: empty for the label's address, ``lo`` and ``hi`` for its halves, ``sizeof`` for
    the dwords of its block, ``reg`` for the offset of a register.
    """

    function: str
    name: str
    addend: int = 0
    column: int = 0

    def __str__(self) -> str:
        inner = f"{self.name}+{self.addend:#x}" if self.addend else self.name
        return f"{self.function}({inner})" if self.function else inner


class Item(NamedTuple):
    """A field: its name, or the number of a dword, and its value; None for a flag that is set."""

    name: str | int
    value: Value | None = None
    column: int = 0

    def __str__(self) -> str:
        name = f"[{self.name}]" if isinstance(self.name, int) else self.name
        return name if self.value is None else f"{name}={self.value}"


class FieldList(NamedTuple):
    """The fields of a register; a number sets bits that belong to no field."""

    items: tuple[Item | Number, ...]
    column: int = 0

    def __str__(self) -> str:
        return "{ " + ", ".join(map(str, self.items)) + " }" if self.items else "{ }"


Value: TypeAlias = Number | Name | Call | FieldList


class Statement(NamedTuple):
    """A line. ``parts`` are what its kind has, in the order of the grammar."""

    kind: str
    parts: tuple[object, ...]
    column: int = 1


#: What the grammar accepts as a name from the descriptions.
_NAME = re.compile(r"(?:[A-Za-z_]|[0-9]+[A-DF-WYZa-df-wyz])[A-Za-z0-9_]*")
_HEX = re.compile(r"[0-9a-f]{8}")

#: Words that begin statements of the grammar or occur within them.
KEYWORDS = frozenset(
    [
        *("pm4", "gpu", "gpu_id", "chip_id", "marker", "cmd", "test", "param", "stream"),
        *("section", "trailing", "buffer", "address", "commands", "data", "shader", "at"),
        *("bytes", "string", "fill", "idle", "packet", "pair"),
        *("dwords", "size", "contents", "declared", "short"),
    ]
)


def is_name(text: str) -> bool:
    """Whether a name from the descriptions can be written anywhere in the language."""
    return (
        _NAME.fullmatch(text) is not None and _HEX.fullmatch(text) is None and text not in KEYWORDS
    )


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", '"': '\\"', "\\": "\\\\"}
_UNESCAPES = {escape[1]: character for character, escape in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|(.))")


def quoted(data: bytes) -> str:
    """Bytes as a string of the language."""
    text = data.decode("latin-1")
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if " " <= character <= "~" else f"\\x{ord(character):02x}"


def unquoted(text: str) -> bytes:
    """The bytes that a string of the language denotes."""

    def replace(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _UNESCAPES[match[2]]

    inner = text[1:-1]
    try:
        if "\\" in inner:
            # a character beyond ASCII is its UTF-8 bytes, an escape is one byte
            inner = inner.encode("utf-8").decode("latin-1")
            return _ESCAPE.sub(replace, inner).encode("latin-1")
        return inner.encode("utf-8")
    except UnicodeEncodeError:
        raise SourceProblem("no text that could be encoded") from None
