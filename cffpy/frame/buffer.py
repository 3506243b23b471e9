# SPDX-License-Identifier: MIT
"""Buffers: the memory that the commands of a submit see, as captured."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from cffpy.frame.facts import Address, fact, model, stored
from cffpy.frame.model_object import ModelObject

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
        "kept: streams see it; replaced by a later buffer at its address; dropped, as it starts "
        "inside another",
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
