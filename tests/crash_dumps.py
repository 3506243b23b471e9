# SPDX-License-Identifier: MIT
"""Builds crash dumps as the msm driver writes them, for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.builders import type4, type7

RING, IB1, IB2 = 0x1000000001000, 0x100000, 0x200000
RING_DWORDS = 64

#: Byte offsets of registers of a6xx in the section ``registers``.
RB_BASE, RB_RPTR, IB1_BASE, IB1_REM, IB2_BASE, IB2_REM, ROQ_RB, ROQ_IB1, ROQ_IB2 = (
    4 * register for register in (0x800, 0x806, 0x928, 0x92A, 0x92B, 0x92D, 0x948, 0x949, 0x94A)
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
    ring: Sequence[int] = (),
    rptr: int | None = None,
) -> bytes:
    """A dump of a GPU that hangs in IB1 with ``left`` dwords, and in IB2 with ``left2``.

    ``ring``: its commands, without them a call of IB1. ``rptr``: the read pointer, else their end.
    """
    ring = ring or call(IB1, len(ib1))
    rptr = len(ring) if rptr is None else rptr
    text = (
        "---\nkernel: 6.6.0\nmodule: msm\ncomm: test\n"
        f"revision: {revision}\nrbbm-status: 0x00800005\nringbuffer:\n  - id: 0\n"
        f"    iova: 0x{RING:016x}\n    last-fence: 2\n    retired-fence: 1\n"
        f"    rptr: {rptr}\n    wptr: {len(ring)}\n    size: {4 * RING_DWORDS}\n"
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


# -- dumps in which the place of the SQE is known ----------------------------------------------


#: Addresses of the IBs of ``planted``, above 4 GiB: their upper dwords are not 0.
FIRST, SECOND, APART = 0x100100000, 0x100200000, 0x10000
_REGISTER_WRITE, _DRAW = type4(0x8000, 1, 2), type7(0x38, 4, 1, 3)
_WAIT_FOR_IDLE, _WAIT_FOR_ME, _EVENT = type7(0x26), type7(0x13), type7(0x46, 4, 0x10, 0, 9)


def _second(number: int) -> list[int]:
    """An IB2: each packet has another header or value."""
    write = type7(0x3D, 0x1000, 1, number)
    return [*type7(CP_NOP, number), *_REGISTER_WRITE, *_DRAW, *_WAIT_FOR_IDLE, *write]


def _first(number: int) -> list[int]:
    """An IB1 that calls three IB2s one directly after the other."""
    calls = [word for inner in range(3) for word in call(SECOND + inner * APART, len(_second(0)))]
    return [*type7(CP_NOP, number, 1), *calls, *_REGISTER_WRITE, *_WAIT_FOR_ME, *_DRAW]


def packets_of(dwords: Sequence[int]) -> list[tuple[int, int]]:
    """Where the packets of type 4 and 7 begin and end."""
    found, at = [], 0
    while at < len(dwords):
        header = dwords[at]
        size = 1 + (header & (0x3FFF if header >> 28 == 7 else 0x7F))
        found.append((at, at + size))
        at += size
    return found


class Planted(NamedTuple):
    """A dump, and the packet that the SQE executes in it: its address and header."""

    dump: bytes
    gpuaddr: int
    header: int


def planted(
    level: str,
    prefetch: int,
    remainder: int | None,
    waiting: int | None = None,
    has_high: bool = True,
    has_sqe: bool = True,
    peeks: bool = True,
) -> Planted:
    """The SQE is in the first of three IBs, or in the ring behind them; nothing is left of others.

    ``prefetch``: IBs that the fetcher is ahead. ``remainder``: dwords that are not read of what
    the SQE is in, None for all. ``waiting``: how many of the dwords that are left wait in the ROQ.
    ``has_high``: CP_IB2_BASE has its upper dword. ``has_sqe``: the dump has the SQE's statistics.
    ``peeks``: the SQE has read the calls of the IBs that are fetched ahead.
    """
    firsts, seconds = [_first(one) for one in range(3)], [_second(one) for one in range(3)]
    size1, size2 = len(firsts[0]), len(seconds[0])
    ring = type7(CP_NOP, 1)
    for number in range(3):
        ring += call(FIRST + number * APART, size1)
    ring_calls = len(ring)
    ring += [*_EVENT, *_WAIT_FOR_IDLE, *type7(CP_NOP, 3, 4)]
    stream, gpuaddr = {
        "ring": (ring[ring_calls:], RING + 4 * ring_calls),
        "IB1": (firsts[0], FIRST),
        "IB2": (seconds[0], SECOND),
    }[level]
    spot = 0 if remainder is None else len(stream) - remainder
    bounds = packets_of(stream)
    start, _ = next((one for one in bounds if one[0] <= spot < one[1]), bounds[-1])
    left1 = left2 = 0
    base1, base2 = FIRST + 2 * APART, SECOND + 2 * APART
    rptr = ring_calls + spot if level == "ring" else 6 + 4 * (prefetch if level == "IB1" else 0)
    if level == "IB1":
        base1 = FIRST + prefetch * APART
        left1 = len(stream) - spot + size1 * prefetch
    elif level == "IB2":
        base1, base2 = FIRST, SECOND + prefetch * APART
        left1 = size1 - (3 + 4 * (1 + (prefetch if peeks else 0)))
        left2 = len(stream) - spot + size2 * prefetch
    text = (
        "---\nkernel: 6.6.0\nmodule: msm\ncomm: test\nrevision: 660 (6.6.0.1)\nringbuffer:\n"
        f"  - id: 0\n    iova: 0x{RING:016x}\n    last-fence: 2\n    retired-fence: 1\n"
        f"    rptr: {len(ring)}\n    wptr: {len(ring)}\n    size: {4 * RING_DWORDS}\n"
        f"{data(ring)}bos:\n"
    )
    for first, lists in ((FIRST, firsts), (SECOND, seconds)):
        for number, dwords in enumerate(lists):
            text += buffer(first + number * APART, dwords, APART)
    text += "registers:\n" + address_registers(RB_BASE, RING) + register(RB_RPTR, rptr)
    text += address_registers(IB1_BASE, base1) + _split(IB1_REM, ROQ_IB1, left1, waiting)
    text += register(IB2_BASE, base2 & 0xFFFFFFFF)
    text += register(IB2_BASE + 4, base2 >> 32) if has_high else ""
    text += _split(IB2_REM, ROQ_IB2, left2, waiting)
    if has_sqe:
        text += "indexed-registers:\n  - regs-name: CP_SQE_STAT\n    dwords: 51\n"
        text += data([0x123, stream[start]])
    return Planted((text + "x:\n").encode(), gpuaddr + 4 * start, stream[start])


def _split(rem: int, avail: int, left: int, waiting: int | None) -> str:
    """Both registers of what is left; the ROQ counts a dword more than waits in it."""
    count = min(left, waiting or 0)
    return register(rem, left - count) + register(avail, (count + 1 if count else 0) << 16)
