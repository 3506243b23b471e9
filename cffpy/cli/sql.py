# SPDX-License-Identifier: MIT
"""``cffpy sql`` and ``cffpy export``: captures as tables, for a query or in files."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import report
from cffpy.cli.forms import Forms, Result, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import command_limits, output_option
from cffpy.cli.question import Question, asks
from cffpy.errors import MissingLibrary
from cffpy.views.plain_text import headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from click.shell_completion import CompletionItem

    from cffpy.api.capture import Capture
    from cffpy.api.export import Decoding, Rows
    from cffpy.errors import CffpyError

    _TextType = click.ParamType[str]
else:
    _TextType = click.ParamType  # not generic before click 8.4

_EXPORT_EPILOG = """\b
Examples:
  cffpy export capture.rd.gz -o capture.duckdb
  cffpy export captures/ -o captures.parquet/
  cffpy export capture.rd.gz -o draws.csv --table draws
  cffpy export capture.rd.gz -o all.duckdb --all
  cffpy export capture.rd.gz -o frame.perfetto.json    for ui.perfetto.dev

'cffpy sql FILE "DESCRIBE draws"' lists the columns of a table.
"""


class _TableName(_TextType):
    """The name of a table; the tables are declared by the model, which help does without."""

    name = "table"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """The name; fails as a choice does."""
        return str(_tables().convert(value, param, ctx))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so."""
        return _tables().shell_complete(ctx, param, incomplete)


def _tables() -> click.Choice[str]:
    from cffpy.tables.schema import TABLES

    return click.Choice(tuple(TABLES))


@click.command(epilog=_EXPORT_EPILOG)
@click.option(
    "--table",
    "names",
    multiple=True,
    type=_TableName(),
    metavar="NAME",
    help="Only this table; may be given several times.",
)
@click.option("--all", "everything", is_flag=True, help="Also the large tables, such as packets.")
@output_option(
    "OUT",
    "A database *.duckdb; a folder *.parquet/, *.arrow/, *.csv/ or *.jsonl/, with a slash at its"
    " end, which gets a file for each table; or such a file, without the slash, for one table; or"
    " *.perfetto.json, a timeline.",
    required=True,
)
@asks("FILE...", text=False)
def export(question: Question, output: str, names: tuple[str, ...], everything: bool) -> int:
    """Write captures as tables: draws, passes, registers, shaders and more; or as a timeline.

    CSV and JSON lines need nothing else; Parquet and Arrow need pyarrow, .duckdb needs duckdb as
    well: pip install 'cffpy[data]'. Rows are written as they are made, so memory does not grow with
    them. A register has a row for each change, with the draws between which the value holds.

    A timeline (*.perfetto.json) has spans of submits, passes, tiles and actions in the order of
    execution, and in time where timestamps around passes and tiles were captured. ui.perfetto.dev
    opens it.

    FILE may be '-' for standard input, or a folder: all captures in it and below. OUT must not
    exist. The exit code is 1 if a file is damaged or cannot be read.
    """
    from cffpy.api.export import TIMELINE_SUFFIX, Decoding, export_apart
    from cffpy.tables.schema import DEFAULT_TABLES, TABLES

    if names and everything:
        raise click.UsageError("--table and --all cannot be used together")
    if output.endswith(TIMELINE_SUFFIX) and (names or everything):
        raise click.UsageError(f"--table and --all cannot be used with *{TIMELINE_SUFFIX}")
    from cffpy.tables.writers import prefer_small_memory

    prefer_small_memory()
    tables = names or (TABLES if everything else DEFAULT_TABLES)
    decoding = Decoding(question.gpu, question.register_db, command_limits())
    return export_apart(question.files, output, tables, decoding, Reports())


class Reports:
    """Reports problems of each file on standard error; ``code`` is the exit code."""

    def __init__(self) -> None:
        self.code = EXIT_OK

    def __call__(self, path: str, found: Capture | CffpyError) -> None:
        """Take what became of a file."""
        if isinstance(found, Exception):
            text = str(found)
            print_error(text if text.startswith(path) else f"{path}: {text}")
            self.code = EXIT_FAILURE
        else:
            self.code = max(self.code, report(found))


