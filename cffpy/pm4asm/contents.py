# SPDX-License-Identifier: MIT
"""Contents of buffers as lines of the language, and back: data and programs.

Data are rows of hex dwords, fills, strings, odd bytes. Zeros are not shown: ``at ADDRESS`` fills
the way there with them, and so does a buffer's end.

Programs are ir3 instructions as ``cffpy disasm`` prints them, one a line. ``l12:`` labels an
instruction; 16 hex digits are an instruction that its text would not give again.
"""

from __future__ import annotations

import re
import struct
import sys
from array import array
from typing import TYPE_CHECKING

from cffpy.errors import IsaError
from cffpy.isa.encode import Assembler
from cffpy.isa.ir3 import Ir3Disassembler
from cffpy.pm4asm.model import Line, SourceProblem, quoted, unquoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Dwords in a row of hex.
ROW = 8
#: Number of equal dwords that is a fill; as many zeros are passed over.
_LEAST = 16

_ZEROS = re.compile(rb"\0{%d,}" % ((_LEAST + 1) * 4))
_REPEATS = re.compile(rb"(?s)(....)\1{%d,}" % (_LEAST + 1))
_ROW_TEXT = re.compile(r"[0-9a-f]{8}(?: +[0-9a-f]{8})*")
_STRING = re.compile(rb"([ -~\n\t]{5,})(\0{0,3})")
#: Bytes of the longest string.
_LONGEST_STRING = 4096
#: Bytes whose rows are made at a time: whole rows, and no less than a string.
_PAGE = 1 << 14


def hex_rows(words: Sequence[int]) -> list[str]:
    """Rows of up to eight dwords."""
    if not words:
        return []
    digits = array("I", words)
    digits.byteswap()
    if sys.byteorder == "big":
        digits.byteswap()
    text = digits.tobytes().hex(" ", 4)
    step = ROW * 9
    return [text[start : start + step - 1] for start in range(0, len(text), step)]


def row_words(text: str) -> list[int]:
    """The dwords of a row."""
    return [int(word, 16) for word in text.split()]


def row_bytes(text: str) -> bytes:
    """The dwords of a row as bytes in memory order."""
    words = array("I", bytes.fromhex(text))
    words.byteswap()
    return words.tobytes()


def is_row(text: str) -> bool:
    """Whether a line is a row of dwords: what the grammar's terminal ROW matches."""
    return _ROW_TEXT.fullmatch(text) is not None


def string_row(words: Sequence[int]) -> str | None:
    """``string "..."`` for dwords that are text and end within their last dword, else None."""
    if len(words) * 4 > _LONGEST_STRING:
        return None
    data = array("I", words)
    if sys.byteorder == "big":
        data.byteswap()
    match = _STRING.fullmatch(data.tobytes())
    return f"string {quoted(match[1])}" if match else None


def string_words(literal: str) -> list[int]:
    """The dwords of a string, with zeros up to the end of the last."""
    data = string_bytes(literal)
    return list(memoryview(data).cast("I")) if sys.byteorder == "little" else _big(data)


