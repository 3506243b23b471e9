# SPDX-License-Identifier: MIT
"""The position of the CP in the ring, IB1, IB2 and group; the capture of what came before it.

The registers hold the base of each IB and the dwords of it that are not executed; its size is in
the packet that calls it. The fetcher can be ahead of the SQE by up to three IBs. Then the dwords
that are left exceed the IB that the registers name, and the SQE is in one that was called before
it. While something is left of an IB2, the SQE is in an IB2, and IB1 stands behind its call.

Where the registers allow several places, the packet that the SQE executes (CP_SQE_STAT) decides.
A position that it contradicts is not a position.

Where the ring no longer holds the call of IB1, its size is taken from an older call, from an IB
that is chained to it, or from its commands: they end where what is left behind the call of the
active IB2 ends, or with the last packet.

Several places are possible where a stream is read to its end, or another begins. What the registers
do not allow, but would allow if one of them were wrong, is a place that is not sure.

The SQE reads a stream dword by dword. A *spot* is the first dword of a stream that it has not
read. The packet that it executes holds the spot, or ends there: it has read all of that one.

The capture has the dump's buffers and rings as memory, and IBs of the ring as streams. ``opened``
is what commands see of a dump: the IBs that the ring has called since the last retired fence, up to
the IB that the CP is in. This IB ends after the current packet of IB1; an IB2 or group that this
packet calls is complete. In ``extracted`` all IBs are complete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.crash.context import CrashContext, read_dump
from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.container.rd import CHIP_ID, COMMAND_STREAM_ADDRESS, GPU_ADDRESS, GPU_ID, SECTION_HEADER
from cffpy.container.section_types import SectionType
from cffpy.cp.session import is_compositor
from cffpy.frame.facts import Address, fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.pm4.reader import Payload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.crash.context import RingCall
    from cffpy.capture.memory import MemoryLocation, Words

#: Dwords of a packet that are shown.
_SHOWN_DWORDS = 16

#: What a level is.
LevelName = Literal["ring", "IB1", "IB2", "group"]

#: How the position is known: by the registers, by following calls back from the fetcher, which is
#: ahead, or by a size of IB1 that is inferred. "": it is not known.
Method = Literal["registers", "look-ahead", "inferred", ""]

#: The name of the level outside of all IBs.
RING: LevelName = "ring"

#: The fetcher is ahead of the SQE by at most this many IBs.
AHEAD = 3


@model("crash_packet", frozen=True)
class CpPacket(ModelObject):
    """A packet that the CP executes, or has come to."""

    gpuaddr: Address = stored("GPU address of its header")
    name: str = stored("its name")
    dwords: int = stored("its length, with the header", "dwords")
    values: tuple[Address, ...] = stored("the first dwords behind the header")
    header: Address = stored("its header", default=0)


@model("crash_level")
class CpLevel(ModelObject):
    """A stream that the CP is in: the ring, an IB, a draw-state group."""

    name: LevelName = stored("what it is")
    gpuaddr: Address = stored("GPU address of its first dword")
    dwords: int | None = stored("its length; None where that is unknown", "dwords")
    left: int | None = stored("what is not executed of it; None where that is unknown", "dwords")
    caller: Address | None = stored(
        "GPU address of the packet that calls it, in the level outside; None in the ring",
        default=None,
    )
    packet: CpPacket | None = stored(
        "the packet that the CP executes, or that calls the next level", default=None
    )
    buffer_end: Address | None = stored(
        "GPU address after the buffer that it lies in; None where it is in no buffer", default=None
    )
    captured: bool = stored("the dump has its commands", default=False)
    #: The last packet of which a dword is read, also where an unknown inner level may be executed.
    reached: CpPacket | None = None

    @fact()
    def position(self) -> Address | None:
        """GPU address up to which it is executed."""
        if self.dwords is None or self.left is None or self.left > self.dwords:
            return None
        if self.name == RING:  # it wraps
            return None if self.packet is None else self.packet.gpuaddr
        return self.gpuaddr + 4 * (self.dwords - self.left)


@dataclass(slots=True, frozen=True, eq=False)
class Stream:
    """Commands as they are called. ``name``: "ring", "IB1" or "IB2".

    ``place``: where they lie; None where the dump does not have them. ``caller``: address of the
    packet that calls them, in the stream outside, None in the ring. ``ring_index``: of the ring's
    call, for an IB1. ``before``: the IB1 that the ring calls directly before this one.
    ``ring``: address, first dword and dwords of the ring whose copy it is.
    """

    context: CrashContext
    name: LevelName
    gpuaddr: int
    dwords: int
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

    def packet_at(self, dword: int) -> CpPacket | None:
        """The packet that a dword belongs to."""
        return next((packet for packet in self._packets(dword, dword + 1)), None)

    def packet_before(self, dword: int) -> CpPacket | None:
        """The packet that ends before a dword."""
        packet = self.packet_at(dword - 1) if dword else None
        ends = packet is not None and self.address(dword - packet.dwords) == packet.gpuaddr
        return packet if ends else None

    def _packets(self, first: int, end: int) -> Iterator[CpPacket]:
        """The packets with a dword from ``first`` up to ``end``."""
        if self.place is None:
            return
        words, begin = self.place
        for index, kind, number, size in self.context.packets(words, begin, begin + self.dwords):
            start = index - begin
            if start >= end:
                return
            if start + size > first:
                payload = Payload(words, index + 1, min(size - 1, _SHOWN_DWORDS))
                name = self.context.packet_name(kind, number)
                values = tuple(payload.dwords())
                yield CpPacket(self.address(start), name, size, values, words.data[index])

    def level(self, left: int | None, packet: CpPacket | None, reached: CpPacket | None) -> CpLevel:
        """The level of the CP in it; ``left``: dwords that are not executed."""
        level = CpLevel(self.name, self.gpuaddr, self.dwords, left, self.caller, packet)
        level.captured, level.reached = self.place is not None, reached
        return level

    def calls(self) -> list[RingCall]:
        """The IBs that its packets call."""
        if self.place is None:
            return []
        words, begin = self.place
        return list(self.context.calls(words, begin, begin + self.dwords))


@dataclass(slots=True, frozen=True)
class InnerCall:
    """A call of an IB2: the IB1 that it stands in, and the packet."""

    outer: Stream
    call: RingCall

    def stream(self) -> Stream:
        """The commands of the IB2 that is called."""
        call = self.call
        place = self.outer.context.place(call.gpuaddr)
        caller = self.outer.address(call.index)
        return Stream(self.outer.context, "IB2", call.gpuaddr, call.dwords, place, caller)


def calls_before(stream: Stream, dword: int) -> list[InnerCall]:
    """The IB2s that are called one directly after the other, the last one directly before a dword.

    As many as the fetcher runs through, which goes on into the next IB1.
    """
    before: list[InnerCall] = []
    outer: Stream | None = stream
    calls = stream.calls()
    while outer is not None and len(before) <= AHEAD:
        call = next((inner for inner in calls if inner.end == dword), None)
        if call is not None:
            before.insert(0, InnerCall(outer, call))
            dword = call.index
        elif dword or outer.before is None:
            break
        if not dword:
            outer = outer.before
            calls, dword = ([], 0) if outer is None else (outer.calls(), outer.dwords)
    return before


def calls_after(stream: Stream, dword: int) -> list[InnerCall]:
    """The IB2s that are called one directly after the other, the first one at a dword."""
    after: list[InnerCall] = []
    for call in stream.calls():
        if call.index == dword and len(after) < AHEAD:
            after.append(InnerCall(stream, call))
            dword = call.end
    return after


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


_ALL_BITS, _LOW_BITS = 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF


def fetches_ahead(context: CrashContext) -> bool:
    """Whether IBs are fetched ahead, and the dump tells what waits in the ROQ (from a6xx on)."""
    return bool(context.register_offset("CP_ROQ_AVAIL_IB1"))


@dataclass(slots=True)
class Place:
    """A place where the CP may be: the levels, and the packet there; None where it is not known.

    ``is_sure``: the registers say so; else only the SQE's packet can tell that it is there.
    ``ring_index``, ``ring_end``: as in ``CpPosition``.
    """

    levels: list[CpLevel]
    packet: CpPacket | None
    method: Method = ""
    is_sure: bool = True
    ring_index: int | None = None
    ring_end: int | None = None

    def is_at(self, header: int | None) -> bool:
        """Whether its packet has this header."""
        return self.packet is not None and self.packet.header == header

    def __str__(self) -> str:
        path = " > ".join(f"{level.name} {level.gpuaddr:#x}" for level in self.levels)
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
        elif left > stream.dwords:
            text = f"{name} has {stream.dwords} dwords, but {left} should be left"
            self.unknown.append(text)
        if left is None or left > stream.dwords or stream.place is None:
            return [Place([stream.level(left, None, None)], None, "", False, stream.ring_index)]
        spot = stream.dwords - left
        # it is the one that the register names, or one before it
        method: Method = "registers" if self.outer.names(stream.gpuaddr) else "look-ahead"
        if self.inner.left and not self.inner.is_none:
            return self._in_second(stream, spot, method)
        places = [*self._at_end_of_second(stream, spot, method)]
        places += self._at(stream, spot, method)
        return places if left or not is_fetched else self._behind(stream, places)

    # -- IB2 --------------------------------------------------------------------------------

    def _in_second(self, stream: Stream, spot: int, method: Method) -> list[Place]:
        """In IB2s, of which something is left; the packets of IB1 are none of them."""
        places = self._behind_calls(stream, spot, method)
        if places:
            return places
        inner = self.inner
        name = f"IB2 {inner.gpuaddr:#x}" if inner.mask == _ALL_BITS else "an IB2"
        text = f"the CP is in {name}, of which {inner.left} dwords are left: "
        text += f"IB1 {stream.gpuaddr:#x} does not stand behind a call of it"
        self.unknown.append(text)
        calls = [call for call in stream.calls() if call.end < spot and inner.names(call.gpuaddr)]
        for end in [call.end for call in reversed(calls[-AHEAD:])]:
            places = self._behind_calls(stream, end, method)
            if places:
                break
        for place in places:
            place.is_sure = False
        reached = stream.packet_at(spot) or stream.packet_before(spot)
        level = stream.level(stream.dwords - spot, None, reached)
        return [*places, Place([level], None, "", False, stream.ring_index)]

    def _behind_calls(self, stream: Stream, dword: int, method: Method) -> list[Place]:
        """In the IB2s that are called directly before a dword of an IB1."""
        before, after = calls_before(stream, dword), calls_after(stream, dword)
        run = [*before, *after]
        sizes = [inner.call.dwords for inner in run]
        places: dict[tuple[int, int], Place] = {}
        # the last IB that is called is the one that is fetched, if it may be
        for last in (*reversed(range(len(before))), *range(len(before), len(run))):
            if not self.inner.names(run[last].call.gpuaddr):
                continue
            for number, left in walk_back(sizes, last, self.inner.left or 0):
                if number < len(before):
                    how: Method = "look-ahead" if number != last else method
                    place = _in_called(run[number], left, how)
                    places.setdefault((place.levels[-1].gpuaddr, left), place)
        return list(places.values())

    def _at_end_of_second(self, stream: Stream, spot: int, method: Method) -> list[Place]:
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

    def _at(self, stream: Stream, spot: int, method: Method) -> list[Place]:
        """In IB1 itself: at the packet that holds the spot, or the one that ends there."""
        is_sure, left = not self.unknown, stream.dwords - spot
        places = []
        for packet, is_allowed in _packets_at(stream, spot):
            level = stream.level(left, packet, packet)
            sure = is_sure and is_allowed
            places.append(Place([level], packet, method, sure, stream.ring_index))
        return places

    def _behind(self, stream: Stream, places: list[Place]) -> list[Place]:
        """All of an IB1 is read: the CP is at its end, or in the ring behind its call."""
        calls = self.context.pending_calls()
        call = next((inner for inner in calls if inner.index == stream.ring_index), None)
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
            level = stream.level(stream.dwords - spot, packet, packet)
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


def _in_called(called: InnerCall, left: int, method: Method) -> Place:
    """The place of the SQE in an IB2, with ``left`` dwords not executed."""
    inner, outer = called.stream(), called.outer
    caller = outer.packet_at(called.call.index)
    level = outer.level(outer.dwords - called.call.end, caller, caller)
    spot = inner.dwords - left
    packet = inner.packet_at(spot) if left else inner.packet_before(spot)
    innermost = inner.level(left, packet, packet)
    return Place([level, innermost], packet, method, ring_index=outer.ring_index)


def _packets_at(stream: Stream, spot: int) -> list[tuple[CpPacket, bool]]:
    """The packet that holds a spot, and the one that ends there if it calls no IB.

    With whether the registers say that it is executed: the other one is if the SQE says so.
    """
    at = stream.packet_at(spot) if spot < stream.dwords else None
    before = None if spot in {call.end for call in stream.calls()} else stream.packet_before(spot)
    packets = [] if at is None else [(at, True)]
    return packets if before is None else [*packets, (before, at is None)]


@dataclass(slots=True)
class CpPosition:
    """``levels``: outermost first; the ring only where the CP is in none of its IBs.

    ``unknown``: why inner levels are missing, or the position is. ``method``: "registers",
    "look-ahead", "inferred", or "" where the position is unknown.
    ``ring_index``: of the call of IB1 in ``CrashContext.ring_commands``, in dwords; ``ring_end``:
    the dword up to which the ring is executed, where the CP is in it.
    ``is_sure``: the registers allow one place, or the SQE's packet is at the one that is taken.
    """

    levels: list[CpLevel] = field(default_factory=list)
    method: Method = ""
    ring_index: int | None = None
    ring_end: int | None = None
    #: How the size of IB1 is known where the ring's pending commands do not call it.
    inferred: str = ""
    unknown: list[str] = field(default_factory=list)
    #: Further facts about the position: what decided, and which other place is possible.
    notes: list[str] = field(default_factory=list)
    is_sure: bool = True

    def take(self, place: Place, is_exact: bool) -> None:
        """The CP is at a place. ``is_exact``: the SQE's packet is there, so it is sure."""
        self.levels = place.levels
        self.ring_index, self.ring_end = place.ring_index, place.ring_end
        self.method = self.method or place.method
        self.is_sure = place.is_sure or is_exact
        if self.is_sure:
            self.unknown.clear()

    @property
    def ibs(self) -> list[CpLevel]:
        """The levels without the ring."""
        return [level for level in self.levels if level.name != RING]

    @property
    def packet(self) -> CpPacket | None:
        """The packet that the CP executes; None where it is not known."""
        inner = [level for level in self.levels if level.name != "group"]
        return inner[-1].packet if inner and self.is_sure else None


