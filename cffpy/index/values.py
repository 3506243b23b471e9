# SPDX-License-Identifier: MIT
"""DuckDB and the stored tables of an index; sums over partitions: distinct values, programs."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.errors import CaptureIndexError
from cffpy.index.tables import EXPORTED, LISTINGS, PROGRAMS, VALUES
from cffpy.tables.schema import SCHEMA
from cffpy.tables.writers import arrow_schema, first_line, library, open_duckdb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.tables.schema import Table

#: Rows of a batch, and of a row group of sums.
_BATCH, _GROUP = 1 << 16, 1 << 13

_VALUES = """
SELECT generation, register, register_offset, value, any_value(decoded) AS decoded,
    sum(captures)::BIGINT AS captures, sum(draws)::BIGINT AS draws,
    min(first_capture) AS first_capture
FROM parts GROUP BY ALL ORDER BY generation, register, register_offset, captures DESC, value
"""
_PROGRAMS = """
SELECT digest, stage, first(bytes) AS bytes, first(instructions) AS instructions,
    first(half_registers) AS half_registers, first(full_registers) AS full_registers,
    first(constlen) AS constlen,
    first(ss) AS ss, first(sy) AS sy,
    count(DISTINCT capture) AS captures, sum(uses)::BIGINT AS uses,
    min(capture) AS first_capture, arg_min(shader, capture) AS first_shader,
    min(listing_digest) AS listing_digest
FROM parts GROUP BY digest, stage ORDER BY digest, stage
"""
_LISTINGS = """
SELECT listing_digest, any_value(listing) AS listing FROM parts
WHERE listing_digest IN (SELECT listing_digest FROM programs)
GROUP BY listing_digest ORDER BY listing_digest
"""


def database(threads: int) -> Any:  # noqa: ANN401
    """A database in memory that reads no files by itself. Raises MissingLibrary."""
    library("pyarrow")
    config = {"threads": str(threads), "enable_external_access": "false"}
    return open_duckdb(":memory:", config)


@contextmanager
def connect(threads: int, index: str) -> Iterator[Any]:
    """The same while a block runs, which asks tables of an index: see ``readable``."""
    with readable(index), database(threads) as connection:
        yield connection


@contextmanager
def readable(index: str) -> Iterator[None]:
    """Raise CaptureIndexError where stored tables are damaged or missing.

    ``index``: its path, for the message.
    """
    try:
        yield
    except Exception as problem:
        if not isinstance(problem, _errors()):
            raise
        raise CaptureIndexError(
            f"{index}: its tables cannot be read: {first_line(problem)}; "
            "cffpy index build --verify replaces what is damaged"
        ) from None


def _errors() -> tuple[type[Exception], ...]:
    """What reading raises: errors of the libraries that are in use, and of the file system."""
    names = (("duckdb", "Error"), ("pyarrow", "ArrowException"))
    return (OSError, *(getattr(library(one), name) for one, name in names if one in sys.modules))


class StoredFiles(NamedTuple):
    """Parquet files of one table. ``filesystem``: as Storage has it."""

    paths: list[str]
    filesystem: Any = None

    def for_duckdb(self) -> list[str]:
        """The paths, or URLs, in which no character stands for others."""
        there = self.filesystem
        paths = self.paths if there is None else map(there.unstrip_protocol, self.paths)
        return [re.sub(r"[*?[]", lambda match: f"[{match[0]}]", path) for path in paths]


def dataset(table: Table, files: StoredFiles) -> Any:  # noqa: ANN401
    """The rows of Parquet files; of none where there are no files."""
    schema = arrow_schema(table)
    if not files.paths:
        return schema.empty_table()
    return library("pyarrow.dataset").dataset(
        files.paths, schema=schema, format="parquet", filesystem=files.filesystem
    )


def write_sums(files: Mapping[str, StoredFiles], folder: str, threads: int) -> dict[str, str]:
    """Write the sums over partitions as Parquet files of a folder; paths by names of tables.

    ``files``: those of partitions, by names of their tables. What has no rows has no file. DuckDB
    reads and writes them alone: beside pyarrow it would need 50 MB more.
    """
    found: dict[str, str] = {}
    for table, source, query in _SUMS:
        if not files[source].paths or (table is LISTINGS and PROGRAMS.name not in found):
            continue
        inputs = {"parts": files[source]}
        if PROGRAMS.name in found:
            inputs["programs"] = StoredFiles([found[PROGRAMS.name]])
        path = os.path.join(folder, f"{table.name}.parquet")
        if _write_query(query, inputs, path, threads):
            found[table.name] = path
    return found


#: Table, the stored table that it is made of, how.
_SUMS = (
    (VALUES, VALUES.name, _VALUES),
    (PROGRAMS, EXPORTED["shaders"].name, _PROGRAMS),
    (LISTINGS, LISTINGS.name, _LISTINGS),
)


def _write_query(query: str, inputs: Mapping[str, StoredFiles], path: str, threads: int) -> bool:
    """Write the result of a query, whether it has rows. ``inputs``: by names in the query."""
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_GROUP}"
    config = {"threads": str(threads), "autoinstall_known_extensions": "false"}
    with open_duckdb(":memory:", config) as connection:
        for name, files in inputs.items():
            if files.filesystem is not None:
                connection.register_filesystem(files.filesystem)
            paths = ", ".join(map(literal, files.for_duckdb()))
            rows = f"SELECT * FROM read_parquet([{paths}], hive_partitioning = false)"
            connection.execute(f"CREATE VIEW {name} AS {rows}")
        metadata = f"KV_METADATA {{schema: {literal(SCHEMA)}}}"
        connection.execute(f"COPY ({query}) TO {literal(path)} ({options}, {metadata})")
        return bool(connection.fetchone()[0])


def literal(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def arrow_batches(relation: Any) -> Any:  # noqa: ANN401
    """The batches of Arrow of a relation of DuckDB."""
    # fetch_arrow_reader before DuckDB 2
    name = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_arrow_reader"
    return getattr(relation, name)(_BATCH)
