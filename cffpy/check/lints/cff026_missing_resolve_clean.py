# SPDX-License-Identifier: MIT
"""CFF026: an image is sampled before the stores of BLIT events were cleaned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.barriers import Barriers
from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.facts.hazards import unclean_reads
from cffpy.check.model import ONLY_A7XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class MissingResolveClean(Lint):
    """An image is sampled before the stores of BLIT events were cleaned."""

    id = "CFF026"
    name = "missing-resolve-clean"
    severity = "warning"
    generations = ONLY_A7XX
    needs = (
        DrawTextures,
        Barriers,
    )
    summary = "an image is sampled before the stores of BLIT events were cleaned"
    why = "On a7xx the stores of tiles go through a separate cache."
    advice = "Emit CCU_RESOLVE_CLEAN and CACHE_INVALIDATE after the pass that stores."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Textures of executed draws whose memory BLIT events stored since the last clean."""
        for read in unclean_reads(capture):
            if read.written_by == "BLIT event":
                text = (
                    f"the texture at {read.address:#x} was stored by BLIT event;"
                    f" {read.missing} is missing"
                )
                cause = read.address, read.missing
                yield Report(text, cause, read.action.place, read.found, read.action)
