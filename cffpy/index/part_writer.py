# SPDX-License-Identifier: MIT
"""PartWriter: writes the tables of a partition as Parquet, and moves them into the index.

Distinct values of registers are counted as rows are written, and not with DuckDB: without it a
worker starts in half the time and needs 60 MB less.
"""

from __future__ import annotations

import os
from array import array
from hashlib import sha256
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cffpy.index.model import Part
from cffpy.index.storage import reported
from cffpy.index.tables import DRAWS, EXPORTED, KEYED, LISTING, LISTINGS, PASS_PROPERTIES, VALUES
from cffpy.tables.writers import arrow_schema, batches, library, record_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Row = tuple[Any, ...]

    from cffpy.index.storage import Storage
    from cffpy.tables.schema import Table

REGISTERS = EXPORTED["registers"]
_COLUMNS = ("capture", "register", "register_offset", "value", "decoded", "first_draw", "last_draw")
_MEMBERS = itemgetter(*([one.name for one in REGISTERS.columns].index(name) for name in _COLUMNS))


class _Values:
    """The distinct values of one register, a row for each: columns, which need less memory."""

    __slots__ = ("captures", "decoded", "draws", "first_capture", "last_capture", "rows")

    def __init__(self) -> None:
        #: Value -> its row.
        self.rows: dict[int | None, int] = {}
        self.decoded: list[str] = []
        self.captures, self.draws = array("q"), array("q")
        #: Numbers of captures.
        self.first_capture, self.last_capture = array("i"), array("i")


class RegisterValues:
    """Counts the values in rows of REGISTERS. The rows of a capture have to follow each other."""

    def __init__(self) -> None:
        #: Generation, name and offset -> values.
        self._values: dict[tuple[int | None, str, int], _Values] = {}
        #: The captures by number, and the numbers by name.
        self._captures: list[str] = []
        self._numbers: dict[str, int] = {}

    def counted(self, rows: Iterable[Row], generations: Mapping[str, int | None]) -> Iterator[Row]:
        """The rows as they are, each counted when it is taken; ``generations`` as below."""
        for row in rows:
            capture, register, offset, value, decoded, first, last = _MEMBERS(row)
            key = generations[capture], register, offset
            self._add(capture, key, value, decoded, last - first + 1)
            yield row

    def add_batch(self, batch: Any, generations: Mapping[str, int | None]) -> None:  # noqa: ANN401
        """Count stored rows. ``generations``: of each capture by its name."""
        columns = [batch[name].to_pylist() for name in _COLUMNS]
        for capture, register, offset, value, decoded, first, last in zip(*columns, strict=True):
            key = generations.get(capture), register, offset
            self._add(capture, key, value, decoded, last - first + 1)

    def _add(
        self,
        capture: str,
        key: tuple[int | None, str, int],
        value: int | None,
        decoded: str,
        draws: int,
    ) -> None:
        if key[2] is None:
            return  # an instruction, whose value is no number
        number = self._numbers.get(capture)
        if number is None:
            number = self._numbers[capture] = len(self._captures)
            self._captures.append(capture)
        known = self._values.get(key)
        if known is None:
            known = self._values[key] = _Values()
        row = known.rows.get(value)
        if row is None:
            known.rows[value] = len(known.rows)
            known.decoded.append(decoded)
            known.captures.append(1)
            known.draws.append(draws)
            known.first_capture.append(number)
            known.last_capture.append(number)
            return
        known.draws[row] += draws
        if number != known.last_capture[row]:
            known.last_capture[row] = number
            known.captures[row] += 1
            if capture < self._captures[known.first_capture[row]]:
                known.first_capture[row] = number

    def rows(self) -> Iterator[Row]:
        """Rows of VALUES, sorted by generation, name, offset and value; drops what it has made."""
        for key in sorted(self._values, key=_order):
            known = self._values.pop(key)
            for value in sorted(known.rows, key=_known_first):
                row = known.rows[value]
                first = self._captures[known.first_capture[row]]
                counts = known.captures[row], known.draws[row]
                yield (*key, value, known.decoded[row], *counts, first)


