# SPDX-License-Identifier: MIT
"""A recording of one walk is that of two: one that finds the draws, one that takes them."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from cffpy.analysis.diff import recording as module
from cffpy.analysis.diff.align import DrawKeys
from cffpy.analysis.diff.recording import Recording
from cffpy.analysis.inputs import (
    descriptor_sets,
    draw_parameters,
    recorder,
    register_functions,
    vertex_buffers,
)
from cffpy.analysis.inputs import recording as inputs_module
from cffpy.analysis.inputs.facts import Contents
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.cp.replaying import ReplayingRunner
from cffpy.errors import CffpyError
from tests.analysis.passes.marked import targets, tile
from tests.analysis.passes.streams import Streams
from tests.builders import damaged
from tests.selection import first_always

SHARED = (
    "a220-gl-passes",
    "a320-gl-tri",
    "a430-gl-cube-gmem",
    "a618-vk-depth-lrz-gmem",
    "a660-vk-events-cond-gmem",
    "fd-clouds",
    "pair-a740-scene-bad-blend",
    "pair2-a660-ops-good",
    "shadow",
)


def outcome(content: Content) -> list[Any] | str:
    """A recording as plain values."""
    try:
        found = module.record(content, lambda line: None)
    except CffpyError as problem:
        return str(problem)
    rows: list[Any] = [row_of(found, order) for order in sorted(found.records)]
    end = found.last_events, found.buffers, list(map(str, found.damage)), found.passes.problems
    shaders = {shader for record in found.records.values() for shader in record.shaders}
    return [*rows, *end, {key: found.listings[key] for key in shaders & found.listings.keys()}]


def row_of(found: Recording, order: int) -> tuple[object, ...]:
    record = found.records[order]
    assert found.database is not None
    state = found.store.state(record.action, found.database)
    writes = {register: str(write.place) for register, write in state.writes.items()}
    facts = {
        key: (fact.digest, fact.data and bytes(fact.data), fact.address, str(fact.place))
        for part in record.facts
        for key, fact in part.items()
    }
    sets = {number: base for number, (_, base) in record.sets.items()}
    action = record.action
    return (
        (order, action.place.key, action.pass_index, action.number),
        (state.registers, writes, facts, sets, found.events.get(order, ())),
        (record.shaders, record.prefetched, record.own),
    )


@pytest.fixture
def two_walks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that records in two walks."""

    def outcome_of_two(content: Content) -> list[Any] | str:
        with monkeypatch.context() as patch:
            patch.setattr(inputs_module, "_TAKEN_PER_DRAW", 0)
            return outcome(content)

    return outcome_of_two


@pytest.mark.slow
def test_samples(samples: Path, two_walks: Any) -> None:
    paths = sorted(samples.glob("*.rd.gz"))
    assert paths
    for path in paths:
        assert outcome(open_capture(str(path))) == two_walks(open_capture(str(path))), path


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_captures(shared: Path, two_walks: Any, name: str) -> None:
    path = str(shared / "captures" / f"{name}.rd.gz")
    assert outcome(open_capture(path)) == two_walks(open_capture(path))


@pytest.mark.parametrize("seed", first_always(range(24), 12))
def test_damaged_captures(samples: Path, two_walks: Any, seed: int) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[2-7]*.rd.gz")))
    data = damaged(gzip.decompress(path.read_bytes()), seed)
    assert outcome(open_bytes(data)) == two_walks(open_bytes(data))


