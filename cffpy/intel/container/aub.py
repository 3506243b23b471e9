# SPDX-License-Identifier: MIT
"""AUB files: a stream of blocks that write memory and registers, and submit work.

Both kinds of blocks are read: classic ones (before gen8) and memory traces. A block begins with a
dword: type (7), opcode, sub-opcode, length. Facts: aub_read.c of Mesa 25.0.7, intel_aub.h.
"""

from __future__ import annotations

from struct import Struct, unpack_from

from cffpy.container.damage import Damage
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.row_readers import BytesLike

ENGINES = {"render": 1, "compute": 2, "video": 4, "blitter": 8}

_CLASSIC, _TRACE = 0x01, 0x2E

_HEADER = 0xE0850000
_BLOCK = 0xE0C10000
_BITMAP = 0xE09E0000
_VERSION = 0xF70E0000
_MEMORY_WRITE = 0xF7060000
_REGISTER_WRITE = 0xF7030000
_REGISTER_POLL = 0xF7020000
_MEMORY_POLL = 0xF7050000
_COMMENT = 0xF7080000
_DISCONTIGUOUS = 0xF70B0000

#: Entries of a discontiguous write.
_ENTRIES = 63
_MAX_TEXT = 63
_MAX_NAME = 32
#: Engine by the type of a classic command write.
_RINGS = {2: ENGINES["render"], 3: ENGINES["video"], 4: ENGINES["blitter"]}

_M48 = (1 << 48) - 1
#: Header, address, space (bits 31:28) and size in bytes of a memory write; its data follow.
_MEMORY_WRITE_START = Struct("<IQ2I")
MEMORY_WRITE_HEADER = _MEMORY_WRITE_START.size
"""Bytes of a block that writes memory before its data."""

GGTT, LOCAL, PHYSICAL, GGTT_ENTRY = 0, 1, 2, 4
"""Address spaces of memory writes."""


class Identity(ValueObject):
    """The device that a file was made for; ``pci_id`` is 0 where the file has none."""

    __slots__ = ("application", "pci_id")

    def __init__(self, pci_id: int, application: str) -> None:
        self.pci_id = pci_id
        self.application = application


