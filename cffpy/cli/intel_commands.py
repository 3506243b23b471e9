# SPDX-License-Identifier: MIT
"""Commands on Intel captures, by the names of the commands (see intel_dispatch.py)."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import click

from cffpy.api.intel import Intel
from cffpy.cli.captures import print_problems
from cffpy.cli.forms import write_json
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.output_file import write_output
from cffpy.cli.parameters import command_limits, paths_and_places
from cffpy.cli.progress import progress
from cffpy.cli.text_options import write_lines
from cffpy.container.open import Content, open_capture
from cffpy.errors import CaptureError, ContainerError
from cffpy.frame.places import DrawName
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.cli.question import Question
    from cffpy.frame.places import Place


def opened(content: Content, register_db: str | None) -> tuple[Intel, int]:
    """A capture whose commands were run, and the exit code: 1 where it is damaged."""
    capture = _capture(content, register_db)
    with progress(f"Reading {content.name}", content):
        assert capture.model
    print_problems(content.name, capture.problems, print_error)
    return capture, EXIT_FAILURE if capture.problems else EXIT_OK


def _capture(content: Content, register_db: str | None) -> Intel:
    gc.disable()  # what an analysis finds lives as long as the command
    check_edition(register_db)
    return Intel(content, register_db)


def check_edition(register_db: str | None) -> None:
    """Warn where the edition that was chosen has no descriptions of Intel GPUs."""
    from cffpy.intel.descriptions.store import has_descriptions

    if register_db is not None and not has_descriptions(register_db):
        name = os.path.basename(register_db)
        print_warning(f"edition {name} has none of Intel GPUs: the bundled descriptions are used")


def info_lines(capture: Intel) -> Iterator[str]:
    """``cffpy info``: the lines of one file."""
    from cffpy.intel.views import info as view

    yield Styled(visible(capture.content.name))
    yield from view.lines(capture.model, capture.content)
    for problem in capture.problems:
        yield Styled(f"  damage     {visible(problem)}", "red")
    yield ""
    yield from headed_columns([view.HEADINGS, *view.rows(capture.model)], view.RIGHT)


def state(
    content: Content, question: Question, *, arguments: tuple[str, ...], **_others: object
) -> int:
    """``cffpy state``."""
    from cffpy.intel.views import state as view

    if not isinstance(question.place, DrawName):
        raise click.UsageError("an action of an Intel capture is p3:17 or '#62'")
    capture, code = opened(content, question.register_db)
    try:
        found = capture.state(str(question.place))
    except CaptureError as problem:
        raise CaptureError(f"{content.name}: {problem}") from None
    names = arguments[1:]
    if question.form == "json":
        write_json(view.SCHEMA, found.to_dict(names))
    else:
        write_lines(found.lines(names))
    return code


def crash(content: Content, question: Question, **_others: object) -> int:
    """``cffpy crash``, of error states and devcoredumps."""
    from cffpy.intel.views import crash as view

    capture, code = opened(content, question.register_db)
    report = capture.crash
    if question.form == "json":
        write_json(view.SCHEMA, view.document(report))
    else:
        lines = (visible(line) for line in view.lines(report))
        shown = (line if line.startswith(" ") else Styled(line) for line in lines)
        write_lines([Styled(visible(content.name)), *shown])
    return code


def report(
    content: Content,
    question: Question,
    *,
    output: str | None,
    other: str | None,
    **_others: object,
) -> int:
    """``cffpy report``: a page, or its data."""
    from cffpy.intel.views.report import SCHEMA

    path, register_db, as_json = question.path, question.register_db, question.form == "json"
    if path == "-" and output is None and not as_json:
        raise click.UsageError("--output is needed where the capture is standard input")
    read = [path] if other is None else [path, other]
    first, *others = _contents(content, read)
    capture = _capture(first, register_db)
    compared = [Intel(one, register_db) for one in others]
    with progress(f"Reading {path}", capture.content):
        found = capture.report(*compared)
    problems: list[str] = found.to_dict()["info"]["damage"]
    print_problems(path, problems, print_error)
    if other is not None:
        print_problems(other, found.to_dict()["comparison"]["damage"], print_warning)
    for text in found.cut:
        print_warning(f"{path}: left out: {text}")
    if as_json:
        write_json(SCHEMA, found.to_dict())
    else:
        write_output(output or f"{path}.html", [found.page()], read)
    return EXIT_FAILURE if problems else EXIT_OK


def diff(
    content: Content,
    question: Question,
    *,
    good: str,
    bad: str,
    at: Place | None,
    brief: bool,
    **_others: object,
) -> int:
    """``cffpy diff``: 0 without differences, 1 with any."""
    from cffpy.intel.views import diff as view

    register_db = question.register_db
    check_edition(register_db)
    (path, place), (other_path, other_place) = paths_and_places(good, bad, at)
    first, second = _contents(content, [path, other_path])
    capture, other = Intel(first, register_db), Intel(second, register_db)
    with progress("Comparing"):
        found = capture.differences(other, place, other_place)
    sides = [found.good, found.bad]
    for one in sides[:1] if found.good is found.bad else sides:
        print_problems(one.name, one.problems, print_warning)
    if question.form == "json":
        write_json(view.SCHEMA, view.document(found))
    elif not brief:
        write_lines(line if line.startswith(" ") else Styled(line) for line in view.lines(found))
    return int(found.differs)


def _contents(content: Content, paths: list[str]) -> list[Content]:
    """The files of these names; ``content`` is the first of them that is of an Intel GPU.

    Raises ContainerError where it is not the first, but that is standard input, which is read.
    """
    found = []
    for path in paths:
        if content.name == ("standard input" if path == "-" else path):
            found.append(content)
        elif path == "-" and content not in found:
            raise ContainerError("standard input: not a capture of an Intel GPU")
        else:
            found.append(open_capture(path, command_limits()))
    return found


def write_intel_lines(
    content: object,
    path: str,
    only: tuple[str, ...],
    emit: Callable[[str], object],
    register_db: str | None,
) -> int:
    """``cffpy lines``: the lines of one file, which IntelFileError has; its exit code."""
    assert isinstance(content, Content)
    from cffpy.intel.views.lines import write_lines as write

    check_edition(register_db)
    found = write(content, visible(path), frozenset(only), emit, register_db)
    problems = [str(each) for each in (*content.faults, *found.run.damage)]
    print_problems(content.name, problems, print_error)
    return EXIT_FAILURE if problems else EXIT_OK
