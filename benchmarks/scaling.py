# SPDX-License-Identifier: MIT
"""How time grows with size: synthetic captures of 1 to 64 tiles, and of 100 to 10,000 draws.

    python benchmarks/scaling.py [--runs N] [--draws N] [--json]

Seconds are CPU seconds of this process, the best of N runs (3), with and without segments. Each
draw has about 13 KB of text, so the tables also show the cost of a megabyte of text.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks.report import machine, machine_line, print_json, print_table
from benchmarks.synthetic import draws_capture, tiles_capture
from cffpy.container.open import open_bytes
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions

SCHEMA, VERSION = "cffpy-scaling", 1

TILES = (1, 2, 4, 8, 16, 32, 64)
DRAWS = (100, 300, 1000, 3000, 10_000)


class Measured:
    """A dump of one capture: CPU seconds, bytes of text, counters of segments."""

    def __init__(self, data: bytes, segments: bool = True) -> None:
        self.text_bytes = 0
        options = DumpOptions(unit_test=True)
        dump = Dump(options, self._write, lambda line: None, segments=segments)
        start = time.process_time()
        dump.begin("synthetic")
        dump.file(open_bytes(data))
        self.seconds = time.process_time() - start
        self.recorded = dump.machine.segments.recorded
        self.replayed = dump.machine.segments.replayed

    def _write(self, piece: bytes) -> None:
        self.text_bytes += len(piece)


def measure(data: bytes, draws: int, runs: int) -> dict[str, float]:
    """The best of ``runs``, with and without segments; ``draws`` in all, over all tiles."""
    best: list[Measured] = []
    for segments in (True, False):
        tried = []
        for _ in range(runs):
            tried.append(Measured(data, segments))
            gc.collect()
        best.append(min(tried, key=lambda one: one.seconds))
    with_segments, without = best
    return {
        "raw_bytes": len(data),
        "text_bytes": with_segments.text_bytes,
        "seconds": with_segments.seconds,
        "seconds_without_segments": without.seconds,
        "microseconds_per_draw": with_segments.seconds / draws * 1e6,
        "text_bytes_per_second": with_segments.text_bytes / with_segments.seconds,
        "segments_recorded": with_segments.recorded,
        "segments_replayed": with_segments.replayed,
    }


def _cells(row: dict[str, float]) -> list[str]:
    return [
        f"{row['raw_bytes'] / 1e6:.2f}",
        f"{row['text_bytes'] / 1e6:.1f}",
        f"{row['seconds']:.3f}",
        f"{row['seconds_without_segments']:.3f}",
        f"{row['microseconds_per_draw']:.0f}",
        f"{row['text_bytes_per_second'] / 1e6:.0f}",
        f"{row['segments_recorded']:,}",
        f"{row['segments_replayed']:,}",
    ]


HEADS = ["raw MB", "text MB", "s", "s without", "us a draw", "text MB/s", "recorded", "replayed"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=3, help="the best of N counts")
    parser.add_argument("--draws", type=int, default=100, help="draws of each tile")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    arguments = parser.parse_args()
    gc.disable()  # as cffpy dump does
    runs, draws = arguments.runs, arguments.draws
    Measured(tiles_capture(2, 2))  # imports what is imported late
    tiles = [
        {"tiles": count, **measure(tiles_capture(count, draws), count * draws, runs)}
        for count in TILES
    ]
    series = {
        name: [
            {"draws": count, **measure(draws_capture(count, distinct), count, runs)}
            for count in DRAWS
        ]
        for name, distinct in (("repeated", False), ("distinct", True))
    }
    facts = machine()
    if arguments.json:
        content = {"machine": facts, "runs": runs, "draws_of_a_tile": draws, "tiles": tiles}
        print_json(SCHEMA, VERSION, {**content, **series})
        return
    print(f"{machine_line(facts)}; CPU seconds, best of {runs}\n")
    print(f"Tiles, each the same {draws} draws:\n")
    print_table(["tiles", *HEADS], [[f"{row['tiles']}", *_cells(row)] for row in tiles])
    for name, rows in series.items():
        print(f"Draws in one tile, {name} content:\n")
        print_table(["draws", *HEADS], [[f"{row['draws']:,}", *_cells(row)] for row in rows])


if __name__ == "__main__":
    main()
