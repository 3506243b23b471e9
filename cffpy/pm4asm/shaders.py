# SPDX-License-Identifier: MIT
"""Programs in a buffer: ir3 instructions as ``cffpy disasm`` prints them, one a line, and back.

``l12:`` labels an instruction; 16 hex digits are an instruction that its text would not give again.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from cffpy.errors import IsaError
from cffpy.isa.encode import Assembler
from cffpy.isa.ir3 import Ir3Disassembler
from cffpy.pm4asm.model import Line, SourceProblem

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
