# SPDX-License-Identifier: MIT
"""Snapshots of the KGSL driver: sections to objects; damaged and hostile files."""

from __future__ import annotations

import random
import struct

import pytest

from cffpy.container.kgsl_snapshot import (
    cluster_registers,
    is_snapshot,
    packed_registers,
    read_snapshot,
)
from tests.crash_dumps import IB1, IB2, RING, RING_DWORDS
from tests.kgsl_snapshots import (
    END,
    IB1_BASE,
    OTHER_PTBASE,
    PTBASE,
    call,
    gpu_object,
    hang,
    header,
    ib,
    os_section,
    packed,
    pairs,
    ring,
    section,
    snapshot,
)


def test_objects_of_a_snapshot() -> None:
    data = hang([1, 2, 3], 2, [4, 5])
    assert is_snapshot(data)
    dump = read_snapshot(data)
    assert not dump.problems
    assert dump.revision == (630, 6, 3, 0, 2)
    assert dump.chip_id == 0x06030002
    assert dump.header["comm"][0] == "test"
    assert dump.header["kernel"][0] == "5.4.0 #1 SMP"
    assert (dump.header["pid"][0], dump.header["context"][0]) == ("77", "9")
    assert dump.value(IB1_BASE) == IB1
    (found,) = dump.rings
    assert (found.iova, found.size, found.rptr, found.wptr) == (RING, 4 * RING_DWORDS, 4, 4)
    assert (found.last_fence, found.retired_fence) == (9, 1)
    assert found.block is not None
    assert found.block.contents() == struct.pack("<64I", *call(IB1, 3), *[0] * 60)
    assert [(one.iova, one.size, one.name) for one in dump.buffers] == [
        (IB1, 12, "IB"),
        (IB2, 8, "generic"),
    ]
    assert [one.name for one in dump.binary_sections][-2:] == ["side debug bus", "end"]
    assert sum(one.size for one in dump.binary_sections) + 12 == len(data)


@pytest.mark.parametrize("version", [1, 2, 4])
def test_versions_of_the_os_section(version: int) -> None:
    dump = read_snapshot(snapshot(os_section(version), ib(IB1, [1]), ib(IB2, [2], OTHER_PTBASE)))
    assert not dump.problems
    assert dump.header["comm"][0] == "test"
    assert dump.header["pid"][0] == "77"
    assert ("state" in dump.header) is (version == 1)
    assert [one.iova for one in dump.buffers] == [IB1], "the other process is left out"
    assert "1 IBs" in dump.header["memory"][0]


def test_the_larger_one_at_an_address_is_kept() -> None:
    for sizes, wanted in (((2, 3), 3), ((3, 2), 3), ((3, 3), 3)):
        parts = [gpu_object(IB1, range(n, 2 * n)) for n in sizes]
        (buffer,) = read_snapshot(snapshot(os_section(), *parts)).buffers
        assert buffer.size == 4 * wanted
    parts = [gpu_object(IB1, [1, 2]), gpu_object(IB1, [3, 4])]
    (buffer,) = read_snapshot(snapshot(os_section(), *parts)).buffers
    assert buffer.block is not None
    assert buffer.block.contents() == struct.pack("<2I", 1, 2)


def test_global_objects_are_in_all_address_spaces() -> None:
    parts = [os_section(), ib(IB1, [1]), gpu_object(IB2, [2], kind=5, ptbase=OTHER_PTBASE)]
    assert [one.iova for one in read_snapshot(snapshot(*parts)).buffers] == [IB1, IB2]


def test_without_an_os_section_the_first_ib_names_the_address_space() -> None:
    parts = [gpu_object(IB2, [1], ptbase=OTHER_PTBASE), ib(IB1, [1]), gpu_object(0x9000, [3])]
    assert [one.iova for one in read_snapshot(snapshot(*parts)).buffers] == [IB1, 0x9000]


def test_a_ring_that_begins_in_the_middle() -> None:
    commands = list(range(1, RING_DWORDS + 1))
    (found,) = read_snapshot(snapshot(ring(commands, start=10))).rings
    assert found.block is not None
    wanted = [*commands[-10:], *commands[:-10]]
    assert found.block.contents() == struct.pack("<64I", *wanted)


def test_old_forms() -> None:
    old_ib = section(0x0401, struct.pack("<IIi", IB1, PTBASE, 1) + bytes(4))
    old_object = section(0x0B01, struct.pack("<iIIi", 4, IB2, PTBASE, 1) + bytes(4))
    head = struct.pack("<6i2I", 0, 0, 16, 4, 4, 16, 3, 2)
    old_ring = section(0x0301, head + bytes(64))
    data = b"".join([header(1), os_section(1), old_ring, old_ib, old_object, END])
    dump = read_snapshot(data)
    assert not dump.problems
    assert dump.chip_id == 0
    assert [(one.iova, one.size, one.name) for one in dump.buffers] == [
        (IB1, 4, "IB"),
        (IB2, 4, "draw"),
    ]
    assert [(one.iova, one.size, one.retired_fence) for one in dump.rings] == [(0, 64, 2)]


