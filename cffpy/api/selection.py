# SPDX-License-Identifier: MIT
"""Selection: a list of draws, passes or tiles from which a filter chooses.

Filters are imported when the first one is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.api.source import Source
    from cffpy.frame.passes import Tile
    from cffpy.query.filters import BoundFilter, Filter, Named
    from cffpy.query.properties import Subject

_Item = TypeVar("_Item")


class _HasOrder(Protocol):
    """An Action or a Draw."""

    @property
    def order(self) -> int: ...


class _HasIndex(Protocol):
    """A Pass."""

    @property
    def index(self) -> int: ...


_Action = TypeVar("_Action", bound=_HasOrder)
_Pass = TypeVar("_Pass", bound=_HasIndex)

#: Selects the items that match, each with what the filter was applied to.
_Choose = Callable[["Source", "Iterable[_Item]", "Filter"], "list[tuple[_Item, Found]]"]


class Found:
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


class Selection(list[_Item]):
    """A list whose items a filter can choose from."""

    def __init__(self, items: Iterable[_Item], source: Source, choose: _Choose[_Item]) -> None:
        super().__init__(items)
        self._source = source
        self._choose = choose

    def where(self, expression: str) -> Selection[_Item]:
        """The items for which an expression holds; docs/filter.md describes expressions.

        Raises FilterError, with the column, if it is wrong or has names that the GPU lacks.
        """
        from cffpy.query.filters import Filter

        chosen = self.choose(Filter(expression))
        return Selection([item for item, _ in chosen], self._source, self._choose)

    def choose(
        self, query: Filter, items: Iterable[_Item] | None = None
    ) -> list[tuple[_Item, Found]]:
        """As commands use it: selects from ``items``, by default from all."""
        return self._choose(self._source, self if items is None else items, query)

    def select(self, columns: str, where: str | None = None) -> list[tuple[_Item, list[Named]]]:
        """Items with the values of names, as in ``select("pass.mode,RB_DEPTH_CNTL.ZFUNC")``."""
        from cffpy.query.filters import Filter

        return [(item, one.columns) for item, one in self.choose(Filter(where, columns))]


def choose_draws(
    source: Source, draws: Iterable[_Action], query: Filter
) -> list[tuple[_Action, Found]]:
    """The program's draws that match, or of which an execution does, where these differ.

    ``changed`` compares with the one before in the capture.
    """
    from cffpy.query.search import asked_draws, subjects

    bound = source.ask(query, at_draws=not query.is_of_executions)
    passes = source.walked.finder.found.passes
    asked = subjects(asked_draws(query, passes), passes)
    if not query.is_of_executions:
        return _chosen_actions(draws, bound, asked)
    wanted = {one.order: one for one in draws}
    chosen: dict[int, tuple[_Action, Found]] = {}
    for subject in asked if bound is not None else ():
        order = _order_of_draw(subject)
        if order in wanted and order not in chosen and bound is not None and bound.matches(subject):
            chosen[order] = wanted[order], Found(bound, subject)
    return list(chosen.values())


def _order_of_draw(subject: Subject) -> int:
    """``Action.order`` of the program's draw of which the subject is an execution; -1 for none."""
    action, found = subject.action, subject.found_pass
    number = None if action is None else action.number
    return -1 if found is None or number is None else found.draws[number].order


def choose_actions(
    source: Source, actions: Iterable[_Action], query: Filter
) -> list[tuple[_Action, Found]]:
    """The actions that match. ``changed`` compares with the action before in the capture."""
    from cffpy.query.search import subjects

    bound = source.ask(query)
    finder = source.walked.finder
    return _chosen_actions(actions, bound, subjects(finder.actions, finder.found.passes))


def _chosen_actions(
    actions: Iterable[_Action], bound: BoundFilter | None, asked: Iterable[Subject]
) -> list[tuple[_Action, Found]]:
    if bound is None:
        return []
    wanted = {one.order: one for one in actions}
    return [
        (wanted[one.action.order], Found(bound, one))
        for one in asked
        if one.action is not None and one.action.order in wanted and bound.matches(one)
    ]


def choose_passes(
    source: Source, passes: Iterable[_Pass], query: Filter
) -> list[tuple[_Pass, Found]]:
    """The passes that match: as a whole, or one of their draws."""
    from cffpy.query.search import matching_pass

    bound = source.ask(query, at_draws=not query.is_of_executions)
    if bound is None:
        return []
    chosen = []
    before = -1
    wanted = {one.index: one for one in passes}
    for found in source.walked.finder.found.passes:
        subject = matching_pass(bound, found, before) if found.index in wanted else None
        if subject is not None:
            chosen.append((wanted[found.index], Found(bound, subject)))
        before = found.draws[-1].order if found.draws else before
    return chosen


def choose_tiles(source: Source, tiles: Iterable[Tile], query: Filter) -> list[tuple[Tile, Found]]:
    """The tiles that match: as a whole, or one of the draws that are executed in them."""
    from cffpy.query.search import matching_tile

    bound = source.ask(query)
    if bound is None:
        return []
    chosen = []
    passes = source.walked.finder.found.passes
    for tile in tiles:
        subject = matching_tile(bound, passes[tile.pass_index], tile)
        if subject is not None:
            chosen.append((tile, Found(bound, subject)))
    return chosen
