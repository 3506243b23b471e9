# SPDX-License-Identifier: MIT
"""``cffpy.open_index``: an open index, queries in SQL, and answers to filters.

Filters are answered by the same functions as for captures. Draws for which the operands of a filter
have equal values have equal answers. So DuckDB finds the distinct combinations of values, of
properties and of registers at the draw and at the one before, and the filter is asked once for
each, with a subject that has these values.
"""

from __future__ import annotations

import json
import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cffpy.api.arguments import expect_path
from cffpy.api.export import Rows
from cffpy.api.find import FoundDraw, FoundFile, processors
from cffpy.capture.gpu import is_adreno
from cffpy.editions.folders import AUTO
from cffpy.errors import (
    CaptureIndexError,
    CffpyError,
    UnknownName,
    UnsupportedGpu,
    UsageError,
)
from cffpy.index.draw_rows import (
    STORED_FACTS,
    STORED_KINDS,
    RowState,
    RowSubject,
    RowUses,
    bindings_of,
)
from cffpy.index.snapshots import Catalog
from cffpy.index.storage import storage_at
from cffpy.index.tables import (
    BOUND,
    CORPUS,
    DRAWS,
    EXPORTED,
    FINDINGS,
    INSTRUCTIONS,
    LISTINGS,
    LISTS,
    PROGRAMS,
    PROPERTY_NAMES,
    RUN,
    STATES,
    VALUES,
    WRITES,
    IndexedShader,
    IndexedUse,
    RegisterValueCount,
)
from cffpy.index.values import (
    StoredFiles,
    arrow_batches,
    connect,
    database,
    dataset,
    literal,
    readable,
)
from cffpy.query.filters import Filter, is_of_executions
from cffpy.query.properties import BINDING_FACTS, PROPERTIES, Properties, Subject, program_address
from cffpy.regdb.database import Database
from cffpy.regdb.spelling import decimal_indices, folded_literals
from cffpy.tables.schema import TABLES, VIEW_TABLES, VIEWS
from cffpy.tables.statement import lists_tables
from cffpy.tables.writers import first_line, library, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.frame.objects import Named
    from cffpy.index.model import IndexedCapture, Part, Snapshot
    from cffpy.index.storage import Storage
    from cffpy.intel.decoder.groups import Database as InstructionDatabase
    from cffpy.query.filters import BoundFilter
    from cffpy.query.properties import Property
    from cffpy.tables.schema import Table

#: Maximum of: rows of draws for one query; answers that are remembered.
_ROWS, _REMEMBERED = 1 << 22, 1 << 18


def _of_row(name: str, known: Property) -> Property:
    def get(subject: Subject) -> Any:  # noqa: ANN401
        assert isinstance(subject, RowSubject)
        return subject.row[name]

    return known._replace(get=get)


def _program(stage: str) -> Property:
    return _of_row(f"draw.shaders.{stage}", program_address(stage))


def _markers(subject: Subject) -> Sequence[str]:
    assert isinstance(subject, RowSubject)
    names: Sequence[str] = subject.row["markers"]
    return names


#: Properties of rows of ``filter_draws``.
OF_ROWS = Properties(
    {name: _of_row(name, known) for name, known in PROPERTIES.items()}, _program, _markers
)


class _Changes:
    """Registers at two draws, 0 and 1, as ``RegisterChanges``."""

    def __init__(self) -> None:
        self.values: dict[int, tuple[list[int], list[int]]] = {}

    def set(self, register: int, before: int | None, now: int | None, is_written: bool) -> None:
        """``before``, ``now``: -1 for what only the GPU knows, None for what was never written."""
        orders, values = [], []
        if before is not None:
            orders, values = [0], [before]
        if now is not None and (before is None or before != now or is_written):
            orders.append(1)
            values.append(now)
        self.values[register] = orders, values

    def changes(self, register: int) -> tuple[Sequence[int], Sequence[int]]:
        """Positions and values of a register: the draw before is at 0, the draw itself at 1."""
        return self.values.get(register, ((), ()))


class Answer(NamedTuple):
    """Whether a filter holds for a combination of values, and the values that are shown."""

    holds: bool | None
    values: list[Named]


