# SPDX-License-Identifier: MIT
"""PassFinder: the observer that finds the passes of a capture."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING
from weakref import WeakMethod

from cffpy.analysis.action_reader import memory_copy
from cffpy.analysis.observer import Observer, StopWalk
from cffpy.errors import CaptureError
from cffpy.frame.action import MEMORY_COPIES, Action, Copy, PacketFacts
from cffpy.frame.passes import Passes
from cffpy.frame.places import no_draw, no_pass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.passes.tracker import Tracker
    from cffpy.analysis.pipe_waits import PipeWaits
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.frame.execution import Executed
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.frame.places import DrawName
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

#: The trackers by ``Generation.tracker``: module and class, which is imported when it is needed.
_TRACKERS = {
    "a2xx": ("cffpy.analysis.passes.a2xx", "A2xxTracker"),
    "a3xx": ("cffpy.analysis.passes.a3xx_a4xx", "A3xxTracker"),
    "a4xx": ("cffpy.analysis.passes.a3xx_a4xx", "A4xxTracker"),
    "a5xx": ("cffpy.analysis.passes.a5xx", "A5xxTracker"),
    "a6xx": ("cffpy.analysis.passes.a6xx", "A6xxTracker"),
}


def _new_tracker(name: str, walk: Walk) -> Tracker:
    module, kind = _TRACKERS[name]
    tracker: Tracker = getattr(import_module(module), kind)(walk)
    return tracker


def _no_pass() -> None:
    """What follows belongs to no pass."""


class PassFinder(Observer):
    """Finds passes by the tracker of the GPU's generation.

    ``current`` and ``run`` are up to date when other observers receive an event; ``found`` is
    complete at ``finished``.
    """

    is_tracker = True

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.found = Passes()
        #: Of GPUs with two pipes: importing it takes as long as a small capture.
        self._waits: PipeWaits | None = None
        #: Of ``found``.
        self.actions, self.memory_copies = self.found.actions, self.found.memory_copies
        #: For each, the position in ``actions`` of the action after it.
        self._copied_before: list[int] = []
        #: That of the generation; None before the first ``bound`` and at the end.
        self.tracker: Tracker | None = None
        #: Called where a draw has changed ``owner``.
        self.owner_changed: Callable[[], None] | None = None
        #: Called where a packet begins a tile. To be set before the walk.
        self.tile_begins: Callable[[], None] | None = None

    @property
    def current(self) -> Pass | None:
        """The pass that is open now."""
        return None if self.tracker is None else self.tracker.current

    @property
    def run(self) -> PassRun | None:
        """The run of it that is open now: its binning run, a tile, or all of it."""
        return None if self.tracker is None else self.tracker.run

    @property
    def so_far(self) -> list[Pass]:
        """The passes that were found by now, also the one that is open."""
        return self.found.passes + ([] if self.tracker is None else self.tracker.passes)

    @property
    def open(self) -> tuple[Pass | None, PassRun | None]:
        """The pass and the run that are open now."""
        tracker = self.tracker
        return (None, None) if tracker is None else (tracker.current, tracker.run)

    @property
    def owner(self) -> Pass | PassRun | None:
        """What is written now belongs to: the run that is open, or else the pass."""
        tracker = self.tracker
        return None if tracker is None else tracker.run or tracker.current

    def bound(self, gpu: Gpu, database: Database) -> None:
        self._close()
        self.found.generation = gpu.generation
        self.found.gpu = gpu.name
        self.tracker = _new_tracker(gpu.facts.tracker, self.walk)
        self.tracker.tile_begins = self.tile_begins
        if self._waits is None and "CP_THREAD_CONTROL" in self.walk.machine.packet_names:
            from cffpy.analysis.pipe_waits import PipeWaits

            # no method of this object, which keeps it: a walk may end before it is finished
            pass_now = WeakMethod(self._pass_now)
            self._waits = PipeWaits(self.walk, lambda: (pass_now() or _no_pass)())

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Those of the tracker, and of packets that copy memory."""
        handlers: dict[str, Callable[[Payload], None]] = {
            name: partial(self._memory_copy, name) for name in MEMORY_COPIES
        }
        tables = [] if self.tracker is None else [self.tracker.packet_handlers()]
        if self._waits is not None:
            tables.append(self._waits.packet_handlers())
        for table in tables:
            for name, handler in table.items():
                handlers[name] = (
                    partial(_call_both, handlers[name], handler) if name in handlers else handler
                )
        return handlers

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        if self._waits is not None:
            self._waits.stream_begins(stream, is_new_submit)
        if self.tracker is not None:
            self.tracker.stream_begins(stream, is_new_submit)

    def event(self, name: str | None) -> None:
        if self.tracker is not None:
            self.tracker.event(name)

    def indirect_buffer(self, gpuaddr: int, executed: Executed) -> None:
        """A run may begin here."""
        if self.tracker is not None and executed.is_possible:
            self.tracker.nested_begins()

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """The run that is open may have to read its registers."""
        if self.tracker is not None:
            self.tracker.pipe_changes()

    def commands_missing(self, gpuaddr: int) -> None:
        """The run that is open lacks commands."""
        if self._waits is not None:
            self._waits.commands_missing(gpuaddr)
        run = self.run
        if run is not None:
            run.is_whole = False

    def commands_damaged(self, text: str) -> None:
        """Waits may have signals that are not found."""
        if self._waits is not None:
            self._waits.commands_damaged(text)

    def action(self, action: Action) -> None:
        """Keep the action, and let the tracker assign it to a pass."""
        self.actions.append(action)
        tracker = self.tracker
        if tracker is not None:
            run = tracker.run
            tracker.keep()
            tracker.act(action)
            if (run is None or run is not tracker.run) and self.owner_changed is not None:
                self.owner_changed()

    def _pass_now(self) -> int | None:
        """Index of the render pass that is open, or of the next pass."""
        tracker = self.tracker
        if tracker is None:
            return None
        current = None if tracker.is_between else tracker.current
        return len(tracker.passes) if current is None else current.index

    def _memory_copy(self, name: str, payload: Payload) -> None:
        """Keep a packet that copies memory. Passes do not depend on it."""
        walk = self.walk
        transfer = memory_copy(walk.machine, name, payload)
        if self.tracker is not None:
            self.tracker.keep()
        copy = Copy(
            PacketFacts("copy", name, None),
            order=self.actions[-1].order if self.actions else -1,
            dump_draw=None,
            role="copy",
            execution=walk.executed,
            condition=walk.condition,
            pipe=walk.pipe,
            level=walk.level,
            transfers=() if transfer is None else (transfer,),
            place=walk.packet_location,
        )
        self.memory_copies.append(copy)
        self._copied_before.append(len(self.actions))

    def finished(self) -> None:
        self._close()
        self._place_copies()
        waits, self._waits = self._waits, None  # which refer to this
        if waits is not None:
            self._place_waits(waits)

    def _place_waits(self, followed: PipeWaits) -> None:
        """Each wait belongs to a pass."""
        followed.finished()
        self.found.waits = followed.waits
        by_index = {pass_.index: pass_ for pass_ in self.found.passes}
        for wait in self.found.waits:
            if wait.pass_index in by_index:
                by_index[wait.pass_index].waits.append(wait)
            else:
                wait.pass_index = None

    def _place_copies(self) -> None:
        """A copy between two actions of a pass, or of a tile, is executed in it."""
        for copy, position in zip(self.memory_copies, self._copied_before, strict=True):
            if not 0 < position < len(self.actions):
                continue
            before, after = self.actions[position - 1 : position + 1]
            if before.pass_index == after.pass_index:
                copy.pass_index = before.pass_index
                is_same = before.tile_number == after.tile_number
                copy.tile_number = before.tile_number if is_same else None

    def _close(self) -> None:
        """Take over the tracker's passes, which are closed; a limit that this meets is noted."""
        tracker, self.tracker = self.tracker, None
        if tracker is None:
            return
        try:
            tracker.end()  # actions before the first run may need a pass of their own
        except StopWalk as stop:
            self.walk.machine.problems.truncate(stop.limit, str(stop))
        self.found.has_absolute_streams |= tracker.has_absolute_streams
        self.found.passes += tracker.passes


