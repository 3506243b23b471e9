# SPDX-License-Identifier: MIT
"""Writes tables: a file for each, as CSV, JSON lines, Parquet or Arrow; a DuckDB database.

Rows are written in batches, so memory use is constant. Batches of Arrow take rows of as many
captures as it needs to fill them. pyarrow and duckdb are imported when they are used.
"""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import ExitStack, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from cffpy.errors import MissingLibrary, UsageError
from cffpy.tables.schema import SCHEMA, TABLES, VIEW_TABLES, VIEWS, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence
    from types import ModuleType

    Row = tuple[Any, ...]

#: Rows that are in memory at once; the same of DuckDB, and of files of text, whose batches cost
#: less. After how many rows DuckDB compresses them: by itself it did after 160,000.
BATCH, _INSERTED, _WRITTEN, _COMPRESSED = 1 << 13, 1 << 12, 1 << 9, 1 << 16

#: Types of columns as DuckDB has them, and as pyarrow names them.
_SQL_TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "address": "UBIGINT",
    "real": "DOUBLE",
    "flag": "BOOLEAN",
}
_ARROW_TYPES = {
    "text": "string",
    "integer": "int64",
    "address": "uint64",
    "real": "float64",
    "flag": "bool_",
}


class Writer(Protocol):
    """Takes the rows of tables, in any order of tables."""

    def write(self, table: Table, rows: Iterable[Row]) -> int:
        """Write rows, or keep them until there are more; returns their number."""
        ...

    def flush(self) -> None:
        """Write the rows that are kept."""
        ...

    def close(self) -> None:
        """Finish the files after the last row."""
        ...


def library(name: str) -> ModuleType:
    """A library of the extra ``data``. Raises MissingLibrary."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingLibrary.of("this needs", name.partition(".")[0], "data") from None


def prefer_small_memory() -> None:
    """Have pyarrow, which is not imported yet, use the system's allocator: for commands.

    Its own one keeps what was freed: an export took 26 MB more. The environment decides if it says
    so.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def batches(rows: Iterable[Row], most: int = BATCH) -> Iterator[list[Row]]:
    """Rows in lists of at most ``most``."""
    rest = iter(rows)
    while batch := list(islice(rest, most)):
        yield batch


class _Files:
    """A file for each table in a folder, or one file with one table."""

    suffix = ""

    def __init__(self, path: str) -> None:
        """``path``: a folder if it ends with a slash."""
        self._path_given = path
        self._is_folder = is_folder(path)
        self._open: dict[str, Any] = {}
        self._stack = ExitStack()
        if self._is_folder:
            os.makedirs(path, exist_ok=True)

    def _path(self, table: Table) -> str:
        if not self._is_folder:
            return self._path_given
        return os.path.join(self._path_given, f"{table.name}{self.suffix}")

    def _file(self, table: Table) -> Any:  # noqa: ANN401
        if table.name not in self._open:
            self._open[table.name] = self._stack.enter_context(self._begin(table))
        return self._open[table.name]

    def _begin(self, table: Table) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def flush(self) -> None:
        """Nothing: by default no rows are kept."""

    def close(self) -> None:
        """Close the files of all tables."""
        self._stack.close()


class CsvFiles(_Files):
    """CSV: a line of names, then rows. NULL is an empty cell, flags are true and false."""

    suffix = ".csv"

    def _begin(self, table: Table) -> io.TextIOWrapper:
        file = _text_file(self._path(table))
        csv.writer(file, lineterminator="\n").writerow([column.name for column in table.columns])
        return file

    def write(self, table: Table, rows: Iterable[Row]) -> int:
        """Write rows as lines of the table's CSV file."""
        writer = csv.writer(self._file(table), lineterminator="\n")
        count = 0
        for batch in batches(rows, _WRITTEN):
            writer.writerows(map(_flags_as_text, batch))
            count += len(batch)
        return count


def _text_file(path: str) -> io.TextIOWrapper:
    return open(path, "w", encoding="utf-8", errors="backslashreplace", newline="")


def _flags_as_text(row: Row) -> list[Any]:
    return [("true" if value else "false") if isinstance(value, bool) else value for value in row]


