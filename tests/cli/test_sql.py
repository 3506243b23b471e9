# SPDX-License-Identifier: MIT
"""cffpy sql and cffpy export, run as users run them; cffpy.sql and cffpy.export."""

from __future__ import annotations

import csv
import gc
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.queries import PassWalk
from cffpy.frame.binding import Binding
from cffpy.frame.faces import columns, row
from cffpy.frame.facts import model_of
from cffpy.regdb.database import Database
from cffpy.tables import writers
from cffpy.tables.rows import ROWS
from cffpy.tables.schema import DEFAULT_TABLES, SCHEMA, TABLES, VIEW_TABLES, VIEWS, Table
from tests.binned import SCENE
from tests.command_server import Run
from tests.selection import first_always
from tools import examples

duckdb = pytest.importorskip("duckdb")
if find_spec("pyarrow") is None:  # not imported: it would stay mapped for tests of peak memory
    pytest.skip("pyarrow is not installed", allow_module_level=True)
Row = tuple[object, ...]
Insert = Callable[[object, Table, list[Row]], None]

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/sql.md").read_text("utf-8")
NAMES = (
    "a430-depth-good",
    "a530-two-submits",
    "a660-frame-gmem",
    "a690-compute",
    "a660-textures",
    "a660-frame-binning",
    "a650-queries",
    "a660-barriers",
)


@pytest.fixture
def paths(samples: Path) -> list[Path]:
    return [samples / f"{name}.rd" for name in NAMES]


@pytest.mark.slow
def test_every_table_has_rows_of_its_columns(paths: list[Path]) -> None:
    assert set(ROWS) | {"packets"} == set(TABLES)
    assert set(VIEWS) == set(VIEW_TABLES)
    for name, table in TABLES.items():
        rows = cffpy.sql(paths, f"SELECT * FROM {name}")
        assert rows.columns == [column.name for column in table.columns]
        assert list(rows) or name in ("problems", "bins", "visible_draws", "waits")


@pytest.mark.slow
def test_registers_at_draws_are_those_of_the_interface(paths: list[Path]) -> None:
    for path in paths:
        found = cffpy.sql([path], "SELECT name, register, value, decoded FROM register_at_draw")
        rows = {(name, register): (value, text) for name, register, value, text in found}
        with cffpy.open(path) as capture:
            expected = {
                (draw.name, value.name): (value.value, value.text)
                for draw in capture.draws
                for value in draw.state.values()
            }
        assert rows == expected


def test_operations_on_attachments(samples: Path, tmp_path: Path) -> None:
    """Those of the other mode do not count, one on depth and stencil counts for depth."""
    query = (
        "SELECT a.name, count(*) FILTER (o.kind = 'clear'), count(*) FILTER (o.kind = 'store')"
        " FROM attachments a JOIN operations o ON contains(o.attachment, a.name)"
        " WHERE o.executed AND NOT o.binning GROUP BY a.name ORDER BY a.name"
    )
    text = (SAMPLES / "a660-frame-gmem.pm4").read_text("utf-8")
    both = tmp_path / "both.rd"
    both.write_bytes(cffpy.compile(text.replace("CLEAR_MASK=0x1 ", "CLEAR_MASK=0x3 ")))
    with cffpy.open(both) as capture:
        assert "depth+stencil" in [one.attachment for one in capture.passes[0].operations]
    for path in (samples / "a660-frame-gmem.rd", both):
        assert list(cffpy.sql([path], query)) == [("color 0", 4, 4), ("depth", 4, 0)]


@pytest.mark.slow
def test_shaders_of_draws(paths: list[Path]) -> None:
    used = cffpy.sql([paths[2]], "SELECT name, stage FROM shader_of_draw ORDER BY ALL")
    assert list(used) == [(f"p0:{n}", stage) for n in (0, 1) for stage in ("FS", "VS")]


