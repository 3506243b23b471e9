# SPDX-License-Identifier: MIT
"""Each fact of what is known of a crash dump is the same on every face."""

from __future__ import annotations

import pytest

import cffpy
from cffpy.analysis.crash import context, flight, model, position, status
from cffpy.analysis.crash.model import Section
from tests.builders import type4, type7
from tests.crash_dumps import CP_NOP, buffer, data, hang
from tests.frame.test_faces import check_object, within
from tests.kgsl_snapshots import hang as snapshot_of_hang
from tools.crash_sample import CRASH


def hang_in_microcode() -> bytes:
    """A dump with a program, a table of handlers, threads of the SQE, and queues of the GMU."""
    program = [*type4(0xAB04, 0x100), *type4(0xA983, 0x400000, 0), *type4(0xA832, 0x100)]
    dump = hang([*program, *type7(0x38, 0x184, 1, 3)], 4, after="indexed-registers:\n")
    table = [0] * 0x4000 + [0x20] * 127 + [0x40]
    for name, dwords in (
        ("CP_SQE_STAT", [0x21, type7(0x1B, 3)[0]]),
        ("CP_UCODE_DBG_DATA", table),
    ):
        block = buffer(0, dwords).split("data:")[1]
        size = len(dwords)
        dump += f"  - regs-name: {name}\n    dwords: {size}\n    data:{block}".encode()
    queues = [0, 6 + 12, 6, 12, 1, 1, *[1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5, 7]]
    gmu = f"gmu-hfi:\n    iova: 0x0000000060000000\n    size: 4096\n{data(queues)}"
    return dump.replace(b"registers:\n", gmu.encode() + b"registers:\n", 1)


DUMPS = {
    "devcoredump": CRASH.read_bytes,
    "snapshot": lambda: snapshot_of_hang([*type7(CP_NOP, 1)], 1),
    "microcode": hang_in_microcode,
}


@pytest.mark.parametrize("dump", DUMPS)
def test_every_fact_of_crash_dumps(dump: str) -> None:
    for one in within(cffpy.open_crash(DUMPS[dump]()).report):
        check_object(one)


def test_crash_dumps_have_all_kinds_of_objects() -> None:
    found = {
        type(one) for dump in DUMPS.values() for one in within(cffpy.open_crash(dump()).report)
    }
    declared = {
        one
        for module in (context, flight, model, position, status)
        for one in vars(module).values()
        if "__model__" in vars(one if isinstance(one, type) else type)
        and one.__module__ == module.__name__
    }
    assert declared - found == {Section}
