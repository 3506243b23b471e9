# SPDX-License-Identifier: MIT
"""What a capture is asked: its passes, the state at a draw, what submits inherit. A walk each.

All take the capture, a function for lines of warning, the directory of another edition of the
register database, and a GPU to decode for regardless of the file. All raise UnsupportedGpu where
the generation is unknown, or where it is not supported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.command_writes import AllCommandWrites, CommandWrites
from cffpy.analysis.observer import Observer
from cffpy.analysis.pass_walk import PassWalk
from cffpy.analysis.passes.finder import PassFinder, find_draw
from cffpy.analysis.provenance import (
    ChangeLog,
    CommandWrite,
    Inheritance,
    Inherited,
    Provenance,
    State,
    StateTaker,
)
from cffpy.analysis.register_history import RegisterHistory, most_changes
from cffpy.analysis.walk import Walk
from cffpy.analysis.write_log import WriteLog
from cffpy.errors import CaptureError
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set

    from cffpy.analysis.fragment_programs import FragmentPrograms
    from cffpy.analysis.layout_check.model import LayoutChecks
    from cffpy.analysis.pass_events import PassEvents
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
    from cffpy.analysis.fragment_programs import FragmentPrograms  # lazily: little needs it

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


def walk_with_history(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    observers: Iterable[Observer] = (),
    descriptions: Descriptions | None = None,
) -> tuple[PassFinder, RegisterHistory]:
    """The same as ``find_passes``, with the registers at the program's draws, in one walk.

    ``observers``: others that see the walk, too. ``descriptions``: as for ``PassWalk``.
    """
    walk = PassWalk(content, complain, register_db, gpu, descriptions)
    history = observe_registers(walk)
    walk.observe(*observers)
    walk.run()
    return walk.finder, history


def observe_registers(walk: PassWalk) -> RegisterHistory:
    """Have a walk record the registers at the program's draws."""
    log = WriteLog(walk.walk, walk.finder)
    most = most_changes(len(walk.content.data))
    history = RegisterHistory(walk.walk, walk.finder, log, most)
    walk.observe(log, history)
    return history


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
) -> tuple[PassFinder, State | None, list[Damage]]:
    """The state at a draw, the passes up to the end of the draw's pass, and the damage.

    Commands after that pass are not decoded: the damage is that of the file, and of the commands
    before. The state is None where ``find_draw`` raises for these passes.
    """
    states: list[State] = []
    walk = Walk()
    finder = PassFinder(walk)
    walk.observe(finder, _UntilPassEnds(finder, name))
    if name.pass_index is None:
        provenance, changes = Provenance(walk, finder), ChangeLog(walk, finder)
        commands = CommandWrites(walk, changes)
        taker = StateTaker(
            walk,
            provenance,
            lambda action: action.dump_draw == name.number and not states,
            states.append,
            commands.now,
        )
        walk.observe(finder, provenance, changes, commands, taker, _UntilPassEnds(finder, name))
    session = walk.open_session(complain, register_db, gpu)
    try:
        damage = walk.run_session(session, content)
    except _Found:
        finder.finished()
        sections: list[Damage] = []
        for _ in content.sections(sections):  # also those that were not run
            pass
        damage = session.finish(content, sections)
    finally:
        walk.end_session(session)
    finder.found.damage = damage
    try:
        action = find_draw(finder, name)
    except CaptureError:
        return finder, None, damage
    state = states[0] if states else state_at(content, action.order, _ignore, register_db, gpu)
    if state is not None:
        state.action = action  # of the whole pass: has its number among the program's draws
    return finder, state, damage


def _ignore(_line: str) -> None:
    """Take a warning that an earlier walk gave."""


def state_at(
    content: Content,
    order: int,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> State | None:
    """The state at the action of this position (``Action.order``); None if it is not executed."""
    found: list[State] = []

    def take(state: State) -> None:
        found.append(state)
        raise _Found

    walk = Walk()
    finder = PassFinder(walk)
    provenance, changes = Provenance(walk, finder), ChangeLog(walk, finder)
    commands = CommandWrites(walk, changes)
    taker = StateTaker(walk, provenance, lambda action: action.order == order, take, commands.now)
    walk.observe(finder, provenance, changes, commands, taker)
    try:
        walk.run(content, complain, register_db, gpu)
    except _Found:
        return found[0]
    return None


def command_writes(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[dict[int, dict[int, list[CommandWrite]]], list[Damage]]:
    """The writes of registers whose writes are commands before each action, and the damage.

    By ``Action.order`` and register, as in ``State.commands``.
    """
    walk = Walk()
    finder = PassFinder(walk)
    changes = ChangeLog(walk, finder)
    commands = CommandWrites(walk, changes)
    all_commands = AllCommandWrites(walk, commands)
    walk.observe(finder, changes, commands, all_commands)
    damage = walk.run(content, complain, register_db, gpu)
    return all_commands.before, damage


def inherited_registers(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[list[Inherited], list[Damage]]:
    """The registers that each submit inherits from earlier ones, and the capture's damage."""
    walk = Walk()
    finder = PassFinder(walk)
    provenance = Provenance(walk, finder)
    inheritance = Inheritance(walk, provenance)
    walk.observe(finder, provenance, inheritance)
    damage = walk.run(content, complain, register_db, gpu)
    return inheritance.inherited, damage
