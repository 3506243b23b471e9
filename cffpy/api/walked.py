# SPDX-License-Identifier: MIT
"""What one walk over the commands of a capture has found, and its problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.register_store.columns import WritePlaces
from cffpy.limits import hint

if TYPE_CHECKING:
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.container.damage import Damage
    from cffpy.regdb.database import Database


class Problem(NamedTuple):
    """A problem of a capture, or a part that is missing from its results.

    ``kind``: "damage"; "truncated", by a limit; "warning". ``text``: one line. ``offset``: in the
    decompressed file, in bytes; None where the problem is in the commands.
    """

    kind: str
    text: str
    offset: int | None = None

    @property
    def line(self) -> str:
        """The text and the offset, as commands print them."""
        return (
            self.text if self.offset is None else f"{self.text} (at file offset {self.offset:#x})"
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class Walked(NamedTuple):
    """What one walk over the commands has found. ``store``: None where registers were not recorded.

    ``places``: of the store's writes, where it has passed them on.
    """

    finder: PassFinder
    store: RegisterStore | None
    problems: list[Problem]
    places: WritePlaces | None = None

    @property
    def database(self) -> Database | None:
        """The descriptions of the GPU; None where no commands were decoded."""
        return self.finder.walk.machine.database if self.finder.found.generation else None

    @property
    def write_places(self) -> WritePlaces:
        """Where the registers at all draws were written; of a walk that recorded them."""
        if self.places is not None:
            return self.places
        assert self.store is not None
        found = WritePlaces()
        for writes in self.store.draws.written():
            found.add(writes)
        return found


def problem_of_damage(one: Damage) -> Problem:
    """Damage as a problem."""
    text = f"{one.message} {hint(one.limit)}" if one.limit else one.message
    return Problem("truncated" if one.limit else "damage", text, one.offset)
