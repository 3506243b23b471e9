# SPDX-License-Identifier: MIT
"""Whether commands are executed, and what the pipes BR and BV (a7xx) wait for.

``Executed`` is what the command stream shows of an execution. ``cffpy.analysis.pipe_waits`` makes
the ``PipeWait`` objects.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple

from cffpy.frame.facts import Address, described, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.frame.places import PacketLocation


class Executed(Enum):
    """Whether commands are executed. ``value`` is what facts have."""

    YES = True
    NO = False
    #: Only the GPU knows.
    UNKNOWN = None

    def __init__(self, value: bool | None) -> None:
        #: Whether it is not NO. An attribute: asked several times for each action.
        self.is_possible = value is not False
        self.is_unknown = value is None

    def within(self, outer: Executed) -> Executed:
        """This of a block, inside of commands that are executed as ``outer`` says."""
        if self is Executed.NO or outer is Executed.NO:
            return Executed.NO
        return self if outer is Executed.YES else outer


#: "signalled": by the other pipe, in all orders in which both pipes may run. "held before":
#: without a signal of this capture. "race": it holds in some order; in another one a packet writes
#: over the value before this pipe has seen it, and the pipe hangs. "never": it holds in no order.
#: "unknown": the GPU decides whether there is a wait, or commands are missing.
WaitState = Literal["signalled", "held before", "race", "never", "unknown"]
#: What a wait is for: a value or time stamp on the chip or in memory, the other pipe's count, or
#: that the other pipe is at the same packet.
WaitKind = Literal["on-chip", "memory", "count", "packet"]

SinglePipe = Literal["BR", "BV"]


@described("signal", pipe="the pipe that signals", place="where its packet is")
class PipeSignal(NamedTuple):
    """A packet that writes what the other pipe waits for."""

    pipe: SinglePipe
    place: PacketLocation


@model("wait")
class PipeWait(ModelObject):
    """A wait of a pipe for the other one."""

    pipe: SinglePipe = stored("the pipe that waits")
    kind: WaitKind = stored(
        "what for: a value or time stamp on the chip or in memory, the other pipe's count, or "
        "that the other pipe is at the same packet"
    )
    wanted: str = stored("what for, in words")
    place: PacketLocation = stored("where its packet is")
    #: The pass that needs it.
    pass_index: int | None
    address: Address | None = stored(
        "number of the value on the chip, or its GPU address in memory; None for counts",
        default=None,
    )
    state: WaitState = stored(
        "whether the other pipe signals it in all orders in which both may run, it held before, "
        "it depends on the order, nobody signals it in any order, or it is unknown",
        default="unknown",
    )
    signal: PipeSignal | None = stored(
        "the packet that signals it; of a race, in some order", default=None
    )
    overwritten: PipeSignal | None = stored(
        "of a race: the packet that writes over the value before this pipe has seen it",
        default=None,
    )
