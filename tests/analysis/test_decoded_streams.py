# SPDX-License-Identifier: MIT
"""Streams that run again without being decoded: nothing that analyses find changes."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from cffpy.analysis.observer import Observer
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.cp import decoded
from cffpy.cp.replaying import ReplayingRunner
from cffpy.frame.places import PacketLocation
from cffpy.limits import Limits
from tests.analysis.passes.streams import Streams
from tests.analysis.test_whole_groups import outcome
from tests.builders import damaged, type0, type3
from tests.selection import first_always

SHARED = (
    "a220-gl-passes",
    "a320-gl-scene150-720p",
    "a430-gl-scene150-720p",
    "a530-gl-scene-msaa4",
    "a618-vk-depth-lrz-gmem",
    "a660-gl-scene-msaa4-1080p",
    "a660-vk-events-cond-gmem",
    "a740-vk-frame-msaa4-1080p",
    "fd-clouds",
    "pair-a740-scene-bad-blend",
    "shadow",
)


def same(content: Content) -> bool:
    """Whether a walk has the same results with and without."""
    walk, expected = outcome(content, True)
    return walk.machine.decoded.read == 0 and outcome(content, True, replays=True)[1] == expected


def test_samples(samples: Path) -> None:
    paths = sorted(samples.glob("*.rd.gz"))
    assert paths
    for path in paths:
        assert same(open_capture(str(path)))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_captures(shared: Path, name: str) -> None:
    assert same(open_capture(str(shared / "captures" / f"{name}.rd.gz")))


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
    assert same(content)
    walk, _ = outcome(content, True, replays=True)
    assert isinstance(walk.machine, ReplayingRunner)
    assert (walk.machine.state.draw_count, walk.machine.draws_decoded) == (4, 2)


@pytest.mark.parametrize("seed", first_always(range(60), 21))
def test_damaged_captures(samples: Path, seed: int) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[2-7]*.rd.gz")))
    assert same(open_bytes(damaged(gzip.decompress(path.read_bytes()), seed)))


@pytest.mark.parametrize("limits", [{"commands": 2000}, {"depth": 1}, {"depth": 2}, {"draws": 3}])
def test_limits_count_the_same(samples: Path, limits: dict[str, int]) -> None:
    for path in sorted(samples.glob("a[67]*.rd.gz")):
        content = open_bytes(gzip.decompress(path.read_bytes()), limits=Limits(**limits))
        assert same(content)


def test_first_runs_are_decoded(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams become steps before their first run; the results do not depend on it."""
    path = str(samples / "a660-frame-gmem.rd")
    walk, expected = outcome(open_capture(path), True, replays=True)
    monkeypatch.setattr(Walk, "decodes_first_runs", False)
    second, found = outcome(open_capture(path), True, replays=True)
    assert found == expected
    assert walk.machine.decoded.read > second.machine.decoded.read
    assert walk.machine.decoded.known > second.machine.decoded.known


class _Writes(Observer):
    """Asks for register writes."""

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Ignore them."""


def test_an_observer_of_writes_switches_it_off(samples: Path) -> None:
    content = open_capture(str(samples / "a630-triangle.rd.gz"))
    walk, _ = outcome(content, True, _Writes(), replays=True)
    assert walk.machine.decoded.read == walk.machine.decoded.known == 0


def test_little_is_kept(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
