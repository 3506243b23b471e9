# SPDX-License-Identifier: MIT
"""What draw-state groups write that do nothing but write registers, read without running them.

Most groups are of this kind. Drivers set the same group for draw after draw, or write it anew with
the same contents, and a frame's groups are loaded again in each tile. ``Sink.group_writes`` returns
whether a sink does without callbacks.
"""

from __future__ import annotations

from cffpy.cp.payload import Payload
from cffpy.pm4.reader import OPCODE, REGISTERS, HeaderMemo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence, Set

    from cffpy.capture.memory import MemoryImage, Words

    #: Its words, its first dword, how many dwords.
    Group = tuple[Words, int, int]

#: Registers of all groups that are kept, at most. A group counts as one more.
MAX_KEPT = 1 << 16

#: Dwords of groups that are kept by their contents.
MAX_HELD = 1 << 18

#: In place of the registers of a group that is not known.
_NO_REGISTERS: dict[int, int] = {}


class RegisterRuns:
    """Registers by group, kept from the second time on. Forgotten when memory changes."""

    def __init__(
        self,
        image: MemoryImage,
        headers: HeaderMemo,
        writes: Callable[[int, Payload], Sequence[tuple[int, int]] | None],
    ) -> None:
        """``writes``: (register, value) of a packet with an opcode; None if it does anything else.

        It takes the opcode and the packet without its header.
        """
        self._image = image
        self.headers = headers
        self._writes = writes
        self._epoch = -1
        self._known: dict[Group, dict[int, int] | None] = {}
        self._seen: set[Group] = set()
        #: Registers by the bytes of a group: groups with equal contents share them.
        self._contents: dict[bytes, dict[int, int] | None] = {}
        self._kept = 0
        #: Dwords of ``_contents``.
        self._held = 0
        #: How often a group was read, how often another one was equal, and how often it was known.
        self.read = 0
        self.equal = 0
        self.known = 0

    def of_group(self, words: Words, index: int, ndwords: int) -> dict[int, int] | None:
        """Register -> value. None for a group that has other packets, or that is damaged."""
        if self._epoch != self._image.epoch:
            self._epoch = self._image.epoch
            self._forget_places()
        group = (words, index, ndwords)
        known = self._known
        registers = known.get(group, _NO_REGISTERS)
        if registers is not _NO_REGISTERS:
            self.known += 1
            return registers
        self.read += 1
        registers = self._of_contents(words, index, ndwords)
        if group in self._seen:
            self._kept += len(registers or ()) + 1
            if self._kept > MAX_KEPT:
                self._forget_places()
            known[group] = registers
        else:
            if len(self._seen) >= MAX_KEPT:
                self._seen.clear()
            self._seen.add(group)
        return registers

    def release(self, writes: Callable[[int, Payload], Sequence[tuple[int, int]] | None]) -> None:
        """Forget all groups: no stream runs any more. ``writes``: from now on, in place of the old.

        Who asks what wrote a register needs it also after that.
        """
        self.forget()
        self._writes = writes

    def forget(self) -> None:
        """Forget all groups: other packets are ignored from now on."""
        self._contents.clear()
        self._held = 0
        self._forget_places()

    def _forget_places(self) -> None:
        self._known.clear()
        self._seen.clear()
        self._kept = 0

    def _of_contents(self, words: Words, index: int, ndwords: int) -> dict[int, int] | None:
        if index + ndwords > words.count:
            return None
        contents = words.data[index : index + ndwords].tobytes()
        registers = self._contents.get(contents, _NO_REGISTERS)
        if registers is not _NO_REGISTERS:
            self.equal += 1
            return registers
        registers = self._read(words, index, ndwords)
        self._held += ndwords
        if self._held > MAX_HELD:
            self._contents.clear()
            self._held = ndwords
        self._contents[contents] = registers
        return registers

    def packets(self, words: Words, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """Index, dwords, kind (REGISTERS, OPCODE, IDLE) and number of each packet of a part.

        Of a part that was stored at once, so that all its headers are valid.
        """
        headers, data = self.headers, words.data
        while start < end:
            kind, number, size = headers[data[start]]
            yield start, size, kind, number
            start += size

    def writes(self, opcode: int, payload: Payload) -> Sequence[tuple[int, int]]:
        """(Register, value) of all that a packet of such a part does."""
        return self._writes(opcode, payload) or ()

    def write_packets(
        self, words: Words, start: int, end: int
    ) -> Iterator[tuple[int, int, Iterable[int]]]:
        """Index, dwords and registers of each packet of ``words[start:end]`` that writes any.

        Of a part that was stored at once. The size of a packet with an opcode is given as 1: its
        registers are not consecutive.
        """
        for index, size, kind, number in self.packets(words, start, end):
            if kind == REGISTERS:
                yield index, size, range(number, number + size - 1)
            elif kind == OPCODE:
                writes = self._writes(number, Payload(words, index + 1, size - 1))
                if writes:
                    yield index, 1, [register for register, _ in writes]

    def write_packets_of(
        self, words: Words, start: int, end: int, wanted: Set[int]
    ) -> Iterator[tuple[int, int]]:
        """Index and dwords, as of ``write_packets``, of each packet that writes a wanted one."""
        for index, size, registers in self.write_packets(words, start, end):
            if not wanted.isdisjoint(registers):
                yield index, size

    def _read(self, words: Words, index: int, ndwords: int) -> dict[int, int] | None:
        headers, data = self.headers, words.data
        end = index + ndwords
        registers: dict[int, int] = {}
        while index < end:
            kind, number, size = headers[data[index]]
            following = index + size
            if following > end:
                return None
            if kind == REGISTERS:
                for value in data[index + 1 : following].tolist():
                    registers[number] = value
                    number += 1
            elif kind == OPCODE:
                writes = self._writes(number, Payload(words, index + 1, size - 1))
                if writes is None:
                    return None
                registers.update(writes)
            else:
                return None
            index = following
        return registers
