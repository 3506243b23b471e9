# SPDX-License-Identifier: MIT
"""CFF040: a program is longer than the instruction cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A6XX, Lint, at_draw
from cffpy.errors import UnsupportedGpu
from cffpy.image.devices import device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report

#: Units of 128 bytes, for a GPU that the table lacks: as many as any has.
_LARGEST = 127


class LongProgram(Lint):
    """A program is longer than the instruction cache."""

    id = "CFF040"
    name = "long-program"
    severity = "info"
    generations = FROM_A6XX
    needs = (DrawStates,)
    summary = "a program is longer than the instruction cache"
    why = "Instructions are fetched again and again while it runs."
    advice = "Split the program, or unroll less."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Programs with more units of 128 bytes than the cache of the GPU has."""
        try:
            most = device(capture.found.gpu or "").instruction_units or _LARGEST
        except UnsupportedGpu:
            most = _LARGEST
        states = capture.facts(DrawStates)
        for found, draw in capture.work():
            for program in states.programs(draw):
                if program.units > most:
                    text = (
                        f"the {program.stage} program has {program.units} x 128 bytes; {most} fit"
                    )
                    yield at_draw(found, draw, text, (program.stage, program.address))
