# SPDX-License-Identifier: MIT
"""The differences of two Intel captures: lines, and a JSON document."""

from __future__ import annotations

from cffpy.intel.views.draws import describe_counts, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cffpy.intel.analysis.actions import Action
    from cffpy.intel.analysis.comparison import Differences

SCHEMA = "cffpy.intel-diff/1"

#: Draws that one entry lists.
_LISTED = 8


def lines(found: Differences) -> Iterator[str]:
    """Draws without a counterpart, then each difference with its draws."""
    good = names_of(found.good.found.actions)
    bad = names_of(found.bad.found.actions)
    yield summary(found)
    for title, actions, names in (("missing", found.missing, good), ("added", found.added, bad)):
        for action in actions:
            yield f"{title} {_draw(action, names)}"
    for entry in found.entries:
        yield f"{entry.what}: {entry.good or 'none'} -> {entry.bad or 'none'}"
        shown = ", ".join(good.get(one, str(one)) for one, _ in entry.draws[:_LISTED])
        more = len(entry.draws) - _LISTED
        yield f"    {shown}{f' and {more} more' if more > 0 else ''}"
    if not found.differs:
        yield "no differences"


def summary(found: Differences) -> str:
    """How many passes and draws each side has."""
    counts = [len(actions) for actions in found.actions]
    passes = [len({one.pass_index for one in actions}) for actions in found.actions]
    return f"{passes[0]} and {passes[1]} passes, {counts[0]} and {counts[1]} draws and dispatches"


def _draw(action: Action, names: dict[int, str]) -> str:
    name = names.get(action.number, str(action.number))
    return f"{action.role} {name} at {action.address:#x}: {describe_counts(action)}"


def missing_draws(found: Differences) -> list[str]:
    """The draws of the first capture that the second does not have, one line each."""
    names = names_of(found.good.found.actions)
    return [_draw(action, names) for action in found.missing]


def document(found: Differences) -> dict[str, Any]:
    """The comparison as a JSON document; ``draws`` are pairs of numbers of actions."""
    return {
        "pairs": len(found.pairs),
        "missing": [action.number for action in found.missing],
        "added": [action.number for action in found.added],
        "entries": [
            {"what": one.what, "good": one.good, "bad": one.bad, "draws": one.draws}
            for one in found.entries
        ],
    }
