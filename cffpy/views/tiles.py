# SPDX-License-Identifier: MIT
"""The tiles of a pass as tables of text, and as a drawing: the grid, order, pipes, shading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cffpy.frame.density import pair_text, point_text
from cffpy.frame.execution import Executed
from cffpy.views.passes import operation_text, ranges_text, size_text, title
from cffpy.views.svg import FAINT, INK, NEUTRAL, ColourScale, Svg, pipe_colour

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.frame.density import Density, ViewDensity
    from cffpy.frame.geometry import Rectangle
    from cffpy.frame.passes import Pass, Tile

HEADINGS = (
    "tile",
    "bin",
    "rectangle",
    "window",
    "pipe",
    "slot",
    "streams",
    "emitted",
    "visible",
    "executed",
    "conditional",
    "loads",
    "clears",
    "stores",
    "scale",
)
#: Columns of numbers.
RIGHT = (0, 4, 5, 7, 8, 9)

DENSITY_HEADINGS = (
    "tile",
    "view",
    "scale",
    "by",
    "o",
    "b_cs",
    "b_s",
    "b_cs - s * b_s",
    "fits",
    "o'",
    "LRZ",
    "scissor",
    "patched",
)
DENSITY_RIGHT = (0, 1)

_UNKNOWN = "unknown"
_NONE = "-"

Table = list[tuple[str, ...]]


def head_lines(pass_: Pass) -> Iterator[str]:
    """The size, the bins and the pipes of a pass, in words."""
    yield title(pass_)
    bins = f" of {pass_.bin_size}" if pass_.bin_size else ""
    grid = f", grid {pass_.grid}" if pass_.grid else ""
    count = len(pass_.pipes)
    pipes = f", {count} VSC {'pipe' if count == 1 else 'pipes'}" if count else ""
    number = len(pass_.tiles)
    by = _executed_by(pass_)
    tiles = "tile" if number == 1 else "tiles"
    yield f"{number} {tiles}{bins}{grid}{pipes}{_merged_text(pass_)}{by}"
    for text in pass_.unknown:
        yield f"unknown: {text}"


def _executed_by(pass_: Pass) -> str:
    """The pipes of the CP that execute tiles and the binning run, where the stream names any."""
    of_tiles = sorted({tile.cp_pipe for tile in pass_.tiles if tile.cp_pipe is not None})
    binning = f", binning run by {pass_.binning_pipe}" if pass_.binning_pipe is not None else ""
    return f"{', executed by ' + ' and '.join(of_tiles) if of_tiles else ''}{binning}"


def _merged_text(pass_: Pass) -> str:
    """How many bins of the grid the tiles cover, where one takes several."""
    bins = sum(len(tile.merged_slots) or 1 for tile in pass_.tiles)
    return f", {bins} bins, some merged" if bins > len(pass_.tiles) else ""


def table(tiles: Sequence[Tile]) -> Table:
    """A row for each tile in the order of execution, below HEADINGS."""
    return [HEADINGS, *map(_cells, tiles)]


def _cells(tile: Tile) -> tuple[str, ...]:
    return (
        str(tile.number),
        _bin_text(tile),
        _UNKNOWN if tile.rectangle is None else str(tile.rectangle),
        point_text(tile.window_offset),
        _text(tile.pipe),
        _slot_text(tile),
        tile.visibility,
        str(tile.emitted),
        _text(tile.visible, _UNKNOWN),
        _text(tile.executed, _UNKNOWN),
        _condition_text(tile),
        _names(tile, "load"),
        _names(tile, "clear"),
        _names(tile, "store", "copy", "unknown"),
        _scale_text(tile.density),
    )


def _bin_text(tile: Tile) -> str:
    if tile.bins:
        return "+".join(map(str, tile.bins))
    return _NONE if tile.cell is None else str(tile.cell)


def _text(number: int | None, unknown: str = _NONE) -> str:
    return unknown if number is None else str(number)


def _slot_text(tile: Tile) -> str:
    if tile.slot is None:
        return _NONE
    slots = "+".join(map(str, tile.merged_slots)) or str(tile.slot)
    return slots if tile.pipe_tiles is None else f"{slots}/{tile.pipe_tiles}"


def _condition_text(tile: Tile) -> str:
    if not tile.conditional_draws:
        return "no"
    return "all" if tile.conditional_draws == tile.emitted else f"{tile.conditional_draws} draws"


def _names(tile: Tile, *kinds: str) -> str:
    """Attachments, each once; with a question mark where only the GPU knows."""
    names: dict[str, None] = {}
    for operation in tile.of_kind(*kinds):
        name = (operation.attachment or "?").replace("color ", "c")
        names[name + ("" if operation.action.execution is Executed.YES else "?")] = None
    return " ".join(names) or _NONE


def _scale_text(density: Density | None) -> str:
    if density is None:
        return _NONE
    scales = dict.fromkeys(pair_text(view.scale) for view in density.views)
    return ", ".join(scales) or _UNKNOWN


def operation_lines(tiles: Sequence[Tile]) -> Iterator[str]:
    """What is loaded, cleared and stored, each once, with the tiles that do it."""
    numbers_of: dict[str, list[int]] = {}
    for tile in tiles:
        for operation in tile.possible_operations:
            text = f"{operation.attachment or 'attachment unknown'}: {operation_text(operation)}"
            if operation.gmem is not None:
                text = f"{text}, GMEM {operation.gmem:#x}"
            numbers = numbers_of.setdefault(text, [])
            if not numbers or numbers[-1] != tile.number:
                numbers.append(tile.number)
    for text, numbers in numbers_of.items():
        yield f"{text}; {'tile' if len(numbers) == 1 else 'tiles'} {ranges_text(numbers)}"


def condition_lines(tiles: Sequence[Tile]) -> Iterator[str]:
    """Conditions that only the GPU can decide, with the tiles whose draws are under them."""
    numbers_of: dict[str, list[int]] = {}
    for tile in tiles:
        if tile.condition is not None:
            numbers_of.setdefault(tile.condition, []).append(tile.number)
    for text, numbers in numbers_of.items():
        yield f"conditional: {text}; tiles {ranges_text(numbers)}"


def density_table(pass_: Pass) -> Table:
    """A row for each view of each tile that is scaled by a density map; [] where none is."""
    found_rows = [
        _density_cells(tile, tile.density, view)
        for tile in pass_.tiles
        if tile.density is not None
        for view in tile.density.views
    ]
    return [DENSITY_HEADINGS, *found_rows] if found_rows else []


def _density_cells(tile: Tile, density: Density, view: ViewDensity) -> tuple[str, ...]:
    return (
        str(tile.number),
        str(view.number) if density.is_per_view or len(density.views) > 1 else "all",
        pair_text(view.scale),
        view.scale_from or _NONE,
        point_text(view.offset),
        point_text(tile.window_offset),
        point_text(view.bin_start) + ("" if view.is_start_stored else " (taken to be b_cs)"),
        point_text(view.expected_offset),
        {True: "yes", False: "NO", None: _UNKNOWN}[view.fits],
        _NONE if view.lrz_offset is None else point_text(view.lrz_offset),
        {True: "possible", False: "impossible", None: _UNKNOWN}[view.lrz_usable],
        _NONE if view.scissor is None else str(view.scissor),
        f"{density.writes} writes, {density.dwords} dwords",
    )


def problem_lines(pass_: Pass) -> Iterator[str]:
    """What does not fit together in density maps."""
    for tile in pass_.tiles:
        if tile.density is not None:
            for problem in tile.density.problems:
                yield f"tile {tile.number}: {problem}"


#: Tiles that are drawn at most: as many as a grid of 128 x 128 has.
MAX_TILES = 16384

#: Pixels: the longer side of what is drawn, the margin, the column of the legend.
_SIDE, _MARGIN, _LEGEND, _HEAD = 960, 20, 220, 34
_LEAST_SIDE = 40

#: Pixels that a text in a tile needs.
_TEXT_WIDTH, _TEXT_HEIGHT = 26, 14


@dataclass(slots=True)
class _Shade:
    """What tiles are shaded by: a value for each tile that has one."""

    label: str
    values: dict[int, float]
    scale: ColourScale


def drawing(pass_: Pass, tiles: Sequence[Tile]) -> Svg:
    """The pass. Tiles without a rectangle are left out, as are tiles past MAX_TILES."""
    shown = [tile for tile in tiles[:MAX_TILES] if tile.rectangle is not None]
    width, height = _extent(pass_, shown)
    factor = _SIDE / max(width, height)
    inner_width = max(width * factor, _LEAST_SIDE)
    inner_height = max(height * factor, _LEAST_SIDE)
    total_height = max(inner_height + _HEAD + 2 * _MARGIN, 300 + 18 * min(len(pass_.pipes), 33))
    svg = Svg(inner_width + _LEGEND + 3 * _MARGIN, total_height, title(pass_))
    svg.text(_MARGIN, _MARGIN + 6, title(pass_), 14, weight="bold")
    canvas = _Canvas(svg, _MARGIN, _MARGIN + _HEAD - 10, factor)
    shade = _shade(shown)
    for tile in shown:
        canvas.tile(tile, shade)
    centres = [canvas.centre(tile.rectangle) for tile in shown if tile.rectangle]
    if len(centres) > 1:
        svg.line(centres, FAINT, 0.75)
    for tile in shown:
        canvas.labels(tile, shade)
    canvas.pipes(pass_)
    if pass_.framebuffer is not None:
        size = pass_.framebuffer
        svg.rectangle(
            canvas.left,
            canvas.top,
            size.width * factor,
            size.height * factor,
            stroke=INK,
            stroke_width=2,
        )
    _legend(svg, inner_width + 2 * _MARGIN, canvas.top, pass_, tiles, shade)
    return svg


class _Canvas:
    """Position of the framebuffer in the drawing; ``factor``: pixels of the drawing per pixel."""

    def __init__(self, svg: Svg, left: float, top: float, factor: float) -> None:
        self.svg = svg
        self.left = left
        self.top = top
        self.factor = factor

    def centre(self, rectangle: Rectangle) -> tuple[float, float]:
        return (
            self.left + (rectangle.left + rectangle.right) / 2 * self.factor,
            self.top + (rectangle.top + rectangle.bottom) / 2 * self.factor,
        )

    def tile(self, tile_: Tile, shade: _Shade | None) -> None:
        rectangle = tile_.rectangle
        assert rectangle is not None
        value = None if shade is None else shade.values.get(tile_.number)
        self.svg.rectangle(
            self.left + rectangle.left * self.factor,
            self.top + rectangle.top * self.factor,
            rectangle.size.width * self.factor,
            rectangle.size.height * self.factor,
            NEUTRAL if shade is None or value is None else shade.scale.colour(value),
            FAINT,
            0.75,
            hint="\n".join(_hint(tile_)),
        )

    def labels(self, tile: Tile, shade: _Shade | None) -> None:
        rectangle = tile.rectangle
        assert rectangle is not None
        width = rectangle.size.width * self.factor
        height = rectangle.size.height * self.factor
        if width < _TEXT_WIDTH or height < _TEXT_HEIGHT:
            return
        value = None if shade is None else shade.values.get(tile.number)
        ink = INK if shade is None or value is None else shade.scale.ink(value)
        x, y = self.centre(rectangle)
        texts = [text for text in _labels(tile) if len(text) * 6 < width]
        texts = texts[: max(1, int((height - 10) // _TEXT_HEIGHT))]
        self.svg.text(x, y + 5, str(tile.number), 14, ink, "middle", "bold")
        for position, text in enumerate(texts[1:], 1):
            self.svg.text(x, y + 5 + position * _TEXT_HEIGHT, text, 10, ink, "middle")

    def pipes(self, pass_: Pass) -> None:
        """The rectangle of each VSC pipe, in its colour."""
        size = pass_.bin_size
        if size is None:
            return
        limit = pass_.grid
        for position, pipe in enumerate(pass_.pipes):
            width = pipe.width if limit is None else min(pipe.width, limit.width - pipe.x)
            height = pipe.height if limit is None else min(pipe.height, limit.height - pipe.y)
            inset = 2
            self.svg.rectangle(
                self.left + pipe.x * size.width * self.factor + inset,
                self.top + pipe.y * size.height * self.factor + inset,
                width * size.width * self.factor - 2 * inset,
                height * size.height * self.factor - 2 * inset,
                stroke=pipe_colour(position),
                stroke_width=2.5,
            )
            self.svg.pipe_label(
                self.left + pipe.x * size.width * self.factor,
                self.top + pipe.y * size.height * self.factor,
                pipe.number,
                pipe_colour(position),
            )


def _extent(pass_: Pass, shown: Sequence[Tile]) -> tuple[int, int]:
    """What is drawn: framebuffer and tiles, at least a pixel."""
    width, height = 1, 1
    if pass_.framebuffer is not None:
        width, height = max(1, pass_.framebuffer.width), max(1, pass_.framebuffer.height)
    for tile in shown:
        rectangle = tile.rectangle
        assert rectangle is not None
        width, height = max(width, rectangle.right), max(height, rectangle.bottom)
    return width, height


def _labels(tile: Tile) -> list[str]:
    texts = [str(tile.number)]
    if tile.visible is not None:
        texts.append(f"{tile.visible} of {tile.emitted} draws")
    if tile.primitives is not None:
        texts.append(f"{tile.primitives} primitives")
    if tile.density is not None:
        texts.extend(pair_text(view.scale) for view in tile.density.views)
    return texts


def _hint(tile: Tile) -> list[str]:
    cell = tile.cell
    where = "" if cell is None else f", column {cell.column}, row {cell.row}"
    texts = [f"tile {tile.number}{where}", f"{tile.rectangle}"]
    if tile.window_offset is not None:
        texts.append(f"window offset {point_text(tile.window_offset)}")
    if tile.pipe is not None:
        slot = "" if tile.slot is None else f", slot {tile.slot} of {tile.pipe_tiles}"
        texts.append(f"VSC pipe {tile.pipe}{slot}")
    visible = "unknown" if tile.visible is None else str(tile.visible)
    texts.append(f"draws: {tile.emitted}, visible: {visible}")
    if tile.primitives is not None:
        texts.append(f"primitives: {tile.primitives}")
    if tile.density is not None:
        for view in tile.density.views:
            scale, offset = pair_text(view.scale), point_text(view.offset)
            texts.append(f"view {view.number}: scale {scale}, offset {offset}")
        texts.extend(tile.density.problems)
    return texts


def _shade(shown: Sequence[Tile]) -> _Shade | None:
    """By primitives where they are known, else by draws, else by the scale of density maps."""
    primitives = {o.number: float(o.primitives) for o in shown if o.primitives is not None}
    draws = {o.number: float(o.visible) for o in shown if o.visible is not None}
    scales = {}
    for tile in shown:
        views = tile.density.views if tile.density is not None else []
        shares = [view.scale.x * view.scale.y for view in views if view.scale is not None]
        if shares:
            scales[tile.number] = min(shares)
    for label, values in (("primitives", primitives), ("visible draws", draws)):
        if values:
            return _Shade(label, values, ColourScale(0, max(1.0, *values.values())))
    if scales:
        return _Shade("pixels drawn a pixel", scales, ColourScale(0, 1))
    return None


def _legend(
    svg: Svg,
    x: float,
    y: float,
    pass_: Pass,
    tiles: Sequence[Tile],
    shade: _Shade | None,
) -> None:
    texts = [f"framebuffer {size_text(pass_)}", f"{len(tiles)} tiles"]
    if pass_.bin_size is not None:
        texts.append(f"bins of {pass_.bin_size}")
    if len(tiles) > MAX_TILES:
        texts.append(f"the first {MAX_TILES} are drawn")
    missing = sum(tile.rectangle is None for tile in tiles)
    if missing:
        texts.append(f"{missing} without a rectangle")
    if shade is None:
        texts.append("visible draws: unknown")
    for text in texts:
        svg.text(x, y + 12, text)
        y += 18
    svg.line([(x, y + 10), (x + 24, y + 10)], FAINT, 0.75)
    svg.text(x + 32, y + 14, "order of execution")
    y += 26
    svg.rectangle(x, y + 2, 24, 14, stroke=INK, stroke_width=2)
    svg.text(x + 32, y + 14, "framebuffer" if pass_.framebuffer else "framebuffer: unknown")
    y += 30
    if shade is not None:
        shade.scale.legend(svg, x, y, _LEGEND - 20, shade.label)
        y += 54
    for position, pipe in enumerate(pass_.pipes):
        colour = pipe_colour(position)
        svg.rectangle(x, y + 2, 24, 12, stroke=colour, stroke_width=2.5)
        text = f"VSC pipe {pipe.number}: {pipe.width} x {pipe.height} tiles"
        svg.text(x + 32, y + 12, text, 11)
        y += 18
