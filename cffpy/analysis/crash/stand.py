# SPDX-License-Identifier: MIT
"""The position of the CP: the ring, IB1, IB2 and draw-state group that it is in, and the packet.

The registers hold the base of each IB and the dwords of it that are not executed; its size is in
the packet that calls it. The fetcher can be ahead of the CP by up to three IBs. Then the dwords
that are left exceed the IB that the registers name, and the CP is in one that was called before it.

Where the ring no longer holds the call of IB1, its size is taken from an older call, from an IB
that is chained to it, or from its commands: they end where what is left behind the call of the
active IB2 ends, or with the last packet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cffpy.cp.payload import Payload

if TYPE_CHECKING:
    from cffpy.analysis.crash.context import Call, CrashContext
    from cffpy.capture.memory import Words

#: The fetcher is ahead of the CP by at most this many IBs.
_AHEAD = 3

#: Dwords of a packet that are shown.
_SHOWN_DWORDS = 16


@dataclass(slots=True, frozen=True)
class StandingPacket:
    """A packet: its address, name, and dwords with the header; the first of its values."""

    gpuaddr: int
    name: str
    ndwords: int
    values: tuple[int, ...]


@dataclass(slots=True)
class Level:
    """A stream that the CP is in: "IB1", "IB2" or "group".

    ``ndwords``: its size, ``left``: what is not executed of it, in dwords; None where unknown.
    ``caller``: address of the packet that calls it, in the level outside; None in the ring.
    ``packet``: the one that the CP executes, or that calls the next level.
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

    @property
    def position(self) -> int | None:
        """The address up to which it is executed."""
        if self.ndwords is None or self.left is None or self.left > self.ndwords:
            return None
        return self.gpuaddr + 4 * (self.ndwords - self.left)


@dataclass(slots=True)
class Stand:
    """``levels``: outermost first, without the ring. ``unknown``: why inner levels are missing.

    ``method``: "registers", "look-ahead", "inferred", or "" where the position is unknown.
    ``ring_index``: of the call of IB1 in ``CrashContext.ring_commands``, in dwords.
    """

    levels: list[Level] = field(default_factory=list)
    method: str = ""
    ring_index: int | None = None
    #: How the size of IB1 is known where the ring's pending commands do not call it.
    inferred: str = ""
    unknown: list[str] = field(default_factory=list)

    @property
    def packet(self) -> StandingPacket | None:
        """The innermost packet that is known."""
        return next((one.packet for one in reversed(self.levels) if one.packet), None)


def find_stand(context: CrashContext) -> Stand:
    """The position of the CP, as far as the dump shows it."""
    stand = Stand()
    if context.machine is None:
        stand.unknown.append("the GPU is not known")
        return stand
    base = context.address("CP_IB1_BASE")
    if not base:
        reason = "is 0: no IB was called" if base == 0 else "is not in the dump"
        stand.unknown.append(f"CP_IB1_BASE {reason}")
        return stand
    stand.method = "registers"
    _first_level(context, stand, base, _left(context, 1))
    inner = context.address("CP_IB2_BASE")
    if inner and stand.levels[0].captured:
        _second_level(context, stand, inner, _left(context, 2))
    _group(context, stand)
    for level in stand.levels:
        buffer = context.dump.buffer_at(level.gpuaddr)
        level.buffer_end = None if buffer is None else buffer.end
    return stand


def _left(context: CrashContext, number: int) -> int:
    """Dwords of an IB that are not executed: not fetched, or fetched and waiting in the ROQ."""
    left = context.register(f"CP_IB{number}_REM_SIZE", f"CP_IB{number}_BUFSZ") or 0
    waiting = (context.register(f"CP_ROQ_AVAIL_IB{number}") or 0) >> 16
    return left + max(0, waiting - 1) & 0xFFFFFFFF


def _walk_back(calls: list[Call], last: int, left: int) -> tuple[Call, int] | None:
    """The call that the CP is in, and what is left of it, where the fetcher is at call ``last``.

    What is left counts from the fetcher's place in its last IB back over IBs that are called one
    directly after the other.
    """
    for position in range(last, max(last - _AHEAD, 0) - 1, -1):
        call = calls[position]
        if position < last and call.end != calls[position + 1].index:
            return None
        if call.ndwords > left:
            return call, left
        left -= call.ndwords
    return None


