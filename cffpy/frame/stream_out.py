# SPDX-License-Identifier: MIT
"""StreamOut: what a draw writes of its vertices to buffers (transform feedback).

``cffpy.analysis.stream_out`` reads it from the registers of the draw and the packets around it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.frame.places import PacketLocation

if TYPE_CHECKING:
    from cffpy.frame.action import Action
    from cffpy.frame.submit import Memory

#: Who writes: the VPC, by its program (a5xx and later), or the vertex program by its own stores (up
#: to a4xx).
StreamOutUnit = Literal["VPC", "program"]

#: The runs of a pass in which a draw writes.
StreamOutRun = Literal["sysmem", "binning run", "tiles"]


@described(
    "stream_output",
    is_value=False,
    location="first dword of it among the outputs of a vertex, where a register has it",
    components="dwords of it",
    register="register of the program that has the first of them; None for what no output is at",
    stage="the stage of that program",
    stream="number of its stream",
    buffer="number of the buffer that it is written to",
    buffer_offset="where in each vertex of the buffer, in bytes",
)
class StreamOutput(NamedTuple):
    """Components that lie side by side both in a vertex and in its buffer."""

    location: int
    components: int
    register: str | None
    stage: str
    stream: int
    buffer: int
    buffer_offset: int

    def __str__(self) -> str:
        last = self.location + self.components - 1
        places = f"{self.location}" if self.components == 1 else f"{self.location}-{last}"
        source = "" if self.register is None else f" ({self.stage} {self.register})"
        return f"{places}{source} to buffer {self.buffer} +{self.buffer_offset}"


@model("stream_out_buffer", is_value=False)
class StreamOutBuffer(ModelObject):
    """A buffer that a draw writes vertices to."""

    number: int = stored("number of the buffer", is_key=True)
    address: Address | None = stored("GPU address", default=None)
    size: int | None = stored("what may be written", "bytes", default=None)
    stride: int | None = stored("from one vertex to the next", "bytes", default=None)
    stream: int | None = stored(
        "the stream whose vertices it takes; None where no stream is bound to it", default=None
    )
    buffer_offset: int | None = stored(
        "what the offset was set to last before the draw, from where draws since then have moved "
        "on; None where only the GPU knows it",
        "bytes",
        default=None,
    )
    loaded_by: PacketLocation | None = stored(
        "the packet that loads the offset from memory, where only the GPU knows it", default=None
    )
    loaded_from: Address | None = stored("GPU address that it loads the offset from", default=None)
    flushed_by: PacketLocation | None = stored(
        "the first event after the draw that stores the offset that writing has come to",
        default=None,
    )
    flushed_to: Address | None = stored("GPU address that it stores the offset to", default=None)
    copied_to: Address | None = stored(
        "GPU address that packets copy the stored offset to", default=None
    )
    captured: int = stored("what the capture has of it", "bytes", default=0)
    captured_with: int | None = stored(
        "number of the submit whose buffers have it: a later one, or of a crash dump the draw's "
        "own, where it is from after the draw; else the draw's own, from before it",
        default=None,
    )
    memory: Memory | None = field(default=None, repr=False)

    @property
    def data(self) -> bytes:
        """What the capture has of it."""
        if self.memory is None or self.address is None:
            return b""
        return self.memory.read(self.address, self.captured) or b""


@model("stream_out", is_value=False)
class StreamOut(ModelObject):
    """Stream-out of a draw of the program."""

    action: Action
    unit: StreamOutUnit = stored(
        "who writes: the VPC by its program, or, up to a4xx, the vertex program by stores, which "
        "tell neither outputs nor buffers"
    )
    runs: tuple[StreamOutRun, ...] = stored(
        "the runs of the pass in which it writes; empty where it is switched off in all of them",
        default=(),
    )
    streams: tuple[int, ...] = stored("the streams that are on", default=())
    outputs: list[StreamOutput] = stored(
        "the program of the VPC: what it writes where", default_factory=list
    )
    buffers: list[StreamOutBuffer] = stored("the buffers that it writes", default_factory=list)

    @fact()
    def draw(self) -> str | None:
        """The draw by the name that commands take: p3:17."""
        return self.action.name

    @fact()
    def place(self) -> PacketLocation:
        """Where its packet is."""
        return self.action.place

    @fact()
    def writes(self) -> bool:
        """Whether it writes in any run of its pass."""
        return bool(self.runs)
