# SPDX-License-Identifier: MIT
"""Every form in which an AUB file has memory and submits commands; what runs in each."""

from __future__ import annotations

import gzip
from struct import pack

import pytest

from cffpy.container.open import open_bytes
from cffpy.intel.container.error_state import Section, SectionMemory, XeDevcoredump
from cffpy.intel.views.aubinator.aub import AubDump
from cffpy.intel.views.aubinator.context import FULL, DecodeOptions
from tests.intel import aub_files, frames
from tests.intel.opening import open_intel

BATCH = 0x100000
IVB, SKL, TGL = 0x0166, 0x1912, 0x9A49
DRAW = frames.draw(42)
#: MI_BATCH_BUFFER_START before gen8.
SHORT_JUMP = pack("<2I", 0x18800000, BATCH)


def names(data: bytes) -> list[tuple[int, str]]:
    """Address and name of each instruction, as aubinator prints them."""
    options = DecodeOptions()
    options.flags &= ~FULL
    parts: list[str] = []
    damage = AubDump(options, parts.append).file(open_bytes(data, "test.aub"), "test.aub")
    assert not damage
    lines = [line.split(":") for line in "".join(parts).splitlines() if line.startswith("0x")]
    return [(int(line[0], 16), line[-1].strip()) for line in lines]


def check_runs(data: bytes, address: int = BATCH) -> None:
    """A batch at this address with one draw: for aubinator, for the analyses, packed."""
    assert names(data)[:3] == [
        (names(data)[0][0], "MI_BATCH_BUFFER_START"),
        (address, "3DPRIMITIVE"),
        (address + len(DRAW), "MI_BATCH_BUFFER_END"),
    ]
    for source in (data, gzip.compress(data)):
        capture = open_intel(source)
        (draw,) = capture.draws
        assert (draw.place.gpuaddr, draw.vertices) == (address, 42)
        assert len(capture.submissions) == 1
        assert not capture.problems


@pytest.mark.parametrize("device", [SKL, TGL])
@pytest.mark.parametrize("by_queue", [False, True])
def test_execlists_and_the_queue(device: int, by_queue: bool) -> None:
    check_runs(aub_files.file({BATCH: DRAW + aub_files.END}, BATCH, device, by_queue))


@pytest.mark.parametrize(
    "address", [0x1000, 0x3FF000, 0x40000000, 0x8040201000, 0xEFFEFFFF0000, 0xFFFFFFFFF000]
)
def test_all_levels_of_the_ppgtt(address: int) -> None:
    check_runs(aub_files.file({address: DRAW + aub_files.END}, address), address)


def test_a_batch_over_two_pages_that_lie_apart() -> None:
    """Its second page has a lower physical address than its first."""
    tables = aub_files.PageTables()
    start = BATCH + 0x1000 - 8
    batch = (DRAW + aub_files.END).rjust(0x1000 - 8 + len(DRAW) + 4, b"\0")
    tables.write(BATCH + 0x1000, batch[0x1000:])
    tables.write(BATCH, batch[:0x1000])
    ring = aub_files.jump(start) + aub_files.END
    check_runs(b"".join([aub_files.header(), *tables.blocks, *aub_files.submission(ring)]), start)


def test_a_batch_in_the_global_table() -> None:
    entries = aub_files.memory(4, 8 * (BATCH >> 12), pack("<Q", 0x55001))
    data = aub_files.memory(0, BATCH, DRAW + aub_files.END)
    jump = pack("<IQ", 0x18800001, BATCH)
    ring = aub_files.submission(jump + aub_files.END)
    check_runs(b"".join([aub_files.header(), entries, data, *ring]))


def test_classic_blocks() -> None:
    check_runs(aub_files.classic({BATCH: DRAW + aub_files.END}, SHORT_JUMP + aub_files.END, IVB))


def test_a_classic_buffer_lasts_for_one_submission() -> None:
    """The second ring block finds nothing at the address."""
    one = aub_files.classic({BATCH: DRAW + aub_files.END}, SHORT_JUMP + aub_files.END, IVB)
    again = aub_files.ring_block(SHORT_JUMP + aub_files.END)
    capture = open_intel(one + again)
    assert (len(capture.draws), len(capture.submissions)) == (1, 2)
    assert [str(one) for one in capture.problems] == [f"the batch is not in memory at {BATCH:#x}"]


def test_a_discontiguous_write() -> None:
    """Two pages of one block; all entries have the data from its start."""
    block = aub_files.file({BATCH: DRAW + aub_files.END, 0x200000: bytes(4096)}, BATCH)
    page = aub_files.memory(2, aub_files.FIRST_PAGE << 12, DRAW + aub_files.END)
    assert page in block
    entries = pack("<QI", aub_files.FIRST_PAGE << 12, len(DRAW) + 4) + bytes(12 * 62)
    data = pack("<I", 2 << 28) + entries + DRAW + aub_files.END
    check_runs(block.replace(page, pack("<I", 0xF70B0000 | len(data) // 4) + data))


@pytest.mark.parametrize(("port", "kind"), [(0x12230, 3), (0x22230, 4)])
def test_other_engines_have_no_draws(port: int, kind: int) -> None:
    """The video and the copy engine: a draw is no instruction of theirs."""
    trace = aub_files.file({BATCH: DRAW + aub_files.END}, BATCH)
    for value in (0, aub_files.CONTEXT | 1):
        trace = trace.replace(aub_files.register(0x2230, value), aub_files.register(port, value))
    classic = aub_files.classic(
        {BATCH: DRAW + aub_files.END}, SHORT_JUMP + aub_files.END, IVB, kind
    )
    for data in (trace, classic):
        assert "3DPRIMITIVE" not in [name for _, name in names(data)]
        assert not open_intel(data).draws


# -- buffers of error states and devcoredumps: stores, and how many bytes a dump may name ----------


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
