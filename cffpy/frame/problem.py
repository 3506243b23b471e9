# SPDX-License-Identifier: MIT
"""Problems: damage of a capture, what limits left out of results, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cffpy.frame.facts import Address, model, stored
from cffpy.frame.model_object import ModelObject
from cffpy.limits import hint

if TYPE_CHECKING:
    from cffpy.container.damage import Damage

ProblemKind = Literal["damage", "truncated", "warning"]


@model("problem", frozen=True, is_value=False)
class Problem(ModelObject):
    """A problem of a capture, or a part that is missing from its results."""

    kind: ProblemKind = stored("damage; truncated, by a limit; or a warning")
    text: str = stored("what the problem is, in one line")
    file_offset: Address | None = stored(
        "where it is in the decompressed file; None where it is in the commands", default=None
    )
    stops_cffdump: bool = stored(
        'cffdump of Mesa says "corrupt file" and stops reading here', default=False
    )

    @property
    def line(self) -> str:
        """The text and the offset, as commands print them."""
        if self.file_offset is None:
            return self.text
        return f"{self.text} (at file offset {self.file_offset:#x})"

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def problem_of_damage(one: Damage) -> Problem:
    """Damage as a problem."""
    text = f"{one.message} {hint(one.limit)}" if one.limit else one.message
    kind: ProblemKind = "truncated" if one.limit else "damage"
    return Problem(kind, text, one.offset, one.reference_says_corrupt)
