# SPDX-License-Identifier: MIT
"""GPU memory as a capture holds it: buffers by address, read as little-endian dwords.

``MemoryImage.add`` says what happens to buffers that overlap (Mesa:
src/freedreno/decode/buffers.c). All bounds are checked here: nothing outside a captured buffer can
be read.
"""

from __future__ import annotations

import struct
import sys
from bisect import bisect_right

#: Dwords of hex text that are rendered at once.
_HEX_PAGE = 512

#: Bytes of a buffer that is copied to be written to: command buffers are far smaller.
MAX_WRITABLE = 1 << 26

#: More buffers than this are searched by a tree: inserting into a long list costs its length.
_LISTED_BUFFERS = 4096

#: Size of the address space in bytes.
_ADDRESSES = 1 << 64

#: The most consecutive nodes of the tree that one look-up compares: in a hostile capture all
#: buffers may contain the same address.
_MAX_ROW = 256


_Bytes = bytes  # inside Words, the name is a method's


class Words:
    """A buffer's contents as dwords, from one byte phase (0 for all aligned addresses)."""

    __slots__ = ("_contents", "_pages", "address", "count", "data", "file_offset")

    def __init__(self, address: int, contents: memoryview, file_offset: int = 0) -> None:
        #: GPU address of dword 0, and its place in the decompressed file (bytes).
        self.address = address
        self.file_offset = file_offset
        #: Number of dwords captured.
        self.count = len(contents) // 4
        self.show(contents)

    def __repr__(self) -> str:
        return f"<Words {self.address:#x}, {self.count} dwords>"

    def show(self, contents: memoryview) -> None:
        """Use these contents, of the same size as before, from now on."""
        #: The dwords, host-endian; index with 0 <= i < count.
        self.data = _as_dwords(contents[: self.count * 4])
        self._contents = contents
        self._pages: dict[int, str] = {}

    def get(self, index: int) -> int:
        """The dword at ``index``, 0 where nothing was captured."""
        return self.data[index] if 0 <= index < self.count else 0

    def bytes(self, index: int, dwords: int) -> _Bytes:
        """The captured bytes of up to ``dwords`` dwords from ``index``."""
        start = max(index, 0)
        return _Bytes(self._contents[start * 4 : min(start + dwords, self.count) * 4])

    def bytes_from(self, index: int, size: int) -> _Bytes:
        """Up to ``size`` captured bytes from dword ``index``, also of a last part of a dword."""
        return _Bytes(self._contents[index * 4 : index * 4 + size])

    def hex(self, index: int, dwords: int) -> str:
        """``dwords`` captured dwords from ``index``: 8 digits each, separated by one space."""
        start = index % _HEX_PAGE
        page = index // _HEX_PAGE
        if start + dwords <= _HEX_PAGE:
            text = self._pages.get(page)
            if text is None:
                text = self._pages[page] = self._render(page * _HEX_PAGE, _HEX_PAGE)
            return text[start * 9 : (start + dwords) * 9 - 1]
        return self._render(index, dwords)

    def _render(self, index: int, dwords: int) -> str:
        pages = []
        for start in range(index, min(index + dwords, self.count), _HEX_PAGE):
            page = self.data[start : min(start + _HEX_PAGE, index + dwords)]
            pages.append(struct.pack(f">{len(page)}I", *page).hex(" ", 4))
        return " ".join(pages)


#: The location of an address: the words, and the index of the dword in them.
MemoryLocation = tuple[Words, int]