def find_position(context: CrashContext) -> CpPosition:
    """The position of the CP, as far as the dump shows it."""
    cp = CpPosition()
    if context.machine is None:
        cp.unknown.append("the GPU is not known")
        return cp
    finder = Places(context, Base.read(context, 1), Base.read(context, 2), cp.unknown)
    base = finder.outer
    if not base.mask:
        cp.unknown.append("CP_IB1_BASE is not in the dump")
        return cp
    places: list[Place] = []
    if base.is_none:
        places = finder.in_ring()
        if not places:
            cp.unknown.append("CP_IB1_BASE is 0: no IB was called")
    else:
        streams = _first_streams(context, cp, base)
        for stream, left in streams:
            places += finder.in_first(stream, left, stream is streams[-1][0])
    _choose(context, cp, places)
    _group(context, cp)
    for level in cp.levels:
        buffer = context.dump.buffer_at(level.gpuaddr)
        level.buffer_end = None if buffer is None else buffer.end
    return cp


# -- IB1 --------------------------------------------------------------------------------------


def _first_streams(
    context: CrashContext, cp: CpPosition, base: Base
) -> list[tuple[Stream, int | None]]:
    """The IB1s that the CP may be in, and what is left of each; [] where their size is unknown."""
    calls = context.pending_calls()
    streams: list[Stream] = []
    for number, call in enumerate(calls):
        is_next = number and calls[number - 1].end == call.index
        streams.append(_ring_stream(context, call, streams[-1] if is_next else None))
    named = [number for number, stream in enumerate(calls) if base.names(stream.gpuaddr)]
    if not named:
        return _inferred_stream(context, cp, base)
    run = [streams[named[-1]]]
    while (before := run[0].before) is not None:
        run.insert(0, before)
    left, last = base.left, run[-1]
    if left is None or left < last.dwords or not fetches_ahead(context):
        return [(last, left)]
    first = walk_back([stream.dwords for stream in run], len(run) - 1, left)
    return [(run[number], rest) for number, rest in first] or [(last, left)]


