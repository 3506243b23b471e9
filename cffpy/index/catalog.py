# SPDX-License-Identifier: MIT
"""Catalog: the snapshots and journals of an index, as they are stored."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from cffpy.errors import CaptureIndexError
from cffpy.index.model import SCHEMA, Entry, Journal, Part, Snapshot
from cffpy.index.tables import FILES, fingerprint
from cffpy.tables.writers import first_line, library, record_batch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from cffpy.index.storage import Storage

_SUFFIX = ".json"
#: Columns of ``files`` that an Entry has under their names.
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
        found = self.newest()
        if found is None:
            if self.storage.names("journal"):
                text = "its first build has not ended; cffpy index build goes on with it"
            else:
                text = "there is no index; cffpy index build makes one"
            raise CaptureIndexError(f"{url}: {text}")
        if found.schema != fingerprint():
            raise CaptureIndexError(
                f"{url}: its tables are of another version of cffpy ({found.schema}, this has "
                f"{fingerprint()}); cffpy index build decodes its captures again"
            )
        return found

    def entries(self, snapshot: Snapshot) -> dict[str, Entry]:
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


def files_batch(entries: Iterable[Entry]) -> Any:  # noqa: ANN401
    """Entries as a table of Arrow: rows of ``files``."""
    rows = [_row(entry) for entry in entries]
    arrow = library("pyarrow")
    if not rows:
        from cffpy.tables.writers import arrow_schema

        return arrow_schema(FILES).empty_table()
    return arrow.Table.from_batches([record_batch(FILES, rows)])


def _row(entry: Entry) -> tuple[Any, ...]:
    values = {name: getattr(entry, name) for name in _ENTRY_COLUMNS}
    values["problems"] = "\n".join(entry.problems)
    values["status"] = entry.status
    return tuple(values[column.name] for column in FILES.columns)


def _entry(row: dict[str, Any]) -> Entry:
    entry = Entry(**{name: row[name] for name in _ENTRY_COLUMNS})
    numbers = entry.size, entry.mtime, entry.rows, entry.first_row
    texts = entry.name, entry.location, entry.root, entry.part
    if not all(isinstance(one, int) for one in numbers) or None in texts:
        raise ValueError("a row has no name or no number")
    entry.problems = row["problems"].split("\n") if row["problems"] else []
    return entry
