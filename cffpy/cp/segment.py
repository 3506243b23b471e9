# SPDX-License-Identifier: MIT
"""Segments: the effect of a run of packets, recorded once and replayed at its next executions.

Streams are executed many times: the same IB for each tile, the same state object for each
draw. A segment is a maximal run of packets, within one stream, that only write
registers, set modes and show text. It ends before a packet that draws, descends into another
stream, or needs decoding state that is not listed here.

A replay is valid for:

- the key: the place in memory, the level, whether a
  wait-for-idle is due, and what the sink's text depends on (``Sink.segment_key``: quiet
  levels, current variants, the a5xx address latch, the memory image's epoch);
- the guards: values of registers that the text depends on and that the segment did not write. If
  one has changed, the packets are decoded again.

A replay appends the sink's payload, updates the registers, repeats the packets' effects on modes
and draw-state groups, and continues after the last packet.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cffpy.capture.memory import MemoryImage, Words
    from cffpy.cp.state import CpState

    #: A packet whose effect is repeated: its handler, its payload, its level.
    Effect = tuple[Callable[..., Any], Any, int]

#: Where a segment may start: words, dword index, level, needs_wfi, the sink's key.
SegmentKey = tuple["Words", int, int, bool, int]

#: After this many failures of its guards a segment is not recorded again.
MAX_MISSES = 4

#: If of this many recorded segments fewer than half were replayed, segments are recorded one visit
#: later than before: many streams run only once or twice.
TRIAL = 512

#: Places whose visits are counted for that, at most.
MAX_VISITED = 1 << 16

#: Packets of a segment at most, so that its text stays small.
MAX_PACKETS = 512

#: What a segment costs besides its payload, in the same unit.
_SEGMENT_COST = 1024

#: Sizes of all payloads of a memory image, in the sink's unit (characters of text), at most.
BUDGET = 16 << 20


class SegmentSink:
    """What a sink does for segments, if ``uses_segments``; its payload is usually text."""

    #: Whether segments are recorded and replayed.
    uses_segments = False
    #: A number for what payloads depend on besides memory and registers; None: record nothing.
    segment_key: int | None = None

    def segment_begin(self) -> int:
        """Start recording. Returns a mark: the current end of the output."""
        return 0

    def segment_mark(self) -> int:
        """A mark: the current end of the output."""
        return 0

    def segment_end(self, mark: int) -> tuple[object, int]:
        """End recording. Returns the payload from its start to ``mark``, and its size."""
        return None, 0

    def segment_replay(self, payload: object) -> None:
        """Output a payload again, as if its packets were decoded."""


class Segment:
    """A recorded segment of ``ndwords``, 0 where no segment can start."""

    __slots__ = ("effects", "guards", "misses", "ndwords", "needs_wfi", "payload", "registers")

    def __init__(
        self,
        ndwords: int,
        registers: dict[int, int],
        guards: tuple[tuple[int, int], ...],
        effects: tuple[Effect, ...],
        needs_wfi: bool,
        payload: object,
    ) -> None:
        self.ndwords = ndwords
        #: Values of the registers that it writes.
        self.registers = registers
        self.guards = guards
        self.effects = effects
        #: Whether a wait-for-idle is due after it.
        self.needs_wfi = needs_wfi
        #: The sink's.
        self.payload = payload
        #: How often this place was recorded again because a guard failed.
        self.misses = 0

    def holds(self, registers: dict[int, int]) -> bool:
        """Whether all guards hold: registers that the text depends on have not changed."""
        return not self.guards or all(
            registers.get(register, 0) == value for register, value in self.guards
        )


class Recorder:
    """A segment while it is recorded: up to the last packet that was accepted."""

    __slots__ = (
        "effects",
        "guards",
        "key",
        "mark",
        "misses",
        "ndwords",
        "packets",
        "registers",
    )

    def __init__(self, key: SegmentKey, mark: int, misses: int) -> None:
        self.key = key
        self.misses = misses
        #: The sink's mark after the last accepted packet.
        self.mark = mark
        self.ndwords = 0
        self.packets = 0
        self.registers: dict[int, int] = {}
        self.guards: dict[int, int] = {}
        self.effects: list[Effect] = []

    def write(self, register: int, values: list[int]) -> None:
        """Note that consecutive registers were written."""
        for written, value in enumerate(values, register):
            self.registers[written] = value

    def read(self, register: int, value: int) -> None:
        """Note that the text depends on a register's value."""
        if register not in self.registers:
            self.guards.setdefault(register, value)


