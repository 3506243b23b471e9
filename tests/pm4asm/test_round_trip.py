# SPDX-License-Identifier: MIT
"""Captures and random bytes are the same after decompiling and compiling."""

from __future__ import annotations

import os
import re
import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cffpy.container.open import open_capture
from cffpy.container.rd import RESYNC_MARKER
from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    NewSection,
    address_section,
    buffer_sections,
    capture_bytes,
    chip_id_section,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
    header_bytes,
)
from cffpy.cp.machine import PACKET_ENUM
from cffpy.errors import CaptureError
from cffpy.regdb.database import Database
from tests.builders import COMMANDS, capture, type0, type3, type4, type7
from tests.pm4asm.round import bytes_of, text_of
from tests.selection import first_always

#: Every generation, both drivers, and damaged or unusual files.
CAPTURES = (
    "a200-gl-tri",
    "a220-gl-passes",
    pytest.param("a330-gl-scene60-nobin", marks=pytest.mark.slow),
    pytest.param("a430-gl-indirect", marks=pytest.mark.slow),
    "a530-gl-compute",
    pytest.param("a540-gl-indirect", marks=pytest.mark.slow),
    pytest.param("a630-gl-indirect", marks=pytest.mark.slow),
    pytest.param("a660-gl-tessgeom", marks=pytest.mark.slow),
    pytest.param("a660-vk-passes-gmem", marks=pytest.mark.slow),
    pytest.param("a690-vk-multiview", marks=pytest.mark.slow),
    pytest.param("a740-gl-passes", marks=pytest.mark.slow),
    "a740-vk-bindless-gmem",
    pytest.param("a740-vk-fdm", marks=pytest.mark.slow),
    pytest.param("a740-vk-indirect-sysmem", marks=pytest.mark.slow),
    "edge-empty",
    "edge-missing-ib-bo",
    "edge-truncated-mid-section",
    pytest.param("edge-two-processes-concat", marks=pytest.mark.slow),
    pytest.param("fd-clouds", marks=pytest.mark.slow),
    pytest.param("shadow", marks=pytest.mark.slow),
)

GENERATIONS = {2: 220, 3: 330, 4: 430, 5: 530, 6: 630, 7: 740}

PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
#: For properties whose examples take a tenth of a second each.
FEW = settings(PATIENT, max_examples=settings().max_examples // 3)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        names: tuple[str, ...] = CAPTURES
        if os.environ.get("CFFPY_EXHAUSTIVE"):
            folder = Path(os.environ.get("CFFPY_SHARED") or "../shared") / "captures"
            names = tuple(sorted(path.name[: -len(".rd.gz")] for path in folder.glob("*.rd.gz")))
        metafunc.parametrize("name", first_always(names, 2))


def test_recorded_captures(shared: Path, name: str) -> None:
    """A fixed share of the recorded captures; all of them where CFFPY_EXHAUSTIVE is set."""
    content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
    text = text_of(content)
    assert bytes_of(text) == content.data
    assert text_of(content) == text


def test_what_is_understood(shared: Path) -> None:
    """Almost no command of a driver is left as data, and no name is missing."""
    content = open_capture(str(shared / "captures" / "a740-vk-tri-auto.rd.gz"))
    depth, loose, packets = [], 0, 0
    for line in text_of(content).splitlines():
        line = line.strip()
        if line.endswith("{") and not line.startswith(("RB", "GRAS", "+")):
            depth.append(line.split()[0])
        elif line == "}":
            depth.pop()
        elif depth and depth[-1] == "commands":
            packets += not line.startswith("+")
            loose += len(line) > 8 and set(line) <= set("0123456789abcdef ")
    assert packets > 300
    assert loose == 0


def both_ways(data: bytes) -> str:
    text = text_of(data)
    assert bytes_of(text) == data
    return text


# -- sections ------------------------------------------------------------------------------------

SECTIONS = st.one_of(
    st.builds(
        NewSection,
        st.sampled_from(sorted({*range(20), 99, 0xFFFFFFFF, 0x7FFFFFFF})),
        st.binary(max_size=40),
    ),
    st.builds(address_section, st.integers(0, 1 << 40), st.integers(0, 300)),
    st.builds(NewSection, st.just(SectionType.BUFFER_CONTENTS), st.binary(max_size=300)),
    st.builds(command_stream_section, st.integers(0, 1 << 33), st.integers(0, 100)),
    st.sampled_from([gpu_id_section(number) for number in (0, 220, 330, 430, 530, 630, 740, 999)]),
    st.sampled_from([chip_id_section(number) for number in (0, 0x43050A01, 0x06030001)]),
    st.just(NewSection(-1, b"")),  # a marker
)


def section_bytes(sections: list[NewSection]) -> bytes:
    return b"".join(
        RESYNC_MARKER if section.type == -1 else capture_bytes([section]) for section in sections
    )


@pytest.mark.slow
@FEW
@given(st.lists(SECTIONS, max_size=12), st.integers(0, 40), st.binary(max_size=12))
@example([NewSection(12, b"\0" * 300)], 3, b"\xff" * 9)
@example([address_section(0x1000, 8), NewSection(-1, b""), NewSection(12, b"12345678")], 0, b"")
@example([NewSection(3, b"1234567890123456"), NewSection(12, b"")], 0, b"")
@example(  # a buffer, and a stream in it, whose address is not a multiple of 4
    [
        gpu_id_section(630),
        address_section(2, 8),
        NewSection(SectionType.BUFFER_CONTENTS, b"12345678"),
        command_stream_section(2, 2),
    ],
    0,
    b"",
)
@example([NewSection(2, 'a"b\\\n\0\x80'.encode("latin-1"))], 0, b"")
def test_any_sections(sections: list[NewSection], cut: int, trailing: bytes) -> None:
    data = section_bytes(sections)
    both_ways(data + trailing)
    both_ways(data[: len(data) - cut])


@PATIENT
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    both_ways(data)


def test_a_size_with_bit_31_ends_the_file() -> None:
    data = capture_bytes([gpu_id_section(630)])
    both_ways(data + header_bytes(12, 1 << 31) + b"rest")


def test_sections_as_text() -> None:
    sections = [
        gpu_id_section(630),
        NewSection(SectionType.TEST, b"name\0"),
        NewSection(SectionType.PARAM, struct.pack("<3I", 1, 640, 32)),
        NewSection(99, b"abc"),
        *buffer_sections(0x10000, b"\0" * 64, size=128, short=True),
        NewSection(SectionType.BUFFER_CONTENTS, b"\1\0\0\0"),
        command_stream_section(0x20000, 5, short=True),
    ]
    assert both_ways(RESYNC_MARKER * 2 + capture_bytes(sections) + b"end").splitlines() == [
        "pm4 1",
        "gpu a6xx  // FD630",
        "marker * 2",
        "gpu_id 630",
        'test "name\\0"',
        "param 1 0x280 32",
        "section 99 size 3 {",
        "  bytes 61 62 63",
        "}",
        "buffer b0 0x10000 size 128 contents 64 short {",
        "}",
        "section RD_BUFFER_CONTENTS size 4 {",
        "  00000001",
        "}",
        "stream 0x20000 dwords 5 short  // submit 0",
        "trailing {",
        "  bytes 65 6e 64",
        "}",
    ]


@pytest.mark.slow
def test_what_is_cut_short() -> None:
    whole = capture(630, type7(0x10, 1, 2, 3), {0x2000: b"x" * 100})
    for size in {*range(0, len(whole), 3), *range(60), len(whole) - 1}:
        both_ways(whole[:size])


# -- buffers -------------------------------------------------------------------------------------

CONTENTS = st.one_of(
    st.binary(max_size=600),
    st.builds(
        lambda parts: b"".join(part * count for part, count in parts),
        st.lists(
            st.tuples(
                st.sampled_from(
                    [b"\0", b"\0\0\0\0", b"\xff\xff\xff\xff", b"ab", b"text\n", b"1234"]
                ),
                st.integers(1, 200),
            ),
            max_size=6,
        ),
    ),
)


@pytest.mark.slow
@FEW
@given(CONTENTS, st.integers(0, 3))
@example(b"\0" * 70 + b"\1" + b"\0" * 67 + b"\2\3", 0)
@example(b"\1" + b"\2" * 80 + b"\1", 0)
def test_any_contents(contents: bytes, phase: int) -> None:
    both_ways(capture(630, type7(0x10), {0x200000 + phase: contents}))


def test_zeros_take_no_room() -> None:
    text = both_ways(capture(630, type7(0x10), {0x200000: b"\0" * 4_000_000 + b"\1\0\0\0"}))
    assert len(text) < 500
    assert "  at 0x5d0900\n  00000001\n" in text


def test_fills_and_strings() -> None:
    contents = dwords_bytes([0x3F800000] * 100) + b"a string of text\0\0\0\0"
    text = both_ways(capture(630, type7(0x10), {0x200000: contents}))
    assert "  fill 0x3f800000 * 100\n" in text
    text = both_ways(capture(630, type7(0x10), {0x200000: b"a string of text\0\0\0\0"}))
    assert '  string "a string of text\\0"' in text or '  string "a string of text"' in text


# -- packets -------------------------------------------------------------------------------------


def _opcodes(generation: int) -> list[int]:
    database = Database.open(f"A{generation}XX")
    return [
        opcode for opcode in range(128) if database.enum_name(PACKET_ENUM, opcode, {}) is not None
    ]


OPCODES = {generation: _opcodes(generation) for generation in GENERATIONS}
VALUES = st.one_of(
    st.integers(0, 0xFFFFFFFF),
    st.integers(0, 64),
    st.sampled_from([0x100000, 0x100010, 0x3F800000, 0x7FC00000, 0x80000000, 1, 0]),
)
FIRST = {2: 0x2000, 3: 0x2000, 4: 0x2000, 5: 0xE000, 6: 0x8000, 7: 0x8000}


@st.composite
def programs(draw: st.DrawFn) -> tuple[int, list[int]]:
    """A GPU id and a stream of packets, some of them invalid."""
    generation = draw(st.sampled_from(sorted(GENERATIONS)))
    words: list[int] = []
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.integers(0, 9))
        values = draw(st.lists(VALUES, min_size=1, max_size=12))
        if kind == 0:
            words += values
        elif kind < 4:
            register = FIRST[generation] + draw(st.integers(0, 0xC00))
            words += (type4 if generation >= 5 else type0)(register, *values)
        else:
            opcode = draw(st.sampled_from(OPCODES[generation]))
            words += (type7 if generation >= 5 else type3)(opcode, *values)
    return GENERATIONS[generation], words