def _ring_stream(context: CrashContext, call: RingCall, before: Stream | None) -> Stream:
    place = context.place(call.gpuaddr)
    return Stream(
        context, "IB1", call.gpuaddr, call.dwords, place, ring_index=call.index, before=before
    )


def _inferred_stream(
    context: CrashContext, cp: CpPosition, base: Base
) -> list[tuple[Stream, int | None]]:
    """An IB1 that no pending command of the ring calls."""
    gpuaddr, left = base.gpuaddr, base.left
    text = f"the ring's commands do not call IB1 {gpuaddr:#x}"
    size = None if left is None else _inferred_size(context, gpuaddr, left)
    if size is None:
        cp.unknown.append(f"{text}: its size is unknown")
        captured = context.place(gpuaddr) is not None
        cp.levels.append(CpLevel("IB1", gpuaddr, None, left, captured=captured))
        if not captured:
            cp.unknown.append(f"the commands of IB1 {gpuaddr:#x} are not in the dump")
        return []
    ndwords, how = size
    cp.method, cp.inferred = "inferred", f"{text}: {how}"
    return [(Stream(context, "IB1", gpuaddr, ndwords, context.place(gpuaddr)), left)]


def _inferred_size(context: CrashContext, base: int, left: int) -> tuple[int, str] | None:
    """Dwords of an IB1 that no pending command of the ring calls, and how they are known."""
    for call in reversed(context.ring_calls()):
        if call.gpuaddr == base and left <= call.dwords:
            return call.dwords, "the size is that of a call whose fence is retired"
    return _chained_size(context, base, left) or _size_by_commands(context, base, left)


