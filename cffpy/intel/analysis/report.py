# SPDX-License-Identifier: MIT
"""What a report shows of a capture: for each draw what it uses and what changed, and all surfaces.

The capture is run once. What a draw uses is kept as members of a document, since memory is that of
its submission.
"""

from __future__ import annotations

from typing import NamedTuple

from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.draw_state import DrawState
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.field_values import field_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.analysis.survey import Survey, SurveyWalk

    #: What is kept of an action's state.
    Kept = Callable[[DrawState], dict[str, Any]]

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
