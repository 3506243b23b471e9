# SPDX-License-Identifier: MIT
"""i915 error states: text with registers, and buffers in base 85, mostly deflated.

Facts: aubinator_error_decode.c of Mesa 25.0.7.
"""

from __future__ import annotations

import zlib
from re import compile as pattern

from cffpy.container.damage import Damage
from cffpy.container.devcoredump import decode_ascii85
from cffpy.intel.container.sections import Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cffpy.container.open import Content
    from cffpy.row_readers import BytesLike

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
        found = _ADDRESS.match(rest, equals) if equals >= 0 else None
        address = 0 if opened is None else opened.address
        if found is not None:
            address = int(found[1], 16) << 32 | int(found[2] or b"0", 16)
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