class _Asked:
    """A filter that is bound for one generation, and its answers so far."""

    def __init__(self, bound: BoundFilter, where: str, state: RowState | None = None) -> None:
        """``state``: has what instructions of an Intel GPU set."""
        self.bound = bound
        self._state = state
        #: Names of instructions that it reads.
        self.slots: list[str] = []
        self.registers = sorted(bound.registers)
        self.needs_before = "changed" in where or "written" in where
        self.needs_writes = bound.needs_writes
        #: Kinds of descriptors and stages of programs that it reads.
        self.kinds: list[str] = []
        self.stages: list[str] = []
        self.properties = ["markers"] if "marker" in where else []
        for name in bound.properties:
            if is_of_executions(name):
                raise UsageError(
                    f"an index has the program's draws only, not their executions: ask the"
                    f" captures about {name}"
                )
            self._sort(name)
        self._answers: dict[tuple[Any, ...], Answer] = {}

    def _sort(self, name: str) -> None:
        owner, *rest = name.split(".")
        fact = ".".join(rest)
        if owner in STORED_KINDS and (fact in STORED_FACTS or fact not in BINDING_FACTS):
            names, name = self.kinds, owner
        elif name in PROPERTY_NAMES:
            names = self.properties
        elif name.startswith("draw.shaders."):
            names, name = self.stages, rest[1]
        else:
            raise UsageError(f"an index does not know {name} of draws: ask the captures")
        if name not in names:
            names.append(name)

    def answer(self, values: tuple[Any, ...], documents: Sequence[str | None]) -> Answer:
        """The answer for the columns of a query, in their order.

        ``documents``: those that ``values`` has the digests of.
        """
        known = self._answers.get(values)
        if known is None:
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            try:
                known = self._answers[values] = self._ask(values, documents)
            except CffpyError:
                raise
            except (ValueError, TypeError, KeyError, AttributeError) as problem:
                raise CaptureIndexError(f"a stored value is damaged: {problem}") from None
        return known

    def _ask(self, values: tuple[Any, ...], documents: Sequence[str | None]) -> Answer:
        rest = iter(values)
        is_executed, has_before = next(rest), next(rest)
        row: dict[str, Any] = {}
        for name in (*self.properties, *self.stages):
            text = next(rest)
            row[name] = None if text is None else json.loads(text)
        for kind, document in zip(self.kinds, documents, strict=True):
            next(rest)
            row[kind] = None if document is None else bindings_of(document)
        changes = _Changes()
        for register in self.registers:
            now = next(rest)
            before = next(rest) if self.needs_before else None
            is_written = bool(next(rest)) if self.needs_writes else False
            changes.set(register, before, now, is_written)
        self.bound.attach(changes)
        if self._state is not None:
            held = {}
            for slot in self.slots:
                now = next(rest)
                held[slot] = next(rest) if self.needs_before else None, now
            self._state.words = {
                slot: words for slot, words in held.items() if words != (None, None)
            }
            self.bound.use_state(self._state)
        subject = RowSubject(row, is_executed, has_before)
        holds = self.bound.matches(subject)
        return Answer(holds, self.bound.values(subject) if holds else [])

    def choose_slots(self, names: Iterable[str]) -> None:
        """Read the names of instructions that the filter has, or that match its patterns.

        ``names``: of the partitions that are searched.
        """
        patterns = self.bound.slot_patterns
        matching = {name for name in names for pattern in patterns if pattern.fullmatch(name)}
        slots = sorted(self.bound.slots | matching)
        if slots != self.slots:
            self.slots = slots
            self._answers.clear()

    def _join_values(
        self,
        joins: list[str],
        columns: list[str],
        rows: str,
        value: str,
        names: tuple[str, str],
    ) -> None:
        """Add what rows hold at a draw, and, where the filter needs it, at the draw before.

        ``value``: the column of the rows. ``names``: of the rows at the draw, and at that before.
        """
        now, before = names
        joins.append(f"ASOF LEFT JOIN {rows} {now} ON d.key >= {now}.first_key")
        columns.append(f"CASE WHEN d.key <= {now}.last_key AND d.executed THEN {now}.{value} END")
        if self.needs_before:
            joins.append(f"ASOF LEFT JOIN {rows} {before} ON d.before >= {before}.first_key")
            columns.append(f"CASE WHEN d.before <= {before}.last_key THEN {before}.{value} END")

    def query(self) -> str:
        """SQL: a row for each combination of values, the keys of its draws, then documents."""
        columns = ["d.executed", "d.before IS NOT NULL"]
        columns += [f"d.{quoted(name)}" for name in self.properties]
        joins: list[str] = []
        for stage in self.stages:
            joins.append(
                f"LEFT JOIN (SELECT * FROM filter_programs WHERE stage = '{stage}') p{stage}"
                f" ON p{stage}.capture = d.capture AND p{stage}.submit = d.submit"
                f' AND p{stage}.gpuaddr = TRY_CAST(d."draw.shaders.{stage}" AS UBIGINT)'
            )
            columns.append(f"p{stage}.numbers")
        first = len(columns)
        for n, kind in enumerate(self.kinds):
            bound = f"(SELECT * FROM filter_descriptors WHERE kind = '{kind}')"
            joins.append(f"ASOF LEFT JOIN {bound} k{n} ON d.key >= k{n}.first_key")
            columns.append(f"CASE WHEN d.key <= k{n}.last_key THEN k{n}.list_digest END")
        for n, register in enumerate(self.registers):
            states = f"(SELECT * FROM filter_registers WHERE number = {register})"
            self._join_values(joins, columns, states, "value", (f"n{n}", f"b{n}"))
            if self.needs_writes:
                writes = f"(SELECT * FROM filter_writes WHERE number = {register})"
                joins.append(f"ASOF LEFT JOIN {writes} w{n} ON d.key >= w{n}.first_key")
                columns.append(f"coalesce(d.key <= w{n}.last_key, false)")
        for n, slot in enumerate(self.slots):
            held = f"(SELECT * FROM filter_instructions WHERE name = {literal(slot)})"
            self._join_values(joins, columns, held, "words", (f"i{n}", f"j{n}"))
        named = ", ".join(f"{text} AS c{n}" for n, text in enumerate(columns))
        query = f"SELECT {named}, list(d.key) AS keys FROM draws d {' '.join(joins)} GROUP BY ALL"
        if not self.kinds:
            return query
        texts = (
            "SELECT list_digest, any_value(document) AS document FROM filter_descriptor_lists"
            " GROUP BY list_digest"
        )
        documents = [f"l{n}.document" for n in range(len(self.kinds))]
        joins = [
            f"LEFT JOIN texts l{n} ON l{n}.list_digest = found.c{first + n}"
            for n in range(len(self.kinds))
        ]
        return (
            f"WITH found AS ({query}), texts AS ({texts})"
            f" SELECT found.*, {', '.join(documents)} FROM found {' '.join(joins)}"
        )


