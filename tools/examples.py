# SPDX-License-Identifier: MIT
"""Runs the examples of the documentation and compares or updates the output that they show.

A fenced block ``console`` holds commands, each after ``$ ``, and their output. Those of a page run
one after the other, in a folder with all samples as captures: samples/NAME.pm4 as NAME.rd. A line
``...`` stands for any output; ``console exit=1`` says what the last command of the block returns.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_BLOCK = re.compile(r"^```console(?: exit=(\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What may change the output of a command.
_PERSONAL = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PAGER", "CFFPY_PAGER", "CFFPY_DEBUG")


@dataclass
class Example:
    """A command, the output that the page shows, and the exit code that it should have."""

    command: str
    shown: str
    exit_code: int = 0


@dataclass
class Result:
    """What a command printed on both streams, and its exit code."""

    output: str
    exit_code: int


def pages() -> list[Path]:
    """The documents whose examples are run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples(block: str, exit_code: int) -> list[Example]:
    """The commands of a block."""
    found: list[Example] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append(Example(line[2:].rstrip("\n"), ""))
        elif found:
            found[-1].shown += line
    if found:
        found[-1].exit_code = exit_code
    return found


def page_examples(text: str) -> list[Example]:
    """All commands of a page."""
    return [
        example
        for match in _BLOCK.finditer(text)
        for example in examples(match[2], int(match[1] or 0))
    ]


#: A call of cffpy that needs no shell: words without characters that mean something to one.
_PLAIN_CALL = re.compile(r"""cffpy(?: (?:[\w./:,=@%+-]|'[^']*'|"[^"$`\\!]*")+)+""")

#: Runs ``cffpy`` with arguments, environment and folder; None where it needs a new process.
Command = Callable[[list[str], dict[str, str], Path], Result | None]


class Runner:
    """Runs commands in one folder, by a shell, with ``cffpy`` of this checkout.

    ``run_command``: a faster way to run ``cffpy``, for examples that need no shell.
    """

    def __init__(self, folder: Path, run_command: Command | None = None) -> None:
        self._run_command = run_command
        self.folder = folder / "work"
        self.folder.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        # commands that users write, too, run where cffpy is installed
        for name, arguments in (("cffpy", " -m cffpy"), ("python3", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
            program.chmod(0o755)
        self._environment = {
            name: value for name, value in os.environ.items() if name not in _PERSONAL
        }
        self._environment["PATH"] = f"{programs}:{self._environment.get('PATH', '')}"
        self._environment["PYTHONPATH"] = str(ROOT)
        self._environment["XDG_STATE_HOME"] = str(self.folder / ".state")
        self._write_samples()

    def run(self, example: Example) -> Result:
        """Run a command; ``./dev run`` is taken for ``cffpy``."""
        command = re.sub(r"^\./dev run\b", "cffpy", example.command)
        if self._run_command is not None and _PLAIN_CALL.fullmatch(command):
            result = self._run_command(shlex.split(command)[1:], self._environment, self.folder)
            if result is not None:
                return result
        done = subprocess.run(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env=self._environment,
            timeout=120,
        )
        return Result(done.stdout.decode(), done.returncode)

    def _write_samples(self) -> None:
        (self.folder / "samples").symlink_to(ROOT / "samples")
        for name, data in compiled_samples().items():
            (self.folder / name).write_bytes(data)


@functools.cache
def compiled_samples() -> dict[str, bytearray]:
    """Name -> bytes of each sample as a capture."""
    from cffpy.pm4asm.assemble import assemble

    found = {}
    for path in sorted((ROOT / "samples").glob("*.pm4")):
        with open(path, "rb") as text:
            found[f"{path.stem}.rd"] = assemble(text, str(path))
    return found


@contextmanager
def runner(run_command: Command | None = None) -> Iterator[Runner]:
    """A runner in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Runner(Path(folder), run_command)


def mismatch(example: Example, result: Result) -> str:
    """How a result differs from what the page shows; "" if it does not."""
    if result.exit_code != example.exit_code:
        return f"$ {example.command}: exit code {result.exit_code}\n{result.output}"
    # each line of dots is any number of whole lines
    parts = re.split(r"^\.\.\.\n", example.shown, flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(map(re.escape, parts))
    if re.fullmatch(pattern, result.output):
        return ""
    return f"$ {example.command}: its output is not as shown, but:\n{result.output}"


def updated(text: str, run: Runner) -> str:
    """A page with the actual output of all commands that it shows without gaps."""

    def block(match: re.Match[str]) -> str:
        lines = [f"```console{f' exit={match[1]}' if match[1] else ''}\n"]
        for example in examples(match[2], int(match[1] or 0)):
            result = run.run(example)
            has_gap = re.search(r"^\.\.\.$", example.shown, re.MULTILINE)
            lines += [f"$ {example.command}\n", example.shown if has_gap else result.output]
        return "".join([*lines, "```"])

    return _BLOCK.sub(block, text)
