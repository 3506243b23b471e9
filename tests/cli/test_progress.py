# SPDX-License-Identifier: MIT
"""The progress bar: on a terminal, for long work only, gone when the work is done."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from cffpy.cli.output import PagedOutput, write_all
from cffpy.cli.progress import progress
from cffpy.container.open import Content
from cffpy.container.writer import capture_bytes, gpu_id_section

_PATIENCE = 120.0  # seconds until a test gives up

Terminal = Callable[[bytes], bytes]
StandardError = Callable[[], AbstractContextManager[Terminal]]


@pytest.fixture
def terminal() -> Iterator[tuple[int, Terminal]]:
    """A terminal's file, and ``read_until(text)``: all that it showed up to that text."""
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read_until(text: bytes) -> bytes:
        end = time.monotonic() + _PATIENCE
        while text not in shown:
            if not select.select([ours], [], [], max(end - time.monotonic(), 0))[0]:
                raise AssertionError(f"the terminal shows no {text!r}: {bytes(shown)!r}")
            shown.extend(os.read(ours, 4096))
        return bytes(shown)

    yield theirs, read_until
    os.close(ours)
    os.close(theirs)


@pytest.fixture
def standard_error(
    terminal: tuple[int, Terminal], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], AbstractContextManager[Terminal]]:
    """In its context standard error is a terminal, standard output a file."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")

    @contextmanager
    def opened() -> Iterator[Terminal]:
        with (
            open(terminal[0], "w", encoding="utf-8", closefd=False) as stream,
            open(os.devnull, "w", encoding="utf-8") as nothing,
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stderr", stream)
            patch.setattr(sys, "stdout", nothing)
            yield terminal[1]

    return opened


def test_share_of_the_capture(standard_error: StandardError) -> None:
    content = Content("a", bytes(200), "none", 200, None)
    with standard_error() as read_until:
        with progress("Reading \x1b[31m[red]a", content, patience=0):
            content.position = 50
            shown = read_until(b"25%")
        assert b"Reading \\x1b[31m[red]a" in shown  # neither a control character nor markup
        read_until(b"\x1b[?25h")  # the cursor is back


def test_work_of_unknown_length(standard_error: StandardError) -> None:
    with standard_error() as read_until, progress("Comparing", patience=0):
        assert b"%" not in read_until(b"Comparing")


def test_short_work_shows_none(standard_error: StandardError) -> None:
    with standard_error() as read_until:
        with progress("Comparing"):
            pass
        print("all", end="", file=sys.stderr, flush=True)
        assert read_until(b"all") == b"all"


def test_a_problem_ends_the_bar(standard_error: StandardError) -> None:
    with standard_error() as read_until, pytest.raises(KeyError):
        _fail_once(read_until)
    assert not any(thread.name == "progress" for thread in threading.enumerate())


def _fail_once(read_until: Terminal) -> None:
    with progress("Comparing", patience=0):
        read_until(b"Comparing")
        raise KeyError


def test_no_thread_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()
    with progress("Working", patience=0):
        assert threading.active_count() == before
    assert capsys.readouterr() == ("", "")


def _compile(stdout: int, terminal: int) -> subprocess.Popen[bytes]:
    """A compilation of a text that is still being written."""
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    return subprocess.Popen(
        [sys.executable, "-m", "cffpy", "compile", "-", "-o", "-"],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=terminal,
        env=environment,
    )


def test_of_the_command(terminal: tuple[int, Terminal], tmp_path: Path) -> None:
    theirs, read_until = terminal
    with open(tmp_path / "out.rd", "wb") as out, _compile(out.fileno(), theirs) as process:
        read_until(b"Compiling standard input")
        process.communicate(b"pm4 1\ngpu_id 630\n", timeout=_PATIENCE)
    assert process.returncode == 0
    assert (tmp_path / "out.rd").read_bytes() == capture_bytes([gpu_id_section(630)])


@pytest.mark.slow
def test_none_where_the_output_is_a_pipe(terminal: tuple[int, Terminal]) -> None:
    theirs, read_until = terminal
    with _compile(subprocess.PIPE, theirs) as process:
        time.sleep(2)
        process.communicate(b"pm4 1\ngpu_id 630\n", timeout=_PATIENCE)
    os.write(theirs, b"end")
    assert read_until(b"end") == b"end"


def test_no_bar_over_a_pager(standard_error: StandardError, tmp_path: Path) -> None:
    """The first text that a pager gets ends the bar; a second file has none."""
    content = Content("a", bytes(200), "none", 200, None)
    shown = tmp_path / "shown"
    with standard_error() as read_until:
        output = PagedOutput(pager=False)
        output._command = f"cat > {shown}"
        with output as stream:
            with progress("Reading a", content, patience=0, output=output):
                read_until(b"Reading a")
                write_all(stream, b"text\n")
                until_then = read_until(b"\x1b[?25h")  # the cursor is back
            with progress("Reading b", content, patience=0, output=output):
                time.sleep(0.5)
                write_all(stream, b"more\n")
        print("end", file=sys.stderr, flush=True)
        assert read_until(b"end")[len(until_then) :].strip(b"\x1b[2K\r\n") == b"end"
    assert shown.read_bytes() == b"text\nmore\n"


def test_no_bar_over_text_without_a_pager(
    standard_error: StandardError, terminal: tuple[int, Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same where the text itself goes to the terminal."""
    content = Content("a", bytes(200), "none", 200, None)
    with standard_error() as read_until:
        monkeypatch.setattr(sys, "stdout", open(terminal[0], "w", closefd=False))  # noqa: SIM115
        output = PagedOutput(pager=False)
        with output as stream:
            with progress("Reading a", content, patience=0, output=output):
                read_until(b"Reading a")
                write_all(stream, b"text\n")
                until_then = read_until(b"text")
            with progress("Reading b", content, patience=0, output=output):
                time.sleep(0.5)
                write_all(stream, b"more\n")
        print("end", file=sys.stderr, flush=True)
        assert read_until(b"end")[len(until_then) :].split() == [b"more", b"end"]
    assert b"\x1b[?25h" in until_then
