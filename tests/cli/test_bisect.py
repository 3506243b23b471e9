# SPDX-License-Identifier: MIT
"""``cffpy bisect``: by hand and by a command; its state file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import cffpy
from tests.command_server import Run
from tests.selection import first_always


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where answers are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "cffpy" / "bisect"


@pytest.fixture
def hang(samples: Path, tmp_path: Path, states: Path) -> Path:
    source = next(samples.glob("a430-depth-bad.rd*"))
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes())
    return path


def test_by_hand(hang: Path, states: Path, run_cffpy: Run) -> None:
    out = hang.with_name("try.rd")
    hang.parent.joinpath("there").mkdir()
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
    (file,) = states.iterdir()
    assert {one.name for one in hang.parent.iterdir()} == {hang.name, "try.rd", "there", "state"}
    state = json.loads(file.read_text())
    assert {one["answer"] for one in state["answers"]} == {"bad"}
    assert b"next: " in run_cffpy("bisect", hang, "--reset").stdout


@pytest.mark.slow
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
    assert found["schema"] == "cffpy.bisect/1"
    assert (found["found"]["draw"], found["next"]) == ("p0:1", None)


@pytest.mark.parametrize(
    "text",
    first_always(
        [
            "",
            "[]",
            "{}",
            '{"schema": "cffpy.bisect/1", "answers": [1]}',
            '{"schema": "cffpy.bisect/1", "answers": [{"try": "d0", "answer": []}]}',
        ],
        2,
    ),
)
def test_a_state_that_is_none(text: str, hang: Path, run_cffpy: Run) -> None:
    state = hang.with_name("state.json")
    state.write_text(text)
    done = run_cffpy("bisect", hang, "--state-file", state)
    assert done.returncode == 1
    assert b"not a state of cffpy bisect" in done.stderr


def test_a_state_of_another_capture(hang: Path, run_cffpy: Run, samples: Path) -> None:
    state = hang.with_name("state.json")
    assert run_cffpy("bisect", hang, "--reset", "--state-file", state).returncode == 0
    other = next(samples.glob("a430-depth-good.rd*"))
    done = run_cffpy("bisect", other, "--state-file", state)
    assert done.returncode == 1
    assert b"of another capture" in done.stderr


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("true {}", "good"),
        ("exit 1 {}", "bad"),
        ("exit 124 {}", "bad"),
        ("exit 125 {}", "skip"),
    ],
)
def test_exit_codes_are_those_of_git_bisect(
    command: str, answer: str, hang: Path, run_cffpy: Run
) -> None:
    done = run_cffpy("bisect", "--json", hang, "--run", command)
    assert (done.returncode, done.stderr) == (0, b"")
    assert {one["answer"] for one in json.loads(done.stdout)["answers"]} == {answer}


@pytest.mark.parametrize(
    ("command", "error"),
    first_always(
        [
            ("./nope {}", "is not found: ./nope {}"),
            ("exit 126; {}", "cannot be run"),
            ("exit 128; {}", "ended with exit code 128"),
            ("kill -SEGV $$; {}", "was ended by signal 11"),
            ("sh -c 'kill -KILL $$' {}; exit $?", "was ended by signal 9"),
            ("exit 255; {}", "ended with exit code 255"),
        ],
        2,
        names=2,
    ),
)
def test_what_is_no_answer_ends_the_search(
    command: str, error: str, hang: Path, states: Path, run_cffpy: Run
) -> None:
    done = run_cffpy("bisect", hang, "--run", command)
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"the command of --run {error}" in done.stderr.decode()
    assert not states.exists(), "no answer was kept"


def test_a_command_names_the_capture(hang: Path, run_cffpy: Run) -> None:
    done = run_cffpy("bisect", hang, "--run", "true")
    assert done.returncode == 2
    assert b"needs {}" in done.stderr


@pytest.mark.parametrize("base", first_always(["", "relative/folder"]))
def test_without_a_state_directory_it_is_that_of_the_home(
    base: str, hang: Path, tmp_path: Path, run_cffpy: Run
) -> None:
    home = {"XDG_STATE_HOME": base, "HOME": str(tmp_path / "home")}
    assert run_cffpy("bisect", hang, "--reset", env=home, cwd=tmp_path).returncode == 0
    assert list((tmp_path / "home/.local/state/cffpy/bisect").iterdir())


def test_in_python(hang: Path) -> None:
    def is_bad(data: bytes) -> bool:
        with cffpy.open(data) as capture:
            return len(capture.draws) > 1

    found = cffpy.bisect(hang, is_bad)
    assert (found.draw, found.is_exact) == ("p0:1", True)
