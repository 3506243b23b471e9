# SPDX-License-Identifier: MIT
"""Plain text for terminals: tables, and strings from captures with control characters escaped."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

_GAP = "  "

#: Columns by which the parts of a folded line are indented further than its beginning.
_FOLD_INDENT = 4


class Styled(str):
    """A line of text with a style for terminals, such as ``bold``; "" for none."""

    style: str

    def __new__(cls, text: str, style: str = "bold") -> Styled:
        """The line; by default in bold, as headings are."""
        made = super().__new__(cls, text)
        made.style = style
        return made


class Painted(str):
    """A line of text with a style for parts of it. ``parts``: begin, end, name of the style.

    Styles are as in drawings: "heat 1" to "heat 9", from little to much; "gmem", "sysmem".
    """

    parts: tuple[tuple[int, int, str], ...]

    def __new__(cls, text: str, parts: Iterable[tuple[int, int, str]]) -> Painted:
        """The line; its parts follow each other."""
        made = super().__new__(cls, text)
        made.parts = tuple(parts)
        return made


def visible(text: str) -> str:
    """The text with the characters that control a terminal escaped."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escaped(ord(character)) for character in text
    )


def _escaped(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def folded(line: str, width: int) -> Iterator[str]:
    """A line in parts of at most ``width`` columns, broken at spaces; further parts are indented.

    What has no space in it, such as an address or a name, is never broken, even if it is wider.
    """
    line = line.rstrip(" ")
    begin = len(line) - len(line.lstrip(" "))  # of the part's first word
    prefix = line[:begin]
    continued = " " * min(begin + _FOLD_INDENT, width // 2)
    while len(prefix) + len(line) - begin > width:
        cut = line.rfind(" ", begin, max(begin, begin + width - len(prefix) + 1))
        if cut < 0:
            cut = line.find(" ", begin)
        if cut < 0:
            break
        yield prefix + line[begin:cut].rstrip(" ")
        begin = cut
        while begin < len(line) and line[begin] == " ":
            begin += 1
        prefix = continued
    yield prefix + line[begin:]


def headed_columns(table: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """As ``columns``, for a table whose first row has the headings."""
    lines = columns(table, right)
    return [*map(Styled, lines[:1]), *lines[1:]]


def columns(table: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """The rows of a table as lines, each column as wide as its widest cell.

    ``right``: indices of the columns that are aligned to the right.
    """
    if not table:
        return []
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        _GAP.join(
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
