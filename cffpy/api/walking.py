# SPDX-License-Identifier: MIT
"""Walks over a capture: one at a time, without the collector of objects; what one has found."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.draws import WritePlaces
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.frame.submit import Problem
    from cffpy.regdb.database import Database

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def alone(method: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """A method that one thread at a time runs, by the ``lock`` of its object."""

    @wraps(method)
    def run(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        with arguments[0].lock:  # type: ignore[attr-defined]
            return method(*arguments, **named)

    return run


class Abandoned:
    """Captures that were not closed: their objects refer to each other.

    Python's collector counts objects, not what they hold. So it is called where captures of some
    size were left to it, before the next one is opened: while a capture dies, the expression that
    it was part of may still hold its draws.
    """

    def __init__(self, least: int = 1 << 22) -> None:
        """``least``: bytes of captures that are collected at once."""
        self._bytes = 0
        self._least = least

    def add(self, size: int) -> None:
        """A capture of ``size`` bytes is left to the collector."""
        self._bytes += size

    def collect(self) -> None:
        """Another capture is opened."""
        if self._bytes >= self._least and gc.isenabled():
            self._bytes = 0
            gc.collect()


#: Of this process.
ABANDONED = Abandoned()


@contextmanager
def uncollected(is_kept: bool = True) -> Iterator[None]:
    """Without the cyclic garbage collector.

    A recording has millions of small objects, which are kept; searching them for cycles took a
    third of the time, and of a walk a fifth. Afterwards all objects count as old, so that they are
    not searched at once. ``is_kept``: False where what the block has made is not needed after it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if is_kept and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


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