class Buffer:
    """One captured buffer. ``size`` (bytes) is what the capture declares, not what it holds."""

    __slots__ = ("_is_copy", "_words", "contents", "file_offset", "gpuaddr", "size")

    def __init__(self, gpuaddr: int, size: int, contents: memoryview, file_offset: int = 0) -> None:
        self.gpuaddr = gpuaddr
        self.replace(size, contents, file_offset)

    def replace(self, size: int, contents: memoryview, file_offset: int = 0) -> None:
        """Give the buffer other contents, as a later section for the same address does."""
        self.size = size
        self.contents = contents[:size]
        self._is_copy = False
        #: Where the contents begin in the decompressed file (bytes).
        self.file_offset = file_offset
        self._words: dict[int, Words] = {}

    def words(self, phase: int) -> Words:
        """The contents as dwords that start ``phase`` (0 to 3) bytes into the buffer."""
        words = self._words.get(phase)
        if words is None:
            words = self._words[phase] = Words(
                self.gpuaddr + phase, self.contents[phase:], self.file_offset + phase
            )
        return words

    def write(self, offset: int, data: bytes) -> bytes | None:
        """Change a copy of the contents; see ``MemoryImage.write``."""
        size = min(len(data), len(self.contents) - offset)
        if size <= 0:
            return b""
        if not self._is_copy:
            if len(self.contents) > MAX_WRITABLE:
                return None
            self.contents = memoryview(bytearray(self.contents))
            self._is_copy = True
        before = bytes(self.contents[offset : offset + size])
        self.contents[offset : offset + size] = data[:size]
        for phase, words in self._words.items():
            words.show(self.contents[phase:])
        return before


class _Node:
    __slots__ = ("buffer", "left", "parent", "red", "right")

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.left: _Node | None = None
        self.right: _Node | None = None
        self.parent: _Node | None = None
        self.red = True

    def side(self, gpuaddr: int) -> int:
        """0 if the buffer contains the address, -1 if it ends before, 1 if it starts after."""
        buffer = self.buffer
        # an end at or above 2^64 wraps around, so that every address is after the buffer
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
    """A red-black tree of buffers that finds what the reference finds among overlapping buffers.

    Buffers of one submit may overlap, when a driver dumps a part of a buffer and later the whole.
    The reference (Mesa: src/freedreno/decode/buffers.c over src/util/rb_tree.h) keeps buffers in a
    red-black tree by address, high addresses to the left, and compares ranges while it descends.
    Where ranges overlap, are empty or reach the end of the address space, the result depends on the
    shape of the tree, so the same tree is built here. Nothing is ever removed from it.
    """

    def __init__(self) -> None:
        self._root: _Node | None = None

    def find(self, gpuaddr: int) -> Buffer | None:
        """The buffer that contains the address; of consecutive buffers, the first in tree order."""
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
        """Add a buffer to the tree, which is ordered by gpuaddr."""
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


