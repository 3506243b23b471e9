# SPDX-License-Identifier: MIT
"""The position of the CP: the ring, IB1, IB2 and draw-state group that it is in, and the packet.

The registers hold the base of each IB and the dwords of it that are not executed; its size is in
the packet that calls it. The fetcher can be ahead of the SQE by up to three IBs. Then the dwords
that are left exceed the IB that the registers name, and the SQE is in one that was called before
it. While something is left of an IB2, the SQE is in an IB2, and IB1 stands behind its call.

Where the registers allow several places, the packet that the SQE executes (CP_SQE_STAT) decides.
A position that it contradicts is not a position.

Where the ring no longer holds the call of IB1, its size is taken from an older call, from an IB
that is chained to it, or from its commands: they end where what is left behind the call of the
active IB2 ends, or with the last packet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cffpy.analysis.crash.places import Base, Place, Places, fetches_ahead
from cffpy.analysis.crash.streams import RING, Level, StandingPacket, Stream, walk_back

if TYPE_CHECKING:
    from cffpy.analysis.crash.context import Call, CrashContext
    from cffpy.capture.memory import Words


@dataclass(slots=True)
class Stand:
    """``levels``: outermost first; the ring only where the CP is in none of its IBs.

    ``unknown``: why inner levels are missing, or the position is. ``method``: "registers",
    "look-ahead", "inferred", or "" where the position is unknown.
    ``ring_index``: of the call of IB1 in ``CrashContext.ring_commands``, in dwords; ``ring_end``:
    the dword up to which the ring is executed, where the CP is in it.
    ``is_sure``: the registers allow one place, or the SQE's packet is at the one that is taken.
    """

    levels: list[Level] = field(default_factory=list)
    method: str = ""
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
    def ibs(self) -> list[Level]:
        """The levels without the ring."""
        return [one for one in self.levels if one.name != RING]

    @property
    def packet(self) -> StandingPacket | None:
        """The packet that the CP executes; None where it is not known."""
        inner = [one for one in self.levels if one.name != "group"]
        return inner[-1].packet if inner and self.is_sure else None


def find_stand(context: CrashContext) -> Stand:
    """The position of the CP, as far as the dump shows it."""
    stand = Stand()
    if context.machine is None:
        stand.unknown.append("the GPU is not known")
        return stand
    finder = Places(context, Base.read(context, 1), Base.read(context, 2), stand.unknown)
    base = finder.outer
    if not base.mask:
        stand.unknown.append("CP_IB1_BASE is not in the dump")
        return stand
    places: list[Place] = []
    if base.is_none:
        places = finder.in_ring()
        if not places:
            stand.unknown.append("CP_IB1_BASE is 0: no IB was called")
    else:
        streams = _first_streams(context, stand, base)
        for stream, left in streams:
            places += finder.in_first(stream, left, stream is streams[-1][0])
    _choose(context, stand, places)
    _group(context, stand)
    for level in stand.levels:
        buffer = context.dump.buffer_at(level.gpuaddr)
        level.buffer_end = None if buffer is None else buffer.end
    return stand


# -- IB1 --------------------------------------------------------------------------------------


def _first_streams(
    context: CrashContext, stand: Stand, base: Base
) -> list[tuple[Stream, int | None]]:
    """The IB1s that the CP may be in, and what is left of each; [] where their size is unknown."""
    calls = context.pending_calls()
    streams: list[Stream] = []
    for number, call in enumerate(calls):
        is_next = number and calls[number - 1].end == call.index
        streams.append(_ring_stream(context, call, streams[-1] if is_next else None))
    named = [number for number, one in enumerate(calls) if base.names(one.gpuaddr)]
    if not named:
        return _inferred_stream(context, stand, base)
    run = [streams[named[-1]]]
    while (before := run[0].before) is not None:
        run.insert(0, before)
    left, last = base.left, run[-1]
    if left is None or left < last.ndwords or not fetches_ahead(context):
        return [(last, left)]
    found = walk_back([one.ndwords for one in run], len(run) - 1, left)
    return [(run[number], rest) for number, rest in found] or [(last, left)]


def _ring_stream(context: CrashContext, call: Call, before: Stream | None) -> Stream:
    place = context.place(call.gpuaddr)
    return Stream(
        context, "IB1", call.gpuaddr, call.ndwords, place, ring_index=call.index, before=before
    )


def _inferred_stream(
    context: CrashContext, stand: Stand, base: Base
) -> list[tuple[Stream, int | None]]:
    """An IB1 that no pending command of the ring calls."""
    gpuaddr, left = base.gpuaddr, base.left
    text = f"the ring's commands do not call IB1 {gpuaddr:#x}"
    found = None if left is None else _inferred_size(context, gpuaddr, left)
    if found is None:
        stand.unknown.append(f"{text}: its size is unknown")
        captured = context.place(gpuaddr) is not None
        stand.levels.append(Level("IB1", gpuaddr, None, left, captured=captured))
        if not captured:
            stand.unknown.append(f"the commands of IB1 {gpuaddr:#x} are not in the dump")
        return []
    ndwords, how = found
    stand.method, stand.inferred = "inferred", f"{text}: {how}"
    return [(Stream(context, "IB1", gpuaddr, ndwords, context.place(gpuaddr)), left)]


def _inferred_size(context: CrashContext, base: int, left: int) -> tuple[int, str] | None:
    """Dwords of an IB1 that no pending command of the ring calls, and how they are known."""
    for call in reversed(context.ring_calls()):
        if call.gpuaddr == base and left <= call.ndwords:
            return call.ndwords, "the size is that of a call whose fence is retired"
    return _chained_size(context, base, left) or _size_by_commands(context, base, left)


def _chained_size(context: CrashContext, base: int, left: int) -> tuple[int, str] | None:
    """From an IB1 that the ring calls and that is chained to it."""
    for outer in context.pending_calls():
        place = context.place(outer.gpuaddr)
        if place is None:
            continue
        words, index = place
        for call in context.calls(words, index, index + outer.ndwords, chained=True):
            if call.gpuaddr == base and left <= call.ndwords:
                return call.ndwords, f"IB1 {outer.gpuaddr:#x} is chained to it"
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
        ends = [one.end for one in calls if inner.names(one.gpuaddr)]
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


def _choose(context: CrashContext, stand: Stand, places: list[Place]) -> None:
    """Take the place where the SQE's packet is, else the first one that the registers allow."""
    if not places:
        return
    header = context.executed_header()
    allowed = [one for one in places if one.is_sure]
    exact = sorted([one for one in places if one.is_at(header)], key=lambda one: not one.is_sure)
    # of places that are not sure, the last one says least: the IB1
    taken = [*exact, *allowed, *reversed(places)][0]
    stand.take(taken, bool(exact))
    if stand.is_sure:
        _note(stand, taken, bool(exact), [one for one in allowed if one is not taken])
    innermost = taken.levels[-1]
    if not innermost.captured and innermost.name == "IB2":
        stand.unknown.append(f"the commands of IB2 {innermost.gpuaddr:#x} are not in the dump")
    elif header is not None and not exact and not _in_group(context):
        _doubt(context, stand, taken, header)
    if not stand.is_sure:
        _forget(stand)


