# SPDX-License-Identifier: MIT
"""Parts of a task, of a build: rows go through files, and are what they would be without."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.analysis.queries import find_passes
from cffpy.api import export as exporting
from cffpy.api.source import Source
from cffpy.container.open import open_capture
from cffpy.index import part_writer
from cffpy.index.draw_rows import draw_rows
from cffpy.index.reader import Index
from cffpy.index.tables import (
    EXPORTED,
    LISTINGS,
    OWN,
    PASS_PROPERTIES,
    PROGRAMS,
    PROPERTY_NAMES,
    VALUES,
)
from cffpy.tables.schema import Table, columns_of
from cffpy.tables.writers import arrow_schema
from tests.selection import first_always


def stored(index: Index) -> dict[str, list[str]]:
    """The rows of all tables, sorted; keys have the number of their partition."""
    (part,) = index.parts
    found = {}
    for table in (*EXPORTED.values(), *OWN.values()):
        batches = index.dataset(table).to_batches()
        rows = [row for batch in batches for row in batch.to_pylist()]
        for row in rows:
            for name in ("key", "before", "first_key", "last_key"):
                if row.get(name) is not None:
                    row[name] -= part.number << 32
        found[table.name] = sorted(map(repr, rows))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("lints", first_always([True, False]))
def test_large_captures_have_the_same_rows(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lints: bool
) -> None:
    """They have a walk for registers and one for the rest."""
    walks: list[Source] = []
    walk = Source.walk_for_tables
    monkeypatch.setattr(Source, "walk_for_tables", lambda one: (walks.append(one), walk(one))[1])
    monkeypatch.setattr("cffpy.index.build._LEAST_SECONDS", 1e9)  # one partition
    found, entries = [], []
    for size in (0, 1 << 40):
        monkeypatch.setattr(exporting, "_APART", size)
        path = tmp_path / str(size)
        cffpy.build_index([samples], path, jobs=0, lints=lints)
        index = cffpy.open_index(path)
        found.append(stored(index))
        entries.append([(one.name, one.problems, one.error, one.rows) for one in index.files])
        assert len(walks) >= len(index.files) - 2  # of which some cannot be decoded
        assert all(one.is_closed for one in walks)
    assert found[0] == found[1]
    assert len(found[0]["filter_registers"]) > 100
    assert bool(found[0]["findings"]) == lints
    assert entries[0] == entries[1]


def test_texts_of_a_pass_are_made_once(samples: Path) -> None:
    """A pass lists its draws: a text for each of them would take quadratic time and memory."""
    finder, _ = find_passes(open_capture(str(samples / "a660-frame-binning.rd")), pytest.fail)
    texts = [row[-len(PROPERTY_NAMES) :] for row in draw_rows(finder, "a.rd", 6, 0, [])]
    columns = dict(zip(PROPERTY_NAMES, zip(*texts, strict=True), strict=True))
    for name in PASS_PROPERTIES:
        assert len({id(text) for text in columns[name]}) == len(finder.found.passes), name
    table = Table("t", "", columns_of("a text a\nb text b\n"))
    rows = [("x", None), ("x", "z"), (None, "z")]
    batch = part_writer.record_batch(table, rows, ("a", "b"))
    assert [len(column.dictionary) for column in batch.columns] == [1, 1]
    assert [tuple(row.values()) for row in batch.to_pylist()] == rows


def test_rows_that_cannot_be_stored(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They cost their capture, and no other."""
    make = part_writer.record_batch
    bad = str(corpus / "a660-frame-gmem.rd")

    def record_batch(table: Table, rows: list[Any], shared: object) -> Any:
        if any(bad in row for row in rows):
            raise OverflowError("too large")
        return make(table, rows, shared)

    monkeypatch.setattr(part_writer, "record_batch", record_batch)
    monkeypatch.setattr(part_writer, "_BATCH", 1)
    report = cffpy.build_index([corpus], tmp_path / "index", jobs=0)
    assert report.failures == [(bad, "internal error: OverflowError: too large")]
    index = cffpy.open_index(tmp_path / "index")
    expected = sorted(set(map(str, corpus.iterdir())) - {bad})
    assert sorted(index.sql("SELECT DISTINCT capture FROM draws")) == [(one,) for one in expected]


@pytest.mark.skipif(os.name == "nt", reason="names that Windows does not have")
def test_sums_are_written_as_other_tables(corpus: Path, tmp_path: Path) -> None:
    """Also in a folder whose name looks like a pattern, or like a partition of Hive."""
    path = tmp_path / "a[1]*?=it's.index"
    cffpy.build_index([corpus], path, jobs=0)
    parquet = pytest.importorskip("pyarrow.parquet")
    for table in (VALUES, PROGRAMS, LISTINGS):
        file = parquet.ParquetFile(path / "snapshots" / "00000001" / f"{table.name}.parquet")
        expected = arrow_schema(table)
        assert file.schema_arrow.names == expected.names
        assert file.schema_arrow.types == expected.types
        assert file.schema_arrow.metadata == expected.metadata
        assert file.metadata.num_rows > 0
