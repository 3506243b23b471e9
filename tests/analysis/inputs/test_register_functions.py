# SPDX-License-Identifier: MIT
"""Results that are asked for again only where registers were written."""

from __future__ import annotations

from typing import Any

from cffpy.analysis.inputs.recorder import InputRecorder
from cffpy.analysis.inputs.register_functions import RegisterFunctions
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.log import NotedWrites
from cffpy.analysis.register_store.recorder import RegisterRecorder
from cffpy.analysis.walk import Walk
from cffpy.container.open import open_bytes
from cffpy.regdb.database import Database
from tests.analysis.passes.marked import targets
from tests.analysis.passes.streams import Streams


def test_a_result_is_asked_for_again_after_writes_of_what_it_read() -> None:
    database = Database.open("A6XX")
    source: Any = None
    depth, bins, other = map(
        database.register_offset, ("RB_DEPTH_CNTL", "RB_BIN_CONTROL", "RB_MRT[0].CONTROL")
    )
    registers: dict[int, int] = {}

    class Function:
        """Reads a second register where the first one is set."""

        def __init__(self) -> None:
            self.registers: set[int] = set()

        def __call__(self) -> int | None:
            self.registers.add(depth)
            if registers.get(depth):
                self.registers.add(bins)
                return registers.get(bins)
            return None

    def write(writes: RegisterFunctions, changes: dict[int, int], copies: int) -> None:
        registers.update(changes)
        writes.note([NotedWrites(changes, source)] * copies)

    for copies in (1, 8):
        registers.clear()
        writes = RegisterFunctions(are_seen=True)
        followed = writes.follow(Function())
        results = []
        for changes in ({bins: 1}, {other: 1}, {bins: 2}, {depth: 1}, {bins: 3}, {other: 2}):
            write(writes, changes, copies)
            results.append((followed.now(), followed.times))
        assert results == [(None, 1), (None, 1), (None, 1), (2, 2), (3, 3), (3, 3)]
        registers[bins] = 4
        assert followed.now() == 3, "as a block that is not executed leaves it"
        writes.forget_results()
        assert followed.now() == 4
    not_seen = RegisterFunctions(are_seen=False).follow(Function())
    registers[bins] = 5
    assert not_seen.now() == 5
    registers[bins] = 6
    assert not_seen.now() == 6


def test_a_block_that_is_not_executed_changes_no_results() -> None:
    """Each of three draws is asked for: one before the block, one in it, and one after it."""
    s = Streams(660)
    fetch = "VFD_FETCH[0].BASE"
    block = [*s.raw("VFD_CONTROL_0", 0), *s.draw()]
    commands = [
        *targets(s),
        *s.raw("VFD_CONTROL_0", 1),
        *s.raw(fetch, 0x5000, 0),
        *s.raw("VFD_FETCH[0].SIZE", 64),
        *s.marker("RM6_DIRECT_RENDER"),
        *s.draw(),
        *s.only("binning", commands=block),
        *s.draw(),
    ]
    walk = Walk()
    finder = PassFinder(walk)
    registers = RegisterRecorder(walk, finder, 1 << 20)
    found = InputRecorder(walk, finder, registers, None, wanted=frozenset(range(9)))
    walk.observe(finder, registers, found)
    walk.run(open_bytes(s.capture([[commands]])), lambda line: None)
    buffers = [
        sum(key[0] == "vertex buffer" for part in one.facts for key in part)
        for one in found.taken.values()
    ]
    assert buffers == [1, 0, 1]
