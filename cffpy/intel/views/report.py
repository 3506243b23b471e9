# SPDX-License-Identifier: MIT
"""The document of ``cffpy report --json`` of an Intel capture: everything that its page shows."""

from __future__ import annotations

from itertools import islice

from cffpy.intel.views import diff, draws, passes, state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cffpy.intel.analysis.comparison import Differences
    from cffpy.intel.analysis.report import Change, Report, SurfaceUse
    from cffpy.intel.analysis.survey import Survey

SCHEMA = "cffpy.intel-report/2"

#: Passes and actions that a report has.
_MAX_PASSES, _MAX_ACTIONS = 2000, 60_000
#: Differences, and draws that one of them lists.
_MAX_ENTRIES, _MAX_PAIRS = 2000, 1000


def document(
    report: Report, info: dict[str, Any], compared: Differences | None = None
) -> dict[str, Any]:
    """The document, without its schema. Texts of tables and sets are those of ``cffpy state``.

    ``info``: the object of ``cffpy info --json``. ``compared``: what differs from another capture,
    which is the first of the two.
    """
    found = report.found
    return {
        "info": info,
        "batches": _batches(report),
        "passes": [
            {**passes.document(one, found), "lines": list(passes.lines(one, found))}
            for one in found.passes[:_MAX_PASSES]
        ],
        "draws": [
            {
                **draws.document(action, uses),
                "counts": draws.describe_counts(action, uses),
                "what": draws.describe_role(action),
                "uses": report.uses.get(action.order),
                "changes": [_change(one) for one in report.changes.get(action.order, ())],
            }
            for action, uses in islice(zip(found.actions, found.uses, strict=True), _MAX_ACTIONS)
        ],
        "surfaces": [_surface(one, found) for one in report.surfaces],
        "comparison": None if compared is None else _comparison(compared),
        "cut": [*report.cut, *_left_out(found, compared)],
    }


def _comparison(found: Differences) -> dict[str, Any]:
    """What differs; ``draws`` are pairs: an action of this capture, and the other's name of it."""
    return {
        "other": found.good.name,
        "damage": found.good.problems,
        "summary": diff.summary(found),
        "missing": diff.missing_draws(found)[:_MAX_ENTRIES],
        "added": [action.order for action in found.added],
        "entries": [
            {
                "what": entry.what,
                "other": entry.good,
                "this": entry.bad,
                "draws": [
                    [bad, diff.name(found.good, good)] for good, bad in entry.draws[:_MAX_PAIRS]
                ],
                "count": len(entry.draws),
            }
            for entry in found.entries[:_MAX_ENTRIES]
        ],
    }


def _left_out(found: Survey, compared: Differences | None) -> list[str]:
    """Passes, actions and differences that are not in the report."""
    differences = 0 if compared is None else len(compared.entries)
    return [
        f"{name} after the first {most:,}"
        for name, count, most in (
            ("passes", len(found.passes), _MAX_PASSES),
            ("actions", len(found.actions), _MAX_ACTIONS),
            ("differences", differences, _MAX_ENTRIES),
        )
        if count > most
    ]


def _batches(report: Report) -> list[dict[str, Any]]:
    """Batches that run, in the order of their first run, with the actions in them."""
    walk = report.found.run.walk
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for (submit, address), runs in ({} if walk is None else walk.batches).items():
        members = {"submit": submit, "address": address, "runs": runs, "actions": []}
        found[submit, address] = members
    for action, uses in zip(report.found.actions, report.found.uses, strict=True):
        one = found.get((action.submit, uses.batch))
        if one is not None:
            one["actions"].append(action.order)
    return list(found.values())


def _change(one: Change) -> dict[str, Any]:
    return {"slot": one.slot, "address": one.address, "fields": [list(each) for each in one.fields]}


def _surface(one: SurfaceUse, found: Survey) -> dict[str, Any]:
    return {
        **one.surface.document(),
        "text": one.surface.describe(),
        "uses": [
            {"action": order, "draw": _name(found, order), "as": way} for order, way in one.uses
        ],
    }


def _name(found: Survey, order: int) -> str | None:
    action = found.actions[order]
    return None if action.number is None else action.name


uses_document = state.uses_document
"""What is kept of an action's state."""
