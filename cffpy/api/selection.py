# SPDX-License-Identifier: MIT
"""What a Selection chooses: the draws, actions, passes or tiles for which a filter holds.

Filters are imported when the first one is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.api.walking import Walked
    from cffpy.frame.action import Action
    from cffpy.frame.objects import Found, Named, SelectionKind
    from cffpy.frame.passes import Pass, Tile
    from cffpy.query.filters import BoundFilter, Filter
    from cffpy.query.properties import Subject


class Asked(Protocol):
    """What is asked of ``cffpy.api.source.Source``."""

    @property
    def walked(self) -> Walked:
        """The passes and actions."""

    def ask(self, query: Filter, at_draws: bool = False) -> BoundFilter | None:
        """A filter with the registers that it reads; None where there are no commands."""


class ChosenItem:
    """An item for which a filter holds, and the values of the names in the filter."""

    __slots__ = ("_bound", "_subject")

    def __init__(self, bound: BoundFilter, subject: Subject) -> None:
        self._bound = bound
        self._subject = subject

    @property
    def values(self) -> list[Named]:
        """The names of the filter and the columns: ``name``, ``value``, ``text`` of each."""
        return self._bound.values(self._subject)

    @property
    def columns(self) -> list[Named]:
        """The columns only."""
        return self._bound.columns(self._subject)


def choose_draws(
    source: Asked, draws: Iterable[Action], query: Filter
) -> list[tuple[Action, Found]]:
    """The program's draws that match, or of which an execution does, where these differ.

    ``changed`` compares with the one before in the capture.
    """
    from cffpy.query.search import asked_draws, subjects

    bound = source.ask(query, at_draws=not query.is_of_executions)
    passes = source.walked.finder.found.passes
    asked = subjects(asked_draws(query, passes), passes)
    if not query.is_of_executions:
        return _chosen_actions(draws, bound, asked)
    wanted = {draw.order: draw for draw in draws}
    chosen: dict[int, tuple[Action, Found]] = {}
    for subject in asked if bound is not None else ():
        order = _order_of_draw(subject)
        if order in wanted and order not in chosen and bound is not None and bound.matches(subject):
            chosen[order] = wanted[order], ChosenItem(bound, subject)
    return list(chosen.values())


def _order_of_draw(subject: Subject) -> int:
    """``Action.order`` of the program's draw of which the subject is an execution; -1 for none."""
    action, found = subject.action, subject.found_pass
    number = None if action is None else action.number
    return -1 if found is None or number is None else found.draws[number].order


def choose_actions(
    source: Asked, actions: Iterable[Action], query: Filter
) -> list[tuple[Action, Found]]:
    """The actions that match. ``changed`` compares with the action before in the capture."""
    from cffpy.query.search import subjects

    bound = source.ask(query)
    finder = source.walked.finder
    return _chosen_actions(actions, bound, subjects(finder.actions, finder.found.passes))


def _chosen_actions(
    actions: Iterable[Action], bound: BoundFilter | None, asked: Iterable[Subject]
) -> list[tuple[Action, Found]]:
    if bound is None:
        return []
    wanted = {action.order: action for action in actions}
    return [
        (wanted[one.action.order], ChosenItem(bound, one))
        for one in asked
        if one.action is not None and one.action.order in wanted and bound.matches(one)
    ]


def choose_passes(source: Asked, passes: Iterable[Pass], query: Filter) -> list[tuple[Pass, Found]]:
    """The passes that match: as a whole, or one of their draws."""
    from cffpy.query.search import matching_pass

    bound = source.ask(query, at_draws=not query.is_of_executions)
    if bound is None:
        return []
    chosen: list[tuple[Any, Found]] = []
    before = -1
    wanted = {pass_.index: pass_ for pass_ in passes}
    for found in source.walked.finder.found.passes:
        subject = matching_pass(bound, found, before) if found.index in wanted else None
        if subject is not None:
            chosen.append((wanted[found.index], ChosenItem(bound, subject)))
        before = found.draws[-1].order if found.draws else before
    return chosen


def choose_tiles(source: Asked, tiles: Iterable[Tile], query: Filter) -> list[tuple[Tile, Found]]:
    """The tiles that match: as a whole, or one of the draws that are executed in them."""
    from cffpy.query.search import matching_tile

    bound = source.ask(query)
    if bound is None:
        return []
    chosen: list[tuple[Any, Found]] = []
    passes = source.walked.finder.found.passes
    for tile in tiles:
        subject = matching_tile(bound, passes[tile.pass_index], tile)
        if subject is not None:
            chosen.append((tile, ChosenItem(bound, subject)))
    return chosen


_Choose = Callable[[Asked, "Iterable[Any]", "Filter"], "list[tuple[Any, Found]]"]

#: Selects the items that match, each with what the filter was applied to.
CHOOSERS: dict[SelectionKind, _Choose] = {
    "draws": choose_draws,
    "actions": choose_actions,
    "passes": choose_passes,
    "tiles": choose_tiles,
}
