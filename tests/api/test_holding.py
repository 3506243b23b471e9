# SPDX-License-Identifier: MIT
"""What scripts hold: threads, captures that nobody holds, short texts, errors, executions."""

from __future__ import annotations

import copy
import gc
import gzip
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.analysis.inputs.recorder import InputRecorder
from cffpy.api import capture as capture_module
from cffpy.api import intel_source
from cffpy.api.source import Source
from cffpy.api.walking import Abandoned
from cffpy.frame.objects import Shown
from cffpy.limits import Limits
from cffpy.query.filters import Filter
from tests.selection import first_always

FRAMES = ("a220-triangle", "a430-depth-good", "a530-two-submits", "a660-frame-binning")


def registers(capture: cffpy.Capture) -> list[dict[str, object]]:
    return [{name: draw.state[name].value for name in draw.state} for draw in capture.draws]


@pytest.mark.parametrize("name", first_always(FRAMES))
def test_threads_read_the_same_registers(name: str, samples: Path) -> None:
    path = samples / f"{name}.rd"
    with cffpy.open(path) as capture:
        expected = registers(capture)
    for _ in range(5):
        with cffpy.open(path) as capture, ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(registers, capture) for _ in range(4)]
            assert [one.result() for one in asked] == [expected] * 4


def bound(capture: cffpy.Capture) -> list[object]:
    return [[(one.label, one.address, one.used) for one in draw.bindings] for draw in capture.draws]


def chosen(capture: cffpy.Capture) -> list[object]:
    """Filters of registers, of what changes, of bindings; of draws, actions and passes."""
    depth = next(name for name in ("RB_DEPTH_CNTL", "RB_DEPTH_CONTROL", "RB_DEPTHCONTROL")
                 if name in capture.registers)  # fmt: skip
    return [
        *([one.name for one in capture.draws.where(text)]
          for text in (f"{depth} != 0 or draw.vertices > 3", f"changed({depth})", "texture.used")),
        [(one.kind, one.order) for one in capture.actions.where(f"{depth} >= 0")],
        [one.index for one in capture.passes.where(f"{depth} >= 0 or pass.mode == gmem")],
        [[one.value for one in found] for _, found in capture.draws.select(f"{depth}, pass.mode")],
    ]  # fmt: skip


def documents(capture: cffpy.Capture) -> list[object]:
    objects = (*capture.draws, *capture.passes, *capture.check(), *capture.lrz, *capture.shaders)
    return [one.to_dict() for one in objects]


def changes(capture: cffpy.Capture) -> list[object]:
    return [[change.name for change in draw.state.changed] for draw in capture.draws]


QUESTIONS: tuple[Callable[[cffpy.Capture], object], ...] = (
    registers,
    bound,
    chosen,
    documents,
    changes,
)


@pytest.mark.parametrize("name", first_always(FRAMES))
def test_threads_ask_different_questions_at_once(name: str, samples: Path) -> None:
    """Whichever thread is first: each question may walk, and what it finds is kept."""
    path = samples / f"{name}.rd"
    expected = []
    for question in QUESTIONS:
        with cffpy.open(path) as capture:
            expected.append(question(capture))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for first in range(len(QUESTIONS)):
            order = [(first + step) % len(QUESTIONS) for step in range(len(QUESTIONS))] * 2
            with cffpy.open(path) as capture, ThreadPoolExecutor(len(order)) as threads:
                asked = [threads.submit(QUESTIONS[number], capture) for number in order]
                for number, one in zip(order, asked, strict=True):
                    assert one.result() == expected[number], QUESTIONS[number]
    finally:
        sys.setswitchinterval(interval)


def test_one_filter_in_several_threads(samples: Path) -> None:
    """What a command asks again and again is one object."""
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        query = Filter("RB_WINDOW_OFFSET.X == 96 or draw.vertices == 3")
        expected = [one.order for one, _ in capture.actions._choose(query)]
        assert 0 < len(expected) < len(capture.actions)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with ThreadPoolExecutor(8) as threads:
                found = threads.map(lambda _: capture.actions._choose(query), range(400))
                assert all([one.order for one, _ in each] == expected for each in found)
        finally:
            sys.setswitchinterval(interval)


