# SPDX-License-Identifier: MIT
"""i915 error states and Xe devcoredumps: text with registers and with memory in base 85.

Buffers of error states are mostly deflated; devcoredumps have topics, the memory of the VM and the
hardware context. ``SectionMemory`` is the memory of both: buffers, by address. Facts:
aubinator_error_decode.c, error_decode_xe_lib.c of Mesa 25.0.7.
"""

from __future__ import annotations

import zlib
from re import compile as pattern

from cffpy.container.damage import Damage
from cffpy.container.devcoredump import decode_ascii85

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cffpy.container.open import Content
    from cffpy.row_readers import BytesLike


class Section:
    """A buffer: its kind ("batch buffer"), its ring ("rcs0"), GPU address and bytes.

    ``start`` and ``end``: the part of ``data`` that is decoded and found by address. ``data`` is a
    bytearray once commands have written to it.
    """

    __slots__ = ("address", "data", "end", "kind", "ring", "start")

    def __init__(self, kind: str, ring: str, address: int, data: bytes | bytearray = b"") -> None:
        self.kind = kind
        self.ring = ring
        self.address = address
        self.data = data
        self.start = 0
        self.end = len(data)


class SectionMemory:
    """Memory made of sections; the first one that contains an address is found.

    ``only_ppgtt``: look-ups in the global table fail, as in Xe devcoredumps.
    """

    def __init__(self, sections: list[Section], only_ppgtt: bool = False) -> None:
        self._sections = sections
        self._only_ppgtt = only_ppgtt

    def find(self, address: int) -> Section | None:
        """The first section with this address."""
        for section in self._sections:
            if section.address <= address < section.address + section.end - section.start:
                return section
        return None

    def file_offset(self, ppgtt: bool, address: int) -> None:
        """None: the file has the sections encoded."""

    def span(self, ppgtt: bool, address: int, size: int) -> bytes:
        """Up to ``size`` bytes from ``address`` on; empty where it is in no section."""
        if self._only_ppgtt and not ppgtt:
            return b""
        section = self.find(address)
        if section is None:
            return b""
        offset = address - section.address
        return bytes(section.data[offset : min(offset + size, section.end - section.start)])

    def store(self, address: int, data: bytes) -> None:
        """Write to the section with this address, as far as it goes."""
        section = self.find(address)
        if section is not None:
            offset = address - section.address
            data = data[: section.end - section.start - offset]
            if isinstance(section.data, bytes):
                section.data = bytearray(section.data)  # once: a batch may store without end
            section.data[offset : offset + len(data)] = data

    def read(self, ppgtt: bool, address: int, size: int) -> tuple[bytes, int]:
        """As ``span``; also the number of bytes before the section's end."""
        section = self.find(address)
        if section is None or (self._only_ppgtt and not ppgtt):
            return b"", 0
        offset = address - section.address
        end = section.end - section.start - offset
        return bytes(section.data[offset : offset + size]), end


RING_BUFFER = "ring buffer"
BATCH_BUFFER = "batch buffer"
HW_CONTEXT = "HW Context"

_KINDS = (
    ("ringbuffer", RING_BUFFER),
    ("ring", RING_BUFFER),
    ("gtt_offset", BATCH_BUFFER),
    ("batch", BATCH_BUFFER),
    ("hw context", HW_CONTEXT),
    ("hw status", "HW status"),
    ("wa context", "WA context"),
    ("wa batchbuffer", "WA batch"),
    ("null context", "Kernel context"),
    ("user", "user"),
    ("semaphores", "semaphores"),
    ("guc log buffer", "GuC log"),
)

_MAX_SECTIONS = 1024
_NOT_DIGITS = pattern(rb"[^!-z]")
_DASHES = b"---"
_ADDRESS = pattern(rb"=\s*0x\s*([0-9a-fA-F]{1,8})(?:\s*([0-9a-fA-F]{1,8}))?")
_STREAM = pattern(rb"([^ ]+)\s*command stream")
#: A line of the oldest error states: offset and dword, which the reference skips.
_OLD_DATA = pattern(rb"\s*[0-9a-fA-F]{1,8}\s*:\s*[0-9a-fA-F]{1,8}")

_MARKS = (b"GPU HANG:", b"PCI ID:", b" command stream")
_SEARCHED = 1 << 16


def is_error_state(data: BytesLike) -> bool:
    """Whether data seems to be an i915 error state: text with a PCI id and a GPU hang or rings."""
    start = bytes(data[:_SEARCHED])
    return (
        b"\0" not in start
        and b"PCI ID:" in start
        and any(mark in start for mark in (_MARKS[0], _MARKS[2]))
    )