@pytest.mark.slow
@FEW
@given(programs())
def test_any_program(program: tuple[int, list[int]]) -> None:
    gpu, words = program
    data = capture(gpu, words, {0x200000: dwords_bytes(words)})
    text = both_ways(data)
    # what is written by hand needs no blocks, labels or comments
    assert text_of(bytes_of(text)) == text


@pytest.mark.parametrize("generation", first_always(sorted(GENERATIONS)))
def test_every_packet_with_every_length(generation: int) -> None:
    words: list[int] = []
    for opcode in OPCODES[generation]:
        for count in range(1, 14):
            values = [
                (opcode * 0x9E3779B1 * (place + count)) & 0xFFFFFFFF for place in range(count)
            ]
            words += (type7 if generation >= 5 else type3)(opcode, *values)
            words += (type7 if generation >= 5 else type3)(opcode, *[0] * count)
    both_ways(capture(GENERATIONS[generation], words, dwords=len(words)))


@pytest.mark.parametrize("generation", first_always(sorted(GENERATIONS), 2))
def test_every_register_by_name(generation: int) -> None:
    """Each register that has a name is written by it, whatever its bits."""
    database = Database.open(f"A{generation}XX")
    words: list[int] = []
    for name, offset in database.register_names():
        if name and offset <= 0x7FFF * (1 if generation < 5 else 8):
            for value in (0, 0xFFFFFFFF, offset * 0x9E3779B1 & 0xFFFFFFFF):
                words += (type4 if generation >= 5 else type0)(offset, value, value ^ 0x55555555)
    text = both_ways(capture(GENERATIONS[generation], words))
    unnamed = sum(line.strip().startswith("0x") for line in text.splitlines())
    # holes of the register space, upper halves, and what a name's fields cannot say
    assert unnamed < len(text.splitlines()) / 3


def test_wrong_parity_is_data() -> None:
    words = [0x40880001, 5, *type4(0x8800, 0)]
    text = both_ways(capture(630, words))
    assert "40880001 00000005" in text
    assert "RB_BIN_CONTROL = {" in text


