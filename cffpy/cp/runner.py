# SPDX-License-Identifier: MIT
"""The runner: the loop over packets, the stack of streams, draw-state groups.

Handlers of packets are in cffpy.cp.packets; their table is passed in. For analyses it is a
ReplayingRunner, which decodes less (cffpy.cp.replaying).

DecodesOnce: what is known of packets before they run, for streams that are kept decoded.
"""

from __future__ import annotations

from functools import partial

from cffpy.c_numbers import signed32
from cffpy.container.damage import missing_commands
from cffpy.cp.machine import BANKED, CALLS_ITSELF, Machine, Refusal
from cffpy.cp.sink import EACH_REGISTER, NOTHING, NullSink, Sink
from cffpy.cp.state import CpState, DrawStateGroup
from cffpy.limits import hint
from cffpy.pm4.reader import BAD, OPCODE, REGISTERS, Payload, next_packet
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import MemoryImage, Words
    from cffpy.cp.segment import Segment
    from cffpy.cp.sink import Draw
    from cffpy.pm4.reader import Packets
    from cffpy.regdb.database import Database

    #: A register and its value.
    Written = tuple[int, int]

    #: (Register, value) of a packet, by the readers of the GPU's packets.
    PacketWrites = Callable[[Packets, Payload], Sequence[Written]]

    #: Returns how many dwords after the packet it has run itself; None for 0.
    Handler = Callable[["Runner", Payload, int], int | None]

    EndsSegment = Callable[["Runner", Payload], bool]


class DecodesOnce(ValueObject):
    """What is known of a packet before it runs; each None for packets of other kinds.

    ``writes`` returns (register, value) of a packet that does no more than write registers; it gets
    the readers of packets, so that it can be called without the machine.
    ``draw`` makes the Draw of a packet that counts it and changes no other state. State that only
    the dump shows (``CpState.needs_wfi``, ``CpState.draws``) does not count. ``groups`` yields
    the changes to draw-state groups. ``skips`` returns the dwords that it may run as a block.
    ``equal_draws``: packets with equal dwords are the same draw, whatever memory holds, so that
    they may share one ``Draw``. ``is_of_packet``: the draw and what sinks keep with it depend on no
    memory but the packet and the dwords behind it.
    """

    __slots__ = ("draw", "equal_draws", "groups", "is_of_packet", "skips", "writes")

    def __init__(
        self,
        draw: Callable[[Machine, Payload], Draw] | None = None,
        groups: Callable[[Machine, Payload], Iterator[DrawStateGroup]] | None = None,
        skips: Callable[[Machine, Payload], int | None] | None = None,
        writes: PacketWrites | None = None,
        equal_draws: bool = False,
        is_of_packet: bool = False,
    ) -> None:
        self.draw = draw
        self.groups = groups
        self.skips = skips
        self.writes = writes
        self.equal_draws = equal_draws
        self.is_of_packet = equal_draws or is_of_packet


class Row(ValueObject):
    """How a packet is handled, and what that means for a segment being recorded.

    A packet with neither ``has_effect`` nor ``ends_segment`` is pure: it only writes registers and
    shows text.
    """

    __slots__ = ("ends_segment", "handler", "has_effect", "loads_groups", "once")

    def __init__(
        self,
        handler: Handler | None,
        loads_groups: bool = False,
        has_effect: bool = False,
        ends_segment: EndsSegment | None = None,
        once: DecodesOnce | None = None,
    ) -> None:
        self.handler = handler
        #: It draws or dispatches: pending draw-state groups are loaded first.
        self.loads_groups = loads_groups
        #: It sets modes or groups: a segment repeats its handler when replayed.
        self.has_effect = has_effect
        #: Whether a segment ends before it, since it draws, descends into a stream, or reads
        #: registers that cannot be guards. None: never.
        self.ends_segment = ends_segment
        #: What is known of it before it runs, if it need not be decoded each time.
        self.once = once


#: For packets without a row.
_NO_ROW = Row(None)


