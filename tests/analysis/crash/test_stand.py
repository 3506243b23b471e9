# SPDX-License-Identifier: MIT
"""Where the CP stands, by registers and by the look-ahead; compared with crashdec's mark."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from typing import Any

import pytest

from cffpy.analysis.crash.context import CrashContext
from cffpy.analysis.crash.stand import Stand, find_stand
from cffpy.container.crash_dump import read_crash_dump
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB1, IB2, call, hang
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
