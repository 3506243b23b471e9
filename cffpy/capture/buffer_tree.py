# SPDX-License-Identifier: MIT
"""Which of several overlapping buffers holds an address: as the reference's search tree tells.

Buffers of one submit may overlap, when a driver dumps a part of a buffer and later the whole. The
reference (Mesa: src/freedreno/decode/buffers.c over src/util/rb_tree.h) keeps them in a red-black
tree by address, high addresses to the left, and compares ranges while it descends; where ranges
overlap, are empty or reach the end of all addresses, what it finds depends on the tree's shape. So
the tree is built here, too, but only for such captures: for buffers apart any search is the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import Buffer


#: As many bytes can be addressed.
_ADDRESSES = 1 << 64

#: Buffers in a row that hold one address, of which the first is looked for: a hostile capture could
#: have every look-up pass over all its buffers.
_MAX_ROW = 256


class _Node:
    __slots__ = ("buffer", "left", "parent", "red", "right")

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.left: _Node | None = None
        self.right: _Node | None = None
        self.parent: _Node | None = None
        self.red = True

    def side(self, gpuaddr: int) -> int:
        """0 where the buffer holds the address, below where it ends before, above where behind."""
        buffer = self.buffer
        # an end at 2^64 or above wraps around, and whatever is asked for seems to lie behind it
        if (buffer.gpuaddr + buffer.size & _ADDRESSES - 1) <= gpuaddr:
            return -1
        return 1 if buffer.gpuaddr > gpuaddr else 0

    def previous(self) -> _Node | None:
        """The node before this one in the tree's order: the next higher address."""
        node = self
        if node.left is not None:
            node = node.left
            while node.right is not None:
                node = node.right
            return node
        while node.parent is not None and node is node.parent.left:
            node = node.parent
        return node.parent


class BufferTree:
    """A red-black tree of buffers; nothing is ever removed from it."""

    def __init__(self) -> None:
        self._root: _Node | None = None

    def find(self, gpuaddr: int) -> Buffer | None:
        """The buffer that the search meets; of equals in a row, the first in the tree's order."""
        node = self._root
        while node is not None:
            side = node.side(gpuaddr)
            if side == 0:
                before = node.previous()
                steps = _MAX_ROW
                while steps and before is not None and before.side(gpuaddr) == 0:
                    node, before = before, before.previous()
                    steps -= 1
                return node.buffer
            node = node.left if side < 0 else node.right
        return None

    def insert(self, buffer: Buffer) -> None:
        """Add a buffer."""
        node = _Node(buffer)
        parent, place, left = None, self._root, False
        while place is not None:
            parent, left = place, place.buffer.gpuaddr < buffer.gpuaddr
            place = place.left if left else place.right
        node.parent = parent
        if parent is None:
            self._root = node
        elif left:
            parent.left = node
        else:
            parent.right = node
        self._balance(node)

    def _balance(self, node: _Node) -> None:
        """Restore the red-black rules after ``node`` was inserted."""
        while node.parent is not None and node.parent.red:
            parent = node.parent
            top = parent.parent
            assert top is not None  # the root is black
            on_left = parent is top.left
            uncle = top.right if on_left else top.left
            if uncle is not None and uncle.red:
                parent.red = uncle.red = False
                top.red = True
                node = top
                continue
            if node is (parent.right if on_left else parent.left):
                self._rotate(parent, on_left)
                parent = node
            parent.red, top.red = False, True
            self._rotate(top, not on_left)
            break
        assert self._root is not None
        self._root.red = False

    def _rotate(self, node: _Node, to_left: bool) -> None:
        child = node.right if to_left else node.left
        assert child is not None
        moved = child.left if to_left else child.right
        if to_left:
            node.right, child.left = moved, node
        else:
            node.left, child.right = moved, node
        if moved is not None:
            moved.parent = node
        child.parent = node.parent
        if node.parent is None:
            self._root = child
        elif node.parent.left is node:
            node.parent.left = child
        else:
            node.parent.right = child
        node.parent = child