class Segments:
    """The segments of one machine, which calls ``begin`` before a packet and ``note`` after it.

    ``recorder`` is the segment that is recorded, or None. ``is_waiting``: this visit
    is not recorded, up to where the segment would end.
    """

    def __init__(self, image: MemoryImage, sink: SegmentSink) -> None:
        self._image = image
        self._sink = sink
        self.recorder: Recorder | None = None
        self.is_waiting = False
        #: Whether segments are recorded and replayed at all.
        self.are_used = True
        #: How many were recorded and replayed so far.
        self.recorded = 0
        self.replayed = 0
        self._segments: dict[SegmentKey, Segment] = {}
        #: Visits of a place before the visit at which its segment is recorded.
        self._patience = 0
        self._visited: dict[SegmentKey, int] = {}
        self._trial_recorded = 0
        self._trial_replayed = 0
        self._budget = BUDGET
        self._drops = -1

    def release(self) -> None:
        """Forget all segments, and the sink: nothing runs any more."""
        self._sink = SegmentSink()
        self.recorder = None
        self._segments.clear()
        self._visited.clear()

    def begin(
        self, words: Words, index: int, left: int, level: int, state: CpState
    ) -> Segment | None:
        """The segment to replay at this place. None: decode; recording may have begun.

        ``left``: dwords up to the end of the stream.
        """
        sink_key = self._sink.segment_key
        if sink_key is None:
            return None
        if self._drops != self._image.drops:
            self._drops = self._image.drops
            self._budget = BUDGET
            self._segments.clear()
            self._visited.clear()
        key = (words, index, level, state.needs_wfi, sink_key)
        segment = self._segments.get(key)
        misses = 0
        if segment is not None:
            if not segment.ndwords:
                return None
            if segment.ndwords <= left and segment.holds(state.registers):
                return segment
            misses = segment.misses + 1
        elif self._patience and self._visits(key) <= self._patience:
            self.is_waiting = True
            return None
        if self._budget > 0 and misses < MAX_MISSES:
            self.recorder = Recorder(key, self._sink.segment_begin(), misses)
        return None

    def replay(self, segment: Segment, state: CpState) -> None:
        """Output the sink's payload and set the registers. The caller repeats the effects."""
        self.replayed += 1
        self._sink.segment_replay(segment.payload)
        state.registers.update(segment.registers)
        state.rewritten.update(segment.registers)

    def note(self, recorder: Recorder, ndwords: int, needs_wfi: bool) -> bool:
        """Accept a packet of ``ndwords`` into the segment; whether this one is full and ended."""
        recorder.packets += 1
        recorder.ndwords += ndwords
        recorder.mark = self._sink.segment_mark()
        if recorder.packets < MAX_PACKETS:
            return False
        self.end(needs_wfi)
        return True

    def end(self, needs_wfi: bool) -> None:
        """Keep what is recorded, up to the last accepted packet.

        ``needs_wfi``: whether a wait-for-idle is due after that packet.
        """
        self.is_waiting = False
        recorder = self.recorder
        if recorder is None:
            return
        self.recorder = None
        payload, size = self._sink.segment_end(recorder.mark)
        self._budget -= size + _SEGMENT_COST
        segment = self._segments[recorder.key] = Segment(
            recorder.ndwords,
            recorder.registers,
            tuple(recorder.guards.items()),
            tuple(recorder.effects),
            needs_wfi,
            payload,
        )
        segment.misses = recorder.misses
        self.recorded += 1
        recorded = self.recorded - self._trial_recorded
        if recorded == TRIAL:
            replayed = self.replayed - self._trial_replayed
            self._trial_recorded += recorded
            self._trial_replayed += replayed
            if replayed * 2 < recorded:
                self._patience += 1

    def _visits(self, key: SegmentKey) -> int:
        """How often this place was visited, this time included."""
        visits = self._visited.get(key, 0) + 1
        if len(self._visited) >= MAX_VISITED:
            self._visited.clear()
        self._visited[key] = visits
        return visits
