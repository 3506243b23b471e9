# SPDX-License-Identifier: MIT
"""The differences of two Intel captures: lines, and a JSON document."""

from __future__ import annotations

from cffpy.frame.places import name_of
from cffpy.intel.views.draws import describe_counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cffpy.frame.action import Action
    from cffpy.intel.analysis.comparison import Differences, Recorded

SCHEMA = "cffpy.intel-diff/1"

#: Draws that one entry lists.
_LISTED = 8


def lines(found: Differences) -> Iterator[str]:
    """Draws without a counterpart, then each difference with its draws."""
    yield summary(found)
    sides = ("missing", found.missing, found.good), ("added", found.added, found.bad)
    for title, actions, side in sides:
        for action in actions:
            yield f"{title} {_draw(action, side)}"
    for entry in found.entries:
        yield f"{entry.what}: {entry.good or 'none'} -> {entry.bad or 'none'}"
        shown = ", ".join(name(found.good, one) for one, _ in entry.draws[:_LISTED])
        more = len(entry.draws) - _LISTED
        yield f"    {shown}{f' and {more} more' if more > 0 else ''}"
    if not found.differs:
        yield "no differences"


def summary(found: Differences) -> str:
    """How many passes and draws each side has."""
    counts = [len(actions) for actions in found.actions]
    passes = [len({one.pass_index for one in actions}) for actions in found.actions]
    return f"{passes[0]} and {passes[1]} passes, {counts[0]} and {counts[1]} draws and dispatches"


def name(side: Recorded, order: int) -> str:
    """The name of an action."""
    return str(name_of(side.found.actions[order]))


def _draw(action: Action, side: Recorded) -> str:
    counts = describe_counts(action, side.found.uses[action.order])
    return f"{action.kind} {name(side, action.order)} at {action.place.gpuaddr:#x}: {counts}"


def missing_draws(found: Differences) -> list[str]:
    """The draws of the first capture that the second does not have, one line each."""
    return [_draw(action, found.good) for action in found.missing]


def document(found: Differences) -> dict[str, Any]:
    """The comparison as a JSON document; ``draws`` are pairs of numbers of actions."""
    return {
        "pairs": len(found.pairs),
        "missing": [action.order for action in found.missing],
        "added": [action.order for action in found.added],
        "entries": [
            {"what": one.what, "good": one.good, "bad": one.bad, "draws": one.draws}
            for one in found.entries
        ],
    }
