# SPDX-License-Identifier: MIT
"""Headers of packets, packed from the places that their layouts tell."""

from __future__ import annotations

from cffpy.layout import Layout
from cffpy.pm4.layouts import TYPE0_HEADER, TYPE3_HEADER, TYPE4_HEADER, TYPE7_HEADER
from cffpy.pm4.reader import odd_parity
from cffpy.pm4asm.model import SourceProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _packer(layout: Layout) -> Callable[..., int]:
    """A function that packs the values of a header."""
    lows = {name: layout.place(name).low for name in layout.names}

    def pack(**values: int) -> int:
        return sum(value << lows[name] for name, value in values.items())

    return pack


_TYPE0, _TYPE3 = _packer(TYPE0_HEADER), _packer(TYPE3_HEADER)
_TYPE4, _TYPE7 = _packer(TYPE4_HEADER), _packer(TYPE7_HEADER)


def register_header(is_64bit: bool, register: int, count: int) -> int:
    """The header that writes ``count`` registers. Raises SourceProblem where none can."""
    if is_64bit:
        if not 0 <= register <= 0x3FFFF or not 1 <= count <= 127:
            raise SourceProblem(f"no packet writes {count} registers from {register:#x} on")
        return _TYPE4(
            type=4,
            count=count,
            count_parity=odd_parity(count),
            register=register,
            register_parity=odd_parity(register),
        )
    if not 0 <= register <= 0x7FFF or not 1 <= count <= 0x4000:
        raise SourceProblem(f"no packet writes {count} registers from {register:#x} on")
    return _TYPE0(type=0, register=register, count_minus_1=count - 1)


def opcode_header(is_64bit: bool, opcode: int, count: int) -> int:
    """The header of a packet of ``count`` dwords behind it. Raises SourceProblem."""
    if is_64bit:
        if count > 0x3FFF:
            raise SourceProblem(f"a packet has no {count} dwords")
        return _TYPE7(
            type=7,
            count=count,
            count_parity=odd_parity(count),
            opcode=opcode,
            opcode_parity=odd_parity(opcode),
        )
    if not 1 <= count <= 0x4000:
        raise SourceProblem(f"a packet has no {count} dwords; it has 1 to 16384")
    return _TYPE3(type=3, opcode=opcode, count_minus_1=count - 1)
