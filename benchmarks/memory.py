# SPDX-License-Identifier: MIT
"""Peak memory of each command that reads captures, compared with 1.5 times the capture and 60 MB.

    python benchmarks/memory.py [CAPTURE...] [--only "report;index build"] [--json]

Default captures: the five of ../shared (CFFPY_SHARED) that are largest when decompressed. Each
command runs once as a process, its output in a file. The limit is 1.5 times the decompressed
capture and 60 MB; of ``diff``, which compares a capture with itself, 2 times both and 100 MB. Of
``index build``, the figure is that of the command, not of its worker, which takes more. The
first table has what a process needs before it reads a capture: Python, cffpy's command line, and
libraries that make one small table, where they are installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from benchmarks.analyses import (  # noqa: E402
    MEGABYTE,
    facts_in_process,
    run,
    run_python,
    shared_captures,
)
from benchmarks.report import machine, machine_line, print_json, print_table  # noqa: E402

SCHEMA, VERSION = "cffpy-memory", 1

#: Name -> arguments. "{folder}" is an empty folder, "{text}" the decompiled capture.
COMMANDS: dict[str, list[str]] = {
    "info": ["info", "{capture}"],
    "dump": ["dump", "{capture}"],
    "passes": ["passes", "{capture}"],
    "draws --json": ["draws", "--json", "{capture}"],
    "state": ["state", "--at", "{draw}", "{capture}"],
    "tiles": ["tiles", "--json", "--pass", "{pass}", "{capture}"],
    "vsc": ["vsc", "--pass", "{pass}", "{capture}"],
    "check": ["check", "{capture}"],
    "lrz": ["lrz", "{capture}"],
    "find": ["find", "draw.vertices > 100", "{capture}"],
    "lines": ["lines", "{capture}"],
    "shaders": ["shaders", "{capture}"],
    "report": ["report", "-o", "{folder}/page.html", "{capture}"],
    "export, DuckDB": ["export", "-o", "{folder}/tables.duckdb", "{capture}"],
    "export, Parquet": ["export", "-o", "{folder}/tables.parquet/", "{capture}"],
    "export, CSV": ["export", "-o", "{folder}/tables.csv/", "{capture}"],
    "sql": ["sql", "{capture}", "SELECT count(*) FROM draws"],
    "sql, registers": ["sql", "{capture}", "SELECT count(*) FROM registers"],
    "index build": ["index", "build", "--jobs", "1", "-o", "{folder}/index", "{capture}"],
    "decompile": ["decompile", "-o", "{text}", "{capture}"],
    "compile": ["compile", "-o", "{folder}/compiled.rd.gz", "{text}"],
    "edit": ["edit", "--nop-draw", "#0", "-o", "{folder}/edited.rd.gz", "{capture}"],
    "repair": ["repair", "-o", "{folder}/repaired.rd.gz", "{capture}"],
    "diff": ["diff", "{capture}", "{capture}"],
}

#: What a process of Python needs before it reads a capture.
LIBRARIES = {
    "python": "pass",
    "cffpy": "import cffpy.cli.main",
    "pyarrow": "import pyarrow.parquet as p, pyarrow as a, io; "
    "p.write_table(a.table({'n': [1]}), io.BytesIO())",
    "duckdb": "import duckdb; duckdb.connect().execute('CREATE TABLE t (n INTEGER)')",
    "duckdb, pyarrow": "import duckdb, pyarrow as a; t = a.table({'n': [1]}); "
    "duckdb.connect().execute('CREATE TABLE u AS SELECT * FROM t')",
}

HEADS = ["command", "s", "MB", "limit MB", ""]


def measure(path: str, names: list[str]) -> dict[str, Any]:
    """Each command that makes sense for the capture, once."""
    facts = facts_in_process(path)
    raw = int(facts["raw"])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        facts["text"] = os.path.join(folder, "capture.pm4")
        for name in names:
            facts["folder"] = os.path.join(folder, "out")
            os.mkdir(facts["folder"])
            try:
                arguments = [argument.format(**facts) for argument in COMMANDS[name]]
            except KeyError:
                continue  # no tiles, no draws
            else:
                seconds, peak, code = run(arguments)
            finally:
                shutil.rmtree(facts["folder"])
            limit = 4 * raw + 100e6 if name == "diff" else 1.5 * raw + 60e6
            rows.append(
                {
                    "command": name,
                    "seconds": seconds,
                    "peak_bytes": peak,
                    "limit_bytes": int(limit),
                    "exit_code": code,
                }
            )
    return {"capture": os.path.basename(path), "raw_bytes": raw, "commands": rows}


def _cells(row: dict[str, Any]) -> list[str]:
    notes = []
    if row["peak_bytes"] > row["limit_bytes"]:
        notes.append("large")
    if row["exit_code"]:
        notes.append(f"exit code {row['exit_code']}")
    return [
        row["command"],
        f"{row['seconds']:.2f}",
        f"{row['peak_bytes'] / MEGABYTE:.0f}",
        f"{row['limit_bytes'] / MEGABYTE:.0f}",
        ", ".join(notes),
    ]


def largest_captures(count: int) -> list[str]:
    """The captures of ../shared with most bytes when decompressed, as gzip says (modulo 4 GiB)."""
    sizes = []
    for path in shared_captures():
        if path.endswith(".gz") and os.path.getsize(path) > 4:
            with open(path, "rb") as file:
                file.seek(-4, os.SEEK_END)
                sizes.append((int.from_bytes(file.read(), "little"), path))
    return [path for _, path in sorted(sizes, reverse=True)[:count]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("capture", nargs="*", help="by default the five largest of ../shared")
    parser.add_argument("--only", default="", help="only these commands")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    arguments = parser.parse_args()
    chosen = set(arguments.only.split(";") if arguments.only else COMMANDS)
    if "compile" in chosen:
        chosen.add("decompile")
    if unknown := chosen - set(COMMANDS):
        parser.error(f"unknown commands: {'; '.join(sorted(unknown))}")
    names = [name for name in COMMANDS if name in chosen]
    libraries = {}
    for name, code in LIBRARIES.items():
        _, peak, exit_code = run_python(["-c", code])
        if not exit_code:
            libraries[name] = peak
    paths = arguments.capture or largest_captures(5)
    results = [measure(path, names) for path in paths]
    facts = machine()
    if arguments.json:
        content = {"machine": facts, "libraries": libraries, "captures": results}
        print_json(SCHEMA, VERSION, content)
        return
    print(f"{machine_line(facts)}\n")
    cells = [[name, f"{peak / MEGABYTE:.0f}"] for name, peak in libraries.items()]
    print_table(["before any capture", "MB"], cells)
    for result in results:
        print(f"{result['capture']}, {result['raw_bytes'] / MEGABYTE:.1f} MB:\n")
        print_table(HEADS, [_cells(row) for row in result["commands"]])


if __name__ == "__main__":
    main()
