# SPDX-License-Identifier: MIT
"""Large captures are exported by a walk for registers and one for bindings: the files are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import cffpy
from cffpy.api import export as exporting
from cffpy.tables.schema import TABLES
from tests.selection import first_always

if TYPE_CHECKING:
    from pathlib import Path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "tables", first_always([["registers", "descriptors"], ["fields"], [*TABLES]])
)
def test_tables_are_equal(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: list[str]
) -> None:
    for path in sorted(samples.glob("*.rd.gz"))[:: 1 if len(tables) == 2 else 7]:
        found = []
        for size in (0, 1 << 40):
            monkeypatch.setattr(exporting, "_APART", size)
            folder = tmp_path / f"{path.name}-{size}.csv"
            counts = exporting.export([path], f"{folder}/", tables=tables)
            found.append((counts, files(folder)))
        assert found[0] == found[1], path


def test_only_places_of_writes_are_kept(samples: Path) -> None:
    path = min(samples.glob("a6*.rd.gz"))
    with cffpy.open(path) as capture, cffpy.open(path) as other:
        capture._source.walk_for_tables()
        store, whole = capture._source.walk().store, other._source.walk().store
        assert store is not None
        assert whole is not None
        found, expected = store.draws, whole.draws
        assert [*found.all_registers()]
        assert not found._changed
        assert len(store.log.entries) < 100  # those after the last draw
        assert not any(row.entries for row in found.rows.values())
        places = capture._source.walk().write_places
        assert sorted(found.all_registers()) == sorted(expected.all_registers())
        for register in expected.all_registers():
            assert [*map(list, found.changes(register))] == [*map(list, expected.changes(register))]
            for position, order in enumerate(expected.changes(register)[0]):
                write = whole.history(order).write(register, order)
                assert write is not None
                assert places.of(register, position) == (
                    write.place.gpuaddr,
                    write.place.submit.submit,
                    write.pass_index,
                    write.pipe,
                )
