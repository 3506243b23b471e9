# SPDX-License-Identifier: MIT
"""What a comparison takes of a capture: a place of it, the draws of a filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cffpy.frame.places import (
    BinningName,
    DrawName,
    DrawRange,
    PassName,
    SubmitName,
    TileName,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from cffpy.frame.places import Place

#: The number of the binning run, where tiles have theirs.
BINNING = -1


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a capture; all of it where everything is None.

    All count from 0: ``submit``; ``index`` of a pass; ``draws`` of the program in the pass, both
    ends included; ``run``: a tile, by its position in the order of execution, or BINNING.
    """

    submit: int | None = None
    index: int | None = None
    draws: DrawRange | None = None
    run: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.submit is None and self.index is None

    @property
    def is_one_draw(self) -> bool:
        """Whether it is one draw, whatever that of the other capture is."""
        return self.draws is not None and self.draws.first == self.draws.last

    @property
    def place(self) -> Place | None:
        """The same as a place; None for all of it."""
        if self.submit is not None:
            return SubmitName(self.submit)
        if self.index is None:
            return None
        if self.run is not None:
            is_binning = self.run == BINNING
            return BinningName(self.index) if is_binning else TileName(self.run, self.index)
        return PassName(self.index) if self.draws is None else self.draws

    def __str__(self) -> str:
        """As it is written after a path: ``@p3:7``."""
        return "" if self.place is None else f"@{self.place}"


WHOLE = Selection()


def selection_of(place: Place | None) -> Selection | None:
    """The part that a place is; None for a place that is not a submit, a pass, or draws, a tile or
    the binning run of a pass.
    """
    if place is None:
        return WHOLE
    if isinstance(place, SubmitName):
        return Selection(submit=place.number)
    if isinstance(place, PassName):
        return Selection(index=place.number)
    if isinstance(place, TileName):
        return Selection(index=place.pass_index, run=place.number)
    if isinstance(place, BinningName):
        return Selection(index=place.pass_index, run=BINNING)
    if isinstance(place, DrawName) and place.pass_index is not None:
        return draws_of_pass(place.pass_index, place.number)
    if isinstance(place, DrawRange) and place.pass_index is not None:
        return Selection(index=place.pass_index, draws=place)
    return None


def draws_of_pass(index: int, draw: int) -> Selection:
    """One draw of a pass."""
    return Selection(index=index, draws=DrawRange(draw, draw, index))


#: A phase of a pass, in which actions are executed that are compared with each other: the program's
#: draws as one tile executes them, or the binning run; clears, loads and stores of attachments; and
#: all of it in the other tiles.
Phase = Literal["draws", "binning run", "operations", "tiles"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The draws of a capture for which a filter holds, by their passes and program numbers."""

    #: The text of the filter.
    expression: str
    draws: Mapping[int, Set[int]]
    #: Passes that are compared as wholes, too: the filter is about passes, and holds for them.
    passes: frozenset[int] = frozenset()
