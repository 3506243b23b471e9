# SPDX-License-Identifier: MIT
"""Plain-text tables with aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_GAP = "  "


def columns(table: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """The rows as lines. Columns whose numbers are in ``right`` are right-aligned."""
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
