# SPDX-License-Identifier: MIT
"""Waits, cache events and other commands between draws, and how two sequences of them differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.analysis.diff.commands import COMMANDS, DAMAGE
from cffpy.analysis.diff.model import Difference
from cffpy.analysis.diff.rules import FACT_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.diff.rules import Category
    from cffpy.frame.passes import PassRun

#: Packets between two draws that are kept, at most.
MAX_EVENTS = 4096

#: What is compared as one sequence -> the key of its category.
_KINDS = {"waits and cache events": "barriers", "other commands": "commands"}

#: Where differences are.
BEFORE_DRAW = "before it"
AFTER_ALL = "after the last draw"


class PendingBarriers:
    """Barriers since the last record, without those of runs that no record is taken in.

    The binning run and each tile repeat what the run has that records are taken in.
    """

    def __init__(self, only_in_runs: bool = False) -> None:
        self._only_in_runs = only_in_runs
        self._events: list[tuple[PassRun | None, str]] = []
        #: The run that the last record was taken in, and the one of the last barrier.
        self._recorded: PassRun | None = None
        self._last: object = None

    def note(self, event: tuple[PassRun | None, str] | None) -> None:
        """A barrier; None: of another run."""
        run = self if event is None else event[0]
        if run is not self._last:
            self._events = [
                one for one in self._events if one[0] is self._last or self._is_of_records(one[0])
            ]
            self._last = run
        if event is not None and len(self._events) < MAX_EVENTS:
            self._events.append(event)

    def take(self, run: PassRun | None, begins_run: bool = False) -> tuple[str, ...]:
        """Barriers since the last call, without those of runs but this one and the last's.

        ``begins_run``: for a dispatch or a copy, which may begin a run itself: with those of the
        run of the last barrier as well.
        """
        if not self._events:
            self._recorded = run
            return ()
        before = self._last if begins_run else run
        names = tuple(
            name
            for at, name in self._events
            if at is run or at is before or self._is_of_records(at)
        )
        self._events = []
        self._recorded = run
        return names

    def _is_of_records(self, run: PassRun | None) -> bool:
        return not self._only_in_runs if run is None else run is self._recorded


def barriers(where: str, good: Sequence[str], bad: Sequence[str]) -> Iterator[Difference]:
    """How two sequences of waits, cache events and other commands differ."""
    if list(good) == list(bad):
        return
    for what, kind in _KINDS.items():
        mine, theirs = (
            [one for one in of if _is_command(one) == (kind == "commands")] for of in (good, bad)
        )
        if mine != theirs:
            yield _difference(f"{what} {where}", FACT_CATEGORIES[kind], mine, theirs)


def _is_command(text: str) -> bool:
    name = text.partition(" ")[0]
    return name in COMMANDS or name == DAMAGE


def _difference(name: str, category: Category, good: list[str], bad: list[str]) -> Difference:
    """What only one sequence has, else that the order differs."""
    mine, theirs = Counter(good), Counter(bad)
    left, right = _listed(mine - theirs), _listed(theirs - mine)
    if not left and not right:
        left, right = "one order", "another order"
    return Difference(
        name,
        left or f"without {right}",
        right or f"without {left}",
        category,
        details=(f"good: {_in_order(good)}", f"bad: {_in_order(bad)}"),
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.items())


def _in_order(names: list[str]) -> str:
    """With commas where names have values."""
    return (", " if any(" " in one for one in names) else " ").join(names)
