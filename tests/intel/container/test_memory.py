# SPDX-License-Identifier: MIT
"""Memory of AUB files: page tables, global mappings, and where the reference maps buffers."""

from __future__ import annotations

from struct import pack

import pytest

from cffpy.intel.container.memory import AubMemory, HostMemory, MemoryExceeded

PAGE = 4096
ROOT = 0x100000


def map_pages(memory: AubMemory, pages: dict[int, int]) -> None:
    """A PPGTT of one table of each level, with these pages (virtual to physical numbers)."""
    memory.root = ROOT
    for level in range(3):
        entry = memoryview(pack("<Q", (ROOT + (level + 1) * PAGE) | 1))
        memory.write_physical(ROOT + level * PAGE, entry)
    for virtual, physical in pages.items():
        entry = memoryview(pack("<Q", physical * PAGE | 1))
        memory.write_physical(ROOT + 3 * PAGE + 8 * virtual, entry)


def fill(memory: AubMemory, number: int, byte: int) -> None:
    memory.write_physical(number * PAGE, memoryview(bytes([byte]) * PAGE))


def test_a_span_ends_at_the_first_gap() -> None:
    memory = AubMemory()
    map_pages(memory, {2: 8, 3: 7, 5: 8})
    fill(memory, 7, 7)
    fill(memory, 8, 8)
    assert memory.span(True, 2 * PAGE + PAGE - 2, 4) == b"\x08\x08\x07\x07"
    assert memory.span(True, 3 * PAGE + PAGE - 2, 4) == b"\x07\x07"
    assert memory.span(True, 4 * PAGE, 4) == b""
    assert memory.span(True, 1 << 40, 4) == b""


def test_a_page_counts_only_if_it_was_written() -> None:
    memory = AubMemory()
    map_pages(memory, {2: 8})
    assert memory.span(True, 2 * PAGE, 4) == b""


def test_a_write_does_not_change_the_file() -> None:
    file = bytearray(PAGE)
    memory = AubMemory()
    memory.write_physical(0, memoryview(file))
    memory.write_physical(4, memoryview(b"abcd"))
    assert file == bytes(PAGE)


def test_global_look_up_of_a_gap_finds_what_follows() -> None:
    memory = AubMemory()
    memory.write_ggtt_entries(8 * 4, memoryview(pack("<2Q", 0x9001, 0xA001)))
    assert memory.write_ggtt(5 * PAGE, memoryview(b"abcd"))
    assert memory.global_mapping(2 * PAGE + 8) == (2 * PAGE, 6 * PAGE)
    assert memory.span(False, 5 * PAGE - 1, 4) == b"\0abc"
    assert memory.global_mapping(7 * PAGE) is None


def test_the_latest_buffer_of_a_classic_file_is_found() -> None:
    memory = AubMemory()
    memory.is_classic = True
    for data in (b"abcd", b"efgh"):
        memory.write_local(0x1000, memoryview(data), memoryview(data + b"more"))
    assert memory.span(True, 0x1002, 8) == b"gh"
    assert memory.read(True, 0x1002, 8) == (b"ghmore", 2)
    memory.end_submission()
    assert memory.span(True, 0x1002, 8) == b""


def test_pages_are_limited() -> None:
    memory = AubMemory()
    memory._limit = 2
    with pytest.raises(MemoryExceeded):
        memory.write_physical(0, memoryview(bytes(4 * PAGE)))


def test_a_pointer_reads_what_lies_there_later() -> None:
    memory = HostMemory()
    map_pages(memory, {2: 8, 5: 9})
    fill(memory, 8, 8)
    fill(memory, 9, 9)
    assert memory.span(True, 2 * PAGE, 1) == b"\x08"
    pointer = memory.pointer(True, 2 * PAGE)
    assert pointer is not None
    assert memory.at_pointer(pointer, 1) == b"\x08"
    memory.end_submission()
    assert memory.at_pointer(pointer, 1) is None
    assert memory.span(True, 5 * PAGE, 1) == b"\x09"  # mapped at the same place
    assert memory.at_pointer(pointer, 1) == b"\x09"
    memory.end_submission()
    fill(memory, 10, 10)  # a new page takes the gap
    assert memory.at_pointer(pointer, 1) == b"\x0a"
