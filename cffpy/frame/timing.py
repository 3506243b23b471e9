# SPDX-License-Identifier: MIT
"""Times of passes and tiles: timestamps that the driver has the GPU write around them.

u_trace of Mesa's drivers has pairs of such packets around passes, binning runs and tiles; programs
have timestamps of their own, which serve as well. The stream does not say which two belong
together: the span of a pass or tile is from the last timestamp before its first action to the first
one after its last action, if nothing of another pass or tile is executed between.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from cffpy.frame.facts import Address, described, fact
from cffpy.frame.places import PacketLocation

#: A tick of the counter that never stops lasts this: 19.2 MHz.
_NANOSECONDS, _TICKS = 625, 12

#: What stores the counter: an event, when what came before is done; or CP_REG_TO_MEM, at once.
TimestampPacket = Literal["CP_EVENT_WRITE", "CP_EVENT_WRITE7", "CP_REG_TO_MEM"]


def nanoseconds(ticks: int) -> float:
    """Ticks of the counter of 19.2 MHz in nanoseconds."""
    return ticks * _NANOSECONDS / _TICKS


@described(
    "timestamp",
    number="position among the timestamps of the capture, in the order of execution",
    packet="name of the packet that stores it",
    place="where the packet is",
    gpuaddr="GPU address that it stores 64 bits to",
    ticks="what it stored, in ticks of 19.2 MHz; None where no memory after it was captured",
    next_action="number of the action that follows it, among those of the capture",
)
class Timestamp(NamedTuple):
    """A packet that stores the GPU's time, executed once."""

    number: int
    packet: TimestampPacket
    place: PacketLocation
    gpuaddr: Address
    ticks: int | None
    next_action: int

    def __str__(self) -> str:
        value = "not captured" if self.ticks is None else f"{self.ticks} ticks"
        return f"timestamp {self.number} at {self.place.gpuaddr:#x}, {value}"


@described(
    "time_span",
    begin="the last timestamp before the first action",
    end="the first timestamp after the last action",
)
class TimeSpan(NamedTuple):
    """From one timestamp to another one."""

    begin: Timestamp
    end: Timestamp

    @fact()
    def ticks(self) -> int | None:
        """Ticks of 19.2 MHz between both; None where either value was not captured, or the end is
        before the begin.
        """
        if self.begin.ticks is None or self.end.ticks is None:
            return None
        ticks = self.end.ticks - self.begin.ticks
        return ticks if ticks >= 0 else None

    @fact(unit="nanoseconds")
    def duration(self) -> float | None:
        """How long it took; None where ``ticks`` is."""
        return None if self.ticks is None else nanoseconds(self.ticks)

    def __str__(self) -> str:
        return "not captured" if self.duration is None else f"{self.duration:,.0f} ns"
