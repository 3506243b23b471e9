# SPDX-License-Identifier: MIT
"""What shells complete: names of facts, of registers and of pages."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.shell_completion import ShellComplete

from cffpy.cli.main import cli
from cffpy.query.properties import PROPERTIES
from cffpy.regdb import store
from cffpy.regdb.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command_server import Run


def completed(*words: str) -> list[str]:
    """What the last word may be completed to; ``<file>`` for what the shell does itself."""
    *before, incomplete = words
    items = ShellComplete(cli, {}, "cffpy", "_CFFPY_COMPLETE").get_completions(before, incomplete)
    return ["<file>" if item.type == "file" else item.value for item in items]


def test_columns_have_all_facts() -> None:
    """The same names as filters have, each once."""
    names = completed("draws", "--columns", "")
    assert names[: len(PROPERTIES)] == list(PROPERTIES)
    assert len(names) == len(set(names))
    assert {"texture.vulkan_formats", "bound_storage.address"} < set(names)


def test_the_last_of_several_columns() -> None:
    found = completed("passes", "--columns", "pass.mode,pass.frameb")
    assert "pass.mode,pass.framebuffer.width" in found
    assert all(name.startswith("pass.mode,pass.frameb") for name in found)


@pytest.mark.parametrize("words", [("find",), ("draws", "--where"), ("find", "--where")])
def test_the_last_name_of_a_filter(words: tuple[str, ...]) -> None:
    assert completed(*words, "draw.instances > 1 and pass.tile_c") == [
        "draw.instances > 1 and pass.tile_count"
    ]
    assert completed(*words, "pass.mode == sy") == ["pass.mode == sysmem"]
    assert completed(*words, "not (RB_DEPTH_CNTL.ZF") == ["not (RB_DEPTH_CNTL.ZFUNC"]


def test_a_place_in_a_pass() -> None:
    assert completed("draws", "--at", "p3:b") == ["p3:binning"]
    assert completed("diff", "--at", "p3:") == ["p3:binning", "p3:t0"]
    assert completed("edit", "--at", "p3:") == []


def test_a_filter_comes_first() -> None:
    assert completed("find", "draw.instances > 1", "pass.mo") == ["<file>"]
    assert completed("find", "--where", "draw.instances > 1", "pass.mo") == ["<file>"]
    assert completed("find", "no-such-name") == ["<file>"]
    assert completed("find", "") == ["<file>"]


def test_registers_of_a_gpu() -> None:
    database = Database.open("A6XX")
    expected = [name for name, _ in database.register_names() if name.startswith("RB_DEPTH_")]
    assert completed("state", "--gpu", "650", "a.rd", "RB_DEPTH_") == list(dict.fromkeys(expected))
    assert completed("state", "RB_DEPTH_") == ["<file>"]  # files come first
    assert completed("state", "a.rd", "b") == ["<file>"]


def test_registers_of_all_generations() -> None:
    names = completed("db", "show", "RB_")
    for chip in store.chips(None):
        known = [name for name, _ in Database.open(chip).register_names() if name[:3] == "RB_"]
        assert set(known) <= set(names)
    assert "CP_EVENT_WRITE" in completed("db", "show", "CP_EVENT")
    assert completed("db", "show", "R") == []  # too many


def test_pages_and_documents() -> None:
    assert completed("help", "fac") == ["facts"]
    assert "state" in completed("help", "st")
    assert "pass.mode" in completed("help", "facts", "pass.")
    assert "passes.line" in completed("schema", "passes")


@pytest.mark.parametrize("text", ["'pass.mode == sy", '"pass.mode == sy'])
def test_bash_completes_a_filter_in_quotes(text: str, run_cffpy: Run, tmp_path: Path) -> None:
    program = tmp_path / "cffpy"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cffpy "$@"\n')
    program.chmod(0o755)
    script = run_cffpy("completion", "bash").stdout.decode()
    script += f"COMP_WORDS=(cffpy find {shlex.quote(text)}) COMP_CWORD=2\n"
    script += '_cffpy_completion cffpy\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "pass.mode == sysmem\n", done.stderr
