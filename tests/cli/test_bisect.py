# SPDX-License-Identifier: MIT
"""``cffpy bisect``: by hand and by a command; its state file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def hang(samples: Path, tmp_path: Path) -> Path:
    path = tmp_path / "hang.rd"
    source = next(samples.glob("a430-depth-bad.rd*"))
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes())
    return path


def test_by_hand(hang: Path, run_cffpy: Run) -> None:
    out = hang.with_name("try.rd")
    done = run_cffpy("bisect", hang, "--bad")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"there is no try to judge" in done.stderr
    answers = []
    for _ in range(10):
        done = run_cffpy("bisect", hang, "-o", out, *answers)
        assert (done.returncode, done.stderr) == (0, b"")
        if b"found: " in done.stdout:
            break
        assert run_cffpy("info", out).returncode == 0
        answers = ["--bad"]
    assert (
        done.stdout.splitlines()[-1] == b"found: the problem is there with pass 0 without its draws"
    )
    state = json.loads(Path(f"{hang}.bisect.json").read_text())
    assert {one["answer"] for one in state["answers"]} == {"bad"}
    assert b"next: " in run_cffpy("bisect", hang, "--reset").stdout


def test_by_a_command(hang: Path, run_cffpy: Run) -> None:
    """The problem is there where the second draw is."""
    script = hang.with_name("judge.py")
    script.write_text(
        "import sys, cffpy\n"
        "draws = [one.place.gpuaddr for one in cffpy.open(sys.argv[1]).draws]\n"
        "sys.exit(len(draws) > 1)\n"
    )
    done = run_cffpy("bisect", "--json", hang, "--run", f"{sys.executable} {script} {{}}")
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert found["schema"] == "cffpy.bisect/2"
    assert (found["found"]["draw"], found["next"]) == ("p0:1", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "cffpy.bisect/2", "answers": [1]}',
        '{"schema": "cffpy.bisect/2", "answers": [{"try": "d0", "answer": []}]}',
    ],
)
def test_a_state_that_is_none(text: str, hang: Path, run_cffpy: Run) -> None:
    state = hang.with_name("state.json")
    state.write_text(text)
    done = run_cffpy("bisect", hang, "--state-file", state)
    assert done.returncode == 1
    assert b"not a state of cffpy bisect" in done.stderr


def test_a_state_of_another_capture(hang: Path, run_cffpy: Run, samples: Path) -> None:
    assert run_cffpy("bisect", hang, "--reset").returncode == 0
    other = next(samples.glob("a430-depth-good.rd*"))
    done = run_cffpy("bisect", other, "--state-file", f"{hang}.bisect.json")
    assert done.returncode == 1
    assert b"of another capture" in done.stderr


def test_in_python(hang: Path) -> None:
    def is_bad(data: bytes) -> bool:
        with cffpy.open(data) as capture:
            return len(capture.draws) > 1

    found = cffpy.bisect(hang, is_bad)
    assert (found.draw, found.is_exact) == ("p0:1", True)
