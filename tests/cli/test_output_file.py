# SPDX-License-Identifier: MIT
"""Output files: written completely or not at all, never over input files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cffpy.cli.output_file import write_output
from cffpy.errors import CffpyError
from tests.conftest import CHECKOUT
from tests.interrupts import take_interrupts
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def test_a_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"

    def pieces() -> Iterator[bytes]:
        yield b"one"
        assert not path.exists()
        yield b"two"

    write_output(str(path), pieces(), [])
    assert path.read_bytes() == b"onetwo"
    assert os.listdir(tmp_path) == ["out"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(tmp_path: Path, there: bool, problem: type) -> None:
    path = tmp_path / "out"
    if there:
        path.write_bytes(b"before")

    def pieces() -> Iterator[bytes]:
        yield b"one"
        raise problem

    with pytest.raises(problem):
        write_output(str(path), pieces(), [])
    assert os.listdir(tmp_path) == (["out"] if there else [])
    assert not there or path.read_bytes() == b"before"


def test_links_and_modes_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    target.chmod(0o600)
    link.symlink_to(target)
    write_output(str(link), [b"after"], [])
    assert link.is_symlink()
    assert target.read_bytes() == b"after"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_devices_are_written_to(tmp_path: Path) -> None:
    write_output(os.devnull, [b"gone"], [])
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


def test_what_is_read_is_not_written(tmp_path: Path) -> None:
    path, link, hard = (tmp_path / name for name in ("in", "link", "hard"))
    path.write_bytes(b"in")
    link.symlink_to(path)
    os.link(path, hard)
    for output in (path, link, hard):
        with pytest.raises(CffpyError, match="is also an input file"):
            write_output(str(output), [b"out"], ["-", str(tmp_path / "absent"), str(path)])
    assert path.read_bytes() == b"in"


@pytest.mark.parametrize("content", first_always([b"", b"abc", b"\1\0\0\0\x10\0\0\0cut"]))
def test_repair_writes_nothing_where_nothing_is_left(
    tmp_path: Path, run_cffpy: Run, content: bytes
) -> None:
    source, output = tmp_path / "in.rd", tmp_path / "out.rd"
    source.write_bytes(content)
    for options in ([], ["--address", "0x1000"]):
        done = run_cffpy("repair", source, "-o", output, *options)
        assert done.returncode == 1
        said = (b"in.rd: no whole section is left\n", b"in.rd: not a capture, but text\n")
        assert done.stderr.endswith(said)
        assert not output.exists()


LINES = [
    ["edit", "--nop-draw", "#0", "IN", "-o", "IN"],
    ["repair", "IN", "-o", "IN"],
    ["decompile", "IN", "-o", "IN"],
    ["compile", "TEXT", "-o", "TEXT"],
    ["diff", "OTHER", "IN", "--html", "IN"],
    ["tiles", "--svg", "TILES", "TILES"],
]


@pytest.mark.parametrize("line", first_always(LINES, 3), ids=" ".join)
def test_commands_leave_their_input(
    tmp_path: Path, run_cffpy: Run, samples: Path, line: list[str]
) -> None:
    from tests.fuzz.bombs import many_tiles

    sample = (samples / "a220-triangle.rd").read_bytes()
    text = (CHECKOUT / "samples" / "a220-triangle.pm4").read_bytes()
    files = {"IN": sample, "OTHER": sample, "TEXT": text, "TILES": many_tiles(2)}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    done = run_cffpy(*(tmp_path / word if word in files else word for word in line))
    assert done.returncode == (2 if line[0] == "diff" else 1)
    assert b"the output file is also an input file" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize("line", first_always(LINES[:4], 2), ids=" ".join)
def test_commands_leave_the_file_that_is_their_standard_input(
    tmp_path: Path, run_cffpy: Run, samples: Path, line: list[str]
) -> None:
    path = tmp_path / "input"
    if line[0] == "compile":
        content = (CHECKOUT / "samples" / "a220-triangle.pm4").read_bytes()
    else:
        content = (samples / "a220-triangle.rd").read_bytes()
    path.write_bytes(content)
    *words, output = [path if word in ("IN", "TEXT") else word for word in line]
    arguments = ["-" if word == path else word for word in words]
    with path.open("rb") as stream:
        done = run_cffpy(*arguments, output, stdin=stream)
    assert done.returncode == 1
    assert b"the output file is also an input file" in done.stderr
    assert path.read_bytes() == content


#: The command, interrupted when all is written and only the name is missing.
_INTERRUPTED = """
import os, signal
from cffpy.__main__ import main

os.replace = lambda *names: signal.raise_signal(signal.SIGINT)
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT of its own process")
def test_interrupted(tmp_path: Path, samples: Path) -> None:
    """Ctrl-C: 130, no traceback, no part of a file."""
    output = tmp_path / "out"
    command = [sys.executable, "-c", _INTERRUPTED, "decompile", samples / "a220-triangle.rd"]
    done = subprocess.run(
        [*command, "-o", output], capture_output=True, check=False, preexec_fn=take_interrupts
    )
    assert (done.returncode, done.stderr) == (130, b"")
    assert os.listdir(tmp_path) == []
