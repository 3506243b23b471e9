# SPDX-License-Identifier: MIT
"""Which entries touch which draws: labels of entries, and runs of draws that are alike in that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.diff.model import Entry, PassPair
    from cffpy.frame.action import Action

#: Indices of a pair of passes in both captures.
PairKey = tuple[int | None, int | None]

#: Marks of one pair of passes that are kept.
_MAX_MARKS = 400


@dataclass(slots=True, frozen=True)
class Mark:
    """An entry at draws ``first`` to ``last``. ``label``: "2", or "2.5" of its fifth consequence.

    The numbers are the bad capture's where ``in_bad`` is set.
    """

    label: str
    first: int
    last: int
    in_bad: bool

    @property
    def is_consequence(self) -> bool:
        """Whether it follows from another entry."""
        return "." in self.label


@dataclass(slots=True)
class PairMarks:
    """What touches a pair of passes. ``whole``: labels of entries about the pass as a whole."""

    whole: list[str] = field(default_factory=list)
    draws: list[Mark] = field(default_factory=list)
    #: Marks that were left out.
    dropped: int = 0

    @property
    def labels(self) -> list[str]:
        """The labels of all entries that are marked."""
        return [*self.whole, *(mark.label for mark in self.draws)]


@dataclass(slots=True)
class DrawRun:
    """Draws side by side that the same entries touch; one list is empty where they are missing."""

    marks: list[Mark]
    good: list[Action] = field(default_factory=list)
    bad: list[Action] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Rows of draws."""
        return max(len(self.good), len(self.bad))


def child_label(label: str, number: int) -> str:
    """The label of the ``number``th consequence of an entry."""
    return f"{label}.{number}"


def anchor(label: str) -> str:
    """The id of an entry in the page."""
    return f"entry-{label.replace('.', '-')}"


def pair_marks(entries: Sequence[Entry]) -> dict[PairKey, PairMarks]:
    """The marks of every pair of passes that an entry or a consequence touches."""
    found: dict[PairKey, PairMarks] = {}
    for label, entry in _labelled(entries):
        for extent in entry.extents:
            marks = found.setdefault((extent.good_pass, extent.bad_pass), PairMarks())
            if len(marks.draws) + len(marks.whole) >= _MAX_MARKS:
                marks.dropped += 1
            elif extent.first is None or extent.last is None:
                marks.whole.append(label)
            else:
                marks.draws.append(Mark(label, extent.first, extent.last, extent.in_bad))
    return found


def _labelled(entries: Sequence[Entry]) -> Iterator[tuple[str, Entry]]:
    """Entries and, after all of them, what follows, so that causes are marked first."""
    level = [(str(number), entry) for number, entry in enumerate(entries, 1)]
    while level:
        yield from level
        level = [
            (child_label(label, number), consequence)
            for label, entry in level
            for number, consequence in enumerate(entry.consequences, 1)
        ]


def draw_runs(pair: PassPair, marks: PairMarks) -> Iterator[DrawRun]:
    """The draws of a pair, aligned, in order."""
    touching = _Touching(marks, in_bad=False), _Touching(marks, in_bad=True)
    run: DrawRun | None = None
    for good, bad in actions(pair):
        active: list[Mark] = []
        if good is not None:
            active = touching[0].at(good)
        elif bad is not None:
            active = touching[1].at(bad)
        if (
            run is None
            or run.marks != active
            or (good is None) == bool(run.good)
            or (bad is None) == bool(run.bad)
        ):
            if run is not None:
                yield run
            run = DrawRun(active)
        if good is not None:
            run.good.append(good)
        if bad is not None:
            run.bad.append(bad)
    if run is not None:
        yield run


def actions(pair: PassPair) -> Iterator[tuple[Action | None, Action | None]]:
    """The draws of a pair; those of a pass without a counterpart are all missing in the other."""
    if pair.good is not None and pair.bad is not None:
        for mine, theirs in pair.draws:
            yield (
                None if mine is None else mine.action,
                None if theirs is None else theirs.action,
            )
    elif pair.good is not None:
        for action in pair.good.draws:
            yield action, None
    elif pair.bad is not None:
        for action in pair.bad.draws:
            yield None, action


class _Touching:
    """The marks at draws of one capture, which are asked for in order."""

    def __init__(self, marks: PairMarks, in_bad: bool) -> None:
        self._coming = sorted(
            (mark for mark in marks.draws if mark.in_bad == in_bad),
            key=lambda mark: mark.first,
            reverse=True,
        )
        self._active: list[Mark] = []

    def at(self, action: Action) -> list[Mark]:
        """The marks at a draw; the list is the same as before where nothing has changed."""
        number = action.number
        if number is None:
            return []
        active = self._active
        if any(mark.last < number for mark in active):
            active = [mark for mark in active if mark.last >= number]
        if self._coming and self._coming[-1].first <= number:
            active = list(active)
            while self._coming and self._coming[-1].first <= number:
                mark = self._coming.pop()
                if mark.last >= number:
                    active.append(mark)
        self._active = active
        return active
