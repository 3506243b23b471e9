# SPDX-License-Identifier: MIT
"""For a text of SQL the columns that it names are made; answers are those of all columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.api.export import _decoded
from cffpy.tables.rows import ROWS
from cffpy.tables.schema import TABLES
from cffpy.tables.statement import columns_named, tables_named
from tests.selection import first_always

duckdb = pytest.importorskip("duckdb")

PAGE = (Path(__file__).parents[2] / "docs/reference/sql.md").read_text("utf-8")
RECIPES = re.findall(r'\$ cffpy sql [^"\n]*"(.*?)"\n', PAGE)

#: Questions that read columns that they do not name, or that DuckDB's parser does not show.
OF_ALL_COLUMNS = (
    "FROM actions",
    "TABLE actions",
    "SELECT actions.* FROM actions",
    "SELECT * EXCLUDE (kind) FROM actions",
    "SELECT kind FROM (FROM actions) ORDER BY kind LIMIT 3",
    "SELECT a FROM actions a",
    "SELECT A AS found FROM actions AS a",
    "SELECT unnest(actions) FROM actions",
    "SELECT a2, a5 FROM actions AS t(a1, a2, a3, a4, a5)",
    "SELECT COLUMNS('^p') FROM actions",
    "SELECT COLUMNS(lambda c: c LIKE 'p%') FROM actions",
    "SELECT #3, #7 FROM actions",
    "SELECT kind FROM actions NATURAL JOIN draws",
    "SELECT kind FROM query_table('actions')",
    "SELECT kind FROM query('SELECT * FROM actions')",
    "DESCRIBE actions",
    "SUMMARIZE actions",
    "PIVOT actions ON kind USING count(*) GROUP BY pass",
    "CREATE TEMP TABLE x AS FROM actions; FROM x",
    "SELECT kind FROM actions ORDER BY kind LIMIT 2; FROM actions",
)
#: Questions of few columns.
OF_SOME_COLUMNS = (
    "SELECT count(*) FROM actions",
    "SELECT KIND, Count(*) FROM Actions GROUP BY ALL ORDER BY ALL DESC LIMIT 3",
    'SELECT "kind" AS k FROM actions a WHERE a.place_gpuaddr > 0 ORDER BY a.place_file_offset',
    "SELECT list(DISTINCT kind ORDER BY kind) FROM actions WHERE tile IN (SELECT tile FROM tiles)",
    "SELECT d.name, a.kind FROM draws d JOIN actions a USING (capture, pass, draw) ORDER BY ALL",
    "SELECT kind, row_number() OVER (PARTITION BY kind ORDER BY action) FROM actions ORDER BY ALL",
    "WITH x AS (SELECT mode AS m FROM passes) SELECT m FROM x UNION ALL SELECT kind FROM passes",
    "SELECT CASE WHEN indexed THEN vertices::VARCHAR ELSE kind END FROM draws ORDER BY action",
    "SELECT name FROM register_at_draw WHERE register = 'RB_DEPTH_CNTL' ORDER BY draw_index",
    "SELECT decoded FROM fields WHERE register = 'RB_DEPTH_CNTL' ORDER BY first_draw, field",
    "SELECT written_by_pass, register FROM registers ORDER BY register, first_draw LIMIT 9",
    "SELECT packet, count(*) FROM packets GROUP BY ALL ORDER BY ALL",
    "SELECT generation FROM captures",
    "SELECT stage, bytes FROM shaders ORDER BY ALL",
)


def answer(paths: list[Path], query: str) -> list[tuple[Any, ...]]:
    rows = cffpy.sql(paths, query)
    return [tuple(rows.columns), *rows]


@pytest.mark.parametrize(
    "query", first_always([*OF_SOME_COLUMNS, *RECIPES, *OF_ALL_COLUMNS], len(OF_SOME_COLUMNS))
)
def test_answers_are_those_of_all_columns(
    query: str, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [samples / "a660-frame-gmem.rd", samples / "a660-textures.rd"]
    found = answer(paths, query)
    monkeypatch.setattr("cffpy.api.export.tables_named", lambda text, _: tables_named(text))
    assert answer(paths, query) == found
    assert len(found) > 1 or query not in OF_SOME_COLUMNS


def test_recipes_name_their_columns() -> None:
    """All but what has a column of the name of a table."""
    connection = duckdb.connect()
    assert len(RECIPES) > 15
    found = [columns_named(query, connection) is None for query in RECIPES]
    assert sum(found) <= 1


@pytest.mark.parametrize("query", OF_ALL_COLUMNS)
def test_what_is_not_understood_has_all_columns(query: str) -> None:
    named = tables_named(query, duckdb.connect())
    assert [table for table in named if table.name == "actions"] == [TABLES["actions"]]


@pytest.mark.parametrize("query", OF_SOME_COLUMNS)
def test_columns_that_are_not_named_are_not_made(query: str) -> None:
    for table in tables_named(query, duckdb.connect()):
        assert len(table.columns) < len(TABLES[table.name].columns) or table.name == "packets"


def test_without_the_parser_all_columns_are_made() -> None:
    class Older:
        def execute(self, *_: object) -> None:
            raise duckdb.Error("there is no such function")

    assert tables_named("SELECT kind FROM actions", Older()) == [TABLES["actions"]]


@pytest.mark.parametrize(
    "name", first_always(["a660-frame-gmem", "a660-textures", "a740-state-groups"], 1)
)
def test_rows_of_some_columns_are_parts_of_whole_rows(samples: Path, name: str) -> None:
    """Of each table: a column alone, and every second one."""
    with cffpy.open(samples / f"{name}.rd") as capture:
        decoded = _decoded(capture._source)
        for table in TABLES.values():
            if table.name not in ROWS:
                continue
            whole = list(ROWS[table.name](decoded, table))
            names = [column.name for column in table.columns]
            for wanted in ([], names[::2], names[1::2], *([one] for one in names)):
                part = table.with_columns(frozenset(wanted))
                places = [names.index(column.name) for column in part.columns]
                assert {*wanted} <= {column.name for column in part.columns}
                expected = [tuple(row[place] for place in places) for row in whole]
                assert list(ROWS[table.name](decoded, part)) == expected, (table.name, wanted)


def test_what_is_not_wanted_is_not_computed(samples: Path) -> None:
    def fail() -> Any:
        raise AssertionError("nobody asked for it")

    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        decoded = _decoded(capture._source)._replace(digest=fail, places=fail)
        for name, wanted in (("captures", "gpu"), ("registers", "value")):
            table = TABLES[name]
            assert list(ROWS[name](decoded, table.with_columns(frozenset([wanted]))))
            with pytest.raises(AssertionError, match="nobody asked for it"):
                list(ROWS[name](decoded, table))
