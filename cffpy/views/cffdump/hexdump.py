# SPDX-License-Identifier: MIT
"""Rows of hex and of floats.

cffdump: dump_hex, dump_float (mesa 25.0.7). Rows end with the last captured dword; rows of zeros
are one ``*`` a run, but the first row is always shown.
"""

from __future__ import annotations

from cffpy.capture.memory import Words
from cffpy.regdb.decode import float32_text
from cffpy.views.cffdump.quirks import LEVELS

_ROW = 8
_ZEROS = " ".join(["00000000"] * _ROW)


def hex_rows(words: Words, index: int, count: int, level: int, is_64bit: bool) -> str:
    """``count`` dwords from ``index`` of ``words`` as rows of eight."""
    count = min(count, words.count - index)
    if count <= 0:
        return ""
    address = words.address + index * 4
    tabs = LEVELS[level]
    if count <= _ROW:
        row = words.hex(index, count)
        if is_64bit:
            return f"{address:016x}:{tabs}0000: {row}\n"
        return f"{address & 0xFFFFFFFF:08x}:{tabs}0000: {row}\n"
    digits = 16 if is_64bit else 8
    mask = (1 << digits * 4) - 1
    text = words.hex(index, count)
    rows = []
    in_zeros = False
    for start in range(0, count, _ROW):
        row = text[start * 9 : start * 9 + _ROW * 9 - 1]
        if start and row == _ZEROS[: len(row)]:
            if not in_zeros:
                rows.append("*\n")
                in_zeros = True
            continue
        in_zeros = False
        place = address + start * 4 & mask
        rows.append(f"{place:0{digits}x}:{tabs}{start * 4:04x}: {row}\n")
    return "".join(rows)


def float_rows(words: Words, index: int, count: int, level: int, is_64bit: bool) -> str:
    """``count`` dwords from ``index`` of ``words`` as floats, eight a row."""
    count = min(count, words.count - index)
    tabs = LEVELS[level]
    digits = 16 if is_64bit else 8
    mask = (1 << digits * 4) - 1
    rows = []
    for start in range(0, count, _ROW):
        dwords = words.data[index + start : index + min(start + _ROW, count)]
        place = words.address + (index + start) * 4 & mask
        values = " ".join([f"{float32_text(value):>8}" for value in dwords])
        rows.append(f"{place:0{digits}x}:{tabs}{values}\n")
    return "".join(rows)
