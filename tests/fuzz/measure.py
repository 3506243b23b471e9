# SPDX-License-Identifier: MIT
"""``python -m tests.fuzz.measure``: what each item of the fault model takes.

A row for each bomb and command: input, output, processor time, peak memory. ``--half`` adds the
time at half the scale: half of it, where the cost is linear.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.__main__ import import_all
from tests.fuzz.bombs import BOMBS
from tests.fuzz.child import Limits, Outcome, run

_LINES = {
    "annotate": ["dump", "--annotate"],
    "inherited": ["draws", "--inherited"],
    "state": ["state", "--draw", "2"],
    "tiles": ["tiles", "--pass", "0"],
    "disasm": ["disasm", "--all"],
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.measure", description=__doc__)
    parser.add_argument("names", nargs="*", help="Bombs, by a part of their names; default: all.")
    parser.add_argument("--command", action="append", help="Only this one.")
    parser.add_argument("--half", action="store_true", help="At half the scale, too.")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    import_all()
    limits = Limits(seconds=options.seconds, waiting=options.seconds * 10)
    print("| item | command | input MB | output MB | s | s at half | peak MB | code, problem |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    failed = False
    with tempfile.TemporaryDirectory(prefix="cffpy-bombs-") as folder:
        environment = {"CFFPY_CACHE": f"{folder}/cache"}
        for name, (bomb, scale, commands) in BOMBS.items():
            if options.names and not any(part in name for part in options.names):
                continue
            files = []
            for part, number in (("half", max(1, scale // 2)), ("whole", scale)):
                path = Path(folder) / part
                path.write_bytes(bomb(number))
                files.append(path)
            other = Path(folder) / "other"
            other.write_bytes(bomb(scale, 2) if name == "distinct draws" else bomb(scale - 1 or 1))
            for command in commands:
                if options.command and command not in options.command:
                    continue
                outcomes: list[Outcome] = []
                for path in files if options.half else files[1:]:
                    line = [*_LINES.get(command, [command]), str(path)]
                    if command == "diff":
                        line.append(str(other))
                    outcomes.append(run(line, limits, environment))
                failed |= _print_row(name, command, files[1].stat().st_size, outcomes)
    return 1 if failed else 0


def _print_row(name: str, command: str, size: int, outcomes: list[Outcome]) -> bool:
    whole = outcomes[-1]
    half = f"{outcomes[0].seconds:.2f}" if len(outcomes) > 1 else ""
    print(
        f"| {name} | {command} | {size / 1e6:.2f} | {whole.stdout_bytes / 1e6:.2f} "
        f"| {whole.seconds:.2f} | {half} | {whole.peak / 1e6:.0f} "
        f"| {whole.code} {whole.problem} |",
        flush=True,
    )
    return bool(whole.problem)


if __name__ == "__main__":
    sys.exit(main())
