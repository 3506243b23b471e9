# SPDX-License-Identifier: MIT
"""Where the CP stood when the GPU crashed: by IB1/IB2 base and size left, after a look-ahead.

crashdec: dump_cmdstream, crashdec-prefetch.c; cffdec.c: highlight_gpuaddr (mesa 25.0.7). The
fetcher can be up to three IBs ahead of the CP; then the size left is more than the size of the IB
that the registers name, and the CP is in an IB before it.
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.cp.payload import Payload
from cffpy.pm4.fields import Fields
from cffpy.pm4.reader import OPCODE, is_type4_or_type7, next_packet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import Words
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
    ``is_found``: the look-ahead found the CP's IB. ``is_passed``: the position at this level was
    met, but the crash is one level below; ``is_marked``: it was marked.
    """

    __slots__ = ("base", "is_found", "is_marked", "is_passed", "left", "size", "wanted")

    def __init__(self) -> None:
        self.wanted = self.left = 0
        self.is_found = False
        self.start_stream()

    def start_stream(self) -> None:
        """A ring is about to be decoded: nothing has run yet."""
        self.base = self.size = 0
        self.is_passed = self.is_marked = False


class CrashPosition:
    """Tells for addresses of decoded commands whether the CP stood there."""

    def __init__(self) -> None:
        self.levels = [Level() for _ in range(_LEVELS)]

    def start_stream(self) -> None:
        """The positions at all levels are as at a stream's begin."""
        for level in self.levels:
            level.start_stream()

    def enter(self, level: int, gpuaddr: int, ndwords: int) -> None:
        """An IB begins to run at a level."""
        if level < _LEVELS:
            self.levels[level].base = gpuaddr
            self.levels[level].size = ndwords

    def test(self, number: int, gpuaddr: int) -> tuple[bool, bool]:
        """Whether the crash is at an address, at a level: to be marked now, to be highlighted."""
        if number >= _LEVELS:
            return False, False
        level = self.levels[number]
        if not level.wanted or level.is_passed:
            return False, False
        above = self.levels[number - 1] if number else None
        if above is not None and above.wanted and not (above.is_marked or above.is_passed):
            return False, False
        if level.is_marked:
            return False, True
        if level.wanted != level.base:
            return False, False
        end = level.base + 4 * level.size
        if not end - 4 * level.left <= gpuaddr <= end:
            return False, False
        if number < 2 and self.levels[number + 1].is_found:
            level.is_passed = True
            return False, False
        level.is_marked = True
        return True, True

    # -- the look-ahead ---------------------------------------------------------------------

    def look_ahead(self, machine: Machine, words: Words, index: int, ndwords: int) -> None:
        """Find the IBs that the CP is in, given the ring's dwords that are about to run."""
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
