# SPDX-License-Identifier: MIT
"""The visibility of a pass as a heat map: primitives or draws a tile, over the framebuffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.stream_tiles import tile_slots
from cffpy.views.passes import size_text, title
from cffpy.views.svg import FAINT, INK, NEUTRAL, PALETTE, ColourScale, Svg

if TYPE_CHECKING:
    from cffpy.analysis.passes.geometry import Rectangle
    from cffpy.analysis.passes.model import Tile
    from cffpy.analysis.visibility_model import PassVisibility, PipeStreams

#: Tiles that are drawn at most: as many as a grid of 128 x 128 has.
MAX_TILES = 16384

#: Pixels of the drawing.
_SIDE, _MARGIN, _HEAD, _LEGEND = 960, 20, 34, 240
_LEAST_WIDTH, _LEAST_HEIGHT = 760, 160
_ROW = 18
_TEXT_WIDTH = 7  # a digit's, about


def drawing(found: PassVisibility) -> Svg:
    """The heat map. Tiles of which nothing was decoded are left blank, with the reason as hint."""
    one = found.one
    by_number = {pipe.pipe.number: pipe for pipe in found.pipes}
    tiles = [tile for tile in one.tiles[:MAX_TILES] if tile.rectangle is not None]
    draws = _values(tiles, by_number, of_primitives=False)
    primitives = _values(tiles, by_number, of_primitives=True)
    by_primitives = bool(primitives) and len(primitives) == len(draws)
    values = primitives if by_primitives else draws
    label = "primitives a tile" if by_primitives else "draws a tile"
    scale = ColourScale(0, max(1, *values.values()) if values else 1)

    width, height = _extent(found, tiles)
    factor = _SIDE / max(width, height)
    legend_height = 100 + _ROW * len(found.pipes)
    inner = max(height * factor, legend_height, _LEAST_HEIGHT)
    left, top = _MARGIN, _MARGIN + _HEAD
    legend_left = 2 * _MARGIN + width * factor
    full_width = max(legend_left + _LEGEND + _MARGIN, _LEAST_WIDTH)
    svg = Svg(full_width, top + inner + _MARGIN, title(one))
    svg.text(left, _MARGIN + 6, f"{title(one)}: {label}", 14, weight="bold")

    def place(rectangle: Rectangle) -> tuple[float, float, float, float]:
        return (
            left + rectangle.left * factor,
            top + rectangle.top * factor,
            rectangle.size.width * factor,
            rectangle.size.height * factor,
        )

    for tile in tiles:
        assert tile.rectangle is not None
        value = values.get(tile.number)
        x, y, wide, high = place(tile.rectangle)
        fill = NEUTRAL if value is None else scale.colour(value)
        pipe = None if tile.pipe is None else by_number.get(tile.pipe)
        svg.rectangle(
            x, y, wide, high, fill, FAINT, 0.75, hint=_hint(tile, pipe, draws, primitives)
        )
        text = "" if value is None else str(value)
        if text and len(text) * _TEXT_WIDTH < wide and high > _ROW:
            svg.text(x + wide / 2, y + high / 2 + 4, text, 11, scale.ink(value or 0), "middle")
    _outline_pipes(svg, found, left, top, factor)
    if one.framebuffer is not None:
        size = one.framebuffer
        svg.rectangle(left, top, size.width * factor, size.height * factor, stroke=INK)
    _legend(svg, found, legend_left, top, scale if values else None, label)
    return svg


def _values(
    tiles: list[Tile], pipes: dict[int, PipeStreams], of_primitives: bool
) -> dict[int, int]:
    """Tile -> what is visible there, for the tiles whose one bin was decoded whole."""
    values = {}
    for tile in tiles:
        pipe = None if tile.pipe is None else pipes.get(tile.pipe)
        slots = tile_slots(tile)
        if pipe is None or pipe.state not in ("decoded", "overflowed") or len(slots) != 1:
            continue
        counts = pipe.primitives_per_bin if of_primitives else pipe.draws_per_bin
        if counts and slots[0] < len(counts):
            values[tile.number] = counts[slots[0]]
    return values


def _extent(found: PassVisibility, tiles: list[Tile]) -> tuple[int, int]:
    """Framebuffer and tiles, at least a pixel."""
    size = found.one.framebuffer
    rectangles = [tile.rectangle for tile in tiles if tile.rectangle is not None]
    width = max([1 if size is None else size.width, *(one.right for one in rectangles)])
    height = max([1 if size is None else size.height, *(one.bottom for one in rectangles)])
    return max(1, width), max(1, height)


def _outline_pipes(svg: Svg, found: PassVisibility, left: float, top: float, factor: float) -> None:
    size, grid = found.one.bin_size, found.one.grid
    if size is None:
        return
    for position, streams in enumerate(found.pipes):
        pipe = streams.pipe
        wide = pipe.width if grid is None else min(pipe.width, grid.width - pipe.x)
        high = pipe.height if grid is None else min(pipe.height, grid.height - pipe.y)
        svg.rectangle(
            left + pipe.x * size.width * factor + 2,
            top + pipe.y * size.height * factor + 2,
            wide * size.width * factor - 4,
            high * size.height * factor - 4,
            stroke=PALETTE[position % len(PALETTE)],
            stroke_width=2.5,
        )


def _hint(
    tile: Tile, pipe: PipeStreams | None, draws: dict[int, int], primitives: dict[int, int]
) -> str:
    texts = [f"tile {tile.number}, {tile.rectangle}"]
    if pipe is None:
        return f"{texts[0]}\nin no VSC pipe"
    slot = "unknown" if tile.slot is None else str(tile.slot)
    texts.append(f"VSC pipe {pipe.pipe.number}, slot {slot}: {pipe.state}")
    if tile.number in draws:
        texts.append(f"{draws[tile.number]} of {pipe.entries} draws")
    if tile.number in primitives:
        texts.append(f"{primitives[tile.number]} primitives")
    if pipe.fits is False:
        texts.append("the streams are not of this pass's draws")
    if tile.visibility_override:
        texts.append("streams are ignored: every draw is executed")
    return "\n".join(texts)


def _legend(
    svg: Svg, found: PassVisibility, x: float, y: float, scale: ColourScale | None, label: str
) -> None:
    if scale is None:
        svg.text(x, y + 12, "no stream was decoded")
        y += 24
    else:
        scale.legend(svg, x, y, _LEGEND - 20, label)
        y += 54
    svg.text(x, y + 12, f"framebuffer {size_text(found.one)}")
    y += 24
    for position, streams in enumerate(found.pipes):
        pipe = streams.pipe
        svg.rectangle(x, y + 2, 24, 12, stroke=PALETTE[position % len(PALETTE)], stroke_width=2.5)
        svg.text(x + 32, y + 12, f"VSC pipe {pipe.number}: {streams.state}", 11)
        y += _ROW
