# SPDX-License-Identifier: MIT
"""What a closed capture leaves: nothing that only the garbage collector can free."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import cffpy
from cffpy.pm4.descriptions import Descriptions
from tests.selection import first_always

SAMPLES = (
    "a220-triangle.rd",
    "a430-depth-good.rd",
    "a530-two-submits.rd",
    "a660-frame-binning.rd",
    "a740-state-groups.rd",
)

#: Descriptions, which captures may share, refer to themselves; they hold nothing of a capture.
_DESCRIPTIONS = ("cffpy.isa.", "cffpy.regdb.", "cffpy.row_readers")


@contextmanager
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def left_over() -> Counter[str]:
    """The objects, by class, that only the garbage collector frees; not those of descriptions."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
    return Counter(
        name for name in names if name.startswith("cffpy") and not name.startswith(_DESCRIPTIONS)
    )


def registers_at_draws(capture: cffpy.Capture) -> None:
    for draw in capture.draws:
        for name in draw.state:
            assert draw.state[name].written_by is not None


def a_name(capture: cffpy.Capture) -> str:
    name = capture.draws[0].name
    assert name is not None
    return name


QUESTIONS: dict[str, Callable[[cffpy.Capture], object]] = {
    "passes": lambda capture: [one.to_dict() for one in capture.passes],
    "actions": lambda capture: [one.to_dict() for one in capture.actions],
    "registers": registers_at_draws,
    "state": lambda capture: capture.draws[-1].state.to_dict(),
    "an action's state": lambda capture: capture.draws[0].executions[0].state,
    "a named state": lambda capture: capture.state(a_name(capture)),
    "the first state": lambda capture: capture.state("p0:0"),
    "filters": lambda capture: capture.draws.where("draw.vertices > 3"),
    "packets": lambda capture: [one.to_dict() for one in capture.packets()],
    "some packets": lambda capture: next(iter(capture.packets())),
    "shaders": lambda capture: (list(capture.shaders), capture.draws[0].shaders),
    "inherited": lambda capture: capture.inherited,
    "visibility": lambda capture: [one.visibility for one in capture.passes],
    "events": lambda capture: [one.events_before for one in capture.passes],
    "registers at draws": lambda capture: capture._take_draw_registers().forget_writes(),
}


@pytest.mark.slow
@pytest.mark.parametrize("question", first_always(QUESTIONS))
def test_nothing_is_left_to_the_collector(samples: Path, question: str) -> None:
    ask = QUESTIONS[question]
    for name in SAMPLES:
        with cffpy.open(samples / name) as capture:
            ask(capture)  # what is imported lazily leaves something, too
        with uncollected():
            with cffpy.open(samples / name) as capture:
                ask(capture)
            del capture
            left = left_over()
        assert not left


def test_a_walk_that_a_limit_ends(samples: Path) -> None:
    with uncollected():
        with cffpy.open(samples / "a660-frame-binning.rd", limits={"draws": 10}) as capture:
            registers_at_draws(capture)
            assert capture.truncated
        del capture
        assert not left_over()


def test_the_collector_does_not_run(samples: Path) -> None:
    """It would search all objects, of which only the comparison leaves any in cycles."""
    runs: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            runs.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        capture = cffpy.open(samples / "a660-frame-binning.rd")
        registers_at_draws(capture)
        runs.clear()
        capture.close()
        assert not runs
        with cffpy.open(samples / "a660-frame-binning.rd") as capture:
            _ = capture._source.recording
            runs.clear()
        assert runs == [2]
    finally:
        gc.callbacks.remove(note)


def test_a_state_that_is_held_holds_nothing(samples: Path) -> None:
    """Nor does a draw: a script's last ones live as long as the script."""
    with uncollected(), cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        draw = capture.draws[-1]
        state = draw.state
        value = state["RB_DEPTH_CNTL"]
        assert state["RB_DEPTH_CNTL"].written_by is not None
        walked = capture._source.walked
        assert walked.store is not None
        finder, log = walked.finder, walked.store.log
        held = [weakref.ref(one) for one in (finder, finder.walk, finder.walk.machine, log)]
        del walked, finder, log
        capture.close()
        assert [one() for one in held] == [None] * 4
    assert (value.register.name, value.value) == ("RB_DEPTH_CNTL", value.value)
    assert draw.vertices == state.action.vertices
    for ask in (
        lambda: state["RB_DEPTH_CNTL"],
        lambda: state["GRAS_CL_CNTL"],
        lambda: state[0x8000],
        lambda: "RB_DEPTH_CNTL" in state,
        lambda: list(state),
        lambda: len(state),
        lambda: state.written,
        lambda: state.changed,
        lambda: state.matching("*"),
        lambda: value.written_by,
        state.to_dict,
    ):
        with pytest.raises(cffpy.UsageError, match="closed"):
            ask()


def test_descriptions_that_are_shared_outlive_a_capture(samples: Path) -> None:
    """A counter: they refer to no machine, and are not made again."""
    from cffpy.api.capture import open_sharing

    shared = Descriptions()
    with uncollected():
        databases = []
        for _ in range(3):
            with open_sharing(shared, samples / "a660-frame-gmem.rd") as capture:
                assert capture.draws[0].state["RB_DEPTH_CNTL"].value is not None
                databases.append(capture._source.database)
        del capture
        assert not left_over()
    assert databases[0] is databases[1] is databases[2]
