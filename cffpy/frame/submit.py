# SPDX-License-Identifier: MIT
"""Submits: the command streams that the driver submitted, and the buffers that these see.

The reader of sections (``cffpy.analysis.summary``) fills these objects; no command is decoded.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from cffpy.errors import UsageError
from cffpy.frame.buffer import Buffer
from cffpy.frame.facts import Address, fact, model, stored
from cffpy.frame.model_object import ModelObject

if TYPE_CHECKING:
    from typing import Protocol

    from cffpy.frame.memory import Memory
    from cffpy.frame.passes import Pass

    class SubmitAnswers(Protocol):
        """A capture that computes what is asked of its submits, and keeps it."""

        def memory(self, submit: int) -> Memory:
            """What the buffers of a submit hold."""

        def passes_of_submit(self, submit: int) -> list[Pass]:
            """The passes of a submit, in order."""


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
    answers: SubmitAnswers | None = field(default=None, repr=False)

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
        if self.answers is None:
            raise UsageError("the capture is closed")
        return self.answers

    def to_dict(self, buffers: bool = False) -> dict[str, Any]:
        """Its object in the document of ``cffpy info --json``. ``buffers``: with its buffers."""
        from cffpy.frame.faces import facts_document

        return facts_document(self, ("buffers",) if buffers else ())

    def __repr__(self) -> str:
        return (
            f"<Submit {self.number}: {self.stream_count} command streams, "
            f"{self.buffer_count} buffers>"
        )
