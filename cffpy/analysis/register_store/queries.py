# SPDX-License-Identifier: MIT
"""What a capture is asked of its registers: those at one draw, what submits inherit. A walk each.

The parameters are those of ``cffpy.analysis.queries``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.register_store.recorder import RegisterRecorder, most_changes
from cffpy.analysis.register_store.store import Inheritance, Inherited
from cffpy.analysis.walk import Walk
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import DrawName


class _Found(Exception):
    """Ends a walk: the rest of the capture is not needed."""


class _UntilPassEnds(Observer):
    """Ends the walk when the pass of a draw is complete, and with it the draw's numbers."""

    def __init__(self, passes: PassFinder, name: DrawName) -> None:
        self._passes = passes
        self._name = name
        self._is_found = False
        self._pass: Pass | None = None
        #: The draw, where its name is that of the dump.
        self._order: int | None = None

    def candidates(self) -> list[int]:
        """Positions of the actions that may be the draw, as far as is known by now."""
        number, index = self._name.number, self._name.pass_index
        orders = [] if self._order is None else [self._order]
        if index is not None:
            found = next((one for one in self._passes.so_far if one.index == index), None)
            orders = [one.order for one in _drawn(found, number)]
        return orders

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The pass may have ended."""
        if self._is_found and (is_new_submit or self._passes.current is not self._pass):
            raise _Found

    def action(self, action: Action) -> None:
        """The draw, or an action that follows its pass."""
        current = self._passes.current
        if self._is_found:
            if current is not self._pass:
                raise _Found
        elif self._name.pass_index is None:
            self._is_found = action.dump_draw == self._name.number
            self._pass = current
            if self._is_found:
                self._order = action.order
        elif current is not None and current.index > self._name.pass_index:
            raise _Found


def state_of_draw(
    content: Content,
    name: DrawName,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[PassFinder, RegisterStore, list[Damage]]:
    """The passes up to the end of a draw's pass, the registers of their actions, and the damage.

    Commands after that pass are not decoded: the damage is that of the file, and of the commands
    before.
    """
    walk = Walk()
    finder = PassFinder(walk)
    until = _UntilPassEnds(finder, name)
    recorder = RegisterRecorder(walk, finder, most_changes(len(content.data)), until.candidates)
    walk.observe(finder, recorder, until)
    session = walk.open_session(complain, register_db, gpu)
    try:
        damage = walk.run_session(session, content)
    except _Found:
        finder.finished()
        recorder.finished()
        sections: list[Damage] = []
        for _ in content.sections(sections):  # also those that were not run
            pass
        damage = session.finish(content, sections)
    finally:
        walk.end_session(session)
    finder.found.damage = damage
    return finder, recorder.store, damage


def _drawn(found: Pass | None, number: int) -> Iterator[Action]:
    """The actions that may be a draw, dispatch or copy of a pass, by its number there.

    Its numbers are known when the pass has ended: by the run with most draws.
    """
    if found is None:
        return
    is_render = found.kind == "render"
    for run in found.runs:
        draws = run.draws
        if len(draws) > number:
            draws = [
                one
                for one in draws
                if one.execution.is_possible and (is_program_draw(one) or not is_render)
            ]
            yield from draws[number : number + 1]


class _UntilAction(Observer):
    """Ends the walk after an action."""

    def __init__(self, order: int) -> None:
        self._order = order

    def action(self, action: Action) -> None:
        """It is the one, or one before."""
        if action.order > self._order:
            raise _Found


def registers_at(
    content: Content,
    order: int,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> RegisterStore:
    """The registers at the action of this position (``Action.order``) alone: a walk up to it.

    For captures with so many writes that a store has the program's draws only.
    """
    walk = Walk()
    finder = PassFinder(walk)
    recorder = RegisterRecorder(walk, finder, most_changes(len(content.data)), lambda: (order,))
    walk.observe(finder, recorder, _UntilAction(order))
    try:
        walk.run(content, complain, register_db, gpu)
    except _Found:
        recorder.finished()
    return recorder.store


def inherited_registers(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[list[Inherited], list[Damage]]:
    """The registers that each submit inherits from earlier ones, and the capture's damage."""
    walk = Walk()
    finder = PassFinder(walk)
    recorder = RegisterRecorder(walk, finder, most_changes(len(content.data)))
    walk.observe(finder, recorder)
    damage = walk.run(content, complain, register_db, gpu)
    found = Inheritance(recorder.store, finder.actions, walk.machine)
    if found.is_cut:
        text = f"{found.listed} registers are listed; those of later submits are not"
        content.note_truncated([Truncation("elements", text)])
    return found.inherited, damage
