# SPDX-License-Identifier: MIT
"""Decodes captures and measures each stage.

    python benchmarks/run.py [CAPTURE...] [--runs N] [--options "-s --once"] [--json]

Default captures: the samples. Each is decoded N times (3) in separate processes; the best value of
each stage counts. In milliseconds of CPU time, which depends little on other work on the machine:

- import: the modules that ``cffpy dump`` imports;
- open: reading and decompressing;
- database: opening the compiled descriptions of the generation (part of the two that follow);
- state: running all commands without text, whatever the options;
- text: running them and producing the text, which is discarded;
- CPU: the whole command ``cffpy dump`` with output to a file, including the start of Python; wall:
  the same in real time; memory: its peak.

MB/s are text and raw (decompressed) bytes by the stage ``text``; recorded and replayed are
segments, see cffpy/cp/segment.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from benchmarks.report import machine, machine_line, print_json, print_table  # noqa: E402

SCHEMA, VERSION = "cffpy-benchmark", 1

STAGES = ("import", "open", "database", "state", "text")
HEADS = [
    "capture",
    "raw MB",
    "text MB",
    *STAGES,
    "CPU",
    "wall",
    "memory MB",
    "text MB/s",
    "raw MB/s",
    "recorded",
    "replayed",
]


# -- in a separate process ------------------------------------------------------------------------


def measure_stages(path: str, options: list[str]) -> dict[str, Any]:
    """Seconds of each stage, sizes and counters, measured in this process."""
    seconds: dict[str, float] = {}
    started = time.process_time()

    def stage(name: str) -> None:
        nonlocal started
        seconds[name] = time.process_time() - started
        started = time.process_time()

    import gc

    gc.disable()  # as cffpy dump does
    from cffpy.cli.dump_options import parse
    from cffpy.container.open import open_capture
    from cffpy.views.cffdump.dump import Dump
    from cffpy.views.cffdump.options import DumpOptions

    stage("import")
    content = open_capture(path)
    stage("open")

    from cffpy.cp.session import Session
    from cffpy.cp.sink import NullSink

    started = time.process_time()
    session = Session(NullSink(), warn=lambda line: None)
    session.run(content)
    stage("state")

    text_bytes = 0

    def count(piece: bytes) -> None:
        nonlocal text_bytes
        text_bytes += len(piece)

    settings, _ = parse([*options, path])
    dump = Dump(DumpOptions(**settings), count, lambda line: None)
    started = time.process_time()
    dump.begin(path)
    dump.file(content)
    stage("text")

    from cffpy.regdb.database import Database

    gpu = getattr(session.machine, "gpu", None)  # absent where no submit was run
    started = time.process_time()
    if gpu is not None:
        Database.open(gpu.chip)
    stage("database")
    return {
        "seconds": seconds,
        "raw_bytes": len(content.data),
        "text_bytes": text_bytes,
        "segments_recorded": dump.machine.segments.recorded,
        "segments_replayed": dump.machine.segments.replayed,
    }


# -- the processes --------------------------------------------------------------------------------


def run_stages(path: str, options: list[str]) -> dict[str, Any]:
    """What ``measure_stages`` says, in a new process."""
    command = [sys.executable, os.path.abspath(__file__), "--in-process", path, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def run_command(path: str, options: list[str]) -> tuple[float, float | None, int | None]:
    """Wall seconds, CPU seconds and peak bytes of ``cffpy dump`` into a file."""
    # the stages are those of one process
    environment = {**os.environ, "PYTHONPATH": ROOT, "CFFPY_PROCESSES": "1"}
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "cffpy", "dump", *options, path],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        if not hasattr(os, "wait4"):
            process.wait()
            return time.perf_counter() - start, None, None
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def measure(path: str, options: list[str], runs: int) -> dict[str, Any]:
    """The best of ``runs`` of everything, for one capture."""
    stages = [run_stages(path, options) for _ in range(runs)]
    commands = [run_command(path, options) for _ in range(runs)]
    result = dict(stages[0])
    result["capture"] = os.path.basename(path)
    result["seconds"] = {name: min(one["seconds"][name] for one in stages) for name in STAGES}
    result["command_seconds"] = min(row[0] for row in commands)
    result["command_cpu_seconds"] = min((row[1] for row in commands if row[1]), default=None)
    result["command_peak_bytes"] = min((row[2] for row in commands if row[2]), default=None)
    return result


# -- what is shown --------------------------------------------------------------------------------


def _cells(row: dict[str, Any]) -> list[str]:
    seconds = row["seconds"]
    cpu, peak = row["command_cpu_seconds"], row["command_peak_bytes"]
    return [
        row["capture"].removesuffix(".gz").removesuffix(".rd"),
        f"{row['raw_bytes'] / 1e6:.2f}",
        f"{row['text_bytes'] / 1e6:.2f}",
        *(f"{seconds[name] * 1000:.0f}" for name in STAGES),
        "-" if cpu is None else f"{cpu * 1000:.0f}",
        f"{row['command_seconds'] * 1000:.0f}",
        "-" if peak is None else f"{peak / 1e6:.0f}",
        f"{row['text_bytes'] / seconds['text'] / 1e6:.1f}",
        f"{row['raw_bytes'] / seconds['text'] / 1e6:.1f}",
        f"{row['segments_recorded']:,}",
        f"{row['segments_replayed']:,}",
    ]


def samples(folder: str) -> list[str]:
    """The project's samples, compiled into ``folder``."""
    from cffpy.pm4asm.assemble import assemble

    texts = os.path.join(ROOT, "samples")
    paths = []
    for name in sorted(os.listdir(texts)):
        if name.endswith(".pm4"):
            paths.append(os.path.join(folder, name.replace(".pm4", ".rd")))
            with open(os.path.join(texts, name), "rb") as text, open(paths[-1], "wb") as file:
                file.write(assemble(text, name))
    return paths


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--in-process"]:
        json.dump(measure_stages(sys.argv[2], sys.argv[3:]), sys.stdout)
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("capture", nargs="*", help="by default the samples")
    parser.add_argument("--runs", type=int, default=3, help="the best of N counts (3)")
    parser.add_argument("--options", default="", help='options of dump, such as "-s --once"')
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    arguments = parser.parse_args()
    options = shlex.split(arguments.options)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.capture or samples(folder):
            if not os.path.isfile(path):
                parser.error(f"no file {path}")
            rows.append(measure(path, options, max(1, arguments.runs)))
    facts = machine()
    if arguments.json:
        content = {"machine": facts, "runs": arguments.runs, "options": options}
        print_json(SCHEMA, VERSION, {**content, "captures": rows})
        return
    print(
        f"{machine_line(facts)}; best of {arguments.runs}; options: {arguments.options or 'none'}\n"
    )
    print_table(HEADS, [_cells(row) for row in rows])


if __name__ == "__main__":
    main()
