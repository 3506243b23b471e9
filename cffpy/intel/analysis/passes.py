# SPDX-License-Identifier: MIT
"""Render passes and runs of dispatches, found by what actions draw to.

The command streams have no marks for passes. A pass is a run of draws of the program to the same
attachments; drivers clear, resolve and copy by rectangles and by operations on the depth buffer,
which differ from draws by their topology.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.analysis.actions import Action
    from cffpy.intel.analysis.state import Executed
    from cffpy.intel.analysis.surfaces import Surface

RENDER, COMPUTE = "render", "compute"


class Pass:
    """A pass: its attachments and its actions.

    ``kind``: "render", or "compute" for a run of dispatches. ``clears`` and ``resolves``: actions
    of the driver on its attachments, before and after its draws. ``flushes``: what was flushed or
    waited for since the pass before, each as a list of texts, with its address.
    """

    def __init__(self, index: int, kind: str, submit: int) -> None:
        self.index = index
        self.kind = kind
        self.submit = submit
        self.targets: list[Surface] = []
        self.depth: Surface | None = None
        self.stencil: Surface | None = None
        self.has_hiz = False
        self.actions: list[Action] = []
        self.clears: list[Action] = []
        self.resolves: list[Action] = []
        self.flushes: list[tuple[int, list[str]]] = []

    @property
    def attachments(self) -> set[int]:
        """Addresses of its targets, depth and stencil buffers."""
        found = {target.address for target in self.targets}
        return found | {one.address for one in (self.depth, self.stencil) if one is not None}

    @property
    def has_unknown_targets(self) -> bool:
        """Whether its render targets are in a binding table that was not captured."""
        return not self.targets and any(action.has_unknown_targets for action in self.actions)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of what is drawn to, in pixels; zeros where that is not known."""
        of = [*self.targets, *([self.depth] if self.depth is not None else [])]
        if not of:
            return 0, 0
        return min(one.width for one in of), min(one.height for one in of)


class PassFinder:
    """Puts actions into passes, one after the other."""

    def __init__(self) -> None:
        self.passes: list[Pass] = []
        self._open: Pass | None = None
        self._states: tuple[int, ...] = ()
        self._depth_command: Executed | None = None
        #: Actions of the driver since the last one of the program.
        self._waiting: list[Action] = []
        self._flushes: list[tuple[int, list[str]]] = []

    def flush(self, address: int, words: list[str]) -> None:
        """Caches are flushed, or something is waited for."""
        if len(self._flushes) < _MAX_FLUSHES:
            self._flushes.append((address, words))

    def begin_submission(self) -> None:
        """Another submission: open passes end."""
        self._close()

    def finish(self) -> None:
        """The capture ends."""
        self._close()

    def take(self, action: Action) -> None:
        """An action."""
        if action.role == "dispatch":
            self._dispatch(action)
        elif action.role == "draw":
            self._draw(action)
        elif action.role == "generation":
            if self._open is not None and self._open.kind == RENDER:
                self._join(self._open, action)
        else:
            self._waiting.append(action)

    def _dispatch(self, action: Action) -> None:
        if self._open is None or self._open.kind != COMPUTE:
            self._close()
            self._begin(COMPUTE, action)
        assert self._open is not None  # it was begun
        self._join(self._open, action)
        self._waiting.clear()

    def _draw(self, action: Action) -> None:
        states = tuple(target.state_address for target in action.targets)
        if not self._goes_on(action, states):
            self._close()
            self._begin(RENDER, action)
        one = self._open
        assert one is not None  # it was begun
        self._states = states
        for waiting in self._waiting:
            if _addresses(waiting) & one.attachments:
                one.clears.append(waiting)
                waiting.pass_index = one.index
        self._waiting.clear()
        self._depth_command = action.depth_command
        self._join(one, action)

    def _goes_on(self, action: Action, states: tuple[int, ...]) -> bool:
        """Whether a draw belongs to the pass that is open."""
        one = self._open
        if one is None or one.kind != RENDER:
            return False
        if _address(action.depth) != _address(one.depth):
            return False
        if not any(program.stage == "PS" for program in action.programs):
            return True  # it draws to no target, whichever are bound
        if {target.address for target in action.targets} != {
            target.address for target in one.targets
        }:
            return False
        # When a pass begins, a driver makes new surface states and sets the depth buffer. It does
        # both also for each secondary buffer, but then nothing is cleared.
        if states == self._states or action.depth_command is self._depth_command:
            return True
        cleared = any(_addresses(waiting) & one.attachments for waiting in self._waiting)
        return action.batch != one.actions[-1].batch and not cleared

    def _begin(self, kind: str, action: Action) -> None:
        one = self._open = Pass(len(self.passes), kind, action.submit)
        self.passes.append(one)
        one.targets = action.targets if kind == RENDER else []
        one.depth, one.stencil = action.depth, action.stencil
        one.has_hiz = action.has_hiz
        one.flushes = self._flushes
        self._flushes = []

    def _join(self, one: Pass, action: Action) -> None:
        one.actions.append(action)
        action.pass_index = one.index
        self._flushes = []

    def _close(self) -> None:
        one = self._open
        if one is not None:
            for waiting in self._waiting:
                if waiting.role == "resolve" and _addresses(waiting) & one.attachments:
                    one.resolves.append(waiting)
                    waiting.pass_index = one.index
            self._waiting = [one for one in self._waiting if one.pass_index is None]
        self._open = None


_MAX_FLUSHES = 1 << 10


def _address(surface: Surface | None) -> int:
    return 0 if surface is None else surface.address


def _addresses(action: Action) -> set[int]:
    """Addresses of what an action of the driver writes."""
    found = {target.address for target in action.targets}
    if action.role != "copy":
        found |= {one.address for one in (action.depth, action.stencil) if one is not None}
    return found
