# SPDX-License-Identifier: MIT
"""CFF021: a pass with many draws or samples is rendered in sysmem mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A6XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.draw_states import DrawState
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.passes import Pass

#: By the drivers' rule, passes with at most this many draws are rendered in sysmem.
_FEW = 5


class SysmemWithManyDraws(Lint):
    """A pass with many draws or samples is rendered in sysmem mode."""

    id = "CFF021"
    name = "sysmem-with-many-draws"
    severity = "info"
    generations = FROM_A6XX
    needs = (DrawStates,)
    summary = "a pass with many draws or samples is rendered in sysmem mode"
    why = (
        "Blending, depth tests and samples go to memory for each draw. The drivers choose GMEM "
        "here unless something prevents it."
    )
    advice = (
        "Look for TU_DEBUG=sysmem or FD_MESA_DEBUG=sysmem, a feedback loop, or a barrier in the "
        "pass."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Sysmem passes that the rule of turnip and Gallium renders in GMEM."""
        states = capture.facts(DrawStates)
        for found in capture.render_passes():
            draws = found.draws
            many = len(draws) > _FEW or (found.samples or 1) > 1
            if found.mode != "sysmem" or not many or not found.attachments or not draws:
                continue
            taken = [state for state in map(states.of, draws) if state is not None]
            knows_all = all(map(states.is_complete, draws))
            if knows_all and not _needs_sysmem(found, taken):
                text = f"{len(draws)} draws with {found.samples or 1} samples in sysmem mode"
                yield at_pass(found, text)


def _needs_sysmem(found: Pass, states: list[DrawState]) -> bool:
    """Tessellation, transform feedback and layers are always rendered in sysmem mode."""
    tessellates = any(one.stage == "HS" for state in states for one in state.programs)
    feeds = any(state.raster.feeds_back for state in states)
    return tessellates or feeds or (found.layers or 1) > 1 or (found.views or 1) > 1
