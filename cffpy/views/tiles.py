# SPDX-License-Identifier: MIT
"""The tiles of a pass as tables of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.density import pair_text, point_text
from cffpy.frame.execution import Executed
from cffpy.views.passes import operation_text, ranges_text, title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.frame.density import Density, ViewDensity
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
        _NONE if view.scissor is None else str(view.scissor),
        f"{density.writes} writes, {density.dwords} dwords",
    )


def problem_lines(pass_: Pass) -> Iterator[str]:
    """What does not fit together in density maps."""
    for tile in pass_.tiles:
        if tile.density is not None:
            for problem in tile.density.problems:
                yield f"tile {tile.number}: {problem}"
