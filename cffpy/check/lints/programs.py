# SPDX-License-Identifier: MIT
"""Programs: whether they are enabled, their size, what they spill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, FROM_A6XX, at_draw, lint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.draw_states import DrawState
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.action import Action


@lint("CFF039", "warning", FROM_A5XX, needs=(DrawStates,))
def spilling(capture: CheckedCapture) -> Iterator[Report]:
    """A program spills registers to memory.

    Programs in use with private memory.

    Why: Values that do not fit into registers go to private memory and back, for each fiber.

    Advice: Make the program smaller: fewer live values, smaller arrays, less unrolling.
    IR3_SHADER_DEBUG=spillall forces it.
    """
    states = capture.facts(DrawStates)
    for pass_, draw in capture.work():
        for program in states.programs(draw):
            if program.private:
                text = f"the {program.stage} program spills {program.private} bytes a fiber"
                yield at_draw(pass_, draw, text, (program.stage, program.address))


#: Units of 128 bytes, for a GPU that the table lacks: as many as any has.
_LARGEST = 127


@lint("CFF040", "info", FROM_A6XX, needs=(DrawStates,))
def long_program(capture: CheckedCapture) -> Iterator[Report]:
    """A program is longer than the instruction cache.

    Programs with more units of 128 bytes than the cache of the GPU has.

    Why: Instructions are fetched again and again while it runs.

    Advice: Split the program, or unroll less.
    """
    most = (0 if capture.part is None else capture.part.instruction_units) or _LARGEST
    states = capture.facts(DrawStates)
    for pass_, draw in capture.work():
        for program in states.programs(draw):
            if program.units > most:
                text = f"the {program.stage} program has {program.units} x 128 bytes; {most} fit"
                yield at_draw(pass_, draw, text, (program.stage, program.address))


@lint("CFF046", "error", FROM_A5XX, needs=(DrawStates,))
def no_program(capture: CheckedCapture) -> Iterator[Report]:
    """A draw runs without a vertex or fragment program, a dispatch without any.

    Draws whose stages are all off, or that write colours without a fragment program.

    Not after commands that were not captured, which may have enabled them. Where no command has
    said anything, an earlier submit may have; Mesa's drivers do not rely on that.

    Why: Without a vertex program there are no positions, without a fragment program no colours:
    the GPU hangs, or draws what the registers of another draw hold.

    Advice: Emit SP_xS_CONFIG with ENABLED before the draw; where a draw state group has it,
    look whether the group is disabled.
    """
    states = capture.facts(DrawStates)
    for pass_, draw in capture.draws():
        state = states.of(draw)
        if state is None or not states.is_complete(draw):
            continue
        missing = _missing_stages(draw, state)
        if not missing:
            continue
        text = f"no {' and no '.join(missing)} program is enabled"
        if set(missing) <= set(state.unset):
            names = " and ".join(f"SP_{stage}_CONFIG" for stage in missing)
            verb = "was" if len(missing) == 1 else "were"
            text = f"{text}: {names} {verb} never written"
            report = at_draw(pass_, draw, text, (pass_.index, missing, True))
            yield report._replace(severity="warning")
        else:
            yield at_draw(pass_, draw, text, (pass_.index, missing, False))
    for pass_, action in capture.work():
        if states.lacks_program(action):
            text = "no CS program is enabled"
            yield at_draw(pass_, action, text, (pass_.index, "CS"))


def _missing_stages(draw: Action, state: DrawState) -> tuple[str, ...]:
    """The stages that the draw cannot do without, and that are off."""
    enabled = {program.stage for program in state.programs}
    needed = ["VS"]
    if draw.depth and draw.depth.writes_colour and not state.raster.discards:
        needed.append("FS")
    return tuple(stage for stage in needed if stage not in enabled)