def test_programs_of_a2xx_are_comments() -> None:
    program = [0, 0x1001C400, 0x20000002, 0x000F8000, 0, 0x02000000]
    text = both_ways(capture(220, type3(0x2B, 1, 6, *program)))
    assert "CP_IM_LOAD_IMMEDIATE SHADER_TYPE=1 SIZE=6\n    // " in text
    assert "export0 = C0, C0" in text


def test_streams_that_overlap() -> None:
    inner = [*type4(0x8800, 0), *type7(0x10, 1, 2), *type4(0x8800, 1)]
    calls = []
    for start, count in ((0, 7), (2, 3), (3, 2), (0, 2), (5, 9)):
        calls += type7(0x3F, 0x200000 + 4 * start, 0, count)
    both_ways(capture(630, calls, {0x200000: inner}))


def test_buffers_that_were_captured_twice() -> None:
    stream = type7(0x3F, 0x200000, 0, 2)
    sections = [
        gpu_id_section(630),
        *buffer_sections(0x200000, dwords_bytes(type7(0x10, 1))),
        *buffer_sections(0x200000, dwords_bytes(type7(0x10, 2))),
        *buffer_sections(0x200004, dwords_bytes(type7(0x10, 3))),
        *buffer_sections(0x100000, dwords_bytes(stream)),
        command_stream_section(0x100000, len(stream)),
        command_stream_section(0x100000, 1),
        *buffer_sections(0x100000, dwords_bytes(stream)),
        command_stream_section(0x100000, len(stream)),
    ]
    text = both_ways(capture_bytes(sections))
    assert text.count("commands ib") == 1
    assert "IB_BASE=ib0 IB_SIZE=sizeof(ib0)" in text


def test_a_marker_within_a_buffer() -> None:
    """The contents are then a separate section, whose commands have no label."""
    stream = type7(0x3F, 0x100000 + 16, 0, 2) + type7(0x10, 1)
    named, contents = buffer_sections(0x100000, dwords_bytes(stream))
    data = capture_bytes([gpu_id_section(630), named]) + RESYNC_MARKER
    data += capture_bytes([contents, command_stream_section(0x100000, 4)])
    assert "section RD_BUFFER_CONTENTS" in both_ways(data)


def test_labels_move_with_their_blocks() -> None:
    text = both_ways(capture(630, type7(0x3F, 0x200000, 0, 2), {0x200000: type7(0x10, 1)}))
    moved = text.replace("0x200000", "0x1_0030_0000".replace("_", "")).replace(
        "CP_NOP\n", "CP_NOP\n      + 00000002\n"
    )
    moved = moved.replace(" size 8 {", " {")
    again = text_of(bytes_of(moved))
    assert "commands ib0 at 0x100300000 {" in again
    assert "stream commands0" in again
    data = bytes_of(moved)
    assert dwords_bytes(type7(0x3F, 0x00300000, 1, 3)) in data


@pytest.mark.slow
def test_one_submit_of_several(samples: Path) -> None:
    first = capture(630, type4(0x8800, 1))
    second = capture(630, type4(0x8800, 2))
    text = text_of(first + second, submit=1)
    assert "RB_BIN_CONTROL" in text
    assert text.count("stream") == 1
    assert text.count("gpu_id 630") == 2
    assert bytes_of(text) == capture_bytes([gpu_id_section(630)]) + second
    # streams that see the same buffers are one submit, as for all other commands
    again = capture_bytes([command_stream_section(COMMANDS, 2)])
    both = text_of(first + again + second)
    assert re.findall(r"stream .*", both) == [
        f"stream commands{number}{more}  // submit {submit}"
        for number, more, submit in ((0, "", 0), (0, "", 0), (1, "", 1))
    ]
    assert bytes_of(text_of(first + again + second, submit=0)) == first + again + capture_bytes(
        [gpu_id_section(630)]
    )
    with pytest.raises(CaptureError, match="there is no submit 2; submits of this capture: 0 to 1"):
        text_of(first + again + second, submit=2)


@pytest.mark.slow
def test_memory_is_bounded() -> None:
    """Zeros cost nothing, and text that is written once is stored once."""
    data = capture(630, type4(0x8800, 1) * 2000, {0x1000000: b"\0" * 20_000_000})
    tracemalloc.start()
    text = text_of(data)
    bytes_of(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * len(data)
