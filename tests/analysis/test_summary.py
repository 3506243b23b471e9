# SPDX-License-Identifier: MIT
"""Summaries: submits, the state of the buffers, the GPU."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.summary import CaptureSummary, summarise
from cffpy.capture.load import count_submits
from cffpy.container.open import open_bytes, open_capture
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


def summary_of(*sections: NewSection) -> CaptureSummary:
    return summarise(open_bytes(capture_bytes(sections)))


def states(summary: CaptureSummary, submit: int = 0) -> list[tuple[int, str]]:
    return [(buffer.gpuaddr, buffer.state) for buffer in summary.submits[submit].buffers]


def test_submits_and_streams() -> None:
    summary = summary_of(
        command_section("one"),
        *buffer_sections(0x1000, bytes(64)),
        command_stream_section(0x1000, 4),
        command_section("two"),
        command_stream_section(0x1020, 100),
        *buffer_sections(0x2000, bytes(8)),
        command_stream_section(0x1000, 4),
    )
    first, second = summary.submits
    assert [(s.number, s.gpuaddr, s.dwords, s.captured_dwords) for s in summary.streams] == [
        (0, 0x1000, 4, 4),
        (1, 0x1020, 100, 8),
        (2, 0x1000, 4, None),
    ]
    assert [stream.process for stream in summary.streams] == ["one", "two", "two"]
    assert (first.process, second.process) == ("one", "two")
    assert (first.buffer_bytes, second.buffer_bytes) == (64, 8)
    assert summary.processes == ["one", "two"]


def test_buffers_are_dropped_by_the_next_address_even_without_contents() -> None:
    summary = summary_of(
        *buffer_sections(0x1000, bytes(64)),
        command_stream_section(0x1000, 4),
        address_section(0x9000, 4),
        command_stream_section(0x1000, 4),
    )
    assert [stream.captured_dwords for stream in summary.streams] == [4, None]


def test_what_becomes_of_buffers() -> None:
    summary = summary_of(
        *buffer_sections(0x1000, bytes(64)),
        *buffer_sections(0x1010, bytes(64)),  # starts inside: dropped
        *buffer_sections(0x1000, bytes(32)),  # same address: replaces
        *buffer_sections(0x1030, bytes(4)),  # after the new, shorter one
        *buffer_sections(0x0F00, bytes(0x400)),  # covers the others
        *buffer_sections(0x3000, bytes(4), size=4096),  # contents cut short
    )
    assert states(summary) == [
        (0x1000, "replaced"),
        (0x1010, "dropped"),
        (0x1000, "kept"),
        (0x1030, "kept"),
        (0x0F00, "kept"),
        (0x3000, "kept"),
    ]
    assert summary.submits[0].buffer_bytes == 32 + 4 + 0x400 + 4096
    assert summary.submits[0].buffers[-1].captured == 4


def test_address_zero_and_empty_buffers() -> None:
    summary = summary_of(
        *buffer_sections(0, bytes(16)),
        *buffer_sections(0x1000, b""),
        *buffer_sections(0x1000, b"abcd"),
        *buffer_sections(0x5000, b"more than its size", size=4),
    )
    assert states(summary) == [
        (0, "kept"),
        (0x1000, "replaced"),
        (0x1000, "kept"),
        (0x5000, "kept"),
    ]
    assert summary.submits[0].buffers[-1].captured == 4


def test_contents_without_an_address() -> None:
    summary = summary_of(NewSection(12, b"abcd"))
    assert [(b.gpuaddr, b.size, b.captured) for b in summary.submits[0].buffers] == [(0, 0, 0)]


def test_the_first_known_id_decides() -> None:
    summary = summary_of(gpu_id_section(0), gpu_id_section(999), chip_id_section(0x43050A01))
    assert summary.gpu_model is not None
    assert (summary.gpu, summary.gpu_known) == ("FD740", True)
    assert (summary.gpu_id, summary.chip_id) == (999, 0x43050A01)
    summary = summary_of(chip_id_section(0x06030000), gpu_id_section(740))
    assert summary.gpu_model is not None
    assert summary.gpu == "FD630"
    summary = summary_of(gpu_id_section(702))
    assert summary.gpu_model is not None
    assert (summary.generation, summary.gpu_known) == (6, False)
    assert summary_of(gpu_id_section(999)).gpu is None


def test_damage_of_both_kinds(samples: Path) -> None:
    (damage,) = summarise(open_capture(str(samples / "damaged.rd.gz"))).damage
    assert "RD_BUFFER_CONTENTS is cut short" in damage.message
    sections, stream = summarise(open_capture(str(samples / "damaged-gzip.rd.gz"))).damage
    assert not sections.reference_says_corrupt
    assert stream.reference_says_corrupt


@given(st.lists(st.tuples(st.integers(0, 17), st.binary(max_size=16)), max_size=30))
def test_any_sections(sections: list[tuple[int, bytes]]) -> None:
    summary = summarise(open_bytes(capture_bytes(sections)))
    assert sum(count.count for count in summary.sections) == len(sections)
    assert count_submits(open_bytes(capture_bytes(sections)).sections()) == len(summary.submits)
    assert len(summary.streams) == sum(section_type == 6 for section_type, _ in sections)


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 12)), max_size=40),
)
def test_kept_buffers_are_those_of_a_plain_model(buffers: list[tuple[int, int]]) -> None:
    sections: list[NewSection] = []
    model: dict[int, int] = {}
    for address, size in buffers:
        inside = [base for base, length in model.items() if base <= address < base + length]
        if any(address < base < address + size for base in model):
            continue  # covers an older one: see BufferTree
        sections += buffer_sections(address, bytes(size))
        if address in model or not inside:
            model[address] = size
    submits = summary_of(*sections).submits
    kept = {b.gpuaddr: b.size for submit in submits for b in submit.kept_buffers}
    assert kept == model


def test_ground_truth(shared: Path) -> None:
    truth = json.loads((shared / "captures" / "ground-truth.json").read_text(encoding="utf-8"))
    for path in sorted((shared / "captures").glob("a*.rd.gz"))[::12]:
        summary = summarise(open_capture(str(path)))
        made = truth[path.name.removesuffix(".rd.gz")]
        assert (summary.size, len(summary.submits)) == (made["raw_bytes"], made["submits"]), path
        assert summary.gpu_model is not None
        assert summary.gpu_known
        assert summary.generation == made["gpu"] // 100
        assert all(stream.captured_dwords == stream.dwords for stream in summary.streams)