class JsonFiles(_Files):
    """JSON lines: an object for each row."""

    suffix = ".jsonl"

    def _begin(self, table: Table) -> io.TextIOWrapper:
        return _text_file(self._path(table))

    def write(self, table: Table, rows: Iterable[Row]) -> int:
        """Write rows as objects, a line each, of the table's file."""
        file = self._file(table)
        names = [column.name for column in table.columns]
        count = 0
        for batch in batches(rows, _WRITTEN):
            file.writelines(
                [json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in batch]
            )
            count += len(batch)
        return count


class _Pending:
    """Rows of tables that wait until there are enough of all together.

    A batch costs some milliseconds however few rows it has.
    """

    def __init__(self, emit: Callable[[Table, list[Row]], None], most: int) -> None:
        """``emit`` writes rows of a table. ``most``: rows that wait."""
        self._emit = emit
        self._most = most
        self._rows: dict[str, tuple[Table, list[Row]]] = {}
        self._count = 0

    def add(self, table: Table, rows: Iterable[Row]) -> int:
        """Keep rows, or write them; returns their number."""
        waiting = self._rows.setdefault(table.name, (table, []))[1]
        count = 0
        for row in rows:
            waiting.append(row)
            count += 1
            self._count += 1
            if self._count >= self._most:
                self._flush_largest()
        return count

    def flush(self) -> None:
        """Write the rows of all tables that wait."""
        while self._count:
            self._flush_largest()

    def _flush_largest(self) -> None:
        table, rows = max(self._rows.values(), key=lambda table_rows: len(table_rows[1]))
        self._count -= len(rows)
        self._emit(table, rows)
        rows.clear()


class _ArrowFiles(_Files):
    """Files of tables that pyarrow writes in batches."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._pending = _Pending(
            lambda table, rows: self._file(table).write_batch(record_batch(table, rows)), BATCH
        )

    def write(self, table: Table, rows: Iterable[Row]) -> int:
        """Keep the rows, which are written in batches."""
        self._file(table)  # also of a table without rows
        return self._pending.add(table, rows)

    def flush(self) -> None:
        """Write the batches that are kept."""
        self._pending.flush()

    def close(self) -> None:
        """Write what is kept, and close all files."""
        self.flush()
        super().close()


class ParquetFiles(_ArrowFiles):
    """Parquet files, compressed by zstd, one a table."""

    suffix = ".parquet"

    def _begin(self, table: Table) -> Any:  # noqa: ANN401
        parquet = library("pyarrow.parquet")
        return parquet.ParquetWriter(self._path(table), arrow_schema(table), compression="zstd")


class ArrowFiles(_ArrowFiles):
    """Arrow's file format (Feather 2)."""

    suffix = ".arrow"

    def _begin(self, table: Table) -> Any:  # noqa: ANN401
        return library("pyarrow.ipc").new_file(self._path(table), arrow_schema(table))


def arrow_schema(table: Table, shared: Container[str] = ()) -> Any:  # noqa: ANN401
    """The schema of a table, with the name of all tables' schema as metadata.

    ``shared``: columns of texts that many rows share, as dictionaries.
    """
    arrow = library("pyarrow")
    columns = []
    for column in table.columns:
        kind = getattr(arrow, _ARROW_TYPES[column.type])()
        if column.name in shared:
            kind = arrow.dictionary(arrow.int32(), kind)
        columns.append(arrow.field(column.name, kind))
    return arrow.schema(columns, metadata={"schema": SCHEMA})


