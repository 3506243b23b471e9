# SPDX-License-Identifier: MIT
"""``cffpy tui`` as a user starts it: in a real terminal, and where there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command_server import Run


class Terminal:
    """A program in tmux."""

    def __init__(self, folder: Path, command: str) -> None:
        self._socket = folder / "tmux"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", command)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), *arguments]
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        return done.stdout

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def until(self, text: str) -> str:
        """The screen when it has a text."""
        screen = ""
        for _ in range(1200):
            screen = self._tmux("capture-pane", "-p")
            if text in screen:
                return screen
            time.sleep(0.1)
        raise AssertionError(f"no {text!r} on the screen:\n{screen}")

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Terminal]]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    pytest.importorskip("textual", reason="textual is not installed: pip install 'cffpy[tui]'")
    started: list[Terminal] = []

    def run(arguments: str) -> Terminal:
        program = f"{sys.executable} -m cffpy tui {arguments}; echo ended: $?; sleep 60"
        started.append(Terminal(tmp_path, program))
        return started[-1]

    yield run
    for terminal in started:
        terminal.close()


@pytest.mark.slow
def test_in_a_terminal(samples: Path, start: Callable[[str], Terminal]) -> None:
    terminal = start(str(samples / "a660-frame-gmem.rd"))
    terminal.until("submit 0: ")
    terminal.press("j", "l")
    terminal.until("p0:0")
    terminal.press("j")
    screen = terminal.until("p0:0, registers (changed)")
    assert len(screen.rstrip("\n").split("\n")) <= 24
    terminal.press("q")
    terminal.until("ended: 0")


@pytest.mark.slow
def test_errors_in_a_terminal(tmp_path: Path, start: Callable[[str], Terminal]) -> None:
    screen = start(str(tmp_path / "nosuch.rd")).until("ended: 1")
    assert screen.startswith("cffpy: error: ")
    assert "No such file or directory" in screen.replace("\n", "")
    assert "Traceback" not in screen


def test_without_a_terminal(samples: Path, run_cffpy: Run) -> None:
    done = run_cffpy("tui", samples / "a660-frame-gmem.rd")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"cffpy: error: tui needs a terminal; ")
    assert done.stderr.count(b"\n") == 1


def test_standard_input_is_the_keyboard(run_cffpy: Run) -> None:
    done = run_cffpy("tui", "-", input=b"")
    assert done.returncode == 2
    assert b"name a file instead of -" in done.stderr
