# SPDX-License-Identifier: MIT
"""Waits of the pipes BR and BV for each other (a7xx), which ``cffpy.analysis.pipe_waits`` finds."""

from __future__ import annotations

from typing import Literal, NamedTuple

from cffpy.frame.facts import Address, described, model, stored
from cffpy.frame.model_object import ModelObject
from cffpy.frame.place import PacketLocation

#: "signalled": by the other pipe. "held before": without a signal of this capture. "never": nobody
#: signals it before this pipe, or the other one, would have to go on. "unknown": the GPU decides
#: whether there is a wait, or commands are missing.
WaitState = Literal["signalled", "held before", "never", "unknown"]
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
        "whether the other pipe signals it, it held before, nobody signals it, or it is unknown",
        default="unknown",
    )
    signal: PipeSignal | None = stored("the packet that signals it", default=None)
