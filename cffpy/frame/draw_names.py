# SPDX-License-Identifier: MIT
"""Names of draws: ``57`` is draw 57 of the dump, ``p0:8`` the program's draw 8 of pass 0.

``5-58`` and ``p0:5-58`` are ranges, where a command takes several draws.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import CaptureError
from cffpy.frame.facts import described

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.frame.action import Action

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


@described("range", first="number of the first draw", last="number of the last draw")
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


def no_draw(number: int, count: int) -> CaptureError:
    """The error of a draw that is not there. ``count``: how many draws the dump has."""
    known = f"0 to {count - 1}" if count else "none"
    return CaptureError(f"there is no draw {number} in the dump; draws there: {known}")


def draw_ranges(numbers: Iterable[int]) -> tuple[DrawRange, ...]:
    """Rising numbers as ranges, each as long as possible."""
    found: list[DrawRange] = []
    for number in numbers:
        if found and found[-1].last == number - 1:
            found[-1] = DrawRange(found[-1].first, number)
        else:
            found.append(DrawRange(number, number))
    return tuple(found)


def name_of(action: Action) -> DrawName | None:
    """The name of an action: in its pass if it is one of the program's, otherwise in the dump."""
    if action.number is not None and action.pass_index is not None:
        return DrawName(action.number, action.pass_index)
    return None if action.dump_draw is None else DrawName(action.dump_draw)
