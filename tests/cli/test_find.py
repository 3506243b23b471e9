# SPDX-License-Identifier: MIT
"""cffpy find, run as users run it, and cffpy.find."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cffpy
from cffpy.container.kinds import captures_in
from tests.command_server import Run
from tests.selection import first_always

WHERE = "RB_DEPTH_CNTL.ZFUNC == FUNC_LESS"


def test_lines_in_the_order_of_the_files(samples: Path, run_cffpy: Run) -> None:
    paths = [samples / f"{name}.rd" for name in ("a660-frame-sysmem", "a660-frame-gmem")]
    done = run_cffpy("find", WHERE, *paths, "--columns", "pass.mode", "--jobs", "2")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "".join(
        f"{path}: s0 p0:{number} (#{dump}){tile}: pass.mode={mode} RB_DEPTH_CNTL.ZFUNC=FUNC_LESS\n"
        for path, mode, tile in zip(paths, ("sysmem", "gmem"), ("", " in p0:t0"), strict=True)
        for number, dump in enumerate((3, 4))
    )
    assert run_cffpy("find", WHERE, *paths, "--columns", "pass.mode", "--jobs", "1").stdout == (
        done.stdout
    )


def test_documents(samples: Path, run_cffpy: Run) -> None:
    path = samples / "a660-frame-gmem.rd"
    document = json.loads(run_cffpy("find", "draw.vertices == 3", path, "--json").stdout)
    assert document == {
        "schema": "cffpy.find/1",
        "where": "draw.vertices == 3",
        "files": [
            {
                "file": str(path),
                "gpu": "FD660",
                "count": 1,
                "unknown": 0,
                "draws": [
                    {
                        "submit": 0,
                        "pass": 0,
                        "draw": "p0:1",
                        "dump_draw": 4,
                        "tile": 0,
                        "values": {"draw.vertices": 3},
                    }
                ],
                "absent": [],
                "problems": [],
                "error": None,
            }
        ],
    }
    lines = run_cffpy("find", "--jsonl", "draw.vertices == 3", path, path).stdout.splitlines()
    assert [json.loads(line)["draw"] for line in lines] == ["p0:1", "p0:1"]


def test_folders_counts_and_the_first(samples: Path, run_cffpy: Run, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/one.rd", "a.rd", "c.txt"):
        (tmp_path / name).write_bytes((samples / "a660-frame-gmem.rd").read_bytes())
    done = run_cffpy("find", "--count", WHERE, tmp_path)
    assert done.stdout.decode() == f"{tmp_path}/a.rd: 2\n{tmp_path}/b/one.rd: 2\n"
    assert run_cffpy("find", "--first", WHERE, tmp_path).stdout.count(b"\n") == 2


def test_other_generations_and_damage(samples: Path, run_cffpy: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.rd").write_bytes(b"")
    (tmp_path / "no.rd").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    old = samples / "a430-depth-good.rd"
    done = run_cffpy("find", WHERE, tmp_path, old, samples / "a660-frame-gmem.rd", "missing.rd")
    assert done.returncode == 1
    assert done.stdout.count(b"\n") == 2
    said = done.stderr.decode()
    assert "empty.rd: the file is empty" in said
    assert "no.rd" in said
    assert "missing.rd" in said
    assert "1 capture: a4xx has no RB_DEPTH_CNTL.ZFUNC; its value is unknown there" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    first_always(
        [
            (("find", "NO_SUCH", "x.rd"), "no generation has a register NO_SUCH"),
            (("find", "pass.views = 3", "x.rd"), "filter, column 12: values are compared by =="),
            (("find", "--count", "--first", "1", "x.rd"), "cannot be used with"),
            (("find", "1", "x.rd", "--columns", "1"), "'1' is not the name of a column"),
            (("find", "1", "x.rd", "--columns", "pass.mode,,"), "is not the name of a column"),
        ],
        2,
        names=2,
    ),
)
def test_wrong_arguments(run_cffpy: Run, arguments: tuple[str, ...], message: str) -> None:
    done = run_cffpy(*arguments)
    assert done.returncode != 0
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


@pytest.mark.slow
def test_the_interface(samples: Path) -> None:
    found = list(cffpy.find(WHERE, [samples], columns="pass.mode", jobs=1, limits={"depth": 5}))
    in_order = [path for path in captures_in([samples]) if path in {one.path for one in found}]
    assert [one.path for one in found] == in_order
    gmem = next(one for one in found if one.path.endswith("a660-frame-gmem.rd"))
    assert [(draw.name, draw.values[0].text) for draw in gmem.draws] == [
        ("p0:0", "gmem"),
        ("p0:1", "gmem"),
    ]
    assert gmem.count == 2
    with pytest.raises(cffpy.FilterError):
        cffpy.find("NO_SUCH", [samples])


@pytest.mark.slow
def test_workers_find_what_one_process_finds(shared: Path) -> None:
    folder = shared / "captures"
    where = "changed(RB_DEPTH_CNTL) and RB_MRT[*].CONTROL.BLEND"
    alone = [one.to_dict() for one in cffpy.find(where, [folder], jobs=1)]
    assert alone == [one.to_dict() for one in cffpy.find(where, [folder], jobs=3)]
    assert sum(one["count"] for one in alone) > 50
