# SPDX-License-Identifier: MIT
"""Commands of several files: a capture is closed before the next is opened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_server import Run
from tests.selection import first_always

resource = pytest.importorskip("resource", reason="no limits of descriptors")

FILES = 60
DESCRIPTORS = 24  # enough for the interpreter and its pipes, too few for the files


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [["dump"], ["dump", "-s"], ["dump", "--annotate"], ["dump", "--annotate", "--once"], ["info"]],
    ids=" ".join,
)
def test_more_files_than_descriptors(samples: Path, tmp_path: Path, command: list[str]) -> None:
    data = (samples / "a220-triangle.rd").read_bytes()
    names = [f"{number}.rd" for number in range(FILES)]
    for name in names:
        (tmp_path / name).write_bytes(data)
    script = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({DESCRIPTORS},) * 2)\n"
        "from cffpy.__main__ import main; main()"
    )
    line = [sys.executable, "-c", script, *command, *names]
    done = subprocess.run(line, capture_output=True, cwd=tmp_path, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    heading = b"Reading %s...\n" if command[0] == "dump" else b"%s\n"
    assert all(heading % name.encode() in done.stdout for name in names)


def test_annotations_leave_the_dump_of_several_files(samples: Path, run_cffpy: Run) -> None:
    """What is released between two files is not missing in the next."""
    triangle = samples / "a630-triangle.rd.gz"
    paths = [triangle, samples / "a220-triangle.rd", triangle]
    annotated = run_cffpy("dump", "--annotate", *paths).stdout.splitlines(keepends=True)
    prefix = annotated[0].partition(b":")[0].split(b" ")[0]
    plain = run_cffpy("dump", *paths).stdout
    assert b"".join(line for line in annotated if not line.startswith(prefix)) == plain
    assert sum(line.startswith(prefix) and b"submit 0 begins" in line for line in annotated) == 3


@pytest.mark.parametrize("command", first_always(["dump", "check", "lines", "draws"], 2))
def test_what_decoded_a_capture_is_released(samples: Path, command: str) -> None:
    """Few decoders are left of many captures, although no collector runs while they decode."""
    path = str(samples / "a630-triangle.rd.gz")
    script = (
        "import gc, sys\n"
        "from cffpy.__main__ import run\n"
        "from cffpy.regdb.decode import Decoder\n"
        f"run([{command!r}, *[{path!r}] * 40])\n"
        "left = sum(isinstance(one, Decoder) for one in gc.get_objects())\n"
        "print(left, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert done.stdout
    assert int(done.stderr) < 20


def test_check_goes_on_after_a_file_that_cannot_be_read(samples: Path, run_cffpy: Run) -> None:
    done = run_cffpy("check", "nosuch.rd", samples / "a630-triangle.rd.gz")
    assert done.returncode == 1
    assert done.stderr == b"cffpy: error: nosuch.rd: No such file or directory\n"
    assert done.stdout.rstrip().endswith(b"info")
