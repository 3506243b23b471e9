# SPDX-License-Identifier: MIT
"""Builds crash dumps as the msm driver writes them, for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from tests.builders import type7

RING, IB1, IB2 = 0x1000000001000, 0x100000, 0x200000
RING_DWORDS = 64

#: Byte offsets of registers of a6xx in the section ``registers``.
RB_BASE, IB1_BASE, IB1_REM, IB2_BASE, IB2_REM = (
    4 * register for register in (0x800, 0x928, 0x92A, 0x92B, 0x92D)
)
CP_NOP, CP_INDIRECT_BUFFER = 0x10, 0x3F


def ascii85(dwords: Iterable[int]) -> str:
    """Dwords as the kernel writes them; zeros at the end are left out."""
    values = list(dwords)
    while values and not values[-1]:
        values.pop()
    text = []
    for value in values:
        digits = [chr(value // 85**place % 85 + 33) for place in (4, 3, 2, 1, 0)]
        text.append("".join(digits) if value else "z")
    return "".join(text)


def data(dwords: Iterable[int], indent: str = "    ") -> str:
    """The two lines of a block."""
    return f"{indent}data: !!ascii85 |\n     {ascii85(dwords)}\n"


def buffer(gpuaddr: int, dwords: Sequence[int], size: int | None = None) -> str:
    """An entry of ``bos`` with its data; ``size`` in bytes."""
    size = 4 * len(dwords) if size is None else size
    return f"  - iova: 0x{gpuaddr:016x}\n    size: {size}\n{data(dwords)}"


def register(offset: int, value: int) -> str:
    """A line of ``registers``; ``offset`` in bytes."""
    return f"  - {{ offset: 0x{offset:06x}, value: 0x{value:08x} }}\n"


def address_registers(offset: int, gpuaddr: int) -> str:
    """Both halves of a 64-bit register."""
    return register(offset, gpuaddr & 0xFFFFFFFF) + register(offset + 4, gpuaddr >> 32)


def call(gpuaddr: int, ndwords: int) -> list[int]:
    """CP_INDIRECT_BUFFER."""
    return type7(CP_INDIRECT_BUFFER, gpuaddr & 0xFFFFFFFF, gpuaddr >> 32, ndwords)


def hang(
    ib1: list[int],
    left: int,
    ib2: list[int] | None = None,
    left2: int = 0,
    revision: str = "630 (6.3.0.2)",
    after: str = "registers-gmu:\n",
) -> bytes:
    """A dump of a GPU that hangs in IB1 with ``left`` dwords, and in IB2 with ``left2``."""
    ring = call(IB1, len(ib1))
    text = (
        "---\nkernel: 6.6.0\nmodule: msm\ncomm: test\n"
        f"revision: {revision}\nrbbm-status: 0x00800005\nringbuffer:\n  - id: 0\n"
        f"    iova: 0x{RING:016x}\n    last-fence: 2\n    retired-fence: 1\n"
        f"    rptr: {len(ring)}\n    wptr: {len(ring)}\n    size: {4 * RING_DWORDS}\n"
        f"{data(ring)}bos:\n{buffer(IB1, ib1)}"
    )
    if ib2 is not None:
        text += buffer(IB2, ib2)
    text += "registers:\n" + address_registers(RB_BASE, RING)
    text += address_registers(IB1_BASE, IB1) + register(IB1_REM, left)
    if ib2 is not None:
        text += address_registers(IB2_BASE, IB2) + register(IB2_REM, left2)
    return (text + after).encode()


def little_endian(dwords: Iterable[int]) -> bytes:
    """Dwords as bytes."""
    values = list(dwords)
    return struct.pack(f"<{len(values)}I", *values)
