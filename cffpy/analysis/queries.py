# SPDX-License-Identifier: MIT
"""What a capture is asked: its passes, the state at a draw, what submits inherit. A walk each.

All take the capture, a function for lines of warning, the directory of another edition of the
register database, and a GPU to decode for whatever the file says. All raise UnsupportedGpu where
nothing tells the generation, or where it is not supported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.passes.density_tracker import DensityTracker
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.provenance import Inheritance, Inherited, Provenance, State, StateTaker
from cffpy.analysis.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content


def find_passes(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[PassFinder, list[Damage]]:
    """The passes and actions of a capture, and its damage."""
    walk = Walk()
    finder = PassFinder(walk)
    walk.observe(finder, DensityTracker(walk, finder))
    finder.found.damage = walk.run(content, complain, register_db, gpu)
    finder.found.truncated = list(content.truncated)
    return finder, finder.found.damage


class _Found(Exception):
    """The state has been taken: the rest of the capture is of no interest."""


def state_at(
    content: Content,
    order: int,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> State | None:
    """The state at the action of this position (``Action.order``); None if it is not executed."""
    found: list[State] = []

    def take(state: State) -> None:
        found.append(state)
        raise _Found

    walk = Walk()
    finder = PassFinder(walk)
    provenance = Provenance(walk, finder)
    taker = StateTaker(walk, provenance, lambda action: action.order == order, take)
    walk.observe(finder, provenance, taker)
    try:
        walk.run(content, complain, register_db, gpu)
    except _Found:
        return found[0]
    return None


def inherited_registers(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[list[Inherited], list[Damage]]:
    """The registers that each submit inherits from earlier ones, and the capture's damage."""
    walk = Walk()
    finder = PassFinder(walk)
    provenance = Provenance(walk, finder)
    inheritance = Inheritance(walk, provenance)
    walk.observe(finder, provenance, inheritance)
    damage = walk.run(content, complain, register_db, gpu)
    for cut in walk.machine.problems.truncated:
        complain(f"{content.name}: {cut}")
    return inheritance.inherited, damage
