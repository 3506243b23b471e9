# SPDX-License-Identifier: MIT
"""``cffpy index``: builds an index of many captures, and asks it; also ``check --index``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict

import click

from cffpy.cli.forms import Forms, Result, write_result
from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    is_terminal,
    print_error,
    print_on_standard_error,
    print_warning,
)
from cffpy.cli.parameters import (
    IntegerRange,
    command_limits,
    edition_option,
    jobs_option,
    output_option,
)
from cffpy.cli.question import Question, asks, asks_no_capture
from cffpy.cli.sql import FORMS as SQL_FORMS
from cffpy.cli.sql import write_rows
from cffpy.document_types import Facts, Of
from cffpy.frame.faces import columns, facts_documents
from cffpy.frame.facts import model_of
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.check.model import Lint
    from cffpy.frame.faces import Column
    from cffpy.index.build import BuildReport
    from cffpy.index.compare import IndexComparison, IndexedCheck
    from cffpy.index.stats import IndexStats
    from cffpy.index.tables import IndexedShader, RegisterValueCount

BUILD_SCHEMA = "cffpy.index-build/1"
VALUES_SCHEMA = "cffpy.index-values/1"
SHADER_SCHEMA = "cffpy.index-shader/1"
STATS_SCHEMA = "cffpy.index-stats/1"
COMPARE_SCHEMA = "cffpy.index-compare/1"

_EPILOG = """\b
Examples:
  cffpy index build captures/ -o night.index
  cffpy index stats night.index
  cffpy index sql night.index "SELECT gpu, count(*) FROM captures GROUP BY gpu"
  cffpy find night.index --where 'RB_DEPTH_CNTL.ZFUNC == FUNC_NEVER'
  cffpy index compare last.index night.index
"""
_BUILD_EPILOG = """\b
Examples:
  cffpy index build captures/ more.tar.gz '/ci/**/*.rd.gz' -o night.index
  cffpy index build @list.txt -o night.index --jobs 8
  cffpy index build s3://bucket/captures -o s3://bucket/index --scheduler tcp://host:8786
"""
_SQL_EPILOG = """\b
Examples:
  cffpy index sql night.index "SELECT capture, draw_count FROM passes ORDER BY 2 DESC LIMIT 10"
  cffpy index sql night.index "SELECT name, error FROM files WHERE status = 'failed'" --csv
"""
_VALUES_EPILOG = """\b
Examples:
  cffpy index values night.index RB_DEPTH_CNTL
  cffpy index values night.index 'RB_MRT[*].BUF_INFO' --json
"""
_SHADER_EPILOG = """\b
Examples:
  cffpy index shader night.index f5cfc2a8a273
  cffpy index shader night.index f5cfc2a8a273 --json
"""

_STATS_EPILOG = """\b
Examples:
  cffpy index stats night.index
  cffpy index stats night.index --json | jq .rare_values
"""
_COMPARE_EPILOG = """\b
Examples:
  cffpy index compare last.index night.index
  cffpy index compare last.index night.index --markdown >> "$GITHUB_STEP_SUMMARY"
