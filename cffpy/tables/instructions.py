# SPDX-License-Identifier: MIT
"""The instructions of a listing: number, dwords and text of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cffpy.capture.gpu import generation_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.shader import CapturedShader

#: Lines of listings: the instruction's number, its dwords, its text.
_IR3_LINE = re.compile(r":\d+:(\d+):\d+\[([0-9a-f]{8})x_([0-9a-f]{8})x\] (.*)")
_A2XX_LINE = re.compile(r"\s*(?:([0-9a-f]{2,}):)?\s*((?:[0-9a-f]{4,8} ){2}[0-9a-f]{4,8})\s+(.*)")

#: Bytes of an instruction.
_IR3_BYTES, _A2XX_BYTES = 8, 12


class Instruction(NamedTuple):
    """An instruction of a program. ``offset``: bytes from the program's begin.

    ``number``: as the listing has it; "" for a word of control flow of a2xx, whose ``offset`` is 0.
    ``raw``: its dwords in hexadecimal, the first one of the listing first.
    """

    number: str
    offset: int
    raw: str
    text: str


def instructions(shader: CapturedShader) -> Iterator[Instruction]:
    """The instructions in the order of the listing; labels and statistics are left out."""
    if generation_of(shader.generation).instruction_set == "a2xx":
        yield from _a2xx(shader.program.text)
        return
    for line in shader.program.text.splitlines():
        match = _IR3_LINE.match(line)
        if match is not None and not match[4].endswith(":"):
            offset = int(match[1]) * _IR3_BYTES
            yield Instruction(match[1], offset, f"{match[2]} {match[3]}", _joined(match[4]))


def _a2xx(text: str) -> Iterator[Instruction]:
    """An instruction may have a second line, for its scalar part."""
    last: Instruction | None = None
    for line in text.splitlines():
        match = _A2XX_LINE.match(line)
        if match is None:
            if last is not None and line.strip():
                last = last._replace(text=f"{last.text} {_joined(line)}")
            continue
        if last is not None:
            yield last
        number = match[1] or ""
        offset = int(number, 16) * _A2XX_BYTES if number else 0
        last = Instruction(number, offset, match[2], _joined(match[3]))
    if last is not None:
        yield last


def _joined(text: str) -> str:
    return " ".join(text.split())
