# SPDX-License-Identifier: MIT
"""CFF003: a draw uses a target, viewport or program that another pass has set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.needed_state import NeededState, listed
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.needed_state import NeededRegister, NeedyDraw
    from cffpy.check.model import CheckedCapture, Report


class StaleState(Lint):
    """A draw uses a target, viewport or program that another pass has set."""

    id = "CFF003"
    name = "stale-state"
    severity = "warning"
    generations = FROM_A5XX
    needs = (NeededState,)
    summary = "a draw uses a target, viewport or program that another pass has set"
    why = (
        "Passes are emitted by themselves: which of them runs before, and whether it runs, may "
        "change, and with it the target or the program of the draw."
    )
    advice = "Emit the register in each pass; cffpy state shows which packet wrote it."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """First draws of passes with registers last written in another pass or submit."""
        for needy in capture.facts(NeededState).draws:
            if needy.misses_commands:
                continue
            stale = [one for one in needy.registers if _is_stale(capture, one, needy)]
            if stale:
                text = f"{listed(stale)} {_have(stale)} the value of {_where(stale[0])}"
                yield at_draw(needy.found, needy.draw, text, needy.found.index)


def _is_stale(capture: CheckedCapture, register: NeededRegister, needy: NeedyDraw) -> bool:
    """Whether it was written for another render pass, or in an earlier submit.

    What is written between passes may be meant for all that follow.
    """
    write = register.write
    if write is None or not register.was_used:
        return False
    if write.origin(needy.draw) == "earlier submit":
        return True
    index = write.pass_index
    if index is None or index == needy.found.index:
        return False
    return capture.passes[index].kind == "render"


def _have(registers: list[NeededRegister]) -> str:
    return "has" if len(registers) == 1 else "have"


def _where(register: NeededRegister) -> str:
    write = register.write
    assert write is not None
    if write.pass_index is None:
        return f"submit {write.place.submit.submit}"
    return f"pass {write.pass_index}"