def _first_level(context: CrashContext, stand: Stand, base: int, left: int) -> None:
    calls = context.pending_calls()
    named = [number for number, one in enumerate(calls) if one.gpuaddr == base]
    call = calls[named[-1]] if named else None
    if call is not None and left > call.ndwords:
        found = _walk_back(calls, named[-1], left)
        if found is not None:
            (call, left), stand.method = found, "look-ahead"
    ndwords = None
    if call is not None:
        stand.ring_index = call.index
        base, ndwords = call.gpuaddr, call.ndwords
    else:
        text = f"the ring's commands do not call IB1 {base:#x}"
        found_size = _inferred_size(context, base, left)
        if found_size is None:
            stand.unknown.append(f"{text}: its size is unknown")
        else:
            ndwords, how = found_size
            stand.method, stand.inferred = "inferred", f"{text}: {how}"
    level = Level("IB1", base, ndwords, left)
    stand.levels.append(level)
    _set_packet(context, stand, level)


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
    inner = context.address("CP_IB2_BASE")
    if inner and _left(context, 2):
        calls = [one for one in context.calls(words, index, index + extent) if one.gpuaddr == inner]
        sizes = [one.end + left for one in calls if one.end + left <= extent]
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


def _second_level(context: CrashContext, stand: Stand, base: int, left: int) -> None:
    """IB2, if IB1 stands behind a call of it: registers keep the base of one that has returned."""
    outer = stand.levels[0]
    place = context.place(outer.gpuaddr)
    if place is None or outer.ndwords is None:
        return
    words, index = place
    position = outer.position
    calls = list(context.calls(words, index, index + outer.ndwords))
    if stand.method == "look-ahead" or position is None:
        # then the position in IB1 is not known: take its first call of the IB2
        last = next((number for number, one in enumerate(calls) if one.gpuaddr == base), None)
    else:
        at = (position - outer.gpuaddr) // 4
        last = next((number for number, one in enumerate(calls) if one.end == at), None)
        last = None if last is None or calls[last].gpuaddr != base else last
    if last is None:
        return
    call = calls[last]
    if left >= call.ndwords and (found := _walk_back(calls, last, left)) is not None:
        (call, left), stand.method = found, "look-ahead"
    caller = outer.gpuaddr + 4 * call.index
    values = tuple(words.data[index + call.index + 1 : index + call.end])
    size = call.end - call.index
    stand.unknown.clear()  # that IB1 was executed to its end
    outer.packet = StandingPacket(caller, "CP_INDIRECT_BUFFER", size, values)
    level = Level("IB2", call.gpuaddr, call.ndwords, left, caller)
    stand.levels.append(level)
    _set_packet(context, stand, level)


def _group(context: CrashContext, stand: Stand) -> None:
    """A draw-state group, if commands of one are left (a6xx and later)."""
    base, left = context.address("CP_SDS_BASE"), context.register("CP_SDS_REM_SIZE")
    if not base or not left or context.place(base) is None:
        return
    level = Level("group", base, None, left)
    level.captured = True
    stand.levels.append(level)


def _set_packet(context: CrashContext, stand: Stand, level: Level) -> None:
    """The packet that holds the position of a level."""
    place, position, ndwords = context.place(level.gpuaddr), level.position, level.ndwords
    level.captured = place is not None
    name = f"{level.name} {level.gpuaddr:#x}"
    if place is None:
        stand.unknown.append(f"the commands of {name} are not in the dump")
    elif ndwords is not None and position is None:
        stand.unknown.append(f"{name} has {ndwords} dwords, but {level.left} should be left")
    if place is None or position is None or ndwords is None:
        return
    if position == level.gpuaddr + 4 * ndwords:
        stand.unknown.append(f"{name} was executed to its end: what follows is not known")
        return
    words, first = place
    at = (position - level.gpuaddr) // 4
    for index, kind, number, size in context.packets(words, first, first + ndwords):
        start = index - first
        if start > at:
            return
        if start <= at < start + size:
            payload = Payload(words, index + 1, min(size - 1, _SHOWN_DWORDS))
            packet = context.packet_name(kind, number)
            gpuaddr = level.gpuaddr + 4 * start
            level.packet = StandingPacket(gpuaddr, packet, size, tuple(payload.dwords()))
            return