def _call_both(
    first: Callable[[Payload], None], second: Callable[[Payload], None], payload: Payload
) -> None:
    first(payload)
    second(payload)


def find_draw(passes: PassFinder, name: DrawName) -> Action:
    """The action of this name. Raises CaptureError if there is none or it is not executed.

    A draw of a pass is executed once for each tile: this is one of its executions.
    """
    action = action_named(passes, name)
    if name.pass_index is None and not action.execution.is_possible:
        raise CaptureError(f"draw {name} is not executed: {action.condition}")
    return action


def action_named(passes: PassFinder, name: DrawName) -> Action:
    """As ``find_draw``, also where it is not executed."""
    if name.pass_index is not None:
        draws = find_pass_draws(passes, name.pass_index)
        if name.number >= len(draws):
            raise no_draw(name, len(draws))
        return draws[name.number]
    action = next((action for action in passes.actions if action.dump_draw == name.number), None)
    if action is None:
        numbers = [action.dump_draw for action in passes.actions if action.dump_draw is not None]
        raise no_draw(name, max(numbers, default=-1) + 1)
    return action


def find_pass_draws(passes: PassFinder, index: int) -> list[Action]:
    """The program's draws of a pass. Raises CaptureError if there is no such pass."""
    known = passes.found.passes
    if index >= len(known):
        raise no_pass(index, len(known))
    return known[index].draws
