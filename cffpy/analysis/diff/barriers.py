# SPDX-License-Identifier: MIT
"""How two sequences of waits, cache events and other commands between draws differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.analysis.diff.commands import COMMANDS, DAMAGE
from cffpy.analysis.diff.model import Difference
from cffpy.analysis.diff.rules import FACT_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.diff.rules import Category

#: What is compared as one sequence -> the key of its category.
_KINDS = {"waits and cache events": "barriers", "other commands": "commands"}

#: Where differences are.
BEFORE_DRAW = "before it"
AFTER_ALL = "after the last draw"


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
