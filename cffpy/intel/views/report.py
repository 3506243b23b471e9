# SPDX-License-Identifier: MIT
"""What the page of an Intel capture shows: the document of ``cffpy report --json``.

For each draw what it uses and what changed, and all surfaces. The capture is run once; what a draw
uses is kept as members of the document, since memory is that of its submission.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from cffpy.frame.faces import facts_document
from cffpy.frame.places import name_of
from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.draw_state import DrawState
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.text import field_texts
from cffpy.intel.views import draws, passes, state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.comparison import Differences, Recorded
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.analysis.survey import Survey, SurveyWalk

    #: What is kept of an action's state.
    Kept = Callable[[DrawState], dict[str, Any]]

SCHEMA = "cffpy.intel-report/1"

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
            {
                "pass": facts_document(one),
                "hiz": found.uses[one.draws[0].order].has_hiz,
                "draws": [action.order for action in one.draws],
                "flushes": [
                    {"address": address, "does": list(words)}
                    for address, words in found.flushes[one.index]
                ],
                "lines": list(passes.lines(one, found)),
            }
            for one in found.passes[:_MAX_PASSES]
        ],
        "draws": [
            {
                "action": facts_document(action),
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
        "summary": _summary(found),
        "missing": [_draw(one, found.good) for one in found.missing][:_MAX_ENTRIES],
        "added": [action.order for action in found.added],
        "entries": [
            {
                "what": entry.what,
                "other": entry.good,
                "this": entry.bad,
                "draws": [
                    [bad, _name_in(found.good, good)] for good, bad in entry.draws[:_MAX_PAIRS]
                ],
                "count": len(entry.draws),
            }
            for entry in found.entries[:_MAX_ENTRIES]
        ],
    }


def _summary(found: Differences) -> str:
    """How many passes and draws each capture has, in one line."""
    counts = [len(actions) for actions in found.actions]
    passes = [len({one.pass_index for one in actions}) for actions in found.actions]
    return f"{passes[0]} and {passes[1]} passes, {counts[0]} and {counts[1]} draws and dispatches"


def _name_in(side: Recorded, order: int) -> str:
    return str(name_of(side.found.actions[order]))


def _draw(action: Action, side: Recorded) -> str:
    counts = draws.describe_counts(action, side.found.uses[action.order])
    return f"{action.kind} {_name_in(side, action.order)} at {action.place.gpuaddr:#x}: {counts}"


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


#: Draws whose state is shown, descriptors that all of them show, surfaces, uses of one surface.
MAX_DRAWS, _MAX_DESCRIPTORS, _MAX_SURFACES, _MAX_USES = 4000, 1 << 18, 1 << 14, 64


class Change(NamedTuple):
    """An instruction that changed since the draw before: fields with old and new text.

    The old text is "" where there was no such instruction.
    """

    slot: str
    address: int
    fields: list[tuple[str, str, str]]


class SurfaceUse(NamedTuple):
    """A surface, and what uses it: actions by number, with their way to it."""

    surface: Surface
    uses: list[tuple[int, str]]


class Report:
    """What was found by running a capture once.

    ``uses`` and ``changes``: by the number of an action. ``cut``: what was left out, as text.
    """

    def __init__(self, content: Content, uses: Kept, directory: str | None = None) -> None:
        self.uses: dict[int, dict[str, Any]] = {}
        self.changes: dict[int, list[Change]] = {}
        self.cut: list[str] = []
        self._surfaces: dict[tuple[int, str], SurfaceUse] = {}
        self._descriptors = _MAX_DESCRIPTORS
        self._before: dict[str, Instruction] = {}
        self._make = uses
        self.found: Survey = survey(content, directory, self._take)

    @property
    def surfaces(self) -> list[SurfaceUse]:
        """All surfaces, by address."""
        return sorted(self._surfaces.values(), key=lambda one: one.surface.address)

    def _take(self, walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        self._note_surfaces(walk, action)
        if not is_program(action):
            return False
        if len(self.uses) >= MAX_DRAWS or self._descriptors <= 0:
            if not self.cut:
                self.cut.append(f"the state of draws after the first {len(self.uses):,}")
            return False
        state = DrawState(walk, action, command)
        self._descriptors -= sum(len(one.descriptors) + len(one.samplers) for one in state.sets)
        for one in state.sets:
            for descriptor in one.descriptors:
                where = "set" if one.number is None else f"set {one.number}"
                self._note(
                    action, descriptor.surface, f"{where}, descriptor {descriptor.offset:#x}"
                )
        self.uses[action.order] = self._make(state)
        self.changes[action.order] = self._changed(walk)
        return False

    def _changed(self, walk: SurveyWalk) -> list[Change]:
        before, now = self._before, walk.state.slots
        found = []
        for slot, command in now.items():
            old = before.get(slot)
            if old is command or (old is not None and old.words == command.words):
                continue
            texts = {} if old is None else dict(field_texts(walk.database, old.group, old.words))
            fields = [
                (name, texts.get(name, ""), text)
                for name, text in field_texts(walk.database, command.group, command.words)
                if texts.get(name) != text
            ]
            found.append(Change(slot, command.address, fields))
        self._before = dict(now)
        return found

    def _note_surfaces(self, walk: SurveyWalk, action: Action) -> None:
        uses = walk.uses[action.order]
        for table in uses.tables:
            for entry in table.entries:
                way = f"{table.stage} table entry {entry.number}"
                self._note(action, entry.surface, entry.role or way)
        self._note(action, uses.depth, "depth")
        self._note(action, uses.stencil, "stencil")

    def _note(self, action: Action, surface: Surface | None, way: str) -> None:
        if surface is None or surface.is_null or not surface.address:
            return
        key = surface.address, surface.describe()
        known = self._surfaces.get(key)
        if known is None:
            if len(self._surfaces) >= _MAX_SURFACES:
                return
            known = self._surfaces[key] = SurfaceUse(surface, [])
        if len(known.uses) < _MAX_USES:
            known.uses.append((action.order, way))