def string_bytes(literal: str) -> bytes:
    """The bytes of a string of the language, as ``string_words`` has their dwords."""
    text = unquoted(literal)
    return text.ljust((len(text) + 3) // 4 * 4, b"\0")


def _big(data: bytes) -> list[int]:
    words = array("I", data)
    words.byteswap()
    return words.tolist()


def show_data(view: memoryview, address: int) -> Iterator[str]:
    """Lines for bytes at an address, which is aligned with a dword; long zeros as ``at``.

    Trailing zeros are not shown.
    """
    whole = len(view) // 4 * 4
    end = whole
    start = 0
    if len(view) == whole:
        end = _without_zeros(view)
    for zeros in _ZEROS.finditer(view[:end]):
        stop = (zeros.start() + 3) // 4 * 4
        if stop > start:
            yield from _show_run(view[start:stop])
        start = zeros.end() // 4 * 4
        yield f"at {address + start:#x}"
    if start < end:
        yield from _show_run(view[start:end])
    if whole < len(view):
        yield f"bytes {bytes(view[whole:]).hex(' ')}"


def _without_zeros(view: memoryview) -> int:
    """Offset of the trailing zeros, in bytes; a multiple of 4."""
    end = len(view)
    step = 4096
    while end and not bytes(view[max(0, end - step) : end]).strip(b"\0"):
        end = max(0, end - step)
    last = bytes(view[max(0, end - step) : end]).rstrip(b"\0")
    return (max(0, end - step) + len(last) + 3) // 4 * 4


def _show_run(view: memoryview) -> Iterator[str]:
    start = 0
    for repeats in _REPEATS.finditer(view):
        first = (repeats.start() + 3) // 4 * 4
        last = repeats.end() // 4 * 4
        if first > start:
            yield from _show_rows(view[start:first])
        count = (last - first) // 4
        word = int.from_bytes(view[first : first + 4], "little")
        yield f"fill {word:#010x} * {count}"
        start = last
    if start < len(view):
        yield from _show_rows(view[start:])


def _show_rows(view: memoryview) -> Iterator[str]:
    for start in range(0, len(view), _PAGE):
        words = array("I")
        words.frombytes(view[start : start + _PAGE])
        if sys.byteorder == "big":
            words.byteswap()
        text = string_row(words) if len(view) <= _PAGE else None
        if text is None:
            yield from hex_rows(words)
        else:
            yield text


_WORD = re.compile(r"[0-9a-f]{16}")
_LABEL = re.compile(r"([A-Za-z_]\w*):")
_LISTED = re.compile(r"\s*:\d+:\d+:\d+\[([0-9a-f]{8})x_([0-9a-f]{8})x\] ?(.*)")


class ProgramProblem(SourceProblem):
    """``line`` of a program is wrong."""

    def __init__(self, message: str, line: Line) -> None:
        self.line = line
        super().__init__(message, 1)


class Programs:
    """Shows and builds programs of one generation."""

    def __init__(self, generation: int, directory: str | None = None) -> None:
        self._assembler = Assembler(generation, directory)
        self._disassembler = Ir3Disassembler(generation, directory)
        self._wrong: set[int] = set()

    def show(self, code: bytes) -> list[str]:
        """The lines of a program of whole instructions."""
        lines = []
        index = 0
        texts = self._disassembler.listing(code, 0).text.splitlines()
        labels = {
            match[3][:-1]: 0
            for match in map(_LISTED.match, texts)
            if match and _LABEL.fullmatch(match[3])
        }
        labels = _places(texts, labels)
        for text in texts:
            match = _LISTED.match(text)
            if match is None or not match[3]:
                continue
            content = match[3].partition("\t; ")[0].strip()
            if _LABEL.fullmatch(content):
                lines.append(content)
                continue
            word = int(match[1] + match[2], 16)
            lines.append(self._shown(word, content, index, labels))
            index += 1
        return lines

    def _shown(self, word: int, content: str, index: int, labels: dict[str, int]) -> str:
        if word not in self._wrong:
            try:
                if self._assembler.assemble(content, index, labels) == word:
                    return content
            except IsaError:
                pass
            self._wrong.add(word)
        return f"{word:016x}  // {content}" if content else f"{word:016x}"

    def gives(self, lines: Sequence[str], code: bytes) -> bool:
        """Whether building these lines gives the program again."""
        shown = [Line(0, line.partition("//")[0].rstrip()) for line in lines]
        try:
            return self.build(shown) == code
        except ProgramProblem:
            return False

    def build(self, lines: Sequence[Line]) -> bytes:
        """The program's bytes. Raises ProgramProblem."""
        labels: dict[str, int] = {}
        instructions: list[Line] = []
        for line in lines:
            label = _LABEL.fullmatch(line.text)
            if label is None:
                instructions.append(line)
            elif label[1] in labels:
                raise ProgramProblem(f"label {label[1]} is already defined", line)
            else:
                labels[label[1]] = len(instructions)
        words = []
        for index, line in enumerate(instructions):
            if _WORD.fullmatch(line.text):
                words.append(int(line.text, 16))
                continue
            try:
                words.append(self._assembler.assemble(line.text, index, labels))
            except IsaError as problem:
                raise ProgramProblem(str(problem), line) from None
        return struct.pack(f"<{len(words)}Q", *words)


def _places(texts: Sequence[str], labels: dict[str, int]) -> dict[str, int]:
    """Label -> number of the instruction after it."""
    index = 0
    for text in texts:
        match = _LISTED.match(text)
        if match is None or not match[3]:
            continue
        if match[3][:-1] in labels and match[3].endswith(":"):
            labels[match[3][:-1]] = index
        else:
            index += 1
    return labels
