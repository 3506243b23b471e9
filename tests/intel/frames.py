# SPDX-License-Identifier: MIT
"""A small AUB file of gen9, laid out as ANV does: a pass with draws, and draws by a shader."""

from __future__ import annotations

from struct import pack

from tests.intel import aub_files

BATCH, SECONDARY, GENERATOR, RING = 0xEFFEFFFF0000, 0xEFFEFFFE0000, 0xEFFEFFFD0000, 0xEFFEFFFC0000
INDIRECT, PARAMETERS = 0xEFFEFFFB0000, 0x3C0001000
TABLES, INTERNAL, BINDLESS = 0xC0000000, 0x100000000, 0x140000000
DESCRIPTORS, KERNELS, DYNAMIC = 0x2BFFFF000, 0x300000000, 0x3C0000000
TARGET, DEPTH, UNIFORMS, TEXTURE = 0xEFFE10000000, 0xEFFE20000000, 0xEFFE30000000, 0xEFFE40000000
SET = DESCRIPTORS + 0xFC0

RGBA8, RAW = 0x0C7, 0x1FF
TRIANGLES, RECTANGLES = 4, 15
DRAW_SIZE = 28


def words(*values: int) -> bytes:
    """Dwords."""
    return pack(f"<{len(values)}I", *values)


def split(address: int) -> tuple[int, int]:
    """The two dwords of an address."""
    return address & 0xFFFFFFFF, address >> 32


def image(address: int, width: int, height: int) -> bytes:
    """RENDER_SURFACE_STATE of an image."""
    head = (1 << 29 | RGBA8 << 18 | 3 << 12, 0, (width - 1) | (height - 1) << 16, 4 * width - 1)
    return words(*head, 0, 0, 0, 0, *split(address), *[0] * 6)


def buffer(address: int, size: int) -> bytes:
    """RENDER_SURFACE_STATE of a raw buffer."""
    last = size - 1
    head = (4 << 29 | RAW << 18, 0, (last & 0x7F) | (last >> 7 & 0x3FFF) << 16, (last >> 21) << 21)
    return words(*head, 0, 0, 0, 0, *split(address), *[0] * 6)


def bases() -> bytes:
    """STATE_BASE_ADDRESS with ANV's bases."""
    found = [0x61010011, *[0] * 18]
    for dword, base in ((4, TABLES), (6, DYNAMIC), (10, KERNELS), (16, BINDLESS)):
        low, high = split(base)
        found[dword : dword + 2] = low | 1, high
    return words(*found)


def shaders(entries: int) -> bytes:
    """3DSTATE_VS and 3DSTATE_PS, with a binding table of ``entries`` entries."""
    vertex = words(0x78100007, 0x800, 0, 0, 0, 0, 0, 5, 0)
    return vertex + words(0x7820000A, 0x400, 0, entries << 18, 0, 0, 1, *[0] * 5)


def topology(number: int) -> bytes:
    """3DSTATE_VF_TOPOLOGY."""
    return words(0x784B0000, number)


def depth() -> bytes:
    """3DSTATE_DEPTH_BUFFER: 64x32, D24, with HiZ."""
    kind = 1 << 29 | 1 << 28 | 1 << 22 | 3 << 18 | 255
    return words(0x78050006, kind, *split(DEPTH), 63 << 4 | 31 << 18, 0, 0, 0)


def table(offset: int) -> bytes:
    """3DSTATE_BINDING_TABLE_POINTERS_PS."""
    return words(0x782A0000, offset)


def draw(vertices: int, instances: int = 1, first: int = 0, indexed: bool = False) -> bytes:
    """3DPRIMITIVE."""
    return words(0x7B000005, indexed << 8, vertices, first, instances, 0, 0)


def flush() -> bytes:
    """PIPE_CONTROL: flush the render targets, stall."""
    return words(0x7A000004, 1 << 20 | 1 << 12, 0, 0, 0, 0)


def depth_clear() -> bytes:
    """3DSTATE_WM_HZ_OP: clear the depth buffer."""
    return words(0x78520003, 1 << 30, 0, 0, 0)


