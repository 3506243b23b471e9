# SPDX-License-Identifier: MIT
"""Rows of hex: with characters, as of data blocks; with a marked address, as of commands.

crashdec: dump_hex_ascii; cffdec.c: dump_hex (mesa 25.0.7).
"""

from __future__ import annotations

import struct
import sys
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.capture.memory import Words

#: Bytes of a row; rows that are made at once.
_ROW = 16
_ROWS = 1 << 12

#: What follows the offset in a row of zeros: the kernel omits them, so buffers have millions.
_ZEROS = f": {' '.join(['0' * 8] * 4)}\t|{'.' * _ROW}|\n"

#: Printable ASCII as it is, all else as a dot.
_CHARACTERS = bytes([byte if 0x20 <= byte < 0x7F else ord(".") for byte in range(256)])

_MARKED, _RESET = "\x1b[0;1;31m", "\x1b[0m"
_LINE = 8


def hex_and_characters(contents: bytes, size: int, level: int) -> Iterator[str]:
    """Rows of four dwords with their characters: ``size`` bytes, zeros after ``contents``."""
    tabs = "\t" * level
    yield f"{tabs}{'-' * 47}\n{tabs}{size} (0x{size:x}) bytes\n"
    step = _ROW * _ROWS
    for start in range(0, size, step):
        piece = contents[start : start + step]
        count = min(step, size - start)
        if not piece and not count % _ROW:
            yield "".join([f"{tabs}{row:06x}{_ZEROS}" for row in range(start, start + count, _ROW)])
        else:
            yield "".join(_rows(piece.ljust(count, b"\0"), start, tabs))


def _rows(piece: bytes, offset: int, tabs: str) -> Iterator[str]:
    whole = len(piece) // 4 * 4
    dwords = array("I", piece[:whole])
    if sys.byteorder == "little":
        dwords.byteswap()
    text = dwords.tobytes().hex(" ", 4)
    characters = piece.translate(_CHARACTERS).decode("ascii")
    for start in range(0, len(piece), _ROW):
        row = text[start // 4 * 9 : start // 4 * 9 + 35].rstrip(" ")
        shown = characters[start : start + _ROW]
        yield f"{tabs}{offset + start:06x}: {row:35}\t|{shown}|\n"


def marked_rows(
    words: Words, index: int, count: int, tabs: str, digits: int, known: bool, marked: bool
) -> str:
    """Rows of eight dwords, runs of zero rows as one ``*``, the address marked or not.

    ``digits``: of the address. ``known``: False for memory whose address is shown as 0.
    """
    dwords = words.data[index : index + max(0, min(count, words.count - index))].tolist()
    opening, closing = (_MARKED, _RESET) if marked else ("", "")
    mask = (1 << 4 * digits) - 1
    rows = []
    in_zeros = False
    for start in range(0, len(dwords), _LINE):
        row = dwords[start : start + _LINE]
        if start and not any(row):
            if not in_zeros:
                rows.append("*\n")
            in_zeros = True
            continue
        in_zeros = False
        gpuaddr = words.address + 4 * (index + start) & mask if known else 0
        text = struct.pack(f">{len(row)}I", *row).hex(" ", 4)
        rows.append(f"{opening}{gpuaddr:0{digits}x}:{tabs}{closing}{start * 4:04x}: {text}\n")
    return "".join(rows)