"""


class ValuesDocument(TypedDict):
    """Values of registers in an index: cffpy index values --json."""

    register: Annotated[str, "the name or pattern that was asked for"]
    values: Annotated[Iterable[Facts], "the values", Of("cffpy.index.tables:RegisterValueCount")]


class ProgramsDocument(TypedDict):
    """Programs of an index and where they are used: cffpy index shader --json."""

    programs: Annotated[
        Iterable[Facts],
        "the programs whose digest begins as asked",
        Of("cffpy.index.tables:IndexedShader"),
    ]


@click.group(epilog=_EPILOG)
@click.help_option("-h", "--help")
def index() -> None:
    """Build an index of many captures, on one machine or a cluster, and ask it."""


@index.command(short_help="Build an index, or bring it up to date.", epilog=_BUILD_EPILOG)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@jobs_option
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
@click.option(
    "--memory",
    type=IntegerRange(min=64),
    metavar="MIB",
    help="Memory of each worker (default: its part of the machine's).",
)
@click.option("--no-lints", is_flag=True, help="Do not run lints; check --index is not possible.")
@click.option("--verify", is_flag=True, help="Read all that is stored; replace what is damaged.")
@output_option("INDEX", "A folder or URL.", required=True)
@asks("", forms=Forms(json=BUILD_SCHEMA), text=False, edition=edition_option)
def build(
    question: Question,
    inputs: tuple[str, ...],
    output: str,
    jobs: int | None,
    scheduler: str | None,
    memory: int | None,
    no_lints: bool,
    verify: bool,
) -> int:
    """Decode captures and store their tables in INDEX; pip install 'cffpy[data]'.

    INPUT is a capture, a folder, a zip or tar archive, a glob in quotes, a URL that fsspec knows,
    or @LIST: a file with an input in each line. Each capture is decoded once: those that are
    unchanged since the last build are not read again, those that are gone from an INPUT are
    removed, those of other inputs stay. A build that was killed continues where it stopped.

    A capture that is damaged or cannot be decoded has an entry that says so. The exit code is 1 if
    an INPUT cannot be read.
    """
    from cffpy.index.build import build_index
    from cffpy.tables.writers import prefer_small_memory

    prefer_small_memory()
    report = build_index(
        inputs,
        output,
        lints=not no_lints,
        verify=verify,
        jobs=jobs,
        scheduler=scheduler,
        memory=None if memory is None else memory << 20,
        gpu=question.gpu,
        register_db=question.register_db,
        limits=command_limits(),
        progress=_Progress() if is_terminal(sys.stderr) else None,
    )
    for note in report.notes:
        print_warning(note)
    for path, reason in report.problems:
        print_error(f"{path}: {reason}")
    unread = {path for path, _ in report.problems}
    failures = [reason for path, reason in report.failures if path not in unread]
    for reason in failures[:_SHOWN]:
        print_warning(reason)
    if len(failures) > _SHOWN:
        print_warning(f"{len(failures) - _SHOWN} more captures could not be decoded")
    result = Result(BUILD_SCHEMA, report.to_dict, lambda: [_report_line(report)])
    write_result(result, question)
    return EXIT_FAILURE if report.problems else EXIT_OK


#: Captures that could not be decoded and are listed.
_SHOWN = 20


def _report_line(report: BuildReport) -> str:
    parts = [
        _counted(report.captures, "capture"),
        f"{report.decoded - report.failed} decoded ({report.damaged} damaged)",
        f"{report.failed} failed",
        f"{report.unchanged} unchanged",
        f"{report.removed} removed",
    ]
    if report.resumed:
        parts.append(f"{report.resumed} of an unfinished build")
    return f"snapshot {report.snapshot}: {', '.join(parts)}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class _Progress:
    """A line on the terminal that is written over, at most once a second."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self._last >= 1:
            self._last = now
            end = "\n" if done == total else ""
            print_on_standard_error(f"{done} of {total} captures{end or '   '}")


@index.command(short_help="Query an index in SQL.", epilog=_SQL_EPILOG)
@click.argument("path", metavar="INDEX")
@click.argument("query", metavar="SELECT")
@asks_no_capture(forms=SQL_FORMS)
def sql(question: Question, path: str, query: str) -> int:
    """Query an index in SQL with DuckDB.

    The tables are those of cffpy sql, and files, findings, register_values and programs; SHOW
    TABLES and DESCRIBE list them and their columns. SQL cannot read or write files.
    """
    from cffpy.index.reader import open_index

    return write_rows(question, open_index(path).sql(query))


@index.command(short_help="List the values of a register.", epilog=_VALUES_EPILOG)
@click.argument("path", metavar="INDEX")
@click.argument("register", metavar="REG")
@asks_no_capture(forms=Forms(item="value", json=VALUES_SCHEMA, jsonl="cffpy.index-values.line/1"))
def values(question: Question, path: str, register: str) -> int:
    """List the distinct values of a register over all captures, those of most captures first.

    REG is a name in any case; * stands for any characters. A line has the value, how many
    captures and draws have it, the first of these captures, and the value decoded.
    """
    from cffpy.index.reader import open_index

    counts = open_index(path).values(register)
    result = Result(
        VALUES_SCHEMA,
        lambda: {"register": register, "values": facts_documents(counts)},
        lambda: _value_lines(counts),
        items=lambda: facts_documents(counts),
    )
    return write_result(result, question)


@index.command(short_help="Show a program and where it is used.", epilog=_SHADER_EPILOG)
@click.argument("path", metavar="INDEX")
@click.argument("digest", metavar="DIGEST")
@asks_no_capture(forms=Forms(json=SHADER_SCHEMA))
def shader(question: Question, path: str, digest: str) -> int:
    """Show a program of an index: statistics, the captures that have it, its listing.

    DIGEST is the SHA-256 of its bytes, or the first digits of it.
    """
    from cffpy.index.reader import open_index

    programs = open_index(path).shader(digest)
    result = Result(
        SHADER_SCHEMA,
        lambda: {"programs": facts_documents(programs)},
        lambda: _shader_lines(programs),
    )
    return write_result(result, question)


