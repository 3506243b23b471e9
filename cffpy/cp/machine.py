# SPDX-License-Identifier: MIT
"""The machine: the loop over packets, the stack of streams, draw-state groups.

One machine decodes any number of submits and files; its CpState lives on between them as the
reference's does. Handlers of packets are in cffpy.cp.packets.
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.capture.gpu import Gpu
from cffpy.capture.memory import MemoryImage, Words
from cffpy.container.damage import missing_commands
from cffpy.cp.nesting import CALLS_ITSELF, Nesting, Refusal
from cffpy.cp.packets import NO_ROW, TABLE
from cffpy.cp.problems import Problems
from cffpy.cp.segment import (
    BUDGET,
    MAX_MISSES,
    MAX_PACKETS,
    MAX_VISITED,
    TRIAL,
    Recorder,
    Segment,
    SegmentKey,
)
from cffpy.cp.sink import EACH_REGISTER, NOTHING, Payload, Sink
from cffpy.cp.state import GROUP_COUNT, CpState, DrawStateGroup
from cffpy.limits import CaptureLimits, Limits, hint
from cffpy.pm4.reader import BAD, OPCODE, REGISTERS, HeaderMemo, next_packet
from cffpy.regdb.database import Database

_OPCODES = 128

#: Registers of this range are banked: they may be written without waiting for the last draw.
BANKED = range(0x2000, 0x2400)

#: What a segment costs besides its payload, in the same unit.
_SEGMENT_COST = 1024

PACKET_ENUM = "adreno_pm4_type3_packets"


class Machine:
    """Runs command streams over a memory image and tells ``sink`` what happens."""

    def __init__(
        self,
        sink: Sink,
        image: MemoryImage,
        state: CpState | None = None,
        segments: bool = True,
    ) -> None:
        """``segments``: whether a sink that uses segments has them recorded and replayed."""
        self.sink = sink
        self.image = image
        self.state = state or CpState()
        self.headers = HeaderMemo()
        self.every_marker_sets_mode = sink.every_marker_sets_mode
        self.runs_streams_once = sink.runs_streams_once
        self._keeps_groups = sink.keeps_groups_after_draws
        self._uses_segments = segments and sink.uses_segments
        self.segments_recorded = 0
        self.segments_replayed = 0
        self._recorder: Recorder | None = None
        self._segments: dict[SegmentKey, Segment] = {}
        #: Visits of a place before the one at which its segment is recorded.
        self._patience = 0
        #: Whether such a visit runs now, up to where its segment would end.
        self._passes = False
        self._visited: dict[SegmentKey, int] = {}
        self._trial_recorded = 0
        self._trial_replayed = 0
        self._budget = BUDGET
        self._drops = -1
        #: The streams and blocks that run now, outermost first: words, first dword, dwords.
        self.streams: list[tuple[Words, int, int]] = []
        #: How many of these are blocks.
        self.blocks = 0
        self.limits = Limits().of_capture(0)
        self.nesting = Nesting(self.limits)
        self.problems = Problems(sink.problem)
        sink.attach(self)

    def set_limits(self, limits: CaptureLimits, bounds_capture: bool) -> None:
        """A capture of these limits begins.

        ``bounds_capture``: whether all that runs of it is bounded together, as for analyses.
        """
        self.limits = limits
        self.nesting.set_limits(limits, bounds_capture)

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Decode for this GPU from now on."""
        self.gpu = gpu
        self.database = database
        self.is_64bit = gpu.is_64bit
        variants = {}
        chip = database.variant("chip", database.chip)
        if chip is not None:
            variants["chip"] = chip
        #: Names of enum values that packets set the state by, in this generation.
        self.variants = variants
        self.packet_names: list[str | None] = [
            database.enum_name(PACKET_ENUM, opcode, variants) for opcode in range(_OPCODES)
        ]
        rows = [TABLE.get(name or "", NO_ROW) for name in self.packet_names]
        self._handlers = [(row.handler, row.loads_groups, row.is_effect) for row in rows]

    def enum_name(self, enum: str, number: int) -> str | None:
        """Name of an enum's value in this generation, or None."""
        return self.database.enum_name(enum, number, self.variants)

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
        self.break_segment()
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

        ``is_group``: they are a draw-state group, not an IB. ``may_recur``: they may run within
        themselves, since the sink sees to it that they do not for ever.
        """
        stream = None if may_recur else (words, index, ndwords)
        dwords = min(ndwords, max(0, words.count - index))
        refusal = self.nesting.refusal(self.streams, self.blocks, stream, dwords)
        if refusal is not None:
            self.refuse(words.address + index * 4, refusal)
            return
        if ndwords > words.count - index:
            gpuaddr, there = words.address + 4 * index, max(0, words.count - index)
            self.problems.damaged(missing_commands(gpuaddr, ndwords, there))
        self.state.draws[self.state.ib_level] = 0
        if beyond := self._run(words, index, ndwords, level, is_group):
            end = words.address + 4 * (index + ndwords)
            self.problems.damaged(f"a packet ends {beyond} dwords behind its stream's end {end:#x}")
            self.sink.overrun(beyond)

    def run_block(self, words: Words, index: int, ndwords: int, level: int) -> int:
        """Run a part of the current stream; by how many dwords its last packet ends behind it."""
        self.blocks += 1
        beyond = self._run(words, index, ndwords, level, is_group=False)
        self.blocks -= 1
        return beyond

    def _run(self, words: Words, index: int, ndwords: int, level: int, is_group: bool) -> int:
        state, sink = self.state, self.sink
        self.streams.append((words, index, ndwords))
        headers, data, captured = self.headers, words.data, words.count
        registers, rewritten, handlers = state.registers, state.rewritten, self._handlers
        watched = sink.wants_packet_start
        keeps_segments = self._uses_segments and (is_group or not self.runs_streams_once)
        may_start = keeps_segments
        left = signed32(ndwords) if ndwords > 0 else ndwords
        while left > 0 and index < captured:
            if watched:
                sink.packet_start(state)
            if may_start:
                taken = self._replay_or_record(words, index, left, level)
                if taken:
                    index += taken
                    left -= taken
                    continue
                may_start = False
            kind, number, size = headers[data[index]]
            if kind == REGISTERS:
                values = data[index + 1 : index + size].tolist()
                untold = sink.write(number, values, words, index, level + 1)
                if untold == EACH_REGISTER:
                    self.write_registers(number, values, level + 2)
                else:
                    register = number
                    for value in values:
                        registers[register] = value
                        rewritten.add(register)
                        register += 1
                    if self._recorder is not None:
                        self._recorder.write(number, values)
                if untold != NOTHING:
                    sink.write_done(words, index, size, level + 1)
            elif kind == OPCODE:
                handler, loads_groups, is_effect = handlers[number]
                if loads_groups:
                    self.load_groups(level + 1)
                payload = Payload(words, index + 1, size - 1)
                sink.packet(number, payload, level)
                if handler is not None:
                    apart = handler(self, payload, level + 1)
                    if apart:
                        index += apart
                        left -= apart
                    elif is_effect and self._recorder is not None:
                        self._recorder.effects.append((handler, payload, level + 1))
                sink.packet_done(number, payload, level + 1)
            elif kind == BAD:
                self.break_segment()
                at = words.address + 4 * index
                self.problems.damaged(f"no packet header: {data[index]:08x} at {at:#x}")
                sink.bad_header(data[index])
                if not self.is_64bit:
                    self.streams.pop()
                    return 0
                size = next_packet(data, index, min(index + left, captured)) - index
                if index + size >= captured:
                    size = left
            else:
                sink.type2(level + 1)
            index += size
            left -= size
            recorder = self._recorder
            if recorder is None:
                may_start = keeps_segments and not self._passes
            else:
                recorder.packets += 1
                recorder.ndwords += size
                recorder.mark = sink.segment_mark()
                if recorder.packets == MAX_PACKETS:
                    self.break_segment()
                    may_start = True
        self.break_segment()
        self.streams.pop()
        return max(0, -left)

    def refuse(self, gpuaddr: int, refusal: Refusal) -> None:
        """The commands at ``gpuaddr`` are not run."""
        text, limit = f"the commands at {gpuaddr:#x} {refusal.reason}", refusal.limit
        if refusal is CALLS_ITSELF:
            self.problems.damaged(text, reported=True)
        else:
            self.problems.truncate(limit, text, reported=True)
        self.sink.refused(gpuaddr, f"{refusal.reason} {hint(limit)}" if limit else refusal.reason)

    def miss(self, gpuaddr: int, ndwords: int, reported: bool = False) -> None:
        """Commands that are called were not captured. ``reported``: by a callback of its own."""
        if ndwords:
            self.problems.damaged(missing_commands(gpuaddr, ndwords, None), reported)

    # -- segments ---------------------------------------------------------------------------

    def _replay_or_record(self, words: Words, index: int, left: int, level: int) -> int:
        """Replay the segment that starts here: its dwords. Else 0, and recording begins."""
        sink, state = self.sink, self.state
        sink_key = sink.segment_key
        if sink_key is None:
            return 0
        if self._drops != self.image.drops:
            self._drops = self.image.drops
            self._budget = BUDGET
            self._segments.clear()
            self._visited.clear()
        key = (words, index, level, state.needs_wfi, sink_key)
        segment = self._segments.get(key)
        misses = 0
        if segment is not None:
            if not segment.ndwords:
                return 0
            if segment.ndwords <= left and segment.holds(state.registers):
                self.segments_replayed += 1
                sink.segment_replay(segment.payload)
                state.registers.update(segment.registers)
                state.rewritten.update(segment.registers)
                for handler, payload, effect_level in segment.effects:
                    handler(self, payload, effect_level)
                state.needs_wfi = segment.needs_wfi
                return segment.ndwords
            misses = segment.misses + 1
        elif self._patience and self._visits(key) <= self._patience:
            self._passes = True
            return 0
        if self._budget > 0 and misses < MAX_MISSES:
            self._recorder = Recorder(key, sink.segment_begin(), misses)
        return 0

    def _visits(self, key: SegmentKey) -> int:
        """How often this place was come to, this time included."""
        visits = self._visited.get(key, 0) + 1
        if len(self._visited) >= MAX_VISITED:
            self._visited.clear()
        self._visited[key] = visits
        return visits

    def break_segment(self) -> None:
        """Whatever is recorded ends before the packet that runs now.

        To be called before that packet writes a register, draws, or descends into a stream.
        """
        self._passes = False
        recorder = self._recorder
        if recorder is None:
            return
        self._recorder = None
        payload, size = self.sink.segment_end(recorder.mark)
        self._budget -= size + _SEGMENT_COST
        segment = self._segments[recorder.key] = Segment(
            recorder.ndwords,
            recorder.registers,
            tuple(recorder.guards.items()),
            tuple(recorder.effects),
            self.state.needs_wfi,
            payload,
        )
        segment.misses = recorder.misses
        self.segments_recorded += 1
        recorded = self.segments_recorded - self._trial_recorded
        if recorded == TRIAL:
            replayed = self.segments_replayed - self._trial_replayed
            self._trial_recorded += recorded
            self._trial_replayed += replayed
            if replayed * 2 < recorded:
                self._patience += 1

    def wrote(self, register: int) -> int | None:
        """The value that the segment being recorded has given a register, or None."""
        recorder = self._recorder
        return None if recorder is None else recorder.registers.get(register)

    def read_register(self, register: int) -> int:
        """A register's value for text: 0 if it was never written."""
        value = self.state.registers.get(register, 0)
        if self._recorder is not None:
            self._recorder.read(register, value)
        return value

    # -- registers --------------------------------------------------------------------------

    def write_registers(self, register: int, values: list[int], level: int) -> None:
        """Write consecutive registers from ``register`` on."""
        state = self.state
        registers, rewritten, tell = state.registers, state.rewritten, self.sink.register
        recorder = self._recorder
        self.sink.begin_registers()
        for value in values:
            if state.needs_wfi and register not in BANKED:
                self.sink.write_without_wfi(register)
            registers[register] = value
            rewritten.add(register)
            if recorder is not None:
                recorder.registers[register] = value
            tell(register, value, level)
            register += 1

    # -- draw-state groups ------------------------------------------------------------------

    def disable_groups(self) -> None:
        """Forget all draw-state groups."""
        self.state.groups[:] = [None] * GROUP_COUNT

    def load_groups(self, level: int) -> None:
        """Run all waiting draw-state groups in order of their ids, then forget them."""
        self.break_segment()
        state = self.state
        if state.loading_groups:
            words, index, _ = self.streams[-1]
            at = words.address + 4 * index
            self.problems.damaged(f"the draw-state group at {at:#x} draws, and would load groups")
            self.sink.groups_within_groups()
            return
        if state.groups.count(None) == GROUP_COUNT:
            return
        state.loading_groups = True
        for group_id in range(GROUP_COUNT):
            group = state.groups[group_id]
            if group is not None:
                self.load_group(group, level)
        state.loading_groups = False
        if not self._keeps_groups:
            self.disable_groups()

    def load_group(self, group: DrawStateGroup, level: int) -> None:
        """Run one draw-state group, if it is enabled in the current render mode."""
        if not group.ndwords:
            return
        self.break_segment()
        state = self.state
        masked = self.gpu.generation >= 6 and not group.enable_mask & state.enable_mask
        self.sink.group(group, not masked, level)
        if masked:
            return
        place = self.image.place(group.gpuaddr)
        if place is None:
            self.miss(group.gpuaddr, group.ndwords)
            return
        self.sink.group_stream(*place, group.ndwords, level + 1)
        state.ib_level += 1
        self.run(*place, group.ndwords, level + 1, is_group=True)
        state.ib_level -= 1
