# SPDX-License-Identifier: MIT
"""Objects with facts as HTML tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from cffpy.frame.faces import columns, facts_document
from cffpy.frame.facts import Model, model_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Characters of a value that are shown.
_MOST_CHARACTERS = 500

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


def facts_table(one: object) -> str:
    """An object: a row for each fact that it has, with its name and its value."""
    found = facts_document(one)
    rows = ((name, _shown(value)) for name, value in found.items() if value not in (None, []))
    return f"<b>{escape(type(one).__name__)}</b>{table(('fact', 'value'), rows)}"


def objects_table(objects: Sequence[object]) -> str | None:
    """Objects of one model: a row for each, a column for each fact that one of them has.

    None for objects without facts.
    """
    declared = getattr(type(objects[0]), "__model__", None) if objects else None
    if not isinstance(declared, Model):
        return None
    shown = [one for one in objects[:MAX_ROWS] if model_of(type(one)) is declared]
    if len(shown) < len(objects[:MAX_ROWS]):
        return None
    known = columns(declared)
    rows = [[_cell(column.type, column.read(one)) for column in known] for one in shown]
    used = [place for place, _ in enumerate(known) if any(row[place] is not None for row in rows)]
    left_out = [[f"{len(objects) - MAX_ROWS} more"]] if len(objects) > MAX_ROWS else []
    cells = [[row[place] for place in used] for row in rows]
    return table([known[place].name for place in used], [*cells, *left_out])


def _cell(kind: str, value: object) -> object:
    return hex(value) if kind == "address" and isinstance(value, int) else _shown(value)


def _shown(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict):
        text = ", ".join(
            f"{name} {_shown(part)}" for name, part in value.items() if part is not None
        )
    elif isinstance(value, list):
        text = "; ".join(str(_shown(part)) for part in value)
    else:
        text = str(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
