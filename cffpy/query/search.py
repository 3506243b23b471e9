# SPDX-License-Identifier: MIT
"""Evaluates a filter over a capture: over its draws, its actions, its passes or its tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.queries import PassWalk
from cffpy.query.properties import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.capture.gpu import Gpu
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, Tile
    from cffpy.query.filters import BoundFilter, Filter
    from cffpy.regdb.database import Database


class PendingFilter(Observer):
    """A filter that is bound while a walk runs; ``finish`` when it has run."""

    def __init__(self, walk: PassWalk, query: Filter, is_lenient: bool = False) -> None:
        """Has the walk record the registers that the filter reads, if it does not record all.

        The walk raises FilterError for a name that the GPU has not, unless ``is_lenient``.
        """
        self._query = query
        self._is_lenient = is_lenient
        self._bound: BoundFilter | None = None
        if walk.records_registers:
            self._store = walk.registers
            walk.observe(self)
        else:
            self._store = walk.select_registers(self._choose, query.needs_writes)

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Look up the names."""
        self._choose(database)

    def _choose(self, database: Database) -> Iterable[int]:
        self._bound = self._query.bind(database, self._is_lenient)
        return self._bound.registers

    def is_of(self, query: Filter, is_lenient: bool) -> bool:
        """Whether it was made of this filter, bound in this way."""
        return self._query is query and self._is_lenient == is_lenient

    def finish(self) -> BoundFilter | None:
        """The filter with its registers; None where the capture has no commands.

        A filter serves one capture at a time: call it again when another one was asked.
        """
        if self._bound is not None:
            self._bound.attach_store(self._store)
        return self._bound


def find_passes_for(
    query: Filter,
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    observers: Iterable[Observer] = (),
    is_lenient: bool = False,
) -> tuple[PassFinder, PendingFilter, list[Damage]]:
    """As ``analysis.queries.find_passes``, with the registers that the filter reads: one walk.

    The filter is to be finished. Raises FilterError for a name that the GPU has not, unless
    ``is_lenient``. ``observers``: others that see the walk, too.
    """
    walk = PassWalk(content, complain, register_db, gpu)
    pending = PendingFilter(walk, query, is_lenient)
    walk.observe(*observers)
    damage = walk.run()
    return walk.finder, pending, damage


def subjects(actions: Iterable[Action], passes: list[Pass]) -> Iterator[Subject]:
    """Draws or other actions as subjects, in the order of execution.

    ``changed`` compares each with the one before it.
    """
    before = -1
    for action in actions:
        index = action.pass_index
        found = None if index is None else passes[index]
        number = action.tile_number
        tile = None if found is None or number is None else _tile(found, number)
        subject = Subject(action, found, tile, before)
        yield subject
        if subject.order >= 0:
            before = subject.order


def asked_draws(query: Filter | BoundFilter, passes: Iterable[Pass]) -> Iterator[Action]:
    """The program's draws that a filter is asked about: each once, in order.

    A filter that reads what differs between executions is asked about each execution of them.
    """
    for found in passes:
        if not query.is_of_executions:
            yield from found.draws
            continue
        for run in found.runs:
            yield from (draw for draw in run.draws if draw.number is not None)


def _tile(found: Pass, number: int) -> Tile | None:
    return found.tiles[number] if number < len(found.tiles) else None


def matching_pass(bound: BoundFilter, found: Pass, before: int = -1) -> Subject | None:
    """What the filter holds for: a pass as a whole, else the first of its draws that matches.

    ``before``: ``Action.order`` of the draw before the pass, -1 for none.
    """
    return _matching(bound, Subject(None, found), asked_draws(bound, [found]), before)


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
        tile = whole.tile
        if tile is None and found is not None and action.tile_number is not None:
            tile = _tile(found, action.tile_number)
        subject = Subject(action, found, tile, before)
        if bound.matches(subject):
            return subject
        before = action.order if subject.order >= 0 else before
    return None
