# SPDX-License-Identifier: MIT
"""``python -m tests.fuzz.measure``: cost of each item of the fault model in each command.

Two tables: seconds of processor time, and peak memory in MB. ``--half`` prints the ratio to
half the scale instead, which is about 2 if the cost is linear. The exit code is 1 if a case failed:
a traceback, a hang, too much memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz import bombs
from tests.fuzz.__main__ import import_all
from tests.fuzz.bombs import BOMBS
from tests.fuzz.child import Limits, Outcome, run
from tests.fuzz.text_bombs import TEXT_BOMBS

#: Column -> the command line. FILE is the bomb, OTHER nearly the same, OUT a file to write.
COMMANDS = {
    "dump": "dump FILE",
    "dump -s -a": "dump -s -a --textures --bindless FILE",
    "dump -q": "dump -q RB_MRT[0].CONTROL --query-compare FILE",
    "annotate": "dump --annotate FILE",
    "info": "info --buffers FILE",
    "passes": "passes FILE",
    "tiles": "tiles --pass 0 FILE",
    "draws": "draws FILE",
    "inherited": "draws --inherited FILE",
    "state": "state --at #2 FILE",
    "vsc": "vsc FILE",
    "diff": "diff OTHER FILE",
    "diff self": "diff --html OUT FILE FILE",
    "shaders": "shaders FILE",
    "decompile": "decompile -o OUT.pm4 FILE",
    "compile": "compile --check OUT.pm4",
    "edit": "edit --nop-draw #0 --set RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS -o OUT FILE",
    "repair": "repair -o OUT FILE",
}


#: The commands that decompression bombs are put through: all open a file in the same way.
_PACKED = ("dump", "info", "passes", "repair")

#: What a command line may have of the folder.
_NAMES = ("FILE", "OTHER", "OUT", "OUT.pm4", "TEXT", "EDITION")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.measure", description=__doc__)
    parser.add_argument("names", nargs="*", help="Bombs, by a part of their names; default: all.")
    parser.add_argument("--command", action="append", choices=COMMANDS, help="Only this one.")
    parser.add_argument("--half", action="store_true", help="The ratio to half the scale.")
    parser.add_argument("--divide", type=int, default=1, help="The scale, by so much.")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    import_all()
    limits = Limits(seconds=options.seconds, waiting=options.seconds * 10)
    columns = options.command or list(COMMANDS)
    seconds = [["item", "input MB", *columns]]
    peaks = [["item", "output MB", *columns]]
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="cffpy-bombs-") as folder:
        for name, (bomb, scale) in BOMBS.items():
            if options.names and not any(part in name for part in options.names):
                continue
            scale = max(1, scale // options.divide)
            place = Path(folder)
            (place / "FILE").write_bytes(bomb(scale))
            (place / "OTHER").write_bytes(bomb(max(1, scale // 2 if options.half else scale - 1)))
            measured = [one for one in columns if one in _PACKED or not name.endswith("bomb")]
            outcomes = {one: _run(place, COMMANDS[one], limits) for one in measured}
            times = {one: f"{outcome.seconds:.1f}" for one, outcome in outcomes.items()}
            if options.half:
                for one, outcome in outcomes.items():
                    half = _run(place, COMMANDS[one].replace("FILE", "OTHER"), limits)
                    times[one] = _ratio(outcome, half)
            size = (place / "FILE").stat().st_size
            most = max(outcome.stdout_bytes for outcome in outcomes.values())
            memory = {one: f"{outcome.peak / 1e6:.0f}" for one, outcome in outcomes.items()}
            seconds.append([name, f"{size / 1e6:.1f}", *(times.get(one, "") for one in columns)])
            peaks.append([name, f"{most / 1e6:.1f}", *(memory.get(one, "") for one in columns)])
            problems += [
                f"{name}: {one}: {outcome.problem}"
                for one, outcome in outcomes.items()
                if outcome.problem
            ]
            print(_row(seconds[-1]), _row(peaks[-1]), *problems, sep="\n", file=sys.stderr)
        (Path(folder) / "FILE").write_bytes(bombs.many_passes(9))
        for name, (arguments, write) in TEXT_BOMBS.items():
            if options.names and not any(part in name for part in options.names):
                continue
            write(Path(folder))
            outcome = _run(Path(folder), arguments, limits)
            print(f"{name}: {outcome.seconds:.1f} s, {outcome.peak / 1e6:.0f} MB, ", end="")
            print(f"{outcome.code}: {outcome.problem or outcome.stderr[:200]!r}", flush=True)
            if outcome.problem:
                problems.append(f"{name}: {outcome.problem}")
    for table in (seconds, peaks):
        print(
            "",
            *map(_row, [table[0], ["---", *["---:"] * (len(columns) + 1)], *table[1:]]),
            sep="\n",
        )
    print("", *problems, sep="\n")
    return 1 if problems else 0


def _run(folder: Path, line: str, limits: Limits) -> Outcome:
    names = {word: str(folder / word) for word in _NAMES}
    arguments = [names.get(word, word) for word in line.split()]
    return run(arguments, limits, {"CFFPY_CACHE": str(folder / "cache")})


def _ratio(whole: Outcome, half: Outcome) -> str:
    """The ratio of the times; empty where both are too short to compare."""
    return f"{whole.seconds / half.seconds:.1f}" if whole.seconds > 0.5 else ""


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