class Comment(ValueObject):
    """A comment of the program that wrote the file."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class MemoryWrite(ValueObject):
    """Bytes written to an address of a space (GGTT, LOCAL, PHYSICAL, GGTT_ENTRY)."""

    __slots__ = ("_file", "_start", "address", "data", "space")

    def __init__(self, space: int, address: int, file: memoryview, start: int, size: int) -> None:
        self.space = space
        self.address = address
        self.data = file[start : start + size]
        self._file = file
        self._start = start

    @property
    def offset(self) -> int:
        """Where ``data`` begins, in bytes of the file."""
        return self._start

    @property
    def rest(self) -> memoryview:
        """The file from ``data`` on."""
        return self._file[self._start :]


class RegisterWrite(ValueObject):
    """A value written to the register at ``offset`` (bytes)."""

    __slots__ = ("offset", "value")

    def __init__(self, offset: int, value: int) -> None:
        self.offset = offset
        self.value = value


class RingWrite(ValueObject):
    """Commands of a classic file, executed at once; ``engine`` is one of ENGINES.

    ``offset``: where they begin, in bytes of the file. ``following``: the file after them.
    """

    __slots__ = ("data", "engine", "following", "offset")

    def __init__(self, engine: int, data: memoryview, following: memoryview, offset: int) -> None:
        self.engine = engine
        self.data = data
        self.following = following
        self.offset = offset


Item = Identity | Comment | MemoryWrite | RegisterWrite | RingWrite


def is_aub(data: BytesLike) -> bool:
    """Whether data begins with the header of an AUB file."""
    return len(data) >= 4 and unpack_from("<I", data)[0] & 0xFFFF0000 in (_HEADER, _VERSION)


class AubReader:
    """Reads the blocks of an AUB file. ``damage``: why reading ended early, or None.

    ``position``: byte offset of the block that is being read. ``write_physical`` is called with
    address and data of each write to physical memory, which is no item then: most blocks are such.
    """

    def __init__(
        self, data: BytesLike, write_physical: Callable[[int, memoryview], None] | None = None
    ) -> None:
        self._data = memoryview(data).toreadonly()
        self._write_physical = write_physical
        self.damage: Damage | None = None
        self.position = 0
        #: From gen8 on, the device's version divided by 10; it decides how wide addresses are.
        self.ver = 0

    def items(self) -> Iterator[Item]:
        """The blocks as items, in order, up to the first that cannot be read."""
        data, end = self._data, len(self._data)
        while self.position < end:
            self._skip_physical()
            position = self.position
            if end - position < 4:
                self._stop("the last block is cut short")
                return
            header = unpack_from("<I", data, position)[0]
            kind = header >> 23 & 0x3F
            if kind not in (_CLASSIC, _TRACE):
                self._stop(f"unknown opcode {kind}")
                return
            size = 4 * ((header & 0xFFFF) + (2 if kind == _CLASSIC else 1))
            whole = size
            if header & 0xFFFF0000 == _BLOCK and end - position >= 20:
                whole += unpack_from("<I", data, position + 16)[0] & ~3
            if position + whole > end:
                self._stop(
                    f"the block ends {position + whole - end} bytes past the end of the file"
                )
                return
            read = _READERS.get(header & 0xFFFF0000)
            if read is None:
                self._stop(f"unknown block {header:#010x}")
                return
            yield from read(self, position, size)
            if self.damage is not None:
                return
            self.position = position + whole

    def _skip_physical(self) -> None:
        """Pass on the writes to physical memory from ``position`` on, as far as they are whole."""
        write = self._write_physical
        if write is None:
            return
        data, end = self._data, len(self._data)
        read, size = _MEMORY_WRITE_START.unpack_from, _MEMORY_WRITE_START.size
        position = self.position
        while position + size <= end:
            header, address, space, length = read(data, position)
            following = position + 4 * ((header & 0xFFFF) + 1)
            if header & 0xFFFF0000 != _MEMORY_WRITE or space >> 28 != PHYSICAL or following > end:
                return
            start = position + size
            write(address & _M48, data[start : start + length])
            self.position = position = following

    def _stop(self, reason: str) -> None:
        self.damage = Damage(self.position, f"AUB: {reason}: the rest is ignored")

    def _dword(self, position: int) -> int:
        """The dword at a byte offset of the file; 0 past its end."""
        if position + 4 > len(self._data):
            return 0
        value: int = unpack_from("<I", self._data, position)[0]
        return value

    def _header(self, position: int, size: int) -> Iterator[Item]:
        application = _c_string(self._data[position + 8 : position + 8 + _MAX_NAME])
        pci_id = 0
        if size > 48 and self._dword(position + 48):
            text = _c_string(self._data[position + 52 : position + 52 + 256])
            pci_id = _pci_id(text)[0] or 0
        yield Identity(pci_id, application)

    def _version(self, position: int, size: int) -> Iterator[Item]:
        length = min(size - 20, _MAX_TEXT) if size >= 20 else _MAX_TEXT
        text = _c_string(self._data[position + 20 : position + 20 + length])
        pci_id, rest = _pci_id(text)
        if pci_id is not None:
            yield Identity(pci_id, rest)

    def _block(self, position: int, size: int) -> Iterator[Item]:
        flags = self._dword(position + 4)
        address = self._dword(position + 12)
        if self.ver >= 8 and size >= 24:
            address |= self._dword(position + 20) << 32
        length = self._dword(position + 16)
        start = position + size
        operation, space = flags & 0xFF, flags >> 16 & 0xFF
        if operation == 1 and space == 0:
            yield MemoryWrite(LOCAL, address & _M48, self._data, start, length)
        elif operation == 2:
            engine = _RINGS.get(flags >> 8 & 0xFF)
            if engine is None:
                self._stop(f"commands for unknown ring {flags >> 8 & 0xFF}")
                return
            data = self._data[start:]
            yield RingWrite(engine, data[:length], data[length:], start)

    def _memory_write(self, position: int, size: int) -> Iterator[Item]:
        if position + _MEMORY_WRITE_START.size > len(self._data):
            return  # the file ends inside the block's header
        _, address, space, length = _MEMORY_WRITE_START.unpack_from(self._data, position)
        start = position + _MEMORY_WRITE_START.size
        yield MemoryWrite(space >> 28, address & _M48, self._data, start, length)

    def _discontiguous(self, position: int, size: int) -> Iterator[Item]:
        space = self._dword(position + 4) >> 28
        start = position + 8 + 12 * _ENTRIES
        for low, high, length in _triples(self._padded(position + 8, 12 * _ENTRIES)):
            if length:
                # handle_memtrace_mem_write_discont does not advance the data (mesa 25.0.7)
                yield MemoryWrite(space, (low | high << 32) & _M48, self._data, start, length)

    def _register_write(self, position: int, size: int) -> Iterator[Item]:
        yield RegisterWrite(self._dword(position + 4), self._dword(position + 20))

    def _comment(self, position: int, size: int) -> Iterator[Item]:
        yield Comment(_c_string(self._data[position + 8 : position + max(size, 8)]))

    def _skipped(self, position: int, size: int) -> Iterator[Item]:
        return iter(())

    def _padded(self, position: int, size: int) -> bytes:
        return bytes(self._data[position : position + size]).ljust(size, b"\0")


_READERS = {
    _HEADER: AubReader._header,
    _VERSION: AubReader._version,
    _BLOCK: AubReader._block,
    _BITMAP: AubReader._skipped,
    _MEMORY_WRITE: AubReader._memory_write,
    _DISCONTIGUOUS: AubReader._discontiguous,
    _REGISTER_WRITE: AubReader._register_write,
    _COMMENT: AubReader._comment,
    _REGISTER_POLL: AubReader._skipped,
    _MEMORY_POLL: AubReader._skipped,
}


def _triples(data: bytes) -> Iterator[tuple[int, int, int]]:
    for offset in range(0, len(data), 12):
        yield unpack_from("<3I", data, offset)


def _c_string(data: BytesLike) -> str:
    return bytes(data).split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _pci_id(text: str) -> tuple[int | None, str]:
    """The number after ``PCI-ID=``, as C's %i reads it, and what follows it and white space."""
    start = "PCI-ID="
    if not text.startswith(start):
        return None, ""
    rest = text[len(start) :].lstrip(" \t\n\v\f\r")
    sign = rest[:1] in ("+", "-")
    body = rest[1:] if sign else rest
    digits, base = "0123456789", 10
    if body[:2].lower() == "0x":
        body, digits, base = body[2:], "0123456789abcdefABCDEF", 16
    elif body[:1] == "0":
        digits, base = "01234567", 8
    length = 0
    while length < len(body) and body[length] in digits:
        length += 1
    if not length:
        return None, ""
    number = int(body[:length], base) & 0xFFFFFFFF
    if rest[:1] == "-":
        number = -number & 0xFFFFFFFF
    return number, body[length:].lstrip(" \t\n\v\f\r")
