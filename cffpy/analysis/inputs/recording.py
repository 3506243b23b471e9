# SPDX-License-Identifier: MIT
"""InputRecording: what the program's draws of a capture depend on besides registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.inputs.descriptor_sets import Sets
from cffpy.analysis.inputs.recorder import InputRecorder
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import generation_of
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from cffpy.analysis.inputs.descriptor_sets import KnownSets
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.analysis.queries import PassWalk
    from cffpy.container.damage import Damage
    from cffpy.frame.passes import Passes
    from cffpy.isa.operands import Descriptor
    from cffpy.regdb.database import Database

#: Actions that are taken in the first walk, for each draw that is recorded at most.
_TAKEN_PER_DRAW = 3


@dataclass(kw_only=True)
class InputRecording:
    """The inputs of actions, by ``Action.order``, in their order.

    ``listings``, ``descriptors``: texts of programs, and what their instructions use, by digest.
    ``sets`` reads bindless sets, where the generation has them. ``buffers``: address and size of
    every buffer, by address. ``database``: None for a capture without passes.
    """

    passes: Passes
    database: Database | None
    generation: int
    records: dict[int, DrawInputs] = field(default_factory=dict)
    listings: dict[bytes, str] = field(default_factory=dict)
    descriptors: dict[bytes, frozenset[Descriptor]] = field(default_factory=dict)
    sets: Sets | None = None
    buffers: list[tuple[int, int]] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)


def most_draws(walk: PassWalk) -> int:
    """How many draws of a capture are recorded."""
    content = walk.content
    return content.limits.of_capture(len(content.data)).compared


def most_taken(walk: PassWalk) -> int:
    """How many actions are taken that may be such draws."""
    return _TAKEN_PER_DRAW * most_draws(walk)


def program_draws(passes: Passes, most: int) -> set[int]:
    """The positions of the draws that are recorded; notes where there are more."""
    orders = orders_of(passes)
    wanted = set(islice(orders, most))
    if next(orders, None) is not None:
        text = f"only the first {most:,} draws are compared"
        passes.truncated.append(Truncation("draws", text))
    return wanted


def orders_of(passes: Passes) -> Iterator[int]:
    """The positions of all draws of the program."""
    return (draw.order for one in passes.passes for draw in one.draws)


class PendingInputs:
    """A recorder of inputs, attached to a walk; ``finish`` when the walk has run."""

    def __init__(self, walk: PassWalk) -> None:
        self._walk = walk
        self._recorder = InputRecorder(
            walk.walk, walk.finder, None, walk.register_db, most=most_taken(walk)
        )
        walk.observe(self._recorder)

    def finish(self) -> InputRecording:
        """The inputs of the program's draws.

        One more walk, where the draws of a pass are not those of its first tile.
        """
        passes, recorder, walk = self._walk.finder.found, self._recorder, self._walk.walk
        wanted = program_draws(passes, most_draws(self._walk))
        if not wanted <= recorder.taken.keys():
            walk = Walk()
            finder = PassFinder(walk)
            register_db, gpu = self._walk.register_db, self._walk.gpu
            recorder = InputRecorder(walk, finder, None, register_db, wanted)
            walk.observe(finder, recorder)
            walk.run(self._walk.content, lambda _line: None, register_db, gpu)
        return recording_of(recorder, walk, passes, wanted)


def recording_of(
    recorder: InputRecorder,
    walk: Walk,
    passes: Passes,
    wanted: Set[int],
    known: KnownSets | None = None,
) -> InputRecording:
    """What a recorder has taken of these actions.

    ``passes``: of the first walk. ``known``: sets of a capture that is compared.
    """
    if recorder.left_out:
        text = f"{recorder.left_out} parts of memory, too many to be compared"
        passes.truncated.append(Truncation("", text))
    records = recorder.place_sets(wanted)
    database = walk.machine.database if passes.passes else None
    sets = None
    if database is not None and generation_of(passes.generation).has_bindless:
        sets = Sets(database, walk.machine.packets, passes.generation, known)
    return InputRecording(
        passes=passes,
        database=database,
        generation=passes.generation,
        records=records,
        listings=recorder.programs.listings,
        descriptors=recorder.programs.descriptors,
        sets=sets,
        buffers=sorted(recorder.buffers.items()),
        damage=passes.damage,
    )
