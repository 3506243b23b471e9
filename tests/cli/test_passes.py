# SPDX-License-Identifier: MIT
"""cffpy passes, run as users run it."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from cffpy.frame.passes import Pass
from cffpy.views.model_documents import csv_columns
from tests.analysis.passes.small import COLOUR, small_capture
from tests.command_server import Run


def test_text(path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("passes", path)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "submit 0: 1 render pass, 2 program draws, 1 copy"
    assert "  pass 1: gmem, framebuffer 200x90, 2 draws" in lines
    assert "    marker: \\x1b[31mred\\x07" in lines
    assert b"\x1b" not in done.stdout
    assert b"\x07" not in done.stdout


def test_standard_input_and_compression(path: Path, run_cffpy: Run) -> None:
    plain = run_cffpy("passes", path).stdout
    assert run_cffpy("passes", "-", input=path.read_bytes()).stdout == plain
    assert run_cffpy("passes", "-", input=gzip.compress(path.read_bytes())).stdout == plain


def test_json(path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("passes", "--json", path)
    assert (done.returncode, done.stderr) == (0, b"")
    document = json.loads(done.stdout)
    assert next(iter(document)) == "schema"
    assert (document["schema"], document["gpu"], document["generation"]) == (
        "cffpy.passes/1",
        "FD630",
        6,
    )
    assert document["problems"] == []
    passes = document["passes"]
    assert [(one["pass"], one["kind"], one["mode"]) for one in passes] == [
        (0, "transfer", None),
        (1, "render", "gmem"),
        (2, "render", "sysmem"),
    ]
    assert passes[1]["attachments"][0]["address"] == hex(COLOUR)
    assert passes[2]["markers"] == ["\x1b[31mred\x07"]
    assert int(passes[2]["first"]["file_offset"], 16) < path.stat().st_size


def test_csv(path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("passes", "--csv", path)
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))
    assert list(rows[0]) == csv_columns(Pass)
    assert [
        (row["kind"], row["framebuffer_width"], row["tile_count"], row["draw_count"])
        for row in rows
    ] == [
        ("transfer", "", "0", "1"),
        ("render", "200", "2", "2"),
        ("render", "64", "0", "2"),
    ]


def test_selection(path: Path, run_cffpy: Run) -> None:
    def indices(*options: object) -> list[int]:
        document = json.loads(run_cffpy("passes", "--json", *options, path).stdout)
        return [one["pass"] for one in document["passes"]]

    assert indices("--pass", 1) == [1]
    assert indices("--submit", 1) == [2]
    assert indices("--submit", 0) == [0, 1]
    assert indices("--at", "s0") == [0, 1]
    assert indices("--at", "p1:1") == [1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--submit", 0, "--pass", 2), "--submit and --pass cannot be used together"),
        (("--json", "--csv"), "--json and --csv cannot be used together"),
        (("--gpu", "nonsense"), "--gpu"),
        (("--pass", "x"), "--pass"),
    ],
)
def test_errors_of_usage(
    path: Path, run_cffpy: Run, options: tuple[object, ...], words: str
) -> None:
    done = run_cffpy("passes", *options, path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "content"), [("absent.rd", None), ("noise.rd", b"\x93\xf1 no capture at all" * 9)]
)
def test_errors_in_one_line(
    tmp_path: Path, run_cffpy: Run, name: str, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run_cffpy("passes", tmp_path / name)
    assert (done.returncode, done.stdout) == (1, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("cffpy: error: ")
    assert name in line


@pytest.mark.parametrize("options", [(), ("--json",), ("--csv",)])
def test_damage(tmp_path: Path, run_cffpy: Run, options: tuple[str, ...]) -> None:
    """Everything before the damage is shown, the damage is reported, and the exit code is 1."""
    path = tmp_path / "cut.rd"
    whole = small_capture()
    path.write_bytes(whole[:-40])
    done = run_cffpy("passes", *options, path)
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"cffpy: error: {path}: ")
    path.write_bytes(whole)
    sound = run_cffpy("passes", *options, "--submit", 0, path).stdout
    if "--json" in options:
        document = json.loads(done.stdout)
        assert document.pop("problems") == [line.removeprefix(f"cffpy: error: {path}: ")]
        assert document | {"problems": []} == json.loads(sound)
    else:
        assert done.stdout == sound, "the second submit's stream is cut off"


def test_damaged_compression(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "cut.rd.gz"
    path.write_bytes(gzip.compress(small_capture())[:-30])
    done = run_cffpy("passes", path)
    assert done.returncode == 1
    assert b"pass 1: gmem" in done.stdout
    assert done.stderr.startswith(b"cffpy: error: ")


def test_commands_that_were_not_captured(tmp_path: Path, run_cffpy: Run) -> None:
    """Each is reported once, with its address; one line reports that there are more."""
    from tests.builders import capture, type7

    calls = [dword for n in (*range(60), 0) for dword in type7(0x3F, 0x7F000000 + 64 * n, 0, 5)]
    path = tmp_path / "calls.rd"
    path.write_bytes(capture(630, calls))
    done = run_cffpy("passes", path)
    assert done.returncode == 1
    lines = done.stderr.decode().splitlines()
    assert lines == [
        *(
            f"cffpy: error: {path}: stream 0: the 5 dwords at {0x7F000000 + 64 * n:#x} "
            "were not captured"
            for n in range(50)
        ),
        f"cffpy: error: {path}: more problems are not shown",
    ]
    document = json.loads(run_cffpy("passes", "--json", path).stdout)
    assert len(document["problems"]) == 60


def test_a_capture_without_commands(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "empty.rd"
    path.write_bytes(b"")
    for options in ((), ("--csv",), ("--json",)):
        done = run_cffpy("passes", *options, path)
        assert done.returncode == 1
        assert done.stderr.decode() == (
            f"cffpy: error: {path}: the file is empty (at file offset 0x0)\n"
        )
    assert json.loads(done.stdout)["passes"] == []


def test_help(run_cffpy: Run) -> None:
    for command in ("passes", "draws", "state"):
        done = run_cffpy(command, "--help")
        assert done.returncode == 0
        assert f"cffpy {command}".encode() in done.stdout.partition(b"Examples:")[2]


def test_costs(samples: Path, run_cffpy: Run) -> None:
    capture = samples / "a660-frame-gmem.rd"
    done = run_cffpy("passes", "--cost", capture)
    assert (done.returncode, done.stderr) == (0, b"")
    first, second, *_ = done.stdout.decode().splitlines()
    assert first.endswith(" bytes loaded, stored and resolved by all render passes")
    assert second.startswith("1. pass 0: gmem")
    assert second.endswith("100.0 %")
    document = json.loads(run_cffpy("passes", "--cost", "--json", capture).stdout)
    assert document["schema"] == "cffpy.passes.cost/1"
    (one,) = document["passes"]
    assert one["stored_bytes"] == sum(
        row["pixels"] * row["bytes_a_pixel"] * row["samples"]
        for row in one["operations"]
        if row["kind"] == "store"
    )
    assert (one["rank"], one["share"], one["not_counted"]) == (1, 1.0, 0)
    assert run_cffpy("passes", "--cost", "--csv", capture).returncode == 2