def _check_descriptors(path: Path) -> int:
    """The table has the facts of the interface's descriptors at each draw; how many these are.

    Not the packets: one that loads the same again begins no row.
    """
    names = [one.name for one in columns(model_of(Binding))]
    facts = [n for n, name in enumerate(names) if not name.startswith("place_")]
    listed = ", ".join(f'd."{names[n]}"' for n in facts)
    query = f"SELECT a.name, {listed} FROM draws a JOIN descriptors d"
    found = cffpy.sql([path], f"{query} ON a.draw_index BETWEEN d.first_draw AND d.last_draw")
    with cffpy.open(path) as capture:
        expected = [
            (draw.name, *[row(one)[n] for n in facts])
            for draw in capture.draws
            for one in draw.descriptors
            if one.bound
        ]
    assert sorted(found, key=str) == sorted(expected, key=str)
    return len(expected)


@pytest.mark.slow
def test_descriptors_at_draws_are_those_of_the_interface(samples: Path) -> None:
    assert _check_descriptors(samples / "a660-textures.rd") == 6
    assert _check_descriptors(samples / "a430-depth-good.rd") == 0


@pytest.mark.slow
def test_descriptors_of_all_generations(shared: Path) -> None:
    for name in (
        "a740-vk-bindless-gmem",
        "a330-gl-inst-mrt",
        "a430-gl-compute",
        "a430-gl-cube-gmem",
        "a540-gl-scene200-lrz-1080p",
        "a690-vk-frame-720p",
    ):
        assert _check_descriptors(shared / f"captures/{name}.rd.gz")


def test_fields_have_the_bits_of_descriptors(samples: Path) -> None:
    query = (
        "SELECT raw, decoded FROM descriptor_fields WHERE kind = 'texture' AND slot = 1"
        " AND field IN ('WIDTH', 'FMT') ORDER BY field DESC"
    )
    found = list(cffpy.sql([samples / "a660-textures.rd"], query))
    assert found == [(128, "128"), (0x30, "FMT6_8_8_8_8_UNORM")]
    query = (
        "SELECT DISTINCT decoded, raw FROM fields"
        " WHERE register = 'RB_DEPTH_CNTL' AND field = 'ZFUNC'"
    )
    assert list(cffpy.sql([samples / "a660-frame-gmem.rd"], query)) == [("FUNC_LESS", 1)]


def test_visibility(tmp_path: Path) -> None:
    path = tmp_path / "binned.rd"
    path.write_bytes(SCENE.capture())
    query = (
        "SELECT slot, tiles, cell_column, cell_row, bins.entries, pipes.entries, bins.primitives,"
        " pipes.primitives, state, fits FROM bins JOIN pipes USING (pass, pipe) ORDER BY slot"
    )
    common = ("decoded", True)
    assert list(cffpy.sql([path], query)) == [
        (0, "0", 0, 0, 1, 2, 6, 20, *common),
        (1, "1", 1, 0, 2, 2, 16, 20, *common),
        (2, "2", 0, 1, 1, 2, 6, 20, *common),
        (3, "3", 1, 1, 0, 2, 0, 20, *common),
    ]
    query = "SELECT tile, draw, primitives FROM visible_draws ORDER BY ALL"
    assert list(cffpy.sql([path], query)) == [(0, 0, 6), (1, 0, 6), (1, 1, 10), (2, 0, 6)]


@pytest.mark.slow
def test_packets_are_the_lines(paths: list[Path], run_cffpy: Run) -> None:
    (count,) = next(iter(cffpy.sql([paths[0]], "SELECT count(*) FROM packets")))
    kinds = ("--only", "registers", "--only", "packets", "--only", "draws")
    assert count == run_cffpy("lines", *kinds, paths[0]).stdout.count(b"\n")