class Search:
    """Finds draws in the partitions of an index."""

    def __init__(
        self, where: str, columns: str | None, directory: str | None, threads: int
    ) -> None:
        """Raises FilterError. ``directory``: of the edition that the index was made with."""
        self._filter = Filter(where, columns, OF_ROWS, RowUses)
        self._where = where
        self._filter.check(directory)
        self._directory = directory
        self._threads = threads
        self._asked: dict[int, _Asked] = {}

    def _ask(self, generation: int) -> _Asked:
        if generation not in self._asked:
            if is_adreno(generation):
                database = Database.open(f"A{generation}XX", self._directory)
                bound = self._filter.bind(database, is_lenient=True)
                self._asked[generation] = _Asked(bound, self._where)
            else:
                instructions = _instructions(generation, self._directory)
                bound = self._filter.bind_for_intel(instructions, is_lenient=True)
                state = None if instructions is None else RowState(instructions)
                self._asked[generation] = _Asked(bound, self._where, state)
        return self._asked[generation]

    def run(
        self, entries: list[IndexedCapture], parts: list[Part], source: Datasets, most: int | None
    ) -> Iterator[FoundFile]:
        """What is found in each file, in the order of ``entries``. ``most``: draws of each."""
        files = {entry.name: _file(entry) for entry in entries}
        generations = sorted({one.generation for one in entries if one.generation is not None})
        for generation in generations:
            absent = self._ask(generation).bound.absent
            for entry in entries:
                if entry.generation == generation:
                    files[entry.name].absent = absent
            for group in _groups(parts):
                with connect(self._threads, source.path) as database:
                    self._search(database, generation, group, source, files, most)
        yield from files.values()

    def _search(
        self,
        database: Any,  # noqa: ANN401
        generation: int,
        parts: list[Part],
        source: Datasets,
        files: dict[str, FoundFile],
        most: int | None,
    ) -> None:
        asked = self._ask(generation)
        for table in (DRAWS, STATES, WRITES, INSTRUCTIONS, BOUND, LISTS, RUN):
            database.register(table.name, source.dataset(table, parts))
        asked.choose_slots(_slot_names(database) if asked.bound.slot_patterns else ())
        database.execute(
            f"CREATE TEMP VIEW draws AS SELECT * FROM filter_draws WHERE generation = {generation}"
        )
        holding: dict[int, Answer] = {}
        unknown: list[int] = []
        for batch in arrow_batches(database.sql(asked.query())):
            columns = [column.to_pylist() for column in batch.columns]
            count = len(columns) - len(asked.kinds)
            for row in zip(*columns, strict=True):
                *values, keys = row[:count]
                answer = asked.answer(tuple(values), row[count:])
                if answer.holds:
                    holding.update(dict.fromkeys(keys, answer))
                elif answer.holds is None:
                    unknown += keys
        self._describe(database, holding, files, most)
        for capture, count in _counts(database, unknown):
            files[capture].unknown += count

    def _describe(
        self,
        database: Any,  # noqa: ANN401
        holding: dict[int, Answer],
        files: dict[str, FoundFile],
        most: int | None,
    ) -> None:
        """Add the draws for which the filter holds to their files."""
        if not holding:
            return
        for capture, count in _counts(database, holding):
            files[capture].count += count
        if most == 0:
            return
        limit = "" if most is None else f"QUALIFY row_number() OVER w <= {int(most)}"
        window = "" if most is None else "WINDOW w AS (PARTITION BY capture ORDER BY d.key)"
        _register_keys(database, holding)
        rows = database.sql(
            "SELECT d.key, capture, submit, pass, name, dump_draw, tile FROM draws d"
            f" JOIN wanted USING (key) {window} {limit} ORDER BY d.key"
        )
        for batch in arrow_batches(rows):
            columns = [column.to_pylist() for column in batch.columns]
            for key, capture, *place in zip(*columns, strict=True):
                submit, pass_index, name, dump, tile = place
                values = holding[key].values
                draw = FoundDraw(submit, pass_index, name, dump, tile, values)
                files[capture].draws.append(draw)


