# SPDX-License-Identifier: MIT
"""Repairs: cut captures, bytes between sections, command streams that are missing.

Sections found among other bytes; without other bytes, the same as the reader finds.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.repair import Junk, find_sections, repair
from cffpy.analysis.summary import summarise
from cffpy.container.open import Content, open_bytes
from cffpy.container.rd import RESYNC_MARKER, Section, iter_sections
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.errors import CaptureError
from tests.analysis.test_edits import BIN, NOP, draw, frame
from tests.builders import COMMANDS, capture, type4, type7
from tests.selection import first_always

AMBLE = 0x55
STREAM_SECTION = 20


def whole(data: bytes) -> tuple[bytes, list[str]]:
    repaired = repair(open_bytes(data))
    summary = summarise(open_bytes(repaired.data))
    assert not summary.damage
    return bytes(repaired.data), repaired.messages


def test_nothing_to_repair() -> None:
    assert whole(frame()) == (frame(), [])


@pytest.mark.parametrize("cut", [1, 15, 19, 20, 21, 25, 47])
def test_what_is_cut(cut: int) -> None:
    """The end of the second submit: its stream is restored, wherever the file was cut."""
    data = frame()
    again, messages = whole(data[: len(data) - cut])
    if cut <= STREAM_SECTION:
        assert again == data
        assert messages[-1] == "added RD_CMDSTREAM_ADDR: 7 dwords at 0x100000, as in submit 0"
    else:  # the buffer is cut, too
        assert len(summarise(open_bytes(again)).streams) == 1


@pytest.mark.parametrize("cut", [1, 15, 20])
def test_the_only_stream_is_never_guessed(cut: int) -> None:
    """Commands without a caller may be those of CP_SET_AMBLE, as here."""
    preamble = [*type7(NOP, 1), *type4(BIN, 1), *type7(NOP, 2), *type7(NOP, 3)]
    stream = [*type7(AMBLE, 0x200000, 0, len(preamble) | 1 << 20), *draw(3)]
    for buffers in ({0x200000: preamble}, {}):
        first = capture(630, stream if buffers else preamble, buffers)
        with pytest.raises(CaptureError) as raised:
            repair(open_bytes(first[: len(first) - cut]))
        assert "is missing, and no submit is before it" in str(raised.value)
        assert "call: 0x100000; name it with --address" in str(raised.value)


def test_streams_of_a_submit_have_roles() -> None:
    """A submit of two streams, then one that lacks both: both are added, in order."""
    buffers = []
    for address in (COMMANDS, COMMANDS + 0x1000):
        buffers += buffer_sections(address, dwords_bytes([*type7(NOP, 1) * 4, *draw(3)]))
    streams = [
        command_stream_section(COMMANDS + 0x1000, 13),
        command_stream_section(COMMANDS, 13),
    ]
    data = capture_bytes([gpu_id_section(630), *buffers, *streams, *buffers])
    again, messages = whole(data)
    assert again == data + capture_bytes(streams)
    assert [message.partition(": ")[2] for message in messages] == [
        "13 dwords at 0x101000, as in submit 0",
        "13 dwords at 0x100000, as in submit 0",
    ]


def test_a_stream_that_is_called_now_has_another_role() -> None:
    """Where the address of the earlier stream is that of a called buffer, nothing is added."""
    data = frame()
    inner = [*type7(NOP, 1) * 4, *draw(3)]
    calls = [*type7(NOP, 1) * 4, *type7(0x3F, COMMANDS, 0, len(inner))]
    cut = [
        *buffer_sections(COMMANDS, dwords_bytes(inner)),
        *buffer_sections(0x400000, dwords_bytes(calls)),
    ]
    with pytest.raises(CaptureError, match="that of no earlier submit is there"):
        repair(open_bytes(data + capture_bytes(cut)))


def test_which_stream_is_not_clear() -> None:
    sections = [gpu_id_section(630)]
    for number in range(2):
        code = dwords_bytes(type7(NOP, 1) * 5)
        sections += buffer_sections(COMMANDS + number * 0x1000, code)
    data = capture_bytes(sections)
    with pytest.raises(CaptureError, match="0x100000, 0x101000; name it with --address"):
        repair(open_bytes(data))
    repaired = repair(open_bytes(data), 0x101000)
    assert repaired.messages == ["added RD_CMDSTREAM_ADDR: 10 dwords at 0x101000, as asked"]
    assert repair(open_bytes(data), 0x101000, 4).data[:-8].endswith(b"\x00\x10\x10\x00")
    with pytest.raises(CaptureError, match="no submit is before it: name it with --address"):
        repair(open_bytes(capture_bytes(buffer_sections(0x1000, b"\xff" * 64))))


def test_trailing_bytes_are_dropped() -> None:
    data, messages = whole(frame() + b"abc")
    assert data == frame()
    assert messages == ["dropped 3 bytes after the last section"]


def section_offsets(data: bytes) -> list[int]:
    """Where sections begin, but the first."""
    return [section.offset for section in open_bytes(data).sections()][1:]


@pytest.mark.parametrize(
    "junk", [b"\xff" * 12, b"junk", bytes(12), b"\x07\0\0\0\0\x02\0\0", b"\x0c\0\0\0\0\0\x10\0"]
)
def test_junk_between_sections(junk: bytes) -> None:
    """All sections are found again. Zeros may remain: eight of them are an empty section."""
    data = frame()
    for offset in section_offsets(data):
        again, messages = whole(data[:offset] + junk + data[offset:])
        assert again.replace(bytes(8), b"") == data.replace(bytes(8), b"")
        assert len(messages) == 1
        assert messages[0].endswith("no section")


@given(data=st.data(), junk=st.binary(min_size=1, max_size=40))
def test_sections_are_found_behind_any_junk(data: st.DataObject, junk: bytes) -> None:
    capture_data = frame()
    offset = data.draw(st.sampled_from(section_offsets(capture_data)))
    repaired = repair(open_bytes(capture_data[:offset] + junk + capture_data[offset:]))
    assert bytes(repaired.data).endswith(capture_data[-STREAM_SECTION:])
    assert len(summarise(open_bytes(repaired.data)).streams) == 2


def test_contents_are_not_taken_for_those_of_another_buffer() -> None:
    """Junk in place of a RD_GPUADDR: the contents after it belong to no buffer."""
    first, second = dwords_bytes(draw(3)), dwords_bytes(draw(6))
    start = capture_bytes([gpu_id_section(630), *buffer_sections(0x1000, first)])
    other = capture_bytes(buffer_sections(0x2000, second))
    end = capture_bytes([command_stream_section(0x1000, 5)])
    again, messages = whole(start + b"\xee" * 20 + other[20:] + end)
    assert again == start + end
    assert messages[1].endswith("its RD_GPUADDR is missing")
    # the same size, where the contents of the buffer that was named are lost
    lost = start[: -len(first) - 8] + b"\xee" * (len(first) + 28)
    repaired = repair(open_bytes(lost + other[20:] + end))
    assert second not in bytes(repaired.data)


def test_rubbish() -> None:
    for data in (b"", b"abc", b"\xff" * 100, bytes(range(256)) * 4):
        content = Content("data", data, "none", len(data), None)
        with pytest.raises(CaptureError, match="no whole section is left"):
            repair(content)


MARKED = RESYNC_MARKER + frame() + RESYNC_MARKER


def places(data: bytes | memoryview) -> list[tuple[int, int, int]]:
    return [(one.type, one.offset, len(one.payload)) for one in iter_sections(data)]


def found(data: bytes | memoryview) -> list[tuple[int, int, int]]:
    parts = list(find_sections(data))
    return [(one.type, one.offset, len(one.payload)) for one in parts if isinstance(one, Section)]


@pytest.mark.parametrize("data", [frame(), MARKED, frame()[:-7], frame()[:-30], frame() + bytes(8)])
def test_as_the_reader(data: bytes) -> None:
    assert found(data) == places(data)


def test_an_unknown_section_passes_if_a_known_one_follows() -> None:
    unknown = b"\x63\0\0\0\4\0\0\0abcd"
    assert found(unknown + frame()) == places(unknown + frame())
    (junk,) = find_sections(unknown)
    assert isinstance(junk, Junk)
    assert (junk.offset, junk.end) == (0, len(unknown))


@pytest.mark.parametrize(
    "pattern",
    first_always([b"\0", b"\3\0\0\0\x0c\0\0\0", b"\1\0\0\0", b"\x0c\0\0\0\xff\xff\xff\0"]),
)
def test_time_is_linear(pattern: bytes) -> None:
    """Headers without a valid successor: half a megabyte takes seconds at most."""
    data = (pattern * (1 << 19))[: 1 << 19]
    start = time.process_time()
    for _ in find_sections(data):
        pass
    assert time.process_time() - start < 20
