# SPDX-License-Identifier: MIT
"""What the command streamer computes: predicates, MI_MATH, dwords written to memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.frame.action import Action
from tests.intel import aub_files, frames
from tests.intel.opening import OpenedIntel, open_intel

BATCH, DATA, UNMAPPED = 0x100000, 0x200000, 0x900000
SRC0, SRC1, RESULT, GPR = 0x2400, 0x2408, 0x2418, 0x2600
SET, AND, OR, XOR = (number << 3 for number in range(4))
LOAD, LOADINV = 2 << 6, 3 << 6
TRUE, FALSE, EQUAL, DELTAS = range(4)


def load(register: int, value: int) -> bytes:
    """MI_LOAD_REGISTER_IMM of 64 bits."""
    high = value >> 32
    return frames.words(0x11000003, register, value & 0xFFFFFFFF, register + 4, high)


def load_memory(register: int, address: int) -> bytes:
    """MI_LOAD_REGISTER_MEM of 64 bits."""
    return b"".join(
        frames.words(0x14800002, register + more, *frames.split(address + more)) for more in (0, 4)
    )


def store_register(register: int, address: int) -> bytes:
    """MI_STORE_REGISTER_MEM."""
    return frames.words(0x12000002, register, *frames.split(address))


def predicate(operation: int) -> bytes:
    """MI_PREDICATE."""
    return frames.words(0x06000000 | operation)


def drawn() -> bytes:
    """3DPRIMITIVE with the predicate."""
    return frames.words(0x7B000105, 0, 3, 0, 1, 0, 0)


def math(*steps: tuple[int, int, int]) -> bytes:
    """MI_MATH."""
    words = [operation << 20 | first << 10 | second for operation, first, second in steps]
    return frames.words(0x0D000000 | len(words) - 1, *words)


def run(*commands: bytes) -> OpenedIntel:
    """A capture with these commands."""
    batch = b"".join(commands) + aub_files.END
    return open_intel(
        aub_files.file({BATCH: batch, DATA: frames.words(7, 0).ljust(64, b"\0")}, BATCH)
    )


def predicate_of(action: Action) -> bool | None:
    """None where it has none, or where the predicate is unknown."""
    return None if action.condition is None else action.execution.value


def predicates(*commands: bytes) -> list[bool | None]:
    return list(map(predicate_of, run(*commands).actions))


COUNT_2 = load(SRC0, 2)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (LOAD | SET | TRUE, True),
        (LOADINV | SET | TRUE, False),
        (LOAD | SET | FALSE, False),
        (LOAD | SET | EQUAL, True),
        (LOADINV | SET | EQUAL, False),
        (LOAD | AND | FALSE, False),
        (LOAD | AND | TRUE, None),
        (LOAD | OR | TRUE, True),
        (LOAD | OR | FALSE, None),
        (LOAD | XOR | TRUE, None),
        (LOAD | SET | DELTAS, None),
        (SET | TRUE, None),
    ],
)
def test_the_first_predicate(operation: int, expected: bool | None) -> None:
    """What was before is unknown; a known operand may decide alone."""
    assert predicates(COUNT_2, load(SRC1, 2), predicate(operation), drawn()) == [expected]


def test_draws_up_to_a_count() -> None:
    """As ANV does for a count in memory: the predicate flips where the draw's number reaches it."""
    commands = [COUNT_2]
    for number in range(4):
        operation = LOAD | XOR | EQUAL if number else LOADINV | SET | EQUAL
        commands += [load(SRC1, number), predicate(operation), drawn()]
    assert predicates(*commands) == [True, True, False, False]


def test_registers_from_memory() -> None:
    compare = predicate(LOAD | SET | EQUAL) + drawn()
    assert predicates(load(SRC0, 7), load_memory(SRC1, DATA), compare) == [True]
    assert predicates(load(SRC0, 7), load_memory(SRC1, UNMAPPED), compare) == [None]


def test_what_commands_write_is_read_back() -> None:
    compare = load_memory(SRC1, DATA) + predicate(LOAD | SET | EQUAL) + drawn()
    known = load(GPR, 9) + store_register(GPR, DATA)
    assert predicates(load(SRC0, 9), known, compare) == [True]
    assert predicates(load(SRC0, 9), store_register(0x2358, DATA), compare) == [None]
    copied = frames.words(0x17000003, *frames.split(DATA), *frames.split(DATA + 32))
    assert predicates(load(SRC0, 0), copied, compare) == [True]
    timestamp = frames.words(0x7A000004, 3 << 14, *frames.split(DATA), 0, 0)
    assert predicates(load(SRC0, 7), timestamp, compare) == [None]
    constant = frames.words(0x7A000004, 1 << 14, *frames.split(DATA), 5, 0)
    assert predicates(load(SRC0, 5), constant, compare) == [True]


