# SPDX-License-Identifier: MIT
"""Annotations: lines about packets, kept by the place of the packet in execution.

A view that decodes the same capture asks for them as it comes to each packet. The lines come from
sources: functions from a finished walk to notes.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.passes.model import Passes
from cffpy.analysis.passes.tracker import TooMany
from cffpy.analysis.provenance import InheritanceFinder
from cffpy.cp.session import Session
from cffpy.errors import UnsupportedGpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.analysis.conditions import Condition
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.container.open import Content
    from cffpy.cp.sink import Payload

    #: ``Place.key``.
    Key = tuple[int, ...]
    Source = Callable[["AnnotationFinder"], Iterable["Note"]]


class Position(Enum):
    """Where a note stands: before the packet, before its draw is shown, or behind the packet."""

    BEFORE = 0
    DRAW = 1
    AFTER = 2


class Note(NamedTuple):
    """A line about the packet at ``place``, or about the command stream of that number.

    ``is_detail``: it is about the packet itself, so of no use where packets are not shown.
    ``more`` goes on behind what the view itself knows of a draw.
    """

    place: PacketLocation | int
    text: str
    position: Position = Position.BEFORE
    is_detail: bool = False
    more: str = ""


class Annotations:
    """Notes by place, in the order in which they came."""

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self._of_packets: dict[tuple[Key, Position], list[Note]] = {}
        self._of_streams: dict[tuple[int, Position], list[Note]] = {}
        for note in notes:
            if isinstance(note.place, int):
                self._of_streams.setdefault((note.place, note.position), []).append(note)
            else:
                self._of_packets.setdefault((note.place.key, note.position), []).append(note)

    def of_packet(self, key: Key, position: Position) -> list[Note]:
        """The notes on the packet whose ``Place.key`` is ``key``."""
        return self._of_packets.get((key, position), [])

    def of_stream(self, number: int, position: Position) -> list[Note]:
        """The notes on a command stream as a whole."""
        return self._of_streams.get((number, position), [])


class Block(NamedTuple):
    """``ndwords`` behind the packet at ``place`` are conditional; ``end``: the address behind them.

    ``outside``: whether what is around them is executed.
    """

    place: PacketLocation
    ndwords: int
    end: int
    condition: Condition
    outside: bool | None


class Call(NamedTuple):
    """An IB is called by the packet at ``place``."""

    place: PacketLocation
    is_captured: bool
    executed: bool | None


class AnnotationFinder(InheritanceFinder):
    """Finds passes, and keeps what else sources need."""

    def __init__(self) -> None:
        super().__init__()
        self.streams: list[CommandStream] = []
        self.blocks: list[Block] = []
        self.calls: list[Call] = []
        self._condition: Condition

    def submit(self, submit: CommandStream) -> None:
        """Keep it."""
        super().submit(submit)
        self.streams.append(submit)

    def conditional_block(
        self, name: str, payload: Payload, ndwords: int, level: int
    ) -> bool | None:
        """Keep it with its condition."""
        outside = self.executed
        runs = super().conditional_block(name, payload, ndwords, level)
        if runs is not None:
            end = payload.words.address + 4 * (payload.index + payload.count + ndwords)
            self.blocks.append(Block(self.packet_place, ndwords, end, self._condition, outside))
        return runs

    def block_begins(self, condition: Condition) -> None:
        """What ``conditional_block`` is about to keep."""
        self._condition = condition

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        """Keep the call."""
        is_captured = self.machine.image.place(gpuaddr) is not None
        self.calls.append(Call(self.packet_place, is_captured, self.executed))
        return super().indirect_buffer(gpuaddr, ndwords, level)

    def forget_file(self) -> None:
        """The next file's streams are numbered anew; registers and the GPU live on."""
        self.found = Passes()
        self.actions = []
        self.streams = []
        self.blocks = []
        self.calls = []
        self.forget_submits()


class Annotator:
    """Annotates captures, one after another, as one dump takes them."""

    def __init__(
        self, sources: Iterable[Source], register_db: str | None = None, gpu: Gpu | None = None
    ) -> None:
        """``register_db``, ``gpu``: as for ``Session``."""
        self._sources = tuple(sources)
        self._finder = AnnotationFinder()
        self._session = Session(self._finder, warn=_keep_quiet, register_db=register_db, gpu=gpu)

    def annotate(self, content: Content, skips: Callable[[str], bool]) -> Annotations:
        """The notes on a file. ``skips``: as for ``Session.run``.

        None where nothing tells the GPU's generation: whoever decodes the file complains.
        """
        finder = self._finder
        with suppress(UnsupportedGpu, TooMany):
            self._session.run(content, skips)
        finder.finish()
        notes = Annotations(note for source in self._sources for note in source(finder))
        finder.forget_file()
        return notes


def _keep_quiet(line: str) -> None:
    """Whoever decodes the same file complains of the same."""
