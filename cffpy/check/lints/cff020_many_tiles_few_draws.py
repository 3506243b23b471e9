# SPDX-License-Identifier: MIT
"""CFF020: loads and stores of tiles outnumber the draws by far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A5XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report

#: This many loads and stores for each draw are normal.
_RATIO = 4


class ManyTilesFewDraws(Lint):
    """Loads and stores of tiles outnumber the draws by far."""

    id = "CFF020"
    name = "many-tiles-few-draws"
    severity = "info"
    generations = FROM_A5XX
    summary = "loads and stores of tiles outnumber the draws by far"
    why = (
        "Each tile moves its attachments between GMEM and memory. With few draws that costs more "
        "than rendering into memory."
    )
    advice = "Merge passes on the same attachments, or render the pass in sysmem mode."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """GMEM passes with four times as many loads and stores as draws."""
        for found in capture.render_passes():
            moves = sum(
                operation.kind in ("load", "store") and operation.action.execution.is_possible
                for tile in found.tiles
                for operation in tile.operations
            )
            draws = len(found.draws)
            if found.mode == "gmem" and draws and moves > _RATIO * draws:
                text = f"{len(found.tiles)} tiles have {moves} loads and stores for {draws} draws"
                yield at_pass(found, text)