def record_batch(table: Table, rows: list[Row], shared: Container[str] = ()) -> Any:  # noqa: ANN401
    """Rows as a batch of Arrow. ``shared``: see ``arrow_schema``."""
    arrow = library("pyarrow")
    schema = arrow_schema(table, shared)
    columns = [
        _array(values, field.type) if field.name not in shared else _dictionary(values, field.type)
        for values, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return arrow.record_batch(columns, schema=schema)


def _array(values: Iterable[Any], kind: Any) -> Any:  # noqa: ANN401
    cells = [clean_text(value) if isinstance(value, str) else value for value in values]
    return library("pyarrow").array(cells, type=kind)


def _dictionary(values: Sequence[Any], kind: Any) -> Any:  # noqa: ANN401
    """An array that has each text once; NULL is not among them."""
    texts = [text for text in dict.fromkeys(values) if text is not None]
    numbers = {text: number for number, text in enumerate(texts)}
    indices = _array((numbers.get(value) for value in values), kind.index_type)
    return library("pyarrow").DictionaryArray.from_arrays(indices, _array(texts, kind.value_type))


def clean_text(text: str) -> str:
    """A text without surrogates, which UTF-8 cannot encode (bytes of names in hostile files)."""
    return text.encode("utf-8", "backslashreplace").decode()


def open_duckdb(path: str, config: dict[str, str]) -> Any:  # noqa: ANN401
    """A connection to DuckDB that writes nothing by itself. Raises MissingLibrary, DuckDB's Error.

    Some processes count as interactive: after 2 seconds there was a progress bar on standard
    output.
    """
    connection = library("duckdb").connect(path, config=config)
    connection.execute("SET enable_progress_bar = false")
    return connection


class DuckDatabase:
    """A DuckDB database: in memory, or a file."""

    def __init__(self, path: str = "", allow_files: bool = True) -> None:
        """``path``: empty for one in memory. ``allow_files``: SQL may read and write files, and
        load extensions.
        """
        duckdb = library("duckdb")
        if not _has_appender(duckdb):
            library("pyarrow")
        allowed = "true" if allow_files else "false"
        config = {
            "enable_external_access": allowed,
            # the program duckdb, which opens the file, may be older than the library
            "storage_compatibility_version": "v1.1.0",
            "default_block_size": str(1 << 16),  # each column of each table begins one
            "threads": "1",  # each has buffers; rows come in batches, one after another
        }
        try:
            self.connection = open_duckdb(path or ":memory:", config)
            if not path:
                _compress_memory(self.connection)
        except duckdb.Error as problem:
            raise UsageError(f"{path}: {first_line(problem)}") from None
        self._tables: set[str] = set()
        insert = _append if _has_appender(duckdb) else _insert
        # not a method: a cycle would keep the database, and its threads, until it is collected
        self._pending = _Pending(_Inserting(self.connection, insert), _INSERTED)

    def create(self, table: Table) -> None:
        """Make the table with all of its columns, without rows."""
        if table.name not in self._tables:
            self._tables.add(table.name)
            whole = TABLES.get(table.name, table)
            columns = ", ".join(
                f"{quoted(column.name)} {_SQL_TYPES[column.type]}" for column in whole.columns
            )
            self.connection.execute(f"CREATE TABLE {quoted(table.name)} ({columns})")

    def write(self, table: Table, rows: Iterable[Row]) -> int:
        """Keep the rows, which are written in batches."""
        self.create(table)
        return self._pending.add(table, rows)

    def flush(self) -> None:
        """Insert the batches that are kept."""
        self._pending.flush()

    def finish(self) -> None:
        """Make the database in memory complete for the user's queries."""
        self._complete()
        self.connection.execute("RESET threads")
        self.connection.execute("SET lock_configuration = true")  # SQL changes no setting

    def close(self) -> None:
        """Make the database in a file complete."""
        self._complete()
        self.connection.close()

    def _complete(self) -> None:
        """Write the rows that are kept, and make the views whose tables exist."""
        self.flush()
        for name, select in VIEWS.items():
            if self._tables.issuperset(VIEW_TABLES[name]):
                self.connection.execute(f"CREATE VIEW {quoted(name)} AS {select}")


def _has_appender(duckdb: ModuleType) -> bool:
    """Whether DuckDB takes rows without pyarrow, which needs 40 MB: from version 2.0 on."""
    return hasattr(duckdb.DuckDBPyConnection, "appender")


def _compress_memory(connection: Any) -> None:  # noqa: ANN401
    """Make tables in a database in memory that is compressed: from version 1.4 on."""
    with suppress(library("duckdb").Error):
        connection.execute("ATTACH ':memory:' AS captures (COMPRESS)")
        connection.execute("USE captures")


class _Inserting:
    """Inserts batches of rows, and has them compressed while there are few: to save memory."""

    def __init__(
        self,
        connection: Any,  # noqa: ANN401
        insert: Callable[[Any, Table, list[Row]], None],
    ) -> None:
        self._connection = connection
        self._insert = insert
        self._rows = 0

    def __call__(self, table: Table, rows: list[Row]) -> None:
        self._insert(self._connection, table, rows)
        self._rows += len(rows)
        if self._rows >= _COMPRESSED:
            self._rows = 0
            self._connection.execute("CHECKPOINT")


def _append(connection: Any, table: Table, rows: list[Row]) -> None:  # noqa: ANN401
    appender = connection.appender(table.name, columns=_names(table))
    try:
        appender.append_rows(rows)
    except library("duckdb").Error:  # the first text with surrogates
        appender.clear()
        appender.append_rows(map(_clean, rows))
    appender.flush()


def _clean(row: Row) -> Row:
    return tuple(clean_text(value) if isinstance(value, str) else value for value in row)


def _insert(connection: Any, table: Table, rows: list[Row]) -> None:  # noqa: ANN401
    connection.register("cffpy_batch", record_batch(table, rows))
    columns = ", ".join(map(quoted, _names(table)))
    connection.execute(f"INSERT INTO {quoted(table.name)} ({columns}) SELECT * FROM cffpy_batch")
    connection.unregister("cffpy_batch")


def _names(table: Table) -> list[str]:
    """The columns of rows; other columns of the table are NULL."""
    return [column.name for column in table.columns]


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def first_line(problem: BaseException) -> str:
    """The message of an error of DuckDB in one line."""
    return " ".join(line.strip() for line in str(problem).splitlines() if line.strip())


#: Suffix of the output -> what writes it.
WRITERS: dict[str, type[CsvFiles] | type[JsonFiles] | type[_ArrowFiles] | type[DuckDatabase]] = {
    ".csv": CsvFiles,
    ".jsonl": JsonFiles,
    ".parquet": ParquetFiles,
    ".arrow": ArrowFiles,
    ".duckdb": DuckDatabase,
}

#: Suffix -> the libraries of the extra ``data`` that it needs.
_LIBRARIES = {".parquet": ["pyarrow"], ".arrow": ["pyarrow"], ".duckdb": ["duckdb"]}


def is_folder(path: str) -> bool:
    """Whether an output is meant as a folder: it ends with a slash."""
    return path.endswith(("/", os.sep))


def check_output(path: str, tables: int) -> None:
    """Raise UsageError for a path that ``writer_for`` does not take, MissingLibrary."""
    suffix = _suffix(path)
    if suffix not in WRITERS:
        raise UsageError(f"{path}: its suffix is not one of {', '.join(WRITERS)}")
    if tables > 1 and not is_folder(path) and suffix != ".duckdb":
        raise UsageError(
            f"{path} is a file, for one table, and there are {tables}: name a folder, {path}/,"
            " or one table"
        )
    if suffix == ".duckdb" and is_folder(path):
        raise UsageError(f"{path}: a database is a file")
    if os.path.lexists(path.rstrip("/" + os.sep)):
        raise UsageError(f"{path} exists already")
    check_libraries(_LIBRARIES.get(suffix, ()))


def needs_library(path: str) -> bool:
    """Whether a library of the extra ``data`` writes this output."""
    return _suffix(path) in _LIBRARIES


def check_libraries(names: Iterable[str]) -> None:
    """Raise MissingLibrary where one is not installed. Nothing is imported."""
    from importlib.util import find_spec

    for name in names:
        if find_spec(name) is None:
            library(name)


def writer_for(path: str, tables: int) -> Writer:
    """What writes so many tables to an output by its suffix. Raises UsageError, MissingLibrary."""
    check_output(path, tables)
    writer = WRITERS[_suffix(path)](path)
    assert hasattr(writer, "write")
    return writer


def _suffix(path: str) -> str:
    return os.path.splitext(path.rstrip("/" + os.sep))[1].lower()
