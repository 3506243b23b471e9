# SPDX-License-Identifier: MIT
"""The snapshots and journals of an index: Catalog reads them, ``publish`` writes a snapshot.

A snapshot has partitions without removed captures, sums over them, and the list of files.

Readers see a snapshot once its last file exists, and until then the one before it. Partitions of
the snapshot before are kept, since readers may have them open. Small partitions, which builds of
few captures leave behind, are joined, without decoding: a query opens the files of every partition,
so its time grows with their number.
"""

from __future__ import annotations

import io
import json
import os
import random
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.errors import CaptureIndexError
from cffpy.index.draw_rows import ROW_BITS
from cffpy.index.model import SCHEMA, IndexedCapture, Journal, Part, Snapshot
from cffpy.index.part_writer import PartWriter, TableFile
from cffpy.index.tables import (
    DRAWS,
    EXPORTED,
    FILES,
    FINDINGS,
    KEYED,
    LISTINGS,
    OWN,
    TEXTS,
    VALUES,
    fingerprint,
)
from cffpy.index.values import StoredFiles, readable, write_sums
from cffpy.tables.writers import clean_text, first_line, library, record_batch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from cffpy.index.engines import Engine
    from cffpy.index.model import Settings
    from cffpy.index.storage import Storage
    from cffpy.tables.schema import Table

_SUFFIX = ".json"
#: Columns of ``files`` that an IndexedCapture has under their names.
_ENTRY_COLUMNS = [one.name for one in FILES.columns if one.name not in ("problems", "status")]


