# SPDX-License-Identifier: MIT
"""What a capture is asked: its passes, and what is found with them. A walk each.

All functions take the capture, a function for lines of warning, the directory of another edition of
the register database, and a GPU to decode for regardless of the file. All raise UnsupportedGpu
where the generation is unknown, or where it is not supported.

``PassWalk`` is a walk that finds passes. Questions share it: each attaches its observers before the
walk runs, and makes its answer of them afterwards.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.density_tracker import DensityTracker
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Set

    from cffpy.analysis.driver.render_mode import ModeInputs
    from cffpy.analysis.gpu_queries import GpuQueryFinder
    from cffpy.analysis.layout_check.checks import LayoutChecks
    from cffpy.analysis.program_facts import FragmentPrograms
    from cffpy.analysis.register_store.recorder import RegisterRecorder
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.analysis.stream_out import StreamOutFinder
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.decoded import KeptStreams
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.pm4.descriptions import Descriptions
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

    #: Takes the bytes of the decompressed file that were read, and its size.
    Progress = Callable[[int, int], None]


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
        """The parameters are those of ``find_passes``.

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

    def select_registers(
        self, choose: Callable[[Database], Iterable[int]], every_write: bool
    ) -> RegisterStore:
        """Record some registers at all actions. Before ``run`` only.

        ``choose``: which, by the database of the GPU. ``every_write``: see ``SelectedWrites``.
        """
        from cffpy.analysis.register_store.recorder import (
            SelectedRegisters,
            SelectedWrites,
            most_changes,
        )

        kind = SelectedWrites if every_write else SelectedRegisters
        recorder = kind(self.walk, choose, most_changes(len(self.content.data)))
        self.observe(recorder)
        return recorder.store

    @cached_property
    def register_recorder(self) -> RegisterRecorder:
        """Records the registers at all actions, once for all that ask. Before ``run`` only."""
        return self.record_registers()

    @property
    def records_registers(self) -> bool:
        """Whether ``registers`` was asked for."""
        return "register_recorder" in self.__dict__

    @property
    def registers(self) -> RegisterStore:
        """The registers at all actions, once the walk has run. Before ``run`` at first."""
        return self.register_recorder.store

    @cached_property
    def few_registers(self) -> RegisterStore:
        """The registers at the actions that are named to ``RegisterStore.ask`` while the walk runs.

        Takes less memory than ``registers``, and is the same where these are recorded already.
        """
        if self.records_registers:
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
        passes = self.finder.found
        passes.damage = self.walk.run(self.content, self._complain, self.register_db, self.gpu)
        passes.truncated = list(self.content.truncated)
        return passes.damage


# -- questions -------------------------------------------------------------------------------------


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
    walk = Walk()
    finder = PassFinder(walk)
    events = PassEvents(walk, finder)
    walk.observe(finder, events)
    return events, walk.run(content, complain, register_db, gpu)


def find_gpu_queries(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[tuple[PassFinder, GpuQueryFinder], list[Damage]]:
    """The passes, what has the queries of the driver, and the capture's damage."""
    from cffpy.analysis.gpu_queries import GpuQueryFinder  # lazily: little needs it

    walk = PassWalk(content, complain, register_db, gpu)
    finder = GpuQueryFinder(walk.walk, walk.finder)
    walk.observe(finder)
    damage = walk.run()
    return (walk.finder, finder), damage


def find_stream_out(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[tuple[PassFinder, StreamOutFinder], list[Damage]]:
    """The passes, what has the draws with stream-out, and the capture's damage."""
    from cffpy.analysis.stream_out import StreamOutFinder  # lazily: little needs it

    walk = PassWalk(content, complain, register_db, gpu)
    finder = StreamOutFinder(walk.walk, walk.finder)
    walk.observe(finder)
    damage = walk.run()
    return (walk.finder, finder), damage


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


def find_mode_inputs(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[tuple[PassFinder, ModeInputs], list[Damage]]:
    """The passes, what tells why they are in their mode, and the capture's damage."""
    from cffpy.analysis.driver.render_mode import ModeInputs  # lazily: little needs it

    walk = PassWalk(content, complain, register_db, gpu)
    inputs = ModeInputs(walk.walk, walk.finder)
    walk.observe(inputs)
    damage = walk.run()
    return (walk.finder, inputs), damage


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


# -- observers of questions ------------------------------------------------------------------------

#: Packets by which the CP waits.
_WAITS = ("CP_WAIT_FOR_IDLE", "CP_WAIT_FOR_ME", "CP_WAIT_MEM_WRITES", "CP_WAIT_REG_MEM")

#: Parts of the names of events that clean, invalidate or flush caches.
_CACHES = ("CACHE", "CCU", "FLUSH")


class PassEvents(Observer):
    """``before``: index of a pass -> names of what is executed between it and the pass before.

    Between passes is what no pass is open for, and what follows the last action of a pass.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        self.before: dict[int, Counter[str]] = {}
        self._pending: Counter[str] = Counter()
        self._pass: Pass | None = None

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        return {name: partial(self._packet, name) for name in _WAITS}

    def event(self, name: str | None) -> None:
        """An event of a cache."""
        if name is not None and any(part in name for part in _CACHES):
            self._pending[name] += 1

    def action(self, action: Action) -> None:
        """What came before it counts where the action is the first of its pass."""
        current = self._passes.current
        if current is not self._pass and self._pending:
            self._keep(current)
        self._pass = current
        if self._pending:
            self._pending = Counter()

    def _keep(self, current: Pass | None) -> None:
        if current is not None:
            self.before.setdefault(current.index, Counter()).update(self._pending)

    def _packet(self, name: str, _payload: Payload) -> None:
        self._pending[name] += 1


#: A progress callback is called at each command stream, and after this number of actions.
_ACTIONS_PER_REPORT = 1024


class ProgressReporter(Observer):
    """Calls a progress callback while a walk runs."""

    def __init__(self, content: Content, progress: Progress) -> None:
        self._content = content
        self._progress = progress
        self._actions = 0

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """Report at each command stream."""
        self._report()

    def action(self, action: Action) -> None:
        """Report after a number of actions, too: a stream may be long."""
        self._actions += 1
        if self._actions % _ACTIONS_PER_REPORT == 0:
            self._report()

    def finished(self) -> None:
        """Report that all was read."""
        size = len(self._content.data)
        self._progress(size, size)

    def _report(self) -> None:
        self._progress(self._content.position, len(self._content.data))
