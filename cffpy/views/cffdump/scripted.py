# SPDX-License-Identifier: MIT
"""The dump with a Lua script (-L): calls the script's functions and prints nothing itself.

cffdump: script_draw, script_packet and similar, where cffdec.c and cffdump.c call them
(mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.loadstate import cp_load_state_of_script
from cffpy.views.cffdump.output import Output, argument_text
from cffpy.views.cffdump.script import Script
from cffpy.views.cffdump.text import CffdumpSink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Draw
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.options import DumpOptions


class ScriptedSink(CffdumpSink):
    """The text view of a dump with ``script``."""

    uses_segments = False

    def __init__(
        self,
        script: Script,
        options: DumpOptions,
        output: Output,
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> None:
        super().__init__(options, output, complain, register_db)
        self._script = script
        self._domains: list[str | None] = []
        self._runs_submit = False

    def attach(self, machine: Machine) -> None:
        super().attach(machine)
        self._script.attach(machine, self.last_values)

    def bind(self, gpu: Gpu, database: Database) -> None:
        super().bind(gpu, database)
        names = self.machine.packet_labels
        self._domains = [name and PACKET_DOMAINS.get(name, name) for name in names]
        for opcode, name in enumerate(names):
            if name in LOAD_STATE_PACKETS:
                self._details[opcode] = cp_load_state_of_script

    def submit(self, submit: CommandStream) -> None:
        super().submit(submit)
        self._runs_submit = True
        self.call("start_submit")

    def command_stream_done(self, record: CommandStream) -> None:
        if self._runs_submit:
            self._runs_submit = False
            self.call("end_submit")
        super().command_stream_done(record)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        domain = self._domains[opcode]
        if domain:
            self._pass_structure(domain, payload.words, payload.index, payload.count)
        super().packet(opcode, payload, level)

    def fields(self, domain: str, words: Words, index: int, count: int, level: int) -> None:
        self._pass_structure(domain, words, index, count)
        super().fields(domain, words, index, count, level)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        self.call("draw", draw.label, float(draw.num_indices))
        super().draw(draw, payload, level)

    def call(self, name: str, *arguments: object) -> None:
        """Call a function of the script. What was printed before is written first."""
        self.output.flush()
        self._script.call(name, *arguments)

    def _pass_structure(self, domain: str, words: Words, index: int, count: int) -> None:
        self.output.flush()
        self._script.packet(domain, self.decoder, words, index, count)


class ScriptedDump(Dump):
    """Runs a script over captures; ``options.script`` is its path."""

    _view: ScriptedSink

    def begin(self, name: str) -> None:
        super().begin(name)
        self._view.call("start_cmdstream", argument_text(name))

    def finish(self) -> None:
        self._view.call("finish")
        self._script.flush()

    def _end_records(self) -> None:
        self._view.call("end_cmdstream")

    def _make_view(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> ScriptedSink:
        assert options.script is not None
        self._script = script = Script(options.script, register_db, complain)

        def write_behind_script(data: bytes) -> None:
            script.flush()
            write(data)

        return ScriptedSink(script, options, Output(write_behind_script), complain, register_db)