def _chained_size(context: CrashContext, base: int, left: int) -> tuple[int, str] | None:
    """From an IB1 that the ring calls and that is chained to it."""
    for outer in context.pending_calls():
        place = context.place(outer.gpuaddr)
        if place is None:
            continue
        words, index = place
        for call in context.calls(words, index, index + outer.dwords, chained=True):
            if call.gpuaddr == base and left <= call.dwords:
                return call.dwords, f"IB1 {outer.gpuaddr:#x} is chained to it"
    return None


def _size_by_commands(context: CrashContext, base: int, left: int) -> tuple[int, str] | None:
    """From its call of the active IB2, else from its last packet."""
    place = context.place(base)
    if place is None:
        return None
    words, index = place
    extent = _extent(context, words, index)
    inner = Base.read(context, 2)
    if inner.mask and inner.left:
        calls = context.calls(words, index, index + extent)
        ends = [call.end for call in calls if inner.names(call.gpuaddr)]
        sizes = [end + left for end in ends if end + left <= extent]
        if sizes:
            size = extent if extent in sizes else sizes[0]
            return size, "the size follows from its call of the IB2 that the CP is in"
    end = index + extent
    is_clear = end == words.count or not words.data[end]  # else a dword there is no packet
    if not 0 < left <= extent or not is_clear:
        return None
    return extent, "the size is inferred: its commands end there"


