# SPDX-License-Identifier: MIT
"""The pipes BR and BV of a7xx: who executes what, and whose registers it sees."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.queries import find_passes
from cffpy.analysis.register_store.history import State
from cffpy.analysis.walk import Walk
from cffpy.container.open import open_bytes, open_capture
from cffpy.cp.state import Overlay
from cffpy.frame.action import Action
from tests.analysis.passes.streams import Streams
from tests.analysis.register_store.replay import recorded, replayed, texts

BR, BV, BOTH, DISABLE = 1, 2, 3, 1 << 27
#: A predicate that only the GPU knows: a bit of a register that nobody writes.
NAME = "RB_DEPTH_BUFFER_PITCH"


def states(s: Streams, *parts: Sequence[int], replays: bool = True) -> list[State]:
    """The states at all actions that are executed."""
    content = open_bytes(s.capture([list(parts)]))
    found = recorded(content, replays)
    expected = replayed(content)
    assert {one.order: texts(found.state(one)) for one in found.executed} == expected
    return found.states()


def thread(s: Streams, pipe: int) -> list[int]:
    return s.packet("CP_THREAD_CONTROL", pipe)


def pipes_of(found: Sequence[State]) -> list[str | None]:
    return [one.action.pipe for one in found]


def test_every_action_has_the_pipe_that_executes_it() -> None:
    s = Streams(740)
    parts = [s.draw()]
    for pipe in (BR, BV, BOTH, BV | DISABLE, BOTH | DISABLE):
        parts += [thread(s, pipe), s.draw(), s.event("BLIT"), s.packet("CP_BLIT", 0)]
    found = pipes_of(states(s, *parts))
    assert found[0] is None
    assert found[1:] == ["BR"] * 3 + ["BV"] * 3 + ["both"] * 3 + ["BR"] * 6


@pytest.mark.parametrize("gpu", [630, 530])
def test_older_gpus_have_one_pipe(gpu: int) -> None:
    s = Streams(gpu)
    assert pipes_of(states(s, s.draw())) == [None]


def test_a_thread_that_the_gpu_chooses_is_unknown_up_to_the_next() -> None:
    s = Streams(740)
    chosen = s.when(3, thread(s, BV))
    parts = [thread(s, BR), chosen, s.draw(), thread(s, BV), s.draw(), s.when(3, thread(s, BV))]
    assert pipes_of(states(s, *parts, s.draw())) == ["unknown", "BV", "BV"]


def test_commands_for_one_thread_are_that_pipes() -> None:
    s = Streams(740)
    write = s.raw(NAME, 5)
    head = s.packet("CP_COND_REG_EXEC", 5 << 28 | 2 << 25, len(write) + len(s.draw()))
    parts = [thread(s, BOTH), head, write, s.draw(), s.draw(), thread(s, BV), s.draw()]
    found = states(s, *parts)
    assert [one.action.execution.value for one in found] == [True] * 3
    assert pipes_of(found) == ["BR", "both", "BV"]
    offset = s.offset(NAME)
    assert [one.registers.get(offset) for one in found] == [5, 5, None]
    assert found[0].writes[offset].pipe == "BR"


@pytest.mark.parametrize("replays", [True, False])
def test_each_pipe_has_registers_of_its_own(replays: bool) -> None:
    s = Streams(740)

    def write(value: int) -> list[int]:
        return s.raw(NAME, value)

    parts = [
        *(thread(s, BOTH), write(1), s.draw()),
        *(thread(s, BV), s.draw(), write(2), s.draw()),
        *(thread(s, BR), s.draw(), write(3), s.draw()),
        *(thread(s, BV), s.draw()),
        *(thread(s, BOTH), write(3), s.draw()),  # what BR has, too
        *(thread(s, BV), s.draw(), thread(s, BR), s.draw()),
        *(thread(s, BV | DISABLE), write(4), s.draw(), thread(s, BV), s.draw()),
    ]
    found = states(s, *parts, replays=replays)
    offset = s.offset(NAME)
    assert [(one.action.pipe, one.registers[offset]) for one in found] == [
        ("both", 1),
        *(("BV", 1), ("BV", 2)),
        *(("BR", 1), ("BR", 3)),
        ("BV", 2),
        ("both", 3),
        *(("BV", 3), ("BR", 3)),
        *(("BR", 4), ("BV", 3)),
    ]
    pipes = [one.writes[offset].pipe for one in found]
    assert pipes == ["both", "both", "BV", "both", "BR", "BV", *["both"] * 3, "BR", "both"]


def test_draw_state_groups_and_render_modes_are_the_pipes_own() -> None:
    s = Streams(740)
    off = s.packet("CP_SET_DRAW_STATE", 1 << 18, 0, 0)
    parts = [
        *(thread(s, BOTH), s.marker("RM6_DIRECT_RENDER")),
        *(thread(s, BV), s.marker("RM6_BIN_VISIBILITY")),
        *(s.group(1, s.raw(NAME, 1), mask=1), s.group(2, s.raw("RB_DEPTH_BUFFER_BASE", 2), mask=4)),
        *(thread(s, BR), s.draw()),  # has none of them
        *(s.group(3, s.raw(NAME, 3), mask=4), s.draw()),
        *(s.only("sysmem", commands=s.draw()), s.only("binning", commands=s.draw())),
        *(thread(s, BV), s.draw(), s.only("binning", commands=s.draw())),
        *(thread(s, BOTH), off, thread(s, BV), s.draw()),
    ]
    found = states(s, *parts)
    mine = s.offset(NAME)
    assert [(one.action.pipe, one.registers.get(mine)) for one in found] == [
        *(("BR", None), ("BR", 3), ("BR", 3)),
        *(("BV", 1), ("BV", 1), ("BV", 1)),
    ]
    assert all(s.offset("RB_DEPTH_BUFFER_BASE") not in one.registers for one in found)


@pytest.mark.parametrize(
    ("flags", "loaded"),
    [(1 << 17, [None, None]), (1 << 18, [None, None]), (None, [None, 1])],
)
def test_a_group_that_bv_alone_has_is_disabled_for_both(
    flags: int | None, loaded: list[int | None]
) -> None:
    """By its own id (DISABLE), with all others, or not at all."""
    s = Streams(740)
    off = [] if flags is None else s.packet("CP_SET_DRAW_STATE", flags | 1 << 24, 0, 0)
    parts = [
        *(
            thread(s, BOTH),
            s.marker("RM6_DIRECT_RENDER"),
            thread(s, BV),
            s.group(1, s.raw(NAME, 1)),
        ),
        *(thread(s, BOTH), off, thread(s, BR), s.draw(), thread(s, BV), s.draw()),
    ]
    found = states(s, *parts)
    assert [one.action.pipe for one in found] == ["BR", "BV"]
    assert [one.registers.get(s.offset(NAME)) for one in found] == loaded


OTHER = "RB_DEPTH_BUFFER_BASE"


@pytest.mark.parametrize("replays", [True, False])
def test_each_pipe_loads_its_own_groups_at_a_draw_of_both(replays: bool) -> None:
    """Groups that one pipe alone has, other groups of the same number, and those of both."""
    s = Streams(740)
    first, second = s.offset(NAME), s.offset(OTHER)
    begin = [thread(s, BOTH), s.marker("RM6_DIRECT_RENDER"), s.draw()]
    both = [thread(s, BOTH), s.draw(), thread(s, BR), s.draw(), thread(s, BV), s.draw()]

    def seen(*parts: list[int]) -> list[tuple[str | None, int | None, int | None]]:
        found = states(s, *begin, *parts, *both, replays=replays)
        return [
            (one.action.pipe, one.registers.get(first), one.registers.get(second))
            for one in found[1:]
        ]

    of_bv = [thread(s, BV), s.group(1, s.raw(NAME, 1))]
    of_br = [thread(s, BR), s.group(1, s.raw(NAME, 2))]
    of_both = [thread(s, BOTH), s.group(2, s.raw(OTHER, 3))]
    assert seen(*of_bv) == [("both", None, None), ("BR", None, None), ("BV", 1, None)]
    assert seen(*of_br) == [("both", 2, None), ("BR", 2, None), ("BV", None, None)]
    assert seen(*of_br, *of_bv) == [("both", 2, None), ("BR", 2, None), ("BV", 1, None)]
    assert seen(*of_bv, *of_both) == [("both", None, 3), ("BR", None, 3), ("BV", 1, 3)]
    over = [thread(s, BOTH), s.group(1, s.raw(NAME, 4))]
    assert seen(*of_bv, *over) == [("both", 4, None), ("BR", 4, None), ("BV", 4, None)]


@pytest.mark.parametrize("replays", [True, False])
def test_each_pipe_loads_the_groups_of_its_own_render_mode(replays: bool) -> None:
    s = Streams(740)
    mine, other = s.offset(NAME), s.offset(OTHER)
    begin = [
        *(thread(s, BR), s.marker("RM6_DIRECT_RENDER")),
        *(thread(s, BV), s.marker("RM6_BIN_VISIBILITY"), thread(s, BOTH)),
    ]
    end = [thread(s, BV), s.draw()]

    def seen(*parts: list[int]) -> list[tuple[int | None, int | None]]:
        found = states(s, *begin, *parts, s.draw(), *end, replays=replays)
        return [(one.registers.get(mine), one.registers.get(other)) for one in found]

    groups = [s.group(1, s.raw(NAME, 1), mask=1), s.group(2, s.raw(OTHER, 2), mask=4)]
    assert seen(*groups) == [(None, 2), (1, None)]
    at_once = [s.group(1, s.raw(NAME, 1), mask=1, flags=8), s.group(2, s.raw(OTHER, 2), mask=4)]
    assert seen(*at_once) == [(None, 2), (1, None)]
    assert seen(*at_once[:1], s.raw(NAME, 9)) == [(9, None), (9, None)]  # it is loaded once
    assert seen(s.marker("RM6_DIRECT_RENDER"), *groups) == [(None, 2), (None, 2)]
    # markers that choose no groups leave each pipe its own
    assert seen(s.marker("RM6_BLIT2DSCALE"), *groups) == [(None, 2), (1, None)]
    kept = s.packet("CP_SET_MARKER", 1 << 8 | 1)  # of another kind than a render mode
    assert seen(kept, *groups) == [(None, 2), (1, None)]


def test_commands_for_one_render_mode_are_those_of_the_pipe_that_is_in_it() -> None:
    s = Streams(740)
    parts = [
        *(thread(s, BR), s.marker("RM6_DIRECT_RENDER")),
        *(thread(s, BV), s.marker("RM6_BIN_VISIBILITY"), thread(s, BOTH)),
        *(s.only("binning", commands=s.draw()), s.only("sysmem", commands=s.draw())),
        *(s.only("gmem", commands=s.draw()), s.only("sysmem", "binning", commands=s.draw())),
    ]
    assert pipes_of(states(s, *parts)) == ["BV", "BR", "both"]


def test_a_draw_of_both_that_is_not_executed_loads_nothing() -> None:
    s = Streams(740)
    parts = [
        *(thread(s, BOTH), s.marker("RM6_DIRECT_RENDER"), thread(s, BV)),
        *(s.group(1, s.raw(NAME, 1)), thread(s, BOTH), s.only("binning", commands=s.draw())),
        *(thread(s, BV), s.draw()),
    ]
    (found,) = states(s, *parts)
    assert found.registers.get(s.offset(NAME)) == 1


def test_a_walk_that_ends_within_commands_of_one_pipe() -> None:
    """Cut commands, and another GPU in the same file: no error, and the registers are BR's."""
    s = Streams(740)
    head = s.packet("CP_COND_REG_EXEC", 5 << 28 | 1 << 25, 100)
    parts = [thread(s, BR), s.raw(NAME, 7), thread(s, BOTH), head, s.raw(NAME, 8), s.draw()]
    assert pipes_of(states(s, *parts)) == ["BV"]


