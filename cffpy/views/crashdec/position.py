# SPDX-License-Identifier: MIT
"""Where the CP stood when the GPU crashed: by IB1/IB2 base and size left, after a look-ahead.

crashdec: dump_cmdstream, crashdec-prefetch.c; cffdec.c: highlight_gpuaddr (mesa 25.0.7),
highlight_addr (mesa 25.3). The fetcher can be up to three IBs ahead of the CP; then the size left
is more than the size of the IB that the registers name, and the CP is in an IB before it.
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.editions.record import edition_record
from cffpy.pm4.reader import OPCODE, Fields, Payload, is_type4_or_type7, next_packet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import MemoryLocation, Words
    from cffpy.cp.machine import Machine

#: Levels of IBs for which a position is kept: the ring, IB1, IB2, and one more.
_LEVELS = 4

#: IBs that are remembered by the look-ahead.
_HISTORY = 4

_INDIRECT_BUFFER = Fields("CP_INDIRECT_BUFFER", "IB_BASE", "IB_SIZE")


class Level:
    """One level of IBs: what the registers say of it, and what runs at it now.

    ``wanted`` and ``left``: the IB that the CP is in, and the dwords of it that are not executed.
    ``base`` and ``size``: the last IB that was entered at this level; ``size`` in dwords.
    ``place``: where that IB lies; None in no buffer. ``is_found``: the look-ahead found the CP's
    IB. ``is_passed``: the position at this level was met, but the crash is one level below;
    ``is_marked``: it was marked.
    """

    __slots__ = ("base", "is_found", "is_marked", "is_passed", "left", "place", "size", "wanted")

    def __init__(self) -> None:
        self.wanted = self.left = 0
        self.is_found = False
        self.start_stream()

    def start_stream(self) -> None:
        """A ring is about to be decoded: nothing has run yet."""
        self.base = self.size = 0
        self.place: MemoryLocation | None = None
        self.is_passed = self.is_marked = False

    @property
    def executed(self) -> int:
        """Dwords of the IB that are executed, in 32 bits: many where more are left than it has."""
        return self.size - self.left & 0xFFFFFFFF


class CrashPosition:
    """Tells for dwords of decoded commands whether the CP stood there."""

    def __init__(self) -> None:
        self.levels = [Level() for _ in range(_LEVELS)]
        #: What crashdec of the edition does.
        self.rules = edition_record(None).crashdec
        #: A copy of the ring's commands, whose address is not known.
        self.ring_copy: Words | None = None

    def start_stream(self) -> None:
        """The positions at all levels are as at a stream's begin."""
        for level in self.levels:
            level.start_stream()

    def enter_ring(self, words: Words, ndwords: int, left: int) -> None:
        """A copy of the ring's commands begins to run; the CP has not executed ``left`` dwords."""
        self.ring_copy = words
        level = self.levels[0]
        level.place, level.size, level.left = (words, 0), ndwords, left

    def enter(
        self, level: int, gpuaddr: int, ndwords: int, place: MemoryLocation | None = None
    ) -> None:
        """An IB begins to run at a level."""
        if level < _LEVELS:
            entered = self.levels[level]
            entered.base, entered.size, entered.place = gpuaddr, ndwords, place

    def test(self, number: int, words: Words, index: int, count: int = 0) -> tuple[bool, bool]:
        """Whether the crash is at a dword, at a level: to be marked now, to be highlighted.

        ``count``: it is in the last one of so many dwords from ``index`` on.
        """
        if number >= _LEVELS:
            return False, False
        level = self.levels[number]
        if level.is_passed or not self._is_looked_for(number):
            return False, False
        if level.is_marked:
            return False, True
        holds = _holds_place if self.rules.marks_places else self._holds_address
        if not holds(level, words, index, count):
            return False, False
        if number < 2 and self.levels[number + 1].is_found:
            level.is_passed = True
            return False, False
        level.is_marked = True
        return True, True

    def _is_looked_for(self, number: int) -> bool:
        """Whether the CP can be in what runs at a level: the level outside has been met."""
        level = self.levels[number]
        if not number and self.rules.marks_places:
            return level.place is not None
        above = self.levels[number - 1] if number else None
        if above is not None and above.wanted and not (above.is_marked or above.is_passed):
            return False
        return bool(level.wanted) and (level.is_marked or level.wanted == level.base)

    def _holds_address(self, level: Level, words: Words, index: int, count: int) -> bool:
        """cffdec.c: highlight_gpuaddr (mesa 25.0.7): by addresses of bytes; a copy begins at 0."""
        start = 0 if words is self.ring_copy else words.address + 4 * index
        first = level.base + (4 * level.executed & 0xFFFFFFFF)
        return first <= start + max(4 * count - 1, 0) <= level.base + 4 * level.size

    # -- the look-ahead ---------------------------------------------------------------------

    def look_ahead(self, machine: Machine, words: Words, index: int, ndwords: int) -> None:
        """Find the IBs that the CP is in, given the ring's dwords that are about to run."""
        if self.rules.skips_finished_ib1 and not self.levels[1].left:
            return
        outer: list[tuple[int, int]] = []
        found = self._scan(machine, words, index, ndwords, 1, outer)
        if found is None or not self.levels[2].left:
            return
        inner: list[tuple[int, int]] = []
        for one in outer:
            place = machine.image.place(one[0])
            if place is None:
                return
            if self._scan(machine, *place, one[1], 2, inner) is not None:
                self.levels[1].wanted, self.levels[1].left = outer[0]
                return
            if one is found:
                return

    def _scan(
        self,
        machine: Machine,
        words: Words,
        index: int,
        ndwords: int,
        number: int,
        history: list[tuple[int, int]],
    ) -> tuple[int, int] | None:
        """The IB of a level that the CP is in, if these commands call it; None if not.

        ``history``: the last IBs that were called one directly after the other.
        """
        level = self.levels[number]
        end = min(index + max(0, signed32(ndwords & 0xFFFFFFFF)), words.count)
        reader = machine.packets[_INDIRECT_BUFFER]
        while index < end:
            kind, opcode, size = machine.headers[words.data[index]]
            if kind == OPCODE and machine.packet_names[opcode] == "CP_INDIRECT_BUFFER":
                gpuaddr, dwords = Payload(words, index + 1, size - 1).read(reader)
                history.append((gpuaddr, dwords))
                del history[:-_HISTORY]
                if gpuaddr == level.wanted:
                    return _walk_back(level, history)
            else:
                history.clear()
                if not is_type4_or_type7(words.data[index]):
                    size = next_packet(words.data, index, end) - index
            index += size
        return None


def _holds_place(level: Level, words: Words, index: int, count: int) -> bool:
    """cffdec.c: highlight_addr (mesa 25.3): by places in one buffer, in dwords."""
    if level.place is None or level.place[0] is not words:
        return False
    base = level.place[1]
    return base + level.executed <= index + max(count - 1, 0) <= base + level.size


def _walk_back(level: Level, history: list[tuple[int, int]]) -> tuple[int, int] | None:
    left = level.left
    for one in reversed(history):
        gpuaddr, ndwords = one
        if ndwords > left:
            level.is_found = True
            level.wanted, level.left = gpuaddr, left
            return one
        left = left - ndwords & 0xFFFFFFFF
    return None
