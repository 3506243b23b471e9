# SPDX-License-Identifier: MIT
"""CFF039: a program spills registers to memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class Spilling(Lint):
    """A program spills registers to memory."""

    id = "CFF039"
    name = "spilling"
    severity = "warning"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "a program spills registers to memory"
    why = "Values that do not fit into registers go to private memory and back, for each fiber."
    advice = (
        "Make the program smaller: fewer live values, smaller arrays, less unrolling. "
        "IR3_SHADER_DEBUG=spillall forces it."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Programs in use with private memory."""
        states = capture.facts(DrawStates)
        for found, draw in capture.work():
            for program in states.programs(draw):
                if program.private:
                    text = f"the {program.stage} program spills {program.private} bytes a fiber"
                    yield at_draw(found, draw, text, (program.stage, program.address))