SCHEMA = "cffpy.sql/1"
#: Of the rows of a query.
FORMS = Forms(item="row", json=SCHEMA, jsonl="its columns", csv=True)

_SQL_EPILOG = """\b
Examples:
  cffpy sql capture.rd.gz "SELECT mode, count(*) FROM passes GROUP BY mode"
  cffpy sql captures/ "SELECT capture, sum(vertices) FROM draws GROUP BY capture"
  cffpy sql a.rd.gz b.rd.gz "SELECT * FROM register_at_draw WHERE register = 'RB_DEPTH_CNTL'"
  cffpy sql --shell capture.rd.gz

SHOW TABLES lists tables and views, DESCRIBE draws the columns of one.
"""


@click.command(epilog=_SQL_EPILOG)
@click.argument("arguments", nargs=-1, required=True, metavar="FILE... SELECT")
@click.option("--allow-files", is_flag=True, help="SQL may read and write files.")
@click.option("--shell", is_flag=True, help="Open DuckDB's own prompt; no SELECT is given.")
@asks("", forms=FORMS)
def sql(question: Question, arguments: tuple[str, ...], allow_files: bool, shell: bool) -> int:
    """Query captures in SQL with DuckDB: pip install 'cffpy[data]'.

    Only the tables that the question names are made. SQL cannot read or write files, unless
    --allow-files is given. --shell writes a temporary database and opens the program duckdb on it.

    FILE may be a folder: all captures in it and below. The exit code is 1 if a file is damaged or
    cannot be read.
    """
    from cffpy.api.export import Decoding, sql_apart
    from cffpy.tables.writers import prefer_small_memory

    prefer_small_memory()
    decoding = Decoding(question.gpu, question.register_db, command_limits())
    if shell:
        return _shell(arguments, decoding)
    if len(arguments) < 2:
        raise click.UsageError("FILE and SELECT are needed, as in: cffpy sql FILE 'SELECT ...'")
    *files, query = arguments
    _check_order(files, query)
    rows, code = sql_apart(files, query, allow_files, decoding, Reports())
    write_rows(question, rows)
    return code


def _check_order(files: Sequence[str], query: str) -> None:
    """Raise click.UsageError where a file stands last, and a query where files are."""
    if os.path.exists(query) and not os.path.exists(files[0]):
        hint = f"cffpy sql {query} {shlex.quote(files[0])}"
        raise click.UsageError(f"SELECT comes last: {hint}")


def write_rows(question: Question, rows: Rows) -> int:
    """Write the result of an SQL query; the exit code 0."""

    def lines() -> Iterator[str]:
        table = [map(visible, rows.columns), *(map(_cell, row) for row in rows)]
        return iter(headed_columns([tuple(row) for row in table]))

    def objects() -> Iterator[Mapping[str, object]]:
        return (dict(zip(rows.columns, row, strict=True)) for row in _plain_rows(rows))

    result = Result(
        SCHEMA,
        lambda: {"columns": rows.columns, "rows": _plain_rows(rows)},
        lines,
        lambda: rows.columns,
        lambda: rows,
        objects,
    )
    return write_result(result, question)


def _cell(value: object) -> str:
    return "" if value is None else visible(str(value))


#: Types whose values are values of JSON.
_PLAIN = frozenset((type(None), bool, int, float, str))


def _plain_rows(rows: Rows) -> Iterator[list[object]]:
    """The rows with values of JSON."""
    return ([value if type(value) in _PLAIN else _plain(value) for value in row] for row in rows)


def _plain(value: object) -> object:
    """A value of JSON: of a date, a decimal number and other types of DuckDB their text."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if type(value) in _PLAIN else str(value)


def _shell(files: tuple[str, ...], decoding: Decoding) -> int:
    """Open DuckDB's prompt on the tables; its exit code, or that of the files."""
    import subprocess

    from cffpy.api.export import export_apart
    from cffpy.tables.schema import DEFAULT_TABLES

    program = shutil.which("duckdb")
    if program is None:
        raise MissingLibrary("--shell needs the program duckdb: https://duckdb.org/install")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "captures.duckdb")
        of_files = export_apart(files, path, DEFAULT_TABLES, decoding, Reports())
        code = subprocess.run([program, path], check=False).returncode
    return code or of_files
