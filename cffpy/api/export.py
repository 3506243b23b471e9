# SPDX-License-Identifier: MIT
"""``cffpy.export`` and ``cffpy.sql``: captures as tables, in files or for SQL queries."""

from __future__ import annotations

import os
import re
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, TypedDict
from warnings import catch_warnings, simplefilter

from cffpy.analysis.register_store.draws import WritePlaces
from cffpy.api.arguments import expect, expect_all, expect_path, given_paths
from cffpy.api.capture import open_sharing
from cffpy.api.intel_source import IntelSource
from cffpy.check.registry import all_lints
from cffpy.container.kinds import captures_in
from cffpy.errors import CffpyError, MissingLibrary, UsageError
from cffpy.output_files import staged_output, written_file
from cffpy.pm4.descriptions import Descriptions
from cffpy.regdb.spelling import folded_literals
from cffpy.tables.child_process import run_in_child
from cffpy.tables.lines import LineOptions
from cffpy.tables.rows import ROWS, Decoded, packet_row
from cffpy.tables.schema import DEFAULT_TABLES, TABLES, VIEWS
from cffpy.tables.spool import RowSpool
from cffpy.tables.statement import lists_tables, tables_named
from cffpy.tables.writers import (
    DuckDatabase,
    check_libraries,
    check_output,
    first_line,
    library,
    needs_library,
    open_duckdb,
    writer_for,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cffpy.api.capture import Capture
    from cffpy.api.source import Source
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.frame.passes import Passes
    from cffpy.frame.submit import Problem
    from cffpy.limits import Limits
    from cffpy.tables.schema import Table
    from cffpy.tables.writers import Writer

    Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
    #: Called with the path of each file and its capture, or with the error that it raised.
    Report = Callable[[str, "Capture | CffpyError"], object]

    class Reports(Protocol):
        """A Report with the exit code that follows from what it was called with."""

        code: int

        def __call__(self, path: str, found: Capture | CffpyError) -> object:
            """Take what became of a file."""


#: The end of the name of a timeline.
TIMELINE_SUFFIX = ".perfetto.json"

#: DuckDB's error for a table that a query names.
_UNKNOWN_TABLE = re.compile(r"Table with name (\S+) does not exist")

#: Captures whose rows may be in one batch: texts of shaders are long.
_CAPTURES_A_BATCH = 64


class Decoding(NamedTuple):
    """How captures are decoded; as for ``cffpy.open``."""

    gpu: str | int | Gpu | None = None
    register_db: str | None = None
    limits: Limits | Mapping[str, int] | None = None


def export(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    tables: Iterable[str] = DEFAULT_TABLES,
    decoding: Decoding | None = None,
    report: Report | None = None,
) -> dict[str, int]:
    """Write tables of captures; returns the rows of each. ``cffpy help sql`` lists tables.

    ``output``: a file ``*.parquet``, ``*.arrow``, ``*.csv`` or ``*.jsonl`` for one table; of
    several, a text that ends with a slash, ``"out.parquet/"``: a folder with a file for each; a
    database ``*.duckdb``; or ``*.perfetto.json``, no tables but the timeline of submits, passes,
    tiles and actions, for ui.perfetto.dev. It must not exist. ``report``: see Report; without it,
    the first file that cannot be read raises its error.

    Raises UsageError for other suffixes, several tables in a file, and unknown tables,
    MissingLibrary without the extra ``data``.
    """
    expect_path("output", output)
    files = captures_in(given_paths("paths", paths))
    path = os.fspath(output)
    if path.endswith(TIMELINE_SUFFIX):
        return _write_timeline(files, path, decoding, report)
    chosen = _tables(expect_all("tables", tables, str, "names of tables"))
    check_output(path, len(chosen))
    with staged_output(path) as staged, closing(writer_for(staged, len(chosen))) as writer:
        return _write(files, writer, chosen, decoding, report)


def _write_timeline(
    files: list[str], path: str, decoding: Decoding | None, report: Report | None
) -> dict[str, int]:
    """Write the timeline of captures; returns the number of its spans as "spans"."""
    from cffpy.views import timeline

    if os.path.lexists(path):
        raise UsageError(f"{path} exists already")
    spans = 0
    with written_file(path, must_be_new=True) as file:
        for line in timeline.lines(_named_passes(files, decoding, report)):
            file.write(line.encode() + b"\n")
            spans += '"ph": "X"' in line
    return {"spans": spans}


def _named_passes(
    files: list[str], decoding: Decoding | None, report: Report | None
) -> Iterator[tuple[str, Passes]]:
    """The names and passes of captures, which are open one at a time."""
    descriptions = Descriptions(None if decoding is None else decoding.register_db)
    how = decoding or Decoding()
    for path in files:
        try:
            with open_sharing(descriptions, path, *how) as capture:
                passes = capture._source.model
                if report is not None:
                    report(path, capture)
                yield capture.name, passes
        except CffpyError as problem:
            if report is None:
                raise
            report(path, problem)


def export_apart(
    paths: Paths,
    output: str,
    tables: Iterable[str],
    decoding: Decoding,
    reports: Reports,
) -> int:
    """As ``export``, in less memory: for commands. Returns ``reports.code``.

    Captures are decoded in a child process, which calls ``reports``. Then this one writes the rows
    with the library that the output needs.
    """
    if output.endswith(TIMELINE_SUFFIX) or not needs_library(output):
        export(paths, output, tables=tables, decoding=decoding, report=reports)
        return reports.code
    chosen = _tables(tables)
    files = captures_in(given_paths("paths", paths))
    check_output(output, len(chosen))
    with RowSpool() as spool:
        code = _fill(spool, files, chosen, decoding, reports)
        with staged_output(output) as path, closing(writer_for(path, len(chosen))) as writer:
            spool.pass_on(writer)
    return code


def _fill(
    spool: RowSpool, files: list[str], tables: list[Table], decoding: Decoding, reports: Reports
) -> int:
    """Write the rows of captures to a file, in a child process."""

    def decode() -> int:
        _write(files, spool, tables, decoding, reports)
        spool.close()
        return reports.code

    return run_in_child(decode)


class SqlDocument(TypedDict):
    """The rows of a question: cffpy sql --json."""

    columns: Annotated[list[str], "names of the columns"]
    rows: Annotated[list[list[Any]], "the rows, each with a value for each column"]


class Rows:
    """The result of ``sql``: ``columns``, and the rows as tuples when it is iterated, once.

    Raises UsageError when it is iterated again: rows are not kept; ``list(rows)`` keeps them.
    """

    def __init__(
        self,
        database: object,
        result: Any,  # noqa: ANN401
        check: Callable[[Exception], None] | None = None,
    ) -> None:
        """``database`` is kept as long as the rows. Raises UsageError if ``result`` is None.

        ``check`` gets an error of DuckDB first, and may raise another one for it.
        """
        if result is None:  # DuckDB's answer to a text without a statement
            raise UsageError("SQL: there is no statement")
        self._database = database
        self._result = result
        self._check = check
        self._is_read = False
        #: Names of the columns.
        self.columns: list[str] = [one[0] for one in result.description or ()]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if self._is_read:
            raise UsageError("the rows have been read; keep them: rows = list(cffpy.sql(...))")
        self._is_read = True
        return self._read()

    def _read(self) -> Iterator[tuple[Any, ...]]:
        error = library("duckdb").Error
        while True:
            try:
                batch = self._result.fetchmany(1024)
            except error as problem:
                if self._check is not None:
                    self._check(problem)
                raise UsageError(f"SQL: {first_line(problem)}") from None
            if not batch:
                return
            yield from batch

    def df(self) -> Any:  # noqa: ANN401
        """All rows as a ``pandas.DataFrame``. Raises MissingLibrary without pandas."""
        try:
            import_module("pandas")
        except ImportError:
            raise MissingLibrary("df() needs pandas, which is not installed") from None
        return self._whole("df", "df")

    def arrow(self) -> Any:  # noqa: ANN401
        """All rows as a ``pyarrow.Table``. Raises MissingLibrary without pyarrow."""
        library("pyarrow")
        return self._whole("to_arrow_table", "fetch_arrow_table")

    def _whole(self, form: str, older: str) -> Any:  # noqa: ANN401
        """What DuckDB makes of all rows, by a method of DuckDB 2, or of an ``older`` one."""
        iter(self)  # raises where the rows have been read
        make = getattr(self._result, form if hasattr(self._result, form) else older)
        try:
            with catch_warnings():
                simplefilter("ignore")  # a question as a relation would make one copy less
                return make()
        except library("duckdb").Error as problem:
            raise UsageError(f"SQL: {first_line(problem)}") from None

    def __repr__(self) -> str:
        state = ", read" if self._is_read else ""
        return f"<Rows of {', '.join(self.columns)}{state}>"

    def to_dict(self) -> SqlDocument:
        """Columns and rows, as ``cffpy sql --json`` has them. Reads all rows."""
        return {"columns": self.columns, "rows": list(map(list, self))}


def sql(
    paths: Paths,
    query: str,
    *,
    allow_files: bool = False,
    decoding: Decoding | None = None,
    report: Report | None = None,
) -> Rows:
    """Run an SQL query over captures with DuckDB. ``cffpy help sql`` has recipes.

    Only tables that the query names are built, or listed as by SHOW TABLES. Literals that name a
    register may have its index in decimal or with 0x. ``allow_files``: SQL may read and write
    files and load extensions. ``report``: as for ``export``.

    Raises UsageError for an error of SQL, MissingLibrary without the extra ``data``.
    """
    expect("query", query, str, "a text in SQL")
    files = captures_in(given_paths("paths", paths))
    database = DuckDatabase(allow_files=allow_files)
    chosen = tables_named(query, database.connection)
    for table in chosen:
        database.create(table)
    _write(files, database, chosen, decoding, report)
    return _answer(database, query)


def sql_apart(
    paths: Paths, query: str, allow_files: bool, decoding: Decoding, reports: Reports
) -> tuple[Rows, int]:
    """As ``sql``, in less memory: see ``export_apart``. Also returns ``reports.code``."""
    check_libraries(["duckdb"])
    files, tables = captures_in(given_paths("paths", paths)), _tables_of(query)
    with RowSpool() as spool:
        code = _fill(spool, files, tables, decoding, reports)
        database = DuckDatabase(allow_files=allow_files)
        spool.pass_on(database, {table.name: table for table in tables})
    return _answer(database, query), code


def _tables_of(query: str) -> list[Table]:
    """The tables that a query names, with the columns that it names."""
    connection = open_duckdb(":memory:", {"threads": "1"})
    try:
        return tables_named(query, connection)
    finally:
        connection.close()  # its threads end: a process with threads has no child process


def _answer(database: DuckDatabase, query: str) -> Rows:
    if lists_tables(query):
        for table in TABLES.values():  # without rows, as far as the query does not name it
            database.create(table)
    database.finish()
    try:
        return Rows(database, database.connection.execute(folded_literals(query)))
    except library("duckdb").Error as problem:
        unknown = _UNKNOWN_TABLE.search(str(problem))
        if unknown is not None:  # only tables that are named exist, so DuckDB suggests none
            known = ", ".join((*TABLES, *VIEWS))
            raise UsageError(f"SQL: there is no table {unknown[1]}; tables: {known}") from None
        raise UsageError(f"SQL: {first_line(problem)}") from None


def _tables(names: Iterable[str]) -> list[Table]:
    chosen = set(names)
    unknown = chosen - set(TABLES)
    if unknown:
        known = ", ".join(TABLES)
        raise UsageError(f"there is no table {min(unknown)}; tables: {known}")
    return [table for name, table in TABLES.items() if name in chosen]


def _write(
    files: Iterable[str],
    writer: Writer,
    tables: list[Table],
    decoding: Decoding | None,
    report: Report | None,
) -> dict[str, int]:
    how = decoding or Decoding()
    descriptions = Descriptions()
    counts = {table.name: 0 for table in tables}
    for table in tables:  # also of what has no rows
        writer.write(table, ())
    for number, path in enumerate(files):
        if number % _CAPTURES_A_BATCH == 0:
            writer.flush()
        try:
            with open_sharing(descriptions, path, *how) as capture:
                capture._source.content.move_to_file()
                write_capture(capture._source, writer, tables, counts, releases=True)
                if report is not None:
                    report(path, capture)
        except CffpyError as problem:
            if report is None:
                raise
            report(path, problem)
    return counts


def write_capture(
    source: Source,
    writer: Writer,
    tables: Iterable[Table],
    counts: dict[str, int],
    releases: bool = False,
) -> None:
    """Write the tables of one capture; adds the number of rows of each to ``counts``.

    ``releases``: nothing else uses the source, of which only what the next tables need is kept.
    Registers and bindings of a large capture are found by a walk each then: one for both takes less
    time and more memory.
    """
    tables = sorted(tables, key=_place_of)
    needed = {_needs(table) for table in tables}
    is_apart = releases and is_large(source.content)
    if needed.issuperset(_NEEDED) and not is_apart and "bindings" not in vars(source):
        source.walk_whole((), with_lrz=False, writes=WritePlaces() if releases else None)
    decoded = _decoded(source)
    found = ""
    for table in tables:
        needs = _needs(table)
        if releases and needs != found:
            _release(source, found, needs, is_apart)
            found = needs
        if table.name == "packets":
            counts[table.name] += _write_packets(source, writer, table)
        else:
            counts[table.name] += writer.write(table, ROWS[table.name](decoded, table))
        source.content.release_pages()


#: Bytes of a capture that is large.
_APART = 16 << 20


def is_large(content: Content) -> bool:
    """Whether registers and bindings of a capture should have a walk each: see write_capture."""
    return len(content.data) >= _APART


def _release(source: Source, found: str, needs: str, is_apart: bool) -> None:
    """Release what earlier tables needed; ``is_apart``: find what the next ones need by a walk."""
    if found == "registers":
        source.forget("registers", "walk" if needs and is_apart else "")
    if found == "bindings":
        source.forget("recording", "bindings")
    if is_apart and needs == "registers":
        source.walk_for_tables()
    elif is_apart and needs == "bindings":
        _ = source.bindings  # and the passes


#: What takes most memory -> the tables that need it, which are written first.
_NEEDED = {
    "registers": ("registers", "fields"),
    "bindings": ("descriptors", "descriptor_fields", "data_buffers"),
}


def _needs(table: Table) -> str:
    return next((name for name, tables in _NEEDED.items() if table.name in tables), "")


def _place_of(table: Table) -> int:
    """Where a table comes when those of a capture are written; problems are known at the end."""
    if needs := _needs(table):
        return [*_NEEDED].index(needs)
    return 3 if table.name == "problems" else 2


def _write_packets(source: Source, writer: Writer, table: Table) -> int:
    count = 0

    def emit(text: str) -> None:
        nonlocal count
        count += writer.write(table, map(packet_row, text.split("\n")[:-1]))

    source.write_lines(LineOptions(("registers", "packets", "draws")), emit)
    return count


def _decoded(source: Source) -> Decoded:
    def registers() -> Any:  # noqa: ANN401
        store = source.walk(registers=True).store
        return None if store is None else store.draws

    return Decoded(
        source.content.name,
        source.content.digest,
        lambda: source.summary,
        lambda: source.walk(registers=False).finder,
        registers,
        (lambda: source.history) if isinstance(source, IntelSource) else None,
        lambda: source.walk().write_places,
        lambda: source.walk(registers=False).database,
        lambda: source.collected,
        lambda: source.bindings,
        lambda one: source.visibilities.of(one),
        lambda: source.lrz,
        lambda: source.gpu_queries,
        lambda: source.stream_out,
        lambda: source.barriers,
        lambda: source.mode_choices.values(),
        lambda: source.check(all_lints()).findings,
        source.note_truncated,
        lambda: _problems(source),
    )


def _problems(source: Source) -> list[Problem]:
    source.walk(registers=False)
    return source.problems
