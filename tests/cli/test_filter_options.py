# SPDX-License-Identifier: MIT
"""--where and --columns of draws, passes and tiles; where of the interface's lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cffpy
from tests.command_server import Run


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


@pytest.mark.slow
def test_floats_that_json_has_not_and_registers_of_shaders(run_cffpy: Run, tmp_path: Path) -> None:
    """They are texts, as the dump prints them; a name stands for a shader's register."""
    text = tmp_path / "text.pm4"
    text.write_text(
        "pm4 1\ngpu_id 330\nbuffer memory 0x1000 {\n  commands main {\n"
        "    GRAS_CL_VPORT_XOFFSET = 0x7f800000\n    GRAS_CL_VPORT_XSCALE = 0xffffffff\n"
        "    VFD_CONTROL_1 = { REGID4VTX=r63.x, REGID4INST=r1.y }\n"
        "    CP_DRAW_INDX [0]=0x0 [1]=0x84 [2]=0x3\n  }\n}\nstream main\n"
    )
    path = tmp_path / "capture.rd"
    output(run_cffpy, "compile", text, "-o", path)
    names = ("GRAS_CL_VPORT_XOFFSET", "GRAS_CL_VPORT_XSCALE", "VFD_CONTROL_1.REGID4VTX")

    def refused(word: str) -> None:
        raise AssertionError(word)

    arguments = ("draws", "--columns", ",".join(names), path)
    document = json.loads(output(run_cffpy, *arguments, "--json"), parse_constant=refused)
    assert list(document["rows"][0]["values"].values()) == ["inf", "-nan", "r63.x"]
    line = json.loads(output(run_cffpy, *arguments, "--jsonl"), parse_constant=refused)
    assert line["values"] == document["rows"][0]["values"]
    for where, count in {
        "VFD_CONTROL_1.REGID4INST == r1.y": 1,
        "VFD_CONTROL_1.REGID4INST == 5": 1,
        "VFD_CONTROL_1.REGID4INST in r1.z..r63.x": 0,
        "VFD_CONTROL_1.REGID4INST ~ '^r1'": 1,
    }.items():
        assert output(run_cffpy, "find", "--count", where, path) == f"{path}: {count}\n", where


@pytest.mark.slow
def test_passes(samples: Path, gmem: Path, run_cffpy: Run) -> None:
    whole = output(run_cffpy, "passes", gmem)
    assert output(run_cffpy, "passes", "--where", "pass.mode == gmem", gmem) == whole
    assert output(run_cffpy, "passes", "--where", "draw.vertices == 3", gmem) == whole
    assert output(run_cffpy, "passes", "--where", "draw.vertices == 4", gmem) == ""
    two = samples / "a530-two-submits.rd"
    last = output(run_cffpy, "passes", "--where", "pass.submit == 1", "--csv", two).splitlines()
    rows = output(run_cffpy, "passes", "--csv", two).splitlines()
    assert last == [rows[0], *(row for row in rows[1:] if row.split(",")[2] == "1")]
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
        assert capture.passes.where("pass.tile_count == 4") == [found]
        assert [tile.number for tile in found.tiles.where("tile.rectangle.top == 64")] == [2, 3]
        executions = capture.actions.where("draw.vertices == 3 and RB_WINDOW_OFFSET.X == 96")
        assert [one.tile.number for one in executions] == [1, 2]
        with pytest.raises(cffpy.FilterError):
            capture.draws.where("NOPE")


# -- several files -----------------------------------------------------------------------------

NAMES = ("a660-frame-gmem.rd", "a660-frame-sysmem.rd")
COMMANDS = (
    ("draws",),
    ("draws", "--inherited"),
    ("draws", "--columns", "pass.mode"),
    ("passes",),
    ("passes", "--cost"),
    ("passes", "--queries"),
    ("draws", "--stream-out"),
    ("passes", "--why"),
    ("passes", "--barriers"),
    ("state", "--at", "p0:0"),
    ("state", "--where", "draw.vertices > 3"),
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_several_files_are_each_file_alone(
    command: tuple[str, ...], samples: Path, run_cffpy: Run
) -> None:
    """Under headings, in a column, or in documents, the output is that of each file."""
    files = [str(samples / name) for name in NAMES]
    alone = [run_cffpy(*command, path).stdout for path in files]
    both = run_cffpy(*command, *files)
    assert both.stderr == b""
    assert both.stdout == b"\n".join(
        path.encode() + b":\n" + text for path, text in zip(files, alone, strict=True)
    )
    document = json.loads(run_cffpy(*command, "--json", *files).stdout)
    assert document == {
        "schema": "cffpy.files/1",
        "files": [
            {
                "file": path,
                "error": None,
                "document": json.loads(run_cffpy(*command, "--json", path).stdout),
            }
            for path in files
        ],
    }
    if command[-1] not in (
        "--inherited",
        "--cost",
        "--queries",
        "--stream-out",
        "--why",
        "--barriers",
    ):
        first, second = (
            run_cffpy(*command, "--csv", path).stdout.decode().splitlines() for path in files
        )
        rows = [f"file,{first[0]}"]
        for path, lines in zip(files, (first, second), strict=True):
            rows += [f"{path},{line}" for line in lines[1:]]
        assert run_cffpy(*command, "--csv", *files).stdout.decode().splitlines() == rows


def test_a_folder_with_files_that_fail(samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    for name in NAMES:
        (tmp_path / name).write_bytes((samples / name).read_bytes())
    (tmp_path / "b.rd").write_bytes(b"no capture")
    done = run_cffpy("tiles", tmp_path, tmp_path / "missing.rd", check=False)
    assert done.returncode == 1
    assert done.stdout.startswith(str(tmp_path / NAMES[0]).encode() + b":\npass 0")
    assert done.stdout.count(b"\npass 0") == 1
    assert b"missing.rd: No such file" in done.stderr
    assert b"frame-sysmem.rd: no pass of this capture is rendered in tiles" in done.stderr
    assert b"b.rd: " in done.stderr
    done = run_cffpy("tiles", "--json", tmp_path, check=False)
    errors = [one["error"] for one in json.loads(done.stdout)["files"]]
    assert errors[0] is None
    assert "rendered in tiles" in errors[1]
    done = run_cffpy("tiles", "--svg", "-", tmp_path, check=False)
    assert done.returncode == 2
    empty = tmp_path / "empty"
    empty.mkdir()
    for options in (["--csv"], []):
        done = run_cffpy("draws", *options, empty, check=False)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"no captures in the folder" in done.stderr


def test_state_at_draws_for_which_a_filter_holds(samples: Path, run_cffpy: Run) -> None:
    path = str(samples / NAMES[0])
    found = run_cffpy("state", "--where", "draw.number in 0..1", path, "RB_DEPTH_CNTL").stdout
    alone = [
        run_cffpy("state", "--at", f"p0:{number}", path, "RB_DEPTH_CNTL").stdout
        for number in (0, 1)
    ]
    assert found == b"\n".join(alone)
    both = ("--where", "draw.number in 1..9", "--at", "p0:0-1")
    assert run_cffpy("state", *both, path, "RB_DEPTH_CNTL").stdout == alone[1]
    ranged = run_cffpy("state", "--at", "p0:0-1", path, "RB_DEPTH_CNTL").stdout
    assert ranged == found
    assert run_cffpy("state", path, check=False).returncode == 2
