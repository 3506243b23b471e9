# SPDX-License-Identifier: MIT
"""CrashdecSink: the commands of a crash dump as cffdump shows them, with the crash marked.

crashdec: the parts of cffdec.c that only crashdec uses (mesa 25.0.7).

``CrashPosition`` is where the CP stood when the GPU crashed: by IB1/IB2 base and size left, after a
look-ahead. crashdec: dump_cmdstream, crashdec-prefetch.c; cffdec.c: highlight_gpuaddr (mesa
25.0.7), highlight_addr (mesa 25.3). The fetcher can be up to three IBs ahead of the CP; then the
size left is more than the size of the IB that the registers name, and the CP is in an IB before it.
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.cp.packets.mode import BEGIN, END, MESSAGE
from cffpy.editions.record import edition_record
from cffpy.pm4.reader import OPCODE, Fields, Payload, is_type4_or_type7, next_packet
from cffpy.views.cffdump.details import cp_nop
from cffpy.views.cffdump.hexdump import hex_rows
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.text import CffdumpSink
from cffpy.views.crashdec.hexdump import marked_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import MemoryLocation, Words
    from cffpy.cp.machine import Machine
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.output import Output
    from cffpy.views.cffdump.registers import RegisterTable
    from cffpy.views.cffdump.view import View
    from cffpy.views.crashdec.options import CrashdecOptions

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
        crash = self._scan(machine, words, index, ndwords, 1, outer)
        if crash is None or not self.levels[2].left:
            return
        inner: list[tuple[int, int]] = []
        for level in outer:
            place = machine.image.place(level[0])
            if place is None:
                return
            if self._scan(machine, *place, level[1], 2, inner) is not None:
                self.levels[1].wanted, self.levels[1].left = outer[0]
                return
            if level is crash:
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
    for stream in reversed(history):
        gpuaddr, ndwords = stream
        if ndwords > left:
            level.is_found = True
            level.wanted, level.left = gpuaddr, left
            return stream
        left = left - ndwords & 0xFFFFFFFF
    return None


_START_BIN = Fields("CP_START_BIN", "PREFIX_ADDR", "PREFIX_DWORDS")
_DRAW_TABLE = Fields("CP_FIXED_STRIDE_DRAW_TABLE", "IB_BASE", "STRIDE")
#: Packets that run blocks of commands -> how many, and where they begin.
_BLOCKS = {
    "CP_START_BIN": Fields("CP_START_BIN", "BIN_COUNT", "PREFIX_ADDR"),
    "CP_FIXED_STRIDE_DRAW_TABLE": Fields("CP_FIXED_STRIDE_DRAW_TABLE", "COUNT", "IB_BASE"),
}

#: Dwords from a packet's payload to the address that is tested before its blocks run.
_BLOCKS_BEGIN = 5

_MARK = "ESTIMATED CRASH LOCATION!\n"


class CrashdecSink(CffdumpSink):
    """Prints streams as cffdump does, and the mark where the CP stood."""

    #: The mark belongs to one execution of a stream.
    uses_segments = False
    # crashdec: disasm_a3xx_set_debug without STATS: no statistics (mesa 25.0.7)
    shows_statistics = False

    def __init__(
        self,
        options: CrashdecOptions,
        output: Output,
        complain: Callable[[str], None],
        register_db: str | None = None,
    ) -> None:
        """As ``CffdumpSink``."""
        shown = DumpOptions(summary=options.summary, allregs=options.allregs, color=options.color)
        super().__init__(shown, output, complain, register_db)
        self._markers = options.markers
        self.position = CrashPosition()
        #: The dword of the ring at which the commands that run begin, and the ring's size.
        self.ring_start = self.ring_dwords = 0
        self._packet: Payload | None = None
        #: Level of IBs -> the packet whose blocks run there: CP_START_BIN and the like.
        self._tables: dict[int, Payload] = {}

    def bind(self, gpu: Gpu, database: Database) -> None:
        super().bind(gpu, database)
        self.position.rules = self.edition.crashdec
        if self._markers:
            names = self.machine.packet_labels
            self._details = [
                _nop if name == "CP_NOP" else detail
                for name, detail in zip(names, self._details, strict=True)
            ]

    @property
    def registers(self) -> RegisterTable:
        """The table of registers of the current GPU."""
        return self._registers

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._packet = payload
        super().packet(opcode, payload, level)
        blocks = _BLOCKS.get(self.machine.packet_names[opcode] or "")
        if blocks is not None:
            count, gpuaddr = payload.read(self.machine.packets[blocks])
            # crashdec: cp_start_bin tests the position before its loop, which may have no rounds
            # (mesa 25.0.7)
            if not count and self.machine.image.find(gpuaddr) is not None:
                self._test(payload, _BLOCKS_BEGIN)

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        wanted = super().indirect_buffer(gpuaddr, ndwords, level)
        packet, place = self._packet, self.machine.image.place(gpuaddr)
        if packet is not None and place is not None:
            # the IB does not return if the GPU hangs in it
            self._test(packet, 3 if self.is_64bit else 2)
            self.position.enter(self.machine.state.ib_level + 1, gpuaddr, ndwords, place)
        return wanted

    def numbered_stream(self, name: str, number: int, level: int) -> None:
        inner = self.machine.state.ib_level
        if not number and self._packet is not None:
            packet = self._tables[inner] = self._packet
            self._test(packet, _BLOCKS_BEGIN, inner - 1)
        packet = self._tables[inner]
        fields = _START_BIN if name == "bin" else _DRAW_TABLE
        gpuaddr, ndwords = packet.read(self.machine.packets[fields])
        place = self.machine.image.place(gpuaddr + 4 * number * ndwords)
        # crashdec: cp_start_bin adds the blocks' dwords to an address in bytes (mesa 25.0.7)
        self.position.enter(inner, gpuaddr + number * ndwords, ndwords, place)
        super().numbered_stream(name, number, level)

    def group_stream(self, words: Words, index: int, ndwords: int, level: int) -> None:
        self.hex(words, index, ndwords, level)

    # -- the mark ---------------------------------------------------------------------------

    def _test(self, packet: Payload, dword: int, level: int | None = None) -> None:
        """Print the mark if the CP stood at a dword, counted from the begin of a payload."""
        number = self.machine.state.ib_level if level is None else level
        is_new, _ = self.position.test(number, packet.words, packet.index + dword)
        if is_new:
            self.put(_MARK)

    def rows(self, words: Words, index: int, count: int, level: int, is_64bit: bool) -> str:
        """Rows of hex, with the mark in front where the CP stood."""
        number = self.machine.state.ib_level
        is_new, is_marked = self.position.test(number, words, index, count)
        mark = _MARK if is_new else ""
        highlights = is_marked and self.options.color
        is_copy = words is self.position.ring_copy
        if not highlights and not is_copy:
            return mark + hex_rows(words, index, count, level, is_64bit)
        digits = 16 if is_64bit else 8
        return mark + marked_rows(
            words, index, count, LEVELS[level], digits, not is_copy, highlights
        )


def _nop(view: View, payload: Payload, level: int) -> None:
    """CP_NOP with -m: what is not a debug marker is a string."""
    if view.quiet3 or payload[0] in (MESSAGE, BEGIN, END):
        cp_nop(view, payload, level)
        return
    text = payload.words.bytes(payload.index, payload.count).split(b"\0", 1)[0]
    shown = bytes([byte for byte in text if byte < 0x80]).decode("ascii")
    view.put(shown + "\n")
