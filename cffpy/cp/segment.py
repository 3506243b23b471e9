# SPDX-License-Identifier: MIT
"""Segments: what a run of packets does, recorded once and replayed when it comes again.

Streams are executed again and again: the same IB for each tile, the same state object for each
draw. A segment is a maximal run of packets, within one stream, that do nothing but write
registers, set modes and show text. It ends before a packet that draws, descends into another
stream, or needs decoding state that is not listed here.

What a replay is right for:

- the key: the place in memory, the level, whether a
  wait-for-idle is due, and whatever the sink says that it depends on (``Sink.segment_key``: quiet
  levels, current variants, the a5xx address latch, the memory image's epoch);
- the guards: registers that the text was made from but that the segment did not write itself, with
  the values that they had. Another value means: decode anew.

What it does: appends the sink's payload, updates the registers, repeats the packets' effects on
modes and draw-state groups, and goes on behind the last packet.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import Words
    from cffpy.cp.packets import Handler
    from cffpy.cp.sink import Payload

    Effect = tuple[Handler, Payload, int]

#: Where a segment may start: words, dword index, level, needs_wfi, the sink's key.
SegmentKey = tuple["Words", int, int, bool, int]

#: A segment whose guards failed so often is not recorded anew.
MAX_MISSES = 4

#: Whenever so many segments were recorded and less than every second one has come again, segments
#: are recorded one visit later than before: many streams run only once or twice.
TRIAL = 512

#: Places whose visits are counted for that.
MAX_VISITED = 1 << 16

#: Packets of a segment at most, so that its text stays small.
MAX_PACKETS = 512

#: Sizes of all payloads of a memory image, in the sink's unit (characters of text), at most.
BUDGET = 16 << 20


class Segment:
    """A recorded segment of ``ndwords``; 0 of them where none can start."""

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
        #: Whether a wait-for-idle is due behind it.
        self.needs_wfi = needs_wfi
        #: The sink's.
        self.payload = payload
        #: How often this place was recorded anew because a guard failed.
        self.misses = 0

    def holds(self, registers: dict[int, int]) -> bool:
        """True when every register that the text was made from has the value that it had."""
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
        #: The sink's mark behind the last accepted packet.
        self.mark = mark
        self.ndwords = 0
        self.packets = 0
        self.registers: dict[int, int] = {}
        self.guards: dict[int, int] = {}
        self.effects: list[Effect] = []

    def write(self, register: int, values: list[int]) -> None:
        """Consecutive registers were written."""
        for written, value in enumerate(values, register):
            self.registers[written] = value

    def read(self, register: int, value: int) -> None:
        """A register was read to make text."""
        if register not in self.registers:
            self.guards.setdefault(register, value)
