# SPDX-License-Identifier: MIT
"""The passes of a report: their facts, equal operations together, tiles by columns; LRZ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.analysis.pass_cost import bytes_of_format
from cffpy.frame.faces import facts_document
from cffpy.frame.fact_columns import FactColumns
from cffpy.frame.facts import model_of
from cffpy.frame.passes import Tile
from cffpy.reports.documents import OF_LRZ_ELSEWHERE, OF_PASS_ELSEWHERE, OF_RUN_ELSEWHERE
from cffpy.views.lrz import buffer_text, summary_text
from cffpy.views.passes import operation_text, size_text, title

if TYPE_CHECKING:
    from cffpy.analysis.lrz import PassLrz
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Pass
    from cffpy.reports.columns import Cuts
    from cffpy.reports.pictures import PictureList

#: Passes of a report; tiles of a pass, and of all passes.
MAX_PASSES, _MAX_PASS_TILES, _MAX_TILES = 5000, 4096, 60_000


class PassDocuments:
    """Makes the object of each pass."""

    def __init__(self, pictures: PictureList, cuts: Cuts) -> None:
        """``pictures`` makes those of attachments."""
        self._pictures = pictures
        self._cuts = cuts
        self._tiles_left = _MAX_TILES

    def of(self, one: Pass, rows: list[int], visible: int) -> dict[str, Any]:
        """A pass. ``rows``: of its draws; ``visible``: their primitives. See ReportedPass."""
        made_here = ("attachments", "operations")
        return {
            **facts_document(one, without=(*OF_PASS_ELSEWHERE, *made_here)),
            "title": title(one),
            "framebuffer_text": size_text(one),
            "attachments": [self._attachment(one, target) for target in one.attachments],
            "operations": _operations(one),
            "tiles": self._tiles(one),
            "events_before": dict(sorted(one.events_before.items())),
            "visible_primitives": visible,
            "rows": rows,
        }

    def _attachment(self, one: Pass, target: Attachment) -> dict[str, Any]:
        size, bins = bytes_of_format(target.format), one.bin_size
        gmem_bytes = None
        if target.gmem is not None and size is not None and bins is not None:
            gmem_bytes = size * bins.width * bins.height * (one.samples or 1)
        return {
            **facts_document(target),
            "gmem_bytes": gmem_bytes,
            "picture": self._pictures.of_attachment(one, target),
        }

    def _tiles(self, one: Pass) -> dict[str, Any] | None:
        if not one.tiles:
            return None
        columns = FactColumns(model_of(Tile), without=OF_RUN_ELSEWHERE)
        most = min(_MAX_PASS_TILES, self._tiles_left)
        if len(one.tiles) > most:
            self._cuts.note(f"tiles of pass {one.index} after the first {most:,}")
        for tile in one.tiles[:most]:
            columns.add(tile)
        self._tiles_left -= min(most, len(one.tiles))
        return columns.to_document()


def lrz_document(one: PassLrz) -> dict[str, Any]:
    """LRZ in a pass; its draws have theirs."""
    texts = {"buffer": buffer_text(one), "summary": summary_text(one)}
    return {**facts_document(one, without=OF_LRZ_ELSEWHERE), **texts}


def _operations(one: Pass) -> list[dict[str, Any]]:
    """Loads, clears, stores: equal ones of all tiles are one entry."""
    found: dict[tuple[str | None, str, str], dict[str, Any]] = {}
    for run in one.runs:
        for operation in run.possible_operations:
            text = operation_text(operation)
            key = operation.attachment, operation.kind, text
            row = found.get(key)
            if row is None:
                own = {"text": text, "times": 0, "in_binning": 0}
                row = found[key] = {**facts_document(operation), **own}
            row["in_binning" if run is one.binning else "times"] += 1
    return list(found.values())
