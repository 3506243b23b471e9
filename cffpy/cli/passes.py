# SPDX-License-Identifier: MIT
"""``cffpy passes``, ``tiles``, ``lrz``: passes, the tiles of one, and how their draws use LRZ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import decode, not_there, refuse_for_intel
from cffpy.cli.forms import (
    Forms,
    Result,
    Shown,
    is_one_file,
    line_pieces,
    listing,
    shown_columns,
    write_shown,
)
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.views.plain_text import headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.analysis.lrz import PassLrz
    from cffpy.api.capture import Capture
    from cffpy.api.places import Scope
    from cffpy.frame.passes import Pass, SubmitPasses, Tile

#: Of an object a line; with ``--cost``, ``--queries``, ``--why``, ``--barriers``.
_LINE_SCHEMA, _COST_LINE_SCHEMA = "cffpy.passes.line/1", "cffpy.passes.cost.line/1"
_QUERY_LINE_SCHEMA, _WHY_LINE_SCHEMA = "cffpy.passes.queries.line/1", "cffpy.passes.why.line/1"
_BARRIER_LINE_SCHEMA = "cffpy.passes.barriers.line/1"

_PASSES_EPILOG = """\b
Examples:
  cffpy passes capture.rd.gz
  cffpy passes --at p3 capture.rd.gz          only pass 3
  cffpy passes --at '#62' capture.rd.gz       the pass of draw 62 of the dump
  cffpy passes --where 'pass.mode == sysmem' capture.rd.gz
  cffpy passes --cost capture.rd.gz           bytes moved by each pass
  cffpy passes --queries capture.rd.gz        occlusion queries, timestamps, ...
  cffpy passes --why capture.rd.gz            why each pass is in sysmem or GMEM mode
  cffpy passes --barriers capture.rd.gz       flushes and waits, and what they guard
  cffpy passes --csv capture.rd.gz            a row for each pass
  cffpy passes one.rd.gz captures/            of several files and folders
  cffpy passes --json capture.rd.gz | jq '.passes[] | [.pass, .mode]'
"""


@click.command(epilog=_PASSES_EPILOG)
@click.option("--cost", is_flag=True, help="Show the bytes that each pass loads, stores, resolves.")
@click.option("--queries", is_flag=True, help="Show the queries: what they count, their results.")
@click.option("--why", is_flag=True, help="Show why each pass is in sysmem or GMEM mode.")
@click.option("--barriers", is_flag=True, help="Show cleans, invalidates, waits: what they guard.")
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    columns=True,
    forms=Forms(
        item="pass",
        json="cffpy.passes/1",
        jsonl=f"{_LINE_SCHEMA}; with --cost: {_COST_LINE_SCHEMA}; with --queries:"
        f" {_QUERY_LINE_SCHEMA}; with --why: {_WHY_LINE_SCHEMA}; with --barriers:"
        f" {_BARRIER_LINE_SCHEMA}",
        csv=True,
        plot="a bar of draws for each render pass",
    ),
)
def passes(question: Question, cost: bool, queries: bool, why: bool, barriers: bool) -> int:
    """Find the render passes of a capture, and the dispatches and copies between them.

    For each pass: mode, framebuffer, tiles, attachments with their loads, clears and stores, the
    program's draws and their numbers in the dump, LRZ, and the location in the capture. Values
    that the command stream does not contain are shown as unknown.

    With --cost, the bytes of loads, stores, resolves and clears of each render pass, by formula,
    and the GMEM that a bin uses; the pass that moves most comes first.

    With --queries, the queries of the driver: occlusion, primitives, stream-out, pipeline
    statistics, timestamps, performance counters. For each: the draws between its begin and its end,
    in which runs it counts, where its counters and its result are, the captured result, the
    packets that copy it or decide by it. With a place, queries that count a draw there.

    With --why, the rule of the driver (turnip, freedreno) by which each render pass is in sysmem or
    in GMEM mode, how sure that is, and what its autotuner counts: draws, pixels, bytes.

    With --barriers, packets that clean caches, invalidate caches and wait, as stages and accesses
    of Vulkan: which hazards each one guards, an access before it and one behind it of the same
    memory, and which guard nothing. With a place, those in the passes there.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    others = (
        ("--cost", cost),
        ("--queries", queries),
        ("--why", why),
        ("--barriers", barriers),
    )
    given = [name for name, is_given in others if is_given]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} cannot be used with {given[1]}")
    if given and (question.form in ("csv", "plot") or question.columns is not None):
        raise click.UsageError(f"{given[0]} cannot be used with --csv, --plot or --columns")
    _refuse_plot_of_columns(question)

    def show(path: str) -> Shown:
        capture, code = question.find(path)
        refuse_for_intel(capture, *others)
        if queries:
            return _shown_queries(capture, code, question)
        if barriers:
            return _shown_barriers(capture, code, question)
        return _shown_passes(capture, code, question, cost, why)

    return write_shown(question, show)


