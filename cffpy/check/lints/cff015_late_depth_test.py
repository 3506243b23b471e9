# SPDX-License-Identifier: MIT
"""CFF015: the depth test of many draws comes after the fragment program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A6XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report

#: Fewer draws are not worth a finding.
_FEW = 5


class LateDepthTest(Lint):
    """The depth test of many draws comes after the fragment program."""

    id = "CFF015"
    name = "late-depth-test"
    severity = "warning"
    generations = FROM_A6XX
    needs = (DrawStates,)
    summary = "the depth test of many draws comes after the fragment program"
    why = "With Z_MODE LATE_Z every fragment is shaded before it can be rejected."
    advice = (
        "Do not write depth or discard fragments where it is not needed, or demand early fragment"
        " tests."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws with LATE_Z and a depth test that can reject fragments."""
        states = capture.facts(DrawStates)
        for found in capture.render_passes():
            late = [
                draw
                for draw in found.draws
                if draw.depth
                and draw.depth.tests_depth
                and draw.depth.z_mode == "LATE_Z"
                and draw.depth.depth_func != "FUNC_ALWAYS"
            ]
            if len(late) <= _FEW:
                continue
            program = states.fragment_program(late[0])
            reason = ""
            if late[0].depth and late[0].depth.program_writes_depth:
                reason = ": the fragment program writes depth"
            elif program is not None and program.writes_memory:
                reason = ": the fragment program writes memory"
            elif program is not None and program.kills:
                reason = ": the fragment program may discard fragments, and LRZ is off"
            text = f"{len(late)} draws have Z_MODE LATE_Z{reason}"
            yield at_draw(found, late[0], text, found.index)
