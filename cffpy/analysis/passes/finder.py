# SPDX-License-Identifier: MIT
"""``find_passes``: the passes of a capture, found by one walk through its command streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.passes.a2xx import A2xxTracker
from cffpy.analysis.passes.a3xx_a4xx import A3xxTracker, A4xxTracker
from cffpy.analysis.passes.a5xx import A5xxTracker
from cffpy.analysis.passes.a6xx import A6xxTracker
from cffpy.analysis.passes.density_patches import DensityTracker
from cffpy.analysis.passes.model import Passes, Submit
from cffpy.analysis.passes.tracker import TooMany
from cffpy.analysis.walk import Walk
from cffpy.cp.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.tracker import Tracker
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.sink import Payload
    from cffpy.regdb.database import Database

_TRACKERS: dict[int, type[Tracker]] = {
    2: A2xxTracker,
    3: A3xxTracker,
    4: A4xxTracker,
    5: A5xxTracker,
}


class PassFinder(Walk):
    """Builds ``found`` while the machine runs. Call ``finish`` behind the last submit."""

    applies_memory_writes = True

    def __init__(self) -> None:
        super().__init__()
        self.found = Passes()
        self.tracker: Tracker | None = None
        self.density: DensityTracker | None = None
        #: All actions, in order.
        self.actions: list[Action] = []
        self._last_submit = -1

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Take the generation's tracker."""
        super().bind(gpu, database)
        self._close()
        self.found.generation = gpu.generation
        self.found.gpu = gpu.name
        self.tracker = _TRACKERS.get(gpu.generation, A6xxTracker)(self)
        self.density = DensityTracker(self)

    def submit(self, submit: CommandStream) -> None:
        """A command stream begins: the last one is over."""
        if self.tracker is not None and self._last_submit >= 0:
            self.tracker.stream_ends()
        super().submit(submit)
        is_new = submit.submit != self._last_submit
        self._last_submit = submit.submit
        if is_new and self.density is not None:
            self.density.submit_begins()
        if self.tracker is not None:
            self.tracker.stream_begins(submit, is_new)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """Tell the tracker of packets that are executed."""
        super().packet(opcode, payload, level)
        if self.tracker is not None and self.executed is not False:
            self.tracker.packet(self.machine.packet_names[opcode] or f"{opcode:#x}", payload)

    def write(self, register: int, values: list[int], words: Words, index: int, level: int) -> int:
        """Tell the tracker of the registers that it watches, before they are stored."""
        tracker = self.tracker
        if tracker is not None and tracker.watched and self.executed is not False:
            for offset, name in tracker.watched.items():
                if register <= offset < register + len(values):
                    tracker.written(name)
        return super().write(register, values, words, index, level)

    def register(self, register: int, value: int, level: int) -> None:
        """The same for registers that a packet with an opcode writes."""
        tracker = self.tracker
        if tracker is not None and register in tracker.watched and self.executed is not False:
            tracker.written(tracker.watched[register])

    def event(self, name: str | None, level: int) -> None:
        """Tell the tracker."""
        if self.tracker is not None and self.executed is not False:
            self.tracker.event(name)
        super().event(name, level)

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        """Tell the tracker before the IB runs."""
        if self.tracker is not None and self.executed is not False:
            self.tracker.nested_begins()
        return super().indirect_buffer(gpuaddr, ndwords, level)

    def missing_stream(self, gpuaddr: int, ndwords: int) -> None:
        """What is open lacks the commands that were not captured."""
        self._miss()
        super().missing_stream(gpuaddr, ndwords)

    def refused(self, gpuaddr: int, reason: str) -> None:
        """What is open lacks the commands that are not followed."""
        self._miss()
        super().refused(gpuaddr, reason)

    def _miss(self) -> None:
        run = None if self.tracker is None else self.tracker.run
        if run is not None and self.executed is not False:
            run.is_whole = False

    def act(self, action: Action) -> None:
        """Keep the action, and let the tracker sort it in."""
        self.actions.append(action)
        if self.tracker is not None:
            self.tracker.keep()
            self.tracker.act(action)
            if self.density is not None:
                self.density.act(action, self.tracker.current, self.tracker.run)

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """Drivers patch commands so, for fragment density maps."""
        if self.density is not None:
            self.density.memory_written(gpuaddr, payload, before)

    def finish(self) -> Passes:
        """The last stream is over."""
        if self.tracker is not None and self._last_submit >= 0:
            self.tracker.stream_ends()
        self._close()
        self.found.left_out = self.machine.problems.left_out
        return self.found

    def _close(self) -> None:
        """The tracker is done: its passes go to their submits."""
        tracker, self.tracker = self.tracker, None
        if tracker is None:
            return
        tracker.end()
        if self.density is not None:
            self.density.finish(tracker.passes)
        for found in tracker.passes:
            submits = self.found.submits
            if not submits or submits[-1].number != found.submit:
                submits.append(Submit(found.submit))
            submits[-1].passes.append(found)


def find_passes(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[PassFinder, list[Damage]]:
    """The passes of a capture, and its damage. ``gpu``: decode for it, whatever the file says.

    Raises UnsupportedGpu where nothing tells the generation.
    """
    finder = PassFinder()
    return finder, run(finder, content, complain, register_db, gpu)


def run(
    finder: PassFinder,
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> list[Damage]:
    """Have a finder walk through a capture; its damage. Raises as ``find_passes``."""
    session = Session(finder, warn=complain, register_db=register_db, gpu=gpu)
    try:
        damage = session.run(content)
    except TooMany as problem:
        session.machine.problems.leave_out(str(problem))
        damage = session.damage(content, [])
    finder.finish().damage = damage
    return damage
