# SPDX-License-Identifier: MIT
"""CFF004: a draw uses a target, viewport or program that no command has set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.needed_state import NeededState, listed
from cffpy.check.model import Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class StateNeverWritten(Lint):
    """A draw uses a target, viewport or program that no command has set."""

    id = "CFF004"
    name = "state-never-written"
    severity = "warning"
    needs = (NeededState,)
    summary = "a draw uses a target, viewport or program that no command has set"
    why = "The GPU uses what another process or the reset has left in the register."
    advice = "Emit the register before the draw, in each submit."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """First draws of passes with registers that no captured command has written before."""
        for needy in capture.facts(NeededState).draws:
            missing = [one for one in needy.registers if one.write is None]
            if missing and not needy.misses_commands:
                verb = "was" if len(missing) == 1 else "were"
                cause = tuple(one.name for one in missing)
                text = f"{listed(missing)} {verb} never written"
                yield at_draw(needy.found, needy.draw, text, cause)
