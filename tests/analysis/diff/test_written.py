# SPDX-License-Identifier: MIT
"""What is found among the registers that are written before a draw."""

from __future__ import annotations

from typing import Any

from cffpy.analysis.command_writes import CommandWrite
from cffpy.analysis.diff.written import NOTHING, Writes
from cffpy.analysis.inputs.recorder import Recorder
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.change_log import ChangeLog
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.analysis.walk import Walk
from cffpy.container.open import open_bytes
from cffpy.regdb.database import Database
from cffpy.regdb.register_text import RegisterText
from tests.analysis.diff.frames import DrawCall, frame, titles
from tests.analysis.passes.marked import targets
from tests.analysis.passes.streams import Streams

INVALIDATE = {"HLSQ_INVALIDATE_CMD": 0x1F}


def writes_of(database: Database, are_seen: bool = True) -> Writes:
    """Each register of a change is written once."""
    commands = database.commands

    def read(values: dict[int, int], source: Any) -> list[CommandWrite]:
        return [CommandWrite(one, values[one], source) for one in values if one in commands]

    return Writes(RegisterText(database), commands, read, are_seen)


def test_a_second_write_of_the_same_value_is_missed() -> None:
    good = frame([DrawCall(3, INVALIDATE), DrawCall(6, INVALIDATE)])
    bad = frame([DrawCall(3, INVALIDATE), DrawCall(6)])
    expected = "pass 0, draw 1: write of HLSQ_INVALIDATE_CMD: there → missing"
    assert titles(good, bad) == [expected]
    assert titles(good, good) == []


def test_what_is_invalidated_for_a_draw_is_compared() -> None:
    good, bad = (frame([DrawCall(3, {"HLSQ_INVALIDATE_CMD": value})]) for value in (0x5, 0x1))
    expected = "write of HLSQ_INVALIDATE_CMD: VS_STATE=TRUE DS_STATE=TRUE → VS_STATE=TRUE"
    assert titles(good, bad) == [f"pass 0, draw 0: {expected}"]


def test_push_constants_are_found_in_whatever_order_they_are_written() -> None:
    database = Database.open("A7XX")
    found = writes_of(database)
    first = 0xAB40  # HLSQ_SHARED_CONSTS_IMM[0]
    other = database.register_offset("RB_DEPTH_CNTL")

    one, two = {first: 1, first + 1: 2, other: 9}, {first + 1: 2, other: 8, first: 1}
    expected = (first, first + 1), (1, 2)

    def written(*changes: dict[int, int]) -> object:
        return found.of([(values, source) for values in changes])[0]

    source: Any = None
    for _ in range(2):  # from the second time on, the lists of registers are known
        assert written(one) == written(two) == expected
        assert written({first: 7}, {other: 1}, {first: 1, first + 1: 2}) == expected
        assert written({other: 3}) == written() == ()
        assert written({first: UNKNOWN, first + 1: 2}) == ((first + 1,), (2,))
        assert written({first: UNKNOWN}) == ()


def test_many_changes_are_found_as_few_are() -> None:
    """From so many on, changes that draws share are known by their identity."""
    database, source = Database.open("A7XX"), None
    first, other = 0xAB40, database.register_offset("RB_DEPTH_CNTL")
    invalidate = database.register_offset("HLSQ_INVALIDATE_CMD")
    few: list[Any] = [({first: 1, invalidate: 2}, source), ({first: 3, invalidate: 4}, source)]
    many = [*few, *(({other: number}, source) for number in range(8))]
    found = writes_of(database)
    for _ in range(2):
        (pushed, facts), expected = found.of(many), found.of(few)
        assert (pushed, facts) == expected
        assert pushed == ((first,), (3,))
        assert [fact.digest for fact in facts.values()] == ["HS_STATE=TRUE, then DS_STATE=TRUE"]
    assert found.of(many[2:]) == found.of([]) == NOTHING


# -- results that are asked for again only where registers were written ---------------------------


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

    def write(writes: Writes, changes: dict[int, int], copies: int) -> None:
        registers.update(changes)
        writes.of([(changes, source)] * copies)

    for copies in (1, 8):
        registers.clear()
        writes = writes_of(database)
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
    not_seen = writes_of(database, are_seen=False).follow(Function())
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
    log = ChangeLog(walk, finder)
    found = Recorder(walk, finder, log, None, wanted=frozenset(range(9)))
    walk.observe(finder, log, found)
    walk.run(open_bytes(s.capture([[commands]])), lambda line: None)
    records = found.records(found.taken)
    assert records is not None
    buffers = [
        sum(key[0] == "vertex buffer" and fact is not None for key, fact in one.facts.items())
        for one in records.values()
    ]
    assert buffers == [1, 0, 1]
