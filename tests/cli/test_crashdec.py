# SPDX-License-Identifier: MIT
"""``cffpy crashdec``: where a dump comes from, options, exit codes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests import kgsl_snapshots
from tests.builders import capture, type7
from tests.command_server import Run
from tests.crash_dumps import CP_NOP, hang

DUMP = hang(type7(CP_NOP, 1) + type7(CP_NOP, 2), 2)


@pytest.fixture(scope="module")
def expected(run_cffpy: Run) -> bytes:
    done = run_cffpy("crashdec", input=DUMP)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"ESTIMATED CRASH LOCATION!" in done.stdout
    return done.stdout


@pytest.mark.parametrize("arguments", [["FILE"], ["-f", "FILE"], ["--file=FILE"], ["-fFILE"]])
def test_files(arguments: list[str], expected: bytes, tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "crash.devcore.gz"
    path.write_bytes(gzip.compress(DUMP))
    done = run_cffpy("crashdec", *[word.replace("FILE", str(path)) for word in arguments])
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, b"")


def test_one_file_only(run_cffpy: Run) -> None:
    done = run_cffpy("crashdec", "a", "-f", "b")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.endswith(b"Error: only one FILE can be decoded at a time.\n")


def test_a_file_that_is_not_there(run_cffpy: Run) -> None:
    done = run_cffpy("crashdec", "/nonexistent")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"cffpy: error: /nonexistent: No such file or directory\n"


def test_a_damaged_line_is_told(run_cffpy: Run) -> None:
    done = run_cffpy("crashdec", "-s", input=DUMP.replace(b"wptr: 4", b"wptr: x"))
    assert done.returncode == 1
    assert done.stderr == b"cffpy: warning: line 13 is not of the form '    wptr: %u': skipped\n"


def test_help(run_cffpy: Run) -> None:
    done = run_cffpy("crashdec", "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Usage: cffpy crashdec [OPTIONS] [FILE]" in done.stdout
    assert run_cffpy("crashdec", "--unit-test").returncode == 2


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (kgsl_snapshots.hang([1], 1), b"a GPU snapshot of the KGSL driver (see cffpy crash)"),
        (capture(630, type7(CP_NOP, 1)), b"a capture of an Adreno GPU (see cffpy dump)"),
        (b"\xff\0\xfe\0\xff\xff\xff\xff", b"binary data of unknown format"),
    ],
)
def test_what_is_no_devcoredump_is_named(data: bytes, kind: bytes, run_cffpy: Run) -> None:
    done = run_cffpy("crashdec", input=data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.endswith(b": not a devcoredump, but " + kind + b"\n")


def test_looking_back(run_cffpy: Run) -> None:
    dump = hang(type7(CP_NOP, 1), 2, ring=[word for _ in range(8) for word in type7(CP_NOP, 1)])
    for arguments, dwords in (((), 12), (("-l", "4"), 4), (("--look-back=0",), 0)):
        done = run_cffpy("crashdec", *arguments, input=dump)
        assert b"got cmdszdw=%d\n" % dwords in done.stdout
    done = run_cffpy("crashdec", "-l", "-1", input=dump)
    assert done.returncode == 2
    assert done.stderr.endswith(b"Error: '-1' is not a number of dwords.\n")
