# SPDX-License-Identifier: MIT
"""Selection: a list of draws, actions, passes or tiles from which a filter chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from cffpy.errors import UsageError
from cffpy.frame.collections import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.api.selection import Found
    from cffpy.frame.answers import Answers
    from cffpy.frame.passes import Passes
    from cffpy.query.filters import Filter, Named

#: What the items are. "draws": the program's draws, each once.
SelectionKind = Literal["draws", "actions", "passes", "tiles"]

_Item = TypeVar("_Item")


class Selection(Shown[_Item]):
    """A list whose items a filter can choose from.

    ``frame``: the passes that the items belong to, which ``Passes.bind`` sets.
    """

    __slots__ = ("__weakref__", "frame", "kind")

    def __init__(
        self, kind: SelectionKind, items: Iterable[_Item] = (), frame: Passes | None = None
    ) -> None:
        super().__init__(items)
        self.kind = kind
        self.frame = frame

    @property
    def _answers(self) -> Answers:
        answers = None if self.frame is None else self.frame.answers
        if answers is None:
            raise UsageError("the capture is closed")
        return answers

    def where(self, expression: str) -> Selection[_Item]:
        """The items for which an expression holds; ``cffpy help filter`` describes them.

        Raises FilterError, with the column, if it is wrong or has names that the GPU lacks.
        """
        chosen = self.choose(self._answers.filter(expression))
        return Selection(self.kind, (item for item, _ in chosen), self.frame)

    def choose(
        self, query: Filter, items: Iterable[_Item] | None = None
    ) -> list[tuple[_Item, Found]]:
        """As commands use it: selects from ``items``, by default from all."""
        return self._answers.choose(self.kind, self if items is None else items, query)

    def select(self, *names: str, where: str | None = None) -> list[tuple[_Item, list[Named]]]:
        """Items with the values of names, as in ``select("pass.mode", "RB_DEPTH_CNTL.ZFUNC")``.

        A text may have several names with commas. ``where``: only items for which this holds.
        Raises FilterError for names that the GPU lacks, with those that are spelt like them.
        """
        chosen = self.choose(self._answers.filter(where, ",".join(names)))
        return [(item, one.columns) for item, one in chosen]
