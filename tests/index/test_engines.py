# SPDX-License-Identifier: MIT
"""Workers of one machine and of a cluster: the same index, also where workers die."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.index.engines import DaskEngine, LocalEngine
from cffpy.index.inputs import find_captures
from cffpy.index.model import CaptureFile, Settings, Task
from cffpy.index.worker_process import WorkerDied, WorkerProcess
from tests.index.test_build import QUERY, check_index, rows
from tests.index.workers import build_and_look, build_or_die, build_or_die_apart, fail_or_sleep

pytestmark = pytest.mark.slow


@pytest.fixture
def poisoned(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus with a capture that ends its worker."""
    shutil.copy(corpus / "a660-frame-gmem.rd", corpus / "poison.rd")
    monkeypatch.setattr("cffpy.index.engines.build_part", build_or_die)
    return corpus


def task_of(captures: list[Path], index: Path) -> Task:
    files = tuple(find_captures(captures).files)
    return Task(1, files, str(index), Settings())


def check_poisoned(index: Path, corpus: Path) -> None:
    entries = {Path(one.name).name: one for one in cffpy.open_index(index).files}
    assert "the worker that decoded it was killed" in str(entries["poison.rd"].error)
    healthy = sorted(path for path in corpus.iterdir() if path.name != "poison.rd")
    check_index(index, healthy)


def test_processes(corpus: Path, tmp_path: Path) -> None:
    report = cffpy.build_index([corpus], tmp_path / "index", jobs=2)
    assert (report.decoded, report.failed) == (3, 0)
    check_index(tmp_path / "index", sorted(corpus.iterdir()))


def test_a_capture_that_kills_its_worker(poisoned: Path, tmp_path: Path) -> None:
    report = cffpy.build_index([poisoned], tmp_path / "index", jobs=2)
    assert (report.decoded, report.failed) == (4, 1)
    check_poisoned(tmp_path / "index", poisoned)
    # it is tried again
    assert cffpy.build_index([poisoned], tmp_path / "index", jobs=1).decoded == 1


def test_a_worker_that_dies(tmp_path: Path) -> None:
    """With its task, or while it has none: nothing waits for it."""
    poison = CaptureFile("poison.rd", str(tmp_path / "none"), "", 0, 0, "")
    task = Task(1, (poison,), "", Settings())
    worker = WorkerProcess()
    worker.run(build_or_die, task)
    assert worker.outcome() is None  # it has started
    with pytest.raises(WorkerDied):
        worker.outcome()
    assert worker.task is task
    worker.run(build_or_die, task)
    with pytest.raises(WorkerDied):
        worker.outcome()
    worker.end()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")
def test_what_a_worker_and_its_processes_import(corpus: Path, tmp_path: Path) -> None:
    """What decodes does without libraries, and what writes without DuckDB."""
    worker = WorkerProcess()
    worker.run(build_and_look, task_of([corpus], tmp_path / "index"))
    worker.wait_until_started()
    with pytest.raises(cffpy.CaptureIndexError) as found:
        worker.outcome()
    assert str(found.value) == "[[], ['pyarrow']] []"
    worker.end()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")
