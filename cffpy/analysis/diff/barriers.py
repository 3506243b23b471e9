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

    from cffpy.analysis.diff.commands import PipeCommand
    from cffpy.analysis.diff.rules import Category

#: What is compared as one sequence -> the key of its category.
_KINDS = {"waits and cache events": "barriers", "other commands": "commands"}

#: Where differences are.
BEFORE_DRAW = "before it"
AFTER_ALL = "after the last draw"


#: The pipes of a7xx, and what their sequences are called. What both execute is in both sequences,
#: and told of the first.
_PIPES = {"BR": "", "BV": " of BV"}


def barriers(
    where: str, good: Sequence[PipeCommand], bad: Sequence[PipeCommand]
) -> Iterator[Difference]:
    """How two sequences of waits, cache events and other commands differ.

    Each pipe executes its own sequence. In which order the stream has them does not count.
    """
    have_pipes = all(any(pipe is not None for pipe, _ in of) for of in (good, bad))
    for what, kind in _KINDS.items():
        is_told = False
        for pipe, of_pipe in _PIPES.items():
            mine, theirs = (_texts(of, pipe, kind) for of in (good, bad))
            own = [_texts(of, pipe, kind, only=True) for of in (good, bad)]
            if pipe == "BV" and (is_told or not have_pipes):
                is_other = own[0] != own[1]  # the rest is that of BR, too
            else:
                is_other = mine != theirs
            if is_other:
                is_told = True
                yield _difference(f"{what}{of_pipe} {where}", FACT_CATEGORIES[kind], mine, theirs)


def _texts(of: Sequence[PipeCommand], pipe: str, kind: str, only: bool = False) -> list[str]:
    """What a pipe executes, ``only``: not both. BR also what has no pipe, or one not known."""
    pipes = (pipe,) if only else (pipe, "both") if pipe == "BV" else (pipe, "both", "unknown", None)
    return [text for at, text in of if at in pipes and _is_command(text) == (kind == "commands")]


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