@pytest.mark.slow
def test_it_is_the_same_without_what_is_kept(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = sorted(samples.glob("a[67]*.rd*"))
    assert len(paths) >= 5
    for path in paths:
        kept = outcome(open_capture(str(path)))
        with monkeypatch.context() as patch:
            patch.setattr(recorder, "_MAX_KNOWN", 0)
            patch.setattr(descriptor_sets, "_MAX_BOUND", 0)
            for one in (draw_parameters, vertex_buffers, register_functions):
                patch.setattr(one, "_MAX_KNOWN", 0)
            assert outcome(open_capture(str(path))) == kept, path


@pytest.fixture
def asking_always(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that records asking for each result at each draw, and for all memory."""

    def outcome_of_all(content: Content) -> list[Any] | str:
        now = register_functions.FollowedFunction.now

        def asked(self: register_functions.FollowedFunction[Any]) -> Any:
            self.is_stale = True
            return now(self)

        with monkeypatch.context() as patch:
            patch.setattr(register_functions.FollowedFunction, "now", asked)
            patch.setattr(vertex_buffers.BoundBuffers, "are_captured", lambda self, image: True)
            patch.setattr(recorder.InputRecorder, "_vertex_inputs", inputs)
            return outcome(content)

    def inputs(self: Any, shaders: Any, loads: Any) -> Any:
        self._vertices.is_stale = True
        return vertex_inputs(self, shaders, loads)

    vertex_inputs = recorder.InputRecorder._vertex_inputs
    return outcome_of_all


def test_results_are_those_of_registers_at_each_draw(samples: Path, asking_always: Any) -> None:
    paths = sorted(samples.glob("*.rd.gz"))
    assert paths
    for path in paths:
        content = open_capture(str(path))
        assert outcome(content) == asking_always(content), path


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHARED, "a740-vk-frame-msaa4-1080p", "a430-gl-indirect"])
def test_results_at_each_draw_of_captures(shared: Path, asking_always: Any, name: str) -> None:
    path = str(shared / "captures" / f"{name}.rd.gz")
    assert outcome(open_capture(path)) == asking_always(open_capture(path))


@pytest.mark.parametrize("seed", first_always(range(24), 12))
def test_results_at_each_draw_of_damaged_captures(
    samples: Path, asking_always: Any, seed: int
) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[2-7]*.rd.gz")))
    data = damaged(gzip.decompress(path.read_bytes()), seed)
    assert outcome(open_bytes(data)) == asking_always(open_bytes(data))


@pytest.mark.slow
def test_results_are_asked_for_where_registers_were_written(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters: functions of registers that were asked, and memory that was read."""
    followed: list[register_functions.FollowedFunction[Any]] = []
    follow, region = register_functions.RegisterFunctions.follow, Contents.region
    regions = []

    def follows(self: register_functions.RegisterFunctions, function: Any) -> Any:
        followed.append(follow(self, function))
        return followed[-1]

    def read(self: Contents, *arguments: Any, **named: Any) -> Any:
        regions.append(arguments)
        return region(self, *arguments, **named)

    monkeypatch.setattr(register_functions.RegisterFunctions, "follow", follows)
    monkeypatch.setattr(Contents, "region", read)
    path = str(shared / "captures" / "es2gears-a320.rd.gz")
    draws = len(module.record(open_capture(path), lambda line: None).records)
    names = ("first_elements", "vertex_buffers")
    computed = [(getattr(one._function, "_compute", None), one.times) for one in followed]
    times = {one.__name__: n for one, n in computed if getattr(one, "__name__", "") in names}
    assert times["first_elements"] > draws // 2, "they are written for each draw"
    assert 0 < 10 * times["vertex_buffers"] < draws
    assert 0 < 4 * len(regions) < draws, "the file does not have the data of its buffers"


@pytest.fixture
def without_skipping(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that records with all packets of all draw-state groups."""

    def outcome_of_all(content: Content) -> list[Any] | str:
        with monkeypatch.context() as patch:
            patch.setattr(recorder.InputRecorder, "skippable_packets", lambda self: ())
            return outcome(content)

    return outcome_of_all


@pytest.mark.slow
def test_loads_of_other_tiles_are_not_needed(samples: Path, without_skipping: Any) -> None:
    for path in sorted(samples.glob("a[67]*.rd*")):
        content = open_capture(str(path))
        assert outcome(content) == without_skipping(content), path


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHARED, "a740-vk-frame-msaa4-1080p", "a630-gl-indirect"])
def test_loads_of_other_tiles_of_captures(shared: Path, without_skipping: Any, name: str) -> None:
    path = str(shared / "captures" / f"{name}.rd.gz")
    assert outcome(open_capture(path)) == without_skipping(open_capture(path))


@pytest.mark.parametrize("seed", range(12))
def test_loads_of_damaged_captures(samples: Path, without_skipping: Any, seed: int) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[67]*.rd.gz")))
    data = damaged(gzip.decompress(path.read_bytes()), seed)
    assert outcome(open_bytes(data)) == without_skipping(open_bytes(data))


def test_groups_that_load_state_do_not_run(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter: registers of such groups are stored at once, too."""
    written, apart = [], []
    write, store = Walk.write, ReplayingRunner._store_apart

    def counted(self: Walk, *arguments: Any) -> Any:
        written.append(self.level)
        return write(self, *arguments)

    def stored(self: ReplayingRunner, words: Any, step: Any, level: int) -> None:
        apart.append(step)
        store(self, words, step, level)

    monkeypatch.setattr(Walk, "write", counted)
    monkeypatch.setattr(ReplayingRunner, "_store_apart", stored)
    path = str(shared / "captures" / "a640-vk-scene100-noubwc-nolrz.rd.gz")
    found = module.record(open_capture(path), lambda line: None)
    facts = [part for one in found.records.values() for part in one.facts]
    loaded = [key for part in facts for key in part if key[0] == "constants"]
    assert loaded
    assert written.count(2) < len(found.records)
    assert 2 * len(apart) > len(found.records)


@pytest.mark.parametrize("counts", [(2, 2), (3, 1), (1, 2, 3)])
def test_loads_where_tiles_have_other_draws(without_skipping: Any, counts: tuple[int, ...]) -> None:
    content = open_bytes(frame(*counts))
    assert outcome(content) == without_skipping(content)


def frame(*counts: int) -> bytes:
    """A pass whose tiles have so many draws each."""
    s = Streams(660)
    tiles = []
    for number, count in enumerate(counts):
        draws = s.ib(targets(s), *(s.draw() for _ in range(count)))
        tiles.append(tile(s, 128 * number, 0, 128 * number + 128, 96, draws))
    return s.capture([tiles])


@pytest.mark.parametrize(("counts", "walks"), [((2, 2), 1), ((3, 1), 1), ((1, 2, 3), 2)])
def test_a_second_walk_only_for_another_tile(
    monkeypatch: pytest.MonkeyPatch, two_walks: Any, counts: tuple[int, ...], walks: int
) -> None:
    again: list[object] = []
    walk_again = module.PendingRecording._walk_again

    def counted(*arguments: Any) -> Any:
        again.append(arguments)
        return walk_again(*arguments)

    monkeypatch.setattr(module.PendingRecording, "_walk_again", counted)
    found = module.record(open_bytes(frame(*counts)), lambda line: None)
    assert len(found.records) == max(counts)
    assert 1 + len(again) == walks
    assert outcome(open_bytes(frame(*counts))) == two_walks(open_bytes(frame(*counts)))


def test_groups_with_equal_contents_share_their_registers(shared: Path) -> None:
    """A counter: what draws write is kept once for all that write the same."""
    path = str(shared / "captures" / "a640-vk-scene100-noubwc-nolrz.rd.gz")
    found = module.record(open_capture(path), lambda line: None)
    changes = [values for written in DrawKeys(found).written.values() for values in written]
    assert 5 * len({id(values) for values in changes}) < 4 * len(changes)
