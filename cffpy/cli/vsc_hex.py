# SPDX-License-Identifier: MIT
"""``cffpy vsc --hex``: one visibility stream given as hex digits, as tables or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import write_json
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.errors import VisibilityStreamError
from cffpy.views import visibility_stream as view
from cffpy.views.plain_text import columns
from cffpy.vsc.bits import as_written, slots

if TYPE_CHECKING:
    from cffpy.vsc.primitive_stream import PrimitiveRun
    from cffpy.vsc.visibility import InstanceRun


def show_primitives(digits: str, bin_count: int, primitive_count: int | None, as_json: bool) -> int:
    """Decode a primitive stream; the exit code. ``primitive_count``: of the draw, if known."""
    from cffpy.vsc import primitive_stream

    data = _bytes(digits)
    reader = primitive_stream.open_stream(data, bin_count)
    runs: list[PrimitiveRun] = []
    problem = None
    try:
        for run in primitive_stream.runs(reader, primitive_count):
            runs.append(run)  # one by one, to keep those before the damage
    except VisibilityStreamError as error:
        problem = error
    total = sum([run.primitives for run in runs])
    counts = primitive_stream.primitives_per_bin(runs, bin_count)
    if as_json:
        write_json(view.SCHEMA, view.primitives_document(data, bin_count, runs, problem))
    else:
        rows = [
            (str(run.offset), str(run.primitives), *_bin_cells(run.bins, bin_count)) for run in runs
        ]
        _print_table(("bit", "primitives", "bins", "bitfield"), rows, (0, 1))
        print(f"\n{_plural(total, 'primitive')} in {_plural(len(runs), 'run')}\n")
        _print_bins("primitives", counts, total)
    if problem is not None:
        print_error(str(problem))
    return EXIT_OK if problem is None else EXIT_FAILURE


def show_draws(digits: str, bin_count: int, as_json: bool) -> int:
    """Decode a draw stream; the exit code."""
    from cffpy.vsc.pipe import decode_pipe

    data = _bytes(digits)
    pipe = decode_pipe(data, None, bin_count, draw_stream_size=len(data))
    runs = [item.run for draw in pipe.draws for item in draw.instances]
    if as_json:
        write_json(view.SCHEMA, view.draws_document(data, pipe, runs))
    else:
        rows = [_draw_row(run, bin_count) for run in runs]
        headings = ("bit", "draw", "instance", "bins", "bitfield", "primitive stream")
        _print_table(headings, rows, (0,))
        size = pipe.primitive_stream_size // 4
        print(
            f"\n{_plural(pipe.draw_count, 'draw')}"
            f"{', then the end packet' if pipe.is_whole else ''};"
            f" primitive streams of {_plural(size, 'dword')}\n"
        )
        _print_bins("draws", pipe.draws_per_bin, pipe.draw_count)
    sys.stdout.flush()
    for finding in pipe.findings:
        print_error(str(finding))
    return EXIT_FAILURE if pipe.findings else EXIT_OK


def _draw_row(run: InstanceRun, bin_count: int) -> tuple[str, ...]:
    draw = _range(run.draw, run.draws)
    if run.instances is not None:
        instance = _range(run.first, run.instances)
    else:
        instance = f"{run.first} to last" if run.first else "all"
    place = ""
    if run.place is not None:
        place = f"{_plural(run.place.size, 'dword')} at dword {run.place.offset}"
    return (str(run.offset), draw, instance, *_bin_cells(run.bins, bin_count), place)


def _bytes(digits: str) -> bytes:
    """The bytes of hex digits, which may contain spaces; ``-`` reads standard input."""
    if digits == "-":
        digits = sys.stdin.buffer.read().decode("ascii", "replace")
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        shown = digits if len(digits) <= 20 else f"{digits[:20]}..."
        message = f"--hex needs bytes of two hex digits each, got {shown!r}"
        raise click.UsageError(message) from None
    if not data:
        raise click.UsageError("--hex needs at least one byte")
    return data


def _print_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]
) -> None:
    for line in columns([headings, *rows], right):
        print(line)


def _print_bins(what: str, counts: Sequence[int], total: int) -> None:
    rows = [
        (str(slot), str(count), f"{1 - count / total:.1%}" if total else "-")
        for slot, count in enumerate(counts)
    ]
    _print_table(("bin", what, "culled"), rows, (0, 1, 2))


def _bin_cells(bins: int, bin_count: int) -> tuple[str, str]:
    """Slots as ``0-3,5`` or ``none``, and the bits in the order of the stream."""
    ranges: list[list[int]] = []
    for slot in slots(bins, bin_count):
        if ranges and ranges[-1][1] == slot - 1:
            ranges[-1][1] = slot
        else:
            ranges.append([slot, slot])
    text = ",".join([_range(first, last - first + 1) for first, last in ranges])
    return text or "none", as_written(bins, bin_count)


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
