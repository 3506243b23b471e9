# SPDX-License-Identifier: MIT
"""Payload: the dwords of a packet, as the machine hands them to handlers and sinks.

A payload is a view of the buffer that the packet lies in: dwords are copied only
when they are read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import Words
    from cffpy.row_readers import DwordReader


class Payload:
    """A packet's dwords (with or without its header): ``count`` from ``index`` of ``words``.

    The buffer may end before the packet does. Dwords after the packet can be read too, because the
    reference's handlers read them.
    """

    __slots__ = ("count", "index", "words")

    def __init__(self, words: Words, index: int, count: int) -> None:
        self.words = words
        self.index = index
        self.count = count

    def __getitem__(self, position: int) -> int:
        """The dword at ``position``, 0 after the end of the buffer."""
        return self.words.get(self.index + position)

    @property
    def captured(self) -> int:
        """How many of the ``count`` dwords the buffer holds."""
        return max(0, min(self.count, self.words.count - self.index))

    def read(self, reader: DwordReader, position: int = 0) -> tuple[int, ...]:
        """The values of ``reader`` at ``position``; dwords after the buffer's end are 0."""
        start = self.index + position
        if start + reader.dwords <= self.words.count:
            return reader.read(self.words.data, start)
        return reader.read([self.words.get(start + place) for place in range(reader.dwords)])

    def dwords(self) -> list[int]:
        """The dwords of the packet that were captured, copied."""
        return self.words.data[self.index : self.index + self.captured].tolist()

    def rest(self, skip: int) -> Payload:
        """The packet without its first ``skip`` dwords."""
        return Payload(self.words, self.index + skip, self.count - skip)