@pytest.mark.parametrize("last", [BR, BV])
def test_bv_begins_anew_with_another_gpu(last: int) -> None:
    """The first GPU of a file is not known, the second one is: BV begins with what BR has."""
    s = Streams(740)
    first = [thread(s, BR), s.raw(NAME, 1), thread(s, BV), s.raw(NAME, 2), s.draw()]
    second = [s.draw(), thread(s, BV), s.draw(), s.raw(OTHER, 3), thread(s, BR), s.draw()]
    other = s.capture([[*first, thread(s, last)]])
    assert other.count(struct.pack("<I", 740)) == 1
    other = other.replace(struct.pack("<I", 740), struct.pack("<I", 799))
    content = open_bytes(other + s.capture([second]))
    found, expected = recorded(content), replayed(content)
    assert {one.order: texts(found.state(one)) for one in found.executed} == expected
    values = [(one.pipe, found.state(one).registers[s.offset(NAME)]) for one in found.executed]
    assert values == [("BV", 2), (None, 1), ("BV", 1), ("BR", 1)]


def test_switches_cost_no_copies() -> None:
    """Many registers, many switches: each takes the same time."""
    s = Streams(740)
    registers = s.raw("RB_DEPTH_BUFFER_PITCH", *[1] * 100)
    parts = [thread(s, BR), registers]
    walk = Walk()
    finder = PassFinder(walk)
    walk.observe(finder)
    switches = [*thread(s, BV), *thread(s, BOTH), *thread(s, BR)] * 2000
    walk.run(open_bytes(s.capture([[*parts, switches, s.draw()]])), lambda text: None)
    assert [action.pipe for action in finder.actions] == ["BR"]
    assert type(walk.machine.state.registers) is dict


