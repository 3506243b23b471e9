# SPDX-License-Identifier: MIT
"""Registers that are stored at once: the packets found afterwards are those seen one by one."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.synthetic import tiles_capture
from cffpy.analysis.passes.finder import find_draw
from cffpy.analysis.register_store import recorder as recording
from cffpy.analysis.register_store.draws import RegisterWrites
from cffpy.analysis.register_store.log import RegisterLog
from cffpy.analysis.register_store.queries import registers_at, state_of_draw
from cffpy.analysis.register_store.recorder import RegisterRecorder
from cffpy.analysis.register_store.writes import StoredWrites
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.cp.runner import Runner
from cffpy.frame.places import DrawName
from tests.analysis.register_store.replay import recorded, replayed, texts, write_text
from tests.builders import damaged
from tests.selection import first_always

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.register_store.history import State

SHARED = (
    "a220-gl-passes",
    "a430-gl-cube-gmem",
    "a618-vk-depth-lrz-gmem",
    "a660-vk-events-cond-gmem",
    "fd-clouds",
    "pair-a740-scene-bad-blend",
    "shadow",
)

#: Actions of a capture whose states are compared, about: each state has 1,000 registers.
ACTIONS = 150


def at_draws(content: Content, at_once: bool) -> tuple[Walk, list[Any]]:
    """What the store says about each draw of the program."""
    found = recorded(content, at_once)
    draws, rows = found.store.draws, []
    numbered, numbers = RegisterWrites(), {}
    for one in draws.written():
        numbered.add(one)
    for register in sorted(draws.all_registers()):
        orders, values = draws.changes(register)
        writes = [found.store.history(order).write(register, order) for order in orders]
        rows.append((register, [*orders], [*values], [one and write_text(one) for one in writes]))
        for write, number, order in zip(writes, numbered.of(register), orders, strict=True):
            assert write is not None
            place, shared = numbered.write(number)
            assert (place.key, str(place)) == (write.place.key, str(write.place))
            assert shared[:4] == (
                write.pass_index,
                write.condition,
                write.patched_by,
                write.computed_from,
            )
            assert numbers.setdefault(id(write), number) == number
            assert numbered.at(register, order, draws) == number
    return found.walk, rows


def same(content: Content) -> bool:
    """Whether all that is stored at once is what is written packet by packet."""
    found, expected = recorded(content), replayed(content)
    step = max(1, len(found.executed) // ACTIONS)
    for action in found.executed[::step]:
        assert texts(found.state(action)) == expected[action.order]
    assert {one.order for one in found.executed} == {*expected}
    walk, rows = at_draws(content, False)
    assert type(walk.machine) is Runner
    return at_draws(content, True)[1] == rows


def test_samples(samples: Path) -> None:
    paths = sorted(samples.glob("*.rd.gz"))
    assert paths
    for path in paths:
        assert same(open_capture(str(path))), path


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_captures(shared: Path, name: str) -> None:
    assert same(open_capture(str(shared / "captures" / f"{name}.rd.gz")))


@pytest.mark.parametrize("seed", range(24))
def test_damaged_captures(samples: Path, seed: int) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[2-7]*.rd.gz")))
    assert same(open_bytes(damaged(gzip.decompress(path.read_bytes()), seed)))


@pytest.mark.slow
def test_tiles_are_not_decoded_again(shared: Path) -> None:
    """A counter: a history leaves decoded streams and register groups enabled."""
    path = shared / "captures" / "a660-gl-scene-msaa4-1080p.rd.gz"
    walk, _ = at_draws(open_capture(str(path)), True)
    assert walk.machine.decoded.known > 4 * walk.machine.decoded.read > 0
    assert walk.machine.register_runs.known > 0


def entries_joined(content: Content, monkeypatch: pytest.MonkeyPatch) -> int:
    """A log that is joined again and again has the same changes; how many entries fewer."""
    count = 0
    join = RegisterLog.join

    def counting(
        self: RegisterLog, actions: Iterable[int], most: int, most_apart: int | None = None
    ) -> None:
        nonlocal count
        before = len(self.entries)
        join(self, actions, most, most_apart=most_apart)
        count += before - len(self.entries)

    expected = at_draws(content, True)[1]
    with monkeypatch.context() as patch:
        patch.setattr(recording, "_OWN_ENTRIES", -(1 << 20))
        patch.setattr(recording, "_MAX_APART", 1)
        patch.setattr(RegisterLog, "join", counting)
        assert at_draws(content, True)[1] == expected
    return count


def test_entries_that_are_joined(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(samples.glob("*.rd"))
    assert sum(entries_joined(open_capture(str(path)), monkeypatch) for path in paths) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_entries_of_captures_that_are_joined(
    shared: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
    assert entries_joined(content, monkeypatch)


@pytest.mark.parametrize("name", ["a660-frame-gmem", "a740-concurrent-gmem"])
def test_states_of_actions_of_a_joined_log(
    samples: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The program's draws have theirs; those of others cost a walk, which keeps one of them."""
    content = open_capture(str(samples / f"{name}.rd"))
    expected = replayed(content)
    monkeypatch.setattr(recording, "_OWN_ENTRIES", -(1 << 20))
    monkeypatch.setattr(recording, "_MAX_APART", 0)
    found = recorded(content)
    known = [action for action in found.executed if found.store.has(action.order)]
    assert known
    assert len(known) < len(found.executed)
    for action in known:
        assert texts(found.state(action)) == expected[action.order]
    database = found.walk.machine.database
    for action in found.executed:
        store = registers_at(content, action.order, pytest.fail)
        assert texts(store.state(action, database)) == expected[action.order]


