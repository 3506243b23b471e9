# SPDX-License-Identifier: MIT
"""SkippingSink: runs commands for the state that their text depends on, without making the text.

The second process of a dump skips with it what the first one prints (``second_process.py``). It
leaves the text view in the state in which printing would have left it: values shown last, current
variants, IBs that were shown, open markers. Not for a5xx, whose summaries change the address latch,
and not with options that hide a part of the dump.
"""

from __future__ import annotations

from cffpy.cp.sink import NOTHING, Sink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream, Identity, Text
    from cffpy.capture.memory import Words
    from cffpy.cp.sink import Draw, NestedStream, WriteOutcome
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.text import CffdumpSink


class SkippingSink(Sink):
    """Passes on to ``view`` what changes its state. The caller discards what that prints."""

    def __init__(self, view: CffdumpSink) -> None:
        self._view = view
        self.attach(view.machine)

    # -- files, GPUs, problems ----------------------------------------------------------------

    def start_file(self) -> None:
        self._view.start_file()

    def bind(self, gpu: Gpu, database: Database) -> None:
        self._view.bind(gpu, database)

    def text(self, record: Text) -> None:
        self._view.text(record)

    def identity(self, record: Identity) -> None:
        self._view.identity(record)

    def command_stream(self, record: CommandStream, skipped: bool) -> bool:
        return self._view.command_stream(record, skipped)

    def submit(self, submit: CommandStream) -> None:
        self._view.submit(submit)

    def problem(self, line: str) -> None:
        self._view.problem(line)

    def follows_ambles(self, database: Database) -> bool:
        return self._view.follows_ambles(database)

    def refused(self, gpuaddr: int, reason: str) -> None:
        self._view.refused(gpuaddr, reason)

    def missing_stream(self, gpuaddr: int, ndwords: int) -> None:
        self._view.missing_stream(gpuaddr, ndwords)

    # -- packets ------------------------------------------------------------------------------

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._view.skip_packet(opcode, payload, level)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if draw.counted:
            self._view.skip_draw()

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        return self._view.indirect_buffer(gpuaddr, ndwords, level)

    def nested_stream(self, name: str, stream: NestedStream, payload: Payload, level: int) -> bool:
        return self._view.nested_stream(name, stream, payload, level)

    # -- registers ----------------------------------------------------------------------------

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        if self._view.skips_write(register, len(values)):
            return NOTHING
        return self._view.write(register, values, words, index, level)

    def write_done(self, words: Words, index: int, ndwords: int, level: int) -> None:
        self._view.write_done(words, index, ndwords, level)

    def begin_registers(self, always_shown: bool = False) -> None:
        self._view.begin_registers(always_shown)

    def end_registers(self) -> None:
        self._view.end_registers()

    def register(self, register: int, value: int, level: int) -> None:
        self._view.register(register, value, level)

    def set_constant(self, kind: int, index: int, payload: Payload, level: int) -> None:
        self._view.set_constant(kind, index, payload, level)
