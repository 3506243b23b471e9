# SPDX-License-Identifier: MIT
"""--where and --columns of draws, passes and tiles; where of the interface's lists."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def gmem(samples: Path) -> Path:
    return samples / "a660-frame-gmem.rd"


def output(run_cffpy: Run, *arguments: object) -> str:
    done = run_cffpy(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_draws_are_some_of_the_rows(gmem: Path, run_cffpy: Run) -> None:
    for more in ((), ("--all",)):
        rows = output(run_cffpy, "draws", "--csv", *more, gmem).splitlines()
        chosen = output(
            run_cffpy, "draws", "--csv", *more, "--where", "draw.vertices == 3", gmem
        ).splitlines()
        assert chosen[0] == rows[0]
        assert chosen[1:] == [row for row in rows if ",DI_PT_TRILIST,3," in row]
        assert len(chosen) > 1
    document = json.loads(output(run_cffpy, "draws", "--json", "--where", "draw.indexed", gmem))
    assert [one["name"] for one in document["draws"]] == ["p0:0"]


def test_columns(gmem: Path, run_cffpy: Run) -> None:
    arguments = ("draws", "--columns", "draw.vertices, RB_MRT[0].BASE", gmem)
    assert output(run_cffpy, *arguments, "--csv").splitlines() == [
        "draw,draw.vertices,RB_MRT[0].BASE",
        "p0:0,36,0x100100000",
        "p0:1,3,0x100100000",
    ]
    assert json.loads(output(run_cffpy, *arguments, "--json")) == {
        "schema": "cffpy.columns/1",
        "columns": ["draw", "draw.vertices", "RB_MRT[0].BASE"],
        "rows": [
            {"draw": "p0:0", "values": {"draw.vertices": 36, "RB_MRT[0].BASE": 0x100100000}},
            {"draw": "p0:1", "values": {"draw.vertices": 3, "RB_MRT[0].BASE": 0x100100000}},
        ],
    }


def test_passes(samples: Path, gmem: Path, run_cffpy: Run) -> None:
    whole = output(run_cffpy, "passes", gmem)
    assert output(run_cffpy, "passes", "--where", "pass.mode == gmem", gmem) == whole
    assert output(run_cffpy, "passes", "--where", "draw.vertices == 3", gmem) == whole
    assert output(run_cffpy, "passes", "--where", "draw.vertices == 4", gmem) == ""
    two = samples / "a530-two-submits.rd"
    last = output(run_cffpy, "passes", "--where", "pass.submit == 1", "--csv", two).splitlines()
    rows = output(run_cffpy, "passes", "--csv", two).splitlines()
    assert last == [rows[0], *(row for row in rows[1:] if row.split(",")[1] == "1")]
    assert output(run_cffpy, "passes", "--columns", "pass.submit", two).split()[-2:] == ["1", "1"]


def test_tiles(gmem: Path, run_cffpy: Run) -> None:
    rows = output(run_cffpy, "tiles", "--csv", gmem).splitlines()
    chosen = output(run_cffpy, "tiles", "--csv", "--where", "RB_WINDOW_OFFSET.X == 96", gmem)
    assert chosen.splitlines() == [rows[0], rows[2], rows[3]]
    assert run_cffpy("tiles", "--svg", "-", "--where", "1", gmem).returncode == 2


def test_errors(gmem: Path, run_cffpy: Run) -> None:
    for command in ("draws", "passes", "tiles"):
        done = run_cffpy(command, "--where", "RB_DEPTH_CNTLX", gmem)
        assert done.returncode == 1
        assert b"did you mean RB_DEPTH_CNTL" in done.stderr
        assert done.stdout == b""
    assert run_cffpy("draws", "--inherited", "--where", "1", gmem).returncode == 2


def test_lists_of_the_interface(samples: Path, gmem: Path) -> None:
    with cffpy.open(gmem) as capture:
        first, second = capture.draws
        where = "changed(RB_DEPTH_CNTL) or draw.number == 7"
        assert capture.draws.where(where) == [first]  # before any state was asked for
        assert second.state["RB_DEPTH_CNTL"].value == 0x47
        assert capture.draws.where(where) == [first]
        assert capture.draws.where("draw.vertices == 3").where("draw.indexed") == []
        found = capture.passes[0]
        assert found.draws.where("draw.vertices == 3") == [second]
        assert capture.passes.where("pass.tiles == 4") == [found]
        assert [tile.number for tile in found.tiles.where("tile.top == 64")] == [2, 3]
        executions = capture.actions.where("draw.vertices == 3 and RB_WINDOW_OFFSET.X == 96")
        assert [one.tile.number for one in executions] == [1, 2]
        with pytest.raises(cffpy.FilterError):
            capture.draws.where("NOPE")