assert [one.name for one in VALUES.columns][4:] == ["decoded", "captures", "draws", "first_capture"]


def _order(key: tuple[int | None, str, int]) -> tuple[int, str, int]:
    generation, register, offset = key
    return generation or 0, register, offset


def _known_first(value: int | None) -> int:
    """What only the GPU knows comes last."""
    return 1 << 64 if value is None else value


#: Rows of a row group: rows of several captures are collected until there are this many,
_GROUP = 1 << 15
#: or until the rows of all tables take this many bytes: then those of the largest one are written.
_BYTES = 3 << 20
#: Rows that wait as tuples, and cells of the rows that are taken at once.
_BATCH, _CELLS = 1 << 8, 1 << 14
#: The same of a table that is sorted: readers skip groups without the registers that they need.
_SORTED_GROUP = 1 << 16


class TableFile:
    """A Parquet file of rows, written in groups; without rows there is no file.

    All methods raise CaptureIndexError where it cannot be written.
    """

    def __init__(self, table: Table, path: str) -> None:
        self._table = table
        self._path = path
        #: Columns of texts that many rows share: a batch has each text once.
        self._shared_texts = PASS_PROPERTIES if table is DRAWS else ()
        #: Rows that wait, the first of them as batches of Arrow, which need less memory.
        self._waiting: list[Row] = []
        self._batches: list[Any] = []
        self._batched = 0
        #: Bytes of these batches.
        self.waiting_bytes = 0
        self._writer: Any = None
        self.rows = 0
        #: Whether the rows are sorted; of a table of KEYED only, in which nothing is NULL.
        self.is_sorted = table in KEYED
        self._last: Row = ()

    def add(self, rows: Iterable[Row]) -> int:
        """Add rows; returns their number."""
        before = self.rows
        for batch in batches(rows, _CELLS // len(self._table.columns)):
            self.rows += len(batch)
            if self.is_sorted:
                self.is_sorted = self._last <= batch[0] and batch == sorted(batch)
                self._last = batch[-1]
            self._waiting += batch
            if len(self._waiting) >= _BATCH:
                self._pack()
            if self._batched >= _GROUP:
                self.flush()
        return self.rows - before

    def add_arrow(self, found: Any) -> None:  # noqa: ANN401
        """Add a table of Arrow with the columns of the table."""
        self.is_sorted = False
        self._pack()
        self.rows += found.num_rows
        for batch in found.to_batches():
            self._take(self._with_shared_texts(batch))
        if self._batched >= _GROUP:
            self.flush()

    def _with_shared_texts(self, batch: Any) -> Any:  # noqa: ANN401
        columns = [
            column.dictionary_encode() if name in self._shared_texts else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        schema = arrow_schema(self._table, self._shared_texts)
        return library("pyarrow").record_batch(columns, schema=schema)

    def close(self) -> bool:
        """Write the remaining rows; returns whether there is a file."""
        self.flush()
        if self._writer is None:
            return False
        with reported(self._path):
            self._writer.close()
        return True

    def _pack(self) -> None:
        """Make a batch of Arrow of the rows that wait."""
        if self._waiting:
            self._take(record_batch(self._table, self._waiting, self._shared_texts))
            self._waiting = []

    def _take(self, batch: Any) -> None:  # noqa: ANN401
        if batch.num_rows:
            self._batches.append(batch)
        self._batched += batch.num_rows
        self.waiting_bytes += batch.nbytes

    def flush(self) -> None:
        """Write the rows that wait."""
        self._pack()
        if self._batches:
            schema = arrow_schema(self._table, self._shared_texts)
            waiting = library("pyarrow").Table.from_batches(self._batches, schema)
            with reported(self._path):
                self._open(schema).write_table(waiting.unify_dictionaries())
            self._batches, self._batched, self.waiting_bytes = [], 0, 0

    def _open(self, schema: Any) -> Any:  # noqa: ANN401
        if self._writer is None:
            parquet = library("pyarrow.parquet")
            # the file has texts, however they are in memory
            self._writer = parquet.ParquetWriter(
                self._path, schema, compression="zstd", store_schema=False
            )
        return self._writer


class PartWriter:
    """Takes the rows of captures; ``store`` moves the files into the index."""

    def __init__(self, folder: str, generations: Mapping[str, int | None]) -> None:
        """``folder``: a local one, which is made for the files. ``generations``: of each capture
        by its name, as it is in rows.
        """
        self._folder = folder
        os.mkdir(folder)
        self._files: dict[str, TableFile] = {}
        self._listings: set[str] = set()
        self._values = RegisterValues()
        self._generations = generations

    def write(self, table: Table, rows: Iterable[Row]) -> int:
        """Add rows of a table of ``cffpy export`` or of the index; as tables.writers.Writer."""
        if table.name == REGISTERS.name:
            rows = self._values.counted(rows, self._generations)
        position = next(
            (n for n, column in enumerate(table.columns) if column.name == LISTING), None
        )
        if position is None or table is LISTINGS:
            count = self._file(table).add(rows)
        else:
            stored = map(self._without_listing(position), rows)
            count = self._file(EXPORTED[table.name]).add(stored)
        self._bound()
        return count

    def _bound(self) -> None:
        """Write waiting rows where all tables together have too many."""
        files = self._files.values()
        while sum(file.waiting_bytes for file in files) > _BYTES:
            max(files, key=lambda file: file.waiting_bytes).flush()

    def flush(self) -> None:
        """As tables.writers.Writer; rows are written when there are enough of them."""

    def close(self) -> None:
        """As tables.writers.Writer."""

    def _without_listing(self, position: int) -> Any:  # noqa: ANN401
        def replaced(row: Row) -> Row:
            text = row[position]
            if text is None:
                return row
            digest = sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
            if digest not in self._listings:
                self._listings.add(digest)
                self._file(LISTINGS).add([(digest, text)])
            return (*row[:position], digest, *row[position + 1 :])

        return replaced

    def _file(self, table: Table) -> TableFile:
        if table.name not in self._files:
            self._files[table.name] = TableFile(table, self.path(table.name))
        return self._files[table.name]

    def path(self, name: str) -> str:
        """The local file of a table."""
        return os.path.join(self._folder, f"{name}.parquet")

    def add_arrow(self, table: Table, found: Any) -> None:  # noqa: ANN401
        """Add a table of Arrow."""
        if table is REGISTERS:
            self._values.add_batch(found, self._generations)
        self._file(table).add_arrow(found)
        self._bound()

    def finish(self, name: str) -> str | None:
        """Write the remaining rows of a table; its local file, None where it has no rows."""
        file = self._files.get(name)
        return self.path(name) if file is not None and file.close() else None

    def sort(self, table: Table) -> None:
        """Sort the rows of a table, all of which were written, by its columns.

        Those of a single capture are mostly sorted; sorting them would need more memory than all
        else.
        """
        path = self.finish(table.name)
        if path is None or self._files[table.name].is_sorted:
            return
        parquet = library("pyarrow.parquet")
        keys = [(column.name, "ascending") for column in table.columns]
        with reported(path):
            rows = parquet.read_table(path).sort_by(keys)
            parquet.write_table(rows, path, compression="zstd", row_group_size=_SORTED_GROUP)

    def add_values(self) -> None:
        """Write the rows of VALUES, after the rows of all other tables."""
        for file in self._files.values():
            file.flush()
        self._file(VALUES).add(self._values.rows())
        self._values = RegisterValues()

    def store(self, storage: Storage, name: str, number: int) -> Part:
        """Move the files into the index, as the partition ``name``."""
        tables = {table: file.rows for table, file in self._files.items() if file.close()}
        part = Part(name, number, tables)
        if tables:
            storage.put_folder(self._folder, part.folder)
        return part
