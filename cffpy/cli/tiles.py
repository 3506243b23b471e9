# SPDX-License-Identifier: MIT
"""``cffpy tiles``: the tiles of a pass, in the order of execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import jsonl_option, not_there, the_pass
from cffpy.cli.filter_options import filter_options, find_asking, query_of, shown_columns
from cffpy.cli.many_files import Forms, Shown, files_options, is_one_file, write_shown
from cffpy.cli.output_file import write_lines_to
from cffpy.cli.parameters import Integer
from cffpy.cli.text_options import text_options
from cffpy.views.plain_text import headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.passes import Pass, Tile
    from cffpy.query.filters import Filter

#: Passes listed in an error message.
_LISTED = 20

_EPILOG = """\b
Examples:
  cffpy tiles capture.rd.gz                   the only pass with tiles
  cffpy tiles --pass 3 capture.rd.gz
  cffpy tiles --pass 3 --svg tiles.svg capture.rd.gz
  cffpy tiles --pass 3 --plot capture.rd.gz   a drawing for the terminal
  cffpy tiles --pass 3 --json capture.rd.gz | jq '.tiles[].density.views[].scale'
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--pass",
    "index",
    type=Integer(),
    metavar="N",
    help="The pass; optional if only one pass has tiles.",
)
@filter_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.tiles/1).")
@jsonl_option("tile", "cffpy.tiles.line/1")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a row for each tile.")
@click.option("--plot", is_flag=True, help="Draw the grid with characters: draws of each tile.")
@click.option("--svg", "svg", metavar="OUT", help="Draw the grid to this SVG file ('-': stdout).")
@text_options
@files_options
def tiles(
    files: tuple[str, ...],
    gpu: Gpu | None,
    register_db: str | None,
    index: int | None,
    where: str | None,
    columns: str | None,
    as_json: bool,
    as_jsonl: bool,
    as_csv: bool,
    plot: bool,
    svg: str | None,
) -> int:
    """List the tiles of a GMEM pass in the order of execution.

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
    forms = Forms(as_json, as_jsonl, as_csv)
    forms.check()
    if any(forms) + plot + (svg is not None) > 1:
        message = "--json, --jsonl, --csv, --plot and --svg cannot be used together"
        raise click.UsageError(message)
    if plot and columns is not None:
        raise click.UsageError("--plot cannot be used with --columns")
    query = query_of(where, columns)
    if svg is not None and query is not None:
        raise click.UsageError("--svg cannot be used with --where or --columns")
    if svg is not None and not is_one_file(files):
        raise click.UsageError("--svg takes one file")

    def find(path: str) -> tuple[Capture, int, Pass]:
        capture, code = find_asking(path, gpu, register_db, query, at_draws=False)
        return capture, code, _choose(capture, index)

    if svg is not None:
        _, code, chosen = find(files[0])
        _draw(files[0], svg, chosen, chosen.tiles)
        return code

    def show(path: str) -> Shown:
        return _shown(*find(path), query, columns, plot)

    return write_shown(files, show, forms)


def _shown(
    capture: Capture,
    code: int,
    chosen: Pass,
    query: Filter | None,
    columns: str | None,
    plot: bool,
) -> Shown:
    """The tiles of a pass that match."""
    from cffpy.frame.faces import facts_document
    from cffpy.frame.passes import Tile
    from cffpy.views import model_documents as view
    from cffpy.views.plots import tile_lines

    found, shown = chosen, list(chosen.tiles)
    if query is not None:
        tiles = chosen.tiles.choose(query)
        if columns is not None:
            named = [(str(tile.number), one) for tile, one in tiles]
            return shown_columns("tile", named, columns, capture, code)
        shown = [tile for tile, _ in tiles]
    return Shown(
        capture,
        code,
        view.TILES_SCHEMA,
        lambda: view.tiles_document(capture.model, found, shown),
        lambda: tile_lines(found, shown) if plot else _lines(found, shown),
        view.csv_columns(Tile),
        lambda: view.csv_rows(shown),
        lambda: map(facts_document, shown),
    )


def _choose(capture: Capture, index: int | None) -> Pass:
    """The requested pass, or the only one with tiles. Raises ``not_there``."""
    tiled = [one for one in capture.passes if one.tiles]
    there = ", ".join(
        f"{one.index} ({len(one.tiles)} tile{'s' if len(one.tiles) > 1 else ''})"
        for one in tiled[:_LISTED]
    )
    if len(tiled) > _LISTED:
        there += f" and {len(tiled) - _LISTED} more"
    if index is not None:
        found = the_pass(capture, index)
        if not found.tiles:
            mode = found.mode or found.kind
            raise not_there(
                capture, f"pass {index} has no tiles ({mode}); passes with tiles: {there or 'none'}"
            )
        return found
    if len(tiled) != 1:
        if not tiled:
            raise not_there(capture, "no pass of this capture is rendered in tiles")
        raise click.UsageError(f"several passes have tiles, choose one with --pass: {there}")
    return tiled[0]


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