#: Counts the draws of all captures, each opened and left alone; then the most memory of the process
#: alone, in KiB: ru_maxrss would be of the process that started it, too.
COUNT = """
import glob, sys
import cffpy
print(sum(len(cffpy.open(path).draws) for path in glob.glob(sys.argv[1] + "/*.rd*")))
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_loop_over_many_captures_needs_little_memory(shared: Path) -> None:
    arguments = [sys.executable, "-c", COUNT, str(shared / "captures")]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    draws, kibibytes = map(int, done.stdout.split())
    assert draws > 1000
    assert kibibytes < 200 << 10


def test_threads_ask_while_all_registers_are_collected(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first thread is interrupted before it has collected any: the others wait for it."""
    from cffpy.analysis.register_store.history import RegisterHistory
    from cffpy.analysis.register_store.log import RegisterLog

    entered: list[int] = []
    really = RegisterHistory._find_written

    def slowly(self: RegisterHistory, log: RegisterLog) -> None:
        from time import sleep

        entered.append(len(self._written))
        sleep(0.05)
        really(self, log)

    monkeypatch.setattr(RegisterHistory, "_find_written", slowly)
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        draw = capture.draws[-1]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: len(draw.state), range(4)))
        assert len(set(found)) == 1
        assert found[0] > 100
    assert entered == [0]


def recorders() -> int:
    """How many objects there are that record what draws have bound."""
    return sum(isinstance(one, InputRecorder) for one in gc.get_objects())


@pytest.mark.parametrize("name", FRAMES)
def test_captures_that_nobody_holds_are_freed(name: str, samples: Path) -> None:
    """Closed or not: the objects of a capture refer to each other, and to nothing that stays."""
    capture = cffpy.open(samples / f"{name}.rd")
    assert len(capture.draws) + len(capture.actions)
    assert [draw.pass_ for draw in capture.draws]
    source = capture._source
    held = [weakref.ref(one) for one in (capture, source.walked.finder, source)]
    del capture, source
    gc.collect()
    assert [one() for one in held] == [None] * 3


