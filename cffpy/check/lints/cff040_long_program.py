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

#: Units of 128 bytes: up to a6xx gen2, and from gen3 on.
_SMALL, _LARGE, _LARGE_FROM = 64, 127, 3


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
        most = _SMALL
        try:
            part = device(capture.found.gpu or "")
            if part.generation == 7 or part.sub_generation >= _LARGE_FROM:
                most = _LARGE
        except UnsupportedGpu:
            most = _LARGE
        states = capture.facts(DrawStates)
        for found, draw in capture.draws():
            state = states.of(draw)
            for program in () if state is None else state.programs:
                if program.units > most:
                    text = (
                        f"the {program.stage} program has {program.units} x 128 bytes; {most} fit"
                    )
                    yield at_draw(found, draw, text, (program.stage, program.address))
