# SPDX-License-Identifier: MIT
"""The prefix of annotations: none that a line of the reference begins with.

The reference prints strings of the capture (names of processes, markers) as they are, and these may
hold line feeds, so a line of it may begin with anything but NUL. No one prefix of printable
characters is safe for all captures; so it is chosen by what is to be printed, and the first line
of the output begins with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = "#cffpy"

#: The name, maybe a number, and a space. The reference leaves bytes from 0x80 on out of markers.
_LOOKALIKE = re.compile(
    b"[\\x80-\\xff]*".join(re.escape(bytes([byte])) for byte in _NAME.encode())
    + b"([0-9\\x80-\\xff]*) "
)

_ABOVE_ASCII = bytes(range(0x80, 0x100))


def choose_prefix(texts: Iterable[bytes | memoryview]) -> str:
    """``#cffpy `` or, where the texts hold that, the first of ``#cffpy2 ``, ... that they do not.

    ``texts``: all that the strings that are printed come from.
    """
    taken = {
        match.group(1).translate(None, _ABOVE_ASCII)
        for text in texts
        for match in _LOOKALIKE.finditer(text)
    }
    number = b""
    while number in taken:
        number = b"%d" % (int(number or b"1") + 1)
    return f"{_NAME}{number.decode()} "
