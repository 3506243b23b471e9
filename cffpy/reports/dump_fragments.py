# SPDX-License-Identifier: MIT
"""Fragments of the dump in a report: the packets that wrote registers, and those around them.

A row is a packet. Rows are in the order of memory; ``follows`` tells whether a row is the packet
after that of the row before, so that the page can show what is around a packet.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from cffpy.reports.words import HexColumn, Interned

if TYPE_CHECKING:
    from cffpy.api.capture import Capture
    from cffpy.capture.memory import Words
    from cffpy.frame.places import PacketLocation
    from cffpy.reports.words import Cuts

#: Packets before and after a packet that wrote a register.
_AROUND = 3

#: Packets that are read before pages of a mapped capture are released.
_READ = 1 << 12

#: Packets of a report, and characters of their distinct texts, at most.
_MAX_PACKETS, _MAX_CHARACTERS = 400_000, 24_000_000


class DumpFragments:
    """Collects packets; ``to_dict`` makes their texts."""

    def __init__(self, capture: Capture, cuts: Cuts) -> None:
        self._capture = capture
        self._cuts = cuts
        self._text = capture.packet_text()
        #: Words by id, in the order in which they came, each with the number of a submit.
        self._words: dict[int, tuple[Words, int]] = {}
        #: Id of the words -> indices of the packets in them that are rows.
        self._indices: dict[int, set[int]] = {}
        self._starts: dict[tuple[int, int, int], array[int]] = {}
        #: Id of the words -> the first of their rows, and the packets in them that are rows.
        self._rows: dict[int, tuple[int, array[int]]] = {}
        self._count = 0
        self._read = 0

    def add(self, place: PacketLocation) -> bool:
        """Take a packet and those around it; False where there are too many."""
        if self._count >= _MAX_PACKETS:
            self._cuts.note(f"dumps of packets, but for {_MAX_PACKETS:,}")
            return False
        self._release_pages()
        words, index = place.words, place.index
        key = id(words)
        if key not in self._words:
            self._words[key] = words, place.submit.submit
            self._indices[key] = set()
        indices = self._indices[key]
        before = len(indices)
        indices.add(index)
        starts = self._packets_of(place)
        at = bisect_left(starts, index)
        if at < len(starts) and starts[at] == index:
            indices.update(starts[max(0, at - _AROUND) : at + _AROUND + 1])
        self._count += len(indices) - before
        return True

    def _packets_of(self, place: PacketLocation) -> array[int]:
        """The packets of the stream that a packet is in."""
        stream = place.stream
        while stream.kind == "block" and stream.caller is not None:
            stream = stream.caller.stream
        words = place.words
        first = (stream.gpuaddr - words.address) // 4
        key = id(words), first, stream.ndwords
        found = self._starts.get(key)
        if found is None:
            known = 0 <= first <= place.index
            starts = self._text.starts(words, first, stream.ndwords) if known else []
            found = self._starts[key] = array("I", starts)
        return found

    def _release_pages(self) -> None:
        """Have few pages in memory; to be called for each packet."""
        self._read += 1
        if self._read % _READ == 0:
            self._capture.content.release_pages()

    def row(self, words: Words, index: int) -> int:
        """The row of a packet that was taken. Valid after ``to_dict``."""
        first, indices = self._rows[id(words)]
        return first + bisect_left(indices, index)

    def to_dict(self) -> dict[str, Any]:
        """The columns."""
        texts: Interned[str] = Interned()
        left = _MAX_CHARACTERS
        lines, rows, follows = array("i"), array("i"), array("b")
        addresses: list[int] = []
        offsets: list[int] = []
        for key, (words, submit) in self._words.items():
            self._text.use_memory(self._capture.submits[submit].memory.image)
            end = -1
            indices = array("I", sorted(self._indices.pop(key)))
            self._rows[key] = len(lines), indices
            for index in indices:
                self._release_pages()
                packet = self._text.of(words, index)
                if left < 0:
                    self._cuts.note("texts of many packets")
                    packet = packet._replace(lines="", rows="")
                known = len(texts)
                lines.append(texts.add(packet.lines))
                rows.append(texts.add(packet.rows))
                left -= len(packet.lines) + len(packet.rows) if len(texts) > known else 0
                addresses.append(words.address + 4 * index)
                offsets.append(words.file_offset + 4 * index)
                follows.append(int(index == end))
                end = index + packet.size
        return {
            "digits": self._text.digits,
            "texts": texts.values,
            "lines": lines,
            "rows": rows,
            "gpuaddr": HexColumn(addresses),
            "file_offset": HexColumn(offsets),
            "follows": follows,
        }
