# SPDX-License-Identifier: MIT
"""CFF037: a program is enabled, but its code is not in the capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.captured_memory import DeclaredMemory
from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A3XX, Lint, at_draw
from cffpy.cp.loadstate import program_dwords

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class ProgramNotCaptured(Lint):
    """A program is enabled, but its code is not in the capture."""

    id = "CFF037"
    name = "program-not-captured"
    severity = "error"
    generations = FROM_A3XX
    needs = (DrawStates, DeclaredMemory)
    summary = "a program is enabled, but its code is not in the capture"
    why = (
        "At an address without a buffer the GPU faults or runs whatever lies there. Where the "
        "capture lacks the buffer, nothing can be said about the program."
    )
    advice = "Check SP_xS_OBJ_START; record the capture with all buffers (RD_DUMP full)."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Programs at address 0, outside of captured buffers, or longer than what was captured.

        Only a capture of all buffers shows that there is none at the address.
        """
        states, memory = capture.facts(DrawStates), capture.facts(DeclaredMemory)
        for found, draw in capture.work():
            for program in states.programs(draw):
                captured = states.captured_bytes(draw, program)
                size = 4 * program_dwords(capture.generation, program.units)
                cause = found.index, program.stage, program.address
                name = f"the {program.stage} program at {program.address:#x}"
                if not program.address:
                    yield at_draw(found, draw, f"the {program.stage} program has address 0", cause)
                elif not captured and memory.is_full(draw):
                    yield at_draw(found, draw, f"{name} lies in no buffer of the submit", cause)
                elif not captured:
                    text = f"{name} was not captured"
                    yield at_draw(found, draw, text, cause)._replace(severity="info")
                elif captured < size:
                    text = f"{name} has {size} bytes, of which {captured} were captured"
                    yield at_draw(found, draw, text, cause)._replace(severity="info")
