# SPDX-License-Identifier: MIT
"""A file that is not a capture: every command reports it in one line and prints nothing else."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

COMMANDS = {
    "info": (),
    "passes": (),
    "tiles": (),
    "draws": (),
    "state": ("--at", "#0"),
    "vsc": (),
    "decompile": (),
    "edit": ("--nop-draw", "#0", "-o", "-"),
    "repair": ("-o", "-"),
    "shaders": (),
}


@pytest.mark.parametrize("command", first_always(COMMANDS, 5))
def test_one_line_and_exit_code_1(command: str, tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "program.rd"
    path.write_bytes(b"\x7fELF\2\1\1" + bytes(4089))
    done = run_cffpy(command, *COMMANDS[command], path)
    line = f"cffpy: error: {path}: not a capture, but an ELF file\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", line)


@pytest.mark.parametrize("command", ["passes", "tiles", "draws", "state", "shaders"])
def test_an_empty_file_has_no_table(command: str, tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "empty.rd"
    path.write_bytes(b"")
    done = run_cffpy(command, *COMMANDS[command], path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"the file is empty" in done.stderr.splitlines()[0]


def test_diff_has_trouble(path: Path, tmp_path: Path, run_cffpy: Run) -> None:
    other = tmp_path / "text.rd"
    other.write_bytes(b"hello\n")
    done = run_cffpy("diff", path, other)
    line = f"cffpy: error: {other}: not a capture, but text\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", line)


def test_info_documents_it(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "data.json"
    path.write_text('{"a": 1}')
    done = run_cffpy("info", "--json", path)
    (file,) = json.loads(done.stdout)["files"]
    assert (done.returncode, file["error"]) == (1, f"{path}: not a capture, but JSON text")
