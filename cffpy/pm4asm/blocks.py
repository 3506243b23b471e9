# SPDX-License-Identifier: MIT
"""The capture under construction: its bytes, the open blocks, the labels."""

from __future__ import annotations

from collections.abc import Callable

from cffpy.pm4asm.model import SourceProblem
from cffpy.pm4asm.source import Line

#: Deepest nesting: a section, and blocks in it.
_DEEPEST = 4


class Label:
    """A block's place: its address, its dwords once ``is_complete``."""

    __slots__ = ("address", "dwords", "is_complete")

    def __init__(self, address: int) -> None:
        self.address = address
        self.dwords = 0
        self.is_complete = False


class _Block:
    """An open block. ``address`` is that of its first byte, ``start`` the byte in the output."""

    __slots__ = ("address", "close", "label", "start")

    def __init__(
        self, start: int, address: int, label: Label | None, close: Callable[[int], None] | None
    ) -> None:
        self.start = start
        self.address = address
        self.label = label
        self.close = close


class Image:
    """The output, and where in it the text is. Raises SourceProblem beyond ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        self.output = bytearray()
        self.labels: dict[str, Label] = {}
        #: Lines of the program that is being read, if one is.
        self.program: list[Line] | None = None
        self._limit = limit
        self._blocks: list[_Block] = []

    def add(self, data: bytes) -> None:
        """Append bytes to the open block."""
        if not self._blocks:
            raise SourceProblem("this belongs in a block, such as: buffer b 0x1000 {", 1)
        self.output += data
        self._check(0)

    def check_content(self) -> None:
        """Raise SourceProblem if no block is open."""
        self.add(b"")

    def section(self, data: bytes) -> None:
        """Append a whole section."""
        if self._blocks:
            raise SourceProblem("a section cannot be inside a block: } is missing", 1)
        self.output += data
        self._check(0)

    def fill(self, size: int) -> None:
        """Append zeros."""
        self._check(size)
        self.output += bytes(size)

    def _check(self, more: int) -> None:
        if len(self.output) + more > self._limit:
            raise SourceProblem(f"the capture would have more than {self._limit} bytes", 1)

    def check_size(self, size: int) -> None:
        """Raise SourceProblem if ``size`` more bytes exceed the limit."""
        self._check(size)

    # -- blocks -----------------------------------------------------------------------------

    def open(
        self, address: int, name: str | None, close: Callable[[int], None] | None, column: int = 1
    ) -> None:
        """A block begins. ``close`` takes the number of its bytes at its end."""
        if len(self._blocks) >= _DEEPEST:
            raise SourceProblem(f"blocks nested more than {_DEEPEST} deep", 1)
        label = None
        if name is not None:
            if name in self.labels:
                raise SourceProblem(f"label {name} is already defined", column)
            label = self.labels[name] = Label(address)
        self._blocks.append(_Block(len(self.output), address, label, close))

    def open_inner(self, name: str, column: int) -> None:
        """A labelled block in a section begins here."""
        if not self._blocks:
            raise SourceProblem("a block belongs into a buffer", 1)
        # a buffer may begin at any address: its own dwords count
        if (len(self.output) - self._blocks[0].start) % 4:
            raise SourceProblem(f"a block cannot begin at {self.address:#x}, amid a dword", 1)
        self.open(self.address, name, None, column)

    def close(self) -> None:
        """The innermost block ends."""
        if not self._blocks:
            raise SourceProblem("no block is open", 1)
        block = self._blocks[-1]
        size = len(self.output) - block.start
        if block.close is not None:
            block.close(size)
        if block.label is not None:
            block.label.dwords = (len(self.output) - block.start) // 4
            block.label.is_complete = True
        self._blocks.pop()
        self.program = None

    @property
    def address(self) -> int:
        """The address of the next byte."""
        block = self._blocks[-1]
        return block.address + len(self.output) - block.start

    def move_to(self, address: int, column: int) -> None:
        """Zeros up to ``address``, which must not be before the end of the block."""
        if not self._blocks:
            raise SourceProblem("an address belongs into a buffer", 1)
        missing = address - self.address
        if missing < 0:
            raise SourceProblem(
                f"overlap: {address:#x} is {-missing} bytes before {self.address:#x}, "
                "where the content so far ends",
                column,
            )
        self.fill(missing)

    def finish(self) -> None:
        """End of the text. Raises SourceProblem if a block is still open."""
        if self._blocks:
            raise SourceProblem("the text ends, but a block is open: } is missing", 1)
