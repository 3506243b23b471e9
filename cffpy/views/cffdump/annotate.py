# SPDX-License-Identifier: MIT
"""``dump --annotate``: lines of cffpy between the reference's.

Each begins with a prefix that no line of the reference begins with, and is only put where the
reference begins a line. What remains without them is the reference's output.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cffpy.analysis.annotations import Annotations, Annotator, Position
from cffpy.views.cffdump.annotation_lines import SOURCES, GroupLines
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.output import Output
from cffpy.views.cffdump.text import CffdumpSink
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.analysis.annotations import Note
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.container.open import Content
    from cffpy.cp.sink import Draw
    from cffpy.cp.state import DrawStateGroup
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.options import DumpOptions

# -- the prefix -----------------------------------------------------------------------------------
#
# The reference prints strings of the capture (names of processes, markers) as they are, and these
# may contain line feeds. So its lines may begin with anything but NUL, and no fixed prefix of
# printable characters is safe for all captures. It is chosen from what is to be printed, and the
# first line of the output begins with it.

_NAME = "#cffpy"

#: The name, maybe a number, and a space. The reference omits bytes from 0x80 on from markers.
_LOOKALIKE = re.compile(
    b"[\\x80-\\xff]*".join(re.escape(bytes([byte])) for byte in _NAME.encode())
    + b"([0-9\\x80-\\xff]*) "
)

_ABOVE_ASCII = bytes(range(0x80, 0x100))


def choose_prefix(texts: Iterable[bytes | memoryview]) -> str:
    """``#cffpy `` or, where the texts hold that, the first of ``#cffpy2 ``, ... that they do not.

    ``texts``: all that the strings that are printed come from.
    """
    taken = {
        match.group(1).translate(None, _ABOVE_ASCII)
        for text in texts
        for match in _LOOKALIKE.finditer(text)
    }
    number = b""
    while number in taken:
        number = b"%d" % (int(number or b"1") + 1)
    return f"{_NAME}{number.decode()} "


# -- output and sink ------------------------------------------------------------------------------


class AnnotatedOutput(Output):
    """Holds annotations back until the reference's text begins a line."""

    def __init__(self, write: Callable[[bytes], object], prefix: str) -> None:
        super().__init__(write)
        self._prefix = prefix
        self._due: list[str] = []
        self._begins_line = True
        self._append = self.put
        self.put = self._put

    def annotate(self, text: str) -> None:
        """Put an annotation before the next text."""
        self._due.append(f"{self._prefix}{visible(text)}\n")

    def withdraw(self, number: int) -> None:
        """Discard the pending lines after the first ``number``."""
        del self._due[number:]

    @property
    def waiting(self) -> int:
        """The number of pending lines."""
        return len(self._due)

    def settle(self) -> None:
        """Write the pending lines now: the text that they belong to does not follow."""
        if self._due and self._begins_line:
            self._append("".join(self._due))
            self._due.clear()

    def put_large(self, text: str) -> None:
        """Take a piece of text that may be long."""
        self._before(text)
        super().put_large(text)

    def _put(self, text: str) -> None:
        self._before(text)
        self._append(text)

    def _before(self, text: str) -> None:
        if text:
            self.settle()
            self._begins_line = text[-1] == "\n"