def test_a_capture_that_kills_the_process_of_a_part(
    poisoned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cffpy.index.engines.build_part", build_or_die_apart)
    report = cffpy.build_index([poisoned], tmp_path / "index", jobs=2)
    assert (report.decoded, report.failed) == (4, 1)
    check_poisoned(tmp_path / "index", poisoned)


def test_what_a_task_raises() -> None:
    """It reaches the builder with the place where it was raised."""
    worker = WorkerProcess()
    worker.run(fail_or_sleep, Task(0, (), "", Settings()))
    assert worker.outcome() is None
    with pytest.raises(cffpy.CaptureIndexError, match="no space") as raised:
        worker.outcome()
    assert "in fail_or_sleep" in raised.value.__notes__[0]
    worker.end()


def test_a_build_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its workers end although they have tasks."""
    monkeypatch.setattr("cffpy.index.engines.build_part", fail_or_sleep)
    tasks = [Task(number, (), "", Settings()) for number in range(2)]
    begin = time.monotonic()
    with pytest.raises(cffpy.CaptureIndexError, match="no space"):
        list(LocalEngine(2).run(iter(tasks)))
    assert time.monotonic() - begin < 300


def children(pid: int) -> list[int]:
    """Processes below a process."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == pid:
            number = int(entry.name)
            found += [number, *children(number)]
    return found


def start(corpus: Path, index: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "cffpy", "index", "build", str(corpus), "-o", str(index)]
    return subprocess.Popen(
        [*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.fixture
def slow_corpus(shared: Path, tmp_path: Path) -> Path:
    """Captures of drivers, which take seconds."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for path in sorted((shared / "captures").glob("a6[135]*.rd.gz"))[:8]:
        shutil.copy(path, folder)
    return folder


def wait_for(condition: Any, process: subprocess.Popen[bytes]) -> Any:
    while process.poll() is None:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    return None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
def test_kill_9_of_a_worker(slow_corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    process = start(slow_corpus, index)
    # a worker that has begun a partition
    wait_for(lambda: list(index.glob("scratch/*")), process)
    workers = [pid for pid in children(process.pid) if not children(pid)]
    for pid in workers[-1:]:
        os.kill(pid, signal.SIGKILL)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert b"8 captures, 8 decoded (0 damaged), 0 failed" in output
    check_index(index, sorted(slow_corpus.iterdir()))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
def test_kill_9_of_the_builder(slow_corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    process = start(slow_corpus, index)
    wait_for(lambda: list(index.glob("journal/*")), process)
    below = children(process.pid)
    process.kill()
    process.communicate()
    # workers end with the builder
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in below)
    report = cffpy.build_index([slow_corpus], index, jobs=1)
    assert report.resumed + report.decoded == report.captures == 8
    assert report.resumed > 0
    check_index(index, sorted(slow_corpus.iterdir()))


def test_two_builders(slow_corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    process = start(slow_corpus, index)
    wait_for(lambda: list(index.glob("scratch/*")), process)
    with pytest.raises(cffpy.CaptureIndexError, match="another process builds this index"):
        cffpy.build_index([slow_corpus], index, jobs=0)
    output, _ = process.communicate(timeout=300)
    assert b"8 captures, 8 decoded" in output
    check_index(index, sorted(slow_corpus.iterdir()))


# -- Dask -----------------------------------------------------------------------------------------


@pytest.fixture
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    settings = {"distributed.scheduler.allowed-failures": 1}
    import dask

    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as found,
    ):
        yield found


def test_a_cluster_makes_the_same_index(corpus: Path, tmp_path: Path, cluster: Any) -> None:
    report = cffpy.build_index([corpus], tmp_path / "a", scheduler=cluster.scheduler_address)
    assert (report.decoded, report.failed) == (3, 0)
    cffpy.build_index([corpus], tmp_path / "b", jobs=0)
    for query in (QUERY, "SELECT * FROM register_values ORDER BY ALL"):
        assert rows(tmp_path / "a", query) == rows(tmp_path / "b", query)
    check_index(tmp_path / "a", sorted(corpus.iterdir()))


def test_a_capture_that_kills_workers_of_a_cluster(
    poisoned: Path,
    tmp_path: Path,
    cluster: Any,
) -> None:
    index = tmp_path / "index"
    report = cffpy.build_index([poisoned], index, scheduler=cluster.scheduler_address)
    assert (report.decoded, report.failed) == (4, 1)
    check_poisoned(index, poisoned)


def test_no_scheduler() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(cffpy.CaptureIndexError, match="no Dask scheduler"):
        DaskEngine("tcp://127.0.0.1:9", timeout=1)


def test_kill_9_of_the_scheduler(slow_corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    index = tmp_path / "index"
    scheduler = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(tmp_path / "scheduler.json"),
        ],
        stderr=subprocess.DEVNULL,
    )
    try:
        import json

        wait_for(lambda: (tmp_path / "scheduler.json").exists(), scheduler)
        address = json.loads((tmp_path / "scheduler.json").read_text())["address"]
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                address,
                "--nthreads",
                "1",
                "--no-dashboard",
                "--no-nanny",
                "--death-timeout",
                "10",
            ],
            stderr=subprocess.DEVNULL,
        )
        command = [sys.executable, "-m", "cffpy", "index", "build", str(slow_corpus)]
        builder = subprocess.Popen(
            [*command, "-o", str(index), "--scheduler", address], stderr=subprocess.PIPE
        )
        wait_for(lambda: list(index.glob("journal/*")), builder)
    finally:
        scheduler.kill()
        scheduler.wait()
    _, errors = builder.communicate(timeout=120)
    worker.kill()
    worker.wait()
    assert builder.returncode == 1
    assert b"the scheduler is gone" in errors
    assert b"Traceback" not in errors
    report = cffpy.build_index([slow_corpus], index, jobs=2)
    assert report.captures == 8
    assert report.resumed > 0
    check_index(index, sorted(slow_corpus.iterdir()))


@pytest.mark.slow
def test_a_script_without_a_guard_fails_at_once(samples: Path, tmp_path: Path) -> None:
    """Its workers would start the build again; they end before their first task."""
    files = [str(samples / f"{name}.rd") for name in ("a660-frame-gmem", "a430-depth-good")]
    script = tmp_path / "build.py"
    script.write_text(
        f"import cffpy\ncffpy.build_index({files!r}, {str(tmp_path / 'i.index')!r}, jobs=2)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "CaptureIndexError: worker processes cannot start: a script that builds" in done.stderr


_HEAPS = """
import ctypes, sys, threading
from cffpy.index.worker_process import share_heap
share_heap()
import pyarrow
print(pyarrow.default_memory_pool().backend_name)
kept = []
barrier = threading.Barrier(4)
def allocate():
    barrier.wait()
    kept.append(libc.malloc(4000))
    barrier.wait()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
threads = [threading.Thread(target=allocate) for _ in range(4)]
[one.start() for one in threads]
[one.join() for one in threads]
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's arenas")
def test_threads_of_a_worker_share_a_heap(tmp_path: Path) -> None:
    """With a heap for each thread the memory of a worker grew by half within 10,000 captures."""
    path = tmp_path / "heaps.xml"
    done = subprocess.run([sys.executable, "-c", _HEAPS, path], capture_output=True, text=True)
    assert done.stdout == "system\n", done.stderr
    assert path.read_text().count("<heap nr=") == 1
