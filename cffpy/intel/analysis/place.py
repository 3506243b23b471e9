# SPDX-License-Identifier: MIT
"""Where an instruction is: its submission, its batch, its address."""

from __future__ import annotations

from cffpy.frame.places import ExecutedStream, PacketLocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.frame.facts import Address


class Submission:
    """A submission: its engine, where its commands begin, where the file has it.

    ``number``: among the submissions, each of which is a submit with one command stream.
    ``ndwords``: of its ring, or its batch in error states. ``offset``: in the file, None in error
    states.
    """

    #: No section names a GPU: a file has one.
    identity = None

    def __init__(
        self, number: int, engine: str, gpuaddr: int, ndwords: int, offset: int | None
    ) -> None:
        self.number = number
        self.engine = engine
        self.gpuaddr = gpuaddr
        self.ndwords = ndwords
        self.offset = offset

    @property
    def submit(self) -> int:
        """Its number."""
        return self.number

    def stream(self) -> ExecutedStream:
        """Its own commands."""
        return ExecutedStream("submit", self, self.gpuaddr, self.ndwords, None)


class InstructionPlace(PacketLocation):
    """An instruction's place. It has an address instead of words.

    An AUB file has its bytes at ``file_offset``. Error states and devcoredumps have them encoded:
    there is no offset; neither is there where a draw is predicted, or a command has written it.
    """

    __slots__ = ("_file_offset", "_gpuaddr")

    def __init__(self, stream: ExecutedStream, gpuaddr: int, file_offset: int | None) -> None:
        self.stream = stream
        self._gpuaddr = gpuaddr
        self._file_offset = file_offset

    @property
    def gpuaddr(self) -> Address:
        """The instruction's GPU address; 0 and on in the rings of classic files."""
        return self._gpuaddr

    @property
    def file_offset(self) -> Address | None:
        """Its offset in the decompressed file, in bytes; None: see the class."""
        return self._file_offset
