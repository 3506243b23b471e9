# SPDX-License-Identifier: MIT
"""A GPU crash dump as a whole: the lines of cffpy.container.devcoredump collected into objects.

Nothing is decoded here. Each object keeps the number of the line that it comes from (from 1), so
that statements about a dump can name their source; of a binary dump (cffpy.container.kgsl_snapshot)
that is a ``FileOffset``. Lines that do not have their section's form are skipped and recorded in
``CrashDump.problems``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cffpy.container.devcoredump import Block, iter_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.devcoredump import Item
    from cffpy.row_readers import BytesLike

#: Lines of an item, by its key, where it is not one.
_LINES = {"data": 2, "end": 0}

#: Lines that were skipped and are described one by one.
_MAX_PROBLEMS = 100

#: The sections that a complete dump of a6xx or a7xx has.
SECTIONS = (
    "ringbuffer",
    "bos",
    "gmu-log",
    "gmu-hfi",
    "registers",
    "registers-gmu",
    "indexed-registers",
    "shader-blocks",
    "clusters",
    "debugbus",
)

#: The same of a snapshot: names of sections, without their version.
SNAPSHOT_SECTIONS = (
    "ring",
    "IB",
    "registers",
    "indexed registers",
    "shader block",
    "context registers",
    "debug bus",
    "GMU registers",
    "GMU memory",
    "end",
)


class FileOffset(int):
    """Where an object of a binary dump lies in the file, in place of a line: bytes."""


class DumpSection(NamedTuple):
    """A section of a binary dump. ``size``: bytes with its header, as far as they are there."""

    type: int
    name: str
    offset: int
    size: int


@dataclass(slots=True)
class Ring:
    """A ring buffer. ``size`` is in bytes; ``rptr`` and ``wptr`` are in dwords.

    ``line``: of its entry; ``rptr_line``: of the read pointer.
    """

    number: int
    line: int
    iova: int = 0
    size: int = 0
    rptr: int = 0
    wptr: int = 0
    rptr_line: int = 0
    last_fence: int | None = None
    retired_fence: int | None = None
    block: Block | None = None


@dataclass(slots=True)
class BufferObject:
    """A buffer of the submit. ``size`` is in bytes; ``block`` is None where it was not dumped."""

    iova: int
    line: int
    size: int = 0
    name: str = ""
    flags: int | None = None
    block: Block | None = None

    @property
    def end(self) -> int:
        """The first gpuaddr after its bytes."""
        return self.iova + self.size


@dataclass(slots=True)
class DataBlock:
    """An entry with data: of indexed-registers, shader-blocks or debugbus.

    ``where``: of a block of shader memory its pipe, bank, SP and the like, as the dump has them.
    """

    name: str
    line: int
    where: str = ""
    block: Block | None = None


@dataclass(slots=True)
class ClusterRegister:
    """A register of a cluster: ``register`` is its offset in dwords. Names as the dump has them."""

    pipe: str
    cluster: str
    context: str
    register: int
    value: int
    line: int


@dataclass(slots=True)
class GmuMemory:
    """The section gmu-log or gmu-hfi. ``history``: of each queue, its last read positions."""

    line: int
    iova: int = 0
    block: Block | None = None
    history: dict[int, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class CrashDump:
    """All of a dump. ``revision``: the GPU number and core, major, minor, patch; None if unknown.

    ``header``: key -> (text, line) of the lines outside of sections. ``fault``: the same of the
    section fault-info. ``registers`` and ``gmu_registers``: offset in dwords -> (value, line), the
    last of each.
    """

    header: dict[str, tuple[str, int]] = field(default_factory=dict)
    revision: tuple[int, int, int, int, int] | None = None
    fault: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: The faulting address, as crashdec reads it, and its line.
    fault_address: int | None = None
    fault_line: int = 0
    rings: list[Ring] = field(default_factory=list)
    buffers: list[BufferObject] = field(default_factory=list)
    registers: dict[int, tuple[int, int]] = field(default_factory=dict)
    gmu_registers: dict[int, tuple[int, int]] = field(default_factory=dict)
    indexed: list[DataBlock] = field(default_factory=list)
    shader_blocks: list[DataBlock] = field(default_factory=list)
    clusters: list[ClusterRegister] = field(default_factory=list)
    debugbus: list[DataBlock] = field(default_factory=list)
    gmu_log: GmuMemory | None = None
    gmu_hfi: GmuMemory | None = None
    #: Lines of sections that are not known (vm-log, pgtable-fault-info), by the section's name.
    others: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    #: Names of the sections that are there, in order.
    sections: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    #: Lines that were skipped.
    skipped: int = 0
    #: Of a binary dump: its sections, in order.
    binary_sections: list[DumpSection] = field(default_factory=list)
    #: Fences of rings are of several timelines, which only the driver can tell apart.
    has_shared_fences: bool = False

    @property
    def chip_id(self) -> int:
        """The chip id that the revision stands for; 0 without one."""
        if self.revision is None:
            return 0
        _, core, major, minor, patch = self.revision
        return (core << 24 | major << 16 | minor << 8 | patch) & 0xFFFFFFFF

    @property
    def missing(self) -> list[str]:
        """The sections of ``SECTIONS``, or of ``SNAPSHOT_SECTIONS``, that are not there."""
        if self.binary_sections:
            present = {section.name.removesuffix(" v2") for section in self.binary_sections}
            return [name for name in SNAPSHOT_SECTIONS if name not in present]
        return [name for name in SECTIONS if name not in self.sections]

    def value(self, register: int) -> int | None:
        """A register's value; None where the dump does not have it."""
        value = self.registers.get(register)
        return None if value is None else value[0]

    def buffer_at(self, gpuaddr: int) -> BufferObject | None:
        """The buffer that an address lies in."""
        return next(
            (buffer for buffer in self.buffers if buffer.iova <= gpuaddr < buffer.end), None
        )