def _value_lines(counts: Iterable[RegisterValueCount]) -> list[str]:
    """A line for each value."""
    from cffpy.capture.gpu import generation_name

    heading = ("gpu", "register", "value", "captures", "draws", "first capture", "decoded")
    rows = [
        (
            generation_name(count.generation),
            count.register,
            "unknown" if count.value is None else f"{count.value:#x}",
            str(count.captures),
            str(count.draws),
            visible(count.first_capture),
            count.decoded,
        )
        for count in counts
    ]
    return headed_columns([heading, *rows], right={3, 4})


def _shader_lines(programs: Iterable[IndexedShader]) -> Iterator[str]:
    """Statistics, places, then the listing."""
    for program in programs:
        yield Styled(f"{program.stage} {program.digest}")
        yield f"{program.bytes} bytes, {program.instructions} instructions{_statistics(program)}"
        yield f"{program.captures} captures, {program.uses} draws"
        for capture, number, uses in program.places:
            yield f"  {visible(capture)}: shader {number}, {uses} draws"
        if program.captures > len(program.places):
            yield f"  and {program.captures - len(program.places)} more captures"
        yield ""
        yield from map(visible, program.listing.splitlines())


def _statistics(program: IndexedShader) -> str:
    numbers = (
        ("half", program.half_registers),
        ("full", program.full_registers),
        ("constlen", program.constlen),
        ("(ss)", program.ss),
        ("(sy)", program.sy),
    )
    return "".join(f", {number} {name}" for name, number in numbers if number is not None)


@index.command(short_help="Show statistics of an index.", epilog=_STATS_EPILOG)
@click.argument("path", metavar="INDEX")
@asks_no_capture(forms=Forms(json=STATS_SCHEMA))
def stats(question: Question, path: str) -> int:
    """Show statistics of an index: captures, GPUs, drivers, processes, programs by stage, the
    largest programs and passes, findings by lint, and rare values: those that one capture has, of
    registers with few values.
    """
    from cffpy.index.reader import open_index
    from cffpy.index.stats import statistics

    summary = statistics(open_index(path))
    result = Result(STATS_SCHEMA, summary.to_dict, lambda: _stats_lines(summary))
    return write_result(result, question)


def _stats_lines(summary: IndexStats) -> Iterator[str]:
    yield Styled(f"{visible(summary.index)}: snapshot {summary.snapshot} of {summary.time}")
    yield (
        f"captures: {summary.captures} ({_counts(summary.status)}); bytes: {summary.bytes}; "
        f"draws: {summary.draws}; partitions: {summary.partitions}"
    )
    yield f"GPUs: {_counts(summary.gpus)}"
    yield f"drivers: {_counts(summary.drivers)}"
    yield f"{summary.registers} registers, {summary.register_values} values"
    for title, rows in (
        ("Processes", summary.processes),
        ("Programs by stage", summary.programs),
        ("Largest programs", summary.largest_programs),
        ("Largest passes", summary.largest_passes),
        ("Rare values", summary.rare_values),
        ("Findings", summary.lints),
    ):
        if rows:
            yield ""
            yield Styled(title)
            yield from _table(rows)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {visible(name)}" for name, count in counts.items()) or "none"


def _table(objects: Sequence[Any]) -> list[str]:
    """A row for each object, with a column for each fact."""
    section = _section("", objects)
    return headed_columns([section.heading, *section.rows], section.right)


def _cell(column: Column, value: object) -> str:
    if value is None:
        return "unknown" if column.name == "value" else ""
    is_bits = column.name == "value" and isinstance(value, int)
    return f"{value:#x}" if is_bits else visible(str(value))


@index.command(short_help="Compare two indexes.", epilog=_COMPARE_EPILOG)
@click.argument("old", metavar="INDEX")
@click.argument("new", metavar="INDEX")
@click.option("--markdown", is_flag=True, help="Print a summary in Markdown.")
@asks_no_capture(forms=Forms(json=COMPARE_SCHEMA, others=("markdown",)))
def compare(question: Question, old: str, new: str) -> int:
    """Compare two indexes, as of two nights: captures, values of registers that are new, findings
    of lints that are new, programs.

    Captures correspond by their paths below the inputs of the builds. Registers with more than 64
    values, such as addresses, are left out. The exit code is 1 if a capture fails that did not, or
    if an error is found that was not.
    """
    from cffpy.index.compare import compare as compare_indexes
    from cffpy.index.reader import open_index

    comparison = compare_indexes(open_index(old), open_index(new))
    result = Result(
        COMPARE_SCHEMA,
        comparison.to_dict,
        lambda: _compare_lines(comparison),
        texts={"markdown": lambda: _compare_markdown(comparison)},
    )
    write_result(result, question)
    return EXIT_FAILURE if comparison.is_worse else EXIT_OK


