# SPDX-License-Identifier: MIT
"""CFF024: an image is sampled before the cache that holds it was cleaned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.barriers import Barriers
from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.facts.hazards import unclean_reads
from cffpy.check.model import FROM_A6XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class MissingClean(Lint):
    """An image is sampled before the cache that holds it was cleaned."""

    id = "CFF024"
    name = "missing-clean"
    severity = "error"
    generations = FROM_A6XX
    needs = (
        DrawTextures,
        Barriers,
    )
    summary = "an image is sampled before the cache that holds it was cleaned"
    why = (
        "Rendering in sysmem mode and CP_BLIT write through the colour and depth cache. Until it "
        "is cleaned, and the texture cache invalidated, memory holds older pixels."
    )
    advice = (
        "Emit PC_CCU_FLUSH_COLOR_TS or CCU_CLEAN_COLOR (for depth: _DEPTH), then "
        "CACHE_INVALIDATE, between the write and the draw."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Textures of executed draws whose memory is still in the cache."""
        for read in unclean_reads(capture):
            if read.written_by != "BLIT event":
                text = (
                    f"the texture at {read.address:#x} was written by {read.written_by};"
                    f" {read.missing} is missing"
                )
                cause = read.address, read.missing
                yield Report(text, cause, read.action.place, read.found, read.action)
