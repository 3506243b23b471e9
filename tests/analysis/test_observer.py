# SPDX-License-Identifier: MIT
"""Observers of a walk: which events they receive, in which order; waits and cache events."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.conditions import ConditionalBlock
from cffpy.analysis.observer import Observer, StopWalk
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.recorder import RegisterRecorder
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import Gpu
from cffpy.capture.load import CommandStream
from cffpy.container.open import open_bytes
from cffpy.frame.action import Action
from cffpy.frame.execution import Executed
from cffpy.frame.places import PacketLocation
from cffpy.pm4.reader import Payload
from cffpy.regdb.database import Database
from tests.analysis.passes.marked import targets, tile
from tests.analysis.passes.streams import Streams


class Recorder(Observer):
    """Keeps all events in order."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.events: list[tuple[object, ...]] = []

    def bound(self, gpu: Gpu, database: Database) -> None:
        self.events.append(("bound", gpu.generation))

    def packet_handlers(self) -> dict[str, Callable[[Payload], None]]:
        return {"CP_NOP": lambda payload: self.events.append(("nop", payload.count))}

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        self.events.append(("stream", stream.number, is_new_submit))

    def finished(self) -> None:
        self.events.append(("finished",))

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        self.events.append(("written", *registers, ndwords))

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        self.events.append(("unknown", *registers))

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        self.events.append(("memory", payload.dwords()))

    def event(self, name: str | None) -> None:
        self.events.append(("event", name))

    def action(self, action: Action) -> None:
        self.events.append(("action", action.dump_draw, action.execution))

    def indirect_buffer(self, gpuaddr: int, executed: Executed) -> None:
        self.events.append(("IB", executed))

    def commands_missing(self, gpuaddr: int) -> None:
        self.events.append(("missing", gpuaddr))

    def conditional_block(self, block: ConditionalBlock) -> None:
        self.events.append(("block", block.ndwords, block.condition.executed, block.outside))

    def draw_state_group(self, gpuaddr: int) -> None:
        self.events.append(("group", gpuaddr))


def events(data: bytes) -> list[tuple[object, ...]]:
    walk = Walk()
    recorder = Recorder(walk)
    walk.observe(recorder)
    walk.run(open_bytes(data), pytest.fail)
    return recorder.events[recorder.events.index(("stream", 0, True)) :]


def test_every_event() -> None:
    s = Streams(630)
    register = s.offset("RB_WINDOW_OFFSET")
    body = s.ib(s.raw("RB_WINDOW_OFFSET", 1), s.draw())
    (address,) = s.buffers
    group = s.group(3, s.packet("CP_NOP", 1, 2))
    parts = [
        *(s.raw("RB_WINDOW_OFFSET", 5), s.packet("CP_MEM_TO_REG", register, 0x1000, 0)),
        *(s.event("LRZ_FLUSH"), s.packet("CP_MEM_WRITE", address + 4, 0, 7)),
        *(group, body, s.call(0x7F000000, 9)),
    ]
    assert events(s.capture([parts])) == [
        ("stream", 0, True),
        ("written", register, 2),
        ("unknown", register),
        ("event", "LRZ_FLUSH"),
        ("memory", [7]),
        ("IB", Executed.YES),
        ("written", register, 2),
        ("group", int(group[2])),
        ("nop", 2),
        ("action", 0, Executed.YES),
        ("IB", Executed.YES),
        ("missing", 0x7F000000),
        ("finished",),
    ]


def test_what_is_published_of_commands_that_are_not_executed() -> None:
    s = Streams(630)
    inside = [
        *(*s.raw("RB_WINDOW_OFFSET", 5), *s.packet("CP_NOP"), *s.event("LRZ_FLUSH")),
        *(*s.call(0x7F000000, 9), *s.draw(), *s.only("sysmem", commands=s.draw())),
    ]
    parts = [s.marker("RM6_DIRECT_RENDER"), s.only("gmem", commands=inside), s.packet("CP_NOP", 1)]
    no, yes = Executed.NO, Executed.YES
    assert events(s.capture([parts])) == [
        ("stream", 0, True),
        ("block", len(inside), no, yes),
        ("IB", no),
        ("action", 0, no),
        ("block", len(s.draw()), yes, no),
        ("action", 1, no),
        ("nop", 1),
        ("finished",),
    ]


