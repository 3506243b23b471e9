# SPDX-License-Identifier: MIT
"""The comparison of mutants, with stand-ins for the reference: it fails where it should."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.differential import test_mutants as mutants
from tests.golden.runner import CHECKOUT

#: cffpy in another process, in place of the reference; what follows changes its output.
_STAND_IN = """
import subprocess, sys
sys.path.insert(0, {checkout!r})
done = subprocess.run(
    [sys.executable, "-m", "cffpy", {command!r}, *sys.argv[1:]],
    capture_output=True, cwd={checkout!r},
)
text = done.stdout
{change}
sys.stdout.buffer.write(text)
sys.exit(done.returncode)
"""


def stand_in(folder: Path, command: str, change: str = "") -> list[str]:
    path = folder / "stand_in.py"
    path.write_text(_STAND_IN.format(checkout=str(CHECKOUT), command=command, change=change))
    return [sys.executable, str(path)]


def script(text: str) -> list[str]:
    return [sys.executable, "-S", "-c", text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("print('same')", (b"same\n", 0)),
        ("print('same'); raise SystemExit(1)", (b"same\n", 1)),
        ("import os; print(os.environ['MALLOC_PERTURB_'])", None),
        ("import os; os.kill(os.getpid(), 11)", None),
    ],
    ids=["same output", "exit code 1", "output that depends on the heap", "crash"],
)
def test_what_counts_as_the_reference(
    text: str, expected: tuple[bytes, int] | None, tmp_path: Path
) -> None:
    assert mutants.reference(script(text), tmp_path) == expected


def test_a_program_that_is_not_there_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        mutants.reference([str(tmp_path / "nothing")], tmp_path)


def test_the_environment_names_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFFDUMP", "./build/cffdump --unit-test")
    assert mutants.program("CFFDUMP") == [str(Path("build/cffdump").resolve()), "--unit-test"]
    monkeypatch.delenv("CFFDUMP")
    assert mutants.program("CFFDUMP") == []


def test_differences_and_too_few_comparisons_fail() -> None:
    mutants.check_share(mutants.COUNT, [])
    with pytest.raises(AssertionError, match="1 of 200 differ: mutant 7"):
        mutants.check_share(200, ["mutant 7"])
    with pytest.raises(AssertionError):
        mutants.check_share(mutants.COUNT // 10, [])
    with pytest.raises(AssertionError):
        mutants.check_share(0, [])


@pytest.mark.slow
@pytest.mark.parametrize("change", ["", "text = text.replace(b'0', b'1', 1)", "text = b''"])
@pytest.mark.parametrize(
    ("variable", "command", "test"),
    [
        ("CFFDUMP", "dump", mutants.test_captures),
        ("CRASHDEC", "crashdec", mutants.test_crash_dumps),
    ],
    ids=["dump", "crashdec"],
)
def test_mutants_against_a_stand_in(
    variable: str,
    command: str,
    test: Callable[[Path], None],
    change: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mutants, variable, stand_in(tmp_path, command, change))
    monkeypatch.setattr(mutants, "COUNT", 6)
    if not change:
        test(tmp_path)
        return
    with pytest.raises(AssertionError):
        test(tmp_path)
