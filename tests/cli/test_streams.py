# SPDX-License-Identifier: MIT
"""Standard streams that are closed or full: no traceback, and an honest exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams(samples: Path, arguments: list[str], closed: str) -> None:
    path = samples / "a220-triangle.rd"
    done = run_in_shell(closed, arguments, path)
    assert (done.returncode, done.stderr) == (0, b"")
    expected = run_in_shell("", arguments, path).stdout
    assert expected
    assert done.stdout == (b"" if ">&-" in closed.split() else expected)


def test_errors_without_standard_error(tmp_path: Path) -> None:
    done = run_in_shell("2>&-", ["dump", "FILE"], tmp_path / "absent.rd")
    assert done.returncode == 2
    assert done.stdout.startswith(b"Reading ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_full_disk(samples: Path, arguments: list[str]) -> None:
    done = run_in_shell(">/dev/full", arguments, samples / "a220-triangle.rd")
    assert done.returncode == 1
    assert done.stderr == b"cffpy: error: standard output: No space left on device\n"
