# SPDX-License-Identifier: MIT
"""WriteObserver: turns the events of register writes into sources of writes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.register_store.writes import PacketWrites, StoredWrites
from cffpy.frame.register_write import RegisterWrite
from cffpy.pm4.reader import packet_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.writes import Circumstances, WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

#: Dwords of a submit that CP_MEM_WRITE stored and that are remembered, about.
_MAX_PATCHES = 1 << 20


class WriteObserver(Observer):
    """Passes writes to ``note``; those of packets in a row together, as ``PacketWrites``."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        #: The name of a packet by its header; of the GPU that is bound, or was for an earlier file.
        self._packet_name: Callable[[int], str] = partial(_packet_name_now, walk)
        #: Address of a dword that CP_MEM_WRITE stored -> the last such packet.
        self._patches: dict[int, PacketLocation] = {}
        #: The first of these addresses, and the one after the last.
        self._patched = 0, 0
        #: What was noted last, if packets can be added to it.
        self._together: PacketWrites | None = None

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Registers are written. Their values, if they are known already, are passed as a dict."""
        raise NotImplementedError

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Packets have the names of this GPU."""
        self._packet_name = partial(packet_name, database)

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The buffers of a submit are new."""
        if is_new_submit:
            self._patches.clear()
            self._patched = 0, 0

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """Remember the addresses: commands may be there."""
        location = self._walk.packet_location
        if len(self._patches) < _MAX_PATCHES:
            end = gpuaddr + 4 * payload.count
            for address in range(gpuaddr, end, 4):
                self._patches[address] = location
            first, last = self._patched
            self._patched = (min(first, gpuaddr), max(last, end)) if last else (gpuaddr, end)

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Note the packet, together with those before it."""
        sources = self._walk.computation.sources
        patch = self._patch(location, ndwords) if self._patches else None
        circumstances = self._circumstances()
        if patch is not None or sources:
            write = RegisterWrite(location, *circumstances, patch, sources)
            self._together = None
            self.note(registers, write)
            return
        together = self._together
        if together is None or not together.add(registers, location, circumstances):
            together = PacketWrites(registers, location, circumstances)
            self.note(together, together)
            self._together = together

    def registers_stored(
        self, stored: StoredRegisters, stream: ExecutedStream, caller: PacketLocation | None
    ) -> None:
        """Note them together; one by one where commands are patched, which may go on."""
        self._together = None
        circumstances = self._circumstances()
        source = StoredWrites(stored, stream, caller, circumstances)
        if not self._patches or not self.is_patched(stored):
            for part in stored.parts:
                if part:
                    self.note(part, source)
            return
        for register in stored.registers:
            write, ndwords = source.of(register), stored.packet(register).ndwords
            patch = self._patch(write.place, ndwords)
            if patch is not None:
                write = RegisterWrite(write.place, *circumstances, patch)
            self.note((register,), write)

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        """Note the packet: it is a write, too."""
        self.registers_written(registers, location, 1)

    def is_patched(self, stored: StoredRegisters) -> bool:
        """Whether a packet may have stored any of the commands that wrote them."""
        first, end = self._patched
        return any(begin < end and behind > first for begin, behind in _commands(stored))

    def _circumstances(self) -> Circumstances:
        """Those of what is written now."""
        walk = self._walk
        return (
            self._packet_name,
            self._passes.owner,
            walk.executed,
            walk.condition,
            walk.pipe,
        )

    def _patch(self, location: PacketLocation, ndwords: int) -> PacketLocation | None:
        """The packet that stored (a part of) this one."""
        addresses = range(location.gpuaddr, location.gpuaddr + 4 * ndwords, 4)
        patches = self._patches
        return next((patches[address] for address in addresses if address in patches), None)


def _packet_name_now(walk: Walk, header: int) -> str:
    return packet_name(walk.machine.database, header)


def _commands(stored: StoredRegisters) -> Iterator[tuple[int, int]]:
    """GPU addresses of the commands that wrote registers: the first one, the one behind."""
    if stored.words is not None:
        address = stored.words.address
        yield address + 4 * stored.start, address + 4 * stored.following
    for _, words, index, ndwords in stored.groups:
        begin = words.address + 4 * index
        yield begin, begin + 4 * ndwords
