# SPDX-License-Identifier: MIT
"""``cffpy.open_index``: an open index and the queries on it."""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cffpy.api.arguments import expect_path
from cffpy.api.export import Rows
from cffpy.api.find import processors
from cffpy.errors import CaptureIndexError, UnknownName, UsageError
from cffpy.index.answers import IndexedShader, IndexedUse, RegisterValueCount
from cffpy.index.catalog import Catalog
from cffpy.index.search import Search
from cffpy.index.storage import storage_at
from cffpy.index.tables import CORPUS, EXPORTED, FINDINGS, LISTINGS, PROGRAMS, VALUES
from cffpy.index.values import StoredFiles, connect, database, dataset, readable
from cffpy.regdb.spelling import decimal_indices, folded_literals
from cffpy.tables.schema import TABLES, VIEW_TABLES, VIEWS
from cffpy.tables.writers import first_line, library, lists_tables, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.api.find import FoundFile
    from cffpy.index.model import Entry, Part, Snapshot
    from cffpy.index.storage import Storage
    from cffpy.tables.schema import Table

#: ``shaders`` as ``cffpy export`` has it.
_SHADERS = (
    "SELECT s.* EXCLUDE (listing_digest), l.listing FROM stored_shaders s"
    " LEFT JOIN listings l ON l.listing_digest = s.listing_digest"
)
#: Tables for SQL, besides those of EXPORTED.
_MORE = {FINDINGS.name: FINDINGS, **CORPUS}


def open_index(path: str | os.PathLike[str]) -> Index:
    """Open an index that ``build_index`` made: a folder or a URL.

    It shows the state that the last finished build has published, also while another one runs.
    Raises CaptureIndexError where there is none, or where it is of another version.
    """
    expect_path("path", path)
    library("pyarrow")
    library("duckdb")
    storage = storage_at(os.fspath(path))
    return Index(storage, Catalog(storage).opened())


