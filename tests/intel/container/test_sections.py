# SPDX-License-Identifier: MIT
"""Buffers of error states and devcoredumps: stores, and how many bytes a dump may name."""

from __future__ import annotations

from cffpy.container.open import open_bytes
from cffpy.intel.container.error_state import Section, SectionMemory, XeDevcoredump


def test_stores_do_not_copy_their_section() -> None:
    """Each store into 256 MiB took a third of a second."""
    section = Section("VMA", "", 0x1000, bytes(64))
    memory = SectionMemory([section])
    memory.store(0x1004, b"abcd")
    written = section.data
    memory.store(0x103E, b"efgh")
    assert section.data is written
    assert memory.span(True, 0x1000, 64) == b"\0\0\0\0abcd" + bytes(54) + b"ef"
    assert memory.read(True, 0x1004, 4) == (b"abcd", 60)
    assert isinstance(memory.read(True, 0x1004, 4)[0], bytes)


def test_areas_of_a_dump_grow_with_it() -> None:
    """Lengths without data: 7,728 bytes had 800 MB in memory."""
    text = b"**** Xe Device Coredump ****\n**** VM state ****\n"
    text += b"".join(b"[%x].length: 0xfffe0000\n" % (number << 32) for number in range(1, 9))
    dump = XeDevcoredump(open_bytes(text))
    list(dump.lines())
    assert sum(len(area.data) for area in dump.areas) == (1 << 24) + 64 * len(text)
    assert all(one.limit == "bytes" for one in dump.damage)
