# SPDX-License-Identifier: MIT
"""cffpy draws, run as users run it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import cffpy
from tests.command_server import Run
from tests.tile_streams import NewTile, Stream


def test_selection(path: Path, run_cffpy: Run) -> None:
    def numbers(*options: object) -> list[int]:
        document = json.loads(run_cffpy("draws", "--json", *options, path).stdout)
        assert document["schema"] == "cffpy.draws/1"
        return [one["dump_draw"] for one in document["draws"]]

    assert numbers("--all") == list(range(10))
    assert numbers("--all", "--pass", 1) == [1, 2, 3, 4, 5, 6]
    assert numbers() == [0, 1, 2, 8, 9]
    assert numbers("--pass", 2) == [8, 9]


@pytest.mark.slow
def test_names_are_those_that_state_and_edit_take(
    path: Path, tmp_path: Path, run_cffpy: Run
) -> None:
    rows = list(csv.DictReader(run_cffpy("draws", "--csv", path).stdout.decode().splitlines()))
    assert [row["name"] for row in rows] == ["p0:0", "p1:0", "p1:1", "p2:0", "p2:1"]
    text = run_cffpy("draws", path).stdout.decode().splitlines()[1:]
    assert [line.split()[2] for line in text] == [row["name"] for row in rows]
    out = tmp_path / "out.rd"
    for row in (rows[0], rows[-1]):
        document = json.loads(run_cffpy("state", "--json", "--at", row["name"], path).stdout)
        assert (document["draw"]["name"], document["draw"]["dump_draw"]) == (
            row["name"],
            int(row["dump_draw"]),
        )
        assert run_cffpy("edit", "--nop-draw", row["name"], "-o", out, path).returncode == 0
        edited = out.read_bytes()
        dump = f"#{row['dump_draw']}"
        assert run_cffpy("edit", "--nop-draw", dump, "-o", out, path).returncode == 0
        assert out.read_bytes() == edited != path.read_bytes()
    done = run_cffpy("edit", "--nop-draw", "p9:0", "-o", out, path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert "no pass p9: the capture has 3 passes, p0 to p2" in done.stderr.decode()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--inherited", "--csv"), "--inherited can only be combined with --json"),
        (("--inherited", "--pass", 0), "--inherited can only be combined with --json"),
    ],
)
def test_errors_of_usage(
    path: Path, run_cffpy: Run, options: tuple[object, ...], words: str
) -> None:
    done = run_cffpy("draws", *options, path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr.decode()


def test_inherited(path: Path, run_cffpy: Run) -> None:
    document = json.loads(run_cffpy("draws", "--inherited", "--json", path).stdout)
    assert document["schema"] == "cffpy.inherited/1"
    (submit,) = document["submits"]
    assert (submit["submit"], submit["draw"]["dump_draw"]) == (1, 8)
    names = {one["register"]: one for one in submit["registers"]}
    assert names["RB_MRT[0].PITCH"]["origin"] == "earlier submit"
    assert "GRAS_SC_WINDOW_SCISSOR_TL" not in names, "written in this submit"
    lines = run_cffpy("draws", "--inherited", path).stdout.decode().splitlines()
    assert lines[0] == (f"submit 1: {len(names)} registers of earlier submits in force at")
    assert "  RB_MRT[0].PITCH: 1024" in lines


def test_draws_between_passes_have_targets(run_cffpy: Run, tmp_path: Path) -> None:
    """turnip fills and copies some images by rectangles, whose targets are bound as for others."""
    text = tmp_path / "text.pm4"
    text.write_text(
        "pm4 1\ngpu_id 660\nbuffer memory 0x1000 {\n  commands main {\n"
        "    RB_FS_OUTPUT_CNTL1 = { MRT=1 }\n    RB_MRT[0].CONTROL = { COMPONENT_ENABLE=15 }\n"
        "    RB_MRT[0].BUF_INFO = { COLOR_FORMAT=FMT6_8_8_8_8_UNORM }\n"
        "    + RB_MRT[0].PITCH = 256\n    + RB_MRT[0].ARRAY_PITCH = 0x4000\n"
        "    + RB_MRT[0].BASE = 0x100000\n"
        "    CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_RECTLIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
        " NUM_INSTANCES=1 NUM_INDICES=2\n    CP_BLIT OP=BLIT_OP_SCALE\n  }\n}\nstream main\n"
    )
    path = tmp_path / "capture.rd"
    assert run_cffpy("compile", text, "-o", path).returncode == 0
    draws = json.loads(run_cffpy("draws", "--json", path).stdout)["draws"]
    assert [one["role"] for one in draws] == ["fill", "copy"]
    (target,) = draws[0]["targets"]
    assert (target["name"], target["address"]) == ("color 0", "0x100000")
    assert (target["format"], target["pitch"]) == ("FMT6_8_8_8_8_UNORM", 256)
    assert draws[1]["targets"] == []
    where = "target.address == 0x100000"
    assert run_cffpy("find", "--count", where, path).stdout.decode() == f"{path}: 1\n"
    listed = run_cffpy("image", "--at", "#0", path).stdout.decode()
    assert listed == (
        "target 0 (color 0): pass 0 has no framebuffer: the size of color 0 is not known\n"
        "destination 0 (FMT6_8_8_8_8_UNORM): its address, format or size is not known\n"
    )


@pytest.fixture
def tiled(tmp_path: Path) -> Path:
    """Tile 2 ignores the visibility streams; those of the others are not captured."""
    file = tmp_path / "tiles.rd"
    tiles = [NewTile((0, 0)), NewTile((256, 0)), NewTile((256, 256), override=1)]
    file.write_bytes(Stream(tiles).build())
    return file


@pytest.mark.slow
def test_a_filter_of_tiles_is_asked_about_executions(tiled: Path, run_cffpy: Run) -> None:
    """Without --all, too: a draw is listed once, by one of its executions, in other commands."""

    def tiles(*options: object) -> list[int | None]:
        done = run_cffpy("draws", "--json", *options, tiled)
        assert done.stderr == b""
        return [one["tile"] for one in json.loads(done.stdout)["draws"]]

    assert tiles() == [0]
    for where in ("draw.tile == 2 and draw.executed", "tile.number == 2", "draw.visible"):
        assert tiles("--where", where) == [2]
    assert tiles("--where", "draw.tile >= 1 and draw.emitted") == [1, 2]
    assert tiles("--where", "draw.binning") == [None]
    assert tiles("--where", "tile.visible == 1") == [2]
    assert tiles("--at", "p0:t1") == [1]
    assert tiles("--pass", 0, "--tile", 2, "--visible") == [2]
    assert run_cffpy("find", "--count", "draw.tile == 2", tiled).stdout.endswith(b": 1\n")
    with cffpy.open(tiled) as capture:
        (draw,) = capture.draws.where("draw.tile == 2 and draw.visible")
        assert draw is capture.draws[0]
        assert [*capture.passes.where("draw.tile == 2")] == [*capture.passes]
        found = [(one.tile and one.tile.number, one.visible) for one in draw.executions]
        assert found == [(None, None), (0, None), (1, None), (2, True)]
        facts = capture.passes[0].tiles
        assert [(one.emitted, one.visible, one.executed) for one in facts] == [
            (1, None, 1),
            (1, None, 1),
            (1, 1, 1),
        ]


def test_unknown_visibility_and_tiles(tiled: Path, run_cffpy: Run) -> None:
    done = run_cffpy("draws", "--at", "p0:t1", "--visible", tiled)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"1 executions are not listed: it is not known whether they are visible" in done.stderr
    done = run_cffpy("draws", "--at", "p0:t9", tiled, check=False)
    assert done.returncode == 1
    assert b"no tile p0:t9: pass 0 has 3 tiles, p0:t0 to p0:t2" in done.stderr
