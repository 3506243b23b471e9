# SPDX-License-Identifier: MIT
"""A buffer's contents as lines: labelled blocks where contents are known, data elsewhere."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from cffpy.analysis.survey import COMMANDS, PROGRAM, BufferSet
from cffpy.pm4asm.data import hex_rows, show_data
from cffpy.pm4asm.labels import Label
from cffpy.pm4asm.shaders import Programs
from cffpy.pm4asm.show import Shower
from cffpy.views.pm4.segments import Segment, segments

INDENT = "  "

_SHOWN_DRAWS = 8


class BufferLines:
    """The lines of the buffers of one set. ``labels`` are keyed by address."""

    def __init__(
        self,
        buffers: BufferSet,
        shower: Shower | None,
        programs: Programs | None,
        labels: dict[int, tuple[int, Label]],
    ) -> None:
        """``labels``: address -> the section whose block it is, and the label."""
        self._set = buffers
        self._shower = shower
        self._programs = programs
        self._labels = labels

    def lines(self, offset: int, address: int, view: memoryview) -> Iterator[str]:
        """The lines of the buffer of the section at a file offset, whose bytes are ``view``."""
        done = 0
        found = self._set.findings.get(offset, ()) if self._shower is not None else ()
        for segment in segments(found):
            if segment.start > done:
                yield from _data(view[done : segment.start], address + done)
            yield from self._segment(offset, address, view, segment)
            done = segment.end
        if done < len(view):
            yield from _data(view[done:], address + done)

    def _segment(
        self, offset: int, address: int, view: memoryview, segment: Segment
    ) -> Iterator[str]:
        finding = segment.finding
        place = address + segment.start
        owner, label = self._labels.get(place, (-1, None))
        if label is None or owner != offset or not segment.is_start:
            yield f"at {place:#x}"
            yield from self._content(offset, view, segment)
            return
        if finding.kind == PROGRAM:
            lines = self._program(view, segment)
            kind = "shader" if lines is not None else "data"
        else:
            lines = None
            kind = "commands" if finding.kind == COMMANDS else "data"
        yield f"{kind} {label.name} at {place:#x} {{"
        for line in self._content(offset, view, segment) if lines is None else lines:
            yield f"{INDENT}{line}"
        yield "}"

    def _content(self, offset: int, view: memoryview, segment: Segment) -> Iterator[str]:
        words = array("I")
        words.frombytes(view[segment.start : segment.end])
        if segment.finding.kind == COMMANDS:
            yield from self._commands(offset, segment.start // 4, words)
        elif segment.finding.domain and self._shower is not None:
            domain = segment.finding.domain
            yield from self._shower.show_structures(domain, len(words), words)
        else:
            yield from hex_rows(words)

    def _program(self, view: memoryview, segment: Segment) -> list[str] | None:
        """The lines of a whole program, None where it has to be shown as data."""
        size = segment.end - segment.start
        if self._programs is None or size != segment.finding.dwords * 4 or size % 8:
            return None
        code = bytes(view[segment.start : segment.end])
        lines = self._programs.show(code)
        return lines if self._programs.gives(lines, code) else None

    def _commands(self, offset: int, first: int, words: Sequence[int]) -> Iterator[str]:
        shower = self._shower
        assert shower is not None
        index, count = 0, len(words)
        loose: list[int] = []  # dwords that are no packet
        while index < count:
            size = shower.size(words, index)
            lines = None
            if index + size <= count:
                place = offset, first + index
                lines = shower.show(words[index : index + size], self._set.inner.get(place))
            if lines is None:
                loose.extend(words[index : index + size])
                index += size
                continue
            if loose:
                yield from hex_rows(loose)
                loose.clear()
            draws = self._set.draws.get((offset, first + index))
            if draws is not None:
                lines = [f"{lines[0]}  // {_drawn(draws)}", *lines[1:]]
            yield from lines
            index += size
        yield from hex_rows(loose)


def _data(view: memoryview, address: int) -> Iterator[str]:
    first = True
    for line in show_data(view, address):
        if first and not line.startswith("at "):
            yield f"at {address:#x}"
        first = False
        yield line


def _drawn(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN_DRAWS]))
    more = f" and {len(numbers) - _SHOWN_DRAWS} more" if len(numbers) > _SHOWN_DRAWS else ""
    return f"draw {shown}{more}" if len(numbers) == 1 else f"draws {shown}{more}"
