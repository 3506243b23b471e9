# SPDX-License-Identifier: MIT
"""CFF022: a binning run of a single tile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.passes import Pass


class NeedlessBinning(Lint):
    """A binning run of a single tile.

    Drivers use a run for two tiles (Gallium, from a6xx on) or three, and more.
    """

    id = "CFF022"
    name = "needless-binning"
    severity = "info"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "a binning run of a single tile"
    why = (
        "The binning run executes all vertex programs once more, and there is no other tile whose "
        "draws could be skipped."
    )
    advice = "Do not force hardware binning for small framebuffers."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """GMEM passes with a binning run and one tile; transform feedback needs the run."""
        states = capture.facts(DrawStates)
        for found in capture.render_passes():
            if not found.hardware_binning or len(found.tiles) != 1 or not _is_single(found):
                continue
            taken = [state for state in map(states.of, found.draws) if state is not None]
            knows_all = all(map(states.is_complete, found.draws))
            if knows_all and not any(state.raster.feeds_back for state in taken):
                yield at_pass(found, "a binning run for 1 tile")


def _is_single(found: Pass) -> bool:
    """Whether the grid has one tile, too: a capture may end in the first of several."""
    return found.grid is not None and found.grid.width * found.grid.height == 1
