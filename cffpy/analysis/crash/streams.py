# SPDX-License-Identifier: MIT
"""Streams that the CP may be in: the ring, IBs as they are called; packets and calls in them.

The SQE reads a stream dword by dword. A *spot* is the first dword of a stream that it has not
read. The packet that it executes holds the spot, or ends there: it has read all of that one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cffpy.pm4.reader import Payload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.crash.context import Call, CrashContext
    from cffpy.capture.memory import MemoryLocation

#: Dwords of a packet that are shown.
_SHOWN_DWORDS = 16

#: The name of the level outside of all IBs.
RING = "ring"

#: The fetcher is ahead of the SQE by at most this many IBs.
AHEAD = 3


@dataclass(slots=True, frozen=True)
class StandingPacket:
    """A packet: its address, name, and dwords with the header; the first of its values."""

    gpuaddr: int
    name: str
    ndwords: int
    values: tuple[int, ...]
    header: int = 0


@dataclass(slots=True)
class Level:
    """A stream that the CP is in: "ring", "IB1", "IB2" or "group".

    ``ndwords``: its size, ``left``: what is not executed of it, in dwords; None where unknown.
    ``caller``: address of the packet that calls it, in the level outside; None in the ring.
    ``packet``: the one that the CP executes, or that calls the next level. ``reached``: the last
    one of which a dword is read, also where an unknown inner level may be executed.
    ``buffer_end``: address after the buffer that it lies in; None where it is in no buffer.
    """

    name: str
    gpuaddr: int
    ndwords: int | None
    left: int | None
    caller: int | None = None
    packet: StandingPacket | None = None
    buffer_end: int | None = None
    captured: bool = False
    reached: StandingPacket | None = None

    @property
    def position(self) -> int | None:
        """The address up to which it is executed."""
        if self.ndwords is None or self.left is None or self.left > self.ndwords:
            return None
        if self.name == RING:  # it wraps
            return None if self.packet is None else self.packet.gpuaddr
        return self.gpuaddr + 4 * (self.ndwords - self.left)


@dataclass(slots=True, frozen=True, eq=False)
class Stream:
    """Commands as they are called. ``name``: "ring", "IB1" or "IB2".

    ``place``: where they lie; None where the dump does not have them. ``caller``: address of the
    packet that calls them, in the stream outside, None in the ring. ``ring_index``: of the ring's
    call, for an IB1. ``before``: the IB1 that the ring calls directly before this one.
    ``ring``: address, first dword and dwords of the ring whose copy it is.
    """

    context: CrashContext
    name: str
    gpuaddr: int
    ndwords: int
    place: MemoryLocation | None
    caller: int | None = None
    ring_index: int | None = None
    before: Stream | None = None
    ring: tuple[int, int, int] | None = None

    def address(self, dword: int) -> int:
        """The address of one of its dwords."""
        if self.ring is None:
            return self.gpuaddr + 4 * dword
        base, oldest, ndwords = self.ring
        return base + 4 * ((oldest + dword) % max(ndwords, 1))

    def packet_at(self, dword: int) -> StandingPacket | None:
        """The packet that a dword belongs to."""
        return next((one for one in self._packets(dword, dword + 1)), None)

    def packet_before(self, dword: int) -> StandingPacket | None:
        """The packet that ends before a dword."""
        found = self.packet_at(dword - 1) if dword else None
        ends = found is not None and self.address(dword - found.ndwords) == found.gpuaddr
        return found if ends else None

    def _packets(self, first: int, end: int) -> Iterator[StandingPacket]:
        """The packets with a dword from ``first`` up to ``end``."""
        if self.place is None:
            return
        words, begin = self.place
        for index, kind, number, size in self.context.packets(words, begin, begin + self.ndwords):
            start = index - begin
            if start >= end:
                return
            if start + size > first:
                payload = Payload(words, index + 1, min(size - 1, _SHOWN_DWORDS))
                name = self.context.packet_name(kind, number)
                values = tuple(payload.dwords())
                yield StandingPacket(self.address(start), name, size, values, words.data[index])

    def level(
        self, left: int | None, packet: StandingPacket | None, reached: StandingPacket | None
    ) -> Level:
        """The level of the CP in it; ``left``: dwords that are not executed."""
        found = Level(self.name, self.gpuaddr, self.ndwords, left, self.caller, packet)
        found.captured, found.reached = self.place is not None, reached
        return found

    def calls(self) -> list[Call]:
        """The IBs that its packets call."""
        if self.place is None:
            return []
        words, begin = self.place
        return list(self.context.calls(words, begin, begin + self.ndwords))


@dataclass(slots=True, frozen=True)
class InnerCall:
    """A call of an IB2: the IB1 that it stands in, and the packet."""

    outer: Stream
    call: Call

    def stream(self) -> Stream:
        """The IB2."""
        call = self.call
        place = self.outer.context.place(call.gpuaddr)
        caller = self.outer.address(call.index)
        return Stream(self.outer.context, "IB2", call.gpuaddr, call.ndwords, place, caller)


def calls_before(stream: Stream, dword: int) -> list[InnerCall]:
    """The IB2s that are called one directly after the other, the last one directly before a dword.

    As many as the fetcher runs through, which goes on into the next IB1.
    """
    found: list[InnerCall] = []
    outer: Stream | None = stream
    calls = stream.calls()
    while outer is not None and len(found) <= AHEAD:
        call = next((one for one in calls if one.end == dword), None)
        if call is not None:
            found.insert(0, InnerCall(outer, call))
            dword = call.index
        elif dword or outer.before is None:
            break
        if not dword:
            outer = outer.before
            calls, dword = ([], 0) if outer is None else (outer.calls(), outer.ndwords)
    return found


def calls_after(stream: Stream, dword: int) -> list[InnerCall]:
    """The IB2s that are called one directly after the other, the first one at a dword."""
    found: list[InnerCall] = []
    for call in stream.calls():
        if call.index == dword and len(found) < AHEAD:
            found.append(InnerCall(stream, call))
            dword = call.end
    return found


def walk_back(sizes: list[int], last: int, left: int) -> list[tuple[int, int]]:
    """The IBs that the SQE may be in, and what is left of each, where the fetcher is in ``last``.

    ``sizes``: dwords of IBs that are called one directly after the other. ``left`` counts from the
    fetcher's place in its IB back over those before it. Where it ends between two IBs, the SQE
    has read all of the one, and none of the other: the one is first, since an IB is fetched ahead
    only while the SQE is in one before it.
    """
    for number in range(last, max(last - AHEAD, 0) - 1, -1):
        if left < sizes[number]:
            return [(number, left)]
        if left == sizes[number]:
            before = [(number - 1, 0)] if number > max(last - AHEAD, 0) else []
            return [*before, (number, left)]
        left -= sizes[number]
    return []
