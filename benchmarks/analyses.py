# SPDX-License-Identifier: MIT
"""The analyses compared with ``cffpy dump``: CPU time and peak memory of whole commands.

    python benchmarks/analyses.py [CAPTURE...] [--runs N] [--only passes,draws] [--json]

Default captures: the largest of ../shared (CFFPY_SHARED). Each command runs N times (3) with its
output in a file. The seconds are CPU seconds (user and system) of the run that took least, Python's
start included. A ratio is that to the time of ``dump``; a command misses its target if the ratio is
larger. ``state`` is of the last draw of the first pass with draws, so that the dump of the part up
to it is not measured: its ratio is to the whole dump. Peak memory is compared with 1.5 times the
decompressed capture and 60 MB; of ``diff``, which compares a capture with itself, with 2 times both
and 100 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from benchmarks.report import machine, machine_line, print_json, print_table  # noqa: E402

SCHEMA, VERSION = "cffpy-analyses", 1

#: Name -> arguments in front of the capture, and the ratio to the dump that it should not exceed.
COMMANDS: dict[str, tuple[list[str], float | None]] = {
    "dump": (["dump"], None),
    "passes": (["passes"], 0.3),
    "draws": (["draws", "--json"], 0.7),
    "state": (["state", "--at", "{draw}"], 0.3),
    "tiles": (["tiles", "--json", "--pass", "{pass}"], 0.5),
    "vsc": (["vsc", "--pass", "{pass}"], 0.5),
    "diff": (["diff", "{capture}"], 0.5),
}

HEADS = ["command", "s", "ratio", "target", "MB", "limit MB", ""]

MEGABYTE = 1e6


def run(arguments: list[str]) -> tuple[float, int, int]:
    """CPU seconds, peak bytes and exit code of a command; its output goes to a file."""
    return run_python(["-m", "cffpy", *arguments])


def run_python(arguments: list[str]) -> tuple[float, int, int]:
    """As ``run``, of Python with these arguments."""
    # CPU time of a dump by two processes would be more
    environment = {**os.environ, "PYTHONPATH": ROOT, "CFFPY_PROCESSES": "1"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, process.returncode


def facts_of(path: str) -> dict[str, str]:
    """What the commands ask for: a pass with tiles, and a draw of the program."""
    from cffpy.analysis.queries import find_passes
    from cffpy.container.open import open_capture

    content = open_capture(path)
    finder, _ = find_passes(content, lambda line: None)
    passes = finder.found.passes
    tiled = next((one.index for one in passes if one.tiles), None)
    drawn = next((one for one in passes if one.draws), None)
    facts = {"capture": path, "raw": str(len(content.data))}
    if tiled is not None:
        facts["pass"] = str(tiled)
    if drawn is not None:
        facts["draw"] = f"p{drawn.index}:{len(drawn.draws) - 1}"
    return facts


def facts_in_process(path: str) -> dict[str, str]:
    """``facts_of`` in a process that ends: the peak of a process counts what it was forked from."""
    command = [sys.executable, os.path.abspath(__file__), "--facts", path]
    facts: dict[str, str] = json.loads(subprocess.check_output(command))
    return facts


def measure(path: str, names: list[str], runs: int) -> dict[str, Any]:
    """The best of ``runs`` of each command that makes sense for the capture."""
    facts = facts_in_process(path)
    raw = int(facts["raw"])
    rows = []
    for name in names:
        arguments, target = COMMANDS[name]
        try:
            arguments = [argument.format(**facts) for argument in arguments]
        except KeyError:
            continue  # no tiles, no draws
        best = min(run([*arguments, path]) for _ in range(runs))
        limit = 4 * raw + 100e6 if name == "diff" else 1.5 * raw + 60e6
        rows.append(
            {
                "command": name,
                "seconds": best[0],
                "target": target,
                "peak_bytes": best[1],
                "limit_bytes": int(limit),
                "exit_code": best[2],
            }
        )
    for row in rows:
        row["ratio"] = row["seconds"] / rows[0]["seconds"]
    return {"capture": os.path.basename(path), "raw_bytes": raw, "commands": rows}


def _cells(row: dict[str, Any]) -> list[str]:
    misses = []
    if row["target"] is not None and row["ratio"] > row["target"]:
        misses.append("slow")
    if row["peak_bytes"] > row["limit_bytes"]:
        misses.append("large")
    return [
        row["command"],
        f"{row['seconds']:.2f}",
        f"{row['ratio']:.2f}",
        "-" if row["target"] is None else f"{row['target']:.2f}",
        f"{row['peak_bytes'] / MEGABYTE:.0f}",
        f"{row['limit_bytes'] / MEGABYTE:.0f}",
        ", ".join(misses),
    ]


def shared_captures(start: str = "") -> list[str]:
    """The captures of ../shared whose names start so."""
    shared = os.environ.get("CFFPY_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
    folder = os.path.join(shared, "captures")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [
        os.path.join(folder, name)
        for name in names
        if name.startswith(start) and not name.endswith(".json")
    ]


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--facts"]:
        json.dump(facts_of(sys.argv[2]), sys.stdout)
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("capture", nargs="*", help="by default the largest of ../shared")
    parser.add_argument("--runs", type=int, default=3, help="the best of N counts (3)")
    parser.add_argument("--only", default="", help="only these commands, besides dump")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    arguments = parser.parse_args()
    chosen = {"dump", *(arguments.only.split(",") if arguments.only else COMMANDS)}
    names = [name for name in COMMANDS if name in chosen]
    if unknown := chosen - set(COMMANDS):
        parser.error(f"unknown commands: {', '.join(sorted(unknown))}")
    results = []
    for path in arguments.capture or shared_captures("BIG-"):
        if not os.path.isfile(path):
            parser.error(f"no file {path}")
        results.append(measure(path, names, max(1, arguments.runs)))
    facts = machine()
    if arguments.json:
        content = {"machine": facts, "runs": arguments.runs, "captures": results}
        print_json(SCHEMA, VERSION, content)
        return
    print(f"{machine_line(facts)}; best of {arguments.runs}\n")
    for result in results:
        print(f"{result['capture']}, {result['raw_bytes'] / MEGABYTE:.1f} MB:\n")
        print_table(HEADS, [_cells(row) for row in result["commands"]])


if __name__ == "__main__":
    main()
