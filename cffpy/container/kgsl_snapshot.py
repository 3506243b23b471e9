# SPDX-License-Identifier: MIT
"""GPU snapshots of the vendor's kernel driver (KGSL), which it writes when the GPU hangs.

``read_snapshot`` makes the same ``CrashDump`` of one that a devcoredump gives. Facts: the public
headers of the kernel driver. All numbers are little-endian, structures are packed. What is not
needed for a report is listed with its size (``CrashDump.binary_sections``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from cffpy.container.crash_dump import (
    BufferObject,
    ClusterRegister,
    CrashDump,
    DataBlock,
    DumpSection,
    FileOffset,
    GmuMemory,
    Ring,
)
from cffpy.container.devcoredump import Block
from cffpy.container.open import SNAPSHOT_MAGICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.row_readers import BytesLike


_FLAG = 1 << 31

#: Registers lie below this offset, in dwords.
_END_OF_REGISTERS = 1 << 20

#: Registers of a section at most.
_MOST = 1 << 20

#: Register and value.
Registers = list[tuple[int, int]]
#: Of a header's dword and the next one: first register, number of registers, dwords of the header.
_Form = Callable[[int, int], tuple[int, int, int]]


def packed_registers(dwords: tuple[int, ...]) -> Registers | None:
    """Registers of ``registers v2`` (0x0202) and of the GMU (0x1601); None where no form fits.

    ``registers v2`` has no header (adreno_snapshot_registers_v2 in adreno_snapshot.c). Where the
    first dword is the number of registers that follow, it counts as that: ``registers`` begin so.
    """
    if not dwords:
        return []
    forms = (_single_is_flagged, _run_is_flagged)
    counted = [_read(dwords[1:], form) for form in forms]
    with_count = (read for read in counted if read is not None and len(read) == dwords[0])
    plain = (_read(dwords, form) for form in forms)
    return next((read for read in (*with_count, *plain, *counted) if read is not None), None)


def cluster_registers(dwords: tuple[int, ...]) -> Registers | None:
    """Registers of a cluster; None where no form fits."""
    return _first(dwords, (_run_has_end, _run_is_flagged, _count_is_flagged, _single_is_flagged))


def _first(dwords: tuple[int, ...], forms: Iterable[_Form]) -> Registers | None:
    return next(
        (registers for form in forms if (registers := _read(dwords, form)) is not None), None
    )


def _read(dwords: tuple[int, ...], form: _Form) -> Registers | None:
    registers: Registers = []
    index, end = 0, len(dwords)
    while index < end:
        if index + 1 >= end:
            return None
        first, count, header = form(dwords[index], dwords[index + 1])
        index += header
        last = index + count
        if count <= 0 or last > end or first + count > _END_OF_REGISTERS or last > _MOST:
            return None
        registers += zip(range(first, first + count), dwords[index:last], strict=True)
        index = last
    return registers


def _single_is_flagged(first: int, second: int) -> tuple[int, int, int]:
    """A run is its first register and a count of two and more.

    adreno_snapshot_registers_v2: BIT(31) | register for one, else register and count.
    """
    if first & _FLAG:
        return first ^ _FLAG, 1, 1
    return first, second if second > 1 else 0, 2


def _run_is_flagged(first: int, second: int) -> tuple[int, int, int]:
    """A run is its first register, flagged, and a count. No source was found."""
    return (first ^ _FLAG, second, 2) if first & _FLAG else (first, 1, 1)


def _run_has_end(first: int, second: int) -> tuple[int, int, int]:
    """A run is its first register, flagged, and its last.

    gen8_snapshot_registers in adreno_gen8_snapshot.c: register for one, else BIT(31) | first, last.
    """
    if first & _FLAG:
        return first ^ _FLAG, second - (first ^ _FLAG) + 1, 2
    return first, 1, 1


def _count_is_flagged(first: int, second: int) -> tuple[int, int, int]:
    """A run is a count, flagged, and its first register. No source was found."""
    return (second, first ^ _FLAG, 2) if first & _FLAG else (first, 1, 1)


_VERSION_WITH_CHIP_ID = 2

_MAGIC = 0xABCD
_SECTION_MAGIC = re.compile(b"\xcd\xab")
_SECTION = struct.Struct("<HHI")
_GMU_REGISTERS, _END = 0x1601, 0xFFFF

#: Names of the sections.
SECTION_NAMES = {
    0x0101: "OS",
    0x0201: "registers",
    0x0202: "registers v2",
    0x0301: "ring",
    0x0302: "ring v2",
    0x0401: "IB",
    0x0402: "IB v2",
    0x0501: "indexed registers",
    0x0801: "instruction store",
    0x0901: "debug",
    0x0A01: "debug bus",
    0x0B01: "GPU object",
    0x0B02: "GPU object v2",
    0x0E01: "memory list",
    0x0E02: "memory list v2",
    0x1201: "shader block",
    0x1202: "shader block v2",
    0x1501: "context registers",
    0x1502: "context registers v2",
    _GMU_REGISTERS: "GMU registers",
    0x1701: "GMU memory",
    0x1801: "side debug bus",
    _END: "end",
}

_OBJECT_TYPES = {1: "shader", 2: "IB", 3: "generic", 4: "draw", 5: "global"}
_GLOBAL = 5
_HFI, _LOG = 1, 2

#: OS sections by osid: whether the GPU's state is there, size of the page table's base.
_OS_V1, _OS_V2, _OS_V4 = 0x0001, 0x0202, 0x0203
_OS = {
    _OS_V1: struct.Struct("<i6I I3I32s32s16s"),
    _OS_V2: struct.Struct("<6I Q3I32s32s16s"),
    _OS_V4: struct.Struct("<6I QQ5I32s32s16s16s"),
}

#: KGSL's rings have 8192 dwords.
_MOST_RING_DWORDS = 1 << 20

#: Problems that are described, sections that are listed.
_MOST_PROBLEMS, _MOST_SECTIONS = 100, 1 << 16


class StoredBlock(Block):
    """Contents that are in the file as they are."""

    __slots__ = ("_data",)

    def __init__(self, data: memoryview) -> None:
        super().__init__(b"", len(data))
        self._data = data

    def contents(self) -> bytes:
        """The contents of the object, in bytes as captured."""
        return bytes(self._data)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self._data)


class _Region(NamedTuple):
    """An IB or GPU object. ``ptbase``: the page table of its address space."""

    gpuaddr: int
    ptbase: int
    is_global: bool
    name: str
    offset: int
    data: memoryview


def is_snapshot(data: BytesLike) -> bool:
    """Whether data begins as a snapshot does."""
    return bytes(memoryview(data)[:4]) in SNAPSHOT_MAGICS


def read_snapshot(data: BytesLike) -> CrashDump:
    """Read a snapshot. Any bytes that begin as one are accepted, also if they are cut short."""
    return _Reader(memoryview(data).toreadonly().cast("B")).read()


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.dump = CrashDump(has_shared_fences=True)
        self._regions: list[_Region] = []
        #: The page table of the process that hangs; None if no OS section names it.
        self._ptbase: int | None = None

    def read(self) -> CrashDump:
        handlers: dict[int, Callable[[int, memoryview], None]] = {
            0x0101: self._os,
            0x0201: self._registers,
            0x0202: self._packed_registers,
            0x0301: self._ring,
            0x0302: self._ring,
            0x0401: self._ib,
            0x0402: self._ib,
            0x0501: self._indexed,
            0x0901: self._debug,
            0x0A01: self._debug_bus,
            0x0B01: self._object,
            0x0B02: self._object,
            0x1201: self._shader,
            0x1202: self._shader,
            0x1501: self._clusters,
            0x1502: self._clusters,
            _GMU_REGISTERS: self._packed_registers,
            0x1701: self._gmu_memory,
        }
        for kind, offset, payload in self._sections(self._header()):
            name = SECTION_NAMES.get(kind, f"section {kind:#06x}")
            if len(self.dump.binary_sections) < _MOST_SECTIONS:
                size = len(payload) + _SECTION.size
                self.dump.binary_sections.append(DumpSection(kind, name, FileOffset(offset), size))
            if name not in self.dump.sections:
                self.dump.sections.append(name)
            handler = handlers.get(kind)
            if handler is None:
                continue
            try:
                handler(offset, payload)
            except (struct.error, ValueError):
                self._skip(f"the section {name} at {offset:#x} is too short or not of its form")
        self._place_regions()
        return self.dump

    def _skip(self, problem: str) -> None:
        self.dump.skipped += 1
        if len(self.dump.problems) < _MOST_PROBLEMS:
            self.dump.problems.append(problem)

    # -- the file ---------------------------------------------------------------------------

    def _header(self) -> int:
        """Read the file's header; its size."""
        version = int.from_bytes(self._data[:2], "little")
        size = 12 if version >= _VERSION_WITH_CHIP_ID else 8
        header = bytes(self._data[:size]).ljust(12, b"\0")
        if len(self._data) < size:
            self._skip("the file ends within its header")
        _, gpu_id, chip_id = struct.unpack("<3I", header)
        if size < 12:
            chip_id = 0
        # 0x630: its digits are the number of the GPU; newer kernels write something else
        digits = f"{gpu_id & 0xFFFF:x}"
        number = int(digits) if digits.isdecimal() and len(digits) == 3 else 0
        core, major, minor, patch = chip_id.to_bytes(4, "big")
        self.dump.revision = number, core, major, minor, patch
        self.dump.header["revision"] = f"{gpu_id:#x} {chip_id:#x}", FileOffset(4)
        self.dump.header["module"] = "kgsl", FileOffset(0)
        return size

    def _sections(self, offset: int) -> Iterator[tuple[int, int, memoryview]]:
        """Type, offset and payload of each section; searches for the next after other bytes."""
        data, end = self._data, len(self._data)
        while offset < end:
            if offset + _SECTION.size > end:
                self._skip(f"the file ends within a section's header, at {offset:#x}")
                return
            magic, kind, size = _SECTION.unpack_from(data, offset)
            is_cut = offset + size > end
            is_none = magic != _MAGIC or size < _SECTION.size
            if is_none or (is_cut and kind not in SECTION_NAMES):
                following = self._next_section(offset + 1)
                behind = "nothing" if following is None else f"the section at {following:#x}"
                self._skip(f"no section at {offset:#x}: {behind} follows")
                if following is None:
                    return
                offset = following
                continue
            last = offset + size
            if is_cut:
                self._skip(f"the file ends within the section at {offset:#x}")
            yield kind, offset, data[offset + _SECTION.size : min(last, end)]
            if kind == _END:
                return
            offset = last
        self._skip("the file ends without its last section")

    def _next_section(self, offset: int) -> int | None:
        """Offset of the next section of a known type."""
        data = self._data
        for match in _SECTION_MAGIC.finditer(data, offset, max(len(data) - 6, 0)):
            _, kind, size = _SECTION.unpack_from(data, match.start())
            if kind in SECTION_NAMES and _SECTION.size <= size <= len(data) - match.start():
                return match.start()
        return None

    # -- sections ---------------------------------------------------------------------------

    def _os(self, offset: int, payload: memoryview) -> None:
        (osid,) = struct.unpack_from("<i", payload)
        layout = _OS.get(osid)
        if layout is None:
            self._skip(f"the OS section at {offset:#x} is of unknown kind {osid:#x}")
            return
        values = list(layout.unpack_from(payload, 4))
        if osid == _OS_V1:
            state = values.pop(0)
            self._head("state", "running" if state else "hung", offset)
        self._head("time", str(values[0]), offset)
        self._ptbase = values[6]
        del values[: 8 if osid == _OS_V4 else 7]
        self._head("pid", str(values[0]), offset)
        if osid == _OS_V4:  # values: pid, pid of the LPAC, context, context of the LPAC, count
            context, texts = values[2], values[5:]
        else:
            context, texts = values[1], values[3:]
        self._head("context", str(context), offset)
        release, version, comm = (_text(text) for text in texts[:3])
        self._head("kernel", f"{release} {version}".strip(), offset)
        self._head("comm", comm, offset)

    def _head(self, key: str, text: str, offset: int) -> None:
        if text:
            self.dump.header.setdefault(key, (text, FileOffset(offset)))

    def _registers(self, offset: int, payload: memoryview) -> None:
        """Pairs of a register's offset and its value."""
        (count,) = struct.unpack_from("<I", payload)
        dwords = _dwords(payload[4:])
        end = min(2 * count, len(dwords) // 2 * 2)
        pairs = list(zip(dwords[:end:2], dwords[1:end:2], strict=True))
        self._store(self.dump.registers, pairs, offset)
        if 2 * count > len(dwords):
            raise ValueError

    def _packed_registers(self, offset: int, payload: memoryview) -> None:
        """Runs of registers: of the GPU, and of the GMU."""
        registers = packed_registers(_dwords(payload))
        if registers is None:
            raise ValueError
        is_gmu = self._kind(offset) == _GMU_REGISTERS
        self._store(self.dump.gmu_registers if is_gmu else self.dump.registers, registers, offset)

    def _store(
        self,
        registers: dict[int, tuple[int, int]],
        pairs: list[tuple[int, int]],
        offset: int,
    ) -> None:
        place = FileOffset(offset)
        registers.update((register, (value, place)) for register, value in pairs)

    def _kind(self, offset: int) -> int:
        return int.from_bytes(self._data[offset + 2 : offset + 4], "little")

    def _ring(self, offset: int, payload: memoryview) -> None:
        start, _, ring_size, wptr, rptr, _, queued, retired = struct.unpack_from("<6i2I", payload)
        gpuaddr, number, header = 0, len(self.dump.rings), 32
        if self._kind(offset) == 0x0302:
            gpuaddr, number = struct.unpack_from("<QI", payload, 32)
            header = 44
        data = payload[header:]
        ring_size = ring_size if 0 < ring_size <= _MOST_RING_DWORDS else len(data) // 4
        place = FileOffset(offset)
        contents = _wrapped(data, start, ring_size)
        self.dump.rings.append(
            Ring(
                number,
                place,
                gpuaddr,
                4 * ring_size,
                max(rptr, 0),
                max(wptr, 0),
                place,
                queued,
                retired,
                StoredBlock(memoryview(contents)),
            )
        )

    def _ib(self, offset: int, payload: memoryview) -> None:
        layout = struct.Struct("<QQQ" if self._kind(offset) == 0x0402 else "<IIi")
        gpuaddr, ptbase, size = layout.unpack_from(payload)
        self._add_region(gpuaddr, ptbase, "IB", offset, payload[layout.size :], size)

    def _object(self, offset: int, payload: memoryview) -> None:
        layout = struct.Struct("<iQQQ" if self._kind(offset) == 0x0B02 else "<iIIi")
        kind, gpuaddr, ptbase, size = layout.unpack_from(payload)
        name = _OBJECT_TYPES.get(kind, f"type {kind}")
        self._add_region(
            gpuaddr, ptbase, name, offset, payload[layout.size :], size, kind == _GLOBAL
        )

    def _add_region(
        self,
        gpuaddr: int,
        ptbase: int,
        name: str,
        offset: int,
        data: memoryview,
        ndwords: int,
        is_global: bool = False,
    ) -> None:
        if ndwords >= 0:
            data = data[: 4 * ndwords]
        if len(data):
            self._regions.append(_Region(gpuaddr, ptbase, is_global, name, offset, data))

    def _indexed(self, offset: int, payload: memoryview) -> None:
        index, _, start, count = struct.unpack_from("<2I2i", payload)
        where = f"from {start:#x}" if start else ""
        self._add_block(self.dump.indexed, f"index {index:#x}", where, offset, payload[16:], count)

    def _debug(self, offset: int, payload: memoryview) -> None:
        kind, count = struct.unpack_from("<2i", payload)
        self._add_block(self.dump.shader_blocks, f"debug {kind}", "", offset, payload[8:], count)

    def _debug_bus(self, offset: int, payload: memoryview) -> None:
        number, count = struct.unpack_from("<2i", payload)
        name = f"debug bus {number:#x}"
        self._add_block(self.dump.debugbus, name, "", offset, payload[8:], count)

    def _shader(self, offset: int, payload: memoryview) -> None:
        if self._kind(offset) == 0x1202:
            kind, index, usptp, pipe, location, count = struct.unpack_from("<5iI", payload)
            where, header = f"sp {index} usptp {usptp} pipe {pipe} location {location}", 24
        else:
            kind, index, count = struct.unpack_from("<3i", payload)
            where, header = f"sp {index}", 12
        name = f"shader block {kind}"
        self._add_block(
            self.dump.shader_blocks, name, where, offset, payload[header:], max(count, 0)
        )

    def _add_block(
        self,
        blocks: list[DataBlock],
        name: str,
        where: str,
        offset: int,
        data: memoryview,
        ndwords: int,
    ) -> None:
        block = StoredBlock(data[: 4 * max(ndwords, 0)])
        blocks.append(DataBlock(name, FileOffset(offset), where, block))

    def _clusters(self, offset: int, payload: memoryview) -> None:
        pipe, header = "", 8
        context, cluster = struct.unpack_from("<2i", payload)
        if self._kind(offset) == 0x1502:
            pipe, header = str(struct.unpack_from("<i", payload, 8)[0]), 16
        registers = cluster_registers(_dwords(payload[header:]))
        if registers is None:
            raise ValueError
        self.dump.clusters += [
            ClusterRegister(pipe, str(cluster), str(context), register, value, FileOffset(offset))
            for register, value in registers
        ]

    def _gmu_memory(self, offset: int, payload: memoryview) -> None:
        kind, _, _, gpuaddr = struct.unpack_from("<i3Q", payload)
        memory = GmuMemory(FileOffset(offset), gpuaddr, StoredBlock(payload[28:]))
        if kind == _HFI and self.dump.gmu_hfi is None:
            self.dump.gmu_hfi = memory
        elif kind == _LOG and self.dump.gmu_log is None:
            self.dump.gmu_log = memory

    # -- memory -----------------------------------------------------------------------------

    def _place_regions(self) -> None:
        """Keep the address space that hangs: at an address, the largest; of equals the first."""
        ptbase = self._hung_ptbase()
        kept: dict[int, _Region] = {}
        others = 0
        for region in self._regions:
            if region.ptbase != ptbase and not region.is_global:
                others += 1
                continue
            known = kept.get(region.gpuaddr)
            if known is None or len(region.data) > len(known.data):
                kept[region.gpuaddr] = region
        for kept_object in kept.values():
            size, block = len(kept_object.data), StoredBlock(kept_object.data)
            place = FileOffset(kept_object.offset)
            self.dump.buffers.append(
                BufferObject(kept_object.gpuaddr, place, size, kept_object.name, None, block)
            )
        if others:
            text = f"{others} IBs and objects of other processes are left out"
            self.dump.header["memory"] = text, FileOffset(0)

    def _hung_ptbase(self) -> int | None:
        """The page table of the process that hangs.

        The space of the OS section; if nothing lies in it, of the first IB, else of the first
        object.
        """
        spaces = [region.ptbase for region in self._regions if not region.is_global]
        if self._ptbase in spaces:
            return self._ptbase
        of_ibs = [
            region.ptbase
            for region in self._regions
            if region.name == "IB" and not region.is_global
        ]
        return next(iter([*of_ibs, *spaces]), None)


def _dwords(payload: memoryview) -> tuple[int, ...]:
    count = len(payload) // 4
    return struct.unpack_from(f"<{count}I", payload)


def _wrapped(data: memoryview, start: int, ring_dwords: int) -> bytes:
    """A ring's contents, of which ``data`` begins at dword ``start`` and goes on at its start."""
    size, at = 4 * ring_dwords, 4 * start
    data = data[:size]
    if not 0 < at < size:
        return bytes(data)
    ring = bytearray(size)
    first = data[: size - at]
    ring[at : at + len(first)] = first
    rest = data[size - at :]
    ring[: len(rest)] = rest
    return bytes(ring)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace").strip()
