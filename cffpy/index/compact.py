# SPDX-License-Identifier: MIT
"""Joins small partitions, which builds of few captures leave behind. Nothing is decoded for it.

A query opens the files of every partition, so its time grows with their number.
"""

from __future__ import annotations

import os
import random
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.index.draw_rows import ROW_BITS
from cffpy.index.part_writer import PartWriter
from cffpy.index.tables import DRAWS, EXPORTED, KEYED, OWN, TEXTS, VALUES
from cffpy.tables.writers import clean_text, library

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.index.model import Entry, Part
    from cffpy.index.storage import Storage
    from cffpy.tables.schema import Table

#: A partition with fewer rows, of all tables together, is small. Small ones are joined when there
#: are more than this number of them, up to this number of rows.
_SMALL, _MOST_SMALL, _JOINED = 1 << 16, 16, 1 << 18


class Held(NamedTuple):
    """A partition and the entries of the captures that it has rows of."""

    part: Part
    entries: list[Entry]

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(self.part.tables.values())

    @property
    def draws(self) -> int:
        """The rows of draws that its keys have room for."""
        return max((one.first_row + one.rows for one in self.entries), default=0)


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
    generations = {clean_text(one.name): one.generation for held in group for one in held.entries}
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
        for one in held.entries:
            one.part = name
            one.first_row += first_row
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
