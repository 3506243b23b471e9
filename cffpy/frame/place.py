# SPDX-License-Identifier: MIT
"""Where a packet is: in which stream, called from where, at which address and file offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.facts import Address, described, fact
from cffpy.frame.model_object import ModelObject
from cffpy.frame.places import Call, PacketPath

if TYPE_CHECKING:
    from typing import Protocol

    from cffpy.capture.load import Identity
    from cffpy.capture.memory import Words

    class Submitted(Protocol):
        """A command stream that was submitted."""

        @property
        def number(self) -> int:
            """Number among the command streams of the capture."""

        @property
        def submit(self) -> int:
            """Number of its submit."""

        @property
        def identity(self) -> Identity | None:
            """The last section before it that names a GPU."""

    #: An entry of the machine's stack of streams: its words, its first dword, how many dwords.
    StreamEntry = tuple[Words, int, int]


@described(
    "stream",
    kind='"submit", "IB", "group", or the name of the packet that carries it',
    gpuaddr="GPU address of its first dword",
    group="number of the draw state group",
)
class ExecutedStream:
    """A run of commands: a submit's own stream, an IB, a draw-state group, a conditional block.

    ``caller`` is the packet that had it run, None for a submit's own stream. Of a draw-state group
    that a draw loads it is the last packet with an opcode before the draw.
    """

    __slots__ = ("caller", "gpuaddr", "group", "kind", "ndwords", "submit")

    kind: str
    gpuaddr: Address
    group: int | None

    def __init__(
        self,
        kind: str,
        submit: Submitted,
        gpuaddr: int,
        ndwords: int,
        caller: PacketLocation | None,
        group: int | None = None,
    ) -> None:
        #: "submit", "IB", "group", "block", or the name of the packet that carries it.
        self.kind = kind
        self.submit = submit
        self.gpuaddr = gpuaddr
        self.ndwords = ndwords
        self.caller = caller
        self.group = group

    def __str__(self) -> str:
        return f"{self.kind}:{self.gpuaddr:#x}"

    @property
    def called(self) -> str:
        """What a path calls it: ``IB``, ``group 3``."""
        return f"group {self.group}" if self.kind == "group" else self.kind

    @property
    def path(self) -> list[ExecutedStream]:
        """The streams down to this one, the submit's own first."""
        path = [self]
        while path[-1].caller is not None:
            path.append(path[-1].caller.stream)
        return path[::-1]


@described("place")
class PacketLocation(ModelObject):
    """A packet's place: dword ``index`` of ``words``, within a stream.

    A subclass may know the address in another way, and have no words.
    """

    __slots__ = ("index", "stream", "words")

    def __init__(self, stream: ExecutedStream, words: Words, index: int) -> None:
        self.stream = stream
        self.words = words
        self.index = index

    @fact(name="stream")
    def number(self) -> int:
        """Number of the command stream in the capture."""
        return self.stream.submit.number

    @fact()
    def path(self) -> list[ExecutedStream]:
        """The streams that lead to the packet, from the submit's own inwards."""
        path, stream = [], self.stream
        while True:  # without a call: places are shown for each action
            if stream.kind != "block":
                path.append(stream)
            if stream.caller is None:
                return path[::-1]
            stream = stream.caller.stream

    @fact()
    def gpuaddr(self) -> Address:
        """The packet's GPU address."""
        return self.words.address + 4 * self.index

    @fact()
    def file_offset(self) -> Address | None:
        """The packet's offset in the decompressed file, in bytes; None where the file has memory
        in pages, or encoded.
        """
        return self.words.file_offset + 4 * self.index

    @property
    def submit(self) -> Submitted:
        """The command stream that it belongs to."""
        return self.stream.submit

    @property
    def key(self) -> tuple[int, ...]:
        """Identifies this execution: stream number, addresses from the outside.

        Conditional blocks do not count: their packets are part of the stream around them, as they
        are for a dump, which follows no conditions.
        """
        addresses = [self.gpuaddr]
        stream = self.stream
        while stream.caller is not None:
            if stream.kind != "block":
                addresses.append(stream.caller.gpuaddr)
            stream = stream.caller.stream
        return (self.submit.number, *reversed(addresses))

    @property
    def name(self) -> PacketPath:
        """The place that commands take."""
        calls = (stream for stream in self.stream.path[1:] if stream.kind != "block")
        return PacketPath(
            self.submit.number,
            tuple(Call(stream.called, stream.gpuaddr) for stream in calls),
            self.gpuaddr,
            self.file_offset,
        )

    def __str__(self) -> str:
        """``stream 0 > IB 0x1008ce000 > 0x1008ce464 +0x1234``; the last is the file offset."""
        return str(self.name)


class Frame:
    """A stream that runs: its entry in the machine's stack, and its current packet.

    The current packet is the last one with an opcode, else the first of the stream.
    """

    __slots__ = ("entry", "index", "location", "stream", "words")

    def __init__(
        self, entry: StreamEntry, stream: ExecutedStream, words: Words, index: int
    ) -> None:
        self.entry = entry
        self.stream = stream
        self.words = words
        self.index = index
        #: Made when it is first asked for.
        self.location: PacketLocation | None = None

    def packet(self) -> PacketLocation:
        """Where the current packet is: one object each time."""
        location = self.location
        if location is None:
            location = self.location = PacketLocation(self.stream, self.words, self.index)
        return location