def _refuse_plot_of_columns(question: Question) -> None:
    if question.form == "plot" and question.columns is not None:
        raise click.UsageError("--plot cannot be used with --columns")


def _shown_passes(capture: Capture, code: int, question: Question, cost: bool, why: bool) -> Shown:
    """The passes of a capture that are asked for."""
    from cffpy.frame.passes import Pass
    from cffpy.views import model_documents as view

    scope, query, columns = question.scope(capture), question.query, question.columns
    indices = {one.index for one in capture._source.model.passes if scope.has_pass(one.index)}
    shown = (
        _only(capture._source.model.submits, indices)
        if scope.place
        else capture._source.model.submits
    )
    if query is not None:
        passes = capture.passes._choose(query, [capture.passes[index] for index in indices])
        if columns is not None:
            named = [(str(one.index), found) for one, found in passes]
            return shown_columns("pass", named, columns, capture, code)
        shown = _only(shown, {one.index for one, _ in passes})
    if cost:
        return _costs(capture, shown, code)
    chosen = [one for submit in shown for one in submit.passes]
    if why:
        return _reasons(capture, chosen, code)
    result = Result(
        view.PASSES_SCHEMA,
        lambda: view.passes_document(capture._source.model, chosen),
        lambda: _pass_lines(capture, shown),
        lambda: view.csv_columns(Pass),
        lambda: view.csv_rows(chosen),
        lambda: view.documents(chosen),
        texts={"plot": lambda: _bars(shown)},
    )
    return Shown(capture, code, result)


def _pass_lines(capture: Capture, shown: Sequence[SubmitPasses]) -> Iterable[str]:
    from cffpy.views import passes as view

    return view.lines(capture._source.model, shown, capture._source.pass_lines)


def _bars(shown: Sequence[SubmitPasses]) -> Iterable[str]:
    from cffpy.views.plots import pass_lines

    return pass_lines(shown)


def _costs(capture: Capture, shown: Sequence[SubmitPasses], code: int) -> Shown:
    """The costs of the passes that are shown; shares are of the whole capture."""
    from cffpy.views import pass_cost as view

    indices = {part.index for cost in shown for part in cost.passes}
    whole = sum(cost.memory_bytes for cost in capture.costs)
    costs = [cost for cost in capture.costs if cost.pass_.index in indices]
    result = Result(
        view.SCHEMA,
        lambda: view.document(costs, whole),
        lambda: view.lines(costs, whole),
        items=lambda: view.document(costs, whole)["passes"],
    )
    return Shown(capture, code, result)


def _shown_queries(capture: Capture, code: int, question: Question) -> Shown:
    """The queries that count a draw of what is asked for; all without a question."""
    from cffpy.views import gpu_queries as view

    scope, query, shown = question.scope(capture), question.query, capture.queries
    if scope.place is not None or query is not None:
        draws = [draw for draw in capture.draws if scope.has_action(draw)]
        if query is not None:
            draws = [draw for draw, _ in capture.draws._choose(query, draws)]
        wanted = {(draw.pass_index, draw.number) for draw in draws}
        shown = [
            submit
            for submit in shown
            if any(
                (index, number) in wanted
                for index in submit.counted
                for number in submit.counted[index]
            )
        ]
    return Shown(capture, code, listing(view, shown))


