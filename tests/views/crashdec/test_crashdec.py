# SPDX-License-Identifier: MIT
"""Crash dumps as text: the mark of the crash, what is left out, damaged lines."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.open import open_bytes
from cffpy.views.crashdec.dump import CrashDump
from cffpy.views.crashdec.options import CrashdecOptions
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB1, IB2, buffer, call, data, hang

MARK = b"ESTIMATED CRASH LOCATION!\n"


def text_of(dump: bytes, **options: bool) -> tuple[bytes, list[str]]:
    """What is printed for a dump, and the messages."""
    pieces: list[bytes] = []
    complaints: list[str] = []
    printer = CrashDump(CrashdecOptions(**options), pieces.append, complaints.append)
    printer.file(open_bytes(dump))
    assert printer.is_damaged == any("skipped" in line for line in complaints)
    return b"".join(pieces), complaints


def nops(count: int) -> list[int]:
    return [word for number in range(count) for word in type7(CP_NOP, number + 1)]


def marked_address(text: bytes) -> int:
    """The address of the dword after the mark; there is one mark."""
    _, mark, after = text.partition(MARK)
    assert mark
    assert MARK not in after
    return int(after[:16], 16)


@pytest.mark.parametrize(("left", "dword"), [(2, 6), (3, 4), (4, 4), (8, 0), (1, 6)])
def test_the_packet_in_ib1_is_marked(left: int, dword: int) -> None:
    text, complaints = text_of(hang(nops(4), left))
    assert marked_address(text) == IB1 + 4 * dword
    assert complaints == []


def test_the_packet_in_ib2_is_marked() -> None:
    outer = nops(1) + call(IB2, 6) + nops(1)
    text, _ = text_of(hang(outer, 2, nops(3), 4))
    assert marked_address(text) == IB2 + 8


@pytest.mark.parametrize("bins", [0, 1])
def test_the_mark_at_bins(bins: int) -> None:
    """CP_START_BIN is tested before its first bin, and also where it has none."""
    start_bin = type7(0x50, bins, IB2 & 0xFFFFFFFF, IB2 >> 32, 2, 0)
    dump = hang([*start_bin, *nops(1)], 2, nops(1), 0)
    text, _ = text_of(dump)
    if bins:
        assert text.partition(MARK)[2].strip().startswith(b"bin 0\n")
    else:
        assert marked_address(text) == IB1


def test_the_look_ahead_finds_the_buffer_before() -> None:
    """The registers name the second of two IBs; more is left than that has."""
    outer = call(IB2, 6) + call(IB2 + 0x100, 4) + nops(1)
    dump = hang(outer, 2, nops(3), 7)
    second = buffer(IB2 + 0x100, nops(2))
    dump = dump.replace(b"registers:\n", second.encode() + b"registers:\n", 1)
    low = b"offset: 0x0024ac, value: 0x%08x"
    assert low % IB2 in dump
    text, _ = text_of(dump.replace(low % IB2, low % (IB2 + 0x100)))
    assert marked_address(text) == IB2 + 8


def test_the_mark_in_colour() -> None:
    text, _ = text_of(hang(nops(4), 4), color=True)
    assert MARK + b"\x1b[0;1;31m0000000000100010:" in text


def test_no_commands_where_registers_end_the_file() -> None:
    text, _ = text_of(hang(nops(1), 1, after=""))
    assert b"got rb_base" not in text
    assert b"\tCP_RB_BASE: 0x1000000001000\n" in text


def test_a_damaged_line_is_skipped() -> None:
    dump = hang(nops(4), 4)
    line = b"  - { offset: 0x002000"
    assert line in dump
    text, complaints = text_of(dump.replace(line, b"  - { off\n" + line))
    assert complaints == ["line 23 is not of the form '  - { offset: %x, value: %x }': skipped"]
    assert marked_address(text) == IB1 + 0x10


def test_an_unknown_gpu_ends_it() -> None:
    text, _ = text_of(hang(nops(1), 1, revision="999 (9.9.9.9)"))
    assert text.endswith(b"revision: 999 (9.9.9.9)\nUnsupported device\n")


def test_a_dump_without_gpu() -> None:
    dump = hang(nops(1), 1).replace(b"revision:", b"version:")
    text, complaints = text_of(dump)
    assert b"got rb_base" not in text
    assert "does not say which GPU" in complaints[0]


def test_faults_are_marked_at_buffers() -> None:
    entries = "".join(buffer(start, [1], 0x1000) for start in (0x1000, 0x3000, 0x5000))
    dump = f"fault-info:\n  - iova=0000000000003abc\nbos:\n{entries}registers:\n"
    text, _ = text_of(dump.encode())
    ranges = [line for line in text.split(b"\n") if b"  - iova: " in line]
    assert [line.partition(b"\t")[2] for line in ranges] == [b"", b"==", b""]
    text, _ = text_of(dump.replace("3abc", "4abc").encode())
    assert b"-0x0000000000004000\t>=\n" in text


def test_markers() -> None:
    commands = type7(CP_NOP, *struct.unpack("<2I", b"a\xe9bc\0def")) + nops(1)
    dump = hang(commands, 2)
    assert b"abc\n" in text_of(dump, markers=True)[0]
    assert b"abc\n" not in text_of(dump)[0]
    assert b"abc\n" not in text_of(dump, markers=True, summary=True)[0]


def test_a_pool_whose_blocks_form_a_circle_ends() -> None:
    """Each block links to itself; the writer is in a block that is never reached."""
    pool = [0] * 0x2060
    pool[0x1800 + 8] = 5 << 3
    pool[0x1800 + 0x18] = 5
    dump = hang(
        nops(1),
        1,
        after=(
            "indexed-registers:\n  - regs-name: CP_MEMPOOL\n    dwords: 8288\n"
            + data(pool)
            + "x:\n"
        ),
    )
    text, complaints = text_of(dump)
    assert any("circle" in line for line in complaints)
    assert text.endswith(b"x:\n")


def test_sizes_beyond_the_data_are_bounded() -> None:
    """Sizes are only declared by the dump: a few bytes may declare gigabytes."""
    entry = "  - iova: 0x100000\n    size: 4294967292\n" + data([1])
    dump = hang(nops(1), 1).replace(b"bos:\n", b"bos:\n" + 3 * entry.encode())
    _, complaints = text_of(dump)
    assert any("zeros" in line for line in complaints)


@given(st.data())
def test_damaged_dumps(choices: st.DataObject) -> None:
    dump = bytearray(hang(nops(2) + call(IB2, 4), 2, nops(2), 2))
    for _ in range(choices.draw(st.integers(1, 5))):
        place = choices.draw(st.integers(0, len(dump) - 1))
        dump[place] = choices.draw(st.integers(0, 255))
    options = {name: choices.draw(st.booleans()) for name in ("summary", "markers", "color")}
    text, _ = text_of(bytes(dump[: choices.draw(st.integers(0, len(dump)))]), **options)
    assert isinstance(text, bytes)
