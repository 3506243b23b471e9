# SPDX-License-Identifier: MIT
"""``cffpy bisect``: find the draw, and the state of it, with which a problem appears."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import click

from cffpy.cli.forms import Forms, Result, capture_file, line_pieces, write_output, write_result
from cffpy.cli.parameters import command_limits, output_option
from cffpy.cli.question import Question, asks
from cffpy.errors import CaptureError, CffpyError
from cffpy.views import bisect as view

if TYPE_CHECKING:
    from cffpy.analysis.bisect import Answer, Bisection, Try
    from cffpy.views.bisect import AnswerGiven

#: Words in the state file.
_WORDS: dict[str, Answer] = {"bad": True, "good": False, "skip": None}

#: Exit codes as for git bisect: of a command that cannot tell, and the first that is no answer:
#: the shell's for a command that cannot be run, that is not found, that a signal has ended.
_CANNOT_TELL, _NO_ANSWER = 125, 126
#: Of the shell, for a command that signal n has ended: this plus n.
_SIGNALS, _MOST_SIGNALS = 128, 64

#: Stands for the capture's path in the command.
_PLACE = "{}"

_NOT_RUN = {126: "cannot be run", 127: "is not found"}

_EPILOG = """\b
Examples:
  cffpy bisect hang.rd.gz -o try.rd.gz             writes the first capture to try
  cffpy bisect hang.rd.gz -o try.rd.gz --bad       the problem was there: the next one
  cffpy bisect hang.rd.gz -o try.rd.gz --good      it was not
  cffpy bisect hang.rd.gz --run './replay {}'      all by itself
  cffpy bisect hang.rd.gz --reset                  forget the answers
"""


@click.command(epilog=_EPILOG)
@click.option("--good", "answer", flag_value="good", help="The last try does not have the problem.")
@click.option("--bad", "answer", flag_value="bad", help="The last try has the problem.")
@click.option("--skip", "answer", flag_value="skip", help="The last try cannot be judged.")
@click.option(
    "--run",
    "command",
    metavar="CMD",
    help="Judge each try by a shell command, in which {} stands for the capture's path. Exit code 0"
    " is good, 1 to 124 bad, 125 cannot tell; 126 and above, and signals, end the search.",
)
@click.option("--reset", is_flag=True, help="Forget all answers.")
@click.option(
    "--state-file",
    metavar="PATH",
    help="Where answers are kept (default: a file for each capture in"
    " $XDG_STATE_HOME/cffpy/bisect, or in ~/.local/state/cffpy/bisect).",
)
@output_option("OUT.rd[.gz]", "Write the capture to try; with .gz compressed.")
@asks(forms=Forms(json=view.SCHEMA))
def bisect(
    question: Question,
    answer: str | None,
    command: str | None,
    reset: bool,
    output: str | None,
    state_file: str | None,
) -> int:
    """Find the pass, the draw, its draw-state group and packet with which a problem appears.

    FILE is a capture that has the problem when it is replayed, or a GPU crash dump. Each try is the
    capture with fewer passes, draws, groups or packets, made by the edits of 'cffpy edit'. Replay
    it, and say whether the problem is there. Answers are kept in a small file, so that the search
    can go on at any time. The exit code is 0 also when nothing is left to try.
    """
    if command is not None and _PLACE not in command:
        raise click.UsageError(f"the command of --run needs {_PLACE}, which stands for the capture")
    if command is not None and answer is not None:
        raise click.UsageError("--run cannot be used with --good, --bad or --skip")
    from cffpy.analysis.bisect import Bisection, Try
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.container.open import open_capture

    path = question.path
    content = check_capture(open_capture(path, command_limits()))
    search = Bisection(content, question.register_db, question.gpu)
    digest = blake2b(content.data, digest_size=12).hexdigest()
    state = _State(state_file or _default_state(digest), path, digest, reset)
    if answer is not None:
        now = search.next(state.answers)
        if not isinstance(now, Try) or not state.has_tried(now.key):
            raise CaptureError("there is no try to judge: write one with -o first")
        state.add(now.key, answer)
    now = search.next(state.answers)
    while command is not None and isinstance(now, Try):
        state.add(now.key, _judge(command, search, now))
        now = search.next(state.answers)
    if isinstance(now, Try) and output is not None:
        data, _ = search.capture(now)
        write_output(output, capture_file(output, [data], len(data)), [path])
        state.note_try(now.key)
    result = Result(
        view.SCHEMA,
        lambda: view.document(path, state.entries, now),
        lambda: view.lines(state.entries, now, output),
    )
    return write_result(result, question)


def _default_state(digest: str) -> str:
    """The state of a capture in the user's directory for states (XDG Base Directory)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # which the specification says to ignore
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "cffpy", "bisect", f"{digest}.json")


