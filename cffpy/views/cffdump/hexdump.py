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
_ROW_32BIT, _ROW_64BIT = "%08x:%s%04x: %s\n", "%016x:%s%04x: %s\n"
_MASK_32BIT, _MASK_64BIT = (1 << 32) - 1, (1 << 64) - 1
_ZEROS = " ".join(["00000000"] * _ROW)


def hex_rows(words: Words, index: int, count: int, level: int, is_64bit: bool) -> str:
    """``count`` dwords from ``index`` of ``words`` as rows of eight."""
    captured = words.count - index
    if count > captured:
        count = captured
    if count <= 0:
        return ""
    address = words.address + index * 4
    tabs = LEVELS[level]
    if count <= _ROW:
        row = words.hex(index, count)
        if is_64bit:
            return f"{address:016x}:{tabs}0000: {row}\n"
        return f"{address & 0xFFFFFFFF:08x}:{tabs}0000: {row}\n"
    form, mask = (_ROW_64BIT, _MASK_64BIT) if is_64bit else (_ROW_32BIT, _MASK_32BIT)
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
        rows.append(form % (address + start * 4 & mask, tabs, start * 4, row))
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