def test_captures_that_nobody_closes_are_collected(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector counts objects, of which a capture has few; the interface counts bytes."""
    path = samples / "a660-frame-binning.rd"
    size = path.stat().st_size
    monkeypatch.setattr(capture_module, "ABANDONED", Abandoned(least=3 * size))
    held = []
    for _ in range(12):
        capture = cffpy.open(path)
        assert len(capture.draws)
        held.append(weakref.ref(capture._source))
        del capture
    assert sum(one() is not None for one in held) <= 4


def draws_of(path: Path) -> int:
    """The draws outlive their capture for the rest of the expression."""
    return len(cffpy.open(path).draws)


def draws_of_a_named_capture(path: Path) -> int:
    capture = cffpy.open(path)
    return len(capture.draws)


@pytest.mark.parametrize("count", [draws_of, draws_of_a_named_capture])
def test_a_loop_over_files_holds_one_capture_at_a_time(
    samples: Path, monkeypatch: pytest.MonkeyPatch, count: Callable[[Path], int]
) -> None:
    path = samples / "a660-frame-binning.rd"
    monkeypatch.setattr(capture_module, "ABANDONED", Abandoned(least=1))
    sources: list[weakref.ref[Source]] = []

    def made(*arguments: Any) -> Source:
        assert all(one() is None for one in sources)
        source = Source(*arguments)
        sources.append(weakref.ref(source))
        return source

    monkeypatch.setattr(intel_source, "Source", made)
    assert [count(path) for _ in range(5)] == [2] * 5
    assert len(sources) == 5


def test_objects_outlive_the_capture_that_they_were_taken_from(samples: Path) -> None:
    draw = cffpy.open(samples / "a660-frame-binning.rd").draws[1]
    assert draw.pass_ is not None
    assert draw.pass_.draws[draw.number] is draw
    assert draw.state["RB_DEPTH_CNTL"].is_written
    assert draw in draw.executions or len(draw.executions) > 1


def test_objects_are_the_same_as_long_as_they_are_held(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        assert capture.passes is capture.passes
        assert capture.draws[0].pass_ is capture.passes[0]
        assert capture.passes[0].draws[0] is capture.draws[0]
        assert capture.draw("p0:0") is capture.draws[0]


def test_a_pass_is_searched_once_for_executions(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cffpy.frame import passes as model

    searched: list[int] = []
    really = model.Pass.actions.fget
    assert really is not None

    def counted(self: model.Pass) -> object:
        searched.append(self.index)
        return really(self)

    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        expected = [
            [one.order for one in capture.passes[0].actions if one.number == number]
            for number in range(len(capture.draws))
        ]
        monkeypatch.setattr(model.Pass, "actions", property(counted))
        found = [[one.order for one in draw.executions] for draw in capture.draws]
    assert found == expected
    assert searched == [0]


def test_tiles_of_a_closed_capture(samples: Path) -> None:
    """What the stream has is still there; what a tile asks its pass for is an error."""
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        tile = capture.passes[0].tiles[1]
        assert tile.rectangle is not None
    assert tile.window_scissor is not None
    for name in ("pass_", "rectangle", "bins", "visible"):
        with pytest.raises(cffpy.UsageError, match="the capture is closed"):
            getattr(tile, name)


def test_actions_and_passes_of_a_closed_capture(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        one = capture.passes[0]
        draw, execution = one.draws[0], one.tiles[1].draws[0]
        assert draw.pass_ is one
        assert execution.pass_ is one
    assert (draw.name, draw.vertices, execution.executed) == ("p0:0", execution.vertices, True)
    for name in ("pass_", "tile", "state", "memory", "shaders", "textures", "attributes", "images"):
        for action in (draw, execution):
            with pytest.raises(cffpy.UsageError, match="the capture is closed"):
                getattr(action, name)
    for name in ("visibility", "images", "events_before"):
        with pytest.raises(cffpy.UsageError, match="the capture is closed"):
            getattr(one, name)
    with pytest.raises(cffpy.UsageError, match="the capture is closed"):
        one.draws.where("draw.vertices == 3")


def test_what_executions_have_bound_is_not_recorded(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        draw = capture.draws[0]
        assert draw.textures is not None
        others = [one for one in draw.executions if one is not draw]
        with pytest.raises(cffpy.CaptureError, match="has bound is not recorded"):
            _ = others[0].textures


def test_what_analyses_return_are_passes_and_actions_of_the_capture(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        passes = capture.passes
        for lrz in capture.lrz:
            assert lrz.pass_ is passes[lrz.pass_.index]
            assert all(one.action in passes[lrz.pass_.index].draws for one in lrz.draws)
        assert [cost.pass_ for cost in capture.costs] == [passes[0]]
        for check in capture.layout_checks.checks:
            assert check.pass_ is None or isinstance(check.pass_, cffpy.Pass)
            assert check.first is None or check.first.pass_ is check.pass_
        operation = passes[0].operations[0]
        assert isinstance(operation.action, cffpy.Action)
        assert operation.action.pass_ is passes[0]


def test_a_long_list_says_how_many_more() -> None:
    shown = Shown(range(5000))
    assert repr(shown).splitlines()[-2:] == [" ... and 4,990 more", "]"]
    assert (repr(Shown([1])), repr(Shown())) == ("[1]", "[]")
    assert list(shown) == [*range(5000)]


def test_buffers_of_a_capture_that_ends_early(shared: Path, tmp_path: Path) -> None:
    """Buffers come before the commands of their submit, which may be missing."""
    data = gzip.decompress((shared / "captures/a630-gl-indirect.rd.gz").read_bytes())
    path = tmp_path / "cut.rd.gz"
    path.write_bytes(gzip.compress(data[: len(data) // 3])[:-200])
    with cffpy.open(path) as capture:
        submit = capture.submits[-1]
        assert not submit.streams
        assert len(submit.buffers) == len(submit.memory.buffers)
        assert submit.buffers


def test_limits_are_pickled_and_copied() -> None:
    limits = Limits(draws=10, depth=3)
    assert pickle.loads(pickle.dumps(limits)) == copy.deepcopy(limits) == limits
    assert copy.copy(limits).draws == 10


def test_a_missing_stage_names_those_that_there_are(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        draw = capture.draws[0]
        for found in (draw.shaders, draw.program_addresses):
            with pytest.raises(cffpy.UnknownName, match=r"no stage that runs CS; there is: .*FS"):
                _ = found["CS"]
            with pytest.raises(KeyError):
                _ = found["CS"]
            assert found.get("CS") is None


def test_rows_are_read_once(samples: Path) -> None:
    pytest.importorskip("duckdb")
    rows = cffpy.sql([samples / "a650-blits.rd"], "SELECT name FROM draws")
    assert len(list(rows)) == 3
    with pytest.raises(cffpy.UsageError, match="have been read"):
        list(rows)