def test_the_history_of_draws_has_the_registers_of_br(tmp_path: Path) -> None:
    s = Streams(740)
    content = s.capture(
        [
            [
                *(s.marker("RM6_DIRECT_RENDER"), thread(s, BR), s.raw(NAME, 1)),
                *(thread(s, BV), s.raw(NAME, 2), thread(s, BR), s.draw(), s.draw()),
                s.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0),
            ]
        ]
    )
    path = tmp_path / "one.rd"
    path.write_bytes(content)
    with cffpy.open(path) as capture:
        draws = list(capture.draws)
        assert [draw.state[NAME].value for draw in draws] == [1, 1]


def test_an_overlay_is_copied_whole() -> None:
    below = {1: 1, 2: 2, 3: 3}
    one = Overlay(below)
    one.update({2: 20, 4: 40})
    one.pop(3)
    one.pop(1)
    one[1] = 10
    assert dict(one) == {2: 20, 4: 40, 1: 10}
    other = {1: 0, 3: 0, 9: 9}
    one.apply_to(below, other)
    assert below == {2: 20, 4: 40, 1: 10}
    assert other == {**below, 9: 9}


def pipes_in(path: Path) -> dict[tuple[str, bool], set[str | None]]:
    """By kind of run: the pipes of the program's draws in it."""
    found: dict[tuple[str, bool], set[str | None]] = {}
    finder, _ = find_passes(open_capture(str(path)), lambda text: None)
    for one in finder.found.passes:
        for run in one.runs:
            key = str(one.concurrent), run is one.binning
            draws: list[Action] = [draw for draw in run.draws if draw.number is not None]
            if one.kind == "render":
                found.setdefault(key, set()).update(draw.pipe for draw in draws)
    return found


@pytest.mark.slow
def test_binning_draws_of_real_captures(shared: Path) -> None:
    folder = shared / "m26/captures"
    assert pipes_in(folder / "m26-a740-vk-scene100-cb.rd.gz") == {
        ("yes", True): {"BV"},
        ("yes", False): {"BR"},
    }
    auto = pipes_in(folder / "m26-a750-vk-frame-auto.rd.gz")
    assert auto["decided by the GPU", True] == {"unknown"}
    assert auto["decided by the GPU", False] == {"BR"}
    assert {pipe for pipes in auto.values() for pipe in pipes} == {"BR", "unknown"}
