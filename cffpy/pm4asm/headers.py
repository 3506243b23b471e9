# SPDX-License-Identifier: MIT
"""Headers of packets, for counts and offsets that a text gives."""

from __future__ import annotations

from cffpy.pm4.reader import type0_header, type3_header, type4_header, type7_header
from cffpy.pm4asm.model import SourceProblem


def register_header(is_64bit: bool, register: int, count: int) -> int:
    """The header that writes ``count`` registers. Raises SourceProblem if there is none."""
    if is_64bit:
        if not 0 <= register <= 0x3FFFF or not 1 <= count <= 127:
            raise SourceProblem(f"no packet writes {count} registers from {register:#x} on")
        return type4_header(register, count)
    if not 0 <= register <= 0x7FFF or not 1 <= count <= 0x4000:
        raise SourceProblem(f"no packet writes {count} registers from {register:#x} on")
    return type0_header(register, count)


def opcode_header(is_64bit: bool, opcode: int, count: int) -> int:
    """The header of a packet with ``count`` dwords of payload. Raises SourceProblem."""
    if is_64bit:
        if count > 0x3FFF:
            raise SourceProblem(f"a packet has no {count} dwords")
        return type7_header(opcode, count)
    if not 1 <= count <= 0x4000:
        raise SourceProblem(f"a packet has no {count} dwords; it has 1 to 16384")
    return type3_header(opcode, count)
