# SPDX-License-Identifier: MIT
"""What a capture is asked: its passes, the state at a draw, what submits inherit. A walk each.

All take the capture, a function for lines of warning, the directory of another edition of the
register database, and a GPU to decode for regardless of the file. All raise UnsupportedGpu where
the generation is unknown, or where it is not supported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.pass_walk import PassWalk
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.inheritance import Inheritance, Inherited
from cffpy.analysis.register_store.recorder import RegisterRecorder, most_changes
from cffpy.analysis.walk import Walk
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set

    from cffpy.analysis.layout_check.model import LayoutChecks
    from cffpy.analysis.pass_events import PassEvents
    from cffpy.analysis.program_facts import FragmentPrograms
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.descriptions import Descriptions
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import DrawName


def find_passes(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    observers: Iterable[Observer] = (),
    descriptions: Descriptions | None = None,
) -> tuple[PassFinder, list[Damage]]:
    """The passes and actions of a capture, and its damage.

    ``observers``: others that see the walk, too. ``descriptions``: as for ``PassWalk``.
    """
    walk = PassWalk(content, complain, register_db, gpu, descriptions)
    walk.observe(*observers)
    damage = walk.run()
    walk.finder.found.bind(None)
    return walk.finder, damage


def find_pass_events(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[PassEvents, list[Damage]]:
    """The waits and cache events between passes, and the capture's damage."""
    from cffpy.analysis.pass_events import PassEvents  # lazily: little needs it

    walk = Walk()
    finder = PassFinder(walk)
    events = PassEvents(walk, finder)
    walk.observe(finder, events)
    return events, walk.run(content, complain, register_db, gpu)


def find_fragment_programs(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[tuple[PassFinder, FragmentPrograms], list[Damage]]:
    """The passes, what fragment programs do, and the capture's damage."""
    from cffpy.analysis.program_facts import FragmentPrograms  # lazily: little needs it

    walk = PassWalk(content, complain, register_db, gpu)
    programs = FragmentPrograms(walk.walk, register_db)
    walk.observe(programs)
    damage = walk.run()
    return (walk.finder, programs), damage


def find_layouts(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    orders: Set[int] | None = None,
    has_pass: Callable[[int], bool] = lambda _index: True,
) -> tuple[tuple[PassFinder, LayoutChecks], list[Damage]]:
    """The passes, all images, LRZ buffers and tiles compared with layouts, and the damage.

    ``orders``, ``has_pass``: the actions and the passes whose are compared.
    """
    from cffpy.analysis.layout_check.check import check_layouts  # lazily: little needs it
    from cffpy.analysis.layout_check.uses import MAX_USES, LayoutUses

    walk = PassWalk(content, complain, register_db, gpu)
    finder = walk.finder
    uses = LayoutUses(walk.walk, finder, register_db, orders)
    walk.observe(uses)
    damage = walk.run()
    if uses.is_full:
        content.note_truncated([Truncation("", f"more than {MAX_USES} textures: not all compared")])
        finder.found.truncated = list(content.truncated)
    known = walk.walk.machine.gpu if finder.found.generation else None
    return (finder, check_layouts(finder.found, uses, known, has_pass)), damage


def walk_with_registers(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    observers: Iterable[Observer] = (),
    descriptions: Descriptions | None = None,
) -> tuple[PassFinder, RegisterStore]:
    """The same as ``find_passes``, with the registers at all actions, in one walk.

    ``observers``: others that see the walk, too. ``descriptions``: as for ``PassWalk``.
    """
    walk = PassWalk(content, complain, register_db, gpu, descriptions)
    store = walk.registers
    walk.observe(*observers)
    walk.run()
    return walk.finder, store


class _Found(Exception):
    """Ends a walk: the rest of the capture is not needed."""


class _UntilPassEnds(Observer):
    """Ends the walk when the pass of a draw is complete, and with it the draw's numbers."""

    def __init__(self, passes: PassFinder, name: DrawName) -> None:
        self._passes = passes
        self._name = name
        self._is_found = False
        self._pass: Pass | None = None

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
    recorder = RegisterRecorder(walk, finder, most_changes(len(content.data)))
    walk.observe(finder, recorder, _UntilPassEnds(finder, name))
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
    recorder = RegisterRecorder(walk, finder, most_changes(len(content.data)), order)
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
    found = inheritance(content, walk, finder, recorder.store)
    return found, damage


def inheritance(
    content: Content, walk: Walk, finder: PassFinder, store: RegisterStore
) -> list[Inherited]:
    """What submits inherit, of a walk that has run; notes where not all is listed."""
    found = Inheritance(store, finder.actions, walk.machine)
    if found.is_cut:
        text = f"{found.listed} registers are listed; those of later submits are not"
        content.note_truncated([Truncation("elements", text)])
    return found.inherited
