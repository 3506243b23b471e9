# SPDX-License-Identifier: MIT
"""Waits and cache events: those between the draws of a recording, and how two sequences differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.analysis.diff.model import Difference
from cffpy.analysis.diff.rules import FACT_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.passes.model import PassRun

#: Packets that order or synchronise; compared as a sequence between draws.
BARRIERS = frozenset(
    (
        "CP_WAIT_FOR_IDLE",
        "CP_WAIT_FOR_ME",
        "CP_WAIT_MEM_WRITES",
        "CP_WAIT_REG_MEM",
        "CP_WAIT_REG_EQ",
        "CP_WAIT_MEM_GTE",
        "CP_WAIT_TIMESTAMP",
    )
)

#: Events that are no barrier: marks for statistics, and what is compared as an operation.
OTHER_EVENTS = ("BLIT", "LRZ_CLEAR", "LABEL", "ZPASS_DONE", "START_PRIMITIVE_CTRS")

#: Packets between two draws that are kept, at most.
MAX_EVENTS = 4096

#: Names of the differences of barriers.
BEFORE_DRAW = "waits and cache events before it"
BEHIND_ALL = "waits and cache events behind the last draw"


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
            self._events = [one for one in self._events if self._is_of_records(one[0])]
            self._last = run
        if event is not None and len(self._events) < MAX_EVENTS:
            self._events.append(event)

    def take(self, run: PassRun | None) -> tuple[str, ...]:
        """Barriers since the last call, without those of runs but this one and the last's."""
        names = tuple(name for at, name in self._events if at is run or self._is_of_records(at))
        self._events = []
        self._recorded = run
        return names

    def _is_of_records(self, run: PassRun | None) -> bool:
        return not self._only_in_runs if run is None else run is self._recorded


def barriers(name: str, good: Sequence[str], bad: Sequence[str]) -> Difference | None:
    """How two sequences of waits and cache events differ: what only one has, else the order."""
    if list(good) == list(bad):
        return None
    mine, theirs = Counter(good), Counter(bad)
    left, right = _listed(mine - theirs), _listed(theirs - mine)
    if not left and not right:
        left, right = "one order", "another order"
    return Difference(
        name,
        left or f"without {right}",
        right or f"without {left}",
        FACT_CATEGORIES["barriers"],
        details=(f"good: {' '.join(good)}", f"bad: {' '.join(bad)}"),
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.items())
