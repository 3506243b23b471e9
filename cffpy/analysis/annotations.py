# SPDX-License-Identifier: MIT
"""Annotations: lines about packets, by the location of the packet in execution.

A view that decodes the same capture looks them up at each packet. Sources make the lines: functions
from the results of a walk to notes.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.density_tracker import DensityTracker
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.recorder import RegisterRecorder, most_changes
from cffpy.analysis.register_store.store import Inheritance
from cffpy.analysis.walk import Walk
from cffpy.errors import UnsupportedGpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.analysis.conditions import ConditionalBlock
    from cffpy.analysis.register_store.store import Inherited
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.execution import Executed
    from cffpy.frame.passes import Passes
    from cffpy.frame.places import PacketLocation

    #: ``PacketLocation.key``.
    Key = tuple[int, ...]
    Source = Callable[["AnnotationFinder"], Iterable["Note"]]


class Position(Enum):
    """Position of a note: before the packet, before its draw is shown, or after the packet."""

    BEFORE = 0
    DRAW = 1
    AFTER = 2


class Note(NamedTuple):
    """A line about the packet at ``place`` (also as its key), or about the command stream of that
    number.

    ``is_detail``: it is about the packet itself, and omitted where packets are not shown.
    ``more`` follows what the view itself adds for a draw.
    """

    place: PacketLocation | Key | int
    text: str
    position: Position = Position.BEFORE
    is_detail: bool = False
    more: str = ""


class Annotations:
    """Notes by place, in the order in which they came."""

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self._of_packets: dict[tuple[Key, Position], list[Note]] = {}
        self._of_streams: dict[tuple[int, Position], list[Note]] = {}
        self.add(notes)

    def add(self, notes: Iterable[Note]) -> None:
        """Put further notes after the others."""
        for note in notes:
            place = note.place
            if isinstance(place, int):
                self._of_streams.setdefault((place, note.position), []).append(note)
            else:
                key = place if isinstance(place, tuple) else place.key
                self._of_packets.setdefault((key, note.position), []).append(note)

    def of_packet(self, key: Key, position: Position) -> list[Note]:
        """The notes on the packet whose ``PacketLocation.key`` is ``key``."""
        return self._of_packets.get((key, position), [])

    def of_stream(self, number: int, position: Position) -> list[Note]:
        """The notes on a command stream as a whole."""
        return self._of_streams.get((number, position), [])


class Call(NamedTuple):
    """An IB is called by the packet at ``place``."""

    place: PacketLocation
    is_captured: bool
    executed: Executed


class AnnotationFinder(Observer):
    """All that sources of annotations use of one capture."""

    def __init__(self, walk: Walk, size: int) -> None:
        """``size``: of the capture, in bytes."""
        self._walk = walk
        self.passes = PassFinder(walk)
        self._recorder = RegisterRecorder(walk, self.passes, most_changes(size))
        self.streams: list[CommandStream] = []
        self.blocks: list[ConditionalBlock] = []
        self.calls: list[Call] = []

    @property
    def observers(self) -> tuple[Observer, ...]:
        """This one and those that it reads."""
        density = DensityTracker(self._walk, self.passes)
        return self.passes, density, self._recorder, self

    @property
    def found(self) -> Passes:
        """The passes of the capture, with their actions."""
        return self.passes.found

    @property
    def actions(self) -> list[Action]:
        """All actions, in order."""
        return self.passes.actions

    @property
    def inherited(self) -> list[Inherited]:
        """What each submit inherits from the submits before it."""
        store, machine = self._recorder.store, self._walk.machine
        return Inheritance(store, self.actions, machine).inherited

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        self.streams.append(stream)

    def conditional_block(self, block: ConditionalBlock) -> None:
        self.blocks.append(block)

    def indirect_buffer(self, gpuaddr: int, executed: Executed) -> None:
        is_captured = self._walk.machine.image.place(gpuaddr) is not None
        self.calls.append(Call(self._walk.packet_location, is_captured, executed))


class Annotator:
    """Annotates captures, one after another, as one dump takes them."""

    def __init__(
        self, sources: Iterable[Source], register_db: str | None = None, gpu: Gpu | None = None
    ) -> None:
        """``register_db``, ``gpu``: as for ``Session``."""
        self._sources = tuple(sources)
        self._walk = Walk()
        self._session = self._walk.open_session(_discard, register_db, gpu)

    def annotate(self, content: Content, skips: Callable[[str], bool]) -> Annotations:
        """The notes on a file; none if the GPU's generation is unknown.

        Registers and the GPU live on from the file before. ``skips``: as for ``Session.run``.
        """
        finder = AnnotationFinder(self._walk, len(content.data))
        self._walk.observe(*finder.observers)
        with suppress(UnsupportedGpu):
            self._walk.run_session(self._session, content, skips)
        self._walk.observe()  # what was found of the capture is not kept
        return Annotations(note for source in self._sources for note in source(finder))


def _discard(line: str) -> None:
    """The dump of the same file prints the same warnings."""
