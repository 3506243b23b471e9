# SPDX-License-Identifier: MIT
"""Output: text is collected in chunks, recorded for segments, and written in larger pieces.

Strings of a capture are latin-1, so that their bytes do not change.

The text of a segment (see cffpy.cp.segment) has holes for register values that differ from run to
run. Scratch registers count tiles and draws: if their values were guards, no segment would be
replayed on a3xx and a4xx.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    #: The a5xx address latch and the current variants.
    State = tuple[int, tuple[tuple[str, int], ...]]


class _Hole:
    """A line of register values; values that the segment wrote itself are known."""

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


#: Small chunks, and characters of large chunks, that are collected before they are written.
CHUNKS = 512
_CHARACTERS = 1 << 18


def argument_text(argument: str) -> str:
    """An argument of the command line, such as a file's name, as latin-1 for ``Output``."""
    return os.fsencode(argument).decode("latin-1")


class Output:
    """Collects text; ``write`` receives it as bytes."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._chunks: list[str] = []
        self._large = 0
        #: Bytes that were written.
        self.written = 0
        #: The segment that is being recorded.
        self.recording: SegmentText | None = None
        #: Append a piece of text.
        self.put = self._chunks.append
        #: A mark: the number of chunks.
        self.mark = self._chunks.__len__

    def put_large(self, text: str) -> None:
        """Append a piece of text that may be long."""
        self._chunks.append(text)
        self._large += len(text)

    def text_from(self, mark: int) -> str:
        """The text that was put since ``mark``, if it was not flushed."""
        return "".join(self._chunks[mark:])

    def flush(self) -> None:
        """Encode the collected text and write it."""
        chunks = self._chunks
        if chunks:
            data = "".join(chunks).encode("latin-1", "replace")
            self.written += len(data)
            self._write(data)
            chunks.clear()
            self._large = 0

    def redirect(self, write: Callable[[bytes], object]) -> None:
        """Pass what is put from now on to ``write``. What was put before is written."""
        self.flush()
        self._write = write

    def flush_if_full(self) -> None:
        """Write the collected text if it is large and no segment is recorded."""
        full = len(self._chunks) > CHUNKS or self._large > _CHARACTERS
        if full and self.recording is None:
            self.flush()

    # -- segments ---------------------------------------------------------------------------

    def record(self, state: State) -> int:
        """Record from here on; ``state`` is what a replay must restore. Returns a mark."""
        self.flush_if_full()
        self.recording = SegmentText(len(self._chunks), state)
        return len(self._chunks)

    def recorded(self, mark: int) -> tuple[SegmentText, int]:
        """End recording: the text up to ``mark``, and its number of characters."""
        segment = self.recording
        assert segment is not None
        self.recording = None
        size = segment.finish(self._chunks, mark)
        self._large += size
        return segment, size

    def replay(self, segment: SegmentText, registers: Mapping[int, int]) -> None:
        """Append a recorded text again."""
        if segment.holes:
            self._chunks.extend(segment.filled(registers))
        else:
            self._chunks.append(segment.text)
        self._large += segment.size
        self.flush_if_full()

    def state_changed(self, state: State) -> None:
        """What a replay must restore has changed."""
        if self.recording is not None:
            self.recording.state_changed(len(self._chunks), state)
            self.put("")  # so that a mark after this packet is after the change

    def add_hole(
        self, tabs: str, registers: Iterable[int], wrote: Callable[[int], int | None]
    ) -> None:
        """The chunk that is put next is a line of registers' values.

        A segment does not keep these: a replay reads them again. ``wrote`` gives the value that the
        segment itself has written, or None.
        """
        if self.recording is not None:
            self.recording.add_hole(len(self._chunks), tabs, registers, wrote)


class Messages:
    """Passes lines for standard error to a function, which can be changed."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        self._print = print_line

    def __call__(self, line: str) -> None:
        """Hand a line to the function that takes lines now."""
        self._print(line)

    def redirect(self, print_line: Callable[[str], None]) -> None:
        """Pass lines to this function from now on."""
        self._print = print_line


#: Lines on standard error for one file, at most.
_MOST = 50


class Complaints:
    """Passes lines to ``complain``, each once for a file, and at most 50.

    A stream that was not captured may be called from every draw.
    """

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._seen: set[str] = set()

    def __call__(self, line: str) -> None:
        """Report a line."""
        if line in self._seen or len(self._seen) > _MOST:
            return
        if len(self._seen) == _MOST:
            line = "there is more like this"
        self._seen.add(line)
        self._complain(line)

    @property
    def lines(self) -> list[str]:
        """The lines that were passed on for this file."""
        return sorted(self._seen)

    def start_file(self) -> None:
        """A file begins, which may have the same problems."""
        self._seen.clear()
