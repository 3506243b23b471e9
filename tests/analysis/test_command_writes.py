# SPDX-License-Identifier: MIT
"""Registers whose writes are commands: all writes before a draw count, in order."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.observer import Observer
from cffpy.analysis.walk import Walk
from cffpy.container.open import open_capture
from cffpy.frame.action import Action
from cffpy.frame.places import PacketLocation
from cffpy.regdb.database import Database
from tests.analysis.register_store.replay import recorded
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"

#: Sample -> the text before which commands are written, a command register, two values of it.
CASES = {
    "a220-triangle": ("    CP_DRAW_INDX", "TC_CNTL_STATUS", 1, 0),
    "a430-depth-good": ("    CP_DRAW_INDX_OFFSET", "HLSQ_UPDATE_CONTROL", 0x38000, 0x1),
    "a530-two-submits": ("    CP_DRAW_INDX_OFFSET", "HLSQ_UPDATE_CNTL", 0xFFFFF, 0x1F),
    "a630-triangle": ("    CP_DRAW_INDX_OFFSET", "HLSQ_INVALIDATE_CMD", 0x1F, 0x3),
    "a740-state-groups": ("    CP_DRAW_INDX_OFFSET", "HLSQ_EVENT_CMD", 0x20, 0x3),
    "a830-frame-gmem": ("    CP_DRAW_INDX_OFFSET", "SP_UPDATE_CNTL", 0x1F, 0x3),
}


def compiled(path: Path, sample: str, register: str, *values: int, paired: bool = False) -> Path:
    """The sample with writes of a register before its last draw, of one or several packets."""
    before, line, behind = (SAMPLES / f"{sample}.pm4").read_text().rpartition(CASES[sample][0])
    assert line
    if paired:
        pairs = "".join(f"    + pair {register} = {value:#x}\n" for value in values)
        text = f"    CP_CONTEXT_REG_BUNCH\n{pairs}"
    else:
        text = "".join(f"    {register} = {value:#x}\n" for value in values)
    path.write_bytes(cffpy.compile(f"{before}{text}{line}{behind}"))
    return path


def test_the_descriptions_say_which_writes_are_commands() -> None:
    names = {
        "A2XX": {"TC_CNTL_STATUS", "VGT_EVENT_INITIATOR"},
        "A3XX": {"UCHE_CACHE_INVALIDATE1_REG"},
        "A4XX": {"UCHE_INVALIDATE1", "HLSQ_UPDATE_CONTROL"},
        "A5XX": {"UCHE_CACHE_INVALIDATE", "HLSQ_UPDATE_CNTL"},
        "A6XX": {"HLSQ_INVALIDATE_CMD", "HLSQ_DRAW_CMD", "HLSQ_DISPATCH_CMD", "PC_EVENT_CMD"},
        "A7XX": {"HLSQ_INVALIDATE_CMD", "HLSQ_DRAW_CMD", "HLSQ_DISPATCH_CMD", "HLSQ_EVENT_CMD"},
        "A8XX": {"SP_UPDATE_CNTL", "SP_DRAW_INITIATOR", "SP_EVENT_INITIATOR"},
    }
    for chip, some in names.items():
        database = Database.open(chip)
        assert {database.register_offset(name) for name in some} <= database.commands


@pytest.mark.parametrize("sample", first_always(CASES))
def test_diff_compares_each_write(sample: str, tmp_path: Path) -> None:
    _, register, one, other = CASES[sample]

    def differences(*values: int) -> set[str]:
        with cffpy.open(compiled(tmp_path / "bad.rd", sample, register, *values)) as bad:
            return {one.title.partition(": ")[2] for one in cffpy.diff(good, bad).entries}

    with cffpy.open(compiled(tmp_path / "good.rd", sample, register, one, other)) as good:
        assert differences(one, other) == set()
        for values in ((other,), (other, one), (one, one, other), (other, other), (one,)):
            (difference,) = differences(*values)
            assert difference.startswith(f"write of {register}: "), values


@pytest.mark.parametrize("paired", first_always([False, True]))
def test_all_surfaces_show_each_write(paired: bool, tmp_path: Path, run_cffpy: Run) -> None:
    name = "HLSQ_INVALIDATE_CMD"
    path = compiled(tmp_path / "capture.rd", "a630-triangle", name, 0x1F, 0x3, 0x3, paired=paired)
    with cffpy.open(path) as capture:
        draw = capture.draws[-1]
        value = draw.state[name]
        assert value.value == 0x3
        assert [int(one) for one in value.commands] == [0x1F, 0x3, 0x3]
        places = [one.written_by.place.gpuaddr for one in value.commands]
        assert len(set(places)) == (1 if paired else 3)
        assert value.written_by is not None
        assert places[-1] == value.written_by.place.gpuaddr
        assert value.commands[0].VS_STATE is True
        assert draw.state["RB_DEPTH_CNTL"].commands == []
        number = "p0:0"

    shown = run_cffpy("state", path, "--draw", number, name).stdout.decode().splitlines()
    assert [line.split()[0] for line in shown[1::2]] == ["0000001f", "00000003", "00000003"]
    for how in (("--draw", number), ("--where", "draw.vertices > 0")):
        rows = run_cffpy("state", path, *how, name, "--csv").stdout.decode().splitlines()
        assert sum(name in row for row in rows) == 3
    document = json.loads(run_cffpy("state", path, "--draw", number, name, "--json").stdout)
    assert [one["value"] for one in document["registers"]] == [0x1F, 0x3, 0x3]


def test_writes_before_the_draw_before_do_not_count(tmp_path: Path) -> None:
    sample = "a740-state-groups"
    path = compiled(tmp_path / "capture.rd", sample, "HLSQ_INVALIDATE_CMD", 0x1F, 0x3)
    with cffpy.open(path) as capture:
        values = [draw.state["HLSQ_INVALIDATE_CMD"] for draw in capture.draws]
        counts = [len(value.commands) for value in values]
    assert counts[-2:] == [0, 2]


class _EachWrite(Observer):
    """The values of command registers before each action, from each single packet."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._now: list[tuple[int, int]] = []
        self.before: dict[int, list[tuple[int, int]]] = {}

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Take the values of a plain packet; drivers use these here."""
        commands = self._walk.machine.database.commands
        for register in registers:
            if register in commands:
                assert ndwords == len(registers) + 1
                value = location._words.data[location._index + 1 + register - registers.start]
                self._now.append((register, value))

    def action(self, action: Action) -> None:
        """Keep them."""
        if self._now and action.execution.is_possible:
            self.before[action.order] = self._now
        self._now = []


@pytest.mark.parametrize(
    "name",
    first_always(
        [
            "a660-vk-events-cond-gmem",
            "a740-vk-frame-msaa4-1080p",
            "a740-gl-passes",
            "a430-gl-cube-gmem",
            "a530-gl-compute",
            "a330-gl-tri",
            "a220-gl-tri",
        ]
    ),
)
def test_real_frames_as_each_packet_writes_them(shared: Path, name: str) -> None:
    content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
    walk = Walk()
    single = _EachWrite(walk)
    walk.observe(single)
    walk.run(content, lambda line: None)
    recordings = recorded(content)
    found = {
        action.order: commands
        for action in recordings.executed
        if (commands := recordings.store.history(action.order).commands(action.order))
    }
    assert single.before
    assert {
        order: sorted((one.register, one.value) for writes in by.values() for one in writes)
        for order, by in found.items()
    } == {order: sorted(writes) for order, writes in single.before.items()}
    for order, by in found.items():  # in order
        for register, writes in by.items():
            values = [value for number, value in single.before[order] if number == register]
            assert [one.value for one in writes] == values
