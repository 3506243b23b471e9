# SPDX-License-Identifier: MIT
"""A capture as ``diff`` compares it: passes, registers, inputs, and what lies between draws.

All of it comes of one walk. Binning runs, clears, loads and stores are recorded in the same walk,
and are recordings of their own: the draws of their passes are other actions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.commands import LOADS_OF_SETS, CommandRecorder, WrittenValues
from cffpy.analysis.diff.selection import BINNING, WHOLE, Chosen, Phase, Selection
from cffpy.analysis.inputs.descriptor_sets import KnownSets
from cffpy.analysis.inputs.facts import KnownFacts
from cffpy.analysis.inputs.recorder import InputRecorder, Intervals
from cffpy.analysis.inputs.recording import (
    InputRecording,
    most_draws,
    most_taken,
    orders_of,
    program_draws,
    recording_of,
)
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.queries import PassWalk
from cffpy.analysis.register_store.store import RegisterStore
from cffpy.analysis.walk import Walk
from cffpy.cp.decoded import KeptStreams
from cffpy.errors import CaptureError
from cffpy.frame.objects import Selection as ObjectSelection
from cffpy.frame.places import (
    BinningName,
    DrawName,
    TileName,
    no_binning_run,
    no_draw,
    no_pass,
    no_tile,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.diff.commands import PipeCommand, SkippedPackets, TileCommands
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.analysis.register_store.recorder import RegisterRecorder
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Operation, Pass, Passes, Tile
    from cffpy.pm4.descriptions import Descriptions

#: Index of a pass -> the run whose draws are taken for those of the pass: the number of a tile, or
#: BINNING for the binning run.
DrawnRuns = Mapping[int, int]
_NO_RUNS: DrawnRuns = {}

#: Submits that an error lists.
_SHOWN = 20


@dataclass(kw_only=True)
class Recording(InputRecording):
    """A capture for comparison.

    ``store``: the registers at all actions. ``events``: the packets between draws that are
    compared, by the ``Action.order`` of the draw before which they are; ``last_events``: those
    after the last draw. ``selection``: the part that is compared; ``chosen``: the draws of it that
    are; None: all. ``phases``: the actions of other phases, each as the draws of its passes.
    ``written_values``: that packets write to memory. ``skipped``: packets of no effect.
    ``tile_commands``: the packets of tiles that are compared, by the tile's id. ``tile_records``:
    the records of actions in other tiles that may depend on other things than those of the pass do.
    ``record_in``: records the capture once more, passes by their indices with the draws of
    other runs, and if asked with these runs alone.
    """

    name: str
    store: RegisterStore = field(default_factory=RegisterStore)
    events: Mapping[int, tuple[PipeCommand, ...]] = field(default_factory=dict)
    last_events: tuple[PipeCommand, ...] = ()
    selection: Selection = WHOLE
    chosen: Chosen | None = None
    phases: dict[Phase, Recording] = field(default_factory=dict)
    tile_commands: Mapping[int, TileCommands] = field(default_factory=dict)
    written_values: WrittenValues = field(default_factory=WrittenValues)
    tile_records: Mapping[int, DrawInputs] = field(default_factory=dict)
    skipped: SkippedPackets = field(default_factory=dict)
    record_in: Callable[[DrawnRuns, bool], Recording] | None = None

    def of(self, one: Pass) -> list[DrawInputs]:
        """The records of a pass, in order."""
        return [self.records[draw.order] for draw in one.draws if draw.order in self.records]

    def record(self, action: Action) -> DrawInputs | None:
        """The record of a draw or of a clear, load or store; None: it has none."""
        found = self.records.get(action.order)
        operations = self.phases.get("operations")
        if found is None and operations is not None:
            found = operations.records.get(action.order)
        return found

    def in_runs(self, runs: DrawnRuns) -> Recording:
        """The same recording; of these passes, with the draws of other runs.

        The capture is executed once more.
        """
        if not runs or self.record_in is None:
            return self
        found = self.record_in(runs, False)
        return replace(found, name=self.name, selection=self.selection, chosen=self.chosen)

    @cached_property
    def passes_by_index(self) -> dict[int, Pass]:
        """The passes by their indices."""
        return {one.index: one for one in self.passes.passes}

    def of_phase(self, phase: Phase) -> Recording | None:
        """The actions of a phase, of the same part and for the same filter; None: there are none.

        A filter that holds for passes holds for their clears, loads and stores, too.
        """
        found, chosen = self.phases.get(phase), self.chosen
        if found is None or (phase == "operations" and self.selection.draws is not None):
            return None
        if phase == "operations" and chosen is not None:
            draws = {
                one.index: set(range(len(one.draws)))
                for one in found.passes.passes
                if one.index in chosen.passes
            }
            chosen = replace(chosen, draws=draws)
        return replace(found, name=self.name, selection=self.selection, chosen=chosen)

    def selected(self, selection: Selection) -> Recording:
        """The same recording with only a part to compare.

        Raises CaptureError where the capture has no such part.
        """
        if selection.is_whole:
            return self
        found = replace(self, name=f"{self.name}{selection}", selection=selection)
        passes = found.selected_passes()
        problem: CaptureError | str | None = None
        if not passes and selection.submit is not None:
            problem = self._no_passes_in(selection.submit)
        elif not passes and selection.index is not None:
            problem = no_pass(selection.index, len(self.passes.passes))
        elif selection.draws is not None:
            count, last = len(self.of(passes[0])), selection.draws.last
            if last >= count:
                problem = no_draw(DrawName(last, selection.index), count)
        elif selection.run is not None:
            problem = _absent_run(passes[0], selection.run)
        if problem is not None:
            raise CaptureError(f"{self.name}: {problem}")
        return found if selection.run is None else found._in_run(passes[0].index, selection.run)

    def _no_passes_in(self, submit: int) -> str:
        submits = sorted({one.submit for one in self.passes.passes})
        there = ", ".join(f"s{one}" for one in submits[:_SHOWN]) or "none"
        more = f" and {len(submits) - _SHOWN} more" if len(submits) > _SHOWN else ""
        return f"no passes in s{submit}; submits with passes: {there}{more}"

    def _in_run(self, index: int, run: int) -> Recording:
        """The same recording; the pass has this run alone. The capture is executed once more."""
        assert self.record_in is not None
        found = self.record_in({index: run}, True)
        return replace(found, name=self.name, selection=self.selection, chosen=self.chosen)

    def selected_passes(self) -> list[Pass]:
        """The passes that are compared, in order."""
        chosen = self.selection
        return [
            one
            for one in self.passes.passes
            if chosen.is_whole
            or (chosen.submit is not None and one.submit == chosen.submit)
            or (chosen.index is not None and one.index == chosen.index)
        ]

    def selected_records(self, one: Pass) -> list[DrawInputs]:
        """The records of a selected pass that are compared."""
        draws = self.selection.draws
        return self.of(one) if draws is None else self.of(one)[draws.first : draws.last + 1]

    def is_chosen(self, record: DrawInputs) -> bool:
        """Whether a draw is among those that the filter left to compare."""
        chosen, action = self.chosen, record.action
        if chosen is None:
            return True
        index = -1 if action.pass_index is None else action.pass_index
        return action.number in chosen.draws.get(index, ())

    def is_compared_whole(self, one: Pass) -> bool:
        """Whether the filter left the pass as a whole to compare, not only draws of it."""
        return self.chosen is None or one.index in self.chosen.passes

    def has_chosen(self, one: Pass) -> bool:
        """Whether the filter left anything of a pass to compare."""
        chosen = self.chosen
        return chosen is None or one.index in chosen.passes or one.index in chosen.draws

    def records_before(self) -> Iterator[DrawInputs]:
        """The records of what lies before the part: its state depends on them."""
        if self.selection.is_whole:
            return
        first = self.selected_passes()[0]
        for one in self.passes.passes:
            if one.index >= first.index:
                break
            yield from self.of(one)
        if self.selection.draws is not None:
            yield from self.of(first)[: self.selection.draws.first]


def _absent_run(one: Pass, run: int) -> CaptureError | None:
    """The error of a tile or binning run that a pass does not have."""
    if run == BINNING:
        return no_binning_run(BinningName(one.index)) if one.binning is None else None
    count = len(one.tiles)
    return no_tile(TileName(run, one.index), count) if run >= count else None


def _binning_draws(one: Pass) -> list[Action]:
    """The draws of the binning run. Without tiles they are the draws of the pass already."""
    if one.binning is None or not one.tiles:
        return []
    return [action for action in one.binning.draws if action.number is not None]


def operations_of(one: Pass) -> list[Operation]:
    """Clears, loads and stores of the binning run and the first tile, in order."""
    runs = one.binning, one.direct or (one.tiles[0] if one.tiles else None)
    if one.kind != "render":
        return []
    found = [operation for run in runs if run is not None for operation in run.operations]
    return [operation for operation in found if operation.action.execution.is_possible]


def other_clears(one: Pass) -> list[Action]:
    """Clears that are no operations: the LRZ_CLEAR event of a pass, which may be before it, and
    draws of the binning run that clear in tiles.

    An event that only switches LRZ off clears nothing: what registers say is left over.
    """
    clear = one.lrz.clear if one.lrz is not None and one.lrz.cleared else None
    found = [clear] if clear is not None and clear.kind == "lrz clear" else []
    if one.binning is not None:
        known = {operation.action.order for operation in one.binning.operations}
        draws = one.binning.draws
        found += [draw for draw in draws if draw.number is None and draw.order not in known]
    return [action for action in found if action.execution.is_possible]


def _operation_actions(one: Pass) -> list[Action]:
    """The action of each; it may be several operations. They are numbered in the pass."""
    actions = {operation.action.order: operation.action for operation in operations_of(one)}
    actions.update((action.order, action) for action in other_clears(one))
    return [
        replace(actions[order], number=number, pass_index=one.index)
        for number, order in enumerate(sorted(actions))
    ]


#: Phase -> its actions in a pass.
_ACTIONS: dict[Phase, Callable[[Pass], list[Action]]] = {
    "binning run": _binning_draws,
    "operations": _operation_actions,
}


def actions_with_other_inputs(one: Pass, intervals: Intervals) -> Iterator[Action]:
    """Draws and operations of tiles that may depend on other things than in the compared tile."""
    if len(one.tiles) < 2:
        return
    draws = {draw.number: draw for draw in one.draws}
    operations = [*actions_of_operations(one.tiles[0])]
    drawn = one.draws[0].tile_number if one.draws else None
    for tile in one.tiles:
        if tile.number != drawn:
            of_tile = [draw for draw in tile.draws if draw.number is not None]
            counterparts = [draws.get(draw.number) for draw in of_tile]
            first = 0 if not tile.number else 1 if not drawn else None
            yield from intervals.differing(of_tile, counterparts, first)
        if tile.number:
            of_tile = [*actions_of_operations(tile)]
            counterparts = [*operations, *[None] * len(of_tile)][: len(of_tile)]
            yield from intervals.differing(of_tile, counterparts, 1)


def actions_of_operations(tile: Tile) -> Iterator[Action]:
    """The action of each load, clear and store of a tile, once, in order."""
    by_order = {of.action.order: of.action for of in tile.possible_operations}
    return (by_order[order] for order in sorted(by_order))


def passes_in(passes: Passes, phase: Phase) -> Passes:
    """The same passes; the actions of a phase are their draws."""
    actions = _ACTIONS[phase]
    found = [replace(one, draws=ObjectSelection("draws", actions(one))) for one in passes.passes]
    return replace(passes, passes=found)


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
    runs: DrawnRuns = _NO_RUNS,
    descriptions: Descriptions | None = None,
    shared: Shared | None = None,
    alone: bool = False,
) -> Recording:
    """Record a capture, in one walk. ``descriptions``: as for ``PassWalk``.

    ``shared``: with the recording of another capture, with the same descriptions. ``alone``: the
    runs that ``runs`` has are the only ones of their passes.

    In a second one where the draws of a pass are not those of its first tile; or where they are to
    be those of another run: ``runs`` has such passes. Raises
    UnsupportedGpu where the generation is unknown.
    """
    streams = None if shared is None else shared.streams
    walk = PassWalk(content, complain, register_db, gpu, descriptions, streams)
    pending = PendingRecording(walk, shared)
    walk.run()
    return pending.finish(runs, alone)


class _Observers:
    """What observes a walk for a recording."""

    def __init__(
        self,
        walk: PassWalk,
        wanted: set[int] | None = None,
        most: int | None = None,
        facts: KnownFacts | None = None,
    ) -> None:
        """``wanted``: the actions that are recorded, where they are known."""
        self.walk = walk
        self.registers: RegisterRecorder = walk.register_recorder
        of_walk = walk.walk, walk.finder
        self.inputs = InputRecorder(*of_walk, self.registers, walk.register_db, wanted, most, facts)
        self.commands = CommandRecorder(*of_walk, wanted)
        self.inputs.loads_set = partial(self.commands.skip, LOADS_OF_SETS)
        walk.observe(self.inputs, self.commands)

    def has(self, orders: set[int]) -> bool:
        """Whether all these actions were taken."""
        return orders <= self.inputs.taken.keys()

    def with_registers(self, orders: set[int]) -> set[int]:
        """Those of which the registers are known: not where too many changes were written."""
        return set(filter(self.registers.store.has_entries, orders))


class PendingRecording:
    """The observers of a recording, attached to a walk; ``finish`` when the walk has run."""

    def __init__(self, walk: PassWalk, shared: Shared | None = None) -> None:
        """``shared``: as for ``record``."""
        self._walk = walk
        self._known_sets = None if shared is None else shared.sets
        self._most = most_draws(walk)
        facts = None if shared is None else shared.facts
        self._observers = _Observers(walk, most=most_taken(walk), facts=facts)

    def finish(self, runs: DrawnRuns = _NO_RUNS, alone: bool = False) -> Recording:
        """The recording. ``runs``, ``alone``: as for ``record``."""
        passes, observers = self._walk.finder.found, self._observers
        _take_draws(passes, runs)
        if alone:
            _leave_runs(passes, runs)
        draws = program_draws(passes, self._most)
        passes_of = {of: passes_in(passes, of) for of in _ACTIONS}
        orders = {of: set(islice(orders_of(one), self._most)) for of, one in passes_of.items()}
        if not observers.has(draws):
            observers = self._walk_again(draws.union(*orders.values()))
        draws = observers.with_registers(draws)
        orders = {of: observers.with_registers(those) for of, those in orders.items()}
        inputs = recording_of(
            observers.inputs,
            observers.walk.walk,
            passes,
            draws.union(*orders.values()),
            self._known_sets,
        )
        recording = self._recording(inputs, observers, passes, draws)
        recording.skipped = self._observers.commands.skipped
        recording.tile_commands = self._observers.commands.tiles.found
        recording.tile_records = self._records_of_tiles(passes, inputs)
        for of, those in orders.items():
            found = self._recording(inputs, observers, passes_of[of], those, of)
            if found.records:
                recording.phases[of] = found
        content, register_db, gpu = self._walk.content, self._walk.register_db, self._walk.gpu

        def record_in(runs: DrawnRuns, alone: bool) -> Recording:
            return record(content, lambda _line: None, register_db, gpu, runs, alone=alone)

        recording.record_in = record_in
        return recording

    def _records_of_tiles(self, passes: Passes, inputs: InputRecording) -> dict[int, DrawInputs]:
        """The records of actions of tiles that may depend on other things, in one more walk."""
        intervals = self._observers.inputs.intervals
        actions = {
            action.order: action
            for one in passes.passes
            for action in islice(actions_with_other_inputs(one, intervals), self._most)
        }
        if not actions:
            return {}
        first = self._walk
        walk = Walk()
        finder = PassFinder(walk)
        recorder = InputRecorder(walk, finder, None, first.register_db, {*actions})
        walk.observe(finder, recorder)
        walk.run(first.content, lambda _line: None, first.register_db, first.gpu)
        records = recorder.place_sets({*actions})
        for order, record in records.items():
            record.action = actions[order]  # with the numbers of the first walk
        for known, found in (
            (inputs.listings, recorder.programs.listings),
            (inputs.descriptors, recorder.programs.descriptors),
        ):
            known.update(found)  # type: ignore[arg-type]
        return records

    def _walk_again(self, wanted: set[int]) -> _Observers:
        """One more walk, which records only ``wanted``."""
        first = self._walk
        walk = PassWalk(first.content, lambda _line: None, first.register_db, first.gpu)
        observers = _Observers(walk, wanted)
        walk.run()
        return observers

    def _recording(
        self,
        inputs: InputRecording,
        observers: _Observers,
        passes: Passes,
        orders: set[int],
        phase: Phase = "draws",
    ) -> Recording:
        """The recording of these actions, of which ``inputs`` has all."""
        records = {order: one for order, one in inputs.records.items() if order in orders}
        events, last_events = observers.commands.between(records, only_in_runs=phase != "draws")
        if phase == "operations":
            events, last_events = {}, ()  # they are compared as those before or after draws
        if phase != "draws":
            for one in passes.passes:
                for action in one.draws:
                    if action.order in records:
                        records[action.order].action = action  # with its number among these
        return Recording(
            passes=passes,
            database=inputs.database,
            generation=inputs.generation,
            records=records,
            listings=inputs.listings,
            descriptors=inputs.descriptors,
            sets=inputs.sets,
            buffers=inputs.buffers,
            damage=inputs.damage,
            name=self._walk.content.name,
            store=observers.registers.store,
            events=events,
            last_events=last_events,
            written_values=self._observers.commands.values,
        )


def _take_draws(passes: Passes, runs: DrawnRuns) -> None:
    """The draws of these passes are those of other runs."""
    for one in passes.passes:
        number = runs.get(one.index)
        if number is None:
            continue
        run = one.binning if number == BINNING else one.tiles[number]
        if run is not None:
            one.draws[:] = [action for action in run.draws if action.number is not None]


def _leave_runs(passes: Passes, runs: DrawnRuns) -> None:
    """These passes have these runs alone."""
    for one in passes.passes:
        number = runs.get(one.index)
        if number == BINNING:
            one.tiles[:] = []
        elif number is not None:
            one.tiles[:] = [one.tiles[number]]
            one.binning = None
