# SPDX-License-Identifier: MIT
"""Rows that wait in a temporary file until what they are made of is released.

A capture that is decoded and a library that writes tables need much memory each. Commands have one
after the other: a child process decodes and fills the file; when it has ended, its memory is free,
and the rows go to the library.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cffpy.container.open import zlib_module
from cffpy.tables.schema import TABLES
from cffpy.tables.writers import batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

    from cffpy.tables.schema import Table
    from cffpy.tables.writers import Row, Writer

    #: Rows of a table; None where the writer flushes; the name of a capture.
    _Piece = tuple[str, list[tuple[Any, ...]] | None] | str | None

#: Cells of rows that are compressed at once, since tables may be wide, and pieces;
#: bytes of the length of what is compressed; how well it is compressed.
_CELLS, _PIECES, _LENGTH, _LEVEL = 1 << 14, 1 << 11, 8, 1


@contextmanager
def _writable() -> Iterator[None]:
    """Name the file in an OSError, which has no name of its own."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise OSError(problem.errno or 0, reason, "the temporary file for rows") from None


class RowSpool:
    """A Writer into a file without a name, and a context manager.

    Raises OSError where the file cannot be made, or there is no room for it.
    """

    def __init__(self) -> None:
        with _writable():
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._zlib = zlib_module(1 << 20)
        #: What waits for the file, and how many cells it has.
        self._waiting: list[_Piece] = []
        self._cells = 0
        #: The capture whose rows were passed on last, where ``begin`` has named it.
        self.capture = ""

    def __enter__(self) -> RowSpool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # of what is buffered, which nobody wants any more
            self._file.close()

    def write(self, table: Table, rows: Iterable[Row]) -> int:
        """Add rows of a table, which wait in the file."""
        self._put((table.name, None))  # also of a table without rows
        count, width = 0, len(table.columns)
        for batch in batches(rows, max(1, _CELLS // width)):
            self._put((table.name, batch), len(batch) * width)
            count += len(batch)
        return count

    def flush(self) -> None:
        """Have the writer that takes the rows flush at this place."""
        self._put(None)

    def close(self) -> None:
        """Write what is buffered to the file."""
        self._write_waiting()
        with _writable():
            self._file.flush()

    def begin(self, capture: str) -> None:
        """The rows that follow belong to this capture."""
        self._put(capture)

    def go_on(self) -> None:
        """Write after the rows that another process has written."""
        with _writable():
            self._file.seek(0, os.SEEK_END)

    def clear(self) -> None:
        """Drop the rows that wait."""
        self._waiting, self._cells = [], 0
        with _writable():
            self._file.seek(0)
            self._file.truncate()

    def _put(self, piece: _Piece, cells: int = 0) -> None:
        self._waiting.append(piece)
        self._cells += cells
        if self._cells >= _CELLS or len(self._waiting) >= _PIECES:
            self._write_waiting()

    def _write_waiting(self) -> None:
        data = pickle.dumps(self._waiting, pickle.HIGHEST_PROTOCOL)
        data = self._zlib.compress(data, _LEVEL)
        self._waiting, self._cells = [], 0
        with _writable():
            self._file.write(len(data).to_bytes(_LENGTH, "little"))
            self._file.write(data)

    def pass_on(self, writer: Writer, tables: Mapping[str, Table] = TABLES) -> None:
        """Have another writer take all rows, as they came, also from another process.

        ``tables``: the tables that were written, by name.
        """
        self._file.seek(0)
        while length := self._file.read(_LENGTH):
            self._pass_on_pieces(writer, tables, int.from_bytes(length, "little"))

    def _pass_on_pieces(self, writer: Writer, tables: Mapping[str, Table], size: int) -> None:
        """What was compressed at once. It is dropped before the next is read."""
        data = self._zlib.decompress(self._file.read(size))
        pieces: list[_Piece] = pickle.loads(data)  # our own file, without a name
        del data
        for piece in pieces:
            if piece is None:
                writer.flush()
            elif isinstance(piece, str):
                self.capture = piece
            else:
                writer.write(tables[piece[0]], piece[1] or ())
