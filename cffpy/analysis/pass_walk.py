# SPDX-License-Identifier: MIT
"""PassWalk: one walk that finds passes, shared by all questions that are asked of a capture.

A question attaches its observers before the walk runs, and makes its answer of them afterwards.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from cffpy.analysis.passes.density_tracker import DensityTracker
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.observer import Observer
    from cffpy.analysis.register_store.recorder import RegisterRecorder
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.capture.gpu import Gpu
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.decoded import KeptStreams
    from cffpy.pm4.descriptions import Descriptions


class PassWalk:
    """``walk`` with the observers of passes and of fragment density maps, and with others."""

    def __init__(
        self,
        content: Content,
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
        descriptions: Descriptions | None = None,
        kept_streams: KeptStreams | None = None,
    ) -> None:
        """The parameters are those of the functions in ``analysis/queries.py``.

        ``descriptions``: of the edition ``register_db``, which other walks use, too.
        ``kept_streams``: of a walk with the same observers over another capture, or for it.
        """
        self.content = content
        self.register_db = register_db
        self.gpu = gpu
        self._complain = complain
        self.walk = Walk(descriptions=descriptions)
        self.walk.kept_streams = kept_streams
        self.finder = PassFinder(self.walk)
        self._observers: list[Observer] = [self.finder, DensityTracker(self.walk, self.finder)]

    def record_registers(self) -> RegisterRecorder:
        """A recorder of the registers at all actions. Before ``run`` only."""
        from cffpy.analysis.register_store.recorder import RegisterRecorder, most_changes

        recorder = RegisterRecorder(self.walk, self.finder, most_changes(len(self.content.data)))
        self.observe(recorder)
        return recorder

    @cached_property
    def register_recorder(self) -> RegisterRecorder:
        """Records the registers at all actions, once for all that ask. Before ``run`` only."""
        return self.record_registers()

    @property
    def registers(self) -> RegisterStore:
        """The registers at all actions, once the walk has run. Before ``run`` at first."""
        return self.register_recorder.store

    @cached_property
    def few_registers(self) -> RegisterStore:
        """The registers at the actions that are named to ``RegisterStore.ask`` while the walk runs.

        Takes less memory than ``registers``, and is the same where these are recorded already.
        """
        if "registers" in self.__dict__:
            return self.registers
        from cffpy.analysis.register_store.recorder import RegisterRecorder, most_changes

        asked: list[int] = []
        most = most_changes(len(self.content.data))
        recorder = RegisterRecorder(
            self.walk, self.finder, most, lambda: asked, with_commands=False
        )
        self.observe(recorder)
        recorder.store.asked = asked
        return recorder.store

    def observe(self, *observers: Observer) -> None:
        """Attach further observers. Before ``run`` only."""
        self._observers += observers

    def run(self) -> list[Damage]:
        """Run the capture; its damage, which ``finder.found`` has, too.

        Raises UnsupportedGpu where the generation is unknown.
        """
        self.walk.observe(*self._observers)
        found = self.finder.found
        found.damage = self.walk.run(self.content, self._complain, self.register_db, self.gpu)
        found.truncated = list(self.content.truncated)
        return found.damage
