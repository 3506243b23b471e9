# SPDX-License-Identifier: MIT
"""Waits and cache events between draws, compared as a sequence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.analysis.diff.model import Difference
from cffpy.analysis.diff.rules import FACT_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Sequence

BEFORE_DRAW = "waits and cache events before it"
BEHIND_ALL = "waits and cache events behind the last draw"


def barriers(name: str, good: Sequence[str], bad: Sequence[str]) -> Difference | None:
    """How two sequences differ: what only one of them has, else that the order does."""
    if list(good) == list(bad):
        return None
    mine, theirs = Counter(good), Counter(bad)
    return Difference(
        name,
        _listed(mine - theirs) or "no more",
        _listed(theirs - mine) or ("no more" if mine != theirs else "another order"),
        FACT_CATEGORIES["barriers"],
        details=(f"good: {' '.join(good)}", f"bad: {' '.join(bad)}"),
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.items())
