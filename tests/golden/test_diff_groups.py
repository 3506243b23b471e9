# SPDX-License-Identifier: MIT
"""A draw-state group that is no longer loaded, in any run: the registers that it wrote differ.

Whatever the CP executes: in the binning run, in tiles, for draws, clears, loads or stores. There is
no difference only where each action executes with the same registers as before: all, but for those
that it does not use, and bases of descriptor sets that no shader names.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.diff.rules import is_used
from cffpy.analysis.observer import Observer
from cffpy.analysis.queries import PassWalk
from cffpy.frame.action import Action
from cffpy.regdb.registers import RegisterText
from cffpy.regdb.subjects import Subjects

EXHAUSTIVE = os.environ.get("CFFPY_EXHAUSTIVE") == "1"

#: With tiles and binning runs, by both drivers. CFFPY_EXHAUSTIVE=1: all captures of these.
CAPTURES = (
    "a660-vk-cube-gmem-forcebin",
    "a630-gl-blit-msaa",
    "a740-vk-tri-auto",
    "a740-vk-geom-gmem",
)

#: Registers of a6xx and later with bases of sets that a shader may not name.
_BASES = "BINDLESS_BASE"


class States(Observer):
    """The registers that each executed action uses: names and values, in order."""

    def __init__(self, walk: PassWalk) -> None:
        self._walk = walk.walk
        self._used: dict[tuple[str, int], bool] = {}
        self.found: list[frozenset[tuple[int, int]]] = []

    def action(self, action: Action) -> None:
        if action.execution.is_possible:
            registers = self._walk.machine.state.registers.items()
            self.found.append(frozenset(one for one in registers if self._uses(action, one[0])))

    def _uses(self, action: Action, register: int) -> bool:
        key = action.kind, register
        if key not in self._used:
            database = self._walk.machine.database
            subject = Subjects.open(database).register(register)
            name = RegisterText(database).name(register)
            is_apart = "scratch" in subject.roles or _BASES in name
            self._used[key] = is_used(subject, action.kind) and not is_apart
        return self._used[key]


def states(capture: cffpy.Capture) -> list[frozenset[tuple[int, int]]]:
    walk = PassWalk(capture._source.content, lambda line: None)
    found = States(walk)
    walk.observe(found)
    walk.run()
    return found.found


def opened(shared: Path, name: str) -> cffpy.Capture:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    return cffpy.open(path)


def compared(good: cffpy.Capture, group: int) -> tuple[cffpy.Capture, cffpy.Comparison]:
    bad = cffpy.open(cffpy.edit(good, drop_groups=[group]))
    return bad, cffpy.diff(good, bad)


def test_push_constants_that_are_no_longer_written(shared: Path) -> None:
    """Registers whose names the database only gives by offset."""
    _, found = compared(opened(shared, "a740-vk-tri-auto"), 10)
    (entry,) = found.entries
    assert "HLSQ_SHARED_CONSTS_IMM[0]+0: 0x0 → not written" in entry.title


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "title"),
    [
        (2, r"draw p2:0, binning run: shader VS: "),
        (31, r"draw p1:0, binning run: GRAS_SC_CNTL: 00000002 → not written"),
    ],
)
def test_what_only_binning_runs_load_comes_last(shared: Path, group: int, title: str) -> None:
    _, found = compared(opened(shared, "a660-vk-cube-gmem-forcebin"), group)
    last = [entry.title for entry in found.entries if "binning run" in entry.title]
    assert last == [entry.title for entry in found.entries][-len(last) :]
    assert any(one.startswith(title) for one in last)
    of_runs = [all(e.phase == "binning run" for e in one.extents) for one in found.entries]
    assert of_runs == sorted(of_runs)


@pytest.mark.slow
def test_what_only_a_clear_uses_is_of_the_clear(shared: Path) -> None:
    _, found = compared(opened(shared, "a630-gl-blit-msaa"), 8)
    name = "uniform data FS 0 of the clear of color 0+depth+stencil"
    assert f"pass 10: {name}: there → missing (+4 fields)" in [e.title for e in found.entries]


def tiled(shared: Path) -> list[str]:
    return sorted(path.name.removesuffix(".rd.gz") for path in (shared / "captures").glob("*.gz"))


def check_groups(capture: cffpy.Capture) -> int:
    """No group can be dropped unnoticed; how many are dropped."""
    before = None
    dropped = 0
    for group in range(32):
        try:
            bad, found = compared(capture, group)
        except cffpy.CaptureError:  # no such group
            continue
        dropped += 1
        if not found.differs:
            before = states(capture) if before is None else before
            assert states(bad) == before, (group, found.hidden)
    return dropped


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
def test_no_group_is_dropped_unnoticed(shared: Path, name: str) -> None:
    assert check_groups(opened(shared, name)) > 5


@pytest.mark.slow
@pytest.mark.skipif(not EXHAUSTIVE, reason="takes minutes; set CFFPY_EXHAUSTIVE=1")
def test_no_group_of_any_capture_is_dropped_unnoticed(shared: Path) -> None:
    dropped = 0
    for name in tiled(shared):
        try:
            capture = opened(shared, name)
            has_tiles = any(len(one.tiles) for one in capture.passes)
        except cffpy.CffpyError:
            continue
        if has_tiles:
            dropped += check_groups(capture)
    assert dropped > 500
