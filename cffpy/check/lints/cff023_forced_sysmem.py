# SPDX-License-Identifier: MIT
"""CFF023: tessellation or layers force a pass into sysmem mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A6XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class ForcedSysmem(Lint):
    """Tessellation or layers force a pass into sysmem mode."""

    id = "CFF023"
    name = "forced-sysmem"
    severity = "info"
    generations = FROM_A6XX
    needs = (DrawStates,)
    summary = "tessellation or layers force a pass into sysmem mode"
    why = "Mesa does not render such a pass in GMEM: every draw reads and writes memory."
    advice = "Keep tessellated draws and layered rendering in separate passes."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Sysmem passes with hull programs or several layers."""
        states = capture.facts(DrawStates)
        for found in capture.render_passes():
            if found.mode != "sysmem" or not found.attachments:
                continue
            taken = [state for state in map(states.of, found.draws) if state is not None]
            if any(one.stage == "HS" for state in taken for one in state.programs):
                yield at_pass(found, "draws with tessellation in sysmem mode", "tessellation")
            elif (found.layers or 1) > 1:
                yield at_pass(found, f"{found.layers} layers in sysmem mode", "layers")
