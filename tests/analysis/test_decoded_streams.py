# SPDX-License-Identifier: MIT
"""What walks do not decode again (groups, streams) changes nothing that analyses find."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.density_tracker import DensityTracker
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.cp import decoded, stored
from cffpy.cp.replaying import ReplayingRunner
from cffpy.cp.runner import Runner
from cffpy.errors import CffpyError
from cffpy.frame.faces import facts_document
from cffpy.frame.places import PacketLocation
from cffpy.limits import Limits
from tests.analysis.passes.streams import Streams
from tests.builders import damaged, type0, type3
from tests.selection import first_always


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


def check_whole_groups(content: Content) -> None:
    """A walk has the same results where registers of a group are written at once."""
    walk, expected = outcome(content, False)
    assert type(walk.machine) is Runner
    assert outcome(content, True)[1] == expected


def check_replayed_streams(content: Content) -> None:
    """A walk has the same results where streams that run again are not decoded."""
    walk, expected = outcome(content, True)
    assert walk.machine.decoded.read == 0
    assert outcome(content, True, replays=True)[1] == expected


Check = Callable[[Content], None]

each_way = pytest.mark.parametrize("check", [check_whole_groups, check_replayed_streams])


@each_way
def test_samples(check: Check, samples: Path) -> None:
    paths = sorted(samples.glob("*.rd.gz"))
    assert paths
    for path in paths:
        check(open_capture(str(path)))


SLOW = ("a618-vk-depth-lrz-gmem", "a660-gl-scene-msaa4-1080p", "a740-vk-frame-msaa4-1080p")


@pytest.mark.parametrize(
    "name",
    first_always(
        [
            "a220-gl-passes",
            "a320-gl-scene150-720p",
            "a430-gl-scene150-720p",
            "a530-gl-scene-msaa4",
            *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
            "a660-vk-events-cond-gmem",
            "fd-clouds",
            "pair-a740-scene-bad-blend",
            "shadow",
        ]
    ),
)
@each_way
def test_captures(check: Check, shared: Path, name: str) -> None:
    check(open_capture(str(shared / "captures" / f"{name}.rd.gz")))


@pytest.mark.parametrize("seed", first_always(range(60), 22))
@each_way
def test_damaged_captures(check: Check, samples: Path, seed: int) -> None:
    pattern = "a[67]*.rd.gz" if check is check_whole_groups else "a[2-7]*.rd.gz"
    path = random.Random(seed).choice(sorted(samples.glob(pattern)))
    check(open_bytes(damaged(gzip.decompress(path.read_bytes()), seed)))


@pytest.mark.parametrize("limits", [{"commands": 2000}, {"depth": 1}, {"depth": 2}, {"draws": 3}])
@each_way
def test_limits_count_the_same(check: Check, samples: Path, limits: dict[str, int]) -> None:
    for path in sorted(samples.glob("a[67]*.rd.gz")):
        check(open_bytes(gzip.decompress(path.read_bytes()), limits=Limits(**limits)))


# -- groups ---------------------------------------------------------------------------------------


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


def test_few_contents_change_nothing(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_HELD", 4)
    for path in sorted(samples.glob("a[67]*.rd.gz")):
        check_whole_groups(open_capture(str(path)))


def test_an_observer_of_writes_receives_each(samples: Path) -> None:
    counted = 0
    for path in sorted(samples.glob("*.rd.gz")):
        whole, single = _Writes(), _Writes()
        outcome(open_capture(str(path)), True, whole)
        outcome(open_capture(str(path)), False, single)
        assert whole.count == single.count
        counted += whole.count
    assert counted


def test_few_groups_are_kept(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small limit only means that groups are read again."""
    path = shared / "captures" / "pair-a740-scene-bad-blend.rd.gz"
    walk, expected = outcome(open_capture(str(path)), True)
    monkeypatch.setattr(stored, "MAX_HELD", 20)
    limited, found = outcome(open_capture(str(path)), True)
    assert found == expected
    assert limited.machine.register_runs.read > walk.machine.register_runs.read


# -- streams --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", first_always(["a660-gl-scene-msaa4-1080p", "a740-vk-frame-msaa4-1080p"])
)
def test_streams_of_tiles_are_decoded_once(shared: Path, name: str) -> None:
    """A counter: the frame's IBs run without decoding from the second tile on."""
    walk, _ = outcome(open_capture(str(shared / "captures" / f"{name}.rd.gz")), True, replays=True)
    streams = walk.machine.decoded
    assert streams.known > 4 * streams.read > 0


def test_draws_of_a2xx_and_a3xx_are_decoded_once() -> None:
    """A counter: a wait before each draw, in a stream that runs twice, does not split its steps."""
    s = Streams(320)
    draw = type3(s.opcode("CP_DRAW_INDX"), 0, 2 << 6 | 4, 3)
    other = type3(s.opcode("CP_DRAW_INDX_2"), 0, 1 << 6 | 4, 1, 0)
    part = [*type0(0x2100, 1), *type3(s.opcode("CP_WAIT_FOR_IDLE"), 0), *type0(0x2101, 2)]
    commands = [*part, *draw, *part, *other]
    s.buffers[0x8000] = commands
    call = type3(s.opcode("CP_INDIRECT_BUFFER"), 0x8000, len(commands))
    content = open_bytes(s.capture([[call, call]]))
    check_replayed_streams(content)
    walk, _ = outcome(content, True, replays=True)
    assert isinstance(walk.machine, ReplayingRunner)
    assert (walk.machine.state.draw_count, walk.machine.draws_decoded) == (4, 2)


def test_first_runs_are_decoded(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams become steps before their first run; the results do not depend on it."""
    path = str(samples / "a660-frame-gmem.rd")
    walk, expected = outcome(open_capture(path), True, replays=True)
    monkeypatch.setattr(Walk, "decodes_first_runs", False)
    second, found = outcome(open_capture(path), True, replays=True)
    assert found == expected
    assert walk.machine.decoded.read > second.machine.decoded.read
    assert walk.machine.decoded.known > second.machine.decoded.known


def test_an_observer_of_writes_switches_it_off(samples: Path) -> None:
    content = open_capture(str(samples / "a630-triangle.rd.gz"))
    walk, _ = outcome(content, True, _Writes(), replays=True)
    assert walk.machine.decoded.read == walk.machine.decoded.known == 0


def test_few_streams_are_kept(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small limit only means that streams are decoded again."""
    path = shared / "captures" / "pair-a740-scene-bad-blend.rd.gz"
    walk, expected = outcome(open_capture(str(path)), True, replays=True)
    monkeypatch.setattr(decoded, "MAX_DWORDS", 2000)  # the streams, and few of their draws
    limited, found = outcome(open_capture(str(path)), True, replays=True)
    assert found == expected
    assert limited.machine.register_runs.known > walk.machine.register_runs.known
    monkeypatch.setattr(decoded, "MAX_DWORDS", 20)
    monkeypatch.setattr(decoded, "MAX_SEEN", 2)
    limited, found = outcome(open_capture(str(path)), True, replays=True)
    assert found == expected
    assert limited.machine.decoded.known < walk.machine.decoded.known
