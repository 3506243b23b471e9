# SPDX-License-Identifier: MIT
"""The places where the CP may be, by the registers of the ring, IB1 and IB2.

Several are possible where a stream is read to its end, or another begins. What the registers do
not allow, but would allow if one of them were wrong, is a place that is not sure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cffpy.analysis.crash.streams import (
    AHEAD,
    RING,
    InnerCall,
    Level,
    StandingPacket,
    Stream,
    calls_after,
    calls_before,
    walk_back,
)

if TYPE_CHECKING:
    from cffpy.analysis.crash.context import CrashContext

_ALL_BITS, _LOW_BITS = 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF


def fetches_ahead(context: CrashContext) -> bool:
    """Whether IBs are fetched ahead, and the dump tells what waits in the ROQ (from a6xx on)."""
    return bool(context.register_offset("CP_ROQ_AVAIL_IB1"))


@dataclass(slots=True)
class Place:
    """A place where the CP may be: the levels, and the packet there; None where it is not known.

    ``is_sure``: the registers say so; else only the SQE's packet can tell that it is there.
    ``ring_index``, ``ring_end``: as in ``Stand``.
    """

    levels: list[Level]
    packet: StandingPacket | None
    method: str = ""
    is_sure: bool = True
    ring_index: int | None = None
    ring_end: int | None = None

    def is_at(self, header: int | None) -> bool:
        """Whether its packet has this header."""
        return self.packet is not None and self.packet.header == header

    def __str__(self) -> str:
        path = " > ".join(f"{one.name} {one.gpuaddr:#x}" for one in self.levels)
        if self.packet is None:
            return f"the end of {path}"
        return f"{self.packet.name} at {self.packet.gpuaddr:#x} in {path}"


@dataclass(slots=True, frozen=True)
class Base:
    """What the registers say of a level of IBs.

    ``mask``: the bits of the base that are in the dump. ``left``: dwords that are not executed,
    None where it is not known.
    """

    gpuaddr: int
    mask: int
    left: int | None

    @classmethod
    def read(cls, context: CrashContext, number: int) -> Base:
        """Of IB1 or IB2. One half of a base may be missing: it could not be read."""
        offset = context.register_offset(f"CP_IB{number}_BASE")
        machine = context.machine
        low = context.dump.value(offset) if offset else None
        high: int | None = 0
        if offset and machine is not None and machine.is_64bit:
            high = context.dump.value(offset + 1)
        mask = 0 if low is None else _LOW_BITS
        if high is not None and (mask or high):
            mask |= _LOW_BITS << 32
        left = context.register(f"CP_IB{number}_REM_SIZE", f"CP_IB{number}_BUFSZ")
        waiting = (context.register(f"CP_ROQ_AVAIL_IB{number}") or 0) >> 16
        if left is not None:  # not fetched, or fetched and waiting in the ROQ
            left = left + max(0, waiting - 1) & _LOW_BITS
        return cls((low or 0) | (high or 0) << 32, mask, left)

    @property
    def is_none(self) -> bool:
        """The dump has all of the base, and it is 0."""
        return not self.gpuaddr and self.mask == _ALL_BITS

    def names(self, gpuaddr: int) -> bool:
        """Whether an IB at the address may be the one."""
        return not (self.gpuaddr ^ gpuaddr) & self.mask


@dataclass(slots=True)
class Places:
    """Finds places. ``unknown``: why there is none that is sure."""

    context: CrashContext
    outer: Base
    inner: Base
    unknown: list[str] = field(default_factory=list)

    def in_first(self, stream: Stream, left: int | None, is_fetched: bool) -> list[Place]:
        """In an IB1, and in the IB2s that it calls.

        ``is_fetched``: the fetcher is in it, too, so that the CP can be back in the ring.
        """
        name = f"IB1 {stream.gpuaddr:#x}"
        if stream.place is None:
            self.unknown.append(f"the commands of {name} are not in the dump")
        if left is None:
            self.unknown.append(f"what is left of {name} is not in the dump")
        elif left > stream.ndwords:
            text = f"{name} has {stream.ndwords} dwords, but {left} should be left"
            self.unknown.append(text)
        if left is None or left > stream.ndwords or stream.place is None:
            return [Place([stream.level(left, None, None)], None, "", False, stream.ring_index)]
        spot = stream.ndwords - left
        # it is the one that the register names, or one before it
        method = "registers" if self.outer.names(stream.gpuaddr) else "look-ahead"
        if self.inner.left and not self.inner.is_none:
            return self._in_second(stream, spot, method)
        places = [*self._at_end_of_second(stream, spot, method)]
        places += self._at(stream, spot, method)
        return places if left or not is_fetched else self._behind(stream, places)

    # -- IB2 --------------------------------------------------------------------------------

    def _in_second(self, stream: Stream, spot: int, method: str) -> list[Place]:
        """In IB2s, of which something is left; the packets of IB1 are none of them."""
        places = self._behind_calls(stream, spot, method)
        if places:
            return places
        inner = self.inner
        name = f"IB2 {inner.gpuaddr:#x}" if inner.mask == _ALL_BITS else "an IB2"
        text = f"the CP is in {name}, of which {inner.left} dwords are left: "
        text += f"IB1 {stream.gpuaddr:#x} does not stand behind a call of it"
        self.unknown.append(text)
        calls = [one for one in stream.calls() if one.end < spot and inner.names(one.gpuaddr)]
        for end in [one.end for one in reversed(calls[-AHEAD:])]:
            places = self._behind_calls(stream, end, method)
            if places:
                break
        for place in places:
            place.is_sure = False
        reached = stream.packet_at(spot) or stream.packet_before(spot)
        level = stream.level(stream.ndwords - spot, None, reached)
        return [*places, Place([level], None, "", False, stream.ring_index)]

    def _behind_calls(self, stream: Stream, dword: int, method: str) -> list[Place]:
        """In the IB2s that are called directly before a dword of an IB1."""
        before, after = calls_before(stream, dword), calls_after(stream, dword)
        run = [*before, *after]
        sizes = [one.call.ndwords for one in run]
        places: dict[tuple[int, int], Place] = {}
        # the last IB that is called is the one that is fetched, if it may be
        for last in (*reversed(range(len(before))), *range(len(before), len(run))):
            if not self.inner.names(run[last].call.gpuaddr):
                continue
            for number, left in walk_back(sizes, last, self.inner.left or 0):
                if number < len(before):
                    how = "look-ahead" if number != last else method
                    place = _in_called(run[number], left, how)
                    places.setdefault((place.levels[-1].gpuaddr, left), place)
        return list(places.values())

    def _at_end_of_second(self, stream: Stream, spot: int, method: str) -> list[Place]:
        """In an IB2 of which nothing is left, and that IB1 stands behind the call of."""
        calls = calls_before(stream, spot)
        if not calls or self.inner.is_none:
            return []
        gpuaddr = calls[-1].call.gpuaddr
        is_named = self.inner.names(gpuaddr)
        if self.inner.left is None:  # the CP may be anywhere in the IB2
            text = f"what is left of IB2 {gpuaddr:#x}, which IB1 stands behind, is not in the dump"
            self.unknown.append(text)
        elif not is_named:
            text = f"IB1 {stream.gpuaddr:#x} stands behind a call of {gpuaddr:#x}, but CP_IB2_BASE"
            self.unknown.append(f"{text} is {self.inner.gpuaddr:#x}")
        if not is_named:
            return []
        place = _in_called(calls[-1], 0, method)
        place.is_sure = self.inner.left is not None
        return [place]

    # -- IB1 and the ring -------------------------------------------------------------------

    def _at(self, stream: Stream, spot: int, method: str) -> list[Place]:
        """In IB1 itself: at the packet that holds the spot, or the one that ends there."""
        is_sure, left = not self.unknown, stream.ndwords - spot
        places = []
        for packet, is_allowed in _packets_at(stream, spot):
            level = stream.level(left, packet, packet)
            sure = is_sure and is_allowed
            places.append(Place([level], packet, method, sure, stream.ring_index))
        return places

    def _behind(self, stream: Stream, places: list[Place]) -> list[Place]:
        """All of an IB1 is read: the CP is at its end, or in the ring behind its call."""
        calls = self.context.pending_calls()
        call = next((one for one in calls if one.index == stream.ring_index), None)
        in_ring = self.in_ring()
        if in_ring and call is not None and in_ring[0].ring_end == call.end:
            return [*places, *in_ring]
        if in_ring:
            return in_ring
        text = f"IB1 {stream.gpuaddr:#x} was executed to its end: what follows is not known"
        self.unknown.append(text)
        for place in places:
            place.is_sure = False
        return places

    def in_ring(self) -> list[Place]:
        """In the ring, by its read pointer: where the SQE reads, on a6xx behind the ROQ."""
        found = self._ring_spot()
        if found is None:
            return []
        stream, spot = found
        places = []
        for packet, is_allowed in _packets_at(stream, spot):
            level = stream.level(stream.ndwords - spot, packet, packet)
            places.append(Place([level], packet, "registers", is_allowed, ring_end=spot))
        return places

    def _ring_spot(self) -> tuple[Stream, int] | None:
        context = self.context
        rptr = context.register("CP_RB_RPTR")
        ring, commands, gpu = context.ring, context.ring_commands(), context.gpu
        if rptr is None or ring is None or commands is None or gpu is None:
            return None
        ndwords, count = ring.size // 4, commands.words.count
        if not fetches_ahead(context) or not ndwords:
            return None
        if gpu.facts.ring_pointer_is_of_roq:
            waiting = (context.register("CP_ROQ_AVAIL_RB") or 0) >> 16
            if waiting > ndwords:
                return None
            rptr -= waiting
        spot = (rptr - commands.oldest) % ndwords
        if spot > count:
            return None
        place, wrap = (commands.words, 0), (ring.iova, commands.oldest, ndwords)
        return Stream(context, RING, ring.iova, count, place, ring=wrap), spot


def _in_called(one: InnerCall, left: int, method: str) -> Place:
    """In an IB2."""
    inner, outer = one.stream(), one.outer
    caller = outer.packet_at(one.call.index)
    level = outer.level(outer.ndwords - one.call.end, caller, caller)
    spot = inner.ndwords - left
    packet = inner.packet_at(spot) if left else inner.packet_before(spot)
    innermost = inner.level(left, packet, packet)
    return Place([level, innermost], packet, method, ring_index=outer.ring_index)


def _packets_at(stream: Stream, spot: int) -> list[tuple[StandingPacket, bool]]:
    """The packet that holds a spot, and the one that ends there if it calls no IB.

    With whether the registers say that it is executed: the other one is if the SQE says so.
    """
    at = stream.packet_at(spot) if spot < stream.ndwords else None
    before = None if spot in {one.end for one in stream.calls()} else stream.packet_before(spot)
    found = [] if at is None else [(at, True)]
    return found if before is None else [*found, (before, at is None)]
