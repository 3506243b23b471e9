# SPDX-License-Identifier: MIT
"""``cffpy tiles``: the tiles of a pass, in the order of execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.api.places import passes_text, tiled_passes
from cffpy.cli.captures import not_there
from cffpy.cli.forms import Result, Shown, is_one_file, shown_columns, write_shown
from cffpy.cli.output_file import write_lines_to
from cffpy.cli.question import EVERY_PLACE, Forms, Question, asks
from cffpy.views.plain_text import headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.places import Scope
    from cffpy.frame.passes import Pass, Tile

_EPILOG = """\b
Examples:
  cffpy tiles capture.rd.gz                   the only pass with tiles
  cffpy tiles --at p3 capture.rd.gz
  cffpy tiles --at p3:t5 capture.rd.gz
  cffpy tiles --at p3 --svg tiles.svg capture.rd.gz
  cffpy tiles --at p3 --plot capture.rd.gz    a drawing for the terminal
  cffpy tiles --at p3 --json capture.rd.gz | jq '.tiles[].density.views[].scale'
"""


@click.command(epilog=_EPILOG)
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
def tiles(question: Question, plot: bool, svg: str | None) -> int:
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
    if plot and question.columns is not None:
        raise click.UsageError("--plot cannot be used with --columns")
    if svg is not None and question.query is not None:
        raise click.UsageError("--svg cannot be used with --where or --columns")
    if svg is not None and not is_one_file(question.files):
        raise click.UsageError("--svg takes one file")
    if svg is not None:
        capture, code = question.find(at_draws=False)
        chosen = _choose(capture, question.scope(capture))
        _draw(question.path, svg, chosen, chosen.tiles)
        return code

    def show(path: str) -> Shown:
        capture, code = question.find(path, at_draws=False)
        return _shown(capture, code, question, plot)

    return write_shown(question.files, show, question.form)


def _shown(capture: Capture, code: int, question: Question, plot: bool) -> Shown:
    """The tiles of a pass that match."""
    from cffpy.frame.passes import Tile
    from cffpy.views import model_documents as view
    from cffpy.views.plots import tile_lines

    scope, query, columns = question.scope(capture), question.query, question.columns
    chosen = _choose(capture, scope)
    found = chosen
    shown = [tile for tile in chosen.tiles if scope.has_tile(chosen.index, tile.number)]
    if query is not None:
        tiles = chosen.tiles.choose(query, shown)
        if columns is not None:
            named = [(str(tile.number), one) for tile, one in tiles]
            return shown_columns("tile", named, columns, capture, code)
        shown = [tile for tile, _ in tiles]
    result = Result(
        view.TILES_SCHEMA,
        lambda: view.tiles_document(capture.model, found, shown),
        lambda: tile_lines(found, shown) if plot else _lines(found, shown),
        lambda: view.csv_columns(Tile),
        lambda: view.csv_rows(shown),
        lambda: view.documents(shown),
    )
    return Shown(capture, code, result)


def _choose(capture: Capture, scope: Scope) -> Pass:
    """The pass of the place, or the only one with tiles. Raises ``not_there``."""
    tiled = [one for one in capture.passes if one.tiles and scope.has_pass(one.index)]
    if len(tiled) == 1:
        return tiled[0]
    if tiled:
        there = passes_text([one.index for one in tiled])
        raise click.UsageError(f"several passes have tiles, choose one with --at: {there}")
    if scope.place is None:
        raise not_there(capture, "no pass of this capture is rendered in tiles")
    raise not_there(capture, f"{scope.place}: no tiles here{tiled_passes(capture.model.passes)}")


def _lines(found: Pass, shown: Sequence[Tile]) -> Iterator[str]:
    from cffpy.views import tiles as view

    yield from view.head_lines(found)
    yield ""
    yield from headed_columns(view.table(shown), view.RIGHT)
    yield ""
    yield from view.operation_lines(shown)
    yield from view.condition_lines(shown)
    density = view.density_table(found)
    if density:
        yield ""
        yield "fragment density map: x' = s * x + o"
        yield from headed_columns(density, view.DENSITY_RIGHT)
    yield from view.problem_lines(found)


def _draw(path: str, output: str, found: Pass, shown: Sequence[Tile]) -> None:
    from cffpy.views.tiles_svg import drawing

    write_lines_to(output, drawing(found, shown).lines(), [path])
