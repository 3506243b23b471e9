# SPDX-License-Identifier: MIT
"""Names of draws: ``57`` is draw 57 of the dump, ``p0:8`` the program's draw 8 of pass 0.

``5-58`` and ``p0:5-58`` are ranges, where a command takes several draws.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import CaptureError

if TYPE_CHECKING:
    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.finder import PassFinder

_NAME = re.compile(r"(?:[pP]([0-9]{1,9}):)?([0-9]{1,9})")
_RANGE = re.compile(_NAME.pattern + r"(?:-([0-9]{1,9}))?")


class DrawName(NamedTuple):
    """A draw, dispatch or blit: its number in the dump, or in the pass ``pass_index``."""

    number: int
    pass_index: int | None = None

    def __str__(self) -> str:
        return str(self.number) if self.pass_index is None else f"p{self.pass_index}:{self.number}"


def parse_draw_name(text: str) -> DrawName:
    """``57`` or ``p0:8``. Raises ValueError."""
    found = _NAME.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a draw; use N (as in the dump) or pP:N (of pass P)")
    pass_index = None if found[1] is None else int(found[1])
    return DrawName(int(found[2]), pass_index)


class DrawRange(NamedTuple):
    """The draws from ``first`` to ``last``, both included, of the dump or of a pass."""

    first: int
    last: int
    pass_index: int | None = None

    def __str__(self) -> str:
        first = str(DrawName(self.first, self.pass_index))
        return first if self.first == self.last else f"{first}-{self.last}"


def parse_draw_range(text: str) -> DrawRange:
    """``57``, ``5-58``, ``p0:8`` or ``p0:5-58``. Raises ValueError."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a draw or range of draws; use N, N-M, pP:N or pP:N-M")
    first = int(found[2])
    last = first if found[3] is None else int(found[3])
    if last < first:
        raise ValueError(f"{text!r}: the last draw is before the first")
    return DrawRange(first, last, None if found[1] is None else int(found[1]))


def name_of(action: Action) -> DrawName | None:
    """The name of an action: in its pass if it is one of the program's, otherwise in the dump."""
    if action.program_number is not None and action.pass_index is not None:
        return DrawName(action.program_number, action.pass_index)
    return None if action.number is None else DrawName(action.number)


def find_draw(passes: PassFinder, name: DrawName) -> Action:
    """The action of this name. Raises CaptureError if there is none or it is not executed.

    A draw of a pass is executed once for each tile: this is one of its executions.
    """
    if name.pass_index is not None:
        draws = find_pass_draws(passes, name.pass_index)
        if name.number >= len(draws):
            raise CaptureError(
                f"pass {name.pass_index} has no draw {name.number}; it has {len(draws)} draws"
            )
        return draws[name.number]
    action = next((action for action in passes.actions if action.number == name.number), None)
    if action is None:
        raise CaptureError(f"there is no draw {name.number} in the dump")
    if not action.executed.is_possible:
        raise CaptureError(f"draw {name.number} is not executed: {action.condition}")
    return action


def find_pass_draws(passes: PassFinder, index: int) -> list[Action]:
    """The program's draws of a pass. Raises CaptureError if there is no such pass."""
    found = passes.found.passes
    if index >= len(found):
        known = f"0 to {len(found) - 1}" if found else "none"
        raise CaptureError(f"there is no pass {index}; passes of this capture: {known}")
    return found[index].program_draws
