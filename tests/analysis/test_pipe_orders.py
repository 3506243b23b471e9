# SPDX-License-Identifier: MIT
"""Waits of both pipes, against a model that runs every order of short programs."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cffpy.analysis import pipe_orders
from cffpy.analysis.pipe_orders import (
    Barrier,
    CountWait,
    Increment,
    PipeOrders,
    SetOffset,
    Step,
    Store,
    ValueWait,
)
from cffpy.frame.execution import PipeWait, SinglePipe

Kind = Literal["store", "wait", "increment", "count", "meet"]

EQUAL, NOT_EQUAL, AT_LEAST = 3, 4, 5
TESTS = {EQUAL: operator.eq, NOT_EQUAL: operator.ne, AT_LEAST: operator.ge}
PIPES: tuple[SinglePipe, SinglePipe] = ("BR", "BV")
KINDS: tuple[Kind, Kind] = ("store", "wait")


@dataclass(frozen=True)
class Do:
    """What a pipe does: store ``value`` (None: the GPU knows it) in a cell, or wait for it."""

    pipe: int
    kind: Kind
    cell: int = 0
    value: int | None = 1
    function: int = EQUAL
    is_sure: bool = True

    @property
    def waits(self) -> bool:
        return self.kind in ("wait", "count", "meet")


Program = tuple[Do, ...]


# -- the model -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Now:
    """How far the pipes are; of each cell, its value and what wrote it; the counts."""

    at: tuple[int, int]
    cells: tuple[tuple[int, int | None], ...]
    counts: tuple[int, int]


class Orders:
    """All orders of a program of which all is known: ``offset`` is how far BV may be ahead."""

    def __init__(self, program: Program, offset: int = 1) -> None:
        self.steps = [[n for n, one in enumerate(program) if one.pipe == p] for p in (0, 1)]
        self.program = program
        self.offset = offset
        #: Wait -> what has written the value that it saw; None: nothing in the program.
        self.passed: dict[int, set[int | None]] = {}
        #: The waits of each state from which neither pipe can go on.
        self.hangs: set[frozenset[int]] = set()
        self.run()

    def run(self) -> None:
        first = Now((0, 0), ((0, None),) * 3, (0, 0))
        known, left = {first}, [first]
        while left:
            now = left.pop()
            following = [new for pipe in (0, 1) if (new := self.step(now, pipe)) is not None]
            left += set(following) - known
            known.update(following)
            if not following:
                heads = (self.head(now, pipe) for pipe in (0, 1))
                self.hangs.add(frozenset(head for head in heads if head is not None))
        self.hangs.discard(frozenset())

    def head(self, now: Now, pipe: int) -> int | None:
        steps, at = self.steps[pipe], now.at[pipe]
        return steps[at] if at < len(steps) else None

    def step(self, now: Now, pipe: int) -> Now | None:
        number = self.head(now, pipe)
        if number is None:
            return None
        one = self.program[number]
        cells, counts = [*now.cells], [*now.counts]
        if one.kind == "store":
            assert one.value is not None
            cells[one.cell] = one.value, number
        elif one.kind == "increment":
            counts[pipe] += 1
        elif not self.holds(now, pipe, one, number):
            return None
        at = (now.at[0] + (pipe == 0), now.at[1] + (pipe == 1))
        return Now(at, tuple(cells), (counts[0], counts[1]))

    def holds(self, now: Now, pipe: int, one: Do, number: int) -> bool:
        other, by = 1 - pipe, None
        if one.kind == "wait":
            value, by = now.cells[one.cell]
            is_held = bool(TESTS[one.function](value, one.value))
        elif one.kind == "count":
            ahead = self.offset if pipe else 0
            is_held = now.counts[other] > now.counts[pipe] - ahead
        else:
            mine = [n for n in self.steps[pipe] if self.program[n].kind == "meet"]
            theirs = [n for n in self.steps[other] if self.program[n].kind == "meet"]
            there = self.steps[other].index(theirs[mine.index(number)])
            is_held = now.at[other] >= there
        if is_held:
            self.passed.setdefault(number, set()).add(by)
        return is_held


def resolved(program: Program) -> Iterator[tuple[Program, list[int]]]:
    """Each way in which the GPU may decide what is open; and where each step was in it."""
    choices: list[list[Do | None]] = []
    for one in program:
        values = [one.value] if one.value is not None else [0, 1, 2, 3]
        executed: list[Do | None] = [
            Do(one.pipe, one.kind, one.cell, value, one.function) for value in values
        ]
        choices.append(executed if one.is_sure else [*executed, None])
    for chosen in product(*choices):
        numbers = [number for number, one in enumerate(chosen) if one is not None]
        yield tuple(one for one in chosen if one is not None), numbers


# -- what is tested --------------------------------------------------------------------------------


def followed(program: Program, offset: int = 1) -> tuple[dict[int, PipeWait], bool]:
    """The waits by their positions, and whether all orders were followed."""
    steps: list[Step] = []
    waits: dict[int, PipeWait] = {}
    meetings = [0, 0]
    start: Any = SimpleNamespace(gpuaddr=0)
    steps.append(SetOffset("BV", start, True, offset))
    for number, one in enumerate(program):
        place: Any = SimpleNamespace(gpuaddr=number)
        head = PIPES[one.pipe], place, one.is_sure
        cell = (True, one.cell)
        if one.kind == "store":
            steps.append(Store(*head, {cell: (one.value, False)}))
            continue
        if one.kind == "increment":
            steps.append(Increment(*head, PIPES[one.pipe]))
            continue
        wait = waits[number] = PipeWait(PIPES[one.pipe], "on-chip", "", place, None)
        if one.kind == "wait":
            how = one.function, 0, one.value, 0xFFFFFFFF
            steps.append(ValueWait(*head, wait, cell, how))
        elif one.kind == "count":
            steps.append(CountWait(*head, wait))
        else:
            steps.append(Barrier(*head, wait, meetings[one.pipe]))
            meetings[one.pipe] += 1
    return waits, PipeOrders().follow(steps, is_open=False)


def signal_of(wait: PipeWait) -> int | None:
    return None if wait.signal is None else wait.signal.place.gpuaddr


@st.composite
def programs(draw: st.DrawFn, is_open: bool = False) -> Program:
    number = st.integers(0, 2)
    pipes, sure = st.integers(0, 1), st.booleans() if is_open else st.just(True)
    values = st.one_of(number, st.none()) if is_open else number
    store = st.builds(Do, pipes, st.just("store"), number, values, is_sure=sure)
    functions = st.sampled_from(sorted(TESTS))
    wait = st.builds(Do, pipes, st.just("wait"), number, values, functions, sure)
    other = st.builds(Do, pipes, st.sampled_from(["increment", "count"]))
    kinds = [store, wait] if is_open else [store, store, wait, wait, other]
    most = 7 if is_open else 12
    steps = draw(st.lists(st.one_of(kinds), max_size=most))
    if not is_open and draw(st.booleans()):
        at = draw(st.integers(0, len(steps)))
        steps[at:at] = [Do(0, "meet"), Do(1, "meet")]
    return tuple(steps)


#: It holds if the GPU executes the first step, and in this order only.
MAYBE = (Do(0, "store", 0, 1, is_sure=False), Do(0, "store", 0, 2), Do(1, "wait", 0, 1))
RACE = (Do(0, "store", 0, 1), Do(0, "store", 0, 2), Do(1, "wait", 0, 1))
CONSUMED = (
    *(Do(0, "store", 0, 1), Do(1, "wait", 0, 1), Do(1, "store", 0, 0), Do(1, "wait", 0, 0)),
    *(Do(0, "store", 0, 1), Do(1, "wait", 0, 1)),
)


@settings(max_examples=400, deadline=None)
@example(RACE)
@example(CONSUMED)
@given(programs())
def test_verdicts_are_those_of_all_orders(program: Program) -> None:
    """Nothing is open: what is said of each wait, and of the program, is exact."""
    model = Orders(program)
    waits, is_complete = followed(program)
    assert is_complete
    states = {number: wait.state for number, wait in waits.items()}
    hanging = {number for heads in model.hangs for number in heads}
    charged = {number for number, state in states.items() if state in ("never", "race")}
    assert bool(charged) == bool(model.hangs)
    assert all(heads & charged for heads in model.hangs)
    is_passed_over = "never" in states.values()
    for number, wait in waits.items():
        passed = model.passed.get(number, set())
        if wait.state == "never":
            assert not passed
        elif wait.state == "race":
            assert is_passed_over or (passed and number in hanging)
        elif not is_passed_over:
            assert passed
            if program[number].kind == "wait":
                assert signal_of(wait) in passed
                assert (wait.state == "held before") == (wait.signal is None)


@settings(max_examples=300, deadline=None)
@example(MAYBE)
@given(programs(is_open=True))
def test_what_the_gpu_decides_makes_no_verdict_wrong(program: Program) -> None:
    """ "never": whatever the GPU decides. "race": both an order that holds and one that hangs."""
    waits, is_complete = followed(program)
    assert is_complete
    never = {number for number, wait in waits.items() if wait.state == "never"}
    races = {number for number, wait in waits.items() if wait.state == "race"}
    if not never and not races:
        return
    for chosen, numbers in resolved(program):
        model = Orders(chosen)
        passed = {numbers[number] for number in model.passed}
        hanging = {numbers[number] for heads in model.hangs for number in heads}
        assert not never & passed
        assert model.hangs
        if not never:
            assert races <= passed
            assert races <= hanging


def test_a_race_has_its_signal_and_what_writes_over_it() -> None:
    (wait,) = followed(RACE)[0].values()
    assert (wait.state, signal_of(wait)) == ("race", 0)
    assert wait.overwritten is not None
    assert wait.overwritten.place.gpuaddr == 1


def test_an_order_that_needs_luck_proves_no_race() -> None:
    (wait,) = followed(MAYBE)[0].values()
    assert (wait.state, wait.overwritten) == ("unknown", None)


def test_a_hang_is_charged_to_the_wait_without_a_signal() -> None:
    """BR waits for what nobody stores, and BV for what BR stores behind that."""
    parts = [Do(1, "wait", 1, 1), Do(0, "wait", 0, 1), Do(0, "store", 1, 1)]
    states = {number: wait.state for number, wait in followed(tuple(parts))[0].items()}
    assert states == {1: "never", 0: "signalled"}


def test_orders_beyond_the_limit_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is called a race or never signalled, and waits keep a signal that they have."""
    free = [Do(pipe, "store", cell, 1) for _ in range(12) for pipe in (0, 1) for cell in (0, 1)]
    parts = (*free, Do(0, "store", 2, 1), Do(1, "wait", 2, 1), Do(1, "wait", 2, 2))
    reads = tuple(Do(pipe, "wait", cell, 1) for pipe in (0, 1) for cell in (0, 1))
    assert followed((*parts, *reads))[1]
    monkeypatch.setattr(pipe_orders, "_STATES", 10)
    monkeypatch.setattr(pipe_orders, "_STATES_OF_STEP", 1)
    waits, is_complete = followed((*parts, *reads))
    assert not is_complete
    assert [wait.state for wait in waits.values()] == [
        *("signalled", "unknown"),
        *["signalled"] * 4,
    ]


def test_pipes_that_never_meet_take_little_time() -> None:
    """Each of them reads and writes cells of its own: one order is enough."""
    free = [Do(pipe, kind, pipe, 1) for _ in range(2000) for pipe in (0, 1) for kind in KINDS]
    assert followed(tuple(free))[1]
