# SPDX-License-Identifier: MIT
"""What one walk over the commands of a capture has found, and its problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.draws import WritePlaces
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.frame.submit import Problem
    from cffpy.regdb.database import Database


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
        from cffpy.analysis.register_store.draws import WritePlaces

        found = WritePlaces()
        for writes in self.store.draws.written():
            found.add(writes)
        return found
