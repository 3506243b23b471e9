# SPDX-License-Identifier: MIT
"""A text's lines: read one by one, cut at a longest length, joined to units.

A unit is a statement with its continuation lines, which begin with ``+``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from cffpy.errors import AssemblyError

#: Longest line, in bytes.
LONGEST_LINE = 1 << 18
#: Lines of a unit at most: more than the longest packet has dwords.
_LONGEST_UNIT = 1 << 15


class Line(NamedTuple):
    """A line: its number, its text without comment and space around it, the space before it."""

    number: int
    text: str
    indent: int = 0


def read_lines(stream: BinaryIO, file: str) -> Iterator[Line]:
    """The lines that are not empty. Raises AssemblyError for one too long, or no UTF-8."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            raise AssemblyError(f"a line of more than {LONGEST_LINE} bytes", file, number, 1)
        try:
            whole = line.decode("utf-8").rstrip()
        except UnicodeDecodeError as problem:
            raise AssemblyError("not UTF-8 text", file, number, problem.start + 1) from None
        text = whole.lstrip()
        indent = len(whole) - len(text)
        if "//" in text and '"' not in text:
            text = text.partition("//")[0].rstrip()
        if text and not text.startswith("//"):
            yield Line(number, text, indent)


def units(lines: Iterator[Line], file: str) -> Iterator[list[Line]]:
    """The statements, each with its continuation lines."""
    unit: list[Line] = []
    for line in lines:
        if line.text[0] == "+":
            if not unit:
                raise AssemblyError("nothing to go on with", file, line.number, 1 + line.indent)
            if len(unit) >= _LONGEST_UNIT:
                raise AssemblyError(
                    "too many lines that begin with +", file, line.number, 1 + line.indent
                )
            unit.append(line)
            continue
        if unit:
            yield unit
        unit = [line]
    if unit:
        yield unit
