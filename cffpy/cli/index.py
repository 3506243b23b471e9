# SPDX-License-Identifier: MIT
"""``cffpy index``: builds an index of many captures, and asks it."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import click

from cffpy.cli import index_reports
from cffpy.cli.analysis_options import (
    check_one_form,
    decoding_options,
    jsonl_option,
    write_json,
    write_json_lines,
)
from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    is_terminal,
    print_error,
    print_on_standard_error,
    print_warning,
)
from cffpy.cli.parameters import IntegerRange, command_limits, edition_option
from cffpy.cli.sql import row_options, write_rows
from cffpy.cli.text_options import text_options, write_lines

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu
    from cffpy.index.build import BuildReport

BUILD_SCHEMA = "cffpy.index-build/1"
VALUES_SCHEMA = "cffpy.index-values/1"
SHADER_SCHEMA = "cffpy.index-shader/1"

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


@click.group(epilog=_EPILOG)
@click.help_option("-h", "--help")
def index() -> None:
    """Build an index of many captures, on one machine or a cluster, and ask it."""


index.add_command(index_reports.stats)
index.add_command(index_reports.compare)


@index.command(short_help="Build an index, or bring it up to date.", epilog=_BUILD_EPILOG)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", "output", required=True, metavar="INDEX", help="A folder or URL.")
@click.option(
    "--jobs",
    type=IntegerRange(min=1, max=1024),
    metavar="N",
    help="Worker processes (default: one for each processor).",
)
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
@click.option(
    "--memory",
    type=IntegerRange(min=64),
    metavar="MIB",
    help="Memory of each worker (default: its part of the machine's).",
)
@click.option("--no-lints", is_flag=True, help="Do not run lints; check --index is not possible.")
@click.option("--verify", is_flag=True, help="Read all that is stored; replace what is damaged.")
@click.option("--json", "as_json", is_flag=True, help=f"Print one JSON document ({BUILD_SCHEMA}).")
@partial(decoding_options, edition=edition_option)
def build(
    inputs: tuple[str, ...],
    output: str,
    jobs: int | None,
    scheduler: str | None,
    memory: int | None,
    no_lints: bool,
    verify: bool,
    as_json: bool,
    gpu: Gpu | None,
    register_db: str | None,
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
        gpu=gpu,
        register_db=register_db,
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
    if as_json:
        write_json(BUILD_SCHEMA, report.to_dict())
    else:
        write_lines([_report_line(report)])
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
@row_options
@text_options
@click.help_option("-h", "--help")
def sql(path: str, query: str, as_json: bool, as_jsonl: bool, as_csv: bool) -> int:
    """Query an index in SQL with DuckDB.

    The tables are those of cffpy sql, and files, findings, register_values and programs; SHOW
    TABLES and DESCRIBE list them and their columns. SQL cannot read or write files.
    """
    from cffpy.index.reader import open_index

    write_rows(open_index(path).sql(query), as_json, as_jsonl, as_csv)
    return EXIT_OK


@index.command(short_help="List the values of a register.", epilog=_VALUES_EPILOG)
@click.argument("path", metavar="INDEX")
@click.argument("register", metavar="REG")
@click.option("--json", "as_json", is_flag=True, help=f"Print one JSON document ({VALUES_SCHEMA}).")
@jsonl_option("value", "cffpy.index-values.line/1")
@text_options
@click.help_option("-h", "--help")
def values(path: str, register: str, as_json: bool, as_jsonl: bool) -> int:
    """List the distinct values of a register over all captures, those of most captures first.

    REG is a name in any case; * stands for any characters. A line has the value, how many
    captures and draws have it, the first of these captures, and the value decoded.
    """
    from cffpy.cli.index_text import value_lines
    from cffpy.index.reader import open_index

    check_one_form(as_json=as_json, as_jsonl=as_jsonl)
    found = open_index(path).values(register)
    if as_json:
        write_json(
            VALUES_SCHEMA, {"register": register, "values": [one._asdict() for one in found]}
        )
    elif as_jsonl:
        write_json_lines(one._asdict() for one in found)
    else:
        write_lines(value_lines(found))
    return EXIT_OK


@index.command(short_help="Show a program and where it is used.", epilog=_SHADER_EPILOG)
@click.argument("path", metavar="INDEX")
@click.argument("digest", metavar="DIGEST")
@click.option("--json", "as_json", is_flag=True, help=f"Print one JSON document ({SHADER_SCHEMA}).")
@text_options
@click.help_option("-h", "--help")
def shader(path: str, digest: str, as_json: bool) -> int:
    """Show a program of an index: statistics, the captures that have it, its listing.

    DIGEST is the SHA-256 of its bytes, or the first digits of it.
    """
    from cffpy.cli.index_text import shader_lines
    from cffpy.index.reader import open_index

    found = open_index(path).shader(digest)
    if as_json:
        write_json(SHADER_SCHEMA, {"programs": [one.to_dict() for one in found]})
    else:
        write_lines(shader_lines(found))
    return EXIT_OK