def test_blocks_of_debug_data() -> None:
    parts = [
        section(0x0501, struct.pack("<2I2i", 0x8AE, 0x8AF, 0, 2) + bytes(8)),
        section(0x0901, struct.pack("<2i", 10, 3) + bytes(12)),
        section(0x0A01, struct.pack("<2i", 5, 1) + bytes(4)),
        section(0x1201, struct.pack("<3i", 1, 2, 2) + bytes(8)),
        section(0x1202, struct.pack("<5iI", 1, 2, 3, 4, 5, 2) + bytes(8)),
        section(0x1701, struct.pack("<i3Q", 1, 0, 0, 0x6000) + bytes(16)),
        section(0x1601, struct.pack("<I2I", 1, 0x5000, 7)),
    ]
    dump = read_snapshot(snapshot(*parts))
    assert not dump.problems
    assert [(one.name, one.block and one.block.size) for one in dump.indexed] == [
        ("index 0x8ae", 8)
    ]
    assert [(one.name, one.where) for one in dump.shader_blocks] == [
        ("debug 10", ""),
        ("shader block 1", "sp 2"),
        ("shader block 1", "sp 2 usptp 3 pipe 4 location 5"),
    ]
    assert [one.name for one in dump.debugbus] == ["debug bus 0x5"]
    assert dump.gmu_hfi is not None
    assert dump.gmu_hfi.iova == 0x6000
    assert dump.gmu_registers.keys() == {0x5000}


# --- registers that are packed -------------------------------------------------------------------

FLAG = 1 << 31


@pytest.mark.parametrize(
    "dwords",
    [
        (FLAG | 0x800, 1, 0x900, 2, 2, 3),  # a single one is flagged
        (0x800, 1, FLAG | 0x900, 2, 2, 3),  # a run is flagged
        (3, 0x800, 1, FLAG | 0x900, 2, 2, 3),  # the same with a count
        (3, 0x800, 1, 0x900, 2, 0x901, 3),  # pairs with a count
    ],
)
def test_forms_of_packed_registers(dwords: tuple[int, ...]) -> None:
    assert packed_registers(dwords) == [(0x800, 1), (0x900, 2), (0x901, 3)]
    assert read_snapshot(snapshot(packed(dwords))).value(0x901) == 3


@pytest.mark.parametrize(
    "dwords",
    [
        (0x800, 1, FLAG | 0x900, 0x901, 2, 3),  # a run with its last register
        (0x800, 1, FLAG | 0x900, 2, 2, 3),  # with a count
        (0x800, 1, FLAG | 2, 0x900, 2, 3),  # its count, then its first register
    ],
)
def test_forms_of_cluster_registers(dwords: tuple[int, ...]) -> None:
    assert cluster_registers(dwords) == [(0x800, 1), (0x900, 2), (0x901, 3)]
    head = struct.pack("<4i", 0, 5, 1, 2)
    payload = head + struct.pack(f"<{len(dwords)}I", *dwords)
    found = read_snapshot(snapshot(section(0x1502, payload))).clusters
    assert [(one.pipe, one.cluster, one.context) for one in found] == [("1", "5", "0")] * 3


def test_no_registers() -> None:
    assert packed_registers(()) == cluster_registers(()) == []


def test_registers_of_no_form_are_listed() -> None:
    dump = read_snapshot(snapshot(packed([0x800, 1 << 30, 1])))
    assert not dump.registers
    assert "registers v2" in dump.problems[0]
    assert dump.binary_sections[0].size == 20


# --- damage --------------------------------------------------------------------------------------


def test_a_cut_file_keeps_what_is_there() -> None:
    data = hang([1, 2, 3], 2, [4, 5])
    seen = 0
    for size in range(4, len(data)):
        dump = read_snapshot(data[:size])
        assert dump.problems
        assert len(dump.buffers) >= seen
        seen = len(dump.buffers)
    assert seen == 2


def test_reading_goes_on_behind_what_is_no_section() -> None:
    for junk in (bytes(5), b"\xcd\xab\x01\x09\x00\x00\x00\x00", b"\xcd\xab" * 9):
        data = b"".join([header(), os_section(), junk, ib(IB1, [1]), END])
        dump = read_snapshot(data)
        assert [one.iova for one in dump.buffers] == [IB1]
        assert "no section at" in dump.problems[0]


@pytest.mark.parametrize("size", [0, 7, 1 << 31, 0xFFFFFFFF])
def test_impossible_sizes_of_sections(size: int) -> None:
    data = header() + struct.pack("<HHI", 0xABCD, 0x0402, size) + bytes(64)
    assert read_snapshot(data).problems


@pytest.mark.parametrize("count", [-1, 1 << 20, 0x7FFFFFFF])
def test_impossible_counts_within_sections(count: int) -> None:
    dump = read_snapshot(
        snapshot(
            section(0x0501, struct.pack("<2I2i", 1, 2, 0, count) + bytes(8)),
            section(0x0301, struct.pack("<6i2I", count, 0, count, 0, 0, count, 0, 0) + bytes(8)),
            section(0x0B02, struct.pack("<iQQQ", 3, IB1, 0, 1 << 62) + bytes(8)),
            pairs({1: 2})[:8] + struct.pack("<I", count & 0xFFFFFFFF) + bytes(8),
        )
    )
    assert sum(one.size for one in dump.buffers) == 8
    assert sum(one.size for one in dump.rings) <= 4 << 20


def test_random_bytes_are_read() -> None:
    chance = random.Random(4)
    whole = hang([1, 2, 3], 2, [4, 5])
    for _ in range(200):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 5, 50))):
            data[chance.randrange(4, len(data))] = chance.randrange(256)
        for changed in (bytes(data), header() + chance.randbytes(200)):
            found = read_snapshot(changed)
            assert sum(one.size for one in found.buffers) <= len(changed)
