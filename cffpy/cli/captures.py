# SPDX-License-Identifier: MIT
"""The captures of a command: opening and decoding them, and reports of their problems."""

from __future__ import annotations

import gc
import os
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.parameters import command_limits
from cffpy.cli.progress import progress
from cffpy.cli.reading_ahead import read_ahead
from cffpy.container.kinds import intel_kind
from cffpy.container.open import open_capture
from cffpy.editions.folders import AUTO
from cffpy.errors import CaptureError, UnsupportedGpu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.frame.submit import Problem

_Result = TypeVar("_Result")

#: Where a command's context keeps how many problems of each capture were reported.
_REPORTED = f"{__name__}.reported"

#: Lines about damage or omissions printed for one capture.
SHOWN_PROBLEMS = 50


def open_for(
    path: str,
    gpu: Gpu | None = None,
    register_db: str | None = None,
    take: Callable[[], Content] | None = None,
) -> Capture:
    """Open the capture of a command. ``take``: returns the file, where it is being read already.

    Warns where the edition has no descriptions of the GPU's maker. Raises CffpyError.
    """
    gc.disable()  # what an analysis finds lives as long as the command, and has no cycles
    limits = command_limits()
    if take is None:
        reading = read_ahead(path, limits)
        take = partial(open_capture, path, limits) if reading is None else reading.take
    from cffpy.api.capture import open_content  # lazy: while the capture is read

    capture = open_content(partial(_checked, take, path, gpu), gpu, register_db)
    if capture.intel is not None:
        _check_edition(register_db)
    return capture


def _checked(take: Callable[[], Content], path: str, gpu: Gpu | None) -> Content:
    """The file. Raises click.UsageError where a GPU is chosen for one that names its own."""
    content = take()
    if gpu is not None and intel_kind(content.data) is not None:
        raise click.UsageError(f"--gpu does not apply to Intel captures ({path})")
    return content


def _check_edition(register_db: str | None) -> None:
    """Warn where the edition that was chosen has no descriptions of Intel GPUs."""
    if register_db is None or register_db == AUTO:
        return
    from cffpy.intel.descriptions.store import has_descriptions

    if not has_descriptions(register_db):
        name = os.path.basename(register_db)
        print_warning(f"edition {name} has none of Intel GPUs: the bundled descriptions are used")


def refuse_for_intel(capture: Capture, *options: tuple[str, object]) -> None:
    """Raise click.UsageError for an option that means nothing for an Intel capture.

    ``options``: such options, each with what was given for it.
    """
    if capture.intel is None:
        return
    for name, given in options:
        if given:
            raise click.UsageError(f"{name} does not apply to Intel captures ({capture.name})")


def decode(
    capture: Capture,
    analysis: Callable[[Capture], _Result],
    say: Callable[[str], None] = print_error,
) -> tuple[_Result, int]:
    """Ask a capture something; the result, and the exit code: 1 for a damaged or truncated one.

    Its problems are reported on standard error, those of its file and damage by ``say``. Raises
    CffpyError.
    """
    with progress(f"Reading {capture.name}", capture._source.content):
        result = analysis(capture)
    return result, report(capture, say)


def report(capture: Capture, say: Callable[[str], None] = print_error) -> int:
    """Report the problems of what was decoded so far, each once; the exit code."""
    meta = click.get_current_context().meta
    reported: WeakKeyDictionary[Capture, int] = meta.setdefault(_REPORTED, WeakKeyDictionary())
    problems = capture._source.problems
    new = problems[reported.get(capture, 0) :]
    reported[capture] = len(problems)
    for problem in new:
        if problem.kind == "warning":
            print_warning(problem.text)
    faults = [fault.line for fault in new if _is_fault(fault)]
    print_problems(capture.name, faults, say)
    cuts = [cut.line for cut in new if cut.kind == "truncated" and not _is_fault(cut)]
    print_problems(capture.name, cuts, print_warning)
    is_whole = not any(old.kind != "warning" or _is_fault(old) for old in problems)
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
    text = str(problem)
    return CaptureError(text if text.startswith(capture.name) else f"{capture.name}: {text}")
