# SPDX-License-Identifier: MIT
"""Xe devcoredumps: topics of text; the VM's memory and the hardware context in base 85.

Facts: error_decode_xe_lib.c of Mesa 25.0.7.
"""

from __future__ import annotations

from re import compile as pattern

from cffpy.container.damage import Damage
from cffpy.container.devcoredump import decode_ascii85
from cffpy.intel.container.error_state import Section, text_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.container.open import Content
    from cffpy.row_readers import BytesLike

FIRST_LINE = b"**** Xe Device Coredump ****"

_NOT_DIGITS = pattern(rb"[^!-z]")
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
    found = _NUMBER.match(text)
    if found is None:
        return 0
    sign, hexadecimal, octal, decimal = found.groups()
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
        found = _VM_LINE.match(line)
        if found is None:
            return b"Not expected line in VM state: " + line
        number = _HEX.match(found[1])
        address = 0 if number is None else min(int(number[1], 16), _M64)
        match found[2]:
            case b"l":
                self._length = c_number(found[3]) & 0xFFFFFFFF
                self._last = Section("VMA", "", address)
                self.areas.append(self._last)
                self._fill(self._last, b"", offset)
            case b"d":
                if self._last is not None:
                    self._fill(self._last, found[3], offset)
            case _:
                return b"VMA 0x%x not present in dump, content will be zeroed: %s\n" % (
                    address,
                    line,
                )
        return b""

    def _binary_line(self, line: bytes, offset: int) -> bytes:
        """Read a line of a context; what is printed of it."""
        found = _BINARY_LINE.match(line)
        assert found is not None  # the caller makes sure
        if not found[1].startswith(b"HWCTX"):
            return b""
        if found[2] == b"l":
            self._length = c_number(found[3]) & 0xFFFFFFFF
            self._last = Section("HW Context", "", 0)
            self._fill(self._last, b"", offset)
        elif found[2] == b"d" and self._last is not None:
            self._fill(self._last, found[3], offset)
        elif found[2] == b"e":
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
