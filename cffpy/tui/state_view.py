# SPDX-License-Identifier: MIT
"""StateView: the registers at a draw as a table, with the fields of the one under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import DataTable, Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from cffpy.tui.reader import StateRow

_COLUMNS = ("register", "value", "decoded")

#: Characters of a decoded value in the table; all of it is below.
_WIDTH = 60


class RegisterTable(DataTable[Text]):
    """The table, with the keys of vim."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False),
        Binding("k", "cursor_up", "Up", show=False),
        Binding("space,f,ctrl+f", "page_down", "Page down", show=False),
        Binding("b,ctrl+b", "page_up", "Page up", show=False),
        Binding("g", "scroll_top", "Top", show=False),
        Binding("G", "scroll_bottom", "Bottom", show=False),
        Binding("h", "scroll_left", "Left", show=False),
        Binding("l", "scroll_right", "Right", show=False),
    ]


class StateView(Vertical):
    """The table and the details below it."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.rows: Sequence[StateRow] = ()

    def compose(self) -> ComposeResult:
        """The two parts."""
        yield Static("", id="state-heading", markup=False)
        yield RegisterTable(cursor_type="row", zebra_stripes=True, id="registers")
        yield Static("", id="details", markup=False)

    @property
    def table(self) -> RegisterTable:
        """The table of registers."""
        return self.query_one(RegisterTable)

    def show(self, rows: Sequence[StateRow], heading: str) -> None:
        """Replace the rows; the cursor stays on its register where that is there."""
        table = self.table
        before = self._chosen_register()
        self.rows = rows
        table.clear(columns=True)
        has_other = any(row.other for row in rows)
        table.add_columns(*_COLUMNS, *(("other capture",) if has_other else ()))
        for row in rows:
            differs = has_other and row.other != f"{row.value} {row.decoded}"
            style = "bold" if differs else ""
            cells = (row.name, row.value, row.decoded[:_WIDTH], row.other[:_WIDTH])
            table.add_row(*(Text(cell, style) for cell in cells[: 4 if has_other else 3]))
        self.query_one("#state-heading", Static).update(Text(f"{heading}: {len(rows)} registers"))
        for number, row in enumerate(rows):
            if row.name == before:
                table.move_cursor(row=number)
        self._show_details()

    def _chosen_register(self) -> str:
        row = self.table.cursor_row
        return self.rows[row].name if 0 <= row < len(self.rows) else ""

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the register under the cursor."""
        event.stop()
        self._show_details()

    def _show_details(self) -> None:
        row = self.table.cursor_row
        lines: list[str] = []
        if 0 <= row < len(self.rows):
            one = self.rows[row]
            lines = [f"{one.name} = {one.value}  {one.decoded}"]
            if one.written_by:
                lines.append(f"written by {one.written_by}")
            if one.other:
                lines.append(f"other capture: {one.other}")
            lines += [f"{bits:>7}  {name} = {text}" for name, bits, text in one.fields]
        self.query_one("#details", Static).update(Text("\n".join(lines)))

    def search(self, text: str, forward: bool = True) -> bool:
        """Go to the next register with a text in its name or value, ignoring case."""
        wanted, count = text.lower(), len(self.rows)
        for step in range(1, count + 1):
            number = (self.table.cursor_row + (step if forward else -step)) % count
            row = self.rows[number]
            if wanted in f"{row.name} {row.value} {row.decoded}".lower():
                self.table.move_cursor(row=number)
                return True
        return False
