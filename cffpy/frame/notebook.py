# SPDX-License-Identifier: MIT
"""HTML tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Rows that a table shows; a page with more is slow.
MAX_ROWS = 500


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of escaped text; a last row says how many rows are not shown."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    shown: list[str] = []
    left_out = 0
    for row in rows:
        if len(shown) < MAX_ROWS:
            cells = ("" if cell is None else escape(str(cell)) for cell in row)
            shown.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        else:
            left_out += 1
    if left_out:
        shown.append(f'<tr><td colspan="{len(columns)}">{left_out} more</td></tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(shown)}</tbody></table>"
