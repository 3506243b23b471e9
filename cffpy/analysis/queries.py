# SPDX-License-Identifier: MIT
"""What a capture is asked: its passes, and what is found with them. A walk each.

All take the capture, a function for lines of warning, the directory of another edition of the
register database, and a GPU to decode for regardless of the file. All raise UnsupportedGpu where
the generation is unknown, or where it is not supported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.pass_walk import PassWalk
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set

    from cffpy.analysis.layout_check.checks import LayoutChecks
    from cffpy.analysis.observer import Observer
    from cffpy.analysis.pass_events import PassEvents
    from cffpy.analysis.program_facts import FragmentPrograms
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.capture.gpu import Gpu
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.pm4.descriptions import Descriptions


def find_passes(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    observers: Iterable[Observer] = (),
    descriptions: Descriptions | None = None,
) -> tuple[PassFinder, list[Damage]]:
    """The passes and actions of a capture, and its damage.

    ``observers``: others that see the walk, too. ``descriptions``: as for ``PassWalk``.
    """
    walk = PassWalk(content, complain, register_db, gpu, descriptions)
    walk.observe(*observers)
    damage = walk.run()
    walk.finder.found.bind(None)
    return walk.finder, damage


def find_pass_events(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[PassEvents, list[Damage]]:
    """The waits and cache events between passes, and the capture's damage."""
    from cffpy.analysis.pass_events import PassEvents  # lazily: little needs it

    walk = Walk()
    finder = PassFinder(walk)
    events = PassEvents(walk, finder)
    walk.observe(finder, events)
    return events, walk.run(content, complain, register_db, gpu)


def find_fragment_programs(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[tuple[PassFinder, FragmentPrograms], list[Damage]]:
    """The passes, what fragment programs do, and the capture's damage."""
    from cffpy.analysis.program_facts import FragmentPrograms  # lazily: little needs it

    walk = PassWalk(content, complain, register_db, gpu)
    programs = FragmentPrograms(walk.walk, register_db)
    walk.observe(programs)
    damage = walk.run()
    return (walk.finder, programs), damage


def find_layouts(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    orders: Set[int] | None = None,
    has_pass: Callable[[int], bool] = lambda _index: True,
) -> tuple[tuple[PassFinder, LayoutChecks], list[Damage]]:
    """The passes, all images, LRZ buffers and tiles compared with layouts, and the damage.

    ``orders``, ``has_pass``: the actions and the passes whose are compared.
    """
    # lazily: little needs it
    from cffpy.analysis.layout_check.checks import MAX_USES, LayoutUses, check_layouts

    walk = PassWalk(content, complain, register_db, gpu)
    finder = walk.finder
    uses = LayoutUses(walk.walk, finder, register_db, orders)
    walk.observe(uses)
    damage = walk.run()
    if uses.is_full:
        content.note_truncated([Truncation("", f"more than {MAX_USES} textures: not all compared")])
        finder.found.truncated = list(content.truncated)
    known = walk.walk.machine.gpu if finder.found.generation else None
    return (finder, check_layouts(finder.found, uses, known, has_pass)), damage


def walk_with_registers(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    observers: Iterable[Observer] = (),
    descriptions: Descriptions | None = None,
) -> tuple[PassFinder, RegisterStore]:
    """The same as ``find_passes``, with the registers at all actions, in one walk.

    ``observers``: others that see the walk, too. ``descriptions``: as for ``PassWalk``.
    """
    walk = PassWalk(content, complain, register_db, gpu, descriptions)
    store = walk.registers
    walk.observe(*observers)
    walk.run()
    return walk.finder, store
