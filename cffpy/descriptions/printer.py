# SPDX-License-Identifier: MIT
"""What the printers of descriptions share: items in columns, blocks in braces, names in quotes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

_INDENT = "    "
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n"})


@dataclass(frozen=True, slots=True)
class Row:
    """One item: its text in columns, and the lines between its braces, None without braces."""

    cells: tuple[str, ...]
    body: list[str] | None = None


def string(text: str) -> str:
    """A text in quotes. Raises ValueError for one that the languages cannot write."""
    if "\r" in text:
        raise ValueError(f"a name with a carriage return cannot be written: {text!r}")
    return f'"{text.translate(_ESCAPES)}"'


def quoted(name: str, keywords: Collection[str]) -> str:
    """``name`` as a language with these ``keywords`` writes it, in quotes where it has to be."""
    return name if _PLAIN_NAME.fullmatch(name) and name not in keywords else string(name)


def join(*parts: str) -> str:
    """The parts that are not empty, with spaces between them."""
    return " ".join(part for part in parts if part)


def bits_text(low: int, high: int) -> str:
    """``3`` or ``0..7``."""
    return str(low) if low == high else f"{low}..{high}"


def number_format(numbers: Sequence[int]) -> str:
    """A format for these: small ones in decimal, else in hexadecimal of one width for columns."""
    largest = max(numbers, default=0)
    if largest < 16:
        return "{}"
    return f"{{:#0{len(f'{largest:x}') + 2}x}}"


def table(rows: Iterable[Row]) -> list[str]:
    """The lines of items. Neighbours without a body share columns; others are on their own."""
    lines: list[str] = []
    group: list[tuple[str, ...]] = []
    for row in rows:
        if row.body is None:
            group.append(row.cells)
            continue
        lines.extend(_aligned(group))
        group = []
        head = join(*row.cells)
        if row.body:
            lines.append(f"{head} {{")
            lines.extend(_INDENT + line for line in row.body)
            lines.append("}")
        else:
            lines.append(f"{head} {{ }}")
    lines.extend(_aligned(group))
    return lines


def blocks(parts: Iterable[Sequence[Row]]) -> str:
    """A file: the items of each part, with an empty line between parts."""
    return "\n".join("".join(f"{line}\n" for line in table(rows)) for rows in parts)


def _aligned(group: Sequence[tuple[str, ...]]) -> list[str]:
    if not group:
        return []
    columns = max(len(cells) for cells in group)
    widths = [
        max((len(cells[column]) for cells in group if column < len(cells)), default=0)
        for column in range(columns)
    ]
    lines = []
    for cells in group:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False) if width]
        lines.append(" ".join(padded).rstrip())
    return lines
