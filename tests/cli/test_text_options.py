# SPDX-License-Identifier: MIT
"""Colour, pager, and lines wider than the terminal, alike in all commands that print text."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.cli.paint import paint
from cffpy.views.plain_text import Painted, folded
from tests.command_server import Run
from tests.selection import first_always

#: A command line for each kind of text. FILE: a capture with tiles, visibility streams and shaders.
COMMANDS = (
    "info --buffers FILE",
    "passes FILE",
    "tiles --pass 0 FILE",
    "draws FILE",
    "draws --inherited FILE",
    "state --at p0:0 FILE",
    "vsc FILE",
    "shaders --no-listings FILE",
    "layout image --gpu 650 --format RGBA8 --size 256x256",
    "diff --all GOOD BAD",
    "db show RB_MRT[2].CONTROL --gpu 630",
    "db search LRZ --gpu 630",
    "lrz FILE",
    "check FILE",
    "check --list",
    "find draw.vertices>3 FILE",
    "layout tiles --gpu 660 --size 800x600 --attachments RGBA8,D24S8",
)
FILE = "a660-frame-binning.rd"
FILES = {"FILE": FILE, "GOOD": "a430-depth-good.rd", "BAD": "a430-depth-bad.rd"}


def on_a_terminal(
    arguments: Sequence[str], width: int, **environment: str
) -> tuple[int, list[str]]:
    """The exit code and the lines that a terminal of this width gets; no pager unless given."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    unset = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PAGER")
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    given = {"TERM": "xterm", "CFFPY_PAGER": "cat", **environment}
    command = [sys.executable, "-m", "cffpy", *arguments]
    with Popen(command, stdout=theirs, stderr=PIPE, env={**clean, **given}) as process:
        os.close(theirs)
        shown = bytearray()
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        process.wait()
    os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n").splitlines()


@pytest.fixture
def arguments(request: pytest.FixtureRequest, samples: Path) -> list[str]:
    files = {name: str(samples / file) for name, file in FILES.items()}
    return [files.get(word, word) for word in request.param.split()]


every_command = pytest.mark.parametrize(
    "arguments", first_always(COMMANDS, 2), indirect=True, ids=COMMANDS
)


@every_command
def test_lines_are_folded_between_words(arguments: list[str]) -> None:
    code, whole = on_a_terminal([*arguments, "--wide", "--no-color"], 40)
    narrow_code, narrow = on_a_terminal([*arguments, "--no-color"], 40)
    assert narrow_code == code
    assert " ".join(narrow).split() == " ".join(whole).split()
    assert [line for line in narrow if len(line) > 40 and " " in line.strip()] == []


@pytest.mark.slow
@every_command
def test_wider_terminals(arguments: list[str]) -> None:
    """As above; text that people read must not depend on the width in other ways."""
    _, whole = on_a_terminal([*arguments, "--wide", "--no-color"], 40)
    for width in (60, 80):
        _, narrow = on_a_terminal([*arguments, "--no-color"], 4000, COLUMNS=str(width))
        assert " ".join(narrow).split() == " ".join(whole).split()
        assert [line for line in narrow if len(line) > width and " " in line.strip()] == []


@every_command
def test_colour_and_pager(arguments: list[str]) -> None:
    _, plain = on_a_terminal([*arguments, "--no-color"], 4000)
    assert not any("\x1b" in line for line in plain)
    _, environment = on_a_terminal(arguments, 4000, NO_COLOR="1")
    assert environment == plain
    _, coloured = on_a_terminal([*arguments, "--color"], 4000, NO_COLOR="1")
    for style in ("0", "1", "1;33", "2", "2;3", "31", "33"):
        coloured = [line.replace(f"\x1b[{style}m", "") for line in coloured]
    assert coloured == plain
    paged = {"CFFPY_PAGER": "sed 's/^/paged:/'"}
    assert on_a_terminal([*arguments, "--no-color"], 4000, **paged)[1] == [
        f"paged:{line}" for line in plain
    ]
    assert on_a_terminal([*arguments, "--no-color", "--no-pager"], 4000, **paged)[1] == plain


def test_columns_of_the_environment(samples: Path) -> None:
    _, lines = on_a_terminal(["passes", "--no-color", str(samples / FILE)], 4000, COLUMNS="60")
    assert any(len(line) > 50 for line in lines)
    assert [line for line in lines if len(line) > 60 and " " in line.strip()] == []


def test_files_and_pipes_get_whole_lines(samples: Path) -> None:
    command = [sys.executable, "-m", "cffpy", "draws", str(samples / FILE)]
    with Popen(command, stdout=PIPE, env={**os.environ, "COLUMNS": "40"}) as process:
        assert process.stdout is not None
        text = process.stdout.read().decode()
    assert max(map(len, text.splitlines())) > 100
    assert "\x1b" not in text


@given(st.lists(st.text("ab 0x_", max_size=30), max_size=12), st.integers(1, 60))
def test_folded(words: list[str], width: int) -> None:
    line = " ".join(words)
    parts = list(folded(line, width))
    assert " ".join(parts).split() == line.split()
    assert all(len(part) <= width or len(part.split()) == 1 for part in parts)
    if len(line.rstrip(" ")) <= width:
        assert parts == [line.rstrip(" ")]


def test_a_long_line_is_folded_in_linear_time() -> None:
    line = "ab " * 1_000_000
    assert sum(1 for _ in folded(line, 40)) > 50_000


def test_only_styles_are_added() -> None:
    line = Painted("  |ab|cd|", ((3, 5, "heat 1"), (6, 8, "heat 9"), (8, 9, "nosuch")))
    text = paint(line)
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == line
    assert text.startswith("  |\x1b[")
    assert text.endswith("\x1b[0m|")


def test_colours_only_repeat(samples: Path, run_cffpy: Run) -> None:
    arguments = "tiles", "--plot", samples / "a660-frame-binning.rd"
    plain = run_cffpy(*arguments).stdout
    coloured = run_cffpy(*arguments, "--color").stdout
    assert b"\x1b" not in plain
    assert b"\x1b[" in coloured
    assert re.sub(rb"\x1b\[[\d;]*m", b"", coloured) == plain
    assert run_cffpy(*arguments, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout == plain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("term", "colorterm", "code"),
    [("xterm", "", b"\x1b[3"), ("xterm-256color", "", b"38;5;"), ("x", "truecolor", b"38;2;")],
)
def test_as_many_as_the_terminal_has(
    term: str, colorterm: str, code: bytes, samples: Path, run_cffpy: Run
) -> None:
    path = samples / "a660-frame-binning.rd"
    environment = {"FORCE_COLOR": "1", "TERM": term, "COLORTERM": colorterm}
    done = run_cffpy("passes", "--plot", path, env=environment)
    assert done.returncode == 0
    bar = next(line for line in done.stdout.split(b"\n") if b"gmem" in line)
    assert code in bar
    assert (b"38;" in bar) == (term != "xterm")
