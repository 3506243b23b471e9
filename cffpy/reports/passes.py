# SPDX-License-Identifier: MIT
"""The passes of a report: what each is, its attachments, operations, tiles, LRZ and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.analysis.pass_cost import bytes_of_format
from cffpy.views.lrz import buffer_text, summary_text
from cffpy.views.model_documents import hexadecimal
from cffpy.views.passes import operation_text, size_text, title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.analysis.lrz import PassLrz
    from cffpy.analysis.pass_cost import PassCost
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.geometry import Rectangle, Size
    from cffpy.frame.passes import Operation, Pass, Tile
    from cffpy.reports.pictures import PictureList
    from cffpy.reports.words import Cuts

#: Passes of a report; tiles of a pass, and of all passes.
MAX_PASSES, _MAX_PASS_TILES, _MAX_TILES = 5000, 4096, 60_000


class PassDocuments:
    """Makes the object of each pass."""

    def __init__(
        self,
        costs: Iterable[PassCost],
        lrz: Iterable[PassLrz],
        pictures: PictureList,
        cuts: Cuts,
    ) -> None:
        """``pictures`` makes those of attachments."""
        self._pictures = pictures
        self._costs = {cost.pass_.index: cost for cost in costs}
        self._lrz = {one.pass_.index: one for one in lrz}
        self._cuts = cuts
        self._tiles_left = _MAX_TILES

    def of(self, one: Pass, draws: tuple[int, int]) -> dict[str, Any]:
        """A pass. ``draws``: the number of its first draw in the report, and how many."""
        area = one.render_area
        return {
            "pass": one.index,
            "title": title(one),
            "kind": one.kind,
            "mode": one.mode,
            "submit": one.submit,
            "hardware_binning": one.hardware_binning,
            "concurrent": one.concurrent,
            "framebuffer": _size(one.framebuffer),
            "framebuffer_text": size_text(one),
            "render_area": None if area is None else _rectangle(area),
            "layers": one.layers,
            "views": one.views,
            "samples": one.samples,
            "bin_size": _size(one.bin_size),
            "grid": _size(one.grid),
            "pipes": [[p.number, p.x, p.y, p.width, p.height] for p in one.pipes],
            "markers": list(one.markers),
            "unknown": one.unknown,
            "first": str(one.first),
            "last": str(one.last),
            "attachments": [self._attachment(one, target) for target in one.attachments],
            "operations": _operations(one),
            "tiles": self._tiles(one),
            "tile_count": len(one.tiles),
            "lrz": self._lrz_of(one),
            "cost": self._cost(one),
            "events_before": [list(pair) for pair in sorted(one.events_before.items())],
            "draws": list(draws),
        }

    def _attachment(self, one: Pass, target: Attachment) -> dict[str, Any]:
        size, bins = bytes_of_format(target.format), one.bin_size
        gmem_bytes = None
        if target.gmem is not None and size is not None and bins is not None:
            gmem_bytes = size * bins.width * bins.height * (one.samples or 1)
        return {
            "name": target.name,
            "format": target.format,
            "swap": target.swap,
            "srgb": target.srgb,
            "tiling": target.tiling,
            "address": hexadecimal(target.address),
            "pitch": target.pitch,
            "ubwc": target.ubwc,
            "flags": hexadecimal(target.flags),
            "gmem": target.gmem,
            "gmem_bytes": gmem_bytes,
            "samples": target.samples,
            "write_mask": target.write_mask,
            "picture": self._pictures.of_attachment(one, target),
        }

    def _tiles(self, one: Pass) -> list[list[Any]]:
        """The tiles: see ``TILE_COLUMNS``."""
        if not one.tiles:
            return []
        most = min(_MAX_PASS_TILES, self._tiles_left)
        if len(one.tiles) > most:
            self._cuts.note(f"tiles of pass {one.index} after the first {most:,}")
        tiles = one.tiles[:most]
        self._tiles_left -= len(tiles)
        return [_tile(tile) for tile in tiles]

    def _lrz_of(self, one: Pass) -> dict[str, Any] | None:
        found = self._lrz.get(one.index)
        if found is None or not found.tests_depth:
            return None
        return {
            "buffer": buffer_text(found),
            "summary": summary_text(found),
            "lost_by": found.lost_by,
            "lost_why": None if found.lost_why is None else found.lost_why.text,
            "notes": found.notes,
        }

    def _cost(self, one: Pass) -> dict[str, Any] | None:
        cost = self._costs.get(one.index)
        if cost is None:
            return None
        return {
            "memory_bytes": cost.memory_bytes,
            "share": cost.share,
            "loaded": cost.loaded_bytes,
            "stored": cost.stored_bytes,
            "resolved": cost.resolved_bytes,
            "cleared": cost.cleared_bytes,
            "gmem_used": cost.gmem_used,
            "gmem_size": cost.gmem_size,
            "not_counted": cost.not_counted,
            "moved": [
                [m.kind, m.attachment, m.times, m.pixels, m.bytes_a_pixel, m.samples, m.bytes]
                for m in cost.operations
            ],
        }


#: The cells of a row of ``tiles``. None: not known. ``scale``: of each view, x and y.
TILE_COLUMNS = (
    "number",
    "x",
    "y",
    "width",
    "height",
    "column",
    "row",
    "pipe",
    "slot",
    "emitted",
    "visible",
    "executed",
    "primitives",
    "scale",
)


def _tile(tile: Tile) -> list[Any]:
    area, density = tile.rectangle, tile.density
    scales = [] if density is None else [v.scale for v in density.views if v.scale is not None]
    return [
        tile.number,
        *((None,) * 4 if area is None else _rectangle(area)),
        *((None,) * 2 if tile.cell is None else tile.cell),
        tile.pipe,
        tile.slot,
        tile.emitted,
        tile.visible,
        tile.executed,
        tile.primitives,
        scales or None,
    ]


def _operations(one: Pass) -> list[dict[str, Any]]:
    """Loads, clears, stores: equal ones of all tiles are one entry."""
    found: dict[tuple[str | None, str, str], dict[str, Any]] = {}
    for run in one.runs:
        for operation in run.operations:
            if operation.action.execution.is_possible:
                key = operation.attachment, operation.kind, operation_text(operation)
                row = found.get(key)
                if row is None:
                    row = found[key] = _operation(operation)
                row["in_binning" if run is one.binning else "times"] += 1
    return list(found.values())


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "kind": "resolve" if operation.resolves else operation.kind,
        "attachment": operation.attachment,
        "text": operation_text(operation),
        "address": hexadecimal(operation.address),
        "source": hexadecimal(operation.source),
        "place": str(operation.action.place),
        "times": 0,
        "in_binning": 0,
    }


def _size(size: Size | None) -> list[int] | None:
    return None if size is None else [size.width, size.height]


def _rectangle(area: Rectangle) -> Sequence[int]:
    return [area.left, area.top, area.size.width, area.size.height]


def pass_totals(one: Pass, visible: Sequence[int | None]) -> dict[str, int]:
    """Sums over the draws of a pass, as ``passes`` has them. ``visible``: primitives of each draw.

    ``not_counted``: draws whose vertices only the GPU knows.
    """
    vertices = one.vertices
    return {
        "vertices": vertices.number,
        "instances": one.instances.number,
        "not_counted": vertices.unknown,
        "visible": sum(number or 0 for number in visible),
    }
