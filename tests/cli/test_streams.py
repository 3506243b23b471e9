# SPDX-License-Identifier: MIT
"""Closed or full standard streams: no traceback, and the correct exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.selection import first_always

COMMANDS = [["--version"], ["--help"], ["dump", "--help"], ["dump", "FILE"], ["info", "FILE"]]


def run_in_shell(
    redirections: str, arguments: list[str], path: Path
) -> subprocess.CompletedProcess[bytes]:
    """Run ``cffpy ARGUMENTS`` under a shell that redirects its standard streams."""
    arguments = [str(path) if argument == "FILE" else argument for argument in arguments]
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "cffpy", *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams(samples: Path, arguments: list[str], closed: str) -> None:
    path = samples / "a220-triangle.rd"
    done = run_in_shell(closed, arguments, path)
    streams = closed.split()
    if ">&-" not in streams:
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == run_in_shell("", arguments, path).stdout
        assert done.stdout
        return
    assert (done.returncode, done.stdout) == (1, b"")
    said = b"" if "2>&-" in streams else b"cffpy: error: standard output: Bad file descriptor\n"
    assert done.stderr == said


def test_a_closed_output_that_loses_nothing(samples: Path, tmp_path: Path) -> None:
    """Closed, and not written to."""
    output = str(tmp_path / "out.rd")
    line = ["edit", "--nop-draw", "#0", "FILE", "-o", output]
    assert run_in_shell(">&-", line, samples / "a220-triangle.rd").returncode == 0


def test_errors_without_standard_error(tmp_path: Path) -> None:
    done = run_in_shell("2>&-", ["dump", "FILE"], tmp_path / "absent.rd")
    assert done.returncode == 2
    assert done.stdout.startswith(b"Reading ")


full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@full
@pytest.mark.parametrize(
    ("command", "code"), [("dump", 2), ("info", 1), ("diff", 2), ("db diff", 2)]
)
def test_full_standard_error(tmp_path: Path, command: str, code: int) -> None:
    """The exit code is that of the error, even if the message cannot be printed."""
    line = [*command.split(), "FILE", *(["FILE"] if "diff" in command else [])]
    assert run_in_shell("2>/dev/full", line, tmp_path / "absent.rd").returncode == code


@full
@pytest.mark.parametrize(
    "line", first_always(["edit --nop-draw #0 FILE -o /dev/full", "decompile FILE -o /dev/full"])
)
def test_a_full_output_is_named(samples: Path, line: str) -> None:
    done = run_in_shell("", line.split(), samples / "a220-triangle.rd")
    assert done.returncode == 1
    assert done.stderr.endswith(b"cffpy: error: /dev/full: No space left on device\n")


@pytest.mark.parametrize("options", [[], ["--buffers"]], ids=" ".join)
def test_a_reader_that_leaves_is_no_error(samples: Path, options: list[str]) -> None:
    """``info FILE | true``: rich must not decide the exit code."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "cffpy", "info", *options, samples / "a630-triangle.rd.gz"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@full
@pytest.mark.parametrize("arguments", first_always(COMMANDS, 2), ids=" ".join)
def test_full_disk(samples: Path, arguments: list[str]) -> None:
    done = run_in_shell(">/dev/full", arguments, samples / "a220-triangle.rd")
    assert done.returncode == 1
    assert done.stderr == b"cffpy: error: standard output: No space left on device\n"
