# SPDX-License-Identifier: MIT
"""``python -m tests.fuzz --minutes N``: runs every command on mutants of captures and texts.

A traceback, an internal error, a signal, a hang, too much memory, control characters and invalid
JSON are failures. Each is saved with its command line and a minimised mutant. The exit code is 1
if there was a failure.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import pkgutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cffpy
from tests.fuzz.batch import batch, run_here
from tests.fuzz.case import Bench, Case
from tests.fuzz.child import Limits
from tests.fuzz.commands import LINES, TEXT_COMMANDS
from tests.fuzz.minimise import kind_of, minimise

Counts = Counter[tuple[str, str]]


def main() -> int:
    """Run cases until the time is over."""
    options = _options()
    import_all()
    gc.freeze()  # children share more memory
    if options.each:
        return _each(options)
    folder = Path(options.keep)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}, failures go to {folder}", flush=True)
    children = []
    for job in range(options.jobs):
        result = folder / f".job-{os.getpid()}-{job}.json"
        process = os.fork()
        if process == 0:
            code = 3
            try:
                code = _job(options, job, result)
            finally:
                os._exit(code)
        children.append((process, result))
    failed = False
    tables: list[dict[str, list]] = []
    for process, result in children:
        _, status = os.waitpid(process, 0)
        failed |= status != 0
        if result.exists():
            tables.append(json.loads(result.read_text()))
            result.unlink()
    _report(tables)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--cases", type=int, default=1 << 30, help="At most, a job.")
    parser.add_argument("--each", type=int, help="Only so many cases of each command.")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "cffpy-fuzz"))
    parser.add_argument("--command", choices=LINES, help="Only this one.")
    parser.add_argument("--dumps", action="store_true", help="Mutants of crash dumps.")
    parser.add_argument("--generation", type=int, choices=range(2, 8))
    parser.add_argument("--seconds", type=int, default=20, help="Processor time of a case.")
    parser.add_argument("--megabytes", type=int, default=1536, help="Address space of a case.")
    return parser.parse_args()


def _each(options: argparse.Namespace) -> int:
    """Cases of each command, the same for the same seed. One that fails is run again, alone."""
    bench = Bench(Limits(options.megabytes << 20, options.seconds, options.seconds * 10))
    bench.environment = {"CFFPY_DEBUG": ""}  # compiled descriptions are those of other tests
    os.environ.update(bench.environment)
    failed = 0
    for place, command in enumerate([options.command] if options.command else LINES):
        first = options.seed + 1000 * place

        def work(first: int = first, command: str = command) -> Iterator[tuple[int, dict]]:
            for seed in range(first, first + options.each):
                yield seed, {}
                case = bench.run(seed, command, runner=run_here)
                yield seed, {"problem": case.outcome.problem}

        row: dict = {}
        for row in batch(bench.limits_of(command), work):
            if row.get("problem"):
                break
        if row.get("problem") != "":
            case = bench.run(row.get("number", first), command)
            outcome = case.outcome
            problem = outcome.problem or f"only among others: {row.get('problem', 'a dead child')}"
            print(f"{case.seed}: {command}: {problem}\n{outcome.stderr}", flush=True)
            failed += 1
    bench.close()
    return 1 if failed else 0


def import_all() -> None:
    """What commands import lazily is imported once, here."""
    for module in pkgutil.walk_packages(cffpy.__path__, "cffpy."):
        if not module.name.endswith("__main__") and "._data" not in module.name:
            importlib.import_module(module.name)
    for name in ("construct", "rich.table", "rich.console", "lark", "hashlib", "mmap", "zipfile"):
        importlib.import_module(name)


def _job(options: argparse.Namespace, job: int, result: Path) -> int:
    limits = Limits(options.megabytes << 20, options.seconds, options.seconds * 10)
    bench = Bench(limits, of_dumps=options.dumps)
    os.environ.update(bench.environment)
    end = time.monotonic() + options.minutes * 60
    tally = Tally()
    known: set[str] = set()
    first = (options.seed * 1000 + job) * 1_000_000
    number = 0

    def work() -> Iterator[tuple[int, dict]]:
        for seed in range(first + number, first + min(number + _BATCH, options.cases)):
            yield seed, {}
            case = bench.run(seed, options.command, options.generation, run_here)
            yield seed, tally_row(case)
            if time.monotonic() > end:
                return

    try:
        while time.monotonic() < end and number < options.cases:
            row: dict = {}
            for row in batch(bench.limits_of(options.command), work):
                number = row["number"] - first + 1
                if "command" in row and not row["problem"]:
                    tally.add(row)
                elif "command" in row:
                    break
            if row and row.get("problem") != "":
                # failed, or ended the child: once more, alone
                case = bench.run(row["number"], options.command, options.generation)
                tally.add(tally_row(case))
                if case.outcome.problem:
                    _save(bench, case, options, known)
                elif "problem" in row:
                    print(f"{case.seed}: only among others: {row['problem']}", flush=True)
    finally:
        bench.close()
        result.write_text(json.dumps(tally.document()))
    return 1 if tally.failures else 0


#: Cases in one child.
_BATCH = 400


def tally_row(case: Case) -> dict:
    """What is counted of a case."""
    outcome = case.outcome
    return {
        "row": _row(case),
        "command": case.command,
        "problem": outcome.problem,
        "seconds": outcome.seconds,
        "peak": outcome.peak,
    }


def _row(case: Case) -> str:
    if case.capture.startswith("crash dump"):
        return "dumps"
    return "text" if case.command in TEXT_COMMANDS else f"a{case.generation}xx"


class Tally:
    """Counts of cases and failures, and the most that a command took."""

    def __init__(self) -> None:
        self.cases: Counts = Counter()
        self.failures: Counts = Counter()
        self.worst: dict[str, list[float]] = {}

    def add(self, row: dict) -> None:
        """Count a case."""
        key = row["row"], row["command"]
        self.cases[key] += 1
        if row["problem"]:
            self.failures[key] += 1
        worst = self.worst.setdefault(row["command"], [0, 0])
        worst[:] = max(worst[0], row["seconds"]), max(worst[1], row["peak"])

    def document(self) -> dict[str, list]:
        """For a file."""
        return {
            "cases": [[*key, count] for key, count in self.cases.items()],
            "failures": [[*key, count] for key, count in self.failures.items()],
            "worst": [[key, *values] for key, values in self.worst.items()],
        }


def _save(bench: Bench, case: Case, options: argparse.Namespace, known: set[str]) -> None:
    outcome = case.outcome
    kind = f"{case.command}: {kind_of(outcome.problem)}"
    print(f"{case.seed}: {case.command}: {outcome.problem} ({case.capture})", flush=True)
    if kind in known:
        return
    known.add(kind)
    name = Path(options.keep) / str(case.seed)
    name.with_suffix(".rd").write_bytes(case.mutant)
    description = {
        "seed": case.seed,
        "capture": case.capture,
        "arguments": case.arguments,
        "environment": case.environment,
        "problem": outcome.problem,
        "code": outcome.code,
        "seconds": outcome.seconds,
        "peak": outcome.peak,
        "stderr": outcome.stderr[-4000:],
    }
    name.with_suffix(".json").write_text(json.dumps(description, indent=2))
    if case.command in TEXT_COMMANDS or options.dumps:
        return
    small = minimise(
        case.mutant,
        lambda data: (
            kind_of(bench.again(case, data, options.generation).problem) == kind_of(outcome.problem)
        ),
    )
    name.with_suffix(".small.rd").write_bytes(small)
    print(f"    {len(case.mutant)} bytes, made smaller: {len(small)}", flush=True)


def _report(tables: list[dict[str, list]]) -> None:
    cases: Counts = Counter()
    failures: Counts = Counter()
    worst: dict[str, tuple[float, float]] = {}
    for table in tables:
        for row, command, count in table["cases"]:
            cases[row, command] += count
        for row, command, count in table["failures"]:
            failures[row, command] += count
        for command, seconds, peak in table["worst"]:
            before = worst.get(command, (0, 0))
            worst[command] = max(before[0], seconds), max(before[1], peak)
    rows = sorted({row for row, _ in cases})
    print(f"{'command':18}" + "".join(f"{row:>8}" for row in rows), end="")
    print(f"{'all':>8}{'failed':>8}{'worst s':>9}{'peak MB':>9}")
    for command in LINES:
        counts = [cases[row, command] for row in rows]
        failed = sum(failures[row, command] for row in rows)
        seconds, peak = worst.get(command, (0, 0))
        print(f"{command:18}" + "".join(f"{count:8}" for count in counts), end="")
        print(f"{sum(counts):8}{failed:8}{seconds:9.2f}{peak / 1e6:9.0f}")
    total = [sum(cases[row, command] for command in LINES) for row in rows]
    print(f"{'all':18}" + "".join(f"{count:8}" for count in total), end="")
    print(f"{sum(total):8}{sum(failures.values()):8}")


if __name__ == "__main__":
    sys.exit(main())
