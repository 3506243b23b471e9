# SPDX-License-Identifier: MIT
"""CFF046: a draw runs without a vertex or fragment program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.draw_states import DrawState
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.action import Action


class NoProgram(Lint):
    """A draw runs without a vertex or fragment program, or a dispatch without a program."""

    id = "CFF046"
    name = "no-program"
    severity = "error"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "a draw runs without a vertex or fragment program, a dispatch without any"
    why = (
        "Without a vertex program there are no positions, without a fragment program no colours: "
        "the GPU hangs, or draws what the registers of another draw hold."
    )
    advice = (
        "Emit SP_xS_CONFIG with ENABLED before the draw; where a draw state group has it, look "
        "whether the group is disabled."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws whose stages are all off, or that write colours without a fragment program.

        Not after commands that were not captured, which may have enabled them. Where no command
        has said anything, an earlier submit may have; Mesa's drivers do not rely on that.
        """
        states = capture.facts(DrawStates)
        for found, draw in capture.draws():
            state = states.of(draw)
            if state is None or not states.is_complete(draw):
                continue
            missing = _missing(draw, state)
            if not missing:
                continue
            text = f"no {' and no '.join(missing)} program is enabled"
            if set(missing) <= set(state.unset):
                names = " and ".join(f"SP_{stage}_CONFIG" for stage in missing)
                verb = "was" if len(missing) == 1 else "were"
                text = f"{text}: {names} {verb} never written"
                report = at_draw(found, draw, text, (found.index, missing, True))
                yield report._replace(severity="warning")
            else:
                yield at_draw(found, draw, text, (found.index, missing, False))
        for found, action in capture.work():
            if states.lacks_program(action):
                text = "no CS program is enabled"
                yield at_draw(found, action, text, (found.index, "CS"))


def _missing(draw: Action, state: DrawState) -> tuple[str, ...]:
    """The stages that the draw cannot do without, and that are off."""
    enabled = {program.stage for program in state.programs}
    needed = ["VS"]
    if draw.depth and draw.depth.writes_colour and not state.raster.discards:
        needed.append("FS")
    return tuple(stage for stage in needed if stage not in enabled)
