# SPDX-License-Identifier: MIT
"""Lists the functions that take most time while decoding a capture.

    python benchmarks/functions.py CAPTURE [--options "-s --once"] [--no-segments] [--most 10]

Measured by cProfile in CPU time, callees and imports excluded. The profiler overestimates the cost
of small functions.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import os
import pstats
import shlex
import sys
import time
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from benchmarks.report import machine, machine_line, print_table  # noqa: E402


def profile(path: str, options: list[str], with_segments: bool) -> pstats.Stats:
    """The profile of one dump, whose text is thrown away."""
    from cffpy.cli.dump_options import parse
    from cffpy.container.open import open_capture
    from cffpy.views.cffdump.dump import Dump
    from cffpy.views.cffdump.options import DumpOptions

    settings, _ = parse([*options, path])
    dump = Dump(
        DumpOptions(**settings), lambda piece: None, lambda line: None, segments=with_segments
    )
    dump.begin(path)
    content = open_capture(path)
    gc.disable()  # as cffpy dump does
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(dump.file, content)
    return pstats.Stats(profiler)


def _name(where: tuple[str, int, str]) -> str:
    path, _, function = where
    if path == "~":  # built in: <built-in method builtins.len>, <method 'get' of 'dict' objects>
        _, _, function = function.strip("<>").rpartition(" builtins.")
        words = function.split("'")
        return f"{words[3]}.{words[1]}" if len(words) > 3 else function
    return f"{os.path.basename(path)}: {function}"


def main() -> None:
    """Profile and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("capture")
    parser.add_argument("--options", default="", help='options of dump, such as "-s --once"')
    parser.add_argument(
        "--no-segments", action="store_true", help="decode all packets, replay none"
    )
    parser.add_argument("--most", type=int, default=10, help="functions that are shown (10)")
    arguments = parser.parse_args()
    if not os.path.isfile(arguments.capture):
        parser.error(f"no file {arguments.capture}")
    stats: Any = profile(
        arguments.capture, shlex.split(arguments.options), not arguments.no_segments
    )
    print(f"{machine_line(machine())}; {stats.total_calls / 1e6:.1f} million calls\n")
    entries = sorted(stats.stats.items(), key=lambda entry: -entry[1][2])[: arguments.most]
    rows = [
        [f"{own / stats.total_tt:.0%}", f"{calls:,}", _name(where)]
        for where, (_, calls, own, _, _) in entries
    ]
    print_table(["time", "calls", "function"], rows)


if __name__ == "__main__":
    main()