class Catalog:
    """The contents of an index."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def numbers(self) -> list[int]:
        """The numbers of the snapshots, ascending. The last one is current."""
        names = self.storage.names("snapshots")
        stems = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def snapshot(self, number: int) -> Snapshot:
        """A snapshot. Raises CaptureIndexError for one that is damaged or of another version."""
        where = f"{self.storage.url}: "
        data = self.storage.read(f"snapshots/{number:08d}{_SUFFIX}")
        try:
            document = json.loads(data or b"")
            schema = document["schema"]
            if schema == SCHEMA:
                return Snapshot.from_document(document)
        except (ValueError, KeyError, TypeError):
            raise CaptureIndexError(f"{where}snapshot {number} is damaged") from None
        raise CaptureIndexError(f"{where}it has the schema {schema!r}, this reads {SCHEMA}")

    def newest(self) -> Snapshot | None:
        """The current snapshot; None before the first build has ended."""
        numbers = self.numbers()
        return self.snapshot(numbers[-1]) if numbers else None

    def opened(self) -> Snapshot:
        """The snapshot for readers.

        Raises CaptureIndexError where there is none, and where its tables are of another version.
        """
        url = self.storage.url
        snapshot = self.newest()
        if snapshot is None:
            if self.storage.names("journal"):
                text = "its first build has not ended; cffpy index build goes on with it"
            else:
                text = "there is no index; cffpy index build makes one"
            raise CaptureIndexError(f"{url}: {text}")
        if snapshot.schema != fingerprint():
            raise CaptureIndexError(
                f"{url}: its tables are of another version of cffpy ({snapshot.schema}, this has "
                f"{fingerprint()}); cffpy index build decodes its captures again"
            )
        return snapshot

    def entries(self, snapshot: Snapshot) -> dict[str, IndexedCapture]:
        """The entries of a snapshot by name. Raises CaptureIndexError where they are damaged."""
        data = self.storage.read(snapshot.path("files.parquet"))
        try:
            if data is None:
                raise ValueError("it is missing")
            rows = library("pyarrow.parquet").read_table(io.BytesIO(data)).to_pylist()
            return {row["name"]: _entry(row) for row in rows}
        except (ValueError, KeyError, TypeError, OSError) as problem:
            text = f"{self.storage.url}: files of snapshot {snapshot.number}: {first_line(problem)}"
            raise CaptureIndexError(text) from None

    def journals(self, known: Collection[str]) -> Iterator[tuple[str, Journal]]:
        """The partitions that tasks have finished since the newest snapshot, by names of files.

        ``known`` ones are not read. One whose partition is missing is left out.
        """
        for name in self.storage.names("journal"):
            data = None if name in known else self.storage.read(f"journal/{name}")
            journal = None if data is None else Journal.from_bytes(data)
            if journal is not None and self._is_complete(journal.part):
                yield name, journal

    def lost(self, parts: Iterable[Part], verify: bool) -> set[str]:
        """Names of partitions that are not there; with ``verify`` of those that are damaged, too.

        ``verify``: all of their tables are read.
        """
        stored = set(self.storage.names("parts"))
        return {
            part.name
            for part in parts
            if part.tables and (part.name not in stored or (verify and not self._is_sound(part)))
        }

    def has_sound_sums(self, snapshot: Snapshot) -> bool:
        """Whether the sums over all partitions can be read: the tables of a snapshot."""
        folder = f"snapshots/{snapshot.number:08d}"
        return all(
            self._count(f"{folder}/{name}") is not None
            for name in self.storage.names(folder)
            if name.endswith(".parquet")
        )

    def _is_sound(self, part: Part) -> bool:
        return all(self._count(part.path(name)) == rows for name, rows in part.tables.items())

    def _count(self, name: str) -> int | None:
        """The rows of a Parquet file, all of which are read; None where that fails."""
        parquet, arrow = library("pyarrow.parquet"), library("pyarrow")
        path, filesystem = self.storage.path(name), self.storage.filesystem
        try:
            with parquet.ParquetFile(path, filesystem=filesystem) as file:
                count: int = sum(batch.num_rows for batch in file.iter_batches())
                return count
        except (OSError, ValueError, arrow.ArrowException):
            return None

    def _is_complete(self, part: Part) -> bool:
        stored = set(self.storage.names(f"parts/{part.name}")) if part.tables else set()
        return stored.issuperset(f"{table}.parquet" for table in part.tables)


def files_batch(entries: Iterable[IndexedCapture]) -> Any:  # noqa: ANN401
    """Entries as a table of Arrow: rows of ``files``."""
    rows = [_row(entry) for entry in entries]
    arrow = library("pyarrow")
    if not rows:
        from cffpy.tables.writers import arrow_schema

        return arrow_schema(FILES).empty_table()
    return arrow.Table.from_batches([record_batch(FILES, rows)])


def _row(entry: IndexedCapture) -> tuple[Any, ...]:
    values = {name: getattr(entry, name) for name in _ENTRY_COLUMNS}
    values["problems"] = "\n".join(entry.problems)
    values["status"] = entry.status
    return tuple(values[column.name] for column in FILES.columns)


def _entry(row: dict[str, Any]) -> IndexedCapture:
    entry = IndexedCapture(**{name: row[name] for name in _ENTRY_COLUMNS})
    numbers = entry.size, entry.mtime, entry.rows, entry.first_row
    texts = entry.name, entry.location, entry.root, entry.part
    if not all(isinstance(number, int) for number in numbers) or None in texts:
        raise ValueError("a row has no name or no number")
    entry.problems = row["problems"].split("\n") if row["problems"] else []
    return entry


#: A partition with fewer rows, of all tables together, is small. Small ones are joined when there
#: are more than this number of them, up to this number of rows.
_SMALL, _MOST_SMALL, _JOINED = 1 << 16, 16, 1 << 18


class Held(NamedTuple):
    """A partition and the entries of the captures that it has rows of."""

    part: Part
    entries: list[IndexedCapture]

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(self.part.tables.values())

    @property
    def draws(self) -> int:
        """The rows of draws that its keys have room for."""
        return max((entry.first_row + entry.rows for entry in self.entries), default=0)


def compacted(storage: Storage, held: list[Held]) -> list[Part]:
    """The partitions, with small ones joined where there are many. Changes their entries.

    The partitions that were joined stay, for readers of the snapshot before.
    """
    small = [one for one in held if one.rows < _SMALL]
    if len(small) <= _MOST_SMALL:
        return [one.part for one in held]
    parts = [one.part for one in held if one.rows >= _SMALL]
    for group in _groups(small):
        parts.append(group[0].part if len(group) == 1 else _joined(storage, group))
    return parts


def _groups(held: list[Held]) -> Iterator[list[Held]]:
    group: list[Held] = []
    rows = 0
    for one in held:
        rows += one.rows
        if group and rows > _JOINED:
            yield group
            group, rows = [], one.rows
        group.append(one)
    yield group


def _joined(storage: Storage, group: list[Held]) -> Part:
    number = random.getrandbits(31)
    name = f"{number:08x}-{secrets.token_hex(4)}"
    first_rows = []
    rows = 0
    for held in group:
        first_rows.append(rows)
        rows += held.draws
    generations = {
        clean_text(entry.name): entry.generation for held in group for entry in held.entries
    }
    with storage.scratch() as folder:
        writer = PartWriter(os.path.join(folder, "part"), generations)
        for table in (*EXPORTED.values(), *OWN.values()):
            if table is VALUES:
                continue
            known: set[str] = set()
            for held, first_row in zip(group, first_rows, strict=True):
                shift = ((number - held.part.number) << ROW_BITS) + first_row
                if table.name in held.part.tables:
                    for batch in stored_batches(storage, held.part, table):
                        writer.add_arrow(table, _moved(table, batch, shift, known))
        writer.add_values()
        for table in KEYED:
            writer.sort(table)
        made = writer.store(storage, name, number)
    for held, first_row in zip(group, first_rows, strict=True):
        for entry in held.entries:
            entry.part = name
            entry.first_row += first_row
    return made


def _moved(table: Table, batch: Any, shift: int, known: set[str]) -> Any:  # noqa: ANN401
    """A batch with keys of the joined partition; of texts only those that are not ``known``."""
    compute = library("pyarrow.compute")
    if table in TEXTS:
        digests = batch[0].to_pylist()
        is_new = [digest not in known for digest in digests]
        known.update(digests)
        return batch.filter(library("pyarrow").array(is_new))
    names = ("first_key", "last_key") if table in KEYED else ()
    for name in ("key", "before") if table is DRAWS else names:
        position = batch.schema.get_field_index(name)
        keys = compute.add(batch[name], shift)
        batch = batch.set_column(position, batch.schema.field(position), keys)
    return batch


def stored_batches(storage: Storage, part: Part, table: Table) -> Iterable[Any]:
    """The rows of a table of a partition, as tables of Arrow of bounded size."""
    arrow = library("pyarrow")
    parquet = library("pyarrow.parquet")
    path = storage.path(part.path(table.name))
    with parquet.ParquetFile(path, filesystem=storage.filesystem) as file:
        for batch in file.iter_batches():
            yield arrow.Table.from_batches([batch])


#: Snapshots that are kept.
_KEPT = 2


@dataclass(slots=True)
class Contents:
    """A snapshot to publish: ``live`` entries by name, all ``parts``, and what each was made of."""

    live: dict[str, IndexedCapture]
    parts: list[Part]
    #: Partition -> the entries that it was made with, also removed ones.
    made_with: dict[str, list[IndexedCapture]]


def publish(
    catalog: Catalog, contents: Contents, settings: Settings, number: int, engine: Engine
) -> Snapshot:
    """Store a snapshot and return it. Many small partitions become larger ones.

    ``engine`` calls what needs a library, one after the other. Raises CaptureIndexError where that
    fails.
    """
    storage, threads = catalog.storage, max(1, engine.workers)
    snapshot = engine.call(partial(_written, storage, contents, settings, number))
    engine.call(partial(_write_sums, storage, snapshot, threads))
    storage.write(f"snapshots/{number:08d}.json", snapshot.to_bytes())
    return snapshot


def _written(storage: Storage, contents: Contents, settings: Settings, number: int) -> Snapshot:
    """A snapshot whose partitions and list of files are stored."""
    with readable(storage.url):
        snapshot = _with_parts(storage, contents, settings, number)
        _write_files(storage, contents, snapshot)
    return snapshot


def _with_parts(storage: Storage, contents: Contents, settings: Settings, number: int) -> Snapshot:
    held = []
    for part in contents.parts:
        made_with = contents.made_with.get(part.name, [])
        here = [entry for entry in made_with if contents.live.get(entry.name) is entry]
        if len(here) < len(made_with):
            part = _without(storage, part, made_with, here)
        if here and part.tables:
            held.append(Held(part, here))
    parts = compacted(storage, held)
    return Snapshot(
        number,
        sorted(parts, key=lambda part: part.name),
        fingerprint(),
        settings,
        datetime.now(UTC).isoformat(timespec="seconds"),
        len(contents.live),
    )


def _write_files(storage: Storage, contents: Contents, snapshot: Snapshot) -> None:
    with storage.scratch() as folder:
        path = os.path.join(folder, "files.parquet")
        file = TableFile(FILES, path)
        file.add_arrow(files_batch(sorted(contents.live.values(), key=lambda entry: entry.name)))
        if not file.close():
            library("pyarrow.parquet").write_table(files_batch(()), path)
        storage.put(path, snapshot.path("files.parquet"))


def clean_up(catalog: Catalog) -> None:
    """Delete what no build and no reader needs: journals, old snapshots, files of lost tasks."""
    storage = catalog.storage
    numbers = catalog.numbers()
    for number in numbers[:-_KEPT]:
        storage.delete(f"snapshots/{number:08d}.json")
    kept = {f"{number:08d}" for number in numbers[-_KEPT:]}
    for name in storage.names("snapshots"):
        if name.removesuffix(".json") not in kept:
            storage.delete(f"snapshots/{name}")
    storage.delete("journal")
    named: set[str] = set()
    for number in numbers[-_KEPT:]:
        with suppress(CaptureIndexError):  # one of another version, which nobody reads
            named.update(part.name for part in catalog.snapshot(number).parts)
    for name in storage.names("parts"):
        if name not in named:
            storage.delete(f"parts/{name}")
    storage.delete("scratch")


def _write_sums(storage: Storage, snapshot: Snapshot, threads: int) -> None:
    """Write the tables that are sums over all partitions."""

    def files(table: str) -> StoredFiles:
        having = [part for part in snapshot.parts if table in part.tables]
        return StoredFiles([storage.path(one.path(table)) for one in having], storage.filesystem)

    with readable(storage.url), storage.scratch() as folder:
        tables = {name: files(name) for name in (VALUES.name, "shaders", LISTINGS.name)}
        for name, path in write_sums(tables, folder, threads).items():
            storage.put(path, snapshot.path(f"{name}.parquet"))


# -- partitions that lose captures ----------------------------------------------------------------


def _without(
    storage: Storage, part: Part, made_with: list[IndexedCapture], here: list[IndexedCapture]
) -> Part:
    """A partition with the rows of some of its captures only; nothing is decoded for it."""
    name = f"{part.number:08x}-{secrets.token_hex(4)}"
    if not here:
        return Part(name, part.number, {})
    arrow = library("pyarrow")
    names = arrow.array([clean_text(entry.name) for entry in here])
    keys = [
        (first, first + entry.rows)
        for entry in here
        if (first := (part.number << ROW_BITS) + entry.first_row) is not None and entry.rows
    ]
    with storage.scratch() as folder:
        generations = {clean_text(entry.name): entry.generation for entry in here}
        writer = PartWriter(os.path.join(folder, "part"), generations)
        for table in (*EXPORTED.values(), *OWN.values()):
            if table.name in part.tables and table is not VALUES:
                for batch in stored_batches(storage, part, table):
                    writer.add_arrow(table, _kept(table, batch, names, keys))
        writer.add_values()
        made = writer.store(storage, name, part.number)
    for entry in here:
        entry.part = name
    return made


def _kept(table: Table, batch: Any, names: Any, keys: list[tuple[int, int]]) -> Any:  # noqa: ANN401
    compute = library("pyarrow.compute")
    if table in TEXTS:
        return batch  # also those that nothing names any more
    if table in KEYED:
        first = batch["first_key"]
        kept = compute.less(first, 0)
        for begin, end in keys:
            inside = compute.and_(compute.greater_equal(first, begin), compute.less(first, end))
            kept = compute.or_(kept, inside)
        return batch.filter(kept)
    assert table in (DRAWS, FINDINGS) or table.columns[0].name == "capture"
    return batch.filter(compute.is_in(batch["capture"], value_set=names))
