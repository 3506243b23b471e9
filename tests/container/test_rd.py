# SPDX-License-Identifier: MIT
"""Sections: what is written is read back; damage is reported and skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.container import rd
from cffpy.container.open import open_capture
from cffpy.container.section_types import SectionType, section_name
from cffpy.container.writer import (
    address_section,
    buffer_sections,
    capture_bytes,
    chip_id_section,
    command_section,
    command_stream_section,
    gpu_id_section,
    parameter_section,
)

u32 = st.integers(0, 0xFFFFFFFF)
u64 = st.integers(0, 0xFFFFFFFF_FFFFFFFF)
sections = st.lists(st.tuples(st.one_of(st.integers(0, 17), u32), st.binary(max_size=40)))


def read(data: bytes) -> tuple[list[tuple[int, bytes]], list[rd.Damage]]:
    damage: list[rd.Damage] = []
    found = [(section.type, bytes(section.payload)) for section in rd.iter_sections(data, damage)]
    return found, damage


@given(sections, st.integers(0, 3))
def test_written_sections_are_read_back(written: list[tuple[int, bytes]], markers: int) -> None:
    found, damage = read(capture_bytes(written, markers=markers))
    assert found == written
    assert damage == []


@given(sections)
def test_offsets_are_those_of_the_headers(written: list[tuple[int, bytes]]) -> None:
    data = capture_bytes(written, markers=1)
    for section in rd.iter_sections(data):
        assert data[section.offset : section.offset + 4] == section.type.to_bytes(4, "little")
        start = section.offset + 8
        assert data[start : start + len(section.payload)] == section.payload


def test_payloads_are_views_not_copies() -> None:
    data = bytearray(capture_bytes([(5, b"abcd")]))
    (section,) = rd.iter_sections(data)
    data[8:9] = b"x"
    assert section.payload == b"xbcd"


def test_every_truncation_keeps_what_is_whole() -> None:
    written = [(13, b"\x76\2\0\0"), (2, b"name"), (12, b"x" * 10), (6, bytes(12))]
    data = capture_bytes(written, markers=1)
    ends = [section.offset + 8 + len(section.payload) for section in rd.iter_sections(data)]
    for length in range(len(data)):
        found, damage = read(data[:length])
        whole = sum(end <= length for end in ends)
        assert found[:whole] == written[:whole]
        if len(found) > whole:  # one more, cut short
            assert len(found) == whole + 1
            section_type, payload = found[-1]
            assert section_type == written[whole][0]
            assert written[whole][1].startswith(payload)
            (problem,) = damage
            assert section_name(section_type) in problem.message
            assert "cut short" in problem.message
            assert not problem.reference_says_corrupt
        elif damage:
            (problem,) = damage
            assert problem.offset + 8 > length
            assert "too few" in problem.message


def test_negative_size_ends_the_file() -> None:
    good = capture_bytes([(2, b"one")])
    bad = (12).to_bytes(4, "little") + (0x80000000).to_bytes(4, "little")
    found, damage = read(good + bad + good)
    assert found == [(2, b"one")]
    (problem,) = damage
    assert problem.offset == len(good)
    assert problem.reference_says_corrupt


def test_largest_size_that_is_not_negative() -> None:
    header = (12).to_bytes(4, "little") + (0x7FFFFFFF).to_bytes(4, "little")
    found, damage = read(header + b"abc")
    assert found == [(12, b"abc")]
    assert not damage[0].reference_says_corrupt


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    damage: list[rd.Damage] = []
    for section in rd.iter_sections(data, damage):
        rd.gpu_address(section.payload)
        rd.command_stream_address(section.payload)
        rd.gpu_id(section.payload)
        rd.chip_id(section.payload)
        rd.text(section.payload)
        section_name(section.type)
    assert all(0 <= problem.offset <= len(data) for problem in damage)


@given(st.data())
def test_any_mutation_can_be_read(data: st.DataObject) -> None:
    written = [gpu_id_section(630), *buffer_sections(0x1000, bytes(30)), (6, bytes(12))]
    mutated = bytearray(capture_bytes(written, markers=1))
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(0, len(mutated) - 1))
        mutated[index] = data.draw(st.integers(0, 255))
    total = sum(len(section.payload) + 8 for section in rd.iter_sections(mutated))
    assert total <= len(mutated)


@given(u64, u32)
def test_addresses(address: int, length: int) -> None:
    assert rd.gpu_address(address_section(address, length).payload) == (address, length)
    stream = command_stream_section(address, length).payload
    assert rd.command_stream_address(stream) == (address, length)
    short = address & 0xFFFFFFFF
    assert rd.gpu_address(address_section(address, length, short=True).payload) == (short, length)
    stream = command_stream_section(address, length, short=True).payload
    assert len(stream) == 8
    assert rd.command_stream_address(stream) == (short, length)


def test_payloads_cut_amid_a_field() -> None:
    payload = address_section(0x11_22334455, 0x100).payload
    assert rd.gpu_address(payload[:9]) == (0x11_22334455, 0x100)
    assert rd.gpu_address(payload[:6]) == (0x22334455, 0x100)
    assert rd.gpu_address(payload[:3]) == (0x334455, 0)
    assert rd.gpu_address(b"") == (0, 0)
    assert rd.gpu_address(bytes(payload) + b"more") == (0x11_22334455, 0x100)


@given(u32, u64)
def test_ids(gpu_id: int, chip_id: int) -> None:
    assert rd.gpu_id(gpu_id_section(gpu_id).payload) == gpu_id
    assert rd.chip_id(chip_id_section(chip_id).payload) == chip_id
    assert rd.chip_id(chip_id_section(chip_id).payload[:4]) == chip_id & 0xFFFFFFFF


def test_other_sections() -> None:
    assert parameter_section(1, 2, 3) == (7, bytes.fromhex("010000000200000003000000"))
    assert command_section("a/1: fence=2") == (2, b"a/1: fence=2")


@pytest.mark.parametrize(
    ("payload", "expected"),
    [(b"glxgears", "glxgears"), (b"a\0b", "a"), (b"", ""), (b"\xff\x1b", "\\xff\x1b")],
)
def test_text(payload: bytes, expected: str) -> None:
    assert rd.text(payload) == expected


def test_names() -> None:
    assert section_name(SectionType.GPUADDR) == "RD_GPUADDR"
    assert section_name(17) == "RD_WRBUFFER"
    assert section_name(18) == "type 18"


def test_a_capture_is_known_by_its_first_sections(samples: Path) -> None:
    assert rd.looks_like_capture(capture_bytes([gpu_id_section(630)], markers=1))
    assert rd.looks_like_capture(capture_bytes([command_section("a"), *buffer_sections(16, b"")]))
    for path in samples.glob("*.rd*"):
        assert rd.looks_like_capture(open_capture(str(path)).data), path


@pytest.mark.parametrize("data", [b"", bytes(4096), b"\x0d\0\0\0\5\0\0\0630..", b"\x63\0\0\0" * 9])
def test_what_is_no_capture(data: bytes) -> None:
    assert not rd.looks_like_capture(data)


@pytest.mark.parametrize("zeros", [4095, 4096, 4104, 100_000, 100_001, 100_007])
def test_a_long_run_of_zeros_is_one_section_that_counts(zeros: int) -> None:
    damage: list[rd.Damage] = []
    data = capture_bytes([gpu_id_section(540)]) + bytes(zeros)
    assert sum(section.count for section in rd.iter_sections(data, damage)) == 1 + zeros // 8
    assert len(damage) == bool(zeros % 8)
    empty = zeros // 8
    found = list(rd.iter_sections(bytes(empty * 8) + capture_bytes([gpu_id_section(630)])))
    assert rd.gpu_id(found[-1].payload) == 630
    assert found[-1].offset == empty * 8
    assert sum(section.count for section in found) == empty + 1
    assert len(found) < 1000
