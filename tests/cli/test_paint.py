# SPDX-License-Identifier: MIT
"""Colours of drawings: as many as the terminal has, and the same characters with and without."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cffpy.cli.paint import paint
from cffpy.views.plain_text import Painted

Run = Callable[..., subprocess.CompletedProcess[bytes]]


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