def _extent(context: CrashContext, words: Words, index: int) -> int:
    """Dwords of the packets that follow each other from ``index`` on."""
    end = index
    for start, _kind, _number, size in context.packets(words, index, words.count):
        if start != end or not words.data[start] or start + size > words.count:
            break
        end = start + size
    return end - index


# -- the choice -------------------------------------------------------------------------------


def _choose(context: CrashContext, cp: CpPosition, places: list[Place]) -> None:
    """Take the place where the SQE's packet is, else the first one that the registers allow."""
    if not places:
        return
    header = context.executed_header()
    allowed = [place for place in places if place.is_sure]
    exact = sorted(
        [place for place in places if place.is_at(header)], key=lambda place_: not place_.is_sure
    )
    # of places that are not sure, the last one says least: the IB1
    taken = [*exact, *allowed, *reversed(places)][0]
    cp.take(taken, bool(exact))
    if cp.is_sure:
        _note(cp, taken, bool(exact), [place_ for place_ in allowed if place_ is not taken])
    innermost = taken.levels[-1]
    if not innermost.captured and innermost.name == "IB2":
        cp.unknown.append(f"the commands of IB2 {innermost.gpuaddr:#x} are not in the dump")
    elif header is not None and not exact and not _in_group(context):
        _doubt(context, cp, taken, header)
    if not cp.is_sure:
        _forget(cp)


def _forget(cp: CpPosition) -> None:
    """No packet of any level is where the CP is."""
    for level in cp.levels:
        level.packet = None


def _note(cp: CpPosition, taken: Place, is_exact: bool, others: list[Place]) -> None:
    """Say why a place is taken where there are several."""
    if is_exact and (others or not taken.is_sure):
        cp.notes.append("of the places that the registers allow, the SQE's packet is there")
    elif others:
        cp.notes.append(f"the registers also allow {others[0]}")


def _doubt(context: CrashContext, cp: CpPosition, taken: Place, header: int) -> None:
    """The SQE executes another packet than the one at the place that the registers say."""
    name = context.packet_of_header(header)
    if taken.packet is not None and cp.is_sure:
        if taken.packet.name == name:
            return  # the commands were changed since, as those of a draw that is patched
        cp.unknown.append(f"the registers say {taken}, but the SQE executes {name}")
    cp.is_sure = False


def _in_group(context: CrashContext) -> bool:
    """Whether commands of a draw-state group are left (a6xx and later)."""
    base, left = context.address("CP_SDS_BASE"), context.register("CP_SDS_REM_SIZE")
    return bool(base and left) and context.place(base or 0) is not None