@pytest.mark.parametrize("outer", Executed)
@pytest.mark.parametrize("inner", Executed)
def test_blocks_within_blocks(outer: Executed, inner: Executed) -> None:
    both = (outer, inner)
    wanted = Executed.NO if Executed.NO in both else Executed.UNKNOWN
    assert inner.within(outer) is (Executed.YES if both == (Executed.YES,) * 2 else wanted)


def test_an_event_that_nobody_overrides_has_no_listeners() -> None:
    class Actions(Observer):
        def action(self, action: Action) -> None:
            """Nothing."""

    walk = Walk()
    walk.observe(Actions(), Observer())
    listeners = {name: value for name, value in vars(walk).items() if name.startswith("_on_")}
    assert {name for name, value in listeners.items() if value} == {"_on_action"}
    assert len(listeners["_on_action"]) == 1


class Reader(Observer):
    """Reads the finder's state at each action."""

    def __init__(self, passes: PassFinder) -> None:
        self.passes = passes
        self.seen: list[tuple[object, ...]] = []

    def action(self, action: Action) -> None:
        found, run = self.passes.current, self.passes.run
        assert run is not None
        is_there = any(draw is action for draw in run.draws)
        self.seen.append(
            (action.dump_draw, found and found.index, is_there, len(self.passes.actions))
        )


def test_the_order_of_observers_has_no_meaning() -> None:
    s = Streams(660)
    draws = s.ib(targets(s), s.draw(), s.draw())
    data = s.capture([[tile(s, 0, 0, 128, 96, draws), tile(s, 128, 0, 256, 96, draws)]])
    results = []
    for order in permutations(range(3)):
        walk = Walk()
        passes = PassFinder(walk)
        recorder = RegisterRecorder(walk, passes, 1 << 20)
        reader = Reader(passes)
        observers = passes, recorder, reader
        walk.observe(*(observers[position] for position in order))
        walk.run(open_bytes(data), pytest.fail)
        states = [recorder.store.state(one, walk.machine.database) for one in passes.actions]
        indices = [[write.pass_index for write in one.writes.values()] for one in states]
        results.append((reader.seen, indices))
    assert results[0][0] == [(0, 0, True, 1), (1, 0, True, 2), (2, 0, True, 3), (3, 0, True, 4)]
    assert all(result == results[0] for result in results)


def test_an_observer_ends_the_walk() -> None:
    class Second(Recorder):
        def action(self, action: Action) -> None:
            super().action(action)
            if action.dump_draw == 1:
                raise StopWalk("the second draw is enough")

    s = Streams(630)
    walk = Walk()
    observer = Second(walk)
    walk.observe(observer)
    assert walk.run(open_bytes(s.capture([[s.draw() * 3]])), pytest.fail) == []
    assert observer.events[-3:] == [
        ("action", 0, Executed.YES),
        ("action", 1, Executed.YES),
        ("finished",),
    ]
    assert walk.problems == ["stream 0: the second draw is enough"]


def test_events_count_for_the_pass_behind_them() -> None:
    s = Streams(630)
    frame = [
        *s.event("CACHE_FLUSH_TS"),
        *s.event("CACHE_FLUSH_TS"),
        *s.packet("CP_WAIT_FOR_IDLE"),
        *s.event("ZPASS_DONE"),
        *s.marker("RM6_DIRECT_RENDER"),
        *s.draw(),
        *s.packet("CP_WAIT_FOR_IDLE"),  # within the pass
        *s.draw(),
        *s.event("CACHE_INVALIDATE"),  # after the last pass
    ]
    (found,) = cffpy.open(s.capture([[frame]])).passes
    assert len(found.draws) == 2
    assert found.events_before == {"CACHE_FLUSH_TS": 2, "CP_WAIT_FOR_IDLE": 1}


def test_a_shared_capture(shared: Path) -> None:
    capture = cffpy.open(shared / "captures/a660-vk-passes-gmem.rd.gz")
    events = capture.passes[3].events_before
    assert events["CACHE_FLUSH_TS"] == 1
    assert events["CP_WAIT_FOR_IDLE"] == 3
    assert "BLIT" not in events
