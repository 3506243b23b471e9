# SPDX-License-Identifier: MIT
"""``cffpy find``: the draws of many captures for which a filter holds."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

import click

from cffpy.cli import completion
from cffpy.cli.forms import LINES_SO_FAR, OBJECTS_SO_FAR, Forms, Result, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.parameters import command_limits, jobs_option
from cffpy.cli.question import Question, asks, columns_option, where_option
from cffpy.errors import UsageError
from cffpy.frame.places import TileName
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.api.find import FoundDraw, FoundFile

SCHEMA, _LINE_SCHEMA = "cffpy.find/1", "cffpy.find.line/1"

_EPILOG = """\b
Examples:
  cffpy find 'RB_DEPTH_CNTL.ZFUNC == FUNC_NEVER' *.rd.gz
  cffpy find 'pass.mode == sysmem and pass.framebuffer.width > 1920' captures/
  cffpy find 'changed(RB_MRT[*].CONTROL)' --columns RB_MRT[0].BASE capture.rd.gz
  cffpy find --count 'draw.instances > 1' captures/
  cffpy find night.index --where 'draw.instances > 1'

A wrong name or property is an error that lists those that are like it.
"""


@click.command(epilog=_EPILOG)
@click.argument(
    "arguments",
    nargs=-1,
    required=True,
    metavar="[EXPR] FILE...",
    shell_complete=completion.expression_or_files,
)
@click.option("--all", "everything", is_flag=True, help="Every execution, also blits and clears.")
@click.option("--first", is_flag=True, help="Only the first draw of each file.")
@click.option("--count", is_flag=True, help="Only the number of draws of each file.")
@jobs_option
@where_option
@columns_option(f"{SCHEMA}, {_LINE_SCHEMA}")
@asks("", forms=Forms(item="draw", json=SCHEMA, jsonl=_LINE_SCHEMA, others=("count",)))
def find(
    question: Question,
    arguments: tuple[str, ...],
    where: str | None,
    columns: str | None,
    everything: bool,
    first: bool,
    jobs: int | None,
) -> int:
    """Find the draws of many captures for which an expression holds.

    EXPR is the first argument unless --where is given. A line for each draw: file, submit, name of
    the draw, and the values of the names in the expression and in --columns. FILE may be a folder:
    all captures in it and below; or an index (cffpy index build), which answers for its captures
    without reading them. Files are read in several processes; the order of the output is that of
    the files.

    A capture whose GPU has no register of a name is not an error: its values are unknown. The exit
    code is 1 if a file is damaged or cannot be read.
    """
    count = question.form == "count"
    if count and first:
        raise click.UsageError("--count cannot be used with --first")
    expression, files = (where, arguments) if where is not None else (arguments[0], arguments[1:])
    if not files:
        raise click.UsageError("no FILE is given")
    asked = _Asked(expression, columns, everything, 0 if count else 1 if first else None, jobs)
    read = _Files(_answers(asked, question.of_files(*files)))
    _write(question, read, expression)
    return read.finish()


def _write(question: Question, read: _Files, where: str) -> None:
    """Write what each file has as soon as it is known."""

    def lines() -> Iterator[str]:
        for file in read:
            yield from (_line(file, draw) for draw in file.draws)
            yield LINES_SO_FAR

    def counts() -> Iterator[str]:
        for file in read:
            if file.error is None:
                yield f"{visible(file.path)}: {file.count}"
                yield LINES_SO_FAR

    def objects() -> Iterator[Mapping[str, object]]:
        for file in read:
            for draw in file.draws:
                yield {"file": file.path, "gpu": file.gpu, **draw.to_dict()}
            yield OBJECTS_SO_FAR

    result = Result(
        SCHEMA,
        lambda: {"where": where, "files": (file.to_dict() for file in read)},
        lines,
        items=objects,
        texts={"count": counts},
    )
    write_result(result, question)


class _Asked(NamedTuple):
    """What is asked of all files. ``most``: draws of each, None for all."""

    where: str
    columns: str | None
    everything: bool
    most: int | None
    jobs: int | None


def _answers(asked: _Asked, question: Question) -> Iterator[FoundFile]:
    """The results of files and indexes, in their order. Raises CffpyError before the first."""
    from cffpy.api.find import find as find_in
    from cffpy.index.storage import is_index

    answers: list[Iterator[FoundFile]] = []
    for with_index, group in groupby(question.files, is_index):
        if with_index:
            answers += [_of_index(asked, path, question) for path in group]
        else:
            answers.append(
                find_in(
                    asked.where,
                    group,
                    columns=asked.columns,
                    all_actions=asked.everything,
                    most=asked.most,
                    jobs=asked.jobs,
                    gpu=question.gpu,
                    register_db=question.register_db,
                    limits=command_limits(),
                )
            )
    return chain.from_iterable(answers)


def _of_index(asked: _Asked, path: str, question: Question) -> Iterator[FoundFile]:
    from cffpy.index.reader import open_index

    if asked.everything:
        raise UsageError(f"{path}: an index has the program's draws only: --all needs the captures")
    if question.gpu is not None or question.register_db is not None:
        raise UsageError(f"{path}: the GPU and the edition of an index are chosen when it is built")
    return open_index(path).find(
        asked.where, columns=asked.columns, most=asked.most, jobs=asked.jobs
    )


class _Files:
    """Passes results on, and reports problems of each file on standard error."""

    def __init__(self, files: Iterator[FoundFile]) -> None:
        self._found = files
        self._code = EXIT_OK
        self._absent: dict[str, int] = {}

    def __iter__(self) -> Iterator[FoundFile]:
        for file in self._found:
            if file.error is not None:
                # errors of reading a file begin with its name
                prefix = "" if file.error.startswith(file.path) else f"{file.path}: "
                print_error(f"{prefix}{file.error}")
                self._code = EXIT_FAILURE
            elif file.problems:
                more = f" (and {len(file.problems) - 1} more)" if len(file.problems) > 1 else ""
                print_warning(f"{file.path}: {file.problems[0]}{more}")
                self._code = EXIT_FAILURE
            for text in file.absent:
                self._absent[text] = self._absent.get(text, 0) + 1
            yield file

    def finish(self) -> int:
        """Report which captures lack a name; the exit code."""
        for text, count in self._absent.items():
            captures = "1 capture" if count == 1 else f"{count} captures"
            print_warning(f"{captures}: {text}; its value is unknown there")
        return self._code


def _line(file: FoundFile, draw: FoundDraw) -> str:
    name = f"packet of p{draw.pass_index}" if draw.name is None else draw.name
    dump = (
        ""
        if draw.dump_draw is None or draw.name == f"#{draw.dump_draw}"
        else (f" (#{draw.dump_draw})")
    )
    tile = "" if draw.tile is None else f" in {TileName(draw.tile, draw.pass_index or 0)}"
    values = " ".join(f"{value.name}={visible(value.text)}" for value in draw.values)
    return f"{visible(file.path)}: s{draw.submit} {name}{dump}{tile}: {values}"