def test_the_register_of_the_predicate() -> None:
    assert predicates(load(RESULT, 1), drawn(), load(RESULT, 0), drawn()) == [True, False]


LOADS = ((0x080, 0x20, 0), (0x080, 0x21, 1))


@pytest.mark.parametrize(
    ("operation", "result", "is_zero", "has_carry"),
    [
        (0x100, 12, False, False),
        (0x101, (1 << 64) - 2, False, True),
        (0x102, 5, False, None),
        (0x103, 7, False, None),
        (0x104, 2, False, None),
        (0x105, None, None, None),
    ],
)
def test_arithmetic(
    operation: int, result: int | None, is_zero: bool | None, has_carry: bool | None
) -> None:
    """5 and 7, and the flags."""
    steps = (*LOADS, (operation, 0, 0), (0x180, 2, 0x31), (0x180, 3, 0x32), (0x180, 4, 0x33))
    capture = run(load(GPR, 5), load(GPR + 8, 7), math(*steps), drawn())
    walk = capture.model.run.walk
    assert walk is not None
    found = [walk.streamer.general_register(number) for number in (2, 3, 4)]
    flags = [None if flag is None else ((1 << 64) - 1) * flag for flag in (is_zero, has_carry)]
    assert found == [result, *flags]


def test_inverted_operands() -> None:
    steps = ((0x480, 0x20, 0), (0x081, 0x21, 0), (0x100, 0, 0), (0x580, 2, 0x31))
    walk = run(load(GPR, 5), math(*steps), drawn()).model.run.walk
    assert walk is not None
    assert walk.streamer.general_register(2) == 5


def test_counted_draws_of_a_driver(shared: Path) -> None:
    """5 of at most 8, and 120 of at most 130 (workloads.json)."""
    capture = open_intel(str(shared / "intel" / "captures" / "bdw-vk-gendraws.aub.gz"))
    found = [predicate_of(action) for action in capture.draws if action.condition == "predicate"]
    assert (found.count(True), found.count(False), found.count(None)) == (125, 13, 0)


def set_predicate(mode: int) -> bytes:
    """MI_SET_PREDICATE."""
    return frames.words(0x00800000 | mode)


@pytest.mark.parametrize(
    ("mode", "values"),
    [(1, (False, None)), (2, (None, False)), (3, (False, None)), (4, (None, False))],
)
def test_commands_without_effect(mode: int, values: tuple[bool | None, ...]) -> None:
    """Where the result is 0, where it is 1; a draw that is executed has no predicate."""
    register = 0x23BC if mode < 3 else RESULT
    found = [
        predicates(load(register, result), set_predicate(mode), frames.draw(3))[0]
        for result in (0, 1)
    ]
    assert tuple(found) == values


def test_set_predicate_of_haswell() -> None:
    batch = b"".join([load(0x23BC, 0), set_predicate(1), frames.draw(3), set_predicate(0)])
    data = aub_files.file({BATCH: batch + frames.draw(4) + aub_files.END}, BATCH, 0x0412)
    assert [predicate_of(one) for one in open_intel(data).actions] == [False, None]


def test_modes_of_set_predicate() -> None:
    """Never, always, unknown, and again never: the state set in between is not changed either."""
    draw = frames.draw(3)
    skipped = frames.topology(frames.RECTANGLES) + draw + aub_files.jump(UNMAPPED)
    capture = run(
        *(frames.topology(frames.TRIANGLES), set_predicate(15), skipped, load(GPR, 1)),
        *(set_predicate(5), draw, drawn(), set_predicate(0), draw),
    )
    actions = capture.actions
    assert [(one.condition is not None, predicate_of(one)) for one in actions] == [
        (True, False),
        (True, None),
        (True, None),
        (False, None),
    ]
    assert {one.primitive for one in actions} == {"TRILIST"}
    assert capture.model.run.walk is not None
    assert capture.model.run.walk.streamer.general_register(0) is None
    assert not capture.problems


@pytest.mark.parametrize(
    ("device", "result", "draws"), [(0x56A0, 1, 1), (0x56A0, 0, 2), (0x1912, 1, 2)]
)
def test_jumps_with_the_predicate(device: int, result: int, draws: int) -> None:
    """Followed from gen12.5 on, where the predicate is known: over one draw."""
    draw = frames.draw(3)
    start = frames.words(0x18808101, 0, 0)
    before = load(RESULT, result) + set_predicate(3)
    target = BATCH + len(before + start + set_predicate(0) + draw)
    jump = frames.words(0x18808101, *frames.split(target))
    batch = before + jump + set_predicate(0) + draw + set_predicate(0) + draw + aub_files.END
    capture = open_intel(aub_files.file({BATCH: batch}, BATCH, device))
    assert len(capture.actions) == draws
