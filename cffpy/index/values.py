# SPDX-License-Identifier: MIT
"""Sums over partitions, by DuckDB: distinct values of registers, distinct programs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.errors import CaptureIndexError
from cffpy.index.tables import EXPORTED, LISTINGS, PROGRAMS, VALUES
from cffpy.tables.writers import arrow_schema, first_line, library, open_duckdb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.tables.schema import Table

#: Rows of a batch.
_BATCH = 1 << 16

_OF_CORPUS = """
SELECT generation, register, "offset", value, any_value(decoded) AS decoded,
    sum(captures)::BIGINT AS captures, sum(draws)::BIGINT AS draws,
    min(first_capture) AS first_capture
FROM parts GROUP BY ALL ORDER BY generation, register, "offset", captures DESC, value
"""
_PROGRAMS = """
SELECT digest, stage, first(bytes) AS bytes, first(instructions) AS instructions,
    first(half) AS half, first("full") AS "full", first(constlen) AS constlen,
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
    errors = (library("duckdb").Error, library("pyarrow").ArrowException, OSError)
    try:
        yield
    except errors as problem:
        raise CaptureIndexError(
            f"{index}: its tables cannot be read: {first_line(problem)}; "
            "cffpy index build --verify replaces what is damaged"
        ) from None


class StoredFiles(NamedTuple):
    """Parquet files of one table. ``filesystem``: as Storage has it."""

    paths: list[str]
    filesystem: Any = None


def dataset(table: Table, files: StoredFiles) -> Any:  # noqa: ANN401
    """The rows of Parquet files; of none where there are no files."""
    schema = arrow_schema(table)
    if not files.paths:
        return schema.empty_table()
    return library("pyarrow.dataset").dataset(
        files.paths, schema=schema, format="parquet", filesystem=files.filesystem
    )


def _cast(found: Any, table: Table) -> Any:  # noqa: ANN401
    schema = arrow_schema(table)
    return found.select(schema.names).cast(schema)


def corpus_values(files: StoredFiles, threads: int) -> Iterator[Any]:
    """Batches of Arrow with the values of all partitions."""
    yield from _batches(_OF_CORPUS, {"parts": dataset(VALUES, files)}, VALUES, threads)


def corpus_programs(files: StoredFiles, threads: int) -> Iterator[Any]:
    """Batches of Arrow with the distinct programs of all partitions."""
    parts = dataset(EXPORTED["shaders"], files)
    yield from _batches(_PROGRAMS, {"parts": parts}, PROGRAMS, threads)


def corpus_listings(files: StoredFiles, programs: str | None, threads: int) -> Iterator[Any]:
    """Batches of Arrow with the listings of programs, which are in a local file."""
    named = dataset(PROGRAMS, StoredFiles([] if programs is None else [programs]))
    parts = dataset(LISTINGS, files)
    yield from _batches(_LISTINGS, {"parts": parts, "programs": named}, LISTINGS, threads)


def _batches(query: str, tables: dict[str, Any], result: Table, threads: int) -> Iterator[Any]:
    arrow = library("pyarrow")
    with database(threads) as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        for batch in arrow_batches(connection.sql(query)):
            yield _cast(arrow.Table.from_batches([batch]), result)


def arrow_batches(relation: Any) -> Any:  # noqa: ANN401
    """The batches of Arrow of a relation of DuckDB."""
    # fetch_arrow_reader before DuckDB 2
    name = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_arrow_reader"
    return getattr(relation, name)(_BATCH)
