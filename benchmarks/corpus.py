# SPDX-License-Identifier: MIT
"""Measures indexes: makes a corpus of N captures, builds an index of it, asks it questions.

    python -m benchmarks.corpus [CAPTURE]... --captures 100 1000 --jobs 1 2 --schedulers local:1

Each capture of the corpus is a sample of the project or one of those that are named, with a section
of text in front that makes its bytes distinct. Prints a table in Markdown; and, on standard
error, a JSON object for each build: captures/s and MB/s of wall-clock and of processor time, memory
of the workers, size of the index, seconds of each question.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cffpy
from cffpy.api.find import captures_in
from cffpy.container.open import open_capture

_SAMPLES = Path(__file__).resolve().parent.parent / "samples"
_TEXT_SECTION = 1  # RD_TEST

FILTERS = (
    "RB_DEPTH_CNTL.ZFUNC == FUNC_NEVER",
    "draw.vertices > 3 and pass.mode == gmem",
    "changed(RB_MRT[0].CONTROL)",
)
QUERIES = (
    "SELECT gpu, count(*) FROM captures GROUP BY gpu",
    "SELECT register, count(*) FROM register_values GROUP BY register ORDER BY 2 DESC LIMIT 10",
    "SELECT count(*) FROM register_at_draw WHERE register = 'RB_DEPTH_CNTL'",
)


def make_corpus(sources: list[str], folder: Path, count: int) -> int:
    """Write ``count`` captures; their bytes."""
    total = 0
    contents = [cffpy.compile(path.read_text()) for path in sorted(_SAMPLES.glob("*.pm4"))]
    contents += [bytes(open_capture(path).data) for path in captures_in(sources)]
    for number in range(count):
        text = f"capture {number:08d}\0".encode().ljust(20, b"\0")
        data = struct.pack("<II", _TEXT_SECTION, len(text)) + text
        data += contents[number % len(contents)]
        below = folder / f"{number // 1000:04d}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"{number:08d}.rd").write_bytes(data)
        total += len(data)
    return total


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Build the index and ask it; the results."""
    corpus, index = folder / "corpus", folder / "index"
    size = make_corpus(arguments.sources, corpus, arguments.captures)
    how = {"scheduler": arguments.scheduler} if arguments.scheduler else {"jobs": arguments.jobs}
    report = cffpy.build_index([corpus], index, **how)
    files = cffpy.open_index(index).files
    busy = sum(entry.seconds for entry in files)
    memory = [entry.memory for entry in files]
    begin = time.monotonic()
    cffpy.build_index([corpus], index, jobs=1)
    unchanged = time.monotonic() - begin
    opened = cffpy.open_index(index)
    return {
        "captures": arguments.captures,
        "workers": arguments.scheduler or arguments.jobs,
        "load": os.getloadavg()[0],
        "megabytes": round(size / 1e6, 1),
        "failed": report.failed,
        "elapsed": report.elapsed,
        "captures_per_second": round(arguments.captures / report.elapsed, 2),
        "megabytes_per_second": round(size / 1e6 / report.elapsed, 3),
        "processor_seconds": round(report.seconds, 2),
        "processor_ms_per_capture": round(1000 * report.seconds / arguments.captures, 2),
        "decoding_ms_per_capture": round(1000 * busy / arguments.captures, 2),
        "worker_megabytes_most": round(max(memory) / 1e6, 1),
        "worker_megabytes_median": round(sorted(memory)[len(memory) // 2] / 1e6, 1),
        "worker_megabytes_curve": memory_curve(memory),
        "index_megabytes": round(size_of(index) / 1e6, 2),
        "index_files": sum(1 for path in index.rglob("*") if path.is_file()),
        "partitions": len(opened.parts),
        "build_without_changes": round(unchanged, 3),
        "find": {where: timed(lambda: list(opened.find(where))) for where in FILTERS},  # noqa: B023
        "sql": {query: timed(lambda: list(opened.sql(query))) for query in QUERIES},  # noqa: B023
    }


def memory_curve(memory: list[int]) -> dict[int, float]:
    """The peak memory in MB by the number of captures: of one worker, whose peak never falls."""
    ordered = sorted(memory)
    counts = [1, *(10**power * first for power in range(1, 7) for first in (1, 3)), len(ordered)]
    return {count: round(ordered[count - 1] / 1e6, 1) for count in counts if count <= len(ordered)}


def timed(action: object) -> dict[str, float]:
    """Seconds of wall-clock and processor time: the best of three."""
    times = []
    for _ in range(3):
        begin, processor = time.monotonic(), time.process_time()
        action()  # type: ignore[operator]
        times.append((time.monotonic() - begin, time.process_time() - processor))
    elapsed, processor = min(times)
    return {"elapsed": round(elapsed, 3), "processor": round(processor, 3)}


#: Rows of the table: title, and the text of a result.
ROWS: tuple[tuple[str, Callable[[dict[str, Any]], object]], ...] = (
    ("captures/s", lambda one: one["captures_per_second"]),
    ("MB/s, raw", lambda one: one["megabytes_per_second"]),
    ("seconds", lambda one: one["elapsed"]),
    (
        "processor time a capture, all that tasks do, ms",
        lambda one: one["processor_ms_per_capture"],
    ),
    (
        "memory of a worker: median, most, MB",
        lambda one: f"{one['worker_megabytes_median']}, {one['worker_megabytes_most']}",
    ),
    (
        "index: size in MB, partitions",
        lambda one: f"{one['index_megabytes']}, {one['partitions']}",
    ),
    ("build without changes, s", lambda one: one["build_without_changes"]),
    ("`find`, s", lambda one: slowest(one["find"])),
    ("SQL, s", lambda one: slowest(one["sql"])),
    ("load", lambda one: round(one["load"], 1)),
)


def slowest(times: dict[str, dict[str, float]]) -> float:
    """The wall-clock time of the slowest question."""
    return max(one["elapsed"] for one in times.values())


def table(results: list[dict[str, Any]]) -> Iterator[str]:
    """A table in Markdown with a column for each result."""
    for title, key in (("N", "captures"), ("workers", "workers")):
        yield f"| {title} | {' | '.join(str(one[key]) for one in results)} |"
        if key == "captures":
            yield f"| --- |{' ---: |' * len(results)}"
    for title, text in ROWS:
        yield f"| {title} | {' | '.join(str(text(one)) for one in results)} |"


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure in a new folder, which is deleted."""
    folder = Path(arguments.folder)
    folder.mkdir()
    try:
        if not (arguments.scheduler or "").startswith("local:"):
            return measure(arguments, folder)
        from distributed import LocalCluster

        workers = int(arguments.scheduler.partition(":")[2])
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as cluster:
            with_address = {**vars(arguments), "scheduler": cluster.scheduler_address}
            found = measure(argparse.Namespace(**with_address), folder)
            return {**found, "workers": f"Dask {workers}"}
    finally:
        shutil.rmtree(folder)


def main() -> None:
    """Measure each number of captures with each number of workers, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sources", nargs="*", help="more captures, or folders with captures")
    parser.add_argument("--captures", type=int, nargs="+", default=[100])
    parser.add_argument("--jobs", type=int, nargs="*", default=[1])
    parser.add_argument(
        "--schedulers", nargs="*", default=[], help="addresses of Dask schedulers, or 'local:N'"
    )
    parser.add_argument("--folder", default="corpus-benchmark", help="is made and deleted")
    given = vars(parser.parse_args())
    results = []
    for captures in given["captures"]:
        engines = [(jobs, None) for jobs in given["jobs"]]
        engines += [(None, scheduler) for scheduler in given["schedulers"]]
        for jobs, scheduler in engines:
            how = {**given, "captures": captures, "jobs": jobs, "scheduler": scheduler}
            results.append(run(argparse.Namespace(**how)))
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
