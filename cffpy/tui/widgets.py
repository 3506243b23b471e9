# SPDX-License-Identifier: MIT
"""The widgets of the browser: the tree of passes and draws, pages of text, tables of registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import DataTable, Static, Tree

from cffpy.tui.pictures import HALF, PixelLine
from cffpy.tui.reader import state_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.widgets.tree import TreeNode

    from cffpy.frame.action import Action
    from cffpy.tui.outline import Node, Outline
    from cffpy.tui.reader import StateRow

#: Passes of a capture that are all shown at first, submits that are opened.
_OPENED_SUBMITS = 16


class OutlineView(Tree["Node | None"]):
    """A node's children are made when it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False),
        Binding("k", "cursor_up", "Up", show=False),
        Binding("ctrl+d,ctrl+f", "page_down", "Page down", show=False),
        Binding("ctrl+u,ctrl+b", "page_up", "Page up", show=False),
        Binding("g", "scroll_home", "Top", show=False),
        Binding("G", "scroll_end", "Bottom", show=False),
        Binding("h,left", "close", "Close", show=False),
        Binding("l,right", "open", "Open", show=False),
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__("", id=id)
        self.show_root = False
        self.guide_depth = 2
        self.auto_expand = True
        self.outline: Outline | None = None

    def show(self, outline: Outline) -> None:
        """Replace the tree."""
        self.outline = outline
        self.clear()
        nodes = list(outline.submits())
        for node in nodes:
            added = self.root.add(Text(node.label), node)
            if len(nodes) <= _OPENED_SUBMITS:
                added.expand()
        self.root.expand()
        self.cursor_line = 0

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Node | None]) -> None:
        """Make the children."""
        event.stop()
        self._fill(event.node)

    def _fill(self, node: TreeNode[Node | None]) -> None:
        if node.data is None or self.outline is None or node.children:
            return
        for child in self.outline.children(node.data):
            label = Text(child.label)
            if child.kind == "draw":
                node.add_leaf(label, child)
            else:
                node.add(label, child)

    def relabel(self, draw: Action) -> None:
        """Show the sign of a draw that has changed."""
        node = self._find(draw)
        if node is not None and self.outline is not None:
            node.set_label(Text(self.outline.label(draw)))

    def go_to(self, draw: Action) -> bool:
        """Open what a draw is in, and move the cursor to it. False where it is not shown."""
        node = self._find(draw)
        if node is None:
            return False
        self.call_after_refresh(self._move_to, node)
        return True

    def _move_to(self, node: TreeNode[Node | None]) -> None:
        self.move_cursor(node)
        self.scroll_to_node(node, animate=False)

    def _find(self, draw: Action) -> TreeNode[Node | None] | None:
        """The node of a draw; those above it are opened."""
        path = [] if self.outline is None else self.outline.path(draw)
        node = self.root if path else None
        for key in path:
            if node is not None:
                self._fill(node)
                node.expand()
                children = node.children
                node = next(
                    (child for child in children if child.data and child.data[:2] == key), None
                )
        return node

    def action_open(self) -> None:
        """Open the node, or go to its first child."""
        node = self.cursor_node
        if node is not None and node.allow_expand:
            if node.is_expanded and node.children:
                self.move_cursor(node.children[0])
            else:
                node.expand()

    def action_close(self) -> None:
        """Close the node, or go to the one above."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.allow_expand:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    def search(self, text: str, forward: bool = True) -> bool:
        """Go to the next visible line with a text, ignoring case."""
        wanted, count = text.lower(), self.last_line + 1
        for step in range(1, count + 1):
            line = (self.cursor_line + (step if forward else -step)) % count
            node = self.get_node_at_line(line)
            if node is not None and wanted in str(node.label).lower():
                self.move_cursor(node)
                return True
        return False


_FOUND = Style(reverse=True)
_ANNOTATION = Style(color="green", bold=True)

#: Lines of cffpy in an annotated dump begin with this.
_MARK = "#cffpy"


class TextView(ScrollView, can_focus=True):
    """Shows printable lines; only those on the screen are rendered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", "Down", show=False),
        Binding("k,up", "scroll_up", "Up", show=False),
        Binding("space,f,ctrl+f,pagedown", "page_down", "Page down", show=False),
        Binding("b,ctrl+b,pageup", "page_up", "Page up", show=False),
        Binding("ctrl+d", "half_page(1)", "Half a page down", show=False),
        Binding("ctrl+u", "half_page(-1)", "Half a page up", show=False),
        Binding("g,home", "scroll_home", "Top", show=False),
        Binding("G,end", "scroll_end", "Bottom", show=False),
        Binding("h,left", "scroll_left", "Left", show=False),
        Binding("l,right", "scroll_right", "Right", show=False),
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.lines: Sequence[str] = ()
        self._pattern = ""
        self._found = -1

    def show(self, lines: Sequence[str]) -> None:
        """Replace the text; the view starts at its top."""
        self.lines = lines
        self._found = -1
        width = max(map(cell_len, lines), default=0)
        self.virtual_size = Size(width, len(lines))
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line of the screen at ``y``."""
        left, top = self.scroll_offset
        number, width = top + y, self.scrollable_content_region.width
        if number >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        text = self.lines[number]
        style = self.rich_style
        if text.startswith(_MARK):
            style += _ANNOTATION
        return Strip(self._segments(text, style)).crop_extend(left, left + width, self.rich_style)

    def _segments(self, text: str, style: Style) -> list[Segment]:
        if isinstance(text, PixelLine):
            return [
                Segment(HALF, Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower)))
                for upper, lower in text.pixels
            ]
        if not self._pattern:
            return [Segment(text, style)]
        segments, folded, begin = [], text.lower(), 0
        while (at := folded.find(self._pattern, begin)) >= 0 and len(folded) == len(text):
            end = at + len(self._pattern)
            segments += [Segment(text[begin:at], style), Segment(text[at:end], style + _FOUND)]
            begin = end
        return [*segments, Segment(text[begin:], style)]

    def search(self, text: str, forward: bool = True) -> bool:
        """Go to the next line that contains a text, ignoring case; wraps around."""
        self._pattern = text.lower()
        self.refresh()
        count = len(self.lines)
        start = self._found if self._found >= 0 else self.scroll_offset.y - (1 if forward else 0)
        for step in range(1, count + 1):
            number = (start + (step if forward else -step)) % count
            if self._pattern in self.lines[number].lower():
                self._found = number
                height = self.scrollable_content_region.height
                self.scroll_to(0, max(number - height // 2, 0), animate=False)
                return True
        return False

    def action_half_page(self, direction: int) -> None:
        """Scroll by half of the height."""
        height = self.scrollable_content_region.height
        self.scroll_relative(y=direction * max(height // 2, 1), animate=False)


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
        known = state_columns()
        names = [column.name for column in known]
        table.add_columns(*names, *(("other capture",) if has_other else ()))
        table.tooltip = "\n".join(f"{column.name}: {column.meaning}" for column in known)
        for row in rows:
            differs = has_other and row.other != f"{row.value} {row.decoded}"
            style = "bold" if differs else ""
            values = [*(getattr(row, name) for name in names), row.other]
            cells = [value[:_WIDTH] for value in values]
            shown = cells if has_other else cells[: len(names)]
            table.add_row(*(Text(cell, style) for cell in shown))
        self.query_one("#state-heading", Static).update(Text(f"{heading}: {len(rows)} registers"))
        for number, row in enumerate(rows):
            if row.register == before:
                table.move_cursor(row=number)
        self._show_details()

    def _chosen_register(self) -> str:
        row = self.table.cursor_row
        return self.rows[row].register if 0 <= row < len(self.rows) else ""

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the register under the cursor."""
        event.stop()
        self._show_details()

    def _show_details(self) -> None:
        row = self.table.cursor_row
        lines: list[str] = []
        if 0 <= row < len(self.rows):
            shown = self.rows[row]
            lines = [f"{shown.register} = {shown.value}  {shown.decoded}"]
            if shown.written_by:
                lines.append(f"written by {shown.written_by}")
            if shown.other:
                lines.append(f"other capture: {shown.other}")
            lines += [f"{bits:>7}  {name} = {text}" for name, bits, text in shown.fields]
        self.query_one("#details", Static).update(Text("\n".join(lines)))

    def search(self, text: str, forward: bool = True) -> bool:
        """Go to the next register with a text in its name or value, ignoring case."""
        wanted, count = text.lower(), len(self.rows)
        for step in range(1, count + 1):
            number = (self.table.cursor_row + (step if forward else -step)) % count
            row = self.rows[number]
            if wanted in f"{row.register} {row.value} {row.decoded}".lower():
                self.table.move_cursor(row=number)
                return True
        return False