def test_runs_of_a_pass_are_dropped(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A joined log does not grow with tiles: of those that ended, one keeps its draws."""
    content = open_capture(str(samples / "a660-frame-gmem.rd"))
    kept: list[int] = []
    candidates = RegisterRecorder._candidates

    def counting(self: RegisterRecorder) -> list[int]:
        found = candidates(self)
        kept.append(len(found))
        return found

    monkeypatch.setattr(recording, "_OWN_ENTRIES", -(1 << 20))
    monkeypatch.setattr(recording, "_MAX_APART", 1)
    monkeypatch.setattr(RegisterRecorder, "_candidates", counting)
    finder = recorded(content).finder
    passes = finder.found.passes
    draws = sum(len(one.draws) for one in passes)
    runs = [run for one in passes for run in one.runs]
    assert max(kept) <= draws + max(len(run.draws) for run in runs) < len(finder.actions)


def test_what_finds_writes_is_made_on_request(samples: Path) -> None:
    """A counter: a walk makes no ``StoredWrites``, a question one."""
    found = recorded(open_capture(str(samples / "a660-frame-gmem.rd")))
    log = found.store.log
    assert len(log.entries) > 30
    assert not stored_writes(log)
    order = found.finder.found.passes[-1].draws[-1].order
    register = found.walk.registers.offset("RB_DEPTH_CNTL")
    write = found.store.history(order).write(register, order)
    assert write is not None
    assert write is found.store.history(order).write(register, order)
    assert len(stored_writes(log)) == 1


def stored_writes(log: RegisterLog) -> list[StoredWrites]:
    """Those that were made and are kept."""
    sources = [getattr(one, "source", None) for one in log.entries]
    return [one for one in sources if isinstance(one, StoredWrites)]


# --- registers of few actions ---------------------------------------------------------------------


def with_commands(state: State) -> tuple[Any, ...]:
    """Values, writes, and writes of registers whose writes are commands, as text."""
    commands = {
        register: [(one.value, write_text(one.write)) for one in found]
        for register, found in state.commands.items()
    }
    return *texts(state), commands


SOME = ["a530-two-submits", "a640-vendor-frame", "a660-frame-gmem", "a740-concurrent-gmem"]


@pytest.mark.parametrize("name", first_always(SOME))
def test_the_state_of_one_action_is_that_of_a_store_of_all(
    samples: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """By its position, by its numbers in the dump and in its pass: joined all the time."""
    content = open_capture(str(samples / f"{name}.rd"))
    found = recorded(content)
    database = found.walk.machine.database
    expected = {one.order: with_commands(found.state(one)) for one in found.executed}
    monkeypatch.setattr(recording, "_FEW_ENTRIES", -(1 << 20))
    monkeypatch.setattr(recording, "_MAX_APART", 0)
    checked = 0
    for action in found.executed:
        store = registers_at(content, action.order, pytest.fail)
        assert with_commands(store.state(action, database)) == expected[action.order]
        names = [] if action.dump_draw is None else [DrawName(action.dump_draw)]
        if action.number is not None and action.pass_index is not None:
            draws = found.finder.found.passes[action.pass_index].draws
            if draws[action.number] is action:
                names.append(DrawName(action.number, action.pass_index))
        for draw in names:
            passes, store, _ = state_of_draw(content, draw, pytest.fail)
            named = find_draw(passes, draw)
            if store.has(named.order):  # else its registers cost another walk
                assert with_commands(store.state(named, database)) == expected[action.order]
                checked += 1
    assert checked


def test_registers_of_many_draws_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of a walk for one draw does not grow with the draws before it."""
    monkeypatch.setattr(recording, "_FEW_ENTRIES", 32)
    content = open_bytes(tiles_capture(64, 20))
    _, store, _ = state_of_draw(content, DrawName(1200), pytest.fail)
    assert len(store.log.entries) < 100
    assert len(recorded(content).store.log.entries) > 1280