def test_sql_has_no_files(paths: list[Path], tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for query in (
        f"SELECT * FROM read_csv('{secret}')",
        f"SELECT * FROM '{secret}'",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/x.duckdb'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT * FROM nothing",
        "SELEC",
        "",
        "-- only a comment",
    ):
        with pytest.raises(cffpy.UsageError, match=r"^SQL: "):
            list(cffpy.sql(paths[:1], query))
    assert [one.name for one in tmp_path.iterdir()] == ["secret.csv"]
    found = cffpy.sql(paths[:1], f"SELECT * FROM read_csv('{secret}')", allow_files=True)
    assert list(found) == [(1,)]


def test_a_table_that_does_not_exist(paths: list[Path], run_cffpy: Run) -> None:
    """Only tables that a query names are made, so DuckDB would suggest some of its own."""
    done = run_cffpy("sql", str(paths[0]), "SELECT * FROM draw", check=False)
    assert done.returncode == 1
    assert b"SQL: there is no table draw; tables: captures, " in done.stderr
    assert b"register_at_draw" in done.stderr


def test_sql_writes_no_progress_and_changes_no_setting(paths: list[Path]) -> None:
    found = cffpy.sql(paths[:1], "SELECT current_setting('enable_progress_bar')")
    assert list(found) == [(False,)]
    with pytest.raises(cffpy.UsageError, match="locked"):
        list(cffpy.sql(paths[:1], "SET enable_progress_bar = true"))


def test_a_database_is_released_with_its_answer(paths: list[Path]) -> None:
    """Each kept nine threads until the garbage collector found it."""
    gc.disable()
    try:
        rows = cffpy.sql(paths[:1], "SELECT * FROM draws")
        database = weakref.ref(rows._database)
        del rows
        assert database() is None
    finally:
        gc.enable()


@pytest.mark.slow
def test_shell(paths: list[Path], tmp_path: Path, run_cffpy: Run) -> None:
    """A fake duckdb program gets a database with the tables."""
    program = tmp_path / "duckdb"
    program.write_text(
        f"#!{sys.executable}\nimport duckdb, sys\n"
        "print(duckdb.connect(sys.argv[1]).execute('SELECT name FROM draws').fetchall())\n"
        "sys.exit(3)\n"
    )
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = run_cffpy("sql", "--shell", paths[2], env=environment, check=False)
    assert done.stdout == b"[('p0:0',), ('p0:1',)]\n"
    assert done.returncode == 3
    done = run_cffpy("sql", "--shell", paths[2], env={"PATH": str(tmp_path / "no")}, check=False)
    assert b"--shell needs the program duckdb" in done.stderr


def test_a_database_can_be_opened_by_older_programs(paths: list[Path], tmp_path: Path) -> None:
    """Bytes 12 to 19 of a file are the version of its form: 64 and 65 belong to duckdb 1.1."""
    path = tmp_path / "a.duckdb"
    cffpy.export(paths[2:3], str(path), tables=["draws"])
    assert int.from_bytes(path.read_bytes()[12:20], "little") <= 65


@pytest.mark.slow
def test_forms_of_output(paths: list[Path], run_cffpy: Run) -> None:
    query = "SELECT name, vertices FROM draws ORDER BY draw_index"
    arguments = ("sql", paths[2], query)
    assert run_cffpy(*arguments).stdout == b"name  vertices\np0:0  36\np0:1  3\n"
    assert run_cffpy(*arguments, "--csv").stdout == b"name,vertices\np0:0,36\np0:1,3\n"
    assert json.loads(run_cffpy(*arguments, "--json").stdout) == {
        "schema": "cffpy.sql/1",
        "columns": ["name", "vertices"],
        "rows": [["p0:0", 36], ["p0:1", 3]],
    }
    lines = run_cffpy(*arguments, "--jsonl").stdout.splitlines()
    assert json.loads(lines[1]) == {"name": "p0:1", "vertices": 3}
    assert run_cffpy("sql", paths[2]).returncode == 2
    assert run_cffpy(*arguments, "--csv", "--json").returncode == 2


@pytest.mark.slow
def test_captures_share_batches(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch costs milliseconds, a small capture has few rows."""
    sizes = []

    def counted(insert: Insert, connection: object, table: Table, rows: list[Row]) -> None:
        sizes.append(len(rows))
        insert(connection, table, rows)

    for name in ("_append", "_insert"):  # one of them, by DuckDB's version
        insert = partial(counted, getattr(writers, name))
        monkeypatch.setattr(f"cffpy.tables.writers.{name}", insert)
    query = "SELECT DISTINCT capture FROM actions ORDER BY ALL"
    found = [row[0] for row in cffpy.sql(paths, query)]
    assert len(found) == len(sizes) * len(paths) == len(paths)
    monkeypatch.setattr("cffpy.api.export._CAPTURES_A_BATCH", 1)
    assert [row[0] for row in cffpy.sql(paths, query)] == found
    assert len(sizes) == 1 + len(paths)
    assert sum(sizes[1:]) == sizes[0]


@pytest.mark.slow
def test_export(paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cffpy.tables.writers.BATCH", 7)
    monkeypatch.setattr("cffpy.tables.writers._INSERTED", 5)
    counts = {}
    for suffix in ("csv", "jsonl", "parquet", "arrow", "duckdb"):
        output = f"{tmp_path}/all.{suffix}" + "/" * (suffix != "duckdb")
        counts[suffix] = cffpy.export(paths, output, tables=TABLES)
    expected = counts["csv"]
    assert all(found == expected for found in counts.values())
    assert expected["registers"] > 100
    with duckdb.connect(str(tmp_path / "all.duckdb")) as database:
        for name in TABLES:
            rows = database.execute(f'SELECT * FROM "{name}"').fetchall()
            assert len(rows) == expected[name]
            parquet = f"SELECT * FROM read_parquet('{tmp_path}/all.parquet/{name}.parquet')"
            assert database.execute(parquet).fetchall() == rows
            with open(tmp_path / "all.csv" / f"{name}.csv", newline="") as file:
                assert len(list(csv.reader(file))) == len(rows) + 1
            lines = (tmp_path / "all.jsonl" / f"{name}.jsonl").read_text().splitlines()
            assert [tuple(json.loads(line).values()) for line in lines] == rows
            assert (tmp_path / "all.arrow" / f"{name}.arrow").stat().st_size
        assert database.execute("SELECT count(*) FROM register_at_draw").fetchall() != [(0,)]
        assert database.execute("SELECT DISTINCT tables FROM captures").fetchall() == [(SCHEMA,)]


@pytest.mark.parametrize("suffix", first_always(["csv", "jsonl", "parquet", "arrow"]))
def test_one_table_is_one_file(
    suffix: str, paths: list[Path], tmp_path: Path, run_cffpy: Run
) -> None:
    if suffix in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    output = tmp_path / f"draws.{suffix}"
    done = run_cffpy("export", paths[0], "-o", output, "--table", "draws")
    assert (done.returncode, done.stderr) == (0, b"")
    assert output.is_file()
    folder = tmp_path / f"folder.{suffix}"
    assert cffpy.export(paths[0], f"{folder}/", tables=["draws"])["draws"]
    assert (folder / f"draws.{suffix}").read_bytes() == output.read_bytes()


@pytest.mark.parametrize(
    "more", first_always([(), ("--table", "draws", "--table", "passes"), ("--all",)])
)
def test_several_tables_need_a_folder(
    more: tuple[str, ...], paths: list[Path], tmp_path: Path, run_cffpy: Run
) -> None:
    output = tmp_path / "x.parquet"
    done = run_cffpy("export", paths[0], "-o", output, *more)
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"name a folder, {output}/, or one table" in done.stderr.decode()
    assert not output.exists()
    done = run_cffpy("export", paths[0], "-o", f"{tmp_path}/x.duckdb/")
    assert b"a database is a file" in done.stderr


@pytest.mark.slow
def test_export_command(paths: list[Path], run_cffpy: Run, tmp_path: Path) -> None:
    output = tmp_path / "a.csv"
    done = run_cffpy("export", paths[0], "-o", f"{output}/")
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", b"")
    assert {one.stem for one in output.iterdir()} == set(DEFAULT_TABLES)
    assert b"exists already" in run_cffpy("export", paths[0], "-o", f"{output}/").stderr
    done = run_cffpy("export", paths[0], "-o", tmp_path / "b.txt")
    assert b"its suffix is not one of .csv" in done.stderr
    damaged = paths[0].parent / "damaged.rd.gz"
    done = run_cffpy("export", "missing.rd", damaged, "-o", f"{tmp_path}/c.csv/")
    assert done.returncode == 1
    assert b"missing.rd" in done.stderr
    assert len((tmp_path / "c.csv" / "problems.csv").read_text().splitlines()) > 1


@pytest.mark.slow
def test_hostile_names(paths: list[Path], tmp_path: Path) -> None:
    name = tmp_path / "a'; DROP TABLE draws; --\udcff\".rd"
    name.write_bytes(paths[2].read_bytes())
    found = list(cffpy.sql([name], "SELECT DISTINCT capture FROM draws"))
    assert found == [(str(name).encode("utf-8", "backslashreplace").decode(),)]
    cffpy.export([name], str(tmp_path / 'it\'s "x".duckdb'))
    cffpy.export([name], str(tmp_path / 'it\'s "x".csv') + "/")


@pytest.mark.parametrize("form", first_always([(), ("--csv",), ("--json",), ("--jsonl",)]))
def test_control_characters(form: tuple[str, ...], paths: list[Path], run_cffpy: Run) -> None:
    """Control characters of names and values do not reach the terminal."""
    select = "SELECT chr(27) || '[2J' || chr(8238) AS \"\x1b[31m\""
    done = run_cffpy("sql", *form, str(paths[2]), select)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    assert b"\\x1b[2J\\u202e" in done.stdout or b"\\u001b[2J\\u202e" in done.stdout


@pytest.mark.slow
def test_without_the_libraries(paths: list[Path], tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['duckdb'] = sys.modules['pyarrow'] = None\n"
        "from cffpy.__main__ import main; sys.exit(main())"
    )
    for arguments in (
        ("sql", paths[0], "SELECT 1"),
        ("export", paths[0], "-o", f"{tmp_path}/x.parquet/"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, check=False
        )
        assert done.returncode == 1
        assert b"pip install 'cffpy[data]'" in done.stderr
        assert done.stderr.count(b"\n") == 1


@pytest.mark.slow
def test_recipes() -> None:
    found = examples.page_examples(PAGE.replace("```text\n$ cffpy sql", "```console\n$ cffpy sql"))
    assert len(found) >= 15
    with examples.runner() as runner:
        for one in found:
            report = examples.mismatch(one, runner.run(one))
            assert not report, report


def test_captures_of_an_export_share_descriptions_and_walks(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters: descriptions are read once a generation; a walk has registers and bindings."""
    opened: list[str] = []
    walks: list[PassWalk] = []
    really_open, really_run = Database.open, PassWalk.run

    def counted(chip: str, directory: str | None = None) -> Database:
        opened.append(chip)
        return really_open(chip, directory)

    monkeypatch.setattr(Database, "open", counted)
    monkeypatch.setattr(PassWalk, "run", lambda walk: (walks.append(walk), really_run(walk))[1])
    captures = paths[:2] * 2
    cffpy.export(captures, f"{tmp_path}/out.csv/")
    assert len(opened) == len(set(opened))
    assert len(walks) == len(captures)


def test_queries_and_stream_out(samples: Path) -> None:
    paths = [samples / "a650-queries.rd"]
    query = (
        "SELECT kind, asked_by, c.name, c.value, first, last FROM queries q"
        " JOIN query_counters c USING (query) JOIN query_draws d USING (query)"
        " WHERE kind IN ('occlusion', 'stream-out') ORDER BY query, c.name"
    )
    assert list(cffpy.sql(paths, query)) == [
        ("stream-out", "program", "stream 0 primitives generated", 2, 0, 0),
        ("stream-out", "program", "stream 0 primitives written", 2, 0, 0),
        ("occlusion", "program", "samples passed", 5000, 1, 2),
    ]
    query = (
        "SELECT o.draw, o.register, o.buffer, b.address, b.stride FROM stream_outputs o"
        " JOIN stream_out_buffers b ON b.draw = o.draw AND b.stream_out_buffer = o.buffer"
        " WHERE o.pass = 0 AND b.pass = 0 ORDER BY o.location"
    )
    assert list(cffpy.sql(paths, query)) == [
        (0, "r2.x", 0, 0x100010000, 28),
        (0, "r0.w", 0, 0x100010000, 28),
        (0, "r1.z", 1, 0x100011000, 4),
    ]