class _State:
    """The answers so far, kept in a file."""

    def __init__(self, name: str, path: str, digest: str, reset: bool) -> None:
        self._name = name
        self._path = path
        self._document: dict[str, Any] = {
            "schema": view.SCHEMA,
            "file": os.path.basename(path),
            "digest": digest,
            "answers": [],
            "tried": None,
        }
        if reset:
            self._write()
        elif os.path.exists(name):
            self._read(digest)

    def _read(self, digest: str) -> None:
        try:
            with open(self._name, encoding="utf-8") as file:
                document = json.load(file)
        except (ValueError, RecursionError) as problem:
            raise CffpyError(f"{self._name}: not a state of cffpy bisect: {problem}") from None
        answers = document.get("answers") if isinstance(document, dict) else None
        is_good = isinstance(answers, list) and all(_is_entry(entry) for entry in answers)
        if not is_good or document.get("schema") != view.SCHEMA:
            raise CffpyError(f"{self._name}: not a state of cffpy bisect")
        if document.get("digest") != digest:
            raise CffpyError(f"{self._name}: of another capture (--reset starts again)")
        self._document = document

    @property
    def entries(self) -> list[AnswerGiven]:
        """What was tried, and the answers in words."""
        given: list[AnswerGiven] = self._document["answers"]
        return given

    @property
    def answers(self) -> list[Answer]:
        """The answers so far."""
        return [_WORDS[entry["answer"]] for entry in self.entries]

    def has_tried(self, key: str) -> bool:
        """Whether the capture of a try was written."""
        return bool(self._document.get("tried") == key)

    def note_try(self, key: str) -> None:
        """The capture of a try was written."""
        self._document["tried"] = key
        self._write()

    def add(self, key: str, answer: str) -> None:
        """Add an answer, and write the state file."""
        self.entries.append({"try": key, "answer": answer})
        self._document["tried"] = None
        self._write()

    def _write(self) -> None:
        text = json.dumps(self._document, indent=1)
        os.makedirs(os.path.dirname(self._name) or ".", exist_ok=True)
        write_output(self._name, line_pieces([text]), [self._path])


def _is_entry(entry: object) -> bool:
    """Whether this is an answer of a state file."""
    if not isinstance(entry, dict) or not isinstance(entry.get("try"), str):
        return False
    return entry.get("answer") in tuple(_WORDS)


def _judge(command: str, search: Bisection, wanted: Try) -> str:
    """Run the user's command on a try: "good", "bad" or "skip".

    Raises CffpyError for a command that gives no answer; earlier answers are kept.
    """
    data, _ = search.capture(wanted)
    descriptor, name = tempfile.mkstemp(suffix=".rd", prefix="cffpy-bisect-")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        line = command.replace(_PLACE, name)
        code = subprocess.run(line, shell=True, stdout=sys.stderr, check=False).returncode
    finally:
        os.unlink(name)
    if code < 0 or code >= _NO_ANSWER:
        ended = _NOT_RUN.get(code, f"ended with exit code {code}")
        if code < 0 or _SIGNALS < code <= _SIGNALS + _MOST_SIGNALS:
            ended = f"was ended by signal {-code if code < 0 else code - _SIGNALS}"
        raise CffpyError(f"the command of --run {ended}: {command}")
    if code == _CANNOT_TELL:
        return "skip"
    return "bad" if code else "good"