class MemoryImage:
    """All buffers of the current submit."""

    def __init__(self) -> None:
        #: By rising address, up to where the tree is made.
        self._starts: list[int] = []
        self._buffers: list[Buffer] = []
        #: The buffers in the order in which they were added.
        self._added: list[Buffer] = []
        #: Used instead once two buffers overlap, one is odd, or there are too many.
        self._tree: BufferTree | None = None
        #: Incremented with every change: a key for what is derived from addresses.
        self.epoch = 0
        #: Incremented when all buffers are dropped.
        self.drops = 0
        #: Incremented when buffers are added or dropped, not when they are written to.
        self.layout = 0

    def clear(self) -> None:
        """Drop every buffer: a new submit starts."""
        self._starts.clear()
        self._buffers.clear()
        self._added.clear()
        self._tree = None
        self.epoch += 1
        self.drops += 1
        self.layout += 1

    def copy(self) -> MemoryImage:
        """An image of the same buffers, which stay in it when they are dropped here."""
        other = MemoryImage()
        other._starts, other._buffers = self._starts.copy(), self._buffers.copy()
        other._added, other._tree = self._added.copy(), self._tree
        return other

    def show(self, other: MemoryImage) -> None:
        """Have the buffers of another image instead of the present buffers."""
        self._starts, self._buffers = other._starts.copy(), other._buffers.copy()
        self._added, self._tree = other._added.copy(), other._tree
        self.epoch += 1
        self.drops += 1
        self.layout += 1

    def add(self, gpuaddr: int, size: int, contents: memoryview, file_offset: int = 0) -> None:
        """Add a buffer of ``size`` bytes, whose contents lie at ``file_offset``.

        One that starts inside an existing one is dropped; one at the same address replaces its
        contents.
        """
        self.epoch += 1
        self.layout += 1
        inside = self.find(gpuaddr)
        if inside is not None:
            if inside.gpuaddr != gpuaddr:
                return
            inside.replace(size, contents, file_offset)
            if self._tree is None and self._is_odd(gpuaddr, size):
                self._search_tree()
            return
        buffer = Buffer(gpuaddr, size, contents, file_offset)
        self._added.append(buffer)
        if self._tree is not None:
            self._tree.insert(buffer)
            return
        position = bisect_right(self._starts, gpuaddr)
        again = position > 0 and self._starts[position - 1] == gpuaddr
        is_odd = again or self._is_odd(gpuaddr, size)
        self._starts.insert(position, gpuaddr)
        self._buffers.insert(position, buffer)
        if is_odd or len(self._added) > _LISTED_BUFFERS:
            self._search_tree()

    def _is_odd(self, gpuaddr: int, size: int) -> bool:
        """Whether a range is empty, or reaches the next one or the end of all addresses."""
        position = bisect_right(self._starts, gpuaddr)
        following = self._starts[position] if position < len(self._starts) else 1 << 64
        return not size or following < gpuaddr + size or gpuaddr + size >= 1 << 64

    def _search_tree(self) -> None:
        """From now on, search as the reference does: ranges are odd or overlap, or are many."""
        self._tree = BufferTree()
        for buffer in self._added:
            self._tree.insert(buffer)
        self._starts.clear()
        self._buffers.clear()

    def find(self, gpuaddr: int) -> Buffer | None:
        """The buffer that holds this address, or None. Address 0 is in no buffer."""
        if not gpuaddr:
            return None
        if self._tree is not None:
            return self._tree.find(gpuaddr)
        position = bisect_right(self._starts, gpuaddr)
        if position:
            buffer = self._buffers[position - 1]
            if gpuaddr < buffer.gpuaddr + buffer.size:
                return buffer
        return None

    def place(self, gpuaddr: int) -> MemoryLocation | None:
        """Where the dword at this address is, or None. It may be after a cut buffer's end."""
        buffer = self.find(gpuaddr)
        if buffer is None:
            return None
        offset = gpuaddr - buffer.gpuaddr
        return buffer.words(offset & 3), offset >> 2

    def write(self, gpuaddr: int, data: bytes) -> bytes | None:
        """Write to memory, as the GPU would. The capture itself does not change.

        Returns what was there, as far as it was captured (up to the end of one buffer); None where
        the buffer has more than MAX_WRITABLE bytes and nothing is changed. A stream that runs in
        the buffer already sees it from the buffer's second write on.
        """
        buffer = self.find(gpuaddr)
        if buffer is None:
            return b""
        self.epoch += 1
        return buffer.write(gpuaddr - buffer.gpuaddr, data)

    def remaining(self, gpuaddr: int) -> int:
        """Bytes from this address to the declared end of its buffer; 0 where there is none."""
        buffer = self.find(gpuaddr)
        return 0 if buffer is None else buffer.gpuaddr + buffer.size - gpuaddr

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All buffers by rising address."""
        if self._tree is None:
            return tuple(self._buffers)
        return tuple(sorted(self._added, key=lambda buffer: buffer.gpuaddr))


def _as_dwords(contents: memoryview) -> memoryview:
    if sys.byteorder == "little":
        return contents.cast("I")
    from array import array  # lazy: it brings in the package collections

    swapped = array("I", contents.tobytes())
    swapped.byteswap()
    return memoryview(swapped)
