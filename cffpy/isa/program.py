# SPDX-License-Identifier: MIT
"""Program files: raw bytes, hex text, listings; assembling of whole programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cffpy.errors import IsaError

if TYPE_CHECKING:
    from cffpy.isa.encode import Assembler
    from cffpy.isa.ir3 import Ir3Disassembler

_RAW_COLUMN = re.compile(r"\[([0-9a-fA-F]{8})x_([0-9a-fA-F]{8})x\]")
_RAW_PREFIX = re.compile(
    r"^\s*(?::\d:\d{4,}:\d{4,})?\[([0-9a-fA-F]{8})x_([0-9a-fA-F]{8})x\] ?(.*)$"
)
_HEX_WORD = re.compile(r"(?:0x)?([0-9a-fA-F]{8}|[0-9a-fA-F]{16})")
_LABEL = re.compile(r"([A-Za-z_]\w*):")
_IGNORED = ("Stats:", "- shaderdb:")
_TEXT_BYTES = frozenset(b"\t\n\r" + bytes(range(32, 127)))


def looks_like_hex(data: bytes) -> bool:
    """Whether a file is a program in hex text, not in binary form."""
    if not data or not _TEXT_BYTES.issuperset(data[:65536]):
        return False
    text = data.decode("ascii", "replace")
    return _RAW_COLUMN.search(text) is not None or _HEX_WORD.search(text) is not None


def from_hex(text: str) -> bytes:
    """The program in a hex text or listing, as bytes.

    In a listing, the raw columns are used. Otherwise all words of each line: eight digits are a
    dword in memory order, sixteen an ir3 instruction; a leading ``0000:`` is ignored. Raises
    IsaError for anything else.
    """
    columns = _RAW_COLUMN.findall(text)
    if columns:
        return _without_repeats(text)
    words = bytearray()
    for number, line in enumerate(text.splitlines(), 1):
        for token in line.partition("#")[0].split():
            if token.endswith(":"):
                continue
            match = _HEX_WORD.fullmatch(token)
            if match is None:
                raise IsaError(f"not a word of 8 or 16 hex digits: {token!r}", "", number)
            digits = match.group(1)
            words += int(digits, 16).to_bytes(len(digits) // 2, "little")
    return bytes(words)


def _without_repeats(text: str) -> bytes:
    """The raw columns of a listing, without label lines, which repeat the next line's columns."""
    words = bytearray()
    for line in text.splitlines():
        match = _RAW_PREFIX.match(line)
        if match and not _LABEL.fullmatch(match.group(3)) and match.group(3):
            words += int(match.group(2), 16).to_bytes(4, "little")
            words += int(match.group(1), 16).to_bytes(4, "little")
    return bytes(words)


def assemble_program(text: str, assembler: Assembler, disassembler: Ir3Disassembler) -> list[int]:
    """The words of a program: one instruction a line, or a listing.

    If the text of a line still matches its raw columns, these are kept exactly, including bits
    that the text does not show. A line ``name:`` labels the next instruction; ``//`` starts a
    comment. Raises IsaError with the number of the line that is wrong.
    """
    lines: list[tuple[int, int | None, str]] = []
    labels: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        raw, content = _split(line)
        label = _LABEL.fullmatch(content)
        if label:
            labels[label.group(1)] = len(lines)
        elif content and not content.startswith(_IGNORED):
            lines.append((number, raw, content))

    def shown(word: int) -> str:
        return disassembler.instruction(word)[0]

    words = []
    for index, (number, raw, content) in enumerate(lines):
        if raw is not None and shown(raw) == content:
            words.append(raw)
            continue
        try:
            word = assembler.assemble(content, index, labels)
        except IsaError as problem:
            raise IsaError(str(problem), "", number) from None
        # a label in place of the offset is no change
        words.append(raw if raw is not None and shown(raw) == shown(word) else word)
    return words


def _split(line: str) -> tuple[int | None, str]:
    """(raw word or None, text without errors and comments) of a line."""
    match = _RAW_PREFIX.match(line)
    content = match.group(3) if match else line.partition("//")[0]
    content = content.partition("\t; ")[0].strip()
    return (int(match.group(1) + match.group(2), 16) if match else None), content
