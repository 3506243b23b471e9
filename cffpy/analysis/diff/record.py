# SPDX-License-Identifier: MIT
"""A capture as ``diff`` compares it: passes, and of each of the program's draws what it depends on.

Records hold only what has changed since the record before: state is large, changes are few.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.align import note_sets
from cffpy.analysis.diff.apart import PAIRS, passes_apart
from cffpy.analysis.diff.model import Recording
from cffpy.analysis.inputs.descriptor_sets import KnownSets, Sets
from cffpy.analysis.inputs.facts import KnownFacts
from cffpy.analysis.inputs.recorder import Recorder
from cffpy.analysis.pass_walk import PassWalk
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.change_log import ChangeLog
from cffpy.analysis.walk import Walk
from cffpy.capture.generations import generation_of
from cffpy.cp.kept_streams import KeptStreams
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.analysis.diff.model import Apart, DrawRecord
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.cp.descriptions import Descriptions
    from cffpy.frame.passes import Passes

#: Actions that are taken in the first walk, for each draw that is compared at most.
_TAKEN_PER_DRAW = 3


class Shared:
    """What the recordings of two captures share, where these are alike."""

    def __init__(self) -> None:
        self.streams = KeptStreams()
        self.facts = KnownFacts()
        self.sets = KnownSets()


def record(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    in_binning: frozenset[int] = frozenset(),
    descriptions: Descriptions | None = None,
    shared: Shared | None = None,
) -> Recording:
    """Record a capture, in one walk. ``descriptions``: as for ``PassWalk``.

    ``shared``: with the recording of another capture, with the same descriptions.

    In a second one where the draws of a pass are not those of its first tile; or where they are to
    be those of the binning run: ``in_binning`` has the indices of such passes. Raises
    UnsupportedGpu where the generation is unknown.
    """
    streams = None if shared is None else shared.streams
    walk = PassWalk(content, complain, register_db, gpu, descriptions, streams)
    pending = PendingRecording(walk, shared=shared)
    walk.run()
    return pending.finish(in_binning)


class PendingRecording:
    """The observers of a recording, attached to a walk; ``finish`` when the walk has run."""

    def __init__(
        self, walk: PassWalk, with_registers: bool = True, shared: Shared | None = None
    ) -> None:
        """``with_registers``: without, the recording serves ``Bindings`` and no comparison.

        ``shared``: as for ``record``.
        """
        content = walk.content
        self._walk = walk
        self._with_registers = with_registers
        self._known_sets = None if shared is None else shared.sets
        self._most = content.limits.of_capture(len(content.data)).compared
        changes = ChangeLog(walk.walk, walk.finder) if with_registers else None
        self._recorder = Recorder(
            walk.walk,
            walk.finder,
            changes,
            walk.register_db,
            most=_TAKEN_PER_DRAW * self._most,
            known=None if shared is None else shared.facts,
        )
        walk.observe(*(() if changes is None else (changes,)), self._recorder)

    def finish(self, in_binning: frozenset[int] = frozenset()) -> Recording:
        """The recording. ``in_binning``: as for ``record``."""
        content, register_db, gpu = self._walk.content, self._walk.register_db, self._walk.gpu
        walk, recorder = self._walk.walk, self._recorder
        passes = self._walk.finder.found
        _take_binning_draws(passes, in_binning)
        wanted = _wanted(passes, self._most)
        compared_apart = PAIRS if self._with_registers else ()
        apart = {of: passes_apart(passes, of) for of in compared_apart}
        others = {of: set(islice(_orders(found), self._most)) for of, found in apart.items()}
        if not wanted <= recorder.taken:
            walk, recorder = _walk_again(content, register_db, gpu, wanted.union(*others.values()))
        other_records = {
            of: recorder.other_records(orders) for of, orders in others.items() if orders
        }
        records = recorder.records(wanted)
        generation = passes.generation
        database = walk.machine.database if passes.passes else None
        recording = Recording(content.name, passes, database, generation)
        recording.records = records or {}
        recording.listings = recorder.listings
        recording.descriptors = recorder.descriptors
        recording.last_events = recorder.last_events
        recording.buffers = sorted(recorder.buffers.items())
        recording.damage = passes.damage
        if recorder.left_out:
            text = f"{recorder.left_out} parts of memory, too many to be compared"
            passes.truncated.append(Truncation("", text))
        if database is not None and generation_of(generation).has_bindless:
            packets = walk.machine.packets
            recording.sets = Sets(database, packets, generation, self._known_sets)
            if self._with_registers:
                note_sets(recording)
        recording.apart = {
            of: _recording_apart(recording, of, apart[of], *found)
            for of, found in other_records.items()
            if found[0]
        }

        def record_binning(passes: frozenset[int]) -> Recording:
            return record(content, lambda _line: None, register_db, gpu, passes)

        recording.record_binning = record_binning
        return recording


def _take_binning_draws(passes: Passes, indices: frozenset[int]) -> None:
    """The draws of these passes are those of their binning runs."""
    for one in passes.passes:
        if one.index in indices and one.binning is not None:
            one.draws[:] = [a for a in one.binning.draws if a.number is not None]


def _wanted(passes: Passes, most: int) -> set[int]:
    """The positions of the draws that are compared; notes where there are more."""
    orders = _orders(passes)
    wanted = set(islice(orders, most))
    if next(orders, None) is not None:
        text = f"only the first {most:,} draws are compared"
        passes.truncated.append(Truncation("draws", text))
    return wanted


def _orders(passes: Passes) -> Iterator[int]:
    return (draw.order for one in passes.passes for draw in one.draws)


def _recording_apart(
    recording: Recording,
    apart: Apart,
    passes: Passes,
    records: dict[int, DrawRecord],
    last_events: tuple[str, ...],
) -> Recording:
    for one in passes.passes:
        for action in one.draws:
            if action.order in records:
                records[action.order].action = action  # with its number among these
    if apart == "operations":
        for record in records.values():
            record.events = ()  # they are compared as those before or after draws
        last_events = ()
    return replace(recording, passes=passes, records=records, last_events=last_events, apart={})


def _walk_again(
    content: Content, register_db: str | None, gpu: Gpu | None, wanted: set[int]
) -> tuple[Walk, Recorder]:
    """One more walk, which records only ``wanted``."""
    walk = Walk()
    finder = PassFinder(walk)
    changes = ChangeLog(walk, finder)
    recorder = Recorder(walk, finder, changes, register_db, wanted)
    walk.observe(finder, changes, recorder)
    walk.run(content, lambda _line: None, register_db, gpu)
    return walk, recorder
