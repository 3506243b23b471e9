# SPDX-License-Identifier: MIT
"""What a capture has before a command is decoded: submits, streams, buffers, memory, problems.

The reader of sections (``cffpy.analysis.summary``) fills these objects. A submit has command
streams and the buffers that they see; ``Memory`` is what the buffers hold, as captured. A
``Problem`` is damage, a warning, or what a limit left out of the results.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from cffpy.capture.load import CommandStream, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.errors import UsageError
from cffpy.frame.driver import CalledStream
from cffpy.frame.facts import Address, fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.limits import hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.capture import memory
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content

#: What became of a buffer: ``kept``; ``replaced`` by a later one at its address; ``dropped``,
#: because it starts inside another.
BufferState = Literal["kept", "replaced", "dropped"]


@model("buffer")
class Buffer(ModelObject):
    """A buffer of a submit: its address, its size, and the bytes that were captured of it."""

    submit: int = stored("number of the submit")
    gpuaddr: Address = stored("GPU address of its first byte")
    size: int = stored("the size that the capture declares", "bytes")
    file_offset: Address = stored("where its contents begin in the decompressed file")
    #: The captured bytes, which may be fewer than ``size``. Not a copy; read only.
    contents: memoryview = field(repr=False)
    state: BufferState = stored(
        "what became of it: it is kept, and streams see it; replaced by a later buffer at its "
        "address; or dropped, as it starts inside another",
        default="kept",
    )

    @fact(unit="bytes")
    def captured(self) -> int:
        """How much of it was captured; may be less than ``size``."""
        return len(self.contents)

    def __contains__(self, gpuaddr: int) -> bool:
        return self.gpuaddr <= gpuaddr < self.gpuaddr + self.size

    def __repr__(self) -> str:
        cut = "" if self.captured == self.size else f", {self.captured} captured"
        state = "" if self.state == "kept" else f", {self.state}"
        return f"<Buffer {self.gpuaddr:#x}, {self.size} bytes{cut}{state}>"


if TYPE_CHECKING:
    from typing import Protocol

    from cffpy.frame.passes import Pass

    class SubmitAnswers(Protocol):
        """A capture that computes what is asked of its submits, and keeps it."""

        def memory(self, submit: int) -> Memory:
            """What the buffers of a submit hold."""

        def passes_of_submit(self, submit: int) -> list[Pass]:
            """The passes of a submit, in order."""

        def called_streams(self, submit: int) -> list[CalledStream]:
            """The streams of a submit and what they call, with their roles."""


@model("stream")
class Stream(ModelObject):
    """A command stream that was submitted: what the ring calls, up to its end."""

    number: int = stored("number among the command streams of the capture", is_key=True)
    submit: int = stored("number of the submit")
    gpuaddr: Address = stored("GPU address of its first dword")
    dwords: int = stored("its length", "dwords")
    captured_dwords: int | None = stored(
        "how many of them are in the buffer that holds it; None where its address is in no buffer"
    )
    process: str | None = stored("name of the process, where the capture has it")
    engine: str | None = stored(
        "the engine of an Intel GPU that runs it; None for others",
        default=None,
        words=("render", "video", "blitter", "compute", "unknown"),
    )
    file_offset: Address | None = stored(
        "offset of the block of an AUB file that submits it; None for others", default=None
    )

    @property
    def is_missing(self) -> bool:
        """Whether dwords of it were not captured."""
        return self.captured_dwords is None or self.captured_dwords < self.dwords

    def __repr__(self) -> str:
        there = {None: ", not captured", self.dwords: ""}
        cut = there.get(self.captured_dwords, f", {self.captured_dwords} captured")
        return f"<Stream {self.number} at {self.gpuaddr:#x}, {self.dwords} dwords{cut}>"


@model("submit")
class Submit(ModelObject):
    """Command streams of a capture that see one set of buffers."""

    number: int = stored("number of the submit in the capture", is_key=True)
    process: str | None = stored("name of the process, where the capture has it", default=None)
    streams: list[Stream] = stored("its command streams", default_factory=list)
    #: Its buffers in the order of the file, also those that were replaced or dropped.
    section_buffers: list[Buffer] = field(default_factory=list, repr=False)
    #: Answers what takes more than the sections; None: nobody does.
    _answers: SubmitAnswers | None = field(default=None, repr=False)

    @fact()
    def stream_count(self) -> int:
        """How many command streams it has."""
        return len(self.streams)

    @fact(unit="dwords")
    def dwords(self) -> int:
        """The length of its command streams, together."""
        return sum(stream.dwords for stream in self.streams)

    @fact()
    def buffer_count(self) -> int:
        """How many buffers its streams see."""
        return len(self.kept_buffers)

    @fact(unit="bytes")
    def buffer_bytes(self) -> int:
        """The declared size of the buffers that its streams see, together."""
        return sum(buffer.size for buffer in self.kept_buffers)

    @fact(cost="large")
    def buffers(self) -> list[Buffer]:
        """Its buffers in the order of the file, also those that were replaced or dropped."""
        return self.section_buffers

    @fact(cost="large")
    def called_streams(self) -> list[CalledStream]:
        """Its command streams and the IBs that these call, in order, and what the driver has each
        for.
        """
        return self._asked.called_streams(self.number)

    @property
    def kept_buffers(self) -> list[Buffer]:
        """The buffers that its streams see, in the order of the file."""
        return [buffer for buffer in self.section_buffers if buffer.state == "kept"]

    @property
    def memory(self) -> Memory:
        """What its buffers hold, before its commands run."""
        return self._asked.memory(self.number)

    @property
    def passes(self) -> list[Pass]:
        """Its passes."""
        return self._asked.passes_of_submit(self.number)

    @property
    def _asked(self) -> SubmitAnswers:
        if self._answers is None:
            raise UsageError("the capture is closed")
        return self._answers

    def to_dict(self, buffers: bool = False) -> dict[str, Any]:
        """Its object in the document of ``cffpy info --json``. ``buffers``: with its buffers."""
        from cffpy.frame.faces import facts_document

        return facts_document(self, ("buffers",) if buffers else ())

    def __repr__(self) -> str:
        return (
            f"<Submit {self.number}: {self.stream_count} command streams, "
            f"{self.buffer_count} buffers>"
        )


class _KeptImage(MemoryImage):
    """An image that keeps what it had when it was cleared last."""

    last: MemoryImage | None = None

    def clear(self) -> None:
        """Keep the buffers, then drop them."""
        self.last = self.copy()
        super().clear()


def memories_of(content: Content, submits: int) -> list[Memory]:
    """The memory of each submit.

    A capture that ends early may have buffers after its last command stream: they belong to its
    last submit, ``submits`` says whether there is such a one.
    """
    memories: list[Memory] = []
    image = _KeptImage()
    for record in read_records(content.sections(), image):
        if isinstance(record, CommandStream) and record.submit == len(memories):
            memories.append(Memory(image.copy(), len(memories)))
    if len(memories) < submits and image.last is not None:
        memories.append(Memory(image.last, len(memories)))
    return memories


class Memory:
    """The memory of one submit as the capture has it: before its commands ran.

    It has neither what a driver patches by CP_MEM_WRITE nor what the GPU writes.
    """

    def __init__(self, image: MemoryImage, submit: int) -> None:
        self._image = image
        self._submit = submit

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers by rising address."""
        return [self._buffer(buffer) for buffer in self._image.buffers]

    def _buffer(self, of: memory.Buffer) -> Buffer:
        contents = of.contents.toreadonly()
        return Buffer(self._submit, of.gpuaddr, of.size, of.file_offset, contents)

    def buffer(self, gpuaddr: int) -> Buffer | None:
        """The buffer that holds an address, or None."""
        held = self._image.find(gpuaddr)
        return None if held is None else self._buffer(held)

    def read(self, gpuaddr: int, size: int) -> bytes | None:
        """``size`` bytes from an address on, also across adjacent buffers.

        None where any of these bytes was not captured; ``captured`` tells how many there are.
        """
        if size < 0:
            raise UsageError(f"cannot read {size} bytes")
        pieces = []
        for piece in self._pieces(gpuaddr, size):
            pieces.append(piece)
            size -= len(piece)
        return None if size else b"".join(pieces)

    def rest(self, gpuaddr: int) -> memoryview | None:
        """The captured bytes from an address to the end of its buffer; None where there are none.

        Not a copy; read only.
        """
        buffer = self._image.find(gpuaddr)
        if buffer is None:
            return None
        return buffer.contents[gpuaddr - buffer.gpuaddr :].toreadonly() or None

    def captured(self, gpuaddr: int, most: int = 1 << 32) -> int:
        """Bytes that were captured from an address on without a gap, at most ``most``."""
        return sum(len(piece) for piece in self._pieces(gpuaddr, most))

    def u32(self, gpuaddr: int) -> int | None:
        """The dword at an address; None where it was not captured."""
        data = self.read(gpuaddr, 4)
        return None if data is None else int.from_bytes(data, "little")

    def u64(self, gpuaddr: int) -> int | None:
        """The 64-bit word at an address; None where it was not captured."""
        data = self.read(gpuaddr, 8)
        return None if data is None else int.from_bytes(data, "little")

    def _pieces(self, gpuaddr: int, size: int) -> Iterator[memoryview]:
        while size > 0:
            buffer = self._image.find(gpuaddr)
            if buffer is None:
                return
            start = gpuaddr - buffer.gpuaddr
            piece = buffer.contents[start : start + size]
            if not piece:
                return
            yield piece
            gpuaddr += len(piece)
            size -= len(piece)

    def __repr__(self) -> str:
        buffers = self._image.buffers
        total = sum(len(buffer.contents) for buffer in buffers)
        return f"<Memory: {len(buffers)} buffers, {total} bytes captured>"


ProblemKind = Literal["damage", "truncated", "warning"]


@model("problem", frozen=True, is_value=False)
class Problem(ModelObject):
    """A problem of a capture, or a part that is missing from its results."""

    kind: ProblemKind = stored("damage; truncated, by a limit; or a warning")
    text: str = stored("what the problem is, in one line")
    file_offset: Address | None = stored(
        "where it is in the decompressed file; None where it is in the commands", default=None
    )
    stops_cffdump: bool = stored(
        'cffdump of Mesa says "corrupt file" and stops reading here', default=False
    )

    @property
    def line(self) -> str:
        """The text and the offset, as commands print them."""
        if self.file_offset is None:
            return self.text
        return f"{self.text} (at file offset {self.file_offset:#x})"

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def problem_of_damage(damage: Damage) -> Problem:
    """The problem that damage of a file is."""
    text = f"{damage.message} {hint(damage.limit)}" if damage.limit else damage.message
    kind: ProblemKind = "truncated" if damage.limit else "damage"
    return Problem(kind, text, damage.offset, damage.reference_says_corrupt)
