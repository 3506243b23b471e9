# SPDX-License-Identifier: MIT
"""PacketText: single packets as the dump prints them, without a dump of the whole capture.

A packet's own text: its line, its fields, the registers that it writes, and its dwords. What it
leads to in the dump (commands that it calls, state that it loads, shaders that a register names, a
draw's registers) is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.cp.packets import TABLE
from cffpy.cp.session import Session
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.pm4.reader import BAD, IDLE, OPCODE, REGISTERS, Payload
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.output import Output
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.text import CffdumpSink

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import MemoryImage, Words
    from cffpy.cp.runner import Runner

#: Packets with an opcode that write registers.
_WRITE_REGISTERS = (
    "CP_SET_CONSTANT",
    "CP_REG_RMW",
    "CP_REG_WRITE",
    "CP_WIDE_REG_WRITE",
    "CP_CONTEXT_REG_BUNCH",
    "CP_CONTEXT_REG_BUNCH2",
)
_HANDLERS = {name: TABLE[name].handler for name in _WRITE_REGISTERS}

#: Dwords of a packet that are shown.
_MAX_DWORDS = 256


class _PacketSink(CffdumpSink):
    """A view that is asked for the text of packets; the only events are registers they write."""

    uses_segments = False

    def registers_text(
        self, machine: Runner, words: Words, index: int, register: int, count: int
    ) -> str:
        """The lines of a packet of type 0 or 4."""
        values = words.data[index + 1 : index + 1 + count].tolist()
        if not values:
            return ""
        run = self._writes.run(register, len(values))
        if run.is_whole:
            return self._writes.text(run, values, 1, False)
        written = self._put_by(lambda: machine.write_registers(register, values, 2))
        return self._writes.head(register, 1) + written

    def opcode_text(
        self, machine: Runner, words: Words, index: int, opcode: int, count: int
    ) -> str:
        """The lines of a packet with an opcode, whose own fields choose what others mean.

        In the dump of a capture, a packet before it may choose that.
        """
        name = self.machine.packet_names[opcode] or ""
        values = words.data[index + 1 : index + 1 + count].tolist()
        self.decoder.choose(PACKET_DOMAINS.get(name, name), values)
        text = self._packets.text(opcode, words, index + 1, count, 0)
        handler = _HANDLERS.get(name)
        if handler is None:
            return text
        payload = Payload(words, index + 1, count)
        return text + self._put_by(lambda: handler(machine, payload, 1))

    def _put_by(self, run: Callable[[], object]) -> str:
        """What ``run`` prints."""
        run()
        text = self.output.text_from(0)
        self.output.flush()
        return text

    def register(self, register: int, value: int, level: int) -> None:
        """Its line, without what follows from it."""
        complete = self._registers.push(register, value)
        if complete is not None:
            self.put(LEVELS[level] + self._registers.line(*complete))

    def set_constant(self, kind: int, index: int, payload: Payload, level: int) -> None:
        """Constants are state that is loaded."""


class TextOfPacket(NamedTuple):
    """A packet in the dump. ``lines``: of its registers or fields. ``size``: dwords.

    ``rows``: its dwords, none of a packet of type 2; an address and a colon are to be put before
    each row but ``*``.
    """

    lines: str
    rows: str
    size: int


class PacketText:
    """Texts of the packets of one GPU."""

    def __init__(self, gpu: Gpu, register_db: str | None = None) -> None:
        """``register_db``: directory of another edition."""
        self._sink = _PacketSink(DumpOptions(), Output(_ignore), _ignore, register_db)
        session = Session(self._sink, warn=_ignore, register_db=register_db, segments=False)
        session.use_gpu(gpu)
        self._machine = session.machine
        self._image = session.image

    def use_memory(self, image: MemoryImage) -> None:
        """Look addresses up in this image from now on."""
        self._image.show(image)

    def starts(self, words: Words, index: int, ndwords: int) -> list[int]:
        """The indices of the packets' headers in ``words[index : index + ndwords]``.

        They end where a dword is not a header.
        """
        headers, data = self._machine.headers, words.data
        end = min(index + ndwords, words.count)
        lines = []
        while index < end:
            kind, _, size = headers[data[index]]
            if kind == BAD:
                break
            lines.append(index)
            index += size
        return lines

    def of(self, words: Words, index: int) -> TextOfPacket:
        """The text of the packet whose header is ``words[index]``."""
        sink = self._sink
        kind, number, size = self._machine.headers[words.get(index)]
        if kind == IDLE:
            return TextOfPacket(f"{LEVELS[1]}nop", "", size)
        count = max(0, min(size - 1, words.count - index - 1, _MAX_DWORDS))
        lines = ""
        if kind == REGISTERS:
            lines = sink.registers_text(self._machine, words, index, number, count)
        elif kind == OPCODE:
            lines = sink.opcode_text(self._machine, words, index, number, count)
        rows = sink.rows(words, index, count + 1, 1, sink.is_64bit)
        bare = [row if row == "*" else row[self.digits + 1 :] for row in rows.splitlines()]
        return TextOfPacket(lines, "\n".join(bare), size)

    @property
    def digits(self) -> int:
        """The hexadecimal digits of an address before a row."""
        return 16 if self._sink.is_64bit else 8


def _ignore(_text: object) -> None:
    """Discard it: what was wrong was reported when the capture was decoded."""