#: Lines of sections that are not known, kept of each; bytes of each that are kept.
_OTHER_LINES, _OTHER_BYTES = 256, 512


def read_crash_dump(data: BytesLike) -> CrashDump:
    """Collect a dump. Any bytes are accepted."""
    return _Reader().read(data)


class _Reader:
    def __init__(self) -> None:
        self.dump = CrashDump()
        self._line = 0
        #: The section that is not known that lines belong to.
        self._other = ""
        self._ring: Ring | None = None
        self._buffer: BufferObject | None = None
        self._block: DataBlock | None = None
        self._type = ""
        self._where: dict[str, str] = {}
        self._gmu: GmuMemory | None = None

    def read(self, data: BytesLike) -> CrashDump:
        sections: dict[str, Callable[[Item], None]] = {
            "": self._heading,
            "fault-info": self._fault,
            "bos": self._bos,
            "ringbuffer": self._ringbuffer,
            "gmu-log": self._gmu_memory,
            "gmu-hfi": self._gmu_memory,
            "registers": self._registers,
            "registers-gmu": self._registers,
            "indexed-registers": self._indexed,
            "shader-blocks": self._shaders,
            "clusters": self._clusters,
            "debugbus": self._indexed,
        }
        lines = 0
        for item in iter_items(data, goes_on=True):
            self._line = lines + 1
            lines += _LINES.get(item.key, 1)
            if item.pattern:
                self._skip(f"line {self._line} is not of the form {item.pattern!r}")
            elif item.key == "foreign":
                line = self._line - int(item.values[0])
                self._skip(f"line {line} does not belong to the section {item.section}")
            elif item.key == "begin":
                self._begin(item.section)
            elif item.key != "end":
                sections[item.section](item)
        return self.dump

    def _skip(self, problem: str) -> None:
        self.dump.skipped += 1
        if len(self.dump.problems) < _MAX_PROBLEMS:
            self.dump.problems.append(problem)

    def _begin(self, section: str) -> None:
        if section not in self.dump.sections:
            self.dump.sections.append(section)
        self._other = self._type = ""
        self._ring = self._buffer = self._block = self._gmu = None
        self._where = {}

    # -- outside of sections ----------------------------------------------------------------

    def _heading(self, item: Item) -> None:
        if item.key == "revision":
            number, core, major, minor, patch = [int(value) for value in item.values]
            self.dump.revision = number, core, major, minor, patch
        text = _text(item.line)
        key, _, value = text.partition(":")
        if text.startswith((" ", "\t")):
            if self._other:
                kept = self.dump.others[self._other]
                if len(kept) < _OTHER_LINES:
                    kept.append((text.strip()[:_OTHER_BYTES], self._line))
        elif value.strip():
            self.dump.header.setdefault(key, (value.strip(), self._line))
        elif key and key != "---":
            self._other = key
            self.dump.others.setdefault(key, [])
            if key not in self.dump.sections:
                self.dump.sections.append(key)

    def _fault(self, item: Item) -> None:
        if item.key == "fault":
            self.dump.fault_address, self.dump.fault_line = int(item.values[0]), self._line
        text = _text(item.line).strip().removeprefix("-").strip()
        separator = min((text.find(sign) for sign in "=:" if sign in text), default=-1)
        if separator > 0:
            value = text[separator + 1 :].strip()
            self.dump.fault[text[:separator].strip()] = value, self._line

    # -- memory -----------------------------------------------------------------------------

    def _ringbuffer(self, item: Item) -> None:
        if item.key == "id":
            self._ring = Ring(int(item.values[0]), self._line)
            self.dump.rings.append(self._ring)
            return
        if self._ring is None:
            self._ring = Ring(0, self._line)
            self.dump.rings.append(self._ring)
        ring = self._ring
        if item.key in ("iova", "size", "rptr", "wptr"):
            setattr(ring, item.key, int(item.values[0]))
            if item.key == "rptr":
                ring.rptr_line = self._line
        elif item.key == "data":
            ring.block = item.block
        else:
            key, _, value = _text(item.line).strip().partition(":")
            number = int(value) if value.strip().isdecimal() and len(value) < 20 else None
            if key == "last-fence":
                ring.last_fence = number
            elif key == "retired-fence":
                ring.retired_fence = number

    def _bos(self, item: Item) -> None:
        if item.key == "iova":
            self._buffer = BufferObject(int(item.values[0]), self._line)
            self.dump.buffers.append(self._buffer)
            return
        buffer = self._buffer
        if buffer is None:
            self._skip(f"line {self._line} belongs to no buffer")
        elif item.key == "size":
            buffer.size = int(item.values[0])
        elif item.key == "data":
            buffer.block = item.block
        else:
            key, _, value = _text(item.line).strip().partition(":")
            if key == "name":
                buffer.name = value.strip()
            elif key == "flags":
                buffer.flags = _hexadecimal(value)

    def _gmu_memory(self, item: Item) -> None:
        if self._gmu is None:
            self._gmu = GmuMemory(self._line)
            if item.section == "gmu-log":
                self.dump.gmu_log = self._gmu
            else:
                self.dump.gmu_hfi = self._gmu
        if item.key == "iova":
            self._gmu.iova = int(item.values[0])
        elif item.key == "data":
            self._gmu.block = item.block
        elif item.key == "history":
            queue, *positions = [int(value) for value in item.values]
            self._gmu.history[queue] = positions

    # -- registers and blocks ---------------------------------------------------------------

    def _registers(self, item: Item) -> None:
        if item.key == "register":
            offset, value = [int(value) for value in item.values]
            is_gmu = item.section == "registers-gmu"
            registers = self.dump.gmu_registers if is_gmu else self.dump.registers
            registers[offset // 4] = value, self._line

    def _indexed(self, item: Item) -> None:
        if item.key == "name":
            self._block = DataBlock(item.name, self._line)
            is_bus = item.section == "debugbus"
            (self.dump.debugbus if is_bus else self.dump.indexed).append(self._block)
        elif item.key == "data" and self._block is not None:
            self._block.block = item.block

    def _shaders(self, item: Item) -> None:
        if item.key == "type":
            self._type, self._where = item.name, {}
        elif item.key == "data":
            where = " ".join(f"{key} {value}" for key, value in self._where.items())
            self.dump.shader_blocks.append(DataBlock(self._type, self._line, where, item.block))
        else:
            key, _, value = _text(item.line).strip().removeprefix("- ").partition(":")
            if key in ("bank", "pipe", "sp", "usptp"):
                self._where[key] = value.strip()

    def _clusters(self, item: Item) -> None:
        if item.key == "register":
            offset, value = [int(value) for value in item.values]
            where = self._where
            self.dump.clusters.append(
                ClusterRegister(
                    where.get("pipe", ""),
                    where.get("cluster-name", ""),
                    where.get("context", ""),
                    offset // 4,
                    value,
                    self._line,
                )
            )
            return
        key, _, value_text = _text(item.line).strip().removeprefix("- ").partition(":")
        if key in ("pipe", "cluster-name", "context"):
            self._where[key] = value_text.strip()


def _text(line: bytes) -> str:
    return line.rstrip(b"\r\n").decode("utf-8", "replace")


def _hexadecimal(text: str) -> int | None:
    try:
        return int(text.strip()[:20], 16)
    except ValueError:
        return None
