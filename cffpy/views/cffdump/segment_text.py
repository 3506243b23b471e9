# SPDX-License-Identifier: MIT
"""The text of a segment, with holes for register values that differ from run to run.

See cffpy.cp.segment. Scratch registers count tiles and draws: if their values were guards, no
segment would be replayed on a3xx and a4xx.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    #: The a5xx address latch and the current variants.
    State = tuple[int, tuple[tuple[str, int], ...]]


class _Hole:
    """A line of register values; those that the segment wrote itself are known."""

    __slots__ = ("chunk", "tabs", "values")

    def __init__(self, chunk: int, tabs: str, values: list[tuple[int, int | None]]) -> None:
        #: Which chunk of the text it is.
        self.chunk = chunk
        self.tabs = tabs
        #: Register, and its value if the segment wrote it before this line.
        self.values = values

    def line(self, registers: Mapping[int, int]) -> str:
        shown = [
            str(registers.get(register, 0) if known is None else known)
            for register, known in self.values
        ]
        return f"{self.tabs}:{','.join(shown)}\n"


class SegmentText:
    """The output of a segment, and the view's state after it."""

    __slots__ = ("_changes", "_start", "exit_state", "holes", "pieces", "size", "text")

    def __init__(self, start: int, state: State) -> None:
        self._start = start
        self._changes: list[tuple[int, State]] = []
        #: The view's state after the last packet.
        self.exit_state = state
        self.holes: list[_Hole] = []
        #: The text; with holes, ``pieces`` before, between and after them.
        self.text = ""
        self.pieces: list[str] = []
        #: Number of characters.
        self.size = 0

    def state_changed(self, chunk: int, state: State) -> None:
        """The view's state has changed before the chunk that is put next."""
        self._changes.append((chunk, state))

    def add_hole(
        self,
        chunk: int,
        tabs: str,
        registers: Iterable[int],
        wrote: Callable[[int], int | None],
    ) -> None:
        """The chunk that is put next is a line of register values."""
        self.holes.append(
            _Hole(chunk, tabs, [(register, wrote(register)) for register in registers])
        )

    def finish(self, chunks: list[str], mark: int) -> int:
        """Take the text from ``chunks``, up to ``mark``, and leave it there as one chunk.

        Returns the number of characters.
        """
        start = self._start
        for chunk, state in self._changes:
            if chunk < mark:
                self.exit_state = state
        self._changes.clear()
        self.text = "".join(chunks[start:mark])
        self.holes = [hole for hole in self.holes if hole.chunk < mark]
        for hole in self.holes:
            self.pieces.append("".join(chunks[start : hole.chunk]))
            start = hole.chunk + 1
        self.pieces.append("".join(chunks[start:mark]))
        self.size = len(self.text)
        chunks[self._start : mark] = [self.text]
        if self.holes:
            self.text = ""
        else:
            self.pieces.clear()
        return self.size

    def filled(self, registers: Mapping[int, int]) -> Iterator[str]:
        """The text in pieces, with the holes filled from the registers as they are now."""
        for piece, hole in zip(self.pieces, self.holes, strict=False):
            yield piece
            yield hole.line(registers)
        yield self.pieces[-1]