class ErrorState:
    """Reads an error state: ``lines`` yields its text; then ``sections`` has the buffers.

    ``ring``: the ring that the lines read so far are about. ``damage``: what could not be read.
    """

    def __init__(self, content: Content) -> None:
        self._content = content
        self._left = content.limits.decompressed_bytes(len(content.data))
        self.ring = ""
        self.sections: list[Section] = []
        self.damage: list[Damage] = []

    def lines(self) -> Iterator[bytes]:
        """The lines that are neither data nor headings of buffers, with their ends."""
        opened: Section | None = None
        for offset, line in text_lines(self._content.data):
            stream = _STREAM.match(line)
            if stream is not None:
                self.ring = _text(stream[1])
            if line[:1] in (b":", b"~"):
                self._add(opened, line, offset)
                opened = None
            elif (dashes := line.find(_DASHES)) >= 0:
                opened = self._heading(line, dashes, opened)
            elif _OLD_DATA.match(line) is None:
                yield line

    def _heading(self, line: bytes, dashes: int, opened: Section | None) -> Section:
        self.ring = _text(line[: max(dashes - 1, 0)])
        rest = line[dashes + 4 :]
        folded = _text(rest).lower()
        kind = next((name for start, name in _KINDS if folded.startswith(start)), "unknown")
        equals = rest.find(b"=")
        match = _ADDRESS.match(rest, equals) if equals >= 0 else None
        address = 0 if opened is None else opened.address
        if match is not None:
            address = int(match[1], 16) << 32 | int(match[2] or b"0", 16)
        return Section(kind, self.ring, address)

    def _add(self, opened: Section | None, line: bytes, offset: int) -> None:
        """The data of the section whose heading came before."""
        if opened is None:
            self.damage.append(Damage(offset, "data of a buffer without a heading"))
            return
        if len(self.sections) >= _MAX_SECTIONS:
            self.damage.append(Damage(offset, "too many buffers: the rest is ignored"))
            return
        end = _NOT_DIGITS.search(line, 1)
        digits = line[1 : len(line) if end is None else end.start()]
        data = decode_ascii85(digits, len(digits))
        if line[:1] == b":":
            data = self._inflate(data, offset)
        self._left -= len(data)
        if not data:
            self.damage.append(Damage(offset, f"the data of a {opened.kind} cannot be read"))
        opened.data = data
        opened.end = len(data) // 4 * 4
        self.sections.append(opened)

    def _inflate(self, packed: bytes, offset: int) -> bytes:
        """As much as can be inflated."""
        stream = zlib.decompressobj()
        parts = []
        size = 0
        try:
            while packed and not stream.eof:
                part = stream.decompress(packed, 1 << 16)
                packed = stream.unconsumed_tail
                parts.append(part)
                size += len(part)
                if size > self._left:
                    message = "a buffer is too large when inflated: the rest is ignored"
                    self.damage.append(Damage(offset, message, limit="bytes"))
                    break
        except zlib.error as problem:
            self.damage.append(Damage(offset, f"deflated data: {problem}"))
        return b"".join(parts)


def text_lines(data: memoryview) -> Iterator[tuple[int, bytes]]:
    """The lines of a text with their ends, and their offsets. A NUL ends a line's text."""
    source: Any = data.obj  # data that can be searched: bytes, a bytearray, a mapped file
    if not hasattr(source, "find") or len(source) != len(data):
        source = bytes(data)
    position, end = 0, len(data)
    while position < end:
        stop = source.find(b"\n", position) + 1 or end
        yield position, bytes(source[position:stop]).split(b"\0", 1)[0]
        position = stop


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


FIRST_LINE = b"**** Xe Device Coredump ****"

_VM_LINE = pattern(rb"\[([^\]\n]*)\].([dle])[^:\n]*:.(.*)", 16)
_BINARY_LINE = pattern(rb"\t*\[([^\]\n]{0,63})\]\.([del])[^:\n]*: (.*)", 16)
_NUMBER = pattern(rb"\s*([-+]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]*)|([1-9][0-9]*))")
_HEX = pattern(rb"\s*(?:0[xX])?([0-9a-fA-F]+)")
_M64 = (1 << 64) - 1
_MAX_BATCHES = 255


class Topic:
    """The topics that lines belong to."""

    NONE, DEVICE, GUC_CT, JOB, HW_ENGINES, VM, CONTEXTS = range(7)


#: Bytes of all areas: a base, and this many for each byte of the file. A character has 4 bytes
#: at most, but areas that the kernel could not copy have only a length.
_AREAS, _AREAS_RATIO = 1 << 24, 64
_TOPICS = (
    (FIRST_LINE, Topic.DEVICE),
    (b"**** GuC CT ****", Topic.GUC_CT),
    (b"**** Job ****", Topic.JOB),
    (b"**** HW Engines ****", Topic.HW_ENGINES),
    (b"**** VM state ****", Topic.VM),
    (b"**** Contexts ****", Topic.CONTEXTS),
)