def _shown_barriers(capture: Capture, code: int, question: Question) -> Shown:
    """The barriers of the passes that are asked for; all without a question."""
    from cffpy.views import barriers as view

    scope, query, shown = question.scope(capture), question.query, capture.barriers
    if scope.place is not None or query is not None:
        passes = [one for one in capture.passes if scope.has_pass(one.index)]
        if query is not None:
            passes = [one for one, _ in capture.passes._choose(query, passes)]
        indices = {one.index for one in passes}
        shown = [barrier for barrier in shown if barrier.pass_ in indices]
    return Shown(capture, code, listing(view, shown))


def _reasons(capture: Capture, passes: Sequence[Pass], code: int) -> Shown:
    """Why passes are in their mode."""
    from cffpy.views import render_mode as view

    result = Result(
        view.SCHEMA,
        lambda: view.document(passes),
        lambda: view.lines(passes),
        items=lambda: view.document(passes)["passes"],
    )
    return Shown(capture, code, result)


def _only(submits: Sequence[SubmitPasses], indices: set[int]) -> list[SubmitPasses]:
    """The passes with these numbers; submits without any are left out."""
    from cffpy.frame.passes import SubmitPasses

    left = (
        SubmitPasses(submit.number, [part for part in submit.passes if part.index in indices])
        for submit in submits
    )
    return [submit for submit in left if submit.passes]


_TILES_EPILOG = """\b
Examples:
  cffpy tiles capture.rd.gz                   the only pass with tiles
  cffpy tiles --at p3 capture.rd.gz
  cffpy tiles --at p3:t5 capture.rd.gz
  cffpy tiles --at p3 --svg tiles.svg capture.rd.gz
  cffpy tiles --at p3 --plot capture.rd.gz    a drawing for the terminal
  cffpy tiles --at p3 --json capture.rd.gz | jq '.tiles[] | [.tile, .rectangle]'
"""


@click.command(epilog=_TILES_EPILOG)
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    columns=True,
    forms=Forms(
        item="tile",
        json="cffpy.tiles/1",
        jsonl="cffpy.tiles.line/1",
        csv=True,
        plot="the draws of each tile of the grid",
        svg="the grid",
    ),
)
def tiles(question: Question) -> int:
    """List the tiles of a GMEM pass in the order of execution.

    The pass is that of --at or --pass; it need not be given where one pass alone has tiles.

    For each tile: its position in the grid of bins, its rectangle (of the framebuffer) and window
    offset, VSC pipe and slot, the use of visibility streams, the program's draws, and what is
    loaded, cleared and stored. With a fragment density map: the scale of each view, taken from the
    commands that the driver patches for each tile, and whether the offsets satisfy
    o = b_cs - s * b_s.

    A draw is emitted in a tile if the stream calls it there, visible if the visibility stream says
    that it draws, executed if the conditions hold that it is under. Which are visible is known if
    no visibility stream is used or if it was captured.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read or has no such pass.
    """
    _refuse_plot_of_columns(question)
    if question.form == "svg" and question.query is not None:
        raise click.UsageError("--svg cannot be used with --where or --columns")
    if question.form == "svg" and not is_one_file(question.files):
        raise click.UsageError("--svg takes one file")

    def show(path: str) -> Shown:
        capture, code = question.find(path, at_draws=False)
        return _shown_tiles(capture, code, question)

    return write_shown(question, show)


def _shown_tiles(capture: Capture, code: int, question: Question) -> Shown:
    """The tiles of a pass that match."""
    from cffpy.frame.passes import Tile
    from cffpy.views import model_documents as view
    from cffpy.views.plots import tile_lines

    scope, query, columns = question.scope(capture), question.query, question.columns
    chosen = _choose(capture, scope)
    tiled_pass = chosen
    shown = [tile for tile in chosen.tiles if scope.has_tile(chosen.index, tile.number)]
    if query is not None:
        tiles = chosen.tiles._choose(query, shown)
        if columns is not None:
            named = [(str(tile.number), one) for tile, one in tiles]
            return shown_columns("tile", named, columns, capture, code)
        shown = [tile for tile, _ in tiles]
    result = Result(
        view.TILES_SCHEMA,
        lambda: view.tiles_document(capture._source.model, tiled_pass, shown),
        lambda: _tile_lines(tiled_pass, shown),
        lambda: view.csv_columns(Tile),
        lambda: view.csv_rows(shown),
        lambda: view.documents(shown),
        texts={"plot": lambda: tile_lines(tiled_pass, shown)},
        files={"svg": lambda _path: _drawing(tiled_pass)},
    )
    return Shown(capture, code, result)


