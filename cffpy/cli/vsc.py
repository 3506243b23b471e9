# SPDX-License-Identifier: MIT
"""``cffpy vsc``: visibility streams, of a capture or of bytes given as hex."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import not_there
from cffpy.cli.forms import Forms, Result, line_pieces, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import IntegerRange
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.errors import VisibilityStreamError
from cffpy.frame.places import PassName
from cffpy.views.plain_text import Styled, headed_columns
from cffpy.vsc.bits import MAX_BINS, as_written, slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.api.capture import Capture
    from cffpy.frame.passes import Pass
    from cffpy.frame.visibility import PassVisibility
    from cffpy.vsc.pipe import InstanceRun
    from cffpy.vsc.primitive_stream import PrimitiveRun

_EPILOG = """\b
Examples:
  cffpy vsc capture.rd.gz                           all binned passes
  cffpy vsc --at p3 --svg heat.svg capture.rd.gz    one pass as a heat map
  cffpy vsc --json capture.rd.gz | jq '.passes[].pipes[] | [.pipe, .state]'
  cffpy vsc --hex 'f9 62 80 00' --bins 4            a primitive stream
  cffpy vsc --hex 'f9 62 80 00' --bins 4 --primitive-count 10
  cffpy vsc --hex '9d45800002000000' --bins 4 --draws
  xxd -p stream.bin | cffpy vsc --hex - --bins 12 --json