class Index:
    """An index that is open. Made by ``cffpy.open_index``."""

    def __init__(self, storage: Storage, snapshot: Snapshot) -> None:
        """Use ``cffpy.open_index``."""
        self._storage = storage
        self._snapshot = snapshot

    @property
    def path(self) -> str:
        """The folder or URL."""
        return self._storage.url

    @property
    def number(self) -> int:
        """The number of the snapshot; it rises with each build that changes something."""
        return self._snapshot.number

    @property
    def time(self) -> str:
        """When the snapshot was published, in ISO 8601, UTC."""
        return self._snapshot.time

    @property
    def parts(self) -> list[Part]:
        """The partitions; their shape may change."""
        return self._snapshot.parts

    @cached_property
    def files(self) -> list[Entry]:
        """The entry of each capture, by name: ``status``, ``problems``, ``error``, ``gpu``, ..."""
        entries = Catalog(self._storage).entries(self._snapshot)
        return [entries[name] for name in sorted(entries)]

    # -- tables ---------------------------------------------------------------------------------

    def dataset(self, table: Table, parts: Iterable[Part] | None = None) -> Any:  # noqa: ANN401
        """The stored rows of a table of partitions, by default of all, as a dataset of Arrow."""
        chosen = self._snapshot.parts if parts is None else parts
        paths = [
            self._storage.path(one.path(table.name)) for one in chosen if table.name in one.tables
        ]
        return dataset(table, StoredFiles(paths, self._storage.filesystem))

    def corpus(self, table: Table) -> Any:  # noqa: ANN401
        """The rows of a table of the snapshot, as a dataset of Arrow."""
        name = f"{table.name}.parquet"
        folder = f"snapshots/{self._snapshot.number:08d}"
        there = name in self._storage.names(folder)
        paths = [self._storage.path(self._snapshot.path(name))] if there else []
        return dataset(table, StoredFiles(paths, self._storage.filesystem))

    def sql(self, query: str, *, threads: int | None = None) -> Rows:
        """Run an SQL query with DuckDB, without access to files.

        The tables are those of ``cffpy.sql``, except ``fields`` and ``packets``, and ``files``,
        ``findings``, ``register_values`` and ``programs``. Raises UsageError for an error of SQL,
        CaptureIndexError for a stored table that cannot be read; so does iterating over the rows.
        """
        connection = database(threads or processors())
        words = set(re.findall(r"\w+", query.lower()))
        if lists_tables(query):
            words.update(EXPORTED, _MORE, VIEWS)
        for name in words & set(TABLES) - set(EXPORTED) - set(_MORE):
            raise UsageError(f"an index has no table {name}; cffpy sql makes it of captures")
        for view in words & set(VIEWS):
            words.update(VIEW_TABLES[view])
        stored: list[Any] = []
        with readable(self.path):
            for name, table in (*EXPORTED.items(), *_MORE.items()):
                if name in words:
                    stored += self._register(connection, name, table)
        for view in words & set(VIEWS):
            connection.execute(f"CREATE VIEW {quoted(view)} AS {VIEWS[view]}")
        connection.execute("SET lock_configuration = true")

        def check(problem: Exception) -> None:
            """Raise CaptureIndexError if it is a stored table that DuckDB could not read."""
            duckdb = library("duckdb")
            if isinstance(problem, (duckdb.InvalidInputException, duckdb.IOException)):
                with readable(self.path):
                    for rows in stored:
                        for _batch in rows.to_batches():
                            pass

        try:
            return Rows(connection, connection.execute(folded_literals(query)), check)
        except library("duckdb").Error as problem:
            check(problem)
            raise UsageError(f"SQL: {first_line(problem)}") from None

    def _register(self, connection: Any, name: str, table: Table) -> list[Any]:  # noqa: ANN401
        """Give DuckDB a stored table; returns what it reads."""
        rows = self.corpus(table) if name in CORPUS else self.dataset(table)
        if name != "shaders":
            connection.register(name, rows)
            return [rows]
        listings = self.corpus(LISTINGS)
        connection.register("stored_shaders", rows)
        connection.register("listings", listings)
        connection.execute(f"CREATE VIEW shaders AS {_SHADERS}")
        return [rows, listings]

    # -- questions ------------------------------------------------------------------------------

    def find(
        self,
        where: str,
        *,
        columns: str | None = None,
        most: int | None = None,
        jobs: int | None = None,
    ) -> Iterator[FoundFile]:
        """What ``cffpy.find`` finds in the captures of the index, without reading them.

        ``columns``, ``most``: as there. ``jobs``: threads. Raises FilterError.
        """
        directory = self._snapshot.settings.register_db
        search = Search(where, columns, directory, jobs or processors())
        return search.run(self.files, self._snapshot.parts, self, most)

    def values(self, register: str) -> list[RegisterValueCount]:
        """The distinct values of a register, those of most captures first.

        ``register``: a name in any case, indices in decimal or with 0x; "*" stands for any
        characters. Raises UnknownName for a register that no draw has.
        """
        query = (
            "SELECT generation, register, register_offset, value, decoded, captures, draws,"
            " first_capture FROM register_values WHERE lower(register) GLOB lower($name)"
            " ORDER BY register, generation, captures DESC, draws DESC, value"
        )
        pattern = re.sub(r"[\[\]?]", lambda found: f"[{found[0]}]", decimal_indices(register))
        with connect(processors(), self.path) as connection:
            connection.register(VALUES.name, self.corpus(VALUES))
            rows = connection.execute(query, {"name": pattern}).fetchall()
        if not rows:
            raise UnknownName(f"no draw of the index has a register {register}")
        return [RegisterValueCount(*row) for row in rows]

    def shader(self, digest: str, places: int = 100) -> list[IndexedShader]:
        """The programs whose digest begins so: one, or one for each stage that runs the same bytes.

        ``places``: how many captures are listed. Raises UnknownName where there is none, UsageError
        where several programs begin so.
        """
        if not re.fullmatch(r"[0-9a-fA-F]{4,64}", digest):
            raise UsageError(f"{digest!r} is not a digest: 4 to 64 hexadecimal digits")
        with connect(processors(), self.path) as connection:
            for table in (PROGRAMS, LISTINGS):
                connection.register(table.name, self.corpus(table))
            connection.register("shaders", self.dataset(EXPORTED["shaders"]))
            rows = connection.execute(
                "SELECT p.* EXCLUDE (listing_digest), coalesce(l.listing, '') FROM programs p"
                " LEFT JOIN listings l USING (listing_digest) WHERE starts_with(digest, $digest)"
                " ORDER BY digest, stage LIMIT 16",
                {"digest": digest.lower()},
            ).fetchall()
            if not rows:
                raise UnknownName(f"no program of the index has the digest {digest}")
            if len({row[0] for row in rows}) > 1:
                raise UsageError(f"several programs have a digest that begins with {digest}")
            found = connection.execute(
                "SELECT stage, capture, shader, uses FROM shaders WHERE digest = $digest"
                " ORDER BY capture, shader",
                {"digest": rows[0][0]},
            ).fetchmany(places * len(rows))
        places_of: dict[str, list[IndexedUse]] = {}
        for stage, *place in found:
            places_of.setdefault(stage, []).append(IndexedUse._make(place))
        return [IndexedShader._make((*row, places_of.get(row[1], []))) for row in rows]

    @property
    def has_findings(self) -> bool:
        """Whether lints were run when it was built."""
        return self._snapshot.settings.lints

    def findings(self) -> Iterator[tuple[str, str]]:
        """The capture and the document of each finding of lints, by capture.

        A document is JSON, an object of the list ``findings`` of ``cffpy check --json``. Raises
        CaptureIndexError for an index that was built without lints.
        """
        if not self.has_findings:
            raise CaptureIndexError(f"{self.path}: it was built without lints")
        query = (
            "SELECT capture, document FROM findings ORDER BY capture,"
            " CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END"
        )
        yield from self.sql(query)

    def __repr__(self) -> str:
        return f"<Index {self.path}: {self._snapshot.captures} captures>"
