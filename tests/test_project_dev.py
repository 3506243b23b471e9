# SPDX-License-Identifier: MIT
"""The script ``dev``, run with fake interpreters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent

# "-m venv --clear DIR" makes DIR/bin/python, a copy of itself; everything is written down.
INTERPRETER = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
*"version_info"*) exit {old:d} ;;
*"import ensurepip"*) exit {bare:d} ;;
"-m venv"*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
"-m pip"*) test -z "$NO_PIP" || {{ echo "ERROR: nothing found"; exit 1; }} ;;
*ruff*) exit ${{RUFF:-0}} ;;
*pytest*) test -z "$PYTHONDONTWRITEBYTECODE" || exit 1 ;;
esac
"""


class Checkout:
    """A folder with the script and the project file, and interpreters that write down calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a checkout"
        self.programs = folder / "bin"
        self.calls = folder / "calls"
        self.folder.mkdir()
        self.programs.mkdir()
        shutil.copy(CHECKOUT / "dev", self.folder)
        shutil.copy(CHECKOUT / "pyproject.toml", self.folder)

    def interpreter(self, name: str, old: bool = False, bare: bool = False) -> None:
        path = self.programs / name
        path.write_text(INTERPRETER.format(old=old, bare=bare))
        path.chmod(0o755)

    def dev(self, *arguments: str, **environment: str) -> tuple[int, str, list[str]]:
        """Exit code, standard error, and the calls of interpreters that do something."""
        self.calls.unlink(missing_ok=True)
        done = subprocess.run(
            [self.folder / "dev", *arguments],
            capture_output=True,
            cwd=self.programs,
            env={"PATH": f"{self.programs}:/usr/bin:/bin", "CALLS": str(self.calls), **environment},
            text=True,
        )
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        return done.returncode, done.stderr, [call for call in calls if call.startswith("-m")]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    found = Checkout(tmp_path)
    found.interpreter("fine")
    return found


def modules(calls: list[str]) -> list[str]:
    return [call.split()[1] for call in calls]


def test_sets_up_once(checkout: Checkout) -> None:
    code, errors, calls = checkout.dev("run", "dump", "a b", PYTHON="fine")
    assert code == 0
    assert "setting up" in errors
    assert modules(calls) == ["venv", "pip", "pip", "compileall", "cffpy"]
    assert calls[-1] == "-m cffpy dump a b"
    code, errors, calls = checkout.dev("run", "info", PYTHON="fine")
    assert (code, errors, modules(calls)) == (0, "", ["cffpy"])


def test_checks_need_more_than_running(checkout: Checkout) -> None:
    checkout.dev("run", PYTHON="fine")
    code, errors, calls = checkout.dev("test", "-k", "x", PYTHON="fine")
    assert code == 0
    assert calls[0].endswith("[dev]")
    assert modules(calls) == ["pip", "compileall", "ruff", "ruff", "mypy", "pytest"]
    assert calls[-1] == "-m pytest -n auto -k x"
    assert "all checks passed" in errors
    assert modules(checkout.dev("test", PYTHON="fine")[2]) == ["ruff", "ruff", "mypy", "pytest"]
    assert modules(checkout.dev("run", PYTHON="fine")[2]) == ["cffpy"]


def test_tests_are_kept_as_bytecode(checkout: Checkout) -> None:
    assert checkout.dev("test", PYTHON="fine", PYTHONDONTWRITEBYTECODE="1")[0] == 0


def test_slow_tests_and_times(checkout: Checkout) -> None:
    """Times are compared last, and not beside other tests."""
    code, _, calls = checkout.dev("test", "--all", "tests/cp", PYTHON="fine", CFFPY_SEED="17")
    assert code == 0
    examples = "--hypothesis-profile=random --hypothesis-seed=17"
    assert calls[-3:] == [
        "-m pytest -n auto --dist worksteal -m not perf and not fuzz"
        f" {examples} --new-processes tests/cp",
        f"-m pytest -n auto -m fuzz {examples} tests/cp",
        "-m pytest -m perf tests/cp",
    ]
    assert checkout.dev("test", "--exhaustive", PYTHON="fine")[2][-1] == "-m pytest -m perf"


def test_a_seed_is_printed_and_repeats_its_examples(checkout: Checkout) -> None:
    """``--all`` draws other examples each time; the default tests never do."""
    _, errors, calls = checkout.dev("test", "--all", PYTHON="fine")
    found = re.search(r"examples of seed (\d+) \(CFFPY_SEED=\1 repeats them\)", errors)
    assert found
    assert f"--hypothesis-seed={found[1]} " in calls[-3]
    assert not any("hypothesis" in call for call in checkout.dev("test", PYTHON="fine")[2])


def test_all_checks_run_where_one_fails(checkout: Checkout) -> None:
    code, errors, calls = checkout.dev("test", PYTHON="fine", RUFF="1")
    assert code == 1
    assert modules(calls)[-1] == "pytest"
    assert "dev: error: failed: lint, format\n" in errors


def test_packages_are_built_and_checked(checkout: Checkout) -> None:
    """The wheel is made of the source archive; what an earlier version left is not checked."""
    folder = checkout.folder / "out"
    folder.mkdir()
    (folder / "cffpy-0.0.1.tar.gz").touch()
    code, _, calls = checkout.dev("packages", str(folder), PYTHON="fine")
    assert code == 0
    assert modules(calls)[-4:] == ["hatchling", "pip", "twine", "check_wheel_contents"]
    assert not list(folder.iterdir())


def test_sets_up_again_where_something_has_changed(checkout: Checkout) -> None:
    checkout.dev("setup", PYTHON="fine")
    with open(checkout.folder / "pyproject.toml", "a") as file:
        file.write("# changed\n")
    assert modules(checkout.dev("run", PYTHON="fine")[2]) == ["pip", "compileall", "cffpy"]
    checkout.folder = checkout.folder.rename(checkout.folder.parent / "moved")
    assert modules(checkout.dev("run", PYTHON="fine")[2]) == ["pip", "compileall", "cffpy"]
    assert modules(checkout.dev("run", PYTHON="fine")[2]) == ["cffpy"]


def test_a_failed_set_up_is_tried_again(checkout: Checkout) -> None:
    code, errors, calls = checkout.dev("run", PYTHON="fine", NO_PIP="1")
    assert code == 1
    assert "dev: error: pip could not install the dependencies: ERROR: nothing found" in errors
    assert modules(calls) == ["venv", "pip", "pip"]
    assert modules(checkout.dev("run", PYTHON="fine")[2]) == ["pip", "compileall", "cffpy"]


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("none", "Python 3.11 or newer is needed, and none was found (PYTHON=... names one)"),
        ("old", "Python 3.11 or newer is needed; too old: old (PYTHON=... names another)"),
        ("bare", "bare lacks its venv module (Debian, Ubuntu: apt install python3-venv)"),
        ("old bare", "bare lacks its venv module (Debian, Ubuntu: apt install python3-venv)"),
        ("none old bare fine", ""),
    ],
)
def test_interpreters(checkout: Checkout, python: str, message: str) -> None:
    checkout.interpreter("old", old=True)
    checkout.interpreter("bare", bare=True)
    code, errors, _ = checkout.dev("run", PYTHON=python)
    if message:
        assert errors.splitlines()[1:] == [f"dev: error: {message}"]
    assert code == bool(message)


def test_usage(checkout: Checkout) -> None:
    assert checkout.dev("--help")[:2] == (0, "")
    for arguments in ([], ["nonsense"]):
        code, errors, _ = checkout.dev(*arguments)
        assert code == 2
        assert "./dev test" in errors
    assert os.access(CHECKOUT / "dev", os.X_OK)
