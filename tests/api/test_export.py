# SPDX-License-Identifier: MIT
"""Export: commands decode in a child process; large captures by two walks, with equal files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

import cffpy
from cffpy.api import export as exporting
from cffpy.errors import CffpyError, IntelFileError, UsageError
from cffpy.tables.child_process import run_in_child
from cffpy.tables.schema import TABLES
from cffpy.tables.spool import RowSpool
from cffpy.tables.writers import DuckDatabase
from tests.interrupts import take_interrupts
from tests.selection import first_always

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.tables.schema import Table

Run = Callable[..., subprocess.CompletedProcess[bytes]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no child process elsewhere")

NAMES = ("a430-depth-good", "a660-frame-gmem", "a660-textures", "damaged")


class Written:
    """A Writer that keeps what it is asked for."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[object, ...]]] = {}
        self.flushed: list[int] = []

    def write(self, table: Table, rows: Iterable[tuple[Any, ...]]) -> int:
        known = self.rows.setdefault(table.name, [])
        before = len(known)
        known += rows
        return len(known) - before

    def flush(self) -> None:
        self.flushed.append(sum(map(len, self.rows.values())))

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def paths(samples: Path) -> list[Path]:
    return [next(samples.glob(f"{name}.rd*")) for name in NAMES]


def test_a_spool_passes_on_all_rows() -> None:
    table = TABLES["submits"]
    rows = [("é\udcff", number, None, 1.5, True, 1 << 63) for number in range(5000)]
    expected, found = Written(), Written()
    with RowSpool() as spool:
        for writer in (expected, spool):
            assert writer.write(table, iter(rows)) == len(rows)
            writer.flush()
            assert writer.write(TABLES["tiles"], ()) == 0
            assert writer.write(table, rows[:1]) == 1
            writer.close()
        spool.pass_on(found)
    assert found.rows == expected.rows
    assert found.flushed == expected.flushed == [len(rows)]


def check_in_new_process(function: Callable[[], None]) -> None:
    """Run a test in a process without threads: libraries start some in the one of the tests."""
    code = f"from {__name__} import {function.__name__} as test; test(); print('done')"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_a_child_returns_and_raises() -> None:
    check_in_new_process(_returns_and_raises)


def _returns_and_raises() -> None:
    assert run_in_child(os.getpid) != os.getpid()

    def refuse(problem: BaseException) -> NoReturn:
        raise problem

    for problem in (UsageError("no such table"), OSError(28, "No space left"), MemoryError()):
        with pytest.raises(type(problem)) as found:
            run_in_child(partial(refuse, problem))
        assert str(found.value) == str(problem)
    with pytest.raises(KeyboardInterrupt):
        run_in_child(lambda: refuse(KeyboardInterrupt()))
    with pytest.raises(CffpyError, match="a file of Intel"):  # which cannot be pickled
        run_in_child(lambda: refuse(IntelFileError("a file of Intel", lambda: 0)))


def test_a_child_that_is_killed_is_one_error() -> None:
    check_in_new_process(_is_killed)


