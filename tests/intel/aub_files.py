# SPDX-License-Identifier: MIT
"""Builds small AUB files: a memory trace with a ring, page tables and batches."""

from __future__ import annotations

from struct import pack

CONTEXT, RING, ROOT = 0x2000, 0x1000, 0x10000
#: First physical page of what is written to the PPGTT.
FIRST_PAGE = 0x1000


def header(device: int = 0x1912, application: str = "test") -> bytes:
    """The block that names the device."""
    text = f"PCI-ID={device:#x} {application}".encode()
    text = text.ljust(len(text) // 4 * 4 + 4, b"\0")
    return pack("<5I", 0xF70E0000 | (4 + len(text) // 4), 0, 0, 0, 0) + text


def memory(space: int, address: int, data: bytes) -> bytes:
    """A memory write."""
    padded = data.ljust(-(-len(data) // 4) * 4, b"\0")
    count = min(4 + len(padded) // 4, 0xFFFF)
    return pack("<IQII", 0xF7060000 | count, address, space << 28, len(data)) + padded


def register(offset: int, value: int) -> bytes:
    """A register write."""
    return pack("<6I", 0xF7030005, offset, 0, 0, 0, value)


def comment(text: str) -> bytes:
    """A comment block."""
    data = text.encode().ljust(len(text) // 4 * 4 + 4, b"\0")
    return pack("<2I", 0xF7080000 | (1 + len(data) // 4), 0) + data


class PageTables:
    """Pages of the PPGTT, as blocks that write them."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self._next = FIRST_PAGE
        self._tables: dict[tuple[int, ...], int] = {(): ROOT >> 12}

    def write(self, address: int, data: bytes) -> None:
        """Map and fill the pages from ``address`` (a page's) on."""
        for offset in range(0, len(data), 4096):
            page = self._new_page()
            self._map(address + offset, page)
            self.blocks.append(memory(2, page << 12, data[offset : offset + 4096]))

    def _new_page(self) -> int:
        self._next += 1
        return self._next - 1

    def _map(self, address: int, page: int) -> None:
        path: tuple[int, ...] = ()
        for shift in (39, 30, 21, 12):
            table = self._tables[path]
            path = (*path, address >> shift & 0x1FF)
            if path not in self._tables:
                target = page if shift == 12 else self._new_page()
                self._tables[path] = target
                entry = pack("<Q", target << 12 | 1)
                self.blocks.append(memory(2, (table << 12) + 8 * path[-1], entry))


def submission(ring: bytes, by_queue: bool = False) -> list[bytes]:
    """Blocks that put commands into a ring and submit them: execlists, or the queue of gen11 on."""
    low, high, control = 0x2510, 0x2514, 0x2550
    writes = [(0x2230, value) for value in (0, 0, 0, CONTEXT | 1)]
    if by_queue:
        writes = [(low, CONTEXT | 1), (high, 0), (control, 1)]
    context = [0] * 1024
    context[7], context[9], context[51] = len(ring), RING, ROOT
    entries = pack("<3Q", 0x101001, 0x102001, 0x103001)
    return [
        memory(4, 8 * (RING >> 12), entries),
        memory(0, RING, ring),
        memory(0, CONTEXT + 0x1000, pack("<1024I", *context)),
        *(register(offset, value) for offset, value in writes),
    ]


def jump(address: int, second_level: bool = False) -> bytes:
    """MI_BATCH_BUFFER_START of gen8 on."""
    return pack("<IQ", 0x18800101 | second_level << 22, address)


END = pack("<I", 0x05000000)


def file(
    batches: dict[int, bytes], first: int, device: int = 0x1912, by_queue: bool = False
) -> bytes:
    """A file whose ring jumps to the batch at ``first``."""
    tables = PageTables()
    for address, data in batches.items():
        tables.write(address, data)
    blocks = [header(device), *tables.blocks, *submission(jump(first) + END, by_queue)]
    return b"".join(blocks)


def classic(buffers: dict[int, bytes], ring: bytes, device: int = 0x0166, kind: int = 2) -> bytes:
    """A file of classic blocks: buffers, and a ring of this kind (2 render, 3 video, 4 copy)."""
    text = f"PCI-ID={device:#06x}".encode().ljust(16, b"\0")
    found = pack("<13I", 0xE085000F, *[0] * 11, 20) + text
    for address, data in buffers.items():
        found += pack("<5I", 0xE0C10003, 0x1, 0, address, len(data)) + data
    return found + ring_block(ring, kind)


def ring_block(commands: bytes, kind: int = 2) -> bytes:
    """A classic block that executes commands."""
    return pack("<5I", 0xE0C10003, 2 | kind << 8, 0, 0, len(commands)) + commands


def state_batch() -> bytes:
    """Commands of gen9 that refer to memory: tables, buffers, constants, a kernel, a draw."""
    bases = [0x61010011, *[0] * 18]
    bases[4] = bases[6] = bases[10] = 0x200001
    commands = [
        *bases,
        *(0x78080003, 0x4010, 0x300000, 0, 64),  # vertex buffer
        *(0x780A0003, 0x100, 0x300000, 0, 64),  # index buffer
        *(0x782A0000, 0x40),  # binding table of the pixel shader
        *(0x782F0000, 0x80),  # samplers
        *(0x78230000, 0x100),  # viewports
        *(0x78240000, 0x201),  # blend state
        *(0x78170009, 0, 2, *[0] * 4, 0x300000, *[0] * 3),  # constants
        *(0x78100007, 64, *[0] * 5, 5, 0),  # vertex shader
        *(0x11000003, 0x7004, 0x2120212, 0x7008, 0),  # registers
        *(0x7B000005, 4, 3, 0, 1, 0, 0),  # 3DPRIMITIVE
    ]
    return pack(f"<{len(commands)}I", *commands) + END


def seeds() -> list[bytes]:
    """Files to begin fuzzing with."""
    heap = bytes(range(256)) * 16
    table = heap[:64] + pack("<4I", 0x400, 0x440, 0x7, 0x480) + heap[80:]
    batches = {0x100000: state_batch(), 0x200000: table * 2, 0x300000: heap}
    short = classic(batches, pack("<2I", 0x18800000, 0x100000) + END)
    return [file(batches, 0x100000), file(batches, 0x100000, 0x9A49), short]


def error_states() -> list[bytes]:
    """An i915 error state and an Xe devcoredump to begin fuzzing with."""
    data = base85(jump(0x100000) + END)
    batch = base85(state_batch())
    i915 = (
        b"GPU HANG: ecode 9\nPCI ID: 0x1912\nPGTBL_ER: 0x00000003\n  fence[0] = 12300000045003\n"
        b"rcs0 command stream:\n  HEAD:  0x00000008 [0x00000000]\n  TAIL:  0x00000010 [0x10]\n"
        b"  CTL:   0x00000001\n  ACTHD: 0x00000000 00100000\n  INSTDONE: 0xffd7fff7\n"
        b"  FAULT_TLB_DATA: 0x00000010 0x00012345\nrcs0 --- ringbuffer = 0x00000000 00001000\n~"
        + data
        + b"\nrcs0 --- batch = 0x00000000 00100000\n~"
        + batch
        + b"\n"
    )
    xe = (
        b"**** Xe Device Coredump ****\nPCI ID: 0x64a0\n**** Job ****\n  batch_addr[0]: 0x100000\n"
        b"**** HW Engines ****\nrcs0 (physical), logical instance=0\n\tACTHD: 0x100000\n"
        b"\tRING_INSTDONE: 0xffd7fff7\n**** VM state ****\n[100000].length: 0x1000\n[100000].data: "
        + batch
        + b"\n[200000].error: -14\n**** Contexts ****\n[HWCTX].length: 0x10\n[HWCTX].data: zzzz\n"
    )
    return [i915, xe]


def base85(data: bytes) -> bytes:
    """Dwords in base 85, as kernels write them."""
    digits = bytearray()
    for offset in range(0, len(data), 4):
        word = int.from_bytes(data[offset : offset + 4], "little")
        if not word:
            digits += b"z"
        else:
            digits += bytes(33 + word // 85**power % 85 for power in (4, 3, 2, 1, 0))
    return bytes(digits)
