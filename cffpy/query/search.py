# SPDX-License-Identifier: MIT
"""Evaluates a filter over a capture: over its draws, its actions, its passes or its tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.passes.density_tracker import DensityTracker
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_history import most_changes
from cffpy.analysis.walk import Walk
from cffpy.query.properties import Subject
from cffpy.query.register_values import SelectedRegisters, SelectedWrites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.analysis.actions import Action
    from cffpy.analysis.observer import Observer
    from cffpy.analysis.passes.model import Pass, Tile
    from cffpy.capture.gpu import Gpu
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.query.filters import BoundFilter, Filter
    from cffpy.regdb.database import Database


def find_passes_for(
    query: Filter,
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    observers: Iterable[Observer] = (),
    is_lenient: bool = False,
) -> tuple[PassFinder, BoundFilter | None, list[Damage]]:
    """As ``analysis.queries.find_passes``, with the registers that the filter reads: one walk.

    The filter is None where the capture has no commands. Raises FilterError for a name that the
    GPU has not, unless ``is_lenient``. ``observers``: others that see the walk, too.
    """
    bound: list[BoundFilter] = []

    def choose(database: Database) -> Iterable[int]:
        bound.append(query.bind(database, is_lenient))
        return bound[-1].registers

    walk = Walk()
    finder = PassFinder(walk)
    most = most_changes(len(content.data))
    kind = SelectedWrites if "written" in (query.where or "") else SelectedRegisters
    selected = kind(walk, choose, most)
    walk.observe(finder, DensityTracker(walk, finder), selected, *observers)
    finder.found.damage = walk.run(content, complain, register_db, gpu)
    finder.found.truncated = list(content.truncated)
    if bound:
        bound[-1].attach(selected)
    return finder, bound[-1] if bound else None, finder.found.damage


def subjects(actions: Iterable[Action], passes: list[Pass]) -> Iterator[Subject]:
    """Draws or other actions as subjects, in the order of execution.

    ``changed`` compares each with the one before it.
    """
    before = -1
    for action in actions:
        index = action.pass_index
        found = None if index is None else passes[index]
        number = action.tile
        tile = None if found is None or number is None else _tile(found, number)
        subject = Subject(action, found, tile, before)
        yield subject
        if subject.order >= 0:
            before = subject.order


def _tile(found: Pass, number: int) -> Tile | None:
    return found.tiles[number] if number < len(found.tiles) else None


def matching_pass(bound: BoundFilter, found: Pass, before: int = -1) -> Subject | None:
    """What the filter holds for: a pass as a whole, else the first of its draws that matches.

    ``before``: ``Action.order`` of the draw before the pass, -1 for none.
    """
    return _matching(bound, Subject(None, found), found.program_draws, before)


def matching_tile(bound: BoundFilter, found: Pass, tile: Tile) -> Subject | None:
    """The same of a tile: as a whole, else the first draw that is executed in it and matches."""
    return _matching(bound, Subject(None, found, tile), tile.draws, -1)


def _matching(
    bound: BoundFilter, whole: Subject, actions: Iterable[Action], before: int
) -> Subject | None:
    found = whole.found_pass
    # an expression without draws and registers holds for all of them alike
    if not bound.is_of_draws:
        return whole if bound.matches(whole) else None
    for action in actions:
        subject = Subject(action, found, whole.tile, before)
        if bound.matches(subject):
            return subject
        before = action.order if subject.order >= 0 else before
    return None