class AnnotatingSink(CffdumpSink):
    """The text view with ``notes`` between its lines."""

    uses_segments = False

    def __init__(
        self,
        options: DumpOptions,
        output: AnnotatedOutput,
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> None:
        super().__init__(options, output, complain, register_db)
        self.follow(output)

    def follow(self, output: AnnotatedOutput) -> None:
        """Begin with no notes, outside of all streams."""
        self.output: AnnotatedOutput = output
        self.notes = Annotations()
        self._groups: GroupLines
        self._stream = 0
        #: The machine's streams, and of each the address of its last packet with an opcode, else
        #: of its first packet. Together they are ``Place.key``.
        self._path: list[tuple[Words, int, int]] = []
        self._addresses: list[int] = []
        self._of_draw: list[Note] = []

    def bind(self, gpu: Gpu, database: Database) -> None:
        super().bind(gpu, database)
        self._groups = GroupLines(self.machine)

    def command_stream(self, record: CommandStream, skipped: bool) -> bool:
        if self._is_wanted(record):
            self._annotate_stream(record, Position.BEFORE)
        return super().command_stream(record, skipped)

    def command_stream_done(self, record: CommandStream) -> None:
        super().command_stream_done(record)
        if self._is_wanted(record):
            self._annotate_stream(record, Position.AFTER)

    def submit(self, submit: CommandStream) -> None:
        super().submit(submit)
        self._stream = submit.number
        self._path.clear()
        self._addresses.clear()

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._enter()
        self._addresses[-1] = payload.words.address + 4 * (payload.index - 1)
        self._annotate(Position.BEFORE)
        self._of_draw = self.notes.of_packet(self._key(), Position.DRAW)
        super().packet(opcode, payload, level)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        if self._of_draw:  # an action that the reference does not count as a draw
            if not self.quiet2:
                self._annotate_draw("")
            self._of_draw = []
        super().packet_done(opcode, payload, level)
        self._enter()
        self._annotate(Position.AFTER)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        before = self.output.waiting
        if not self.quiet1:
            number = f" (dump draw {self.machine.state.draw_count})" if draw.counted else ""
            self._annotate_draw(number)
        told = self.output.waiting
        super().draw(draw, payload, level)
        if self.quiet2 and self.output.waiting >= told:  # nothing was shown of it
            self.output.withdraw(before)
        self._of_draw = []

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        if not self.quiet2:
            self.output.annotate(self._groups.line(group, loaded))
        super().group(group, loaded, level)

    # -- within -----------------------------------------------------------------------------

    def _enter(self) -> None:
        """Follow the machine into and out of streams."""
        active, path, addresses = self.machine.streams, self._path, self._addresses
        while path and (len(path) > len(active) or path[-1] is not active[len(path) - 1]):
            path.pop()
            addresses.pop()
        for entry in active[len(path) :]:
            words, index, _ = entry
            path.append(entry)
            addresses.append(words.address + 4 * index)

    def _key(self) -> tuple[int, ...]:
        return (self._stream, *self._addresses)

    def _annotate(self, position: Position) -> None:
        if self.quiet1:
            return
        for note in self.notes.of_packet(self._key(), position):
            if not (note.is_detail and self.quiet2):
                self.output.annotate(note.text)

    def _annotate_stream(self, record: CommandStream, position: Position) -> None:
        if not self.quiet1:
            for note in self.notes.of_stream(record.number, position):
                self.output.annotate(note.text)

    def _annotate_draw(self, number: str) -> None:
        for note in self._of_draw:
            self.output.annotate(f"{note.text}{number}{note.more}")


class AnnotatedDump(Dump):
    """Prints captures with annotations. The first line is an annotation that explains them."""

    _view: AnnotatingSink

    def __init__(
        self,
        prefix: str,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
    ) -> None:
        """``prefix``: of the annotations, as ``choose_prefix`` finds it. Others as for ``Dump``."""
        self._prefix = prefix
        super().__init__(options, write, complain, register_db, gpu)
        self._annotator = Annotator(SOURCES, register_db, gpu)
        self._view.output.annotate("annotations: lines that begin as this one are not cffdump's")

    def file(self, content: Content) -> None:
        """Decode one opened file."""
        output = self._view.output
        self._view.notes = self._annotator.annotate(content, self._skips)
        try:
            super().file(content)
        finally:
            output.settle()
            output.flush()
            self._view.notes = Annotations()  # the capture may be closed

    def _make_view(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> CffdumpSink:
        output = AnnotatedOutput(write, self._prefix)
        return AnnotatingSink(options, output, complain, register_db)
