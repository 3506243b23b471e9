# SPDX-License-Identifier: MIT
"""``cffpy export``: captures as tables in files or in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import report
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import command_limits, output_option
from cffpy.cli.question import Question, asks
from cffpy.tables.schema import DEFAULT_TABLES, TABLES

if TYPE_CHECKING:
    from cffpy.api.capture import Capture
    from cffpy.errors import CffpyError

_EPILOG = """\b
Examples:
  cffpy export capture.rd.gz -o capture.duckdb
  cffpy export captures/ -o captures.parquet/
  cffpy export capture.rd.gz -o draws.csv --table draws
  cffpy export capture.rd.gz -o all.duckdb --all

'cffpy sql FILE "DESCRIBE draws"' lists the columns of a table.
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--table",
    "names",
    multiple=True,
    type=click.Choice(tuple(TABLES)),
    metavar="NAME",
    help="Only this table; may be given several times.",
)
@click.option("--all", "everything", is_flag=True, help="Also the large tables, such as packets.")
@output_option(
    "OUT",
    "A database *.duckdb; a folder *.parquet/, *.arrow/, *.csv/ or *.jsonl/, with a slash at its"
    " end, which gets a file for each table; or such a file, without the slash, for one table.",
    required=True,
)
@asks("FILE...", text=False)
def export(question: Question, output: str, names: tuple[str, ...], everything: bool) -> int:
    """Write captures as tables: draws, passes, registers, shaders and more.

    CSV and JSON lines need nothing else; Parquet and Arrow need pyarrow, .duckdb needs duckdb as
    well: pip install 'cffpy[data]'. Rows are written as they are made, so memory does not grow with
    them. A register has a row for each change, with the draws between which the value holds.

    FILE may be '-' for standard input, or a folder: all captures in it and below. OUT must not
    exist. The exit code is 1 if a file is damaged or cannot be read.
    """
    from cffpy.api.export import Decoding, export_apart

    if names and everything:
        raise click.UsageError("--table and --all cannot be used together")
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
