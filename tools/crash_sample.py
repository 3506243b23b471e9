# SPDX-License-Identifier: MIT
"""Writes the crash dump of samples/ as the msm driver would: of a sample whose GPU hangs at a draw.

Run by ``./dev docs``. ``crash_dump`` takes any capture with one command stream; tests use it.
"""

from __future__ import annotations

import struct
from pathlib import Path

from cffpy.capture.load import CommandStream, Identity, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container.open import open_bytes
from cffpy.pm4.reader import type7_header
from cffpy.pm4asm.assemble import assemble

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "samples" / "a660-textures.pm4"
CRASH = ROOT / "samples" / "a660-textures.devcore"

#: The address of CP_DRAW_INDX_OFFSET in the sample, and of its second texture, which has no memory.
STOP, FAULT = 0x100001090, 0x100010000

_RING, _RING_BYTES = 0x1000000001000, 32768
_INDIRECT_BUFFER, _EVENT_WRITE = 0x3F, 0x46
_FENCE = 0x80000004

#: Registers of a6xx and a7xx, in dwords.
_RBBM_STATUS, _RB_BASE, _IB1_BASE, _IB1_LEFT = 0x210, 0x800, 0x928, 0x92A


def ascii85(dwords: list[int]) -> str:
    """Dwords as the kernel writes them; zeros at the end are left out."""
    while dwords and not dwords[-1]:
        dwords = dwords[:-1]
    return "".join(
        "".join(chr(value // 85**place % 85 + 33) for place in (4, 3, 2, 1, 0)) if value else "z"
        for value in dwords
    )


def crash_dump(capture: bytes, stop: int, fault: int | None = None) -> str:
    """The dump of a GPU that hangs at the packet at ``stop``, in the capture's last stream."""
    image, stream, chip = MemoryImage(), CommandStream(0, 0, 0), 0
    buffers = []
    for record in read_records(open_bytes(capture).sections(), image):
        if isinstance(record, CommandStream):
            stream = record
            buffers = list(image.buffers)
        elif isinstance(record, Identity):
            chip = record.chip_id or chip
    core, major, minor, patch = (chip >> shift & 0xFF for shift in (24, 16, 8, 0))
    low, high = stream.gpuaddr & 0xFFFFFFFF, stream.gpuaddr >> 32
    ring = [type7_header(_EVENT_WRITE, 4), _FENCE, 0x10000000, 0, 1]
    ring += [type7_header(_INDIRECT_BUFFER, 3), low, high, stream.ndwords]
    rptr = len(ring)
    ring += [type7_header(_EVENT_WRITE, 4), _FENCE, 0x10000000, 0, 2]
    lines = ["---", "kernel: 6.6.0", "module: msm", "time: 1700000000.000000000", "comm: sample"]
    lines += ["cmdline: ./sample --hang", f"revision: 0 ({core}.{major}.{minor}.{patch})"]
    if fault is not None:
        lines += ["fault-info:", "  - ttbr0=0000000100000000", f"  - iova={fault:016x}"]
        lines += ["  - dir=READ", "  - type=TRANSLATION", "  - source=UCHE"]
    lines += ["rbbm-status: 0x00000005", "ringbuffer:", "  - id: 0", f"    iova: {_RING:#018x}"]
    lines += ["    last-fence: 2", "    retired-fence: 1", f"    rptr: {rptr}"]
    lines += [f"    wptr: {len(ring)}", f"    size: {_RING_BYTES}"]
    lines += ["    data: !!ascii85 |", f"     {ascii85(ring)}", "bos:"]
    for buffer in buffers:
        dwords = [one for (one,) in struct.iter_unpack("<I", _whole(buffer.contents))]
        lines += [f"  - iova: {buffer.gpuaddr:#018x}", f"    size: {buffer.size}"]
        lines += ["    data: !!ascii85 |", f"     {ascii85(dwords)}"]
    left = stream.ndwords - (stop - stream.gpuaddr) // 4
    lines += ["registers:", *_register(_RBBM_STATUS, 5)]
    lines += [*_register(_RB_BASE, _RING & 0xFFFFFFFF), *_register(_RB_BASE + 1, _RING >> 32)]
    lines += [*_register(_IB1_BASE, low), *_register(_IB1_BASE + 1, high)]
    lines += [*_register(_IB1_LEFT, left), "indexed-registers:"]
    return "\n".join([*lines, ""])


def _whole(contents: memoryview) -> bytes:
    data = bytes(contents)
    return data + bytes(-len(data) % 4)


def _register(register: int, value: int) -> list[str]:
    return [f"  - {{ offset: {4 * register:#08x}, value: {value:#010x} }}"]


def sample_text() -> str:
    """The text of the sample."""
    with open(SAMPLE, "rb") as text:
        return crash_dump(bytes(assemble(text, str(SAMPLE))), STOP, FAULT)
