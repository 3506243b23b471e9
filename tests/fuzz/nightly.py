# SPDX-License-Identifier: MIT
"""``python -m tests.fuzz.nightly``: each parser under atheris, one after another.

Each gets ten minutes of processor time. They begin with the inputs of ``tests/fuzz/corpus``, which
``test_corpus.py`` runs, too. Findings are saved in the folder ``--keep``; the exit code is 1 if
there are any. ``--update`` puts inputs that reach new code into the corpus. Needs
``pip install -e '.[fuzz]'``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.captures import CHECKOUT

CORPUS = Path(__file__).resolve().parent / "corpus"

#: What is run where no names are given; tests/fuzz/targets.py has more.
NAMES = (
    "container",
    "packets",
    "program",
    "crash_dump",
    "capture_text",
    "registers",
    "instructions",
    "filter",
    "microcode",
)

#: Of the committed inputs of one target: how many, and bytes of each, at most.
_MOST_INPUTS, _MOST_BYTES = 40, 600


def main() -> int:
    """Run the targets; 1 if one of them has findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.nightly", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"Targets (default: {', '.join(NAMES)}).")
    parser.add_argument("--minutes", type=float, default=10, help="Of processor time for each.")
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "cffpy-nightly"))
    parser.add_argument("--update", action="store_true", help="Add inputs to the corpus.")
    options = parser.parse_args()
    keep = Path(options.keep)
    keep.mkdir(parents=True, exist_ok=True)
    found = 0
    for name in options.names or NAMES:
        begun = time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run(name, keep, options.minutes)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        problems = sorted(keep.glob(f"{name}-*"))
        problems = [path for path in problems if path.is_file() and _is_finding(path)]
        found += len(problems)
        inputs = len(list((keep / name).iterdir()))
        took = time.monotonic() - begun
        print(
            f"{name}: {_runs(keep / f'{name}.log')} inputs tried, {inputs} kept,"
            f" {len(problems)} findings, {seconds:.0f} s of processor time, {took:.0f} s",
            flush=True,
        )
        for path in problems:
            print(f"    {path}", flush=True)
        if options.update:
            _update(name, keep)
    return 1 if found else 0


def _is_finding(path: Path) -> bool:
    """Logs, and units that are slow on a busy machine but not too slow, are none."""
    return path.suffix != ".log" and "-slow-unit-" not in path.name


def _run(name: str, keep: Path, minutes: float) -> None:
    """Run one target until its time is over, or it has a finding."""
    seconds = int(minutes * 60)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 30))

    line = ["--minutes", str(minutes * 60), "--keep", str(keep), name]
    with (keep / f"{name}.log").open("wb") as log:
        _guided(line, log.fileno(), limit)


def _guided(arguments: list[str], log: int, limit: Callable[[], None] | None = None) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.fuzz.guided", *arguments],
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
        cwd=CHECKOUT,
        preexec_fn=limit,
        check=False,
    )


def _runs(log: Path) -> int:
    """The number of inputs that were tried, from libFuzzer's last line that has it."""
    for line in reversed(log.read_bytes().splitlines()):
        if line.startswith(b"#") and line[1:].split(b"\t")[0].strip().isdigit():
            return int(line[1:].split(b"\t")[0])
    return 0


def _update(name: str, keep: Path) -> None:
    """Take the inputs that together reach all that was reached, the smallest ones."""
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as merged, (keep / f"{name}-merge.log").open("wb") as log:
        _guided(["--keep", str(keep), "--merge", merged, name], log.fileno())
        chosen = sorted((path.read_bytes() for path in Path(merged).iterdir()), key=len)
        for data in [one for one in chosen if len(one) <= _MOST_BYTES][:_MOST_INPUTS]:
            (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