"""


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="[FILE]", required=False)
@click.option("--hex", "digits", metavar="HEX", help="Decode these bytes ('-': standard input).")
@click.option(
    "--bins",
    "bin_count",
    metavar="N",
    type=IntegerRange(1, MAX_BINS),
    help="With --hex: number of bins of the VSC pipe (VSC_SIZE of CP_SET_BIN_DATA5).",
)
@click.option(
    "--primitives/--draws",
    "of_primitives",
    default=None,
    help="With --hex: kind of stream. Default: primitives.",
)
@click.option(
    "--primitive-count",
    metavar="N",
    type=IntegerRange(0),
    help="With --hex: number of primitives of the draw, to check the stream against.",
)
@asks(
    "",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(
        json="cffpy.vsc/1 for FILE; with --at it lists visible draws",
        plot="heat maps",
        svg="a heat map of a pass",
    ),
)
def vsc(
    question: Question,
    path: str | None,
    digits: str | None,
    bin_count: int | None,
    of_primitives: bool | None,
    primitive_count: int | None,
) -> int:
    """Decode visibility streams of a6xx and a7xx: which bins draws and primitives cover.

    With FILE, a capture, the output lists for each pass with hardware binning and each VSC pipe
    the addresses and sizes of the streams. If they were captured and written, it also lists the
    draws and primitives visible in each bin. Streams are compared with the draws of the binning
    pass; '!' marks contradictions. Earlier generations use other formats, which are not decoded:
    of each pipe of a3xx to a5xx the address and the size of its stream are listed, and its tiles.

    A bin is given by its slot in the pipe (VSC_N of CP_SET_BIN_DATA5). Which bit of a bitfield is
    slot 0 is not documented; cffpy assumes the last one. 'bitfield' has the bits in stream order.

    Errors in a stream are reported with their bit offset, after what could be decoded, and set the
    exit code to 1.
    """
    if digits is None:
        if path is None:
            raise click.UsageError("give FILE, or --hex HEX --bins N")
        reason = "--bins, --primitives, --draws, --primitive-count need --hex"
        _refuse(reason, bin_count, of_primitives, primitive_count)
        return _show(question.of_files(path))
    _refuse("--hex and FILE cannot be used together", path)
    reason = "--at, --where, --svg, --plot, --gpu and --edition need FILE"
    _refuse(
        reason,
        question.place,
        question.query,
        question.form if question.form in ("svg", "plot") else None,
        question.gpu,
        question.register_db,
    )
    if bin_count is None:
        raise click.UsageError("--hex needs --bins N")
    if of_primitives is not False:
        return _show_primitives(question, digits, bin_count, primitive_count)
    _refuse("--primitive-count cannot be used with --draws", primitive_count)
    return _show_draws(question, digits, bin_count)


def _refuse(reason: str, *values: object) -> None:
    """Raise a usage error if any of these options was given."""
    if any(value is not None for value in values):
        raise click.UsageError(reason)


# -- the visibility streams of a capture --------------------------------------------------------


def _show(question: Question) -> int:
    """Show the passes with hardware binning, or those of a place; the exit code."""
    from cffpy.views import visibility as view

    capture, code = question.find()
    scope = question.scope(capture, with_filter=True)
    shown = [pass_ for pass_ in capture.passes if scope.has_pass(pass_.index)]
    if not isinstance(scope.place, PassName):
        shown = [pass_ for pass_ in shown if pass_.hardware_binning]
    if question.form == "svg":
        shown = [_the_drawn(capture, shown)]
    damaged = [False]

    def read() -> Iterator[PassVisibility]:
        # one by one: each may be large
        for pass_ in shown:
            visibility = pass_.visibility
            damaged[0] = damaged[0] or visibility.is_damaged
            yield visibility

    def text(lines: Iterator[str]) -> Iterable[str]:
        return lines if shown else [view.nothing_text(capture._source.model)]

    result = Result(
        view.SCHEMA,
        lambda: view.document(capture._source.model, read(), with_entries=scope.place is not None),
        lambda: text(_lines(read())),
        truncated=lambda: capture.truncated,
        texts={"plot": lambda: text(_plots(read()))},
        files={"svg": lambda _path: _drawing(next(read()))},
    )
    write_result(result, question)
    return EXIT_FAILURE if damaged[0] else code


def _the_drawn(capture: Capture, shown: list[Pass]) -> Pass:
    """The only pass to draw. Raises ``not_there``."""
    if len(shown) == 1 and shown[0].tiles:
        return shown[0]
    if len(shown) == 1:
        raise not_there(capture, f"pass {shown[0].index} has no tiles to draw")
    if not shown:
        raise not_there(capture, "no pass of this capture has hardware binning")
    from cffpy.api.places import passes_text

    there = passes_text([pass_.index for pass_ in shown])
    raise click.UsageError(f"--svg draws one pass, choose it with --at: {there}")


def _lines(passes: Iterable[PassVisibility]) -> Iterator[str]:
    from cffpy.views import visibility as view

    for visibility in passes:
        yield from view.head_lines(visibility)
        yield from view.finding_lines(visibility)
        for pipe in visibility.pipes:
            yield from view.pipe_lines(pipe)
            for line in headed_columns(view.bin_table(pipe), view.RIGHT):
                text = f"    {line}"
                yield Styled(text) if isinstance(line, Styled) else text


def _plots(passes: Iterable[PassVisibility]) -> Iterator[str]:
    from cffpy.views.plots import visibility_lines
    from cffpy.views.visibility import heat_of

    for visibility in passes:
        heat = heat_of(visibility)
        yield from visibility_lines(visibility, heat.values, heat.label)
        if visibility.reason:
            yield f"  {visibility.reason}"


def _drawing(visibility: PassVisibility) -> Iterator[bytes]:
    from cffpy.views.visibility import drawing

    return line_pieces(drawing(visibility).lines())


# -- one stream of hexadecimal digits -----------------------------------------------------------


def _show_primitives(
    question: Question, digits: str, bin_count: int, primitive_count: int | None
) -> int:
    """Decode a primitive stream; the exit code. ``primitive_count``: of the draw, if known."""
    from cffpy.frame.faces import facts_document
    from cffpy.views import visibility as view
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

    def lines() -> Iterator[str]:
        rows = [
            (str(run.offset), str(run.primitives), *_bin_cells(run.bins, bin_count)) for run in runs
        ]
        yield from headed_columns([("bit", "primitives", "bins", "bitfield"), *rows], (0, 1))
        yield from ("", f"{_plural(total, 'primitive')} in {_plural(len(runs), 'run')}", "")
        yield from _bin_lines("primitives", counts, total)

    result = Result(
        view.HEX_SCHEMA,
        lambda: facts_document(view.primitive_stream(data, bin_count, runs, problem)),
        lines,
    )
    write_result(result, question)
    if problem is not None:
        print_error(str(problem))
    return EXIT_OK if problem is None else EXIT_FAILURE


def _show_draws(question: Question, digits: str, bin_count: int) -> int:
    """Decode a draw stream; the exit code."""
    from cffpy.frame.faces import facts_document
    from cffpy.views import visibility as view
    from cffpy.vsc.pipe import decode_pipe

    data = _bytes(digits)
    pipe = decode_pipe(data, None, bin_count, draw_stream_size=len(data))
    runs = [item.run for draw in pipe.draws for item in draw.instances]

    def lines() -> Iterator[str]:
        headings = ("bit", "draw", "instance", "bins", "bitfield", "primitive stream")
        rows = [_draw_row(run, bin_count) for run in runs]
        yield from headed_columns([headings, *rows], (0,))
        size = pipe.primitive_stream_size // 4
        yield ""
        yield (
            f"{_plural(pipe.draw_count, 'draw')}"
            f"{', then the end packet' if pipe.is_whole else ''};"
            f" primitive streams of {_plural(size, 'dword')}"
        )
        yield ""
        yield from _bin_lines("draws", pipe.draws_per_bin, pipe.draw_count)

    result = Result(
        view.HEX_SCHEMA, lambda: facts_document(view.draw_stream(data, pipe, runs)), lines
    )
    write_result(result, question)
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


def _bin_lines(what: str, counts: Sequence[int], total: int) -> list[str]:
    rows = [
        (str(slot), str(count), f"{1 - count / total:.1%}" if total else "-")
        for slot, count in enumerate(counts)
    ]
    return headed_columns([("bin", what, "culled"), *rows], (0, 1, 2))


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