class Runner(Machine):
    """Runs command streams over a memory image and calls ``sink``."""

    def __init__(
        self,
        sink: Sink,
        image: MemoryImage,
        table: Mapping[str, Row],
        state: CpState | None = None,
        segments: bool = True,
    ) -> None:
        """``table``: a packet's name -> how it is handled; other packets change nothing.

        ``segments``: whether a sink that uses segments has them recorded and replayed.
        """
        super().__init__(image, state or CpState(), sink, sink.problem)
        self.sink = sink
        self.reads_as_reference = sink.reads_as_reference
        self.runs_streams_once = sink.runs_streams_once
        self._keeps_groups = sink.keeps_groups_after_draws
        self._uses_segments = self.segments.are_used = segments and sink.uses_segments
        self._table = table
        self._decodes_once = False
        sink.attach(self)

    def use_sink(self, sink: Sink, segments: bool) -> None:
        """Call another sink from now on, between streams. It needs what the first one needs.

        ``segments``: whether segments are recorded and replayed. Their payloads are the first
        sink's in any case.
        """
        self.sink = sink
        self._uses_segments = segments and self.segments.are_used

    def release(self) -> None:
        """Forget the sink as well: a null sink takes its place."""
        super().release()
        self.sink = NullSink()

    def bind(self, gpu: Gpu, database: Database, names: Database | None = None) -> None:
        """Decode for this GPU from now on; see ``Machine``."""
        super().bind(gpu, database, names)
        table = self._table
        if not self.sink.follows_ambles(database):
            table = {**table, "CP_SET_AMBLE": _NO_ROW}
        rows = [table.get(name or "", _NO_ROW) for name in self.packet_names]
        self._handlers = [
            (row.handler, row.loads_groups, row.has_effect, row.ends_segment) for row in rows
        ]
        self._groups_have_modes = gpu.facts.groups_have_modes
        self._once = [row.once for row in rows]

    # -- streams ----------------------------------------------------------------------------

    def run_submit(self, gpuaddr: int, ndwords: int) -> None:
        """Run a submit's command stream of ``ndwords`` at ``gpuaddr``."""
        place = self.image.place(gpuaddr)
        if place is None:
            self.miss(gpuaddr, ndwords)
            self.sink.no_command_stream()
        else:
            self.run(*place, ndwords, 0)

    def descend(self, gpuaddr: int, ndwords: int, level: int, may_recur: bool = False) -> bool:
        """Run ``ndwords`` of commands at ``gpuaddr``, one IB level down; False if not captured."""
        place = self.image.place(gpuaddr)
        if place is None:
            return False
        self.state.ib_level += 1
        self.run(*place, ndwords, level, may_recur=may_recur)
        self.state.ib_level -= 1
        return True

    def run(
        self,
        words: Words,
        index: int,
        ndwords: int,
        level: int,
        is_group: bool = False,
        may_recur: bool = False,
    ) -> None:
        """Run the packets of ``words[index : index + ndwords]``; stops at the buffer's end.

        ``ndwords`` is signed for the reference: a length with bit 31 set runs nothing.

        ``is_group``: they are a draw-state group, not an IB. ``may_recur``: they may call
        themselves; the sink ends the recursion.
        """
        stream = None if may_recur else (words, index, ndwords)
        dwords = min(ndwords, max(0, words.count - index))
        refusal = self.nesting.refusal(self.streams, self.blocks, stream, dwords)
        if refusal is not None:
            self.refuse(words.address + index * 4, refusal)
            return
        if ndwords > words.count - index:
            gpuaddr, captured = words.address + 4 * index, max(0, words.count - index)
            self.problems.damaged(missing_commands(gpuaddr, ndwords, captured))
        self.state.draws[self.state.ib_level] = 0
        if beyond := self._run(words, index, ndwords, level, is_group):
            end = words.address + 4 * (index + ndwords)
            self.problems.damaged(f"a packet ends {beyond} dwords past its stream's end {end:#x}")
            self.sink.overrun(beyond)

    def run_block(self, words: Words, index: int, ndwords: int, level: int) -> int:
        """Run a part of the stream. Returns by how many dwords its last packet exceeds it."""
        self.segments.end(self.state.needs_wfi)
        self.blocks += 1
        beyond = self._run(words, index, ndwords, level, is_group=False)
        self.blocks -= 1
        return beyond

    def _run(self, words: Words, index: int, ndwords: int, level: int, is_group: bool) -> int:
        """Run packets. Returns by how many dwords the last one exceeds the stream."""
        self.streams.append((words, index, ndwords))
        left = _signed(ndwords)
        if self._decodes_once and left > 0 and not is_group:
            reached = self._run_steps(words, index, left, level)
            left -= reached - index
            index = reached
        left = self._run_packets(words, index, left, level, is_group)
        self.segments.end(self.state.needs_wfi)
        self.streams.pop()
        return max(0, -left)

    def _run_packets(
        self, words: Words, index: int, left: int, level: int, is_group: bool = False
    ) -> int:
        """Run ``left`` dwords of packets of the current stream.

        Returns how many are left: 0, or fewer where the last packet exceeds them, or more where
        the buffer ends before.
        """
        state, sink, segments = self.state, self.sink, self.segments
        headers, data, captured = self.headers, words.data, words.count
        registers, rewritten = state.registers, state.rewritten
        watched = sink.wants_packet_start
        keeps_segments = may_start = self._keeps_segments(is_group)
        while left > 0 and index < captured:
            if watched:
                sink.packet_start(state)
            if may_start:
                segment = segments.begin(words, index, left, level, state)
                if segment is not None:
                    self._replay(segment)
                    index += segment.ndwords
                    left -= segment.ndwords
                    continue
                may_start = False
            kind, number, size = headers[data[index]]
            if kind == REGISTERS:
                values = data[index + 1 : index + size].tolist()
                outcome = sink.write(number, values, words, index, level + 1)
                if outcome is EACH_REGISTER:
                    self.write_registers(number, values, level + 2)
                else:
                    register = number
                    for value in values:
                        registers[register] = value
                        rewritten.add(register)
                        register += 1
                    if segments.recorder is not None:
                        segments.recorder.write(number, values)
                if outcome is not NOTHING:
                    sink.write_done(words, index, size, level + 1)
            elif kind == OPCODE:
                size += self._run_opcode(number, Payload(words, index + 1, size - 1), level)
                registers = state.registers  # a sink may have put others there
            elif kind == BAD:
                size = self._skip_bad_header(words, index, left)
            else:
                sink.type2(level + 1)
            index += size
            left -= size
            recorder = segments.recorder
            if recorder is None:
                may_start = keeps_segments and not segments.is_waiting
            else:
                may_start = segments.note(recorder, size, state.needs_wfi)
        return left

    def _run_opcode(self, opcode: int, payload: Payload, level: int) -> int:
        """Run a packet with an opcode. Returns how many dwords after it were run with it."""
        sink, segments = self.sink, self.segments
        handler, loads_groups, has_effect, ends_segment = self._handlers[opcode]
        if (
            ends_segment is not None
            and (segments.recorder is not None or segments.is_waiting)
            and ends_segment(self, payload)
        ):
            segments.end(self.state.needs_wfi)
        if loads_groups:
            self.load_groups(level + 1)
        sink.packet(opcode, payload, level)
        nested = None
        if handler is not None:
            nested = handler(self, payload, level + 1)
            if has_effect and segments.recorder is not None:
                segments.recorder.effects.append((handler, payload, level + 1))
        sink.packet_done(opcode, payload, level + 1)
        return nested or 0

    def _skip_bad_header(self, words: Words, index: int, left: int) -> int:
        """Report a dword that is not a packet header. Returns how many dwords to skip."""
        self.segments.end(self.state.needs_wfi)
        word = words.data[index]
        self.problems.damaged(f"no packet header: {word:08x} at {words.address + 4 * index:#x}")
        self.sink.bad_header(word)
        if not self.is_64bit:  # the stream ends
            return left
        size = next_packet(words.data, index, min(index + left, words.count)) - index
        return left if index + size >= words.count else size

    # -- segments ---------------------------------------------------------------------------

    def _keeps_segments(self, is_group: bool) -> bool:
        """Whether a stream's segments are kept: of an IB only if it may run again."""
        return self._uses_segments and (is_group or not self.runs_streams_once)

    def _replay(self, segment: Segment) -> None:
        """Replay a segment, and repeat its effects."""
        self.segments.replay(segment, self.state)
        for handler, payload, level in segment.effects:
            handler(self, payload, level)
        self.state.needs_wfi = segment.needs_wfi

    def refuse(self, gpuaddr: int, refusal: Refusal) -> None:
        """The commands at ``gpuaddr`` are not run."""
        text, limit = f"the commands at {gpuaddr:#x} {refusal.reason}", refusal.limit
        if refusal is CALLS_ITSELF:
            self.problems.damaged(text, reported=True)
        else:
            self.problems.truncate(limit, text, reported=True)
        self.sink.refused(gpuaddr, f"{refusal.reason} {hint(limit)}" if limit else refusal.reason)

    def miss(self, gpuaddr: int, ndwords: int, reported: bool = False) -> None:
        """Commands were not captured. ``reported``: another callback reports it."""
        if ndwords:
            self.problems.damaged(missing_commands(gpuaddr, ndwords, None), reported)

    # -- registers --------------------------------------------------------------------------

    def write_registers(self, register: int, values: list[int], level: int) -> None:
        """Write consecutive registers from ``register`` on."""
        state = self.state
        registers, rewritten, on_register = state.registers, state.rewritten, self.sink.register
        recorder = self.segments.recorder
        self.sink.begin_registers()
        for value in values:
            if state.needs_wfi and register not in BANKED:
                self.sink.write_without_wfi(register)
            registers[register] = value
            rewritten.add(register)
            if recorder is not None:
                recorder.registers[register] = value
            on_register(register, value, level)
            register += 1

    def write_register(self, register: int, value: int, level: int) -> None:
        """Write one register; the sink is called before."""
        self.sink.register(register, value, level)
        self.state.set_register(register, value)

    # -- draw-state groups ------------------------------------------------------------------

    def load_groups(self, level: int) -> None:
        """Run all waiting draw-state groups in order of their ids, then forget them."""
        if self.state.pipes_differ and not self.state.loading_groups:
            self.sink.each_pipe(partial(self._load_groups, level))
        else:
            self._load_groups(level)

    def _load_groups(self, level: int) -> None:
        state = self.state
        if state.loading_groups:
            words, index, _ = self.streams[-1]
            at = words.address + 4 * index
            self.problems.damaged(f"the draw-state group at {at:#x} draws, and would load groups")
            self.sink.groups_within_groups()
            return
        if not any(state.groups):
            return
        state.loading_groups = True
        for group in filter(None, state.groups):
            self._load_group(group, level)
        state.loading_groups = False
        if not self._keeps_groups:
            self.disable_groups()

    def load_group(self, group: DrawStateGroup, level: int) -> None:
        """Run one draw-state group, if it is enabled in the current render mode."""
        if self.state.pipes_differ and not self.state.loading_groups:
            self.sink.each_pipe(partial(self._load_group, group, level))
        else:
            self._load_group(group, level)

    def _load_group(self, group: DrawStateGroup, level: int) -> None:
        if not group.ndwords:
            return
        state = self.state
        self.segments.end(state.needs_wfi)  # of a group that is loaded when it is set
        masked = self._groups_have_modes and not group.enable_mask & state.enable_mask
        self.sink.group(group, not masked, level)
        if masked:
            return
        place = self.image.place(group.gpuaddr)
        if place is None:
            self.miss(group.gpuaddr, group.ndwords)
            self.sink.missing_group(group.gpuaddr)
            return
        self.sink.group_stream(*place, group.ndwords, level + 1)
        if self._write_group(*place, group):
            return
        state.ib_level += 1
        self.run(*place, group.ndwords, level + 1, is_group=True)
        state.ib_level -= 1

    # -- for ReplayingRunner ----------------------------------------------------------------

    def _run_steps(self, words: Words, index: int, ndwords: int, level: int) -> int:
        """Run what of a stream needs no decoding. Returns the index of the first packet that does.

        Called if ``_decodes_once``.
        """
        return index

    def _write_group(self, words: Words, index: int, group: DrawStateGroup) -> bool:
        """Write the registers of a group without running it; False for one that has to run."""
        return False


def _signed(ndwords: int) -> int:
    """A length as the reference sees it: one with bit 31 set is negative."""
    return signed32(ndwords) if ndwords > 0 else ndwords
