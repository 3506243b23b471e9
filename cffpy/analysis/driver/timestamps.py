# SPDX-License-Identifier: MIT
"""Timestamps of a capture, and those around passes and tiles.

RB_DONE_TS with TIMESTAMP (up to a6xx), events with WRITE_SRC ALWAYSON (a7xx and later), and
CP_REG_TO_MEM of the counter itself store it. Their values are in memory that was captured after
their submit: with a later submit, or in a dump of a crash.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.analysis.queries import PassWalk
from cffpy.frame.timing import TimeSpan, Timestamp
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, PassRun, Tile
    from cffpy.frame.places import PacketLocation
    from cffpy.frame.submit import Memory
    from cffpy.frame.timing import TimestampPacket
    from cffpy.pm4.descriptions import Descriptions
    from cffpy.pm4.reader import Payload

_EVENT = Fields("CP_EVENT_WRITE", "EVENT", "TIMESTAMP", "ADDR_0")
_EVENT7 = Fields("CP_EVENT_WRITE7", "EVENT", "WRITE_SRC", "1")
_REG_TO_MEM = Fields("CP_REG_TO_MEM", "REG", "CNT", "64B", "DEST")

#: WRITE_SRC (event_write_src).
_ALWAYS_ON = 3
_COUNTER = re.compile(r"(CP|RBBM)_ALWAYS_?ON_COUNTER(_LO)?")

#: Timestamps of a capture that are kept.
_MOST = 1 << 18


class _Stored(NamedTuple):
    """A timestamp without its value."""

    packet: TimestampPacket
    place: PacketLocation
    gpuaddr: int
    order: int


class TimestampReader(Observer):
    """The packets that store the time, in the order of execution."""

    def __init__(self, walk: Walk, finder: PassFinder) -> None:
        self._walk = walk
        self._finder = finder
        self.stored: list[_Stored] = []

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        events = {"CP_EVENT_WRITE": self._event, "CP_EVENT_WRITE7": self._event7}
        return {**events, "CP_REG_TO_MEM": self._register}

    def _event(self, payload: Payload) -> None:
        event, is_timestamp, address = payload.read(self._walk.machine.packets[_EVENT])
        if not is_timestamp or payload.count <= 1:
            return
        if self._walk.machine.enum_name("vgt_event_type", event) == "RB_DONE_TS":
            self._add("CP_EVENT_WRITE", address)

    def _event7(self, payload: Payload) -> None:
        _, source, address = payload.read(self._walk.machine.packets[_EVENT7])
        if source == _ALWAYS_ON and payload.count > 1:
            self._add("CP_EVENT_WRITE7", address)

    def _register(self, payload: Payload) -> None:
        machine = self._walk.machine
        register, _, is_64bit, address = payload.read(machine.packets[_REG_TO_MEM])
        row = machine.names.register(register, machine.variants) if is_64bit else None
        if row is not None and _COUNTER.fullmatch(row.name):
            self._add("CP_REG_TO_MEM", address)

    def _add(self, packet: TimestampPacket, address: int) -> None:
        if len(self.stored) < _MOST:
            place, order = self._walk.packet_location, len(self._finder.actions)
            self.stored.append(_Stored(packet, place, address, order))


class Times:
    """The timestamps of a capture, and the spans of its passes and tiles."""

    def __init__(self, timestamps: list[Timestamp], passes: Sequence[Pass]) -> None:
        self.timestamps = timestamps
        self._orders = [timestamp.next_action for timestamp in timestamps]
        #: Of each pass that executes anything: its index, first and last action.
        self._ends = [
            (pass_.index, min(orders), max(orders))
            for pass_ in passes
            if timestamps and (orders := [action.order for action in _executed(*pass_.runs)])
        ]
        self._positions = {index: at for at, (index, _, _) in enumerate(self._ends)}

    def of_pass(self, pass_: Pass) -> TimeSpan | None:
        """The span of a pass: no other pass executes anything in it."""
        position = self._positions.get(pass_.index)
        if position is None:
            return None
        _, first, last = self._ends[position]
        after = self._ends[position - 1][2] + 1 if position else 0
        is_last = position + 1 == len(self._ends)
        before = None if is_last else self._ends[position + 1][1]
        return self._span(first, last, after, before)

    def of_tile(self, tile: Tile) -> TimeSpan | None:
        """The span of a tile: nothing else is executed in it."""
        orders = [action.order for action in _executed(tile)] if self.timestamps else []
        if not orders:
            return None
        first, last = min(orders), max(orders)
        return self._span(first, last, first, last + 1)

    def _span(self, first: int, last: int, after: int, before: int | None) -> TimeSpan | None:
        """From the last timestamp before an action to the first one after another.

        By the orders of actions: no earlier than ``after``, no later than ``before``.
        """
        begin = bisect_right(self._orders, first) - 1
        end = bisect_left(self._orders, last + 1)
        if begin < 0 or end >= len(self.timestamps) or self._orders[begin] < after:
            return None
        if before is not None and self._orders[end] > before:
            return None
        span = TimeSpan(self.timestamps[begin], self.timestamps[end])
        submits = {timestamp.place.submit for timestamp in span}
        return span if len(submits) == 1 else None


def _executed(*runs: PassRun) -> Iterator[Action]:
    """What is executed in runs of passes, or may be."""
    for run in runs:
        for action in (*run.draws, *(each.action for each in run.operations)):
            if action.execution.is_possible:
                yield action


def read_times(
    content: Content,
    memories: list[Memory],
    has_run: bool,
    register_db: str | None,
    gpu: Gpu | None,
    descriptions: Descriptions,
) -> Times:
    """The timestamps of a capture: a walk.

    ``memories``: of each submit. ``has_run``: they are from after the commands ran.
    """
    walk = PassWalk(content, _ignore, register_db, gpu, descriptions)
    reader = TimestampReader(walk.walk, walk.finder)
    walk.observe(reader)
    walk.run()
    return Times(_with_values(reader.stored, memories, has_run), walk.finder.found.passes)


def _with_values(stored: list[_Stored], memories: list[Memory], has_run: bool) -> list[Timestamp]:
    """The timestamps with what they stored; of several at one address, the last one has it."""
    last = {(one.place.submit, one.gpuaddr): number for number, one in enumerate(stored)}
    timestamps = []
    for number, one in enumerate(stored):
        is_last = last[one.place.submit, one.gpuaddr] == number
        ticks = _value(one, memories, has_run) if is_last else None
        timestamps.append(Timestamp(number, *one[:3], ticks, one.order))
    return timestamps


def _value(stored: _Stored, memories: list[Memory], has_run: bool) -> int | None:
    """What it stored, from the first memory after it that has it; 0 is what was never written."""
    submit = stored.place.submit
    for memory in memories[submit if has_run else submit + 1 :]:
        ticks = memory.u64(stored.gpuaddr)
        if ticks:
            return ticks
    return None


def _ignore(_line: str) -> None:
    """Warnings are those of any other walk over the capture."""
