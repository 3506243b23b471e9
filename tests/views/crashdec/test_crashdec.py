# SPDX-License-Identifier: MIT
"""Crash dumps as text: the mark of the crash, what is left out, damaged lines."""

from __future__ import annotations

import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.open import open_bytes
from cffpy.editions.folders import resolve_edition
from cffpy.views.crashdec.dump import CrashDump
from cffpy.views.crashdec.options import CrashdecOptions
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB1, IB2, RB_RPTR, ROQ_RB, buffer, call, data, hang, register
from tests.selection import first_always

MARK = b"ESTIMATED CRASH LOCATION!\n"


NEWER = resolve_edition("mesa-25.3")


def text_of(
    dump: bytes, register_db: str | None = None, **options: bool
) -> tuple[bytes, list[str]]:
    """What is printed for a dump, and the messages."""
    pieces: list[bytes] = []
    complaints: list[str] = []
    printer = CrashDump(CrashdecOptions(**options), pieces.append, complaints.append, register_db)
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


def with_registers(dump: bytes, **values: int) -> bytes:
    """The dump with a place of the ring in registers: rptr, waiting."""
    offsets = {"rptr": RB_RPTR, "waiting": ROQ_RB}
    lines = "".join(register(offsets[name], value) for name, value in values.items())
    return dump.replace(b"registers:\n", b"registers:\n" + lines.encode(), 1)


def test_more_left_of_an_ib_than_it_has_is_no_place_in_it() -> None:
    """What is executed counts in 32 bits, so it is beyond the end."""
    dump = hang(nops(4), 9)
    for register_db in (None, NEWER):
        inside = text_of(dump, register_db)[0].partition(b"opcode: CP_NOP")[2]
        assert inside
        assert MARK not in inside


@pytest.mark.parametrize(("rptr", "waiting"), [(3, 0), (7, 4 << 16)])
def test_a_newer_edition_reads_the_ring_by_registers(rptr: int, waiting: int) -> None:
    """It looks back 20 dwords from CP_RB_RPTR, less what waits; the older one from the line."""
    ring = [*type7(CP_NOP, 7), 0, *nops(1), *call(IB1, 4), *nops(9)]
    dump = hang(nops(2), 0, ring=ring, rptr=len(ring))
    dump = with_registers(dump, rptr=rptr, waiting=waiting)
    start = len(ring) - 12
    assert f"got cmdszdw={len(ring) - start}\n".encode() in text_of(dump)[0]
    # 20 dwords before the third one are the 17th from the end of the ring's 64: zeros up to the end
    assert f"got cmdszdw={len(ring)}\n".encode() in text_of(dump, NEWER)[0]


def test_a_newer_edition_marks_the_ring() -> None:
    ring = [*nops(2), *call(IB1, 4), *nops(2)]
    dump = with_registers(hang(nops(2), 0, ring=ring, rptr=0), rptr=10)
    text, _ = text_of(dump, NEWER)
    _, *marked = text.split(MARK)
    lines = [part.partition(b"\n")[0] for part in marked]
    assert lines == [b"0000000000000000:\t\t0000: 70100001 00000002"]
    assert MARK not in text_of(dump)[0]


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


def indexed(name: str, dwords: list[int]) -> str:
    """A section with one entry of indexed registers."""
    head = f"indexed-registers:\n  - regs-name: {name}\n    dwords: {len(dwords)}\n"
    return head + data(dwords) + "x:\n"


@pytest.mark.parametrize(
    ("name", "text", "is_new"),
    first_always(
        [
            ("CP_SQE_STAT", b"\t PC: 0001\n", False),
            ("CP_BV_SQE_STAT_ADDR", b"  - regs-name: CP_BV_SQE_STAT\n", True),
            ("CP_BV_SQE_STAT_ADDR", b"\t PC: 0001\n", True),
            ("CP_UCODE_DBG_DATA", b"\tSQE instruction cache:\n", False),
            ("CP_SQE_UCODE_DBG", b"\tSQE instruction cache:\n", True),
            ("CP_UCODE_DBG", b"\tSQE instruction cache:\n", True),
            ("CP_BV_SQE_UCODE_DBG", b"\tSQE instruction cache:\n", True),
            ("CP_BV_SQE_UCODE_DBG_ADDR", b"\tSQE instruction cache:\n", True),
            ("CP_MEMPOOL", b"\tCLUSTER_FE:\n", False),
            ("CP_MEM_POOL_DBG", b"\tCLUSTER_FE:\n", True),
            ("CP_ROQ", b"000000: 00000001 00000002", False),
            ("CP_ROQ_DBG", b"000000: 00000001 00000002", True),
        ],
        6,
        names=3,
    ),
)
def test_names_of_indexed_registers(name: str, text: bytes, is_new: bool) -> None:
    """The newer edition knows all names that kernels use; the older one the first of them."""
    dump = hang(nops(1), 1, after=indexed(name, [1, 2]))
    assert text in text_of(dump, NEWER)[0]
    assert (text in text_of(dump)[0]) is not is_new


@pytest.mark.parametrize(
    ("revision", "register_db", "scratch", "has_all"),
    [
        ("630 (6.3.0.2)", None, range(0x100, 0x180), False),
        ("630 (6.3.0.2)", NEWER, range(0x100, 0x180), False),
        ("740 (67.5.10.1)", None, range(0x100, 0x180), False),
        ("740 (67.5.10.1)", NEWER, range(0x100, 0x200), False),
        ("0 (67.5.20.1)", None, range(0x100, 0x180), False),
        ("0 (67.5.20.1)", NEWER, range(0x400, 0x500), True),
    ],
)
def test_control_registers(
    revision: str, register_db: str | None, scratch: range, has_all: bool
) -> None:
    """Of a750 the newer edition has them elsewhere, and all of them."""
    values = [0] * 0x8000
    for number, register_number in enumerate(scratch):
        values[0x5000 + number] = 0xE0000000 | register_number
    values[0x7001] = 0xABCD0123
    dump = hang(nops(1), 1, revision=revision, after=indexed("CP_UCODE_DBG_DATA", values))
    text = text_of(dump, register_db)[0].decode().partition("\tSQE scratch control regs:\n")[2]
    shown, _, others = text.partition("\tSQE control regs:\n")
    found = {int(value, 16) for value in re.findall("e0000([0-9a-f]{3})", shown)}
    assert found == set(scratch)
    assert ("\tabcd0123\t" in others) is has_all


def test_locations_of_clusters() -> None:
    """The newer edition copies them; the older one does not know such lines."""
    cluster = "clusters:\n  - pipe: A7XX_PIPE_BR\n  - cluster-name: X\n    - location: 3\n"
    cluster += "      - context: 0\n        - { offset: 0x020000, value: 0x1 }\nx:\n"
    dump = hang(nops(1), 1, revision="740 (67.5.10.1)", after=cluster)
    text, complaints = text_of(dump, NEWER)
    assert b"    - location: 3\n" in text
    assert complaints == []
    text, complaints = text_of(dump)
    assert b"location" not in text
    assert "does not know: skipped" in complaints[0]


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