def is_xe_devcoredump(data: BytesLike) -> bool:
    """Whether data begins as an Xe devcoredump."""
    return bytes(data[: len(FIRST_LINE)]) == FIRST_LINE


def parameter(line: bytes, name: bytes) -> int | None:
    """The number after the first colon of a line that contains ``name``; None if it does not."""
    if name not in line:
        return None
    _, colon, rest = line.partition(b":")
    return c_number(rest[1:]) if colon else None


def c_number(text: bytes) -> int:
    """A number as C's strtoull reads it, with any prefix; 0 where there is none."""
    match = _NUMBER.match(text)
    if match is None:
        return 0
    sign, hexadecimal, octal, decimal = match.groups()
    if hexadecimal is not None:
        number = int(hexadecimal, 16)
    else:
        number = int(octal or b"0", 8) if decimal is None else int(decimal)
    number = min(number, _M64)
    return -number & _M64 if sign == b"-" else number


class XeDevcoredump:
    """Reads a devcoredump: ``lines`` yields its text; then the rest is known.

    ``areas``: memory of the VM. ``batches``: addresses of the job's batches. ``context``: the
    hardware context, empty where there is none.
    """

    def __init__(self, content: Content) -> None:
        self._content = content
        size = len(content.data)
        most = content.limits.decompressed_bytes(size)
        self._left = content.limits.bytes or min(most, _AREAS + _AREAS_RATIO * size)
        self.areas: list[Section] = []
        self.batches: list[int] = []
        self.context = b""
        self.damage: list[Damage] = []
        self._length = 0
        self._last: Section | None = None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Topic and text of the lines that are printed, with their ends."""
        topic = Topic.NONE
        for offset, line in text_lines(self._content.data):
            changed = next((number for start, number in _TOPICS if line.startswith(start)), None)
            if changed is not None:
                topic = changed
                if topic != Topic.VM:
                    yield Topic.NONE, line
            elif topic == Topic.VM:
                message = self._vm_line(line, offset)
                if message:
                    yield Topic.NONE, message
            elif topic in (Topic.GUC_CT, Topic.CONTEXTS) and _BINARY_LINE.match(line):
                message = self._binary_line(line, offset)
                if message:
                    yield Topic.NONE, message
            else:
                if topic == Topic.JOB:
                    self._job_line(line)
                yield topic, line

    def _job_line(self, line: bytes) -> None:
        number = parameter(line, b"batch_addr[")
        if number is not None and len(self.batches) < _MAX_BATCHES:
            self.batches.append(number)

    def _vm_line(self, line: bytes, offset: int) -> bytes:
        """Read a line of the VM's memory; what is printed of it."""
        parts = _VM_LINE.match(line)
        if parts is None:
            return b"Not expected line in VM state: " + line
        number = _HEX.match(parts[1])
        address = 0 if number is None else min(int(number[1], 16), _M64)
        match parts[2]:
            case b"l":
                self._length = c_number(parts[3]) & 0xFFFFFFFF
                self._last = Section("VMA", "", address)
                self.areas.append(self._last)
                self._fill(self._last, b"", offset)
            case b"d":
                if self._last is not None:
                    self._fill(self._last, parts[3], offset)
            case _:
                return b"VMA 0x%x not present in dump, content will be zeroed: %s\n" % (
                    address,
                    line,
                )
        return b""

    def _binary_line(self, line: bytes, offset: int) -> bytes:
        """Read a line of a context; what is printed of it."""
        match = _BINARY_LINE.match(line)
        assert match is not None  # the caller makes sure
        if not match[1].startswith(b"HWCTX"):
            return b""
        if match[2] == b"l":
            self._length = c_number(match[3]) & 0xFFFFFFFF
            self._last = Section("HW Context", "", 0)
            self._fill(self._last, b"", offset)
        elif match[2] == b"d" and self._last is not None:
            self._fill(self._last, match[3], offset)
        elif match[2] == b"e":
            return b"HWCTX not present in dump, content will be zeroed: %s\n" % line
        if self._last is not None:
            self.context = bytes(self._last.data)
        return b""

    def _fill(self, area: Section, text: bytes, offset: int) -> None:
        """Give an area its bytes; zeros where the text does not reach."""
        end = _NOT_DIGITS.search(text)
        digits = text[: len(text) if end is None else end.start()]
        data = decode_ascii85(digits, self._length // 4)
        length = self._length
        if length > self._left:
            message = "an area of memory is too large: it is cut"
            self.damage.append(Damage(offset, message, limit="bytes"))
            length = max(self._left, 0)
        if text and len(data) < length // 4 * 4:
            self.damage.append(Damage(offset, "the data of an area ends early"))
        self._left -= length if not area.data else 0
        area.data = data[:length].ljust(length, b"\0")
        area.end = length
