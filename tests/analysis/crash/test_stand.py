# SPDX-License-Identifier: MIT
"""Where the CP is, by registers and by the look-ahead; compared with crashdec's mark."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from typing import Any

import pytest

from cffpy.analysis.crash.capture import opened
from cffpy.analysis.crash.context import CrashContext
from cffpy.analysis.crash.stand import Stand, find_stand
from cffpy.container.crash_dump import read_crash_dump
from cffpy.container.open import open_bytes
from cffpy.container.rd import SectionType, command_stream_address
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB1, IB1_BASE, IB2, call, data, hang, register
from tests.golden.test_crash import FOLDER, TABLE

NOPS = type7(CP_NOP, 1) + type7(CP_NOP, 2)


def stand_of(data: bytes) -> Stand:
    return find_stand(CrashContext(read_crash_dump(data)))


def test_in_ib1() -> None:
    stand = stand_of(hang(NOPS, 2))
    assert stand.method == "registers"
    assert [(one.name, one.gpuaddr, one.ndwords, one.left) for one in stand.levels] == [
        ("IB1", IB1, 4, 2)
    ]
    assert stand.packet is not None
    assert (stand.packet.gpuaddr, stand.packet.name, stand.packet.values) == (
        IB1 + 8,
        "CP_NOP",
        (2,),
    )


def test_of_equal_calls_the_one_that_ib1_stands_behind() -> None:
    ib1 = [*call(IB2, 4), *NOPS, *call(IB2, 4), *call(IB2 + 0x100, 4)]
    stand = stand_of(hang(ib1, 4, NOPS, 2))
    assert [one.name for one in stand.levels] == ["IB1", "IB2"]
    assert stand.levels[1].caller == IB1 + 4 * 8
    assert stand.packet is not None
    assert stand.packet.gpuaddr == IB2 + 8


def test_an_ib2_that_has_returned() -> None:
    ib1 = [*call(IB2, 4), *NOPS]
    stand = stand_of(hang(ib1, 2, NOPS, 0))
    assert [one.name for one in stand.levels] == ["IB1"]
    assert stand.packet is not None
    assert stand.packet.gpuaddr == IB1 + 4 * 6


def test_the_fetcher_is_ahead() -> None:
    """Three calls in a row; the last is fetched, and two dwords of the first are left."""
    ib1 = [*call(IB2, 4), *call(IB2 + 8, 2), *call(IB2 + 8, 2)]
    dump = hang(ib1, 0, NOPS, 2 + 2 + 2).replace(
        b"offset: 0x0024ac, value: 0x00200000", b"offset: 0x0024ac, value: 0x00200008"
    )
    stand = stand_of(dump)
    assert stand.method == "look-ahead"
    assert (stand.levels[1].gpuaddr, stand.levels[1].left) == (IB2, 2)


def elsewhere(dump: bytes) -> bytes:
    """The dump with a ring that calls another IB1."""
    ring, other = (data(call(gpuaddr, 4)).encode() for gpuaddr in (IB1, IB1 + 0x100000))
    changed = dump.replace(data(call(IB1, ib1_dwords(dump))).encode(), other)
    assert changed != dump
    assert ring != other
    return changed


def ib1_dwords(dump: bytes) -> int:
    """What the ring of ``hang`` says of IB1."""
    return CrashContext(read_crash_dump(dump)).pending_calls()[0].ndwords


def test_ring_without_the_call_but_ib2_is_active() -> None:
    """IB1 ends where its call of IB2, and what is left behind it, say."""
    ib1 = [*NOPS, *call(IB2, 4), *NOPS, *call(IB2 + 0x100, 4)]
    dump = elsewhere(hang(ib1, len(NOPS) + 4, NOPS, 2))
    stand = stand_of(dump)
    assert (stand.method, stand.unknown) == ("inferred", [])
    assert "IB2 that the CP is in" in stand.inferred
    assert [(one.name, one.ndwords, one.left) for one in stand.levels] == [
        ("IB1", len(ib1), len(NOPS) + 4),
        ("IB2", 4, 2),
    ]
    assert stand.packet is not None
    assert stand.packet.gpuaddr == IB2 + 8


def test_ring_without_the_call_by_the_extent() -> None:
    ib1 = [*NOPS, *NOPS, 0, 0]
    stand = stand_of(elsewhere(hang(ib1, 2)))
    assert stand.method == "inferred"
    assert "its commands end there" in stand.inferred
    assert stand.packet is not None
    assert stand.packet.gpuaddr == IB1 + 4 * 6
    streams = opened(open_bytes(elsewhere(hang(ib1, 2)))).sections()
    last = [one for one in streams if one.type == SectionType.CMDSTREAM_ADDR][-1]
    assert command_stream_address(last.payload) == (IB1, 8)


def test_a_call_whose_fence_is_retired() -> None:
    ring = [*call(IB1, 4), *type7(0x46, 4, 0x1000, 0, 1), *call(IB2, 4)]
    dump = hang(NOPS, 2).replace(data(call(IB1, 4)).encode(), data(ring).encode())
    count = b"%d" % len(ring)
    dump = dump.replace(b"rptr: 4", b"rptr: " + count).replace(b"wptr: 4", b"wptr: " + count)
    stand = stand_of(dump)
    assert "fence is retired" in stand.inferred
    assert stand.packet is not None
    assert stand.packet.gpuaddr == IB1 + 8


def test_an_ib1_that_another_is_chained_to() -> None:
    chain = type7(0x57, IB2, 0, 4)
    dump = hang([*NOPS, *chain], 2, NOPS).replace(
        register(IB1_BASE, IB1).encode(), register(IB1_BASE, IB2).encode()
    )
    stand = stand_of(dump)
    assert f"IB1 {IB1:#x} is chained to it" in stand.inferred
    assert stand.packet is not None
    assert stand.packet.gpuaddr == IB2 + 8


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
    stand = stand_of(dump)
    assert stand.packet is None
    assert stand.unknown == [reason]


def recorded() -> list[dict[str, Any]]:
    """Cases whose recorded output has all packets, one of each dump."""
    table = json.loads(TABLE.read_text()) if TABLE.exists() else []
    cases = {one["capture"]: one for one in table if "log" in one and "-s" not in one["args"]}
    return list(cases.values())


@pytest.mark.parametrize("case", recorded(), ids=lambda case: case["name"])
def test_as_crashdec_marks_it(case: dict[str, Any]) -> None:
    text = lzma.decompress((FOLDER / case["log"]).read_bytes()).decode("latin-1")
    marks = re.findall(r"ESTIMATED CRASH LOCATION!\n(?:\x1b\[[0-9;]*m)?([0-9a-f]+):", text)
    stand = stand_of(gzip.decompress((FOLDER / case["capture"]).read_bytes()))
    if not marks:
        return
    packet = stand.packet
    assert packet is not None
    address = int(marks[-1], 16)
    assert packet.gpuaddr <= address < packet.gpuaddr + 4 * packet.ndwords


@pytest.mark.parametrize("case", recorded(), ids=lambda case: case["name"])
def test_without_the_ring_the_position_is_the_same_or_unknown(case: dict[str, Any]) -> None:
    whole = gzip.decompress((FOLDER / case["capture"]).read_bytes())
    dump = read_crash_dump(whole)
    for ring in dump.rings:
        ring.block = None
    inferred = find_stand(CrashContext(dump))
    assert inferred.packet in (None, stand_of(whole).packet)
    assert inferred.packet is None or inferred.inferred