def _group(context: CrashContext, cp: CpPosition) -> None:
    """A draw-state group, where commands of one are left."""
    if cp.levels and _in_group(context):
        base = context.address("CP_SDS_BASE")
        left = context.register("CP_SDS_REM_SIZE")
        cp.levels.append(CpLevel("group", base or 0, None, left, captured=True))


#: Added to what ``Content.compression`` says of a dump.
KIND = "crash dump"

#: A section of a capture cannot have this size or more.
_MAX_SECTION = 1 << 31


def opened(content: Content) -> Content:
    """A crash dump as a capture of what the GPU was given up to the crash."""
    context = CrashContext(read_dump(content.data))
    return opened_with(content, context, find_position(context))[0]


def opened_with(
    content: Content, context: CrashContext, cp: CpPosition
) -> tuple[Content, list[tuple[int, int]]]:
    """As ``opened``, for a dump that was read before; also returns its streams: address, dwords."""
    streams = _streams(context, cp)
    data = b"".join(_sections(context, streams))
    packed = "" if content.compression == "none" else f"{content.compression}+"
    damage = _damage(content, context)
    limits = content.limits
    capture = Content(content.name, data, packed + KIND, content.file_size, damage, limits)
    capture.origin = tuple(context.dump.binary_sections)
    return capture, streams


def extracted(context: CrashContext) -> bytes:
    """A capture (.rd) of the dump's memory, with the IBs that the ring has called as submits."""
    streams = [(call.gpuaddr, call.dwords) for call in context.pending_calls()]
    return b"".join(_sections(context, streams))


def _streams(context: CrashContext, cp: CpPosition) -> list[tuple[int, int]]:
    """Address and dwords of each stream up to the crash."""
    streams = []
    for call in context.pending_calls():
        if cp.ring_end is not None and call.index >= cp.ring_end:
            break  # the ring does not come to it
        if call.index != cp.ring_index:
            streams.append((call.gpuaddr, call.dwords))
            continue
        streams.append((call.gpuaddr, min(_executed(cp.levels[0]), call.dwords)))
        break
    if cp.inferred:  # the ring does not call it
        streams.append((cp.levels[0].gpuaddr, _executed(cp.levels[0])))
    return streams


def _executed(outer: CpLevel) -> int:
    """Dwords of an IB1 up to the end of the packet that the CP has come to."""
    packet = outer.packet or outer.reached
    if packet is None:
        return outer.dwords or 0
    return (packet.gpuaddr - outer.gpuaddr) // 4 + packet.dwords


def _sections(context: CrashContext, streams: list[tuple[int, int]]) -> Iterator[bytes]:
    dump = context.dump
    name = dump.header.get("comm", ("", 0))[0]
    if name:
        # the streams of a compositor's RD_CMD are skipped by default
        kind = SectionType.TEST if is_compositor(name) else SectionType.CMD
        yield from _section(kind, name.encode("ascii", "replace") + b"\0")
    number = 0 if dump.revision is None else dump.revision[0]
    if number:
        yield from _section(SectionType.GPU_ID, GPU_ID.pack(number))
    if dump.chip_id:
        yield from _section(SectionType.CHIP_ID, CHIP_ID.pack(dump.chip_id))
    for address, size, contents in context.memory:
        named = GPU_ADDRESS.pack(address & 0xFFFFFFFF, size & 0xFFFFFFFF, address >> 32)
        yield from _section(SectionType.GPUADDR, named)
        yield from _section(SectionType.BUFFER_CONTENTS, contents[: _MAX_SECTION - 1])
    for address, ndwords in streams:
        stream = COMMAND_STREAM_ADDRESS.pack(address & 0xFFFFFFFF, ndwords, address >> 32)
        yield from _section(SectionType.CMDSTREAM_ADDR, stream)


def _section(kind: int, payload: bytes) -> tuple[bytes, bytes]:
    return SECTION_HEADER.pack(kind, len(payload)), payload


def _damage(content: Content, context: CrashContext) -> Damage | None:
    """What is wrong with the dump: with its compression, else the lines that were skipped."""
    if content.damage is not None:
        return Damage(None, content.damage.message, limit=content.damage.limit)
    dump = context.dump
    if not dump.skipped:
        return None
    more = f", and {dump.skipped - 1} more" if dump.skipped > 1 else ""
    return Damage(None, f"{dump.problems[0]}: skipped{more}")