def constants(address: int, size: int) -> bytes:
    """3DSTATE_CONSTANT_PS with slot 3."""
    return words(0x78170009, 0, size // 32 << 16, *[0] * 6, *split(address))


def store(address: int, value: int) -> bytes:
    """MI_STORE_DATA_IMM of 8 bytes."""
    return words(0x10200003, *split(address), *split(value))


def parameters(commands: int, end: int, count: int, ring: int = 0) -> bytes:
    """The parameters of a call that generates draws."""
    head = pack("<QQII", 0, INDIRECT, 0, 0)
    middle = words(16, 32 if ring else 0, 0, DRAW_SIZE, 0, count, ring, 1)
    return head + middle + pack("<4QI", 0, end, commands, 0, 0)


def kernel() -> bytes:
    """A kernel that writes render target 0 and ends."""
    return words(0x31 | 5 << 24, 0, 3 << 25, 1 << 31)


def frame(memory: dict[int, bytes] | None = None) -> bytes:
    """An AUB file of ``memory``, by default ``batches``."""
    return aub_files.file(memory or batches(), BATCH)


def _second_draw() -> int:
    """The address of the second draw of ``batches``."""
    return BATCH + batches()[BATCH].index(draw(6, 2, indexed=True))


def hang(memory: dict[int, bytes] | None = None, device: int = 0x1912) -> bytes:
    """An i915 error state of the same: the GPU is at the second draw; its texture faults."""
    memory = memory or batches()
    low, high = split(_second_draw())
    page = TEXTURE >> 12
    fault = f"0x{page >> 32 & 0xF:08x} 0x{page & 0xFFFFFFFF:08x}"
    lines = [
        "GPU HANG: ecode 9:1:85dffffb, in test [1234]",
        f"PCI ID: {device:#x}",
        "rcs0 command stream:",
        f"  ACTHD: 0x{high:08x} {low:08x}",
        "  INSTDONE: 0xffd7fff7",
        "  FAULT_REG: 0x00000001",
        f"  FAULT_TLB_DATA: {fault}",
    ]
    text = "".join(f"{line}\n" for line in lines).encode()
    for address, data in memory.items():
        kind = "batch" if address == BATCH else "user"
        low, high = split(address)
        text += f"rcs0 --- {kind} = 0x{high:08x} {low:08x}\n~".encode()
        text += aub_files.base85(data) + b"\n"
    return text


def xe_hang(memory: dict[int, bytes] | None = None, device: int = 0x1912) -> bytes:
    """An Xe devcoredump of the same."""
    text = (
        f"**** Xe Device Coredump ****\nPCI ID: {device:#x}\n**** Job ****\n"
        f"  batch_addr[0]: {BATCH:#x}\n**** HW Engines ****\n"
        "rcs0 (physical), logical instance=0\n"
        f"\tACTHD: {_second_draw():#x}\n\tRING_INSTDONE: 0xffd7fff7\n**** VM state ****\n"
    ).encode()
    for address, data in (memory or batches()).items():
        text += f"[{address:x}].length: {len(data):#x}\n[{address:x}].data: ".encode()
        text += aub_files.base85(data) + b"\n"
    return text


def batches() -> dict[int, bytes]:
    """A pass of draws: 3 direct ones, one of them in a secondary, and 2 + 2 by a shader.

    Of the inline draws one is written and one is empty; those of the ring are all empty.
    """
    first = bases() + flush() + depth() + shaders(4) + table(0x80) + depth_clear()
    first += topology(TRIANGLES) + draw(36) + draw(6, 2, indexed=True)
    back = BATCH + len(first) + len(store(0, 0)) + len(aub_files.jump(0))
    first += store(SECONDARY + len(draw(9)) + 4, back) + aub_files.jump(SECONDARY)
    space = BATCH + len(first) + len(aub_files.jump(0))
    end = space + 2 * DRAW_SIZE
    first += aub_files.jump(GENERATOR) + draw(3, 1, 5) + bytes(DRAW_SIZE)
    generate = table(0x100) + shaders(1) + topology(RECTANGLES)
    generator = generate + constants(PARAMETERS, 128) + draw(3)
    generator += shaders(4) + table(0x80) + topology(TRIANGLES) + aub_files.jump(space)
    ring = generate + constants(PARAMETERS + 128, 128) + draw(3)
    ring += shaders(4) + table(0x80) + topology(TRIANGLES) + aub_files.jump(RING)
    ring_end = BATCH + len(first) + len(ring)
    batch = first + ring + draw(24) + aub_files.END
    pushed = parameters(space, end, 2).ljust(128, b"\0")
    pushed += parameters(RING, ring_end, 2, ring=2).ljust(128, b"\0")
    tables = bytes(0x80) + words(0x40002040, 0x40000000, 0x80000080, 0x40002080)
    tables += bytes(0x70) + words(0x40002040)
    internal = buffer(SET, 64).ljust(0x2040, b"\0") + image(TARGET, 64, 32) + buffer(UNIFORMS, 256)
    record = pack("<QII", UNIFORMS, 0x100, 0) + words(0x80 << 6, 0x100)
    return {
        BATCH: batch,
        SECONDARY: draw(9) + aub_files.jump(0),
        GENERATOR: generator,
        RING: bytes(4096),
        INDIRECT: words(3, 1, 5, 0) + words(4, 2, 7, 1),
        PARAMETERS: pushed,
        TABLES: tables,
        INTERNAL: internal,
        BINDLESS: bytes(0x80) + image(TEXTURE, 16, 16),
        DESCRIPTORS: bytes(0xFC0) + record,
        KERNELS: bytes(0x400) + kernel() + bytes(0x3F0) + kernel(),
        DYNAMIC: bytes(0x100) + words(1 << 17, 0, 0, 0),
        UNIFORMS: bytes(4096),
    }