#: Columns of new findings that the text leaves out: the lines are long.
_LEFT_OUT = ("full_name", "pass")


class _Section(NamedTuple):
    """A table of a comparison."""

    title: str
    heading: list[str]
    rows: list[list[str]]
    right: frozenset[int]


def _sections(comparison: IndexComparison) -> Iterator[_Section]:
    for title, names in (
        ("New captures", comparison.added),
        ("Removed captures", comparison.removed),
    ):
        yield _Section(title, ["capture"], [[visible(name)] for name in names], frozenset())
    changed = [program for program in comparison.programs if program.only_new or program.only_old]
    for title, objects in (
        ("Status", comparison.status),
        ("New findings", comparison.findings),
        ("Findings by lint", comparison.lints),
        ("New values", comparison.values),
        ("Programs by stage", changed),
    ):
        yield _section(title, objects)


def _section(title: str, objects: Sequence[Any]) -> _Section:
    if not objects:
        return _Section(title, [], [], frozenset())
    of_all = columns(model_of(type(objects[0])))
    shown = [column for column in of_all if column.name not in _LEFT_OUT]
    cells = [[_cell(column, column.read(each)) for column in shown] for each in objects]
    right = frozenset(number for number, column in enumerate(shown) if column.type != "text")
    return _Section(title, [column.name for column in shown], cells, right)


def _compare_lines(comparison: IndexComparison) -> Iterator[str]:
    is_first = True
    for section in _sections(comparison):
        if section.rows:
            if not is_first:
                yield ""
            is_first = False
            yield Styled(section.title)
            yield from headed_columns([section.heading, *section.rows], section.right)
    if is_first:
        yield "no differences"


#: Rows of a table of Markdown.
_MOST_ROWS = 50


def _compare_markdown(comparison: IndexComparison) -> Iterator[str]:
    from cffpy.index.compare import cell

    yield "## cffpy index compare"
    for section in _sections(comparison):
        if not section.rows:
            continue
        yield ""
        yield f"### {section.title}: {len(section.rows)}"
        yield ""
        yield f"| {' | '.join(section.heading)} |"
        yield f"| {' | '.join('---' for _ in section.heading)} |"
        for row in section.rows[:_MOST_ROWS]:
            yield f"| {' | '.join(map(cell, row))} |"
        if len(section.rows) > _MOST_ROWS:
            others = " |" * (len(section.heading) - 1)
            yield f"| and {len(section.rows) - _MOST_ROWS} more |{others}"


# -- check --index --------------------------------------------------------------------------------


def check_index(
    question: Question, path: str, baseline: str | None, lints: Sequence[Lint]
) -> list[IndexedCheck]:
    """Write the findings of an index and return them. ``baseline``: of the index before."""
    from cffpy.index.compare import check_index as findings_of
    from cffpy.index.compare import markdown
    from cffpy.index.reader import open_index
    from cffpy.views.check import SCHEMA, items

    before = None if baseline is None else open_index(baseline)
    checks = findings_of(open_index(path), lints, before)
    result = Result(
        SCHEMA,
        lambda: {"files": [one.to_dict() for one in checks]},
        lambda: _check_lines(checks),
        items=lambda: items(check.to_dict() for check in checks),
        texts={"markdown": lambda: markdown(checks)},
    )
    write_result(result, question)
    return checks


def _check_lines(checks: Sequence[IndexedCheck]) -> Iterator[str]:
    for check in checks:
        for problem in check.problems:
            yield f"{visible(check.capture)}: problem: {visible(problem)}"
        for one in check.findings:
            where = f"draw {one['draw']}: " if one["draw"] else ""
            if not where and one["pass"] is not None:
                where = f"pass {one['pass']}: "
            times = f" ({one['count']} times)" if one["count"] > 1 else ""
            head = f"{visible(check.capture)}: {one['severity']} {one['id']} {one['name']}"
            yield f"{head}: {where}{visible(one['text'])}{times}"
    counts = (f"{sum(one.count(name) for one in checks)} {name}" for name in _SEVERITIES)
    yield f"{len(checks)} captures: {', '.join(counts)}"


_SEVERITIES = ("error", "warning", "info")
