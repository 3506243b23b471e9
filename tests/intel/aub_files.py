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


def submission(ring: bytes, port: int = 0x2230) -> list[bytes]:
    """Blocks that put commands into a ring and submit them."""
    context = [0] * 1024
    context[7], context[9], context[51] = len(ring), RING, ROOT
    entries = pack("<3Q", 0x101001, 0x102001, 0x103001)
    return [
        memory(4, 8 * (RING >> 12), entries),
        memory(0, RING, ring),
        memory(0, CONTEXT + 0x1000, pack("<1024I", *context)),
        *(register(port, value) for value in (0, 0, 0, CONTEXT | 1)),
    ]


def jump(address: int, second_level: bool = False) -> bytes:
    """MI_BATCH_BUFFER_START of gen8 on."""
    return pack("<IQ", 0x18800101 | second_level << 22, address)


END = pack("<I", 0x05000000)


def file(batches: dict[int, bytes], first: int, device: int = 0x1912) -> bytes:
    """A file whose ring jumps to the batch at ``first``."""
    tables = PageTables()
    for address, data in batches.items():
        tables.write(address, data)
    blocks = [header(device), *tables.blocks, *submission(jump(first) + END)]
    return b"".join(blocks)
