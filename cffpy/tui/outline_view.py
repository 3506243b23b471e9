# SPDX-License-Identifier: MIT
"""OutlineView: the tree of submits, passes and draws, with the keys of vim."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Tree

if TYPE_CHECKING:
    from textual.widgets.tree import TreeNode

    from cffpy.frame.action import Action
    from cffpy.tui.outline import Node, Outline

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
        found = self.root if path else None
        for key in path:
            if found is not None:
                self._fill(found)
                found.expand()
                children = found.children
                found = next((one for one in children if one.data and one.data[:2] == key), None)
        return found

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
