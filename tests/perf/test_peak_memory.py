# SPDX-License-Identifier: MIT
"""Peak memory of commands: a capture is held once, and what is written is not collected before.

A large capture is a small one with a buffer of data that no command refers to. So a command may
need, beyond what it needs for the small one, little more than the bytes of that buffer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

import cffpy
from benchmarks.synthetic import draws_capture
from cffpy.container.open import open_capture
from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.writer import buffer_sections, capture_bytes, gzip_bytes

pytestmark = [
    pytest.mark.perf,
    pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux"),
]

#: Bytes of the buffer, and what a command may need for each.
SIZE, MOST = 24 << 20, 1.5
#: Prints the peak memory of a command. On Linux a process begins with the peak of its parent, which
#: therefore must not be the process of the tests.
LAUNCHER = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""

#: Arguments of commands; {0} is the capture, {1} its text, {2} a folder for what is written.
COMMANDS = {
    "info": "info {0}",
    "dump": "dump {0}",
    "passes": "passes {0}",
    "draws": "draws --json {0}",
    "check": "check {0}",
    "find": "find draw.vertices>5 {0}",
    "lines": "lines {0}",
    "report": "report -o {2}/page.html {0}",
    "export": "export -o {2}/tables.csv/ {0}",
    "export, JSON lines": "export -o {2}/tables.jsonl/ {0}",
    "export, Parquet": "export -o {2}/tables.parquet/ {0}",
    "export, DuckDB": "export -o {2}/tables.duckdb {0}",
    "edit": "edit --nop-draw #0 -o {2}/edited.rd.gz {0}",
    "repair": "repair -o {2}/repaired.rd.gz {0}",
    "decompile": "decompile -o {2}/text.pm4 {0}",
    "compile": "compile -o {2}/compiled.rd.gz {1}",
}


def padded(data: bytes, size: int) -> bytes:
    """A capture with one more buffer: ``size`` bytes, whose dwords repeat after 16 KiB."""
    first = next(one for one in iter_sections(memoryview(data)) if one.type == SectionType.GPUADDR)
    contents = array("I", range(0x3F000000, 0x3F001000)).tobytes() * (size >> 14)
    buffer = capture_bytes(buffer_sections(0x7F0000000, contents))
    return data[: first.offset] + buffer + data[first.offset :]


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """A small and a large capture, and the texts of both."""
    folder = tmp_path_factory.mktemp("memory")
    found = []
    for name, size in (("small", 1 << 14), ("large", SIZE)):
        path, text = folder / f"{name}.rd.gz", folder / f"{name}.pm4"
        path.write_bytes(gzip_bytes(padded(draws_capture(50, distinct=True), size)))
        arguments = ["decompile", "-o", str(text), str(path)]
        subprocess.run([sys.executable, "-m", "cffpy", *arguments], check=True)
        found.append((str(path), str(text)))
    return found


def peak(command: str, capture: tuple[str, str], folder: Path, expected: int = 0) -> int:
    folder.mkdir()
    arguments = [one.format(*capture, folder) for one in command.split(" ")]
    return peak_of(["-m", "cffpy", *arguments], expected)


def peak_of(arguments: list[str], expected: int = 0) -> int:
    """Of Python with arguments, and of the processes for which it has waited: the largest one."""
    launched = [sys.executable, "-c", LAUNCHER, sys.executable, *arguments]
    found = subprocess.run(launched, check=True, capture_output=True, text=True)
    code, size = map(int, found.stdout.split())
    assert code == expected, found.stderr
    return size


@pytest.mark.parametrize("name", COMMANDS)
def test_a_capture_is_in_memory_once(
    name: str, captures: list[tuple[str, str]], tmp_path: Path
) -> None:
    if name in ("export, Parquet", "export, DuckDB"):
        need_libraries()
    small, large = (
        peak(COMMANDS[name], capture, tmp_path / str(number))
        for number, capture in enumerate(captures)
    )
    assert large - small < MOST * SIZE, f"{small / 1e6:.0f} and {large / 1e6:.0f} MB"


#: Commands that need libraries, which take most of what the limit allows.
TABLES = {
    "Parquet": "export -o {2}/tables.parquet/ {0}",
    "DuckDB": "export -o {2}/tables.duckdb {0}",
    "CSV": "export -o {2}/tables.csv/ {0}",
    "draws": 'sql {0} SELECT(count(*))FROM"draws"',
    "registers": 'sql {0} SELECT(count(*))FROM"registers"',
    "report": "report -o {2}/page.html {0}",
    "index": "index build --jobs 1 -o {2}/index {0}",
}
#: What a worker of ``index build`` does: arguments are an index and a capture.
WORKER = """
import sys
from cffpy.index.inputs import find_captures
from cffpy.index.model import Settings, Task
from cffpy.index.partition import build_part
from cffpy.index.worker_process import share_heap
from cffpy.tables.child_process import run_in_child
share_heap()
task = Task(1, tuple(find_captures(sys.argv[2:]).files), sys.argv[1], Settings())
assert build_part(task, run_in_child).failed == 0
"""


#: Libraries that these commands import.
LIBRARIES = ("_duckdb", "numpy", "pyarrow")


def need_libraries() -> None:
    """Skip where they are missing. They are not imported: see ``as_read_from_disk``."""
    for name in LIBRARIES:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")


def shared_objects() -> Iterator[Path]:
    for name in LIBRARIES:
        found = find_spec(name)
        if found is not None and found.origin is not None:
            is_package = bool(found.submodule_search_locations)
            path = Path(found.origin)
            yield from path.parent.rglob("*.so*") if is_package else [path]


#: Imports pyarrow, and prints the bytes of files that the process has mapped then.
IMPORTER = """
import pyarrow.parquet
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["RssFile"].split()[0]) * 1024)
"""
#: More bytes are mapped only of large pieces: 41 to 45 MB are without them, 70 to 75 with them.
MOST_MAPPED = 55e6


def as_read_from_disk() -> None:
    """Have the system drop the libraries' files from its cache; skip where it keeps them.

    After an installation they are there in large pieces, and all of a piece is mapped where a page
    is needed: 33 MB more of pyarrow, and 18 of DuckDB, count as memory of a process. What is
    mapped at that time stays, so this process must not import them.
    """
    for path in shared_objects():
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
    imported = subprocess.run([sys.executable, "-c", IMPORTER], check=True, capture_output=True)
    if int(imported.stdout) > MOST_MAPPED:
        pytest.skip("the system keeps large pieces of the libraries' files in its cache")


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_a_large_capture(name: str, shared: Path, tmp_path: Path) -> None:
    """At most 1.5 times a decompressed capture and 60 MB."""
    check_large_capture(shared, lambda path: peak(TABLES[name], (path, ""), tmp_path / "out"))


@pytest.mark.slow
def test_a_worker_with_a_large_capture(shared: Path, tmp_path: Path) -> None:
    """The same; the command has not waited for the processes of its worker."""
    index = str(tmp_path / "index")
    check_large_capture(shared, lambda path: peak_of(["-c", WORKER, index, path]))


def check_large_capture(shared: Path, peak_with: Callable[[str], int]) -> None:
    need_libraries()
    if int(version("duckdb").partition(".")[0]) < 2:
        pytest.skip("this version of DuckDB needs pyarrow as well")
    path = shared / "captures" / "BIG-a730-vk-scene5000-720p-sysmem-4frames-full.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    as_read_from_disk()
    most = 1.5 * len(open_capture(str(path)).data) + 60e6
    size = peak_with(str(path))
    assert size <= most, f"{size / 1e6:.0f} of {most / 1e6:.0f} MB"


def test_diff_of_compressed_captures(shared: Path, tmp_path: Path) -> None:
    """At most 3 times a decompressed capture and 150 MB."""
    good = shared / "captures" / "BIG-a730-vk-scene5000-720p-sysmem-4frames-full.rd.gz"
    if not good.exists():
        pytest.skip(f"{good.name} is not among the captures")
    bad = tmp_path / "bad.rd.gz"
    capture = cffpy.open(good)
    edited = cffpy.edit(capture, set_registers={"RB_DEPTH_CNTL.ZFUNC": "FUNC_ALWAYS"})
    bad.write_bytes(gzip_bytes(edited))
    size = peak("diff {0} {1}", (str(good), str(bad)), tmp_path / "diff", expected=1)
    assert size <= 3 * len(capture.data) + 150e6, f"{size / 1e6:.0f} MB"
