# SPDX-License-Identifier: MIT
"""Sink: the callbacks of the machine. A sink overrides the callbacks that it needs.

Callbacks take plain ints, the ``Words`` of the buffer that holds a packet, or a ``Payload``.
``level`` is the nesting of streams as the reference counts it (an IB adds one, a draw-state group
two). A callback that returns a bool may veto: the machine then does not descend. Decisions with
more than two answers are named outcomes, compared with ``is``: constants of small classes, since
importing ``enum`` would cost start-up time.
"""

from __future__ import annotations

from cffpy.cp.segment import SegmentSink
from cffpy.pm4.reader import Payload
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream, Identity, Text
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.cp.state import CpState, DrawStateGroup
    from cffpy.cp.stored import StoredRegisters
    from cffpy.regdb.database import Database


class _Outcome(ValueObject):
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class WriteOutcome(_Outcome):
    """Which callbacks the machine still makes for a register-write packet."""

    __slots__ = ()


#: ``register`` for each register, then ``write_done``.
EACH_REGISTER = WriteOutcome("EACH_REGISTER")
#: ``write_done`` only.
WRITE_DONE = WriteOutcome("WRITE_DONE")
#: None.
NOTHING = WriteOutcome("NOTHING")


class BlockOutcome(_Outcome):
    """How the machine runs the dwords that a packet makes conditional."""

    __slots__ = ()


#: As part of the stream, like any other packets. The reference always does this.
INLINE = BlockOutcome("INLINE")
#: As a block that takes effect.
LIVE = BlockOutcome("LIVE")
#: As a block on a copy of the state. The copy is discarded at the end of the block, except for
#: the number of draws.
DISCARDED = BlockOutcome("DISCARDED")


class Draw:
    """A draw, blit, dispatch or resolve event. ``name`` is the packet's name."""

    __slots__ = ("counted", "kept", "label", "name", "num_indices")

    def __init__(self, name: str, label: str | None, num_indices: int, counted: bool) -> None:
        self.name = name
        #: Primitive type, kind of blit, "compute", or "EVENT:<name>", as the reference labels it.
        self.label = label
        self.num_indices = num_indices
        #: False for a draw without indices: it is not counted and has no register summary.
        self.counted = counted
        #: What a sink makes of it, kept for the next time (``Sink.decodes_streams_once``).
        self.kept: object = None

    @property
    def is_compute(self) -> bool:
        """Whether it is a dispatch."""
        return self.name in ("CP_EXEC_CS", "CP_EXEC_CS_INDIRECT", "CP_RUN_OPENCL")


class NestedStream(ValueObject):
    """Commands that a packet carries or points at: their address and dwords.

    ``gpuaddr`` is None for a packet in a form without commands. ``saved``: the address that
    CP_SET_RENDER_MODE names besides; None in a form without it.
    """

    __slots__ = ("gpuaddr", "ndwords", "saved")

    def __init__(self, gpuaddr: int | None, ndwords: int, saved: int | None = None) -> None:
        self.gpuaddr = gpuaddr
        self.ndwords = ndwords
        self.saved = saved


class FileSink:
    """Callbacks of cffpy.cp.session: files, the GPU, command streams, problems."""

    def start_file(self) -> None:
        """A file begins, or its GPU is known: no register counts as written."""

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Everything from here on is decoded for this GPU."""

    def text(self, record: Text) -> None:
        """A section of the file holds text."""

    def identity(self, record: Identity) -> None:
        """A section names the GPU, which was unknown. Called before ``bind``."""

    def command_stream(self, record: CommandStream, skipped: bool) -> bool:
        """A submit's command stream is next; return whether it runs.

        ``skipped``: it belongs to a process whose streams are skipped.
        """
        return not skipped

    def submit(self, submit: CommandStream) -> None:
        """A submit's command stream is about to run. Its GPU is bound."""

    def command_stream_done(self, record: CommandStream) -> None:
        """The stream of ``command_stream`` has run, or was skipped."""

    def problem(self, line: str) -> None:
        """Damage or a truncation of streams that no other callback reports."""


