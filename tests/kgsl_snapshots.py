# SPDX-License-Identifier: MIT
"""Builds KGSL snapshots as the vendor's kernel driver writes them, for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from tests.builders import type7
from tests.crash_dumps import CP_INDIRECT_BUFFER, IB1, IB2, RING, RING_DWORDS, little_endian

#: Registers of a6xx, in dwords.
RB_BASE, IB1_BASE, IB1_REM, IB2_BASE, IB2_REM = 0x800, 0x928, 0x92A, 0x92B, 0x92D
PTBASE, OTHER_PTBASE = 0x8000_1000, 0x9000_1000
CHIP_ID, GPU_ID = 0x06030002, 0x0003_0630

EVENT_WRITE, CACHE_FLUSH_TS = 0x46, 4


def header(version: int = 2, gpu_id: int = GPU_ID, chip_id: int = CHIP_ID) -> bytes:
    """The file's header."""
    start = struct.pack("<II", 0x504D0000 | version, gpu_id)
    return start if version < 2 else start + struct.pack("<I", chip_id)


def section(kind: int, payload: bytes) -> bytes:
    """A section."""
    return struct.pack("<HHI", 0xABCD, kind, 8 + len(payload)) + payload


END = section(0xFFFF, b"")


def os_section(version: int = 2, ptbase: int = PTBASE, comm: bytes = b"test") -> bytes:
    """The OS section of KGSL's versions 1, 2 and 4."""
    texts = struct.pack("<32s32s16s", b"5.4.0", b"#1 SMP", comm)
    common = struct.pack("<6I", 1234, 1, 2, 3, 4, 5)
    if version == 1:
        payload = struct.pack("<ii", 1, 0) + common + struct.pack("<4I", ptbase, 77, 9, 0) + texts
    elif version == 4:
        numbers = struct.pack("<QQ5I", ptbase, 0, 77, 0, 9, 0, 0)
        payload = struct.pack("<i", 0x203) + common + numbers + texts + b"lpac".ljust(16, b"\0")
    else:
        payload = struct.pack("<i", 0x202) + common + struct.pack("<Q3I", ptbase, 77, 9, 0) + texts
    return section(0x0101, payload)


def pairs(registers: dict[int, int]) -> bytes:
    """The registers as pairs."""
    dwords = [part for pair in registers.items() for part in pair]
    return section(0x0201, struct.pack("<I", len(registers)) + little_endian(dwords))


def packed(dwords: Iterable[int]) -> bytes:
    """Registers v2."""
    return section(0x0202, little_endian(dwords))


def ring(
    commands: Sequence[int],
    rptr: int | None = None,
    retired: int = 1,
    start: int = 0,
    gpuaddr: int = RING,
) -> bytes:
    """Ring v2, with the commands from dword ``start`` on."""
    data = [*commands, *[0] * (RING_DWORDS - len(commands))]
    end = (start + len(commands)) % RING_DWORDS
    read = end if rptr is None else rptr
    head = struct.pack("<6i2I", start, 0, RING_DWORDS, end, read, len(data), 9, retired)
    return section(0x0302, head + struct.pack("<QI", gpuaddr, 0) + little_endian(data))


def ib(gpuaddr: int, dwords: Sequence[int], ptbase: int = PTBASE) -> bytes:
    """IB v2."""
    head = struct.pack("<QQQ", gpuaddr, ptbase, len(dwords))
    return section(0x0402, head + little_endian(dwords))


def gpu_object(gpuaddr: int, dwords: Sequence[int], kind: int = 3, ptbase: int = PTBASE) -> bytes:
    """GPU object v2."""
    head = struct.pack("<iQQQ", kind, gpuaddr, ptbase, len(dwords))
    return section(0x0B02, head + little_endian(dwords))


def call(gpuaddr: int, ndwords: int) -> list[int]:
    """CP_INDIRECT_BUFFER."""
    return type7(CP_INDIRECT_BUFFER, gpuaddr & 0xFFFFFFFF, gpuaddr >> 32, ndwords)


def fence(number: int, gpuaddr: int = 0x5000) -> list[int]:
    """CP_EVENT_WRITE of a timestamp."""
    return type7(EVENT_WRITE, CACHE_FLUSH_TS, gpuaddr, 0, number)


def registers(left: int, ib2_left: int | None = None) -> dict[int, int]:
    """The position of the CP: dwords that are left of IB1 and IB2."""
    found = {
        RB_BASE: RING & 0xFFFFFFFF,
        RB_BASE + 1: RING >> 32,
        IB1_BASE: IB1,
        IB1_BASE + 1: 0,
        IB1_REM: left,
    }
    if ib2_left is not None:
        found |= {IB2_BASE: IB2, IB2_BASE + 1: 0, IB2_REM: ib2_left}
    return found


def snapshot(*sections: bytes) -> bytes:
    """A file of version 2 with these sections and the end."""
    return b"".join([header(), *sections, END])


def hang(ib1: Sequence[int], left: int, ib2: Sequence[int] | None = None, left2: int = 0) -> bytes:
    """A snapshot of a GPU that hangs in IB1 with ``left`` dwords, and in IB2 with ``left2``."""
    parts = [os_section(), pairs(registers(left, None if ib2 is None else left2))]
    parts += [ring(call(IB1, len(ib1))), ib(IB1, ib1)]
    if ib2 is not None:
        parts.append(gpu_object(IB2, ib2))
    return snapshot(*parts, section(0x1801, struct.pack("<3i", 1, 2, 3) + bytes(8)))