def _forget(stand: Stand) -> None:
    """No packet of any level is where the CP is."""
    for level in stand.levels:
        level.packet = None


def _note(stand: Stand, taken: Place, is_exact: bool, others: list[Place]) -> None:
    """Say why a place is taken where there are several."""
    if is_exact and (others or not taken.is_sure):
        stand.notes.append("of the places that the registers allow, the SQE's packet is there")
    elif others:
        stand.notes.append(f"the registers also allow {others[0]}")


def _doubt(context: CrashContext, stand: Stand, taken: Place, header: int) -> None:
    """The SQE executes another packet than the one at the place that the registers say."""
    name = context.packet_of_header(header)
    if taken.packet is not None and stand.is_sure:
        if taken.packet.name == name:
            return  # the commands were changed since, as those of a draw that is patched
        stand.unknown.append(f"the registers say {taken}, but the SQE executes {name}")
    stand.is_sure = False


def _in_group(context: CrashContext) -> bool:
    """Whether commands of a draw-state group are left (a6xx and later)."""
    base, left = context.address("CP_SDS_BASE"), context.register("CP_SDS_REM_SIZE")
    return bool(base and left) and context.place(base or 0) is not None


def _group(context: CrashContext, stand: Stand) -> None:
    """A draw-state group, where commands of one are left."""
    if stand.levels and _in_group(context):
        base = context.address("CP_SDS_BASE")
        left = context.register("CP_SDS_REM_SIZE")
        stand.levels.append(Level("group", base or 0, None, left, captured=True))
