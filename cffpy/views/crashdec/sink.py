# SPDX-License-Identifier: MIT
"""CrashdecSink: the commands of a crash dump as cffdump shows them, with the crash marked.

crashdec: the parts of cffdec.c that only crashdec uses (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.cp.packets.mode import BEGIN, END, MESSAGE
from cffpy.pm4.reader import Fields, Payload
from cffpy.views.cffdump.details import cp_nop
from cffpy.views.cffdump.hexdump import hex_rows
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.text import CffdumpSink
from cffpy.views.crashdec.hexdump import marked_rows
from cffpy.views.crashdec.position import CrashPosition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import Words
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.output import Output
    from cffpy.views.cffdump.registers import RegisterTable
    from cffpy.views.cffdump.view import View
    from cffpy.views.crashdec.options import CrashdecOptions

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
        """The GPU's registers."""
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