class PacketSink:
    """Callbacks about packets: their begin and end, events, draws."""

    def packet_start(self, state: CpState) -> None:
        """The next packet begins; only with ``wants_packet_start``."""

    def type2(self, level: int) -> None:
        """A type-2 packet: one dword that does nothing."""

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet with an opcode (types 3 and 7), before its effect."""

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        """The packet's effect is done."""

    def packet_stored(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet whose registers, if it writes any, were reported by ``registers_stored``.

        Called in place of ``packet`` and ``packet_done``, for a stream that runs again.
        """
        self.packet(opcode, payload, level)
        self.packet_done(opcode, payload, level + 1)

    def event(self, name: str | None, level: int) -> None:
        """CP_EVENT_WRITE of the named event."""

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        """A draw, before the machine counts it."""

    def draw_logged(self, draw: Draw, payload: Payload, level: int) -> None:
        """A draw whose registers are the last of ``stored_log``."""
        self.draw(draw, payload, level)


class RegisterSink:
    """Callbacks about registers that packets write."""

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        """A packet (of type 0 or 4) writes ``values`` to the registers from ``register`` on.

        Its header is at ``index`` of ``words``. The outcome says which callbacks follow.
        """
        return EACH_REGISTER

    def begin_registers(self, always_shown: bool = False) -> None:
        """A run of registers begins: ``register`` follows for each, in order.

        ``always_shown``: the reference shows this run even in a summary; ``end_registers`` follows.
        """

    def end_registers(self) -> None:
        """An always shown run is over."""

    def register(self, register: int, value: int, level: int) -> None:
        """One register of the run."""

    def write_without_wfi(self, register: int) -> None:
        """A register is written that needs a wait-for-idle after the last draw."""

    def write_done(self, words: Words, index: int, ndwords: int, level: int) -> None:
        """The register-write packet, whose header is at ``index``, is done."""

    def set_constant(self, kind: int, index: int, payload: Payload, level: int) -> None:
        """CP_SET_CONSTANT that writes no registers: constants of ``kind`` from ``index`` on."""

    def register_sum(self, register: int, addend: int, source: int, level: int) -> None:
        """CP_SET_CONSTANT that adds ``addend`` to the register ``source``."""

    def read_modify_write(self, register: int, mask: int, bits: int, level: int) -> None:
        """CP_REG_RMW, before it is stored."""


class StreamSink:
    """Callbacks about streams: IBs, conditional blocks, draw-state groups, what is not run."""

    def no_command_stream(self) -> None:
        """A submit's command stream was not captured."""

    def bad_header(self, word: int) -> None:
        """A dword that is not a packet header."""

    def overrun(self, dwords: int) -> None:
        """The last packet of a stream ends ``dwords`` after the stream's end."""

    def refused(self, gpuaddr: int, reason: str) -> None:
        """The commands at ``gpuaddr`` are not run: "are nested too deeply" and the like."""

    def conditional_block(
        self, name: str, payload: Payload, ndwords: int, level: int
    ) -> BlockOutcome:
        """The packet ``name`` makes the ``ndwords`` after it conditional: how are they run?"""
        return INLINE

    def conditional_block_done(self) -> None:
        """The end of a block for which ``conditional_block`` returned LIVE or DISCARDED."""

    def alternative_block(self, begins: bool) -> None:
        """The block that is executed instead of a discarded one begins or ends."""

    def follows_ambles(self, database: Database) -> bool:
        """Whether the commands that CP_SET_AMBLE names run where it stands, as in some dumps.

        On the GPU they run when it switches to this context or away from it, so a capture of one
        context never shows them. Asked when a GPU's ``database`` is bound.
        """
        return False

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        """An IB is called: whether the machine descends into it."""
        return True

    def missing_stream(self, gpuaddr: int, ndwords: int) -> None:
        """A nested stream that was not captured."""

    def missing_group(self, gpuaddr: int) -> None:
        """A draw-state group is loaded whose commands were not captured."""

    def numbered_stream(self, name: str, number: int, level: int) -> None:
        """The next block of CP_START_BIN or CP_FIXED_STRIDE_DRAW_TABLE ("bin" or "draw")."""

    def nested_stream(self, name: str, stream: NestedStream, payload: Payload, level: int) -> bool:
        """A packet, other than an IB, that contains or points at commands: descend?

        For CP_MEM_WRITE ``stream`` has the address that is written and the size of the data.
        """
        return True

    def nested_stream_done(
        self, name: str, words: Words, index: int, ndwords: int, level: int
    ) -> None:
        """The commands of a ``nested_stream`` are done."""

    def each_pipe(self, load: Callable[[], None]) -> None:
        """``load`` loads draw-state groups. Have each pipe do it, with its own groups and mode.

        Called where ``CpState.pipes_differ``.
        """
        load()

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        """A draw-state group is loaded, or skipped for its enable mask."""

    def group_stream(self, words: Words, index: int, ndwords: int, level: int) -> None:
        """The group's commands, before they run."""

    def group_writes(self, registers: Mapping[int, int]) -> bool:
        """A group only writes these registers: may they be stored at once?

        No callbacks for its packets follow then. Called if ``takes_writes_at_once``.
        """
        return False

    def registers_stored(self, stored: StoredRegisters) -> None:
        """These registers were stored at once: by a group, or by a stream that runs again.

        Called if ``observes_stored_registers``.
        """

    def stored_log(self) -> list[StoredRegisters] | None:
        """A list for what is stored by the steps of a stream, in place of ``registers_stored``.

        Asked again for the first step after any other callback but those of draws. None:
        ``registers_stored`` is called for each step.
        """
        return None

    def ignores_packet(self, opcode: int) -> bool:
        """Whether such a group may also have packets with this opcode.

        The answer may change at ``bind`` only.
        """
        return False

    def may_skip_packet(self, opcode: int) -> bool:
        """The same for groups that begin while ``skips_packets`` returns True."""
        return self.ignores_packet(opcode)

    def skips_packets(self) -> bool:
        """Whether the sink does without the packets of ``may_skip_packet`` in groups now."""
        return False

    def ignores_group_writes(self, registers: Mapping[int, int]) -> bool:
        """Whether the registers of a draw-state group may be stored at once."""
        return self.ignores_writes(registers)

    def ignores_writes(self, registers: Iterable[int]) -> bool:
        """Whether ``write`` does nothing for any of these registers. It may change as above."""
        return False

    def groups_within_groups(self) -> None:
        """A draw inside a draw-state group would load groups again; it does not."""


class Sink(FileSink, PacketSink, RegisterSink, StreamSink, SegmentSink):
    """The base of all sinks. Its callbacks do nothing and veto nothing.

    The attributes below declare what a sink needs. The machine reads them in its constructor.
    """

    #: Whether ``packet_start`` is called before each packet.
    wants_packet_start = False
    #: Whether packets are read as the reference reads them: each CP_SET_MARKER sets the render
    #: mode, not only markers that name a mode; on a8xx, too, modes have 4 bits and group numbers 5.
    reads_as_reference = True
    #: Whether draw-state groups stay set after a draw, until ``Machine.disable_groups``.
    keeps_groups_after_draws = False
    #: Whether ``indirect_buffer`` returns True only the first time for an IB. Segments of IBs are
    #: not recorded then, and an IB may call itself: the sink ends the recursion.
    runs_streams_once = False

    #: Whether ``group_writes`` is called. Not together with segments.
    takes_writes_at_once = False
    #: If ``takes_writes_at_once``: whether streams that run again are not decoded again. It may
    #: change at ``bind`` only. Such streams have no callbacks for writes and packets that are
    #: ignored, for type-2 packets, and for the groups of most draws; draws come with the same
    #: ``Draw`` and payload as before. ``CpState.rewritten`` is not kept.
    decodes_streams_once = False
    #: If ``decodes_streams_once``: whether a stream is decoded before its first run, too. False
    #: for a sink that has to look at each packet at least once in any case.
    decodes_first_runs = False

    #: If ``decodes_streams_once``: the ``KeptStreams`` that it shares with another walk, if any.
    kept_streams: object = None

    #: If ``takes_writes_at_once``: whether ``registers_stored`` is called. It may change at
    #: ``bind`` only.
    observes_stored_registers = False

    #: The machine that calls this sink.
    machine: Machine

    def attach(self, machine: Machine) -> None:
        """The machine that calls this sink is complete. Called once, before other callbacks."""
        self.machine = machine


class NullSink(Sink):
    """Runs the machine for its state alone."""