class Datasets(Protocol):
    """Makes datasets of tables of partitions."""

    @property
    def path(self) -> str:
        """The index that has them."""
        ...

    def dataset(self, table: Table, parts: Iterable[Part]) -> Any:  # noqa: ANN401
        """The rows of a table in these partitions."""
        ...


def _file(entry: IndexedCapture) -> FoundFile:
    file = FoundFile(entry.name, error=entry.error)
    if entry.error is None:
        file.gpu, file.problems = entry.gpu, list(entry.problems)
    return file


def _groups(parts: list[Part]) -> Iterator[list[Part]]:
    """Partitions in groups of at most _ROWS draws, where one has not more itself."""
    group: list[Part] = []
    rows = 0
    for part in parts:
        count = part.tables.get(DRAWS.name, 0)
        if group and rows + count > _ROWS:
            yield group
            group, rows = [], 0
        if count:
            group.append(part)
            rows += count
    if group:
        yield group


def _register_keys(database: Any, keys: Iterable[int]) -> None:  # noqa: ANN401
    arrow = library("pyarrow")
    database.register("wanted", arrow.table({"key": arrow.array(keys, arrow.int64())}))


def _slot_names(database: Any) -> list[str]:  # noqa: ANN401
    """The names of instructions, structures and registers that draws of Intel GPUs have."""
    query = "SELECT DISTINCT name FROM filter_instructions"
    return [name for (name,) in database.execute(query).fetchall()]


def _instructions(generation: int, directory: str | None) -> InstructionDatabase | None:
    """The descriptions of a generation of Intel GPUs; None for an unknown number."""
    from cffpy.intel.decoder.groups import Database as InstructionDatabase

    try:
        return InstructionDatabase(generation, None if directory == AUTO else directory)
    except UnsupportedGpu:
        return None


def _counts(database: Any, keys: Iterable[int]) -> list[tuple[str, int]]:  # noqa: ANN401
    """How many of the draws with these keys each capture has."""
    keys = list(keys)
    if not keys:
        return []
    _register_keys(database, keys)
    query = "SELECT capture, count(*) FROM draws JOIN wanted USING (key) GROUP BY capture"
    counts: list[tuple[str, int]] = database.execute(query).fetchall()
    return counts


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
    def files(self) -> list[IndexedCapture]:
        """The entry of each capture, by name: ``status``, ``problems``, ``error``, ``gpu``, ..."""
        entries = Catalog(self._storage).entries(self._snapshot)
        return [entries[name] for name in sorted(entries)]

    # -- tables ---------------------------------------------------------------------------------

    def dataset(self, table: Table, parts: Iterable[Part] | None = None) -> Any:  # noqa: ANN401
        """The stored rows of a table of partitions, by default of all, as a dataset of Arrow."""
        chosen = self._snapshot.parts if parts is None else parts
        paths = [
            self._storage.path(part.path(table.name))
            for part in chosen
            if table.name in part.tables
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
        pattern = re.sub(r"[\[\]?]", lambda match: f"[{match[0]}]", decimal_indices(register))
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
        """The capture and the document of each finding of lints, by capture, in the order of check.

        A document is JSON, an object of the list ``findings`` of ``cffpy check --json``. Raises
        CaptureIndexError for an index that was built without lints.
        """
        if not self.has_findings:
            raise CaptureIndexError(f"{self.path}: it was built without lints")
        query = (
            "SELECT capture, document FROM findings ORDER BY capture,"
            " CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,"
            " coalesce(pass, -1),"
            " coalesce(try_cast(split_part(draw_name, ':', 2) AS INTEGER), -1), id"
        )
        yield from self.sql(query)

    def __repr__(self) -> str:
        return f"<Index {self.path}: {self._snapshot.captures} captures>"
