# SPDX-License-Identifier: MIT
"""Plain text for terminals: tables, and strings from captures with control characters escaped."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_GAP = "  "


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
