# SPDX-License-Identifier: MIT
"""Where the CP is, by registers and by the look-ahead; compared with crashdec's mark."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.crash.context import CrashContext
from cffpy.analysis.crash.position import CpPosition, find_position, opened
from cffpy.container.crash_dump import read_crash_dump
from cffpy.container.open import open_bytes
from cffpy.container.rd import command_stream_address
from cffpy.container.section_types import SectionType
from tests.builders import type4, type7
from tests.crash_dumps import (
    CP_NOP,
    IB1,
    IB1_BASE,
    IB2,
    IB2_BASE,
    IB2_REM,
    call,
    data,
    hang,
    planted,
    register,
)
from tests.golden.test_crash import FOLDER, TABLE
from tests.selection import first_always

NOPS = type7(CP_NOP, 1) + type7(CP_NOP, 2)


def position_of(data: bytes) -> CpPosition:
    return find_position(CrashContext(read_crash_dump(data)))


def test_in_ib1() -> None:
    cp = position_of(hang(NOPS, 2))
    assert cp.method == "registers"
    assert [(one.name, one.gpuaddr, one.dwords, one.left) for one in cp.levels] == [
        ("IB1", IB1, 4, 2)
    ]
    assert cp.packet is not None
    assert (cp.packet.gpuaddr, cp.packet.name, cp.packet.values) == (
        IB1 + 8,
        "CP_NOP",
        (2,),
    )


def test_of_equal_calls_the_one_that_ib1_stands_behind() -> None:
    ib1 = [*call(IB2, 4), *NOPS, *call(IB2, 4), *call(IB2 + 0x100, 4)]
    cp = position_of(hang(ib1, 4, NOPS, 2))
    assert [one.name for one in cp.levels] == ["IB1", "IB2"]
    assert cp.levels[1].caller == IB1 + 4 * 8
    assert cp.packet is not None
    assert cp.packet.gpuaddr == IB2 + 8


def test_an_ib2_that_has_returned() -> None:
    ib1 = [*call(IB2, 4), *NOPS]
    cp = position_of(hang(ib1, 2, NOPS, 0))
    assert [one.name for one in cp.levels] == ["IB1"]
    assert cp.packet is not None
    assert cp.packet.gpuaddr == IB1 + 4 * 6


def test_the_fetcher_is_ahead() -> None:
    """Three calls in a row; the last is fetched, and two dwords of the first are left."""
    ib1 = [*call(IB2, 4), *call(IB2 + 8, 2), *call(IB2 + 8, 2)]
    dump = hang(ib1, 0, NOPS, 2 + 2 + 2).replace(
        b"offset: 0x0024ac, value: 0x00200000", b"offset: 0x0024ac, value: 0x00200008"
    )
    cp = position_of(dump)
    assert cp.method == "look-ahead"
    assert (cp.levels[1].gpuaddr, cp.levels[1].left) == (IB2, 2)


def elsewhere(dump: bytes) -> bytes:
    """The dump with a ring that calls another IB1."""
    ring, other = (data(call(gpuaddr, 4)).encode() for gpuaddr in (IB1, IB1 + 0x100000))
    changed = dump.replace(data(call(IB1, ib1_dwords(dump))).encode(), other)
    assert changed != dump
    assert ring != other
    return changed


def ib1_dwords(dump: bytes) -> int:
    """What the ring of ``hang`` says of IB1."""
    return CrashContext(read_crash_dump(dump)).pending_calls()[0].dwords


def test_ring_without_the_call_but_ib2_is_active() -> None:
    """IB1 ends where its call of IB2, and what is left behind it, say."""
    ib1 = [*NOPS, *call(IB2, 4), *NOPS, *call(IB2 + 0x100, 4)]
    dump = elsewhere(hang(ib1, len(NOPS) + 4, NOPS, 2))
    cp = position_of(dump)
    assert (cp.method, cp.unknown) == ("inferred", [])
    assert "IB2 that the CP is in" in cp.inferred
    assert [(one.name, one.dwords, one.left) for one in cp.levels] == [
        ("IB1", len(ib1), len(NOPS) + 4),
        ("IB2", 4, 2),
    ]
    assert cp.packet is not None
    assert cp.packet.gpuaddr == IB2 + 8


def test_ring_without_the_call_by_the_extent() -> None:
    ib1 = [*NOPS, *NOPS, 0, 0]
    cp = position_of(elsewhere(hang(ib1, 2)))
    assert cp.method == "inferred"
    assert "its commands end there" in cp.inferred
    assert cp.packet is not None
    assert cp.packet.gpuaddr == IB1 + 4 * 6
    streams = opened(open_bytes(elsewhere(hang(ib1, 2)))).sections()
    last = [one for one in streams if one.type == SectionType.CMDSTREAM_ADDR][-1]
    assert command_stream_address(last.payload) == (IB1, 8)


def test_a_call_whose_fence_is_retired() -> None:
    ring = [*call(IB1, 4), *type7(0x46, 4, 0x1000, 0, 1), *call(IB2, 4)]
    dump = hang(NOPS, 2).replace(data(call(IB1, 4)).encode(), data(ring).encode())
    count = b"%d" % len(ring)
    dump = dump.replace(b"rptr: 4", b"rptr: " + count).replace(b"wptr: 4", b"wptr: " + count)
    cp = position_of(dump)
    assert "fence is retired" in cp.inferred
    assert cp.packet is not None
    assert cp.packet.gpuaddr == IB1 + 8


def test_an_ib1_that_another_is_chained_to() -> None:
    chain = type7(0x57, IB2, 0, 4)
    dump = hang([*NOPS, *chain], 2, NOPS).replace(
        register(IB1_BASE, IB1).encode(), register(IB1_BASE, IB2).encode()
    )
    cp = position_of(dump)
    assert f"IB1 {IB1:#x} is chained to it" in cp.inferred
    assert cp.packet is not None
    assert cp.packet.gpuaddr == IB2 + 8


@pytest.mark.parametrize(
    ("dump", "reason"),
    [
        (hang(NOPS, 5), f"IB1 {IB1:#x} has 4 dwords, but 5 should be left"),
        (hang(NOPS, 0), f"IB1 {IB1:#x} was executed to its end: what follows is not known"),
        (hang(NOPS, 2, revision="123 (1.2.3.4)"), "the GPU is not known"),
        (hang(NOPS, 2).split(b"registers:")[0], "CP_IB1_BASE is not in the dump"),
    ],
)
def test_what_is_not_known(dump: bytes, reason: str) -> None:
    cp = position_of(dump)
    assert cp.packet is None
    assert cp.unknown == [reason]


def recorded() -> list[dict[str, Any]]:
    """Cases whose recorded output has all packets, one of each dump."""
    table = json.loads(TABLE.read_text()) if TABLE.exists() else []
    cases = {one["capture"]: one for one in table if "log" in one and "-s" not in one["args"]}
    return list(cases.values())


@pytest.mark.parametrize("case", first_always(recorded(), 4), ids=lambda case: case["name"])
def test_as_crashdec_marks_it(case: dict[str, Any]) -> None:
    text = lzma.decompress((FOLDER / case["log"]).read_bytes()).decode("latin-1")
    marks = re.findall(r"ESTIMATED CRASH LOCATION!\n(?:\x1b\[[0-9;]*m)?([0-9a-f]+):", text)
    cp = position_of(gzip.decompress((FOLDER / case["capture"]).read_bytes()))
    if not marks:
        return
    packet = cp.packet
    assert packet is not None
    address = int(marks[-1], 16)
    assert packet.gpuaddr <= address < packet.gpuaddr + 4 * packet.dwords


@pytest.mark.parametrize("case", first_always(recorded(), 2), ids=lambda case: case["name"])
def test_without_the_ring_the_position_is_the_same_or_unknown(case: dict[str, Any]) -> None:
    whole = gzip.decompress((FOLDER / case["capture"]).read_bytes())
    dump = read_crash_dump(whole)
    for ring in dump.rings:
        ring.block = None
    inferred = find_position(CrashContext(dump))
    assert inferred.packet in (None, position_of(whole).packet)
    assert inferred.packet is None or inferred.inferred


# -- the planted place --------------------------------------------------------------------------

REMAINDERS = [0, 1, None]


@pytest.mark.parametrize("has_high", [True, False])
@pytest.mark.parametrize("waiting", [0, 1, 1000])
@pytest.mark.parametrize("remainder", REMAINDERS)
@pytest.mark.parametrize("prefetch", [0, 1, 2])
@pytest.mark.parametrize(
    ("level", "peeks"), [("ring", True), ("IB1", True), ("IB2", True), ("IB2", False)]
)
def test_the_planted_place(
    level: str, peeks: bool, prefetch: int, remainder: int | None, waiting: int, has_high: bool
) -> None:
    one = planted(level, prefetch, remainder, waiting, has_high, peeks=peeks)
    cp = position_of(one.dump)
    assert cp.packet is not None
    assert (cp.packet.gpuaddr, cp.packet.header) == (one.gpuaddr, one.header)
    assert cp.levels[-1].name == level
    assert cp.unknown == []
    alone = position_of(
        planted(level, prefetch, remainder, waiting, has_high, has_sqe=False, peeks=peeks).dump
    )
    assert alone.packet is not None
    if alone.packet != cp.packet:  # the registers are the same at the end of one stream ...
        assert (level, remainder) == ("ring", None)
        assert f"{one.gpuaddr:#x}" in alone.notes[0]  # ... and at the begin of the next


def without(dump: bytes, *offsets: int) -> bytes:
    """The dump without the lines of registers; offsets in bytes."""
    lines = dump.splitlines(keepends=True)
    kept = [one for one in lines if not any(b"offset: 0x%06x," % at in one for at in offsets)]
    assert len(kept) == len(lines) - len(offsets)
    return b"".join(kept)


def test_no_base_of_ib2_but_one_call() -> None:
    """What is left says that the CP is in an IB2, and IB1 stands behind one call."""
    ib1 = [*NOPS, *call(IB2, 4), *NOPS]
    dump = without(hang(ib1, 4, NOPS, 2), IB2_BASE, IB2_BASE + 4)
    packet = position_of(dump).packet
    assert packet is not None
    assert packet.gpuaddr == IB2 + 8


@pytest.mark.parametrize(
    ("ib1", "left", "left2", "lost"),
    [
        ([*call(IB2, 4), *NOPS], 2, 2, ()),  # IB1 stands elsewhere
        ([*call(IB2 + 0x100, 4), *NOPS], 4, 2, ()),  # behind a call of another IB
        ([*call(IB2, 4), *NOPS], 4, 5, ()),  # more is left than the IB has
        ([*NOPS, *NOPS], 4, 2, (IB2_BASE, IB2_BASE + 4)),  # nothing is known but what is left
        ([*call(IB2, 4), *NOPS], 4, 2, (IB2_REM,)),  # what is left is not known
        ([*call(IB2 + 0x100, 4), *NOPS], 4, 0, ()),  # behind a call, but not in what it calls
    ],
)
def test_an_unknown_ib2_gives_no_place_in_ib1(
    ib1: list[int], left: int, left2: int, lost: tuple[int, ...]
) -> None:
    cp = position_of(without(hang(ib1, left, NOPS, left2), *lost))
    assert cp.packet is None
    assert all(level.packet is None for level in cp.levels)
    assert len(cp.unknown) == 1


def with_sqe(dump: bytes, header: int) -> bytes:
    """The dump with the SQE in a packet."""
    section = "indexed-registers:\n  - regs-name: CP_SQE_STAT\n    dwords: 51\n"
    return dump + (section + data([0x123, header])).encode()


def test_the_sqe_in_an_ib2_that_ib1_does_not_stand_behind() -> None:
    """The SQE's packet is where what is left of the IB2 says, so the place is known."""
    draw = type7(0x38, 1)
    dump = hang([*call(IB2, 6), *type4(0x8000, 1), *NOPS], len(NOPS), [*NOPS, *draw], 2)
    assert position_of(dump).packet is None
    packet = position_of(with_sqe(dump, draw[0])).packet
    assert packet is not None
    assert (packet.name, packet.gpuaddr) == ("CP_DRAW_INDX_OFFSET", IB2 + 4 * len(NOPS))
    assert position_of(with_sqe(dump, type7(0x26)[0])).packet is None


