# SPDX-License-Identifier: MIT
"""CrashContext: a crash dump with its memory, the registers by name, and the ring's commands.

What needs the GPU is None or empty where the dump does not name one that is known.

Sources of what newer kernels say of the address space (``Mappings``): the msm kernel driver's
``vm-log`` (the last changes of a VM that userspace manages, the oldest first) and
``pgtable-fault-info`` (the page-table entries of the faulting address, in the Arm LPAE format of
the GPU's SMMU).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.capture.gpu import Gpu, guess, lookup_chip_id, lookup_gpu_id
from cffpy.capture.memory import MemoryImage, Words
from cffpy.container.crash_dump import CrashDump, FileOffset, Ring, read_crash_dump
from cffpy.container.devcoredump import indexed_name
from cffpy.container.kgsl_snapshot import is_snapshot, read_snapshot
from cffpy.cp.packets import TABLE
from cffpy.cp.runner import Runner
from cffpy.cp.sink import NullSink
from cffpy.errors import RegisterDbError
from cffpy.frame.facts import Address, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.pm4.reader import (
    BAD,
    IDLE,
    OPCODE,
    REGISTERS,
    Fields,
    Payload,
    is_type4_or_type7,
    next_packet,
    read_header,
)
from cffpy.regdb.database import Database
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.capture.memory import MemoryLocation
    from cffpy.container.devcoredump import Block
    from cffpy.row_readers import BytesLike

_ENTRY = re.compile(r"- (\w+):(-?\d+): 0x([0-9a-fA-F]{1,16})-0x([0-9a-fA-F]{1,16})", re.ASCII)
_WALK = re.compile(r"- ptes:((?: [0-9a-fA-F]{1,16}){1,4})", re.ASCII)

#: Of a page-table entry: valid; a table, or a page of the last level (else a block); read-only.
_VALID, _TABLE, _READ_ONLY = 1, 2, 1 << 7
_LAST_LEVEL = 3


class Mapping(NamedTuple):
    """A change of the address space: ``operation`` is "map" or "unmap", ``end`` exclusive.

    ``line``: of the dump, from 1.
    """

    operation: str
    queue: str
    start: int
    end: int
    line: int

    @property
    def is_mapped(self) -> bool:
        """Whether its addresses are mapped afterwards."""
        return self.operation == "map"

    def __str__(self) -> str:
        return f"{self.operation} {self.start:#x}-{self.end:#x} by queue {self.queue}"


class Mappings:
    """The changes that a dump lists, and the walk of the page table."""

    def __init__(self, dump: CrashDump) -> None:
        self._changes: list[Mapping] = []
        for text, line in dump.others.get("vm-log", ()):
            match = _ENTRY.match(text)
            if match is not None:
                operation, queue, start, end = match.groups()
                change = Mapping(operation, queue, int(start, 16), int(end, 16), line)
                self._changes.append(change)
        self._walk: tuple[list[int], int] | None = None
        for text, line in dump.others.get("pgtable-fault-info", ()):
            match = _WALK.match(text)
            if match is not None:
                self._walk = [int(entry, 16) for entry in match[1].split()], line

    def last_change(self, gpuaddr: int) -> Mapping | None:
        """The last change of an address; None where the dump lists none."""
        changes = reversed(self._changes)
        return next((change for change in changes if change.start <= gpuaddr < change.end), None)

    def holds(self, gpuaddr: int) -> bool:
        """Whether the last change of an address mapped it."""
        change = self.last_change(gpuaddr)
        return change is not None and change.is_mapped

    def page_of_fault(self) -> tuple[str, int] | None:
        """What the page table says of the faulting address, in words, and the line of the dump."""
        if self._walk is None:
            return None
        entries, line = self._walk
        for level, entry in enumerate(entries):
            if not entry & _VALID:
                return f"the page table does not map it: entry {entry:#x} of level {level}", line
            if level == _LAST_LEVEL or not entry & _TABLE:
                access = "read-only" if entry & _READ_ONLY else "writable"
                text = f"the page table maps it, {access}: entry {entry:#x} of level {level}"
                return text, line
        return None


#: Statistics of the SQE by thread.
STATISTICS: dict[str, Literal["BR", "BV"]] = {"CP_SQE_STAT": "BR", "CP_BV_SQE_STAT": "BV"}

#: Bytes of zeros that are added to the contents of all buffers together: the kernel omits zeros.
_ZEROS = 16 << 20

_CALLS = ("CP_INDIRECT_BUFFER", "CP_INDIRECT_BUFFER_PFD", "CP_INDIRECT_BUFFER_PFE")
_CHAINS = ("CP_INDIRECT_BUFFER_CHAIN",)
_INDIRECT_BUFFER = Fields("CP_INDIRECT_BUFFER", "IB_BASE", "IB_SIZE")

#: Types of packets from a5xx on; kinds of packets.
_HEADERS, _PACKETS = (4, 7), (OPCODE, REGISTERS)

#: Bytes of a ring that are read, at most.
_RING_BYTES = 1 << 20

#: An event that writes a fence: the event, the address and the fence's number.
_FENCE_DWORDS = 3


@model("crash_call", frozen=True, is_value=False)
class RingCall(ModelObject):
    """A packet that calls an IB."""

    gpuaddr: Address = stored("GPU address of the IB")
    dwords: int = stored("its length", "dwords")
    #: Of the header of the packet, and of the dword after it, from the begin of the stream; dwords.
    index: int
    end: int


@dataclass(slots=True, frozen=True)
class RingCommands:
    """A copy of the ring's commands, at address 0.

    ``oldest``: the dword of the ring at which they begin.
    """

    words: Words
    oldest: int


def read_dump(data: BytesLike) -> CrashDump:
    """Read a crash dump of either kind: a devcoredump or a KGSL snapshot."""
    return read_snapshot(data) if is_snapshot(data) else read_crash_dump(data)


class CrashContext:
    """What the other modules of this package read."""

    def __init__(
        self, dump: CrashDump, register_db: str | None = None, gpu: Gpu | None = None
    ) -> None:
        """``gpu``: decode for this GPU, instead of that of the dump."""
        self.dump = dump
        self.mappings = Mappings(dump)
        self.gpu = gpu or _gpu_of(dump)
        self.image = MemoryImage()
        #: Buffers and rings as they are in memory: address, size in bytes, contents.
        self.memory: list[tuple[int, int, bytes]] = []
        self._zeros = _ZEROS
        self._fill()
        self.machine: Runner | None = None
        if self.gpu is not None:
            try:
                database = Database.open(self.gpu.chip, register_db)
            except RegisterDbError:
                if register_db is not None:
                    raise
                return
            self.machine = Runner(NullSink(), self.image, TABLE, segments=False)
            self.machine.bind(self.gpu, database)
            for register, (value, _) in dump.registers.items():
                self.machine.state.registers[register] = value

    def _fill(self) -> None:
        entries = [(buffer.iova, buffer.size, buffer.block) for buffer in self.dump.buffers]
        entries += [(ring.iova, ring.size, ring.block) for ring in self.dump.rings]
        for iova, size, block in entries:
            if block is None or not iova:
                continue
            contents = self._contents(block, size)
            self.memory.append((iova, size, contents))
            self.image.add(iova, size, memoryview(contents))

    def _contents(self, block: Block, size: int) -> bytes:
        contents = block.contents()[:size]
        missing = min(size - len(contents), self._zeros)
        self._zeros -= missing
        return contents + bytes(missing)

    # -- registers --------------------------------------------------------------------------

    def register_offset(self, *names: str) -> int:
        """Offset in dwords of the first of these registers that the generation has; 0: none."""
        if self.machine is None:
            return 0
        database = self.machine.database
        return next((offset for name in names if (offset := database.register_offset(name))), 0)

    def register(self, *names: str) -> int | None:
        """A 32-bit register's value; None where the dump or the generation does not have it."""
        offset = self.register_offset(*names)
        return self.dump.value(offset) if offset else None

    def address(self, *names: str) -> int | None:
        """A register that holds an address, of 64 bits from a5xx on."""
        offset = self.register_offset(*names)
        low = self.dump.value(offset) if offset else None
        if low is None or self.machine is None or not self.machine.is_64bit:
            return low
        return low | (self.dump.value(offset + 1) or 0) << 32

    def line(self, *names: str) -> int | None:
        """The line of the dump that has the register."""
        line = self.dump.registers.get(self.register_offset(*names))
        return None if line is None else line[1]

    # -- commands ---------------------------------------------------------------------------

    @property
    def ring(self) -> Ring | None:
        """The ring that the CP reads: that of CP_RB_BASE, else the one with commands."""
        rings = [ring for ring in self.dump.rings if ring.block is not None]
        base = self.address("CP_RB_BASE")
        named = [ring for ring in rings if ring.iova == base]
        busy = [ring for ring in rings if ring.rptr != ring.wptr]
        return next(iter([*named, *busy, *rings]), None)

    def ring_commands(self) -> RingCommands | None:
        """The ring's commands in order, from the oldest that it holds to its write pointer.

        Includes those after the read pointer: the fetcher may have called their IBs.
        """
        ring = self.ring
        if ring is None or ring.block is None:
            return None
        contents = ring.block.contents()[: ring.size]
        contents += bytes(max(0, min(ring.size, _RING_BYTES) - len(contents)))
        rptr, wptr = (4 * min(pointer, len(contents) // 4) for pointer in (ring.rptr, ring.wptr))
        if wptr == rptr and not ring.wptr:
            return RingCommands(Words(0, memoryview(contents)), 0)
        older = contents[wptr:]
        if not any(older):
            return RingCommands(Words(0, memoryview(contents[:wptr])), 0)
        return RingCommands(Words(0, memoryview(older + contents[:wptr])), wptr // 4)

    def packets(self, words: Words, index: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """The packets from dword ``index`` on: index, kind, register or opcode, dwords.

        Dwords that are not packets are skipped.
        """
        machine = self.machine
        end = min(end, words.count)
        while machine is not None and index < end:
            word = words.data[index]
            kind, number, size = machine.headers[word]
            if (machine.is_64bit and word >> 28 not in _HEADERS) or kind not in _PACKETS:
                index += 1
                if machine.is_64bit:
                    index = next_packet(words.data, index, end)
                continue
            yield index, kind, number, size
            index += size

    def bad_header(self, words: Words, index: int, end: int) -> int | None:
        """The first dword from ``index`` on that stands where a packet begins but is no header."""
        machine = self.machine
        end = min(end, words.count)
        while machine is not None and index < end:
            word = words.data[index]
            kind, _number, size = machine.headers[word]
            if (kind != IDLE and machine.is_64bit and word >> 28 not in _HEADERS) or kind == BAD:
                return index
            index += size
        return None

    def packet_name(self, kind: int, number: int) -> str:
        """The name of a packet: its opcode's, or that it writes a register, and those after it."""
        if kind == REGISTERS and self.machine is not None:
            return f"register write of {RegisterText(self.machine.database).name(number)}"
        name = None if self.machine is None else self.machine.packet_names[number]
        return name or f"opcode {number:#x}"

    def packet_of_header(self, header: int) -> str | None:
        """The name of a packet by its header; None for what is not a header of a known packet."""
        machine = self.machine
        if machine is None or header >> 28 != _HEADERS[1] or not is_type4_or_type7(header):
            return None
        kind, opcode, _ = read_header(header)
        return machine.packet_names[opcode] if kind == OPCODE else None

    def executed_header(self) -> int | None:
        """The header of the packet that the SQE executes for BR; None where it is no known one."""
        for block in self.dump.indexed:
            if STATISTICS.get(indexed_name(block.name)) == "BR" and block.block is not None:
                contents = block.block.contents()[:8].ljust(8, b"\0")
                header = int.from_bytes(contents[4:], "little")
                return header if self.packet_of_header(header) else None
        return None

    def calls(
        self, words: Words, index: int, end: int, chained: bool = False
    ) -> Iterator[RingCall]:
        """The calls of IBs among commands; indices count from ``index``.

        ``chained``: the IBs at which commands go on, instead.
        """
        wanted = _CHAINS if chained else _CALLS
        machine = self.machine
        if machine is None:
            return
        reader = machine.packets[_INDIRECT_BUFFER]
        for start, kind, number, size in self.packets(words, index, end):
            if kind == OPCODE and machine.packet_names[number] in wanted:
                gpuaddr, ndwords = Payload(words, start + 1, size - 1).read(reader)
                yield RingCall(gpuaddr, ndwords, start - index, start + size - index)

    def ring_calls(self) -> list[RingCall]:
        """All IBs that the ring's commands call, also those whose fence is retired."""
        commands = self.ring_commands()
        if commands is None:
            return []
        return list(self.calls(commands.words, 0, commands.words.count))

    def pending_calls(self) -> list[RingCall]:
        """The IBs that the ring calls after the last fence that is known to be retired.

        Also those after the read pointer.
        """
        commands, ring, machine = self.ring_commands(), self.ring, self.machine
        if commands is None or ring is None or machine is None:
            return []
        words = commands.words
        pending: list[RingCall] = []
        calls = {call.index: call for call in self.ring_calls()}
        for index, kind, number, size in self.packets(words, 0, words.count):
            if index in calls:
                pending.append(calls[index])
            elif kind == OPCODE and size > _FENCE_DWORDS:
                name = machine.packet_names[number] or ""
                is_event = name.startswith("CP_EVENT_WRITE")
                if is_event and self._is_retired(ring, words.get(index + size - 1), pending):
                    pending.clear()
        return pending

    def _is_retired(self, ring: Ring, fence: int, calls: list[RingCall]) -> bool:
        """Whether the fence after these calls is retired.

        With several timelines, fences say nothing about the call that the CP is in.
        """
        if ring.retired_fence is None or (ring.retired_fence - fence & 0xFFFFFFFF) >> 31:
            return False
        hung = self.address("CP_IB1_BASE") if self.dump.has_shared_fences else None
        return all(call.gpuaddr != hung for call in calls)

    def place(self, gpuaddr: int) -> MemoryLocation | None:
        """The dword at an address, where the dump has it."""
        return self.image.place(gpuaddr)


def _gpu_of(dump: CrashDump) -> Gpu | None:
    if dump.revision is None:
        return None
    number = dump.revision[0]
    return lookup_gpu_id(number) or lookup_chip_id(dump.chip_id) or guess(number, dump.chip_id)


@model("evidence", frozen=True)
class Evidence:
    """Where a statement comes from: one of these."""

    line: int | None = stored("number of a line of the dump, from 1", default=None)
    address: Address | None = stored("GPU address in the memory of the dump", default=None)
    offset: Address | None = stored("offset in a binary dump, in bytes", default=None)

    def __str__(self) -> str:
        if self.offset is not None:
            return f"file {self.offset:#x}"
        return f"line {self.line}" if self.line is not None else f"at {self.address or 0:#x}"


def lines(*numbers: int | None) -> tuple[Evidence, ...]:
    """Evidence in lines of the dump, or at offsets in it; None and 0 are ignored."""
    return tuple(
        [
            Evidence(offset=number) if isinstance(number, FileOffset) else Evidence(line=number)
            for number in dict.fromkeys(numbers)
            if number
        ]
    )


def addresses(*places: int | None) -> tuple[Evidence, ...]:
    """Evidence in memory; None is ignored."""
    return tuple([Evidence(address=place) for place in dict.fromkeys(places) if place is not None])
