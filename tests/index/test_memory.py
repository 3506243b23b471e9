# SPDX-License-Identifier: MIT
"""Memory of workers: they do without DuckDB, and it depends little on how much a task has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.corpus import make_corpus
from cffpy.index import part_writer
from cffpy.index.part_writer import TableFile
from cffpy.index.tables import LISTINGS

_TASKS = """
import resource, sys
from pathlib import Path
from cffpy.index.inputs import find_captures
from cffpy.index.model import Settings, Task
from cffpy.index.partition import build_part
from cffpy.index.worker_process import share_heap
share_heap()
files = tuple(find_captures([sys.argv[1]]).files)
for number, size in enumerate(map(int, sys.argv[3:])):
    assert build_part(Task(number, files[:size], sys.argv[2], Settings())).failed == 0
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print("duckdb" in sys.modules)
"""


def peaks(tmp_path: Path, *sizes: int) -> list[int]:
    """The peak memory in KiB after tasks of so many captures in one worker."""
    make_corpus([], tmp_path / "corpus", max(sizes))
    command = [sys.executable, "-c", _TASKS, str(tmp_path / "corpus"), str(tmp_path / "index")]
    done = subprocess.run([*command, *map(str, sizes)], capture_output=True, text=True)
    *found, has_duckdb = done.stdout.split()
    assert has_duckdb == "False", done.stderr
    return list(map(int, found))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB")
def test_memory_of_a_worker_is_flat(tmp_path: Path) -> None:
    first, *_, last = peaks(tmp_path, 50, 128, 256)
    assert last < 1.2 * first


def test_waiting_rows_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_writer, "_BYTES", 1 << 16)
    monkeypatch.setattr(part_writer, "_BATCH", 8)
    writer = part_writer.PartWriter(str(tmp_path / "part"), {})
    for number in range(40):
        writer.write(LISTINGS, [(f"{number}{row}", "x" * 1000) for row in range(10)])
        waiting = [one.waiting_bytes for one in vars(writer)["_files"].values()]
        assert sum(waiting) <= 1 << 16
    (file,) = vars(writer)["_files"].values()
    assert isinstance(file, TableFile)
    assert file.rows == 400
