# SPDX-License-Identifier: MIT
"""The recorder of registers: what steps add to a list is what is stored step by step."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from cffpy.analysis.register_store.recorder import RegisterRecorder
from cffpy.container.open import Content, open_bytes, open_capture
from tests.analysis.passes.streams import Streams
from tests.analysis.register_store.replay import recorded
from tests.analysis.register_store.test_recorder import SHARED, at_draws
from tests.builders import damaged


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often the log is called with what was stored, or for an action."""
    counts = {"registers_stored": 0, "action": 0}
    for name in counts:
        original = getattr(RegisterRecorder, name)

        def counting(
            self: RegisterRecorder, *arguments: Any, name: str = name, original: Any = original
        ) -> None:
            counts[name] += 1
            original(self, *arguments)

        monkeypatch.setattr(RegisterRecorder, name, counting)
    return counts


def without_list(content: Content) -> list[Any]:
    """What the history says where steps have no list."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RegisterRecorder, "stored_log", lambda _self, _stream: None)
        return at_draws(content, True)[1]


def test_samples(samples: Path) -> None:
    paths = sorted(samples.glob("*.rd.gz"))
    assert paths
    for path in paths:
        content = open_capture(str(path))
        assert at_draws(content, True)[1] == without_list(content), path


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_captures(shared: Path, name: str) -> None:
    content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
    assert at_draws(content, True)[1] == without_list(content)


@pytest.mark.parametrize("seed", range(24, 36))
def test_damaged_captures(samples: Path, seed: int) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[2-7]*.rd.gz")))
    content = open_bytes(damaged(gzip.decompress(path.read_bytes()), seed))
    assert at_draws(content, True)[1] == without_list(content)


def test_steps_need_no_calls(samples: Path, called: dict[str, int]) -> None:
    """A counter: draws of a frame's tiles, and what is stored for them, come in lists."""
    content = open_capture(str(samples / "a660-frame-gmem.rd"))
    without_list(content)
    before = dict(called)
    called.update(dict.fromkeys(called, 0))
    at_draws(content, True)
    assert before["registers_stored"] > 30
    assert called["registers_stored"] == 0
    assert called["action"] == before["action"] - 8  # the frame's draws in two tiles


def test_a_draw_that_begins_a_pass_divides_the_steps(called: dict[str, int]) -> None:
    """What is written before it is not of the pass, what follows is."""
    s = Streams(630)
    commands = [s.raw("RB_DEPTH_CNTL", 1), s.draw(), s.raw("RB_STENCIL_CONTROL", 2), s.draw()]
    content = open_bytes(s.capture([commands]))
    _, passes, store = recorded(content)
    assert called == {"registers_stored": 0, "action": 0}
    (one,) = passes.found.passes
    first, second = one.draws
    early, late = s.offset("RB_DEPTH_CNTL"), s.offset("RB_STENCIL_CONTROL")
    history = store.history(first.order)
    writes = [history.write(early, first.order), history.write(late, second.order)]
    assert [write and write.pass_index for write in writes] == [None, one.index]
    assert history.value(late, first.order) is None
    assert (history.value(early, second.order), history.value(late, second.order)) == (1, 2)
    assert at_draws(content, True)[1] == without_list(content)
