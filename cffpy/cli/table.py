# SPDX-License-Identifier: MIT
"""Tables as plain text: columns as wide as their widest cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_GAP = "  "


def columns(table: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """The rows as lines; the columns whose numbers are in ``right`` are flush right."""
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