def _choose(capture: Capture, scope: Scope) -> Pass:
    """The pass of the place, or the only one with tiles. Raises ``not_there``."""
    from cffpy.api.places import passes_text, tiled_passes

    tiled = [pass_ for pass_ in capture.passes if pass_.tiles and scope.has_pass(pass_.index)]
    if len(tiled) == 1:
        return tiled[0]
    if tiled:
        there = passes_text([pass_.index for pass_ in tiled])
        raise click.UsageError(f"several passes have tiles, choose one with --at: {there}")
    if scope.place is None:
        raise not_there(capture, "no pass of this capture is rendered in tiles")
    raise not_there(
        capture, f"{scope.place}: no tiles here{tiled_passes(capture._source.model.passes)}"
    )


def _tile_lines(pass_: Pass, shown: Sequence[Tile]) -> Iterator[str]:
    from cffpy.views import tiles as view

    yield from view.head_lines(pass_)
    yield ""
    yield from headed_columns(view.table(shown), view.RIGHT)
    yield ""
    yield from view.operation_lines(shown)
    yield from view.condition_lines(shown)
    density = view.density_table(pass_)
    if density:
        yield ""
        yield "fragment density map: x' = s * x + o"
        yield from headed_columns(density, view.DENSITY_RIGHT)
    yield from view.problem_lines(pass_)


def _drawing(pass_: Pass) -> Iterator[bytes]:
    from cffpy.views.tiles import drawing

    return line_pieces(drawing(pass_, pass_.tiles).lines())


_LRZ_EPILOG = """\b
Examples:
  cffpy lrz capture.rd.gz
  cffpy lrz --at p3 capture.rd.gz         only pass 3
  cffpy lrz --where 'draw.vertices > 1000' capture.rd.gz
  cffpy lrz --json capture.rd.gz | jq '.passes[] | [.pass, .lost_by]'
"""


@click.command(epilog=_LRZ_EPILOG)
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(item="pass", json="cffpy.lrz/1", jsonl="cffpy.lrz.line/1"),
)
def lrz(question: Question) -> int:
    """Show for each draw of each pass whether it tests and writes LRZ, and why not (a5xx to a7xx).

    LRZ, low-resolution depth, rejects whole blocks of pixels before the fragment program runs.
    Some states turn it off for a draw, others for the rest of the pass: the draw that lost it is
    named, with the number of later draws that would have used it. Reasons are derived from the
    state at the draw by the rules of Mesa's drivers; "not known" where no rule applies.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    return write_shown(question, lambda path: _shown_lrz(question, path))


def _shown_lrz(question: Question, path: str) -> Shown:
    from cffpy.frame.faces import facts_documents
    from cffpy.views import lrz as view

    capture = question.open(path)
    passes, code = decode(capture, lambda opened: opened.lrz)
    shown = _chosen(capture, question, passes)
    result = Result(
        view.SCHEMA,
        lambda: view.document(capture._source.model, shown),
        lambda: view.lines(shown),
        items=lambda: facts_documents(shown),
    )
    return Shown(capture, code, result)


def _chosen(capture: Capture, question: Question, passes: list[PassLrz]) -> list[PassLrz]:
    """The draws that are asked for, and the passes of them."""
    scope = question.scope(capture, with_filter=True)
    if scope.is_whole:
        return passes
    chosen = [one for one in passes if scope.has_pass(one.pass_.index)]
    if scope.is_of_draws:
        chosen = [one.of_draws(scope.has_action) for one in chosen]
    return [one for one in chosen if one.draws]
