# SPDX-License-Identifier: MIT
"""Grids of tiles and heat maps of characters, for terminals; colours repeat what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.frame.geometry import Cell
from cffpy.views.passes import title
from cffpy.views.plain_text import Painted, Styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cffpy.frame.passes import Pass, SubmitPasses, Tile
    from cffpy.frame.visibility import PassVisibility

#: From nothing to the most; the first is also for a value of 0.
_SHADES = " .:-=+*#%@"

#: Columns and rows of tiles that are drawn; no line has more than 80 characters.
_MAX_COLUMNS, _MAX_ROWS = 64, 64

#: Columns of tiles, at most -> characters of a cell. More of them have one each, without a number.
_CELLS = ((9, 7), (19, 3))

#: Characters of a bar, bars of passes.
_BAR, _MAX_BARS = 34, 500


class _Cell(NamedTuple):
    """``number``: what is printed. ``heat``: what is shaded; None: not known."""

    number: int
    heat: int | None
    pipe: int | None


def tile_lines(pass_: Pass, tiles: Iterable[Tile]) -> Iterator[str]:
    """The tiles in their places: each with its number, shaded by its visible draws."""
    cells = {}
    for tile in tiles:
        place = tile.cell
        if place is not None:
            cells[place] = _Cell(tile.number, tile.visible, tile.pipe)
    yield from _grid(pass_, cells, "visible draws")


def visibility_lines(
    visibility: PassVisibility, heat: Mapping[int, int], label: str
) -> Iterator[str]:
    """The same, shaded by what the visibility streams have. ``heat``: by number of the tile."""
    pass_ = visibility.pass_
    cells = {}
    for tile in pass_.tiles:
        place = tile.cell
        if place is not None:
            cells[place] = _Cell(tile.number, heat.get(tile.number), tile.pipe)
    yield from _grid(pass_, cells, label)


def _grid(pass_: Pass, cells: Mapping[Cell, _Cell], label: str) -> Iterator[str]:
    yield Styled(title(pass_))
    if not cells:
        yield "  no tiles whose places are known"
        return
    columns, rows = (max(place[axis] for place in cells) + 1 for axis in (0, 1))
    known = [cell.heat for cell in cells.values() if cell.heat is not None]
    most = max(known, default=0)
    drawn = min(columns, _MAX_COLUMNS)
    width = next((width for limit, width in _CELLS if drawn <= limit), 1)
    places = [
        [cells.get(Cell(column, row)) for column in range(drawn)]
        for row in range(min(rows, _MAX_ROWS))
    ]
    yield from _rows(places, most, width)
    if columns > drawn or rows > _MAX_ROWS:
        yield f"  {columns} x {rows} tiles: the rest is not drawn"
    yield f"  {'number of the tile; ' if width > 1 else ''}{label}{_legend(known)}"


def _rows(rows: list[list[_Cell | None]], most: int, width: int) -> Iterator[str]:
    """The cells in a frame; between them rules, if they are wider than one character."""
    cell = "-" * width + ("+" if width > 1 else "")
    rule = f"  +{cell * len(rows[0])}{'' if width > 1 else '+'}"
    yield rule
    for row in rows:
        yield from _row(row, most, width)
        if width > 1:
            yield rule
    if width == 1:
        yield rule


def _legend(known: list[int]) -> str:
    """What the shades of these heats mean."""
    most = max(known, default=0)
    if most:
        return f": '{_SHADES[1]}' few to '{_SHADES[-1]}' {most:,}"
    return " are 0" if known else " are not known"


def _row(cells: list[_Cell | None], most: int, width: int) -> Iterator[str]:
    """The numbers of tiles, if they have room; below them shades, where something is known."""
    heats = [_style(cell, most) for cell in cells]
    if width > 1:
        yield _painted([_number(cell, width) for cell in cells], heats, "|")
    if most or width == 1:
        gap = "|" if width > 1 else ""
        yield _painted([_shade(cell, most, width) for cell in cells], heats, gap)


def _painted(cells: list[str], styles: list[str], gap: str) -> str:
    """A row of cells of one width, each with its style; "" for none."""
    text = f"  |{gap.join(cells)}|"
    step = len(cells[0]) + len(gap)
    return Painted(
        text,
        (
            (3 + step * number, 3 + step * number + len(cells[0]), style)
            for number, style in enumerate(styles)
            if style
        ),
    )


def _style(cell: _Cell | None, most: int) -> str:
    """The style of a cell's heat."""
    if cell is None or not cell.heat or cell.heat < 0:
        return ""
    return f"heat {_SHADES.index(shade(cell.heat, most))}"


def _number(cell: _Cell | None, width: int) -> str:
    return " " * width if cell is None else str(cell.number)[-width:].center(width)


def _shade(cell: _Cell | None, most: int, width: int) -> str:
    if cell is None:
        return " " * width
    return ("?" if cell.heat is None else shade(cell.heat, most)) * width


def shade(value: int, most: int) -> str:
    """A character for a value of 0 to ``most``: the more, the darker."""
    if value <= 0:
        return _SHADES[0]
    return _SHADES[max(1, min(len(_SHADES) - 1, value * (len(_SHADES) - 1) // max(1, most)))]


def pass_lines(submits: Iterable[SubmitPasses]) -> Iterator[str]:
    """A bar for each render pass: its draws; after it the grid of its tiles."""
    shown = [pass_ for submit in submits for pass_ in submit.passes if pass_.kind == "render"]
    if not shown:
        yield "no render pass"
        return
    most = max(len(pass_.draws) for pass_ in shown)
    digits = max(len(str(pass_.index)) for pass_ in shown)
    for pass_ in shown[:_MAX_BARS]:
        yield _bar(pass_, digits, most)
    if len(shown) > _MAX_BARS:
        yield f"{len(shown) - _MAX_BARS} more passes"
    yield "# gmem, = sysmem; the longest bar has the most draws"


def _bar(pass_: Pass, digits: int, most: int) -> Painted:
    """The bar of a pass. ``digits``: of the largest index. ``most``: draws of the longest bar."""
    draws = len(pass_.draws)
    length = -(-draws * _BAR // most) if most else 0
    grid = f", {pass_.grid.width} x {pass_.grid.height} tiles" if pass_.grid and pass_.tiles else ""
    mode = pass_.mode or "unknown"
    bar = ("#" if mode == "gmem" else "=") * length
    head = f"pass {pass_.index:{digits}} {mode:7} |"
    text = f"{head}{bar:{_BAR}}| {draws:,} draw{'' if draws == 1 else 's'}{grid}"
    return Painted(text, ((len(head), len(head) + length, mode),) if length else ())
