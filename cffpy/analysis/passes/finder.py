# SPDX-License-Identifier: MIT
"""PassFinder: the observer that finds the passes of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.a2xx import A2xxTracker
from cffpy.analysis.passes.a3xx_a4xx import A3xxTracker, A4xxTracker
from cffpy.analysis.passes.a5xx import A5xxTracker
from cffpy.analysis.passes.a6xx import A6xxTracker
from cffpy.analysis.passes.model import Passes, SubmitPasses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.actions import Action
    from cffpy.analysis.conditions import Executed
    from cffpy.analysis.passes.model import Pass, PassRun
    from cffpy.analysis.passes.tracker import Tracker
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
    from cffpy.regdb.database import Database

#: The trackers by ``Generation.tracker``.
_TRACKERS: dict[str, type[Tracker]] = {
    "a2xx": A2xxTracker,
    "a3xx": A3xxTracker,
    "a4xx": A4xxTracker,
    "a5xx": A5xxTracker,
    "a6xx": A6xxTracker,
}


class PassFinder(Observer):
    """Finds passes by the tracker of the GPU's generation.

    ``current`` and ``run`` are up to date when other observers receive an event; ``found`` is
    complete at ``finished``.
    """

    is_tracker = True

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.found = Passes()
        #: All actions, in order.
        self.actions: list[Action] = []
        #: That of the generation; None before the first ``bound`` and at the end.
        self.tracker: Tracker | None = None
        #: Called where a draw has changed ``owner``.
        self.owner_changed: Callable[[], None] | None = None

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
        """``current`` and ``run``."""
        tracker = self.tracker
        return (None, None) if tracker is None else (tracker.current, tracker.run)

    @property
    def owner(self) -> Pass | PassRun | None:
        """What is written now belongs to: the run that is open, or else the pass."""
        tracker = self.tracker
        return None if tracker is None else tracker.run or tracker.current

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Take the generation's tracker."""
        self._close()
        self.found.generation = gpu.generation
        self.found.gpu = gpu.name
        self.tracker = _TRACKERS[gpu.facts.tracker](self.walk)

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Those of the tracker."""
        return {} if self.tracker is None else self.tracker.packet_handlers()

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """Passes may end here."""
        if self.tracker is not None:
            self.tracker.stream_begins(stream, is_new_submit)

    def event(self, name: str | None) -> None:
        """Passes may end here."""
        if self.tracker is not None:
            self.tracker.event(name)

    def indirect_buffer(self, gpuaddr: int, executed: Executed) -> None:
        """A run may begin here."""
        if self.tracker is not None and executed.is_possible:
            self.tracker.nested_begins()

    def commands_missing(self, gpuaddr: int) -> None:
        """The run that is open lacks commands."""
        run = self.run
        if run is not None:
            run.is_whole = False

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

    def finished(self) -> None:
        """Close what is open."""
        self._close()

    def _close(self) -> None:
        """Assign the tracker's passes to their submits."""
        tracker, self.tracker = self.tracker, None
        if tracker is None:
            return
        tracker.end()
        self.found.has_absolute_streams |= tracker.has_absolute_streams
        for found in tracker.passes:
            submits = self.found.submits
            if not submits or submits[-1].number != found.submit:
                submits.append(SubmitPasses(found.submit))
            submits[-1].passes.append(found)