def _is_killed() -> None:
    with pytest.raises(CffpyError, match="ended by signal 9"):
        run_in_child(lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(CffpyError, match="ended with exit code 3"):
        run_in_child(lambda: os._exit(3))
    with pytest.raises(ChildProcessError):  # none is left
        os.waitpid(-1, os.WNOHANG)
    assert len(os.listdir("/proc/self/fd")) == 4  # three streams, and that of the folder


def test_beside_other_threads_nothing_is_forked() -> None:
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    try:
        assert run_in_child(os.getpid) == os.getpid()
    finally:
        end.set()
        other.join()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_child_ends_with_its_parent(end: signal.Signals) -> None:
    code = (
        "import os, sys, time\n"
        "from cffpy.cli.output import run_guarded\n"
        "from cffpy.tables.child_process import run_in_child\n"
        "def work():\n"
        "    print(os.getpid(), flush=True)\n"
        "    time.sleep(60)\n"
        "sys.exit(run_guarded(lambda: run_in_child(work)))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=take_interrupts,
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(end)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if end is signal.SIGINT else -end)
    assert errors == b""
    for _ in range(600):
        if not Path(f"/proc/{child}").exists():
            break
        time.sleep(0.01)
    else:
        pytest.fail("the child still runs")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", first_always(["parquet", "arrow", "csv", "jsonl"]))
def test_files_are_those_of_the_library(
    paths: list[Path], tmp_path: Path, run_cffpy: Run, suffix: str
) -> None:
    if suffix in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    folders = [tmp_path / f"{name}.{suffix}" for name in ("command", "library")]
    done = run_cffpy("export", "--all", *paths, "-o", f"{folders[0]}/")
    assert done.returncode == 1  # one is damaged
    assert b"damaged" in done.stderr
    cffpy.export(paths, f"{folders[1]}/", tables=TABLES)
    found, expected = ({one.name: one.read_bytes() for one in path.iterdir()} for path in folders)
    assert len(expected) == len(TABLES)
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("table", first_always(["registers", "problems", "packets"]))
def test_answers_are_those_of_the_library(paths: list[Path], run_cffpy: Run, table: str) -> None:
    pytest.importorskip("duckdb")
    query = f"SELECT * FROM {table}"
    done = run_cffpy("sql", "--json", *paths, query)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    del found["schema"]
    assert found["rows"]
    assert found == cffpy.sql(paths, query).to_dict()


@pytest.mark.slow
def test_rows_without_pyarrow(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB's own interface for rows, where it has one, and that of Arrow make the same tables."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    if not hasattr(duckdb.DuckDBPyConnection, "appender"):
        pytest.skip("this version of DuckDB has none")
    name = "\udcff\0é"
    found = []
    for has_appender in (True, False):
        monkeypatch.setattr("cffpy.tables.writers._has_appender", lambda _, has=has_appender: has)
        database = DuckDatabase()
        problems = [(name, "", None, 1 << 63, True), ("a", "b", "c", None, None)]
        database.write(TABLES["problems"], problems * 3)
        database.finish()
        rows = [database.connection.execute("SELECT * FROM problems").fetchall()]
        for table in TABLES:
            rows.append(list(cffpy.sql(paths, f"SELECT * FROM {table}")))
        found.append(rows)
    assert found[0] == found[1]
    assert len(found[0][0]) == 6
    assert found[0][0][0] == ("\\udcff\0é", "", None, 1 << 63, True)


def test_rows_are_compressed_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB holds few rows as they came, however many there are."""
    pytest.importorskip("duckdb")
    monkeypatch.setattr("cffpy.tables.writers._INSERTED", 4096)
    monkeypatch.setattr("cffpy.tables.writers._COMPRESSED", 16384)
    database = DuckDatabase()
    table = TABLES["shader_draws"]
    database.write(table, (("name", row % 7, row, row) for row in range(36864)))
    counts = database.connection.execute(
        "SELECT sum(count) FROM pragma_storage_info('shader_draws')"
        " WHERE column_name = 'shader' AND segment_type = 'BIGINT' GROUP BY"
        " compression = 'Uncompressed' ORDER BY compression = 'Uncompressed'"
    ).fetchall()
    assert counts == [(2 * 16384,), (4096,)]


def test_a_command_leaves_nothing(samples: Path, run_cffpy: Run, tmp_path: Path) -> None:
    """Errors are one line, and neither an output nor a temporary file is left."""
    pytest.importorskip("pyarrow")
    folder = tmp_path / "temporary"
    folder.mkdir()
    env = {"TMPDIR": str(folder)}
    output = f"{tmp_path}/a.parquet/"
    done = run_cffpy("export", tmp_path / "nothing", "-o", output, env=env)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    done = run_cffpy("sql", samples / "damaged.rd.gz", "SELECT nothing FROM draws", env=env)
    assert done.returncode == 1
    assert b"nothing" in done.stderr
    assert not [*folder.iterdir()]


def test_a_full_disk_is_one_line(samples: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "from cffpy.__main__ import main\n"
        "main()\n"
    )
    path = next(samples.glob("a660-frame-gmem.rd*"))
    arguments = ["export", str(path), "-o", f"{tmp_path}/out.parquet/"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "cffpy: error: the temporary file for rows: File too large\n"
    assert not [*tmp_path.iterdir()]


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
                    write.place.submit,
                    write.pass_index,
                    write.pipe,
                )
