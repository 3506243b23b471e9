# SPDX-License-Identifier: MIT
"""Sections to records: lifetime of buffers, numbers of submits, texts."""

from __future__ import annotations

from cffpy.capture.load import CaptureRecord, CommandStream, Identity, Text, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    NewSection,
    address_section,
    buffer_sections,
    capture_bytes,
    chip_id_section,
    command_section,
    command_stream_section,
    gpu_id_section,
)


def records(*sections: NewSection) -> list[tuple[CaptureRecord, list[int]]]:
    """Each record with the addresses of the buffers at that time."""
    image = MemoryImage()
    found = [
        (record, [buffer.gpuaddr for buffer in image.buffers])
        for record in read_records(iter_sections(capture_bytes(sections)), image)
    ]
    assert image.buffers == (), "the file's end drops all"
    return found


def test_buffers_accumulate_until_the_first_address_behind_a_stream() -> None:
    first = command_stream_section(0x1000, 1)
    found = records(
        *buffer_sections(0x1000, bytes(4)),
        *buffer_sections(0x2000, bytes(4)),
        first,
        command_stream_section(0x2000, 2, short=True),
        *buffer_sections(0x3000, bytes(4)),
        *buffer_sections(0x4000, bytes(4)),
        first,
    )
    assert found == [
        (CommandStream(0, 0x1000, 1), [0x1000, 0x2000]),
        (CommandStream(1, 0x2000, 2), [0x1000, 0x2000]),
        (CommandStream(2, 0x1000, 1, submit=1), [0x3000, 0x4000]),
    ]


def test_contents_behind_a_stream_without_an_address_drop_nothing() -> None:
    contents = buffer_sections(0, bytes(8))[1]
    found = records(
        *buffer_sections(0x1000, bytes(4)),
        command_stream_section(0x1000, 1),
        contents,
        command_stream_section(0x1000, 1),
    )
    assert [there for _, there in found] == [[0x1000], [0x1000]]


def test_an_address_without_contents_drops_and_adds_nothing() -> None:
    found = records(
        *buffer_sections(0x1000, bytes(4)),
        command_stream_section(0x1000, 1),
        address_section(0x5000, 64),
        command_stream_section(0x1000, 1),
    )
    assert [there for _, there in found] == [[0x1000], []]


def test_addresses_are_64_bits_wide_where_the_section_has_them() -> None:
    found = records(
        *buffer_sections(0x1_0000_1000, bytes(4)),
        command_stream_section(0x1_0000_1000, 3),
        *buffer_sections(0x1_0000_1000, bytes(4), short=True),
        command_stream_section(0x1_0000_1000, 3, short=True),
    )
    assert found == [
        (CommandStream(0, 0x1_0000_1000, 3), [0x1_0000_1000]),
        (CommandStream(1, 0x1000, 3, submit=1), [0x1000]),
    ]


def test_texts_end_at_their_nul_and_keep_every_byte() -> None:
    found = records(
        NewSection(SectionType.TEST, b"a test\0rest"),
        command_section("odd"),
        NewSection(SectionType.VERT_SHADER, b"\xff\x80"),
        NewSection(SectionType.FRAG_SHADER, b""),
    )
    assert [record for record, _ in found] == [
        Text(SectionType.TEST, "a test"),
        Text(SectionType.CMD, "odd"),
        Text(SectionType.VERT_SHADER, "\xff\x80"),
        Text(SectionType.FRAG_SHADER, ""),
    ]


def test_identities_and_what_is_passed_over() -> None:
    found = records(
        NewSection(SectionType.NONE, b"x"),
        gpu_id_section(630),
        NewSection(SectionType.PROGRAM, b"code"),
        NewSection(99, b"unknown"),
        chip_id_section(0x1_4305_0A01),
    )
    assert [record for record, _ in found] == [
        Identity(gpu_id=630),
        Identity(chip_id=0x1_4305_0A01),
    ]


def test_a_section_cut_short_gives_a_buffer_of_what_is_there() -> None:
    image = MemoryImage()
    data = capture_bytes(buffer_sections(0x1000, bytes(range(16))))
    for cut in (4, 6):
        stream = capture_bytes([command_stream_section(0x1000, 4)])
        cut_file = data[:-cut]
        seen = []
        for _ in read_records(iter_sections(cut_file), image):
            seen.append(image.buffers)
        assert seen == []
        sections = [*iter_sections(cut_file), *iter_sections(stream)]
        for _ in read_records(sections, image):
            place = image.place(0x1000)
            assert place is not None
            assert place[0].count == (16 - cut) // 4
            assert image.remaining(0x1000) == 16


def test_streams_that_see_the_same_buffers_are_one_submit() -> None:
    buffers = buffer_sections(0x1000, bytes(4))
    stream = command_stream_section(0x1000, 1)
    found = records(gpu_id_section(630), *buffers, stream, stream, *buffers, *buffers, stream)
    submits = [record for record, _ in found if isinstance(record, CommandStream)]
    assert [(one.number, one.submit) for one in submits] == [(0, 0), (1, 0), (2, 1)]
    bare = [record for record, _ in records(stream, gpu_id_section(630), stream)]
    assert [one.submit for one in bare if isinstance(one, CommandStream)] == [0, 0]


def test_buffers_know_their_place_in_the_file() -> None:
    contents = [b"one!", b"two!two!", b"three..."]
    sections = [
        section
        for at, part in enumerate(contents, 1)
        for section in buffer_sections(0x1000 * at, part)
    ]
    data = capture_bytes([gpu_id_section(630), *sections, command_stream_section(0x1000, 1)])
    image = MemoryImage()
    (found,) = [
        [(buffer.gpuaddr, buffer.file_offset) for buffer in image.buffers]
        for record in read_records(iter_sections(data), image)
        if isinstance(record, CommandStream)
    ]
    assert found == [(0x1000 * at, data.index(part)) for at, part in enumerate(contents, 1)]