def test_the_sqe_contradicts_the_registers() -> None:
    cp = position_of(with_sqe(hang(NOPS, 2), type7(0x38, 1, 2)[0]))
    assert cp.packet is None
    assert cp.unknown == [
        f"the registers say CP_NOP at {IB1 + 8:#x} in IB1 {IB1:#x}, but the SQE executes "
        "CP_DRAW_INDX_OFFSET"
    ]


def test_the_sqe_has_read_all_of_a_packet() -> None:
    """Then the registers stand behind it."""
    ib1 = [*NOPS, *type7(0x26), *NOPS]
    cp = position_of(with_sqe(hang(ib1, len(NOPS)), type7(0x26)[0]))
    assert cp.packet is not None
    assert (cp.packet.name, cp.packet.gpuaddr) == ("CP_WAIT_FOR_IDLE", IB1 + 4 * len(NOPS))
    assert position_of(hang(ib1, len(NOPS))).packet != cp.packet


@given(st.data())
def test_a_named_packet_is_the_one_of_the_sqe(choices: st.DataObject) -> None:
    """Whatever registers say: the position is where the SQE's packet is, or unknown."""
    level = choices.draw(st.sampled_from(["ring", "IB1", "IB2"]))
    remainder = choices.draw(st.sampled_from(REMAINDERS))
    lines = planted(level, choices.draw(st.integers(0, 2)), remainder).dump.splitlines(True)
    places = [number for number, line in enumerate(lines) if b"{ offset:" in line]
    for _ in range(choices.draw(st.integers(1, 3))):
        number = choices.draw(st.sampled_from(places))
        value = choices.draw(st.integers(0, 64) | st.integers(0, 0xFFFFFFFF))
        lines[number] = re.sub(rb"value: 0x\w+", b"value: 0x%08x" % value, lines[number])
    context = CrashContext(read_crash_dump(b"".join(lines)))
    cp = find_position(context)
    if cp.packet is not None:
        assert cp.packet.name == context.packet_of_header(context.executed_header() or 0)
