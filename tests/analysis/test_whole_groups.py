# SPDX-License-Identifier: MIT
"""Draw-state groups whose registers are written at once: nothing that analyses find changes."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.density_tracker import DensityTracker
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.cp import stored
from cffpy.cp.runner import Runner
from cffpy.errors import CffpyError
from cffpy.frame.faces import facts_document
from cffpy.frame.places import PacketLocation
from cffpy.limits import Limits
from tests.builders import damaged
from tests.selection import first_always

SHARED = (
    "a220-gl-passes",
    "a320-gl-scene150-720p",
    "a430-gl-scene150-720p",
    "a530-gl-scene-msaa4",
    pytest.param("a660-gl-scene-msaa4-1080p", marks=pytest.mark.slow),
    "a660-vk-events-cond-gmem",
    pytest.param("a740-vk-frame-msaa4-1080p", marks=pytest.mark.slow),
    "fd-clouds",
    "pair-a740-scene-bad-blend",
    "shadow",
)


class _Writes(Observer):
    """Counts the writes that it receives."""

    def __init__(self) -> None:
        self.count = 0

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        self.count += len(registers)


def outcome(
    content: Content, whole: bool, *others: Observer, replays: bool = False
) -> tuple[Walk, dict[str, Any]]:
    """A walk and its results."""
    walk = Walk(whole_groups=whole, replays_streams=replays)
    finder = PassFinder(walk)
    walk.observe(finder, DensityTracker(walk, finder), *others)
    damage: list[Any] = []
    error = ""
    try:
        damage = walk.run(content, lambda line: None)
    except CffpyError as problem:
        error = str(problem)
    state = walk.machine.state
    return walk, {
        "error": error,
        "damage": list(map(str, damage)),
        "problems": walk.problems,
        "truncated": list(map(str, walk.machine.problems.truncated)),
        "passes": list(map(facts_document, finder.found.passes)),
        "actions": list(map(facts_document, finder.actions)),
        "registers": dict(state.registers),
        "draws": state.draw_count,
        "groups": [group and group.gpuaddr for group in state.groups],
    }


def same(content: Content) -> bool:
    """Whether a walk has the same results with and without."""
    walk, expected = outcome(content, False)
    return type(walk.machine) is Runner and outcome(content, True)[1] == expected


def test_samples(samples: Path) -> None:
    paths = sorted(samples.glob("*.rd.gz"))
    assert paths
    for path in paths:
        assert same(open_capture(str(path)))


@pytest.mark.parametrize("name", first_always(SHARED))
def test_captures(shared: Path, name: str) -> None:
    assert same(open_capture(str(shared / "captures" / f"{name}.rd.gz")))


@pytest.mark.slow
def test_groups_of_tiles_are_read_once(shared: Path) -> None:
    """A counter: each tile loads the same groups."""
    path = shared / "captures" / "a740-vk-frame-msaa4-1080p.rd.gz"
    walk, _ = outcome(open_capture(str(path)), True)
    runs = walk.machine.register_runs
    assert runs.known > 5 * runs.read > 0


def test_groups_with_equal_contents_are_read_once(shared: Path) -> None:
    """A counter: drivers write the same state again for each draw."""
    path = shared / "captures" / "a640-vk-scene100-noubwc-nolrz.rd.gz"
    walk, _ = outcome(open_capture(str(path)), True)
    runs = walk.machine.register_runs
    assert 2 * runs.known > runs.read > 0


def test_few_contents_are_kept(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_HELD", 4)
    for path in sorted(samples.glob("a[67]*.rd.gz")):
        assert same(open_capture(str(path)))


@pytest.mark.parametrize("seed", first_always(range(40), 22))
def test_damaged_captures(samples: Path, seed: int) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[67]*.rd.gz")))
    assert same(open_bytes(damaged(gzip.decompress(path.read_bytes()), seed)))


@pytest.mark.parametrize("limits", [{"commands": 2000}, {"depth": 1}, {"draws": 3}])
def test_limits_count_the_same(samples: Path, limits: dict[str, int]) -> None:
    for path in sorted(samples.glob("a[67]*.rd.gz")):
        content = open_bytes(gzip.decompress(path.read_bytes()), limits=Limits(**limits))
        assert same(content)


def test_an_observer_of_writes_receives_each(samples: Path) -> None:
    counted = 0
    for path in sorted(samples.glob("*.rd.gz")):
        whole, single = _Writes(), _Writes()
        outcome(open_capture(str(path)), True, whole)
        outcome(open_capture(str(path)), False, single)
        assert whole.count == single.count
        counted += whole.count
    assert counted


def test_little_is_kept(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small limit only means that groups are read again."""
    path = shared / "captures" / "pair-a740-scene-bad-blend.rd.gz"
    walk, expected = outcome(open_capture(str(path)), True)
    monkeypatch.setattr(stored, "MAX_HELD", 20)
    limited, found = outcome(open_capture(str(path)), True)
    assert found == expected
    assert limited.machine.register_runs.read > walk.machine.register_runs.read
