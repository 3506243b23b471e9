# SPDX-License-Identifier: MIT
"""``crashdec --annotate``: lines of cffpy between the lines of the commands.

The notes are the notes of ``dump --annotate``, made for the capture that the dump's memory and the
ring's calls make (``analysis/crash/position.py: extracted``). A packet is found by its location
there: the number of the ring's call, and the addresses of the packets from IB1 inwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.annotations import Annotator, Note
from cffpy.analysis.crash.context import CrashContext
from cffpy.analysis.crash.flight import position_key
from cffpy.analysis.crash.position import extracted, find_position
from cffpy.container.crash_dump import read_crash_dump
from cffpy.container.open import Content
from cffpy.views.cffdump.annotate import (
    SOURCES,
    AnnotatedOutput,
    AnnotatingSink,
    choose_prefix,
    submit_lines,
)
from cffpy.views.crashdec.dump import CrashDump
from cffpy.views.crashdec.sink import CrashdecSink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.analysis.crash.position import CpPosition
    from cffpy.views.crashdec.options import CrashdecOptions

_FIRST_LINE = "annotations: lines that begin as this one are not crashdec's"


class AnnotatingCrashSink(AnnotatingSink, CrashdecSink):
    """crashdec's text of commands with notes between its lines."""

    def __init__(
        self,
        options: CrashdecOptions,
        output: AnnotatedOutput,
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> None:
        CrashdecSink.__init__(self, options, output, complain, register_db)
        self.follow(output)
        #: Dword of the ring at which a call begins -> its number among the pending calls.
        self.numbers: dict[int, int] = {}

    def _key(self) -> tuple[int, ...]:
        """The key of a packet's location (``PacketLocation.key``), without the ring."""
        words = self._path[0][0]
        place = (self._addresses[0] - words.address) // 4 + self.ring_start
        number = self.numbers.get(place % max(self.ring_dwords, 1), -1)
        return (number, *self._addresses[1:])


class AnnotatedCrashDump(CrashDump):
    """Prints a dump with annotations. The first line is an annotation that explains them."""

    _view: AnnotatingCrashSink

    def __init__(
        self,
        content: Content,
        options: CrashdecOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None = None,
    ) -> None:
        """``content``: the dump that ``file`` is to print."""
        self._context = CrashContext(read_crash_dump(content.data), register_db)
        contents = (content for _, _, content in self._context.memory)
        self._prefix = choose_prefix([content.data, *contents])
        super().__init__(options, write, complain, register_db)
        self._register_db = register_db

    def file(self, content: Content) -> None:
        """Print the dump."""
        context, view = self._context, self._view
        calls = context.pending_calls()
        ring, commands = context.ring, context.ring_commands()
        if ring is not None and commands is not None:
            size = max(ring.size // 4, 1)
            view.numbers = {
                (commands.oldest + call.index) % size: number for number, call in enumerate(calls)
            }
        capture = Content(content.name, extracted(context), "none", 0, None, content.limits)
        sources = [source for source in SOURCES if source is not submit_lines]
        annotator = Annotator(sources, self._register_db)
        view.notes = annotator.annotate(capture, lambda _: False)
        cp = find_position(context)
        view.notes.add(_position_note(cp, [call.index for call in calls]))
        view.output.annotate(_FIRST_LINE)
        try:
            super().file(content)
        finally:
            view.output.settle()
            view.output.flush()

    def _make_view(
        self,
        options: CrashdecOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> CrashdecSink:
        output = AnnotatedOutput(write, self._prefix)
        return AnnotatingCrashSink(options, output, complain, register_db)


def _position_note(cp: CpPosition, calls: list[int]) -> Iterator[Note]:
    """The packet that the CP executes, which is more exact than crashdec's mark.

    ``calls``: the ring's pending calls, as ``RingCall.index``.
    """
    packet = cp.packet
    if packet is None or cp.ring_index not in calls:
        return
    key = position_key(cp, calls.index(cp.ring_index))
    level = next(level for level in reversed(cp.levels) if level.packet is packet)
    if key is not None:
        text = f"the CP is here: {packet.name}, {level.left} dwords of {level.name} left"
        yield Note(key, text)
