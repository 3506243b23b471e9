# SPDX-License-Identifier: MIT
"""Registers that are stored at once: the packets found afterwards are those seen one by one."""

from __future__ import annotations

import contextlib
import gzip
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cffpy.analysis import register_history, write_log
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.provenance import Provenance, State, StateTaker, StoredWrites, Write
from cffpy.analysis.register_history import RegisterHistory, most_changes
from cffpy.analysis.register_writes import RegisterWrites
from cffpy.analysis.walk import Walk
from cffpy.analysis.write_log import WriteLog
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.cp.runner import Runner
from cffpy.errors import CffpyError
from tests.builders import damaged

if TYPE_CHECKING:
    from collections.abc import Iterable

SHARED = (
    "a220-gl-passes",
    "a430-gl-cube-gmem",
    "a618-vk-depth-lrz-gmem",
    "a660-vk-events-cond-gmem",
    "fd-clouds",
    "pair-a740-scene-bad-blend",
    "shadow",
)

#: Draws of a capture whose states are compared, about: each state has 1,000 registers.
DRAWS = 150


def write_text(write: Write) -> tuple[object, ...]:
    """Where a register was written, and under which condition."""
    patch = None if write.patched_by is None else write.patched_by.key
    place = write.place
    return place.key, str(place), write.pass_index, write.executed, write.condition, patch


def states(content: Content, at_once: bool) -> tuple[Walk, dict[int, Any]]:
    """The states at some actions, with the writes as text."""
    found: dict[int, Any] = {}
    step = max(1, len(content.data) // 4000 // DRAWS)

    def take(state: State) -> None:
        writes = {register: write_text(write) for register, write in state.writes.items()}
        found[state.action.order] = state.registers, writes

    walk = Walk(whole_groups=at_once, replays_streams=at_once)
    passes = PassFinder(walk)
    provenance = Provenance(walk, passes)
    taker = StateTaker(walk, provenance, lambda action: action.order % step == 0, take)
    walk.observe(passes, provenance, taker)
    with contextlib.suppress(CffpyError):
        walk.run(content, lambda line: None)
    return walk, found


def logged(walk: Walk, content: Content) -> tuple[PassFinder, WriteLog, RegisterHistory]:
    """What is to observe a walk over a capture: a log of writes, and the history made of it."""
    passes = PassFinder(walk)
    log = WriteLog(walk, passes)
    found = RegisterHistory(walk, passes, log, most_changes(len(content.data)))
    walk.observe(passes, log, found)
    return passes, log, found


def history(content: Content, at_once: bool) -> tuple[Walk, list[Any]]:
    """What the register history says about each draw of the program."""
    walk = Walk(whole_groups=at_once, replays_streams=at_once)
    _, _, found = logged(walk, content)
    with contextlib.suppress(CffpyError):
        walk.run(content, lambda line: None)
    rows = []
    numbered, numbers = RegisterWrites(), {}
    for one in found.written():
        numbered.add(one)
    for register in sorted(found.all_registers()):
        orders, values = found.changes(register)
        writes = [found.write(register, order) for order in orders]
        texts = [None if write is None else write_text(write) for write in writes]
        rows.append((register, list(orders), list(values), texts))
        for write, text, number, order in zip(
            writes, texts, numbered.of(register), orders, strict=True
        ):
            place, shared = numbered.write(number)
            about = Write(place, None, shared.executed, shared.condition, shared.patched_by)
            expected = None if text is None else (*text[:2], None, *text[3:])
            assert write_text(about) == expected
            assert text is None or shared.pass_index == text[2]
            assert (
                numbers.setdefault(id(write), number)
                == number
                == numbered.at(register, order, found)
            )
    assert len(set(numbers.values())) == len(numbers) == len(numbered)  # a number for each packet
    return walk, rows


def same(content: Content) -> bool:
    walk, expected = states(content, False)
    assert type(walk.machine) is Runner
    return (
        states(content, True)[1] == expected
        and history(content, True)[1] == history(content, False)[1]
    )


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
    walk, _ = history(open_capture(str(path)), True)
    assert walk.machine.decoded.known > 4 * walk.machine.decoded.read > 0
    assert walk.machine.register_runs.known > 0


def entries_joined(content: Content, monkeypatch: pytest.MonkeyPatch) -> int:
    """A log that is joined again and again has the same changes; how many entries fewer."""
    count = 0
    join = WriteLog.join_between

    def counting(self: WriteLog, ends: Iterable[int], most: int) -> list[int]:
        nonlocal count
        before = len(self.values)
        found = join(self, ends, most)
        count += before - len(self.values)
        return found

    expected = history(content, True)[1]
    with monkeypatch.context() as patch:
        patch.setattr(register_history, "_UNJOINED", 1)
        patch.setattr(register_history, "_MAX_APART", 1)
        patch.setattr(write_log, "_MAX_UNSETTLED", 1)
        patch.setattr(WriteLog, "join_between", counting)
        assert history(content, True)[1] == expected
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


def test_runs_of_a_pass_are_dropped(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log does not grow with tiles: of those that ended, one with the most draws is kept."""
    content = open_capture(str(samples / "a660-frame-gmem.rd"))
    kept: list[int] = []
    candidates = RegisterHistory._candidates

    def counting(self: RegisterHistory) -> list[int]:
        found = candidates(self)
        kept.append(len(found))
        return found

    monkeypatch.setattr(register_history, "_UNJOINED", -(1 << 20))
    monkeypatch.setattr(write_log, "_MAX_UNSETTLED", -1)
    monkeypatch.setattr(register_history, "_MAX_APART", 1)
    monkeypatch.setattr(RegisterHistory, "_candidates", counting)
    walk, _ = history(content, True)
    found = PassFinder(walk)
    walk.observe(found)
    walk.run(content, lambda line: None)
    passes = found.found.passes
    draws = sum(len(one.draws) for one in passes)
    runs = [run for one in passes for run in one.runs]
    assert max(kept) <= draws + max(len(run.draws) for run in runs) < len(found.actions)


def test_what_finds_writes_is_made_on_request(samples: Path) -> None:
    """A counter: a walk makes no ``StoredWrites``, a question one."""
    content = open_capture(str(samples / "a660-frame-gmem.rd"))
    walk = Walk()
    passes, log, found = logged(walk, content)
    walk.run(content, lambda line: None)
    assert len(log.values) > 30
    assert not stored_writes(log)
    order = passes.found.passes[-1].draws[-1].order
    register = walk.registers.offset("RB_DEPTH_CNTL")
    write = found.write(register, order)
    assert write is not None
    assert write is found.write(register, order)
    assert len(stored_writes(log)) == 1


def stored_writes(log: WriteLog) -> list[StoredWrites]:
    """Those that were made and are kept."""
    sources = [getattr(one, "source", None) for one in log._entries]
    return [one for one in sources if isinstance(one, StoredWrites)]
