# SPDX-License-Identifier: MIT
"""The captures of a command: opening and decoding them, and reports of their problems."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.parameters import command_limits
from cffpy.cli.progress import progress
from cffpy.cli.reading_ahead import read_ahead
from cffpy.container.kinds import intel_file_error
from cffpy.errors import CaptureError, IntelFileError, UnsupportedGpu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.cli.reading_ahead import ReadingAhead
    from cffpy.frame.problem import Problem

_Result = TypeVar("_Result")

#: Where a command's context keeps how many problems of each capture were reported.
_REPORTED = f"{__name__}.reported"

#: Lines about damage or omissions printed for one capture.
SHOWN_PROBLEMS = 50


def open_for(
    path: str,
    gpu: Gpu | None = None,
    register_db: str | None = None,
    reading: ReadingAhead | None = None,
    takes_intel: bool = False,
) -> Capture:
    """Open the capture of a command. ``reading``: it is read already.

    Raises CffpyError; IntelFileError for a capture of an Intel GPU, unless ``takes_intel``.
    """
    gc.disable()  # what an analysis finds lives as long as the command, and has no cycles
    limits = command_limits()
    reading = reading or read_ahead(path, limits)
    from cffpy.api import capture  # lazy: while the capture is read

    try:
        if reading is None:
            found = capture.open(path, gpu=gpu, register_db=register_db, limits=limits)
        else:
            found = capture.open_content(reading.take, gpu, register_db)
    except IntelFileError:
        if gpu is not None and takes_intel:
            message = f"--gpu does not apply to Intel captures ({path})"
            raise click.UsageError(message) from None
        raise
    if found.intel is not None and not takes_intel:
        raise intel_file_error(found.content)
    return found


def decode(
    capture: Capture,
    analysis: Callable[[Capture], _Result],
    say: Callable[[str], None] = print_error,
) -> tuple[_Result, int]:
    """Ask a capture something; the result, and the exit code: 1 for a damaged or truncated one.

    Its problems are reported on standard error, those of its file and damage by ``say``. Raises
    CffpyError.
    """
    with progress(f"Reading {capture.name}", capture.content):
        result = analysis(capture)
    return result, report(capture, say)


def report(capture: Capture, say: Callable[[str], None] = print_error) -> int:
    """Report the problems of what was decoded so far, each once; the exit code."""
    meta = click.get_current_context().meta
    reported: WeakKeyDictionary[Capture, int] = meta.setdefault(_REPORTED, WeakKeyDictionary())
    problems = capture.problems_so_far
    new = problems[reported.get(capture, 0) :]
    reported[capture] = len(problems)
    for problem in new:
        if problem.kind == "warning":
            print_warning(problem.text)
    faults = [one.line for one in new if _is_fault(one)]
    print_problems(capture.name, faults, say)
    cuts = [one.line for one in new if one.kind == "truncated" and not _is_fault(one)]
    print_problems(capture.name, cuts, print_warning)
    is_whole = all(one.kind == "warning" and not _is_fault(one) for one in problems)
    return EXIT_OK if is_whole else EXIT_FAILURE


def _is_fault(problem: Problem) -> bool:
    return problem.kind == "damage" or problem.file_offset is not None


def print_problems(
    path: str, problems: Sequence[object], say: Callable[[str], None] = print_error
) -> None:
    """Report each problem of a file, up to SHOWN_PROBLEMS."""
    for problem in problems[:SHOWN_PROBLEMS]:
        say(f"{path}: {problem}")
    if len(problems) > SHOWN_PROBLEMS:
        say(f"{path}: more problems are not shown")


def not_there(capture: Capture, problem: CaptureError | str) -> CaptureError:
    """The error for what a capture lacks, the same in all commands: exit code 1.

    Reports problems of the capture. Where nothing can be decoded, ``problem`` itself.
    """
    if isinstance(problem, UnsupportedGpu):
        return problem
    report(capture)
    return CaptureError(f"{capture.name}: {problem}")
