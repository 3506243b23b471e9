# SPDX-License-Identifier: MIT
"""Memory: what the buffers of a submit hold, as captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.capture.load import CommandStream, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.errors import UsageError
from cffpy.frame.buffer import Buffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.capture import memory
    from cffpy.container.open import Content


class _KeptImage(MemoryImage):
    """An image that keeps what it had when it was cleared last."""

    last: MemoryImage | None = None

    def clear(self) -> None:
        """Keep the buffers, then drop them."""
        self.last = self.copy()
        super().clear()


def memories_of(content: Content, submits: int) -> list[Memory]:
    """The memory of each submit.

    A capture that ends early may have buffers after its last command stream: they are those of its
    last submit, ``submits`` says whether there is such a one.
    """
    found: list[Memory] = []
    image = _KeptImage()
    for record in read_records(content.sections(), image):
        if isinstance(record, CommandStream) and record.submit == len(found):
            found.append(Memory(image.copy(), len(found)))
    if len(found) < submits and image.last is not None:
        found.append(Memory(image.last, len(found)))
    return found


class Memory:
    """The memory of one submit as the capture has it: before its commands ran.

    It has neither what a driver patches by CP_MEM_WRITE nor what the GPU writes.
    """

    def __init__(self, image: MemoryImage, submit: int) -> None:
        self._image = image
        self._submit = submit

    @property
    def image(self) -> MemoryImage:
        """The object behind it; its shape may change."""
        return self._image

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers by rising address."""
        return [self._buffer(buffer) for buffer in self._image.buffers]

    def _buffer(self, of: memory.Buffer) -> Buffer:
        contents = of.contents.toreadonly()
        return Buffer(self._submit, of.gpuaddr, of.size, of.file_offset, contents)

    def buffer(self, gpuaddr: int) -> Buffer | None:
        """The buffer that holds an address, or None."""
        found = self._image.find(gpuaddr)
        return None if found is None else self._buffer(found)

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
