# SPDX-License-Identifier: MIT
"""LayoutCheck: one image, LRZ buffer or grid of tiles, compared with what is calculated for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, Passes

Kind = Literal["texture", "attachment", "LRZ buffer", "tiles"]

#: In the order in which they are listed.
KINDS: tuple[Kind, ...] = ("texture", "attachment", "LRZ buffer", "tiles")

Answer = Literal["agrees", "differs", "not decidable"]
ANSWERS: tuple[Answer, ...] = ("agrees", "differs", "not decidable")


class Difference(NamedTuple):
    """A value that is not the calculated one: numbers of bytes or pixels, or words."""

    what: str
    found: int | str
    calculated: int | str

    def __str__(self) -> str:
        text = f"{self.what} {_shown(self.found)}, calculated {_shown(self.calculated)}"
        if isinstance(self.found, int) and isinstance(self.calculated, int):
            return f"{text} ({self.found - self.calculated:+})"
        return text


def _shown(value: int | str) -> str:
    return f"{value} ({value:#x})" if isinstance(value, int) and value >= 4096 else str(value)


class Comparison(NamedTuple):
    """The result. ``note``: how it agrees, or why that cannot be decided."""

    answer: Answer
    note: str = ""
    differences: tuple[Difference, ...] = ()


@dataclass(slots=True)
class LayoutCheck:
    """``what``: a description in a line. ``first``: where it was seen first, ``uses`` how often."""

    kind: Kind
    what: str
    comparison: Comparison
    address: int | None = None
    found: Pass | None = None
    first: Action | None = None
    uses: int = 1

    def __repr__(self) -> str:
        return f"<LayoutCheck of a {self.kind}, {self.answer}: {self.what}>"

    @property
    def answer(self) -> Answer:
        """One of ANSWERS."""
        return self.comparison.answer


@dataclass(slots=True)
class LayoutChecks:
    """All of a capture. ``part``: the name of the GPU's row of facts; None: there is none."""

    passes: Passes
    part: str | None
    checks: list[LayoutCheck] = field(default_factory=list)

    def __repr__(self) -> str:
        answers = [one.answer for one in self.checks]
        counts = (f"{answers.count(one)} {one}" for one in dict.fromkeys(answers))
        return f"<LayoutChecks of {len(self.checks)}: {', '.join(counts)}>"

    def count(self, kind: Kind, answer: Answer) -> int:
        """How many have this answer."""
        return sum(one.kind == kind and one.answer == answer for one in self.checks)
