# SPDX-License-Identifier: MIT
"""The visibility of a pass as a heat map: primitives or draws a tile, over the framebuffer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.visibility import tile_slots
from cffpy.views.passes import size_text, title
from cffpy.views.svg import FAINT, INK, NEUTRAL, ColourScale, Svg, pipe_colour
from cffpy.vsc.bits import slot_bit

if TYPE_CHECKING:
    from cffpy.analysis.visibility import PassVisibility, PipeStreams
    from cffpy.frame.geometry import Rectangle
    from cffpy.frame.passes import Tile

#: Tiles that are drawn at most: as many as a grid of 128 x 128 has.
MAX_TILES = 16384

#: Pixels of the drawing.
_SIDE, _MARGIN, _HEAD, _LEGEND = 960, 20, 34, 240
_LEAST_WIDTH, _LEAST_HEIGHT = 760, 160
_ROW = 18
_TEXT_WIDTH = 7  # a digit's, about


class Heat(NamedTuple):
    """What is visible in each tile, by its number, and what the map shows of it."""

    draws: dict[int, int]
    primitives: dict[int, int]

    @property
    def by_primitives(self) -> bool:
        """Whether primitives are known wherever draws are."""
        return bool(self.primitives) and len(self.primitives) == len(self.draws)

    @property
    def values(self) -> dict[int, int]:
        """Primitives, or draws, by number of the tile."""
        return self.primitives if self.by_primitives else self.draws

    @property
    def label(self) -> str:
        """What ``values`` are."""
        return "primitives a tile" if self.by_primitives else "draws a tile"


def drawing(found: PassVisibility) -> Svg:
    """The heat map. Tiles of which nothing was decoded are left blank, with the reason as hint."""
    one = found.pass_
    by_number = {pipe.pipe.number: pipe for pipe in found.pipes}
    tiles = [
        (tile, rectangle)
        for tile in one.tiles[:MAX_TILES]
        if (rectangle := tile.rectangle) is not None
    ]
    heat = _heat([tile for tile, _ in tiles], by_number)
    scale = ColourScale(0, max(1, *heat.values.values()) if heat.values else 1)

    width, height = _extent(found, [rectangle for _, rectangle in tiles])
    factor = _SIDE / max(width, height)
    legend_height = 100 + _ROW * len(found.pipes)
    inner = max(height * factor, legend_height, _LEAST_HEIGHT)
    left, top = _MARGIN, _MARGIN + _HEAD
    legend_left = 2 * _MARGIN + width * factor
    full_width = max(legend_left + _LEGEND + _MARGIN, _LEAST_WIDTH)
    svg = Svg(full_width, top + inner + _MARGIN, title(one))
    svg.text(left, _MARGIN + 6, f"{title(one)}: {heat.label}", 14, weight="bold")
    for tile, rectangle in tiles:
        pipe = None if tile.pipe is None else by_number.get(tile.pipe)
        hint = _hint(tile, rectangle, pipe, heat)
        box = (
            left + rectangle.left * factor,
            top + rectangle.top * factor,
            rectangle.size.width * factor,
            rectangle.size.height * factor,
        )
        _tile(svg, box, scale, heat.values.get(tile.number), hint)
    _outline_pipes(svg, found, left, top, factor)
    if one.framebuffer is not None:
        size = one.framebuffer
        svg.rectangle(left, top, size.width * factor, size.height * factor, stroke=INK)
    _legend(svg, found, legend_left, top, scale if heat.values else None, heat.label)
    return svg


def _tile(
    svg: Svg,
    box: tuple[float, float, float, float],
    scale: ColourScale,
    value: int | None,
    hint: str,
) -> None:
    """A tile in its colour, with its value where there is room. ``box``: x, y, width, height."""
    x, y, width, height = box
    fill = NEUTRAL if value is None else scale.colour(value)
    svg.rectangle(x, y, width, height, fill, FAINT, 0.75, hint=hint)
    if value is None or len(str(value)) * _TEXT_WIDTH >= width or height <= _ROW:
        return
    svg.text(x + width / 2, y + height / 2 + 4, str(value), 11, scale.ink(value), "middle")


def _heat(tiles: list[Tile], pipes: dict[int, PipeStreams]) -> Heat:
    """What is visible in the tiles whose bins were decoded whole."""
    heat = Heat({}, {})
    for tile in tiles:
        pipe = None if tile.pipe is None else pipes.get(tile.pipe)
        slots = tile_slots(tile)
        if pipe is None or pipe.state not in ("decoded", "overflowed") or not slots:
            continue
        if max(slots) >= len(pipe.entries_per_bin):
            continue
        if len(slots) == 1:
            heat.draws[tile.number] = pipe.entries_per_bin[slots[0]]
            if pipe.primitives_per_bin:
                heat.primitives[tile.number] = pipe.primitives_per_bin[slots[0]]
        else:  # merged bins: a draw that is visible in several of them is executed once
            bits = sum(slot_bit(slot) for slot in slots)
            heat.draws[tile.number] = sum(bool(entry.bitfield & bits) for entry in pipe.visible)
    return heat


def heat_of(found: PassVisibility) -> Heat:
    """What is visible in the tiles of a pass."""
    return _heat(found.pass_.tiles, {pipe.pipe.number: pipe for pipe in found.pipes})


def _extent(found: PassVisibility, rectangles: list[Rectangle]) -> tuple[int, int]:
    """Framebuffer and tiles, at least a pixel."""
    size = found.pass_.framebuffer
    width = max([1 if size is None else size.width, *(one.right for one in rectangles)])
    height = max([1 if size is None else size.height, *(one.bottom for one in rectangles)])
    return max(1, width), max(1, height)


def _outline_pipes(svg: Svg, found: PassVisibility, left: float, top: float, factor: float) -> None:
    size, grid = found.pass_.bin_size, found.pass_.grid
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
            stroke=pipe_colour(position),
            stroke_width=2.5,
        )
        svg.pipe_label(
            left + pipe.x * size.width * factor,
            top + pipe.y * size.height * factor,
            pipe.number,
            pipe_colour(position),
        )


def _hint(tile: Tile, rectangle: Rectangle, pipe: PipeStreams | None, heat: Heat) -> str:
    texts = [f"tile {tile.number}, {rectangle}"]
    if pipe is None:
        return f"{texts[0]}\nin no VSC pipe"
    slots = "+".join(map(str, tile_slots(tile))) or "unknown"
    texts.append(f"VSC pipe {pipe.pipe.number}, slot {slots}: {pipe.state}")
    if tile.number in heat.draws:
        texts.append(f"{heat.draws[tile.number]} of {pipe.entries} draws")
    if tile.number in heat.primitives:
        texts.append(f"{heat.primitives[tile.number]} primitives")
    if pipe.fits is False:
        texts.append("the streams are not of this pass's draws")
    if tile.visibility_override:
        texts.append("streams are ignored: every draw is executed")
    return "\n".join(texts)


def _legend(
    svg: Svg, found: PassVisibility, x: float, y: float, scale: ColourScale | None, label: str
) -> None:
    if scale is None:
        decoded = sum(pipe.state in ("decoded", "overflowed") for pipe in found.pipes)
        reason = "the bins of tiles are unknown" if decoded else "no stream was decoded"
        svg.text(x, y + 12, reason)
        y += 24
    else:
        scale.legend(svg, x, y, _LEGEND - 20, label)
        y += 54
    svg.text(x, y + 12, f"framebuffer {size_text(found.pass_)}")
    y += 24
    for position, streams in enumerate(found.pipes):
        pipe = streams.pipe
        svg.rectangle(x, y + 2, 24, 12, stroke=pipe_colour(position), stroke_width=2.5)
        svg.text(x + 32, y + 12, f"VSC pipe {pipe.number}: {streams.state}", 11)
        y += _ROW
