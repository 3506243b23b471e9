# SPDX-License-Identifier: MIT
"""CP_MEM_WRITE in a walk: what a driver patches runs as patched."""

from __future__ import annotations

import pytest

from cffpy.analysis.observer import Observer
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content
from cffpy.frame.action import Action
from cffpy.pm4.reader import Payload
from tests.builders import capture, type4, type7

LATER = 0x200000
REGISTER = 0x8C18

BLIT = type7(0x2C, 3)
CALL = type7(0x3F, LATER, 0, 4)


class Watcher(Observer):
    """Keeps the value of a register at each blit."""

    def __init__(self, applies: bool) -> None:
        self.walk = Walk(applies)
        self.walk.observe(self)
        self.seen: list[int] = []
        self.written: list[tuple[int, list[int], bytes]] = []

    def action(self, action: Action) -> None:
        self.seen.append(self.walk.machine.state.value(REGISTER))

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        self.written.append((gpuaddr, payload.dwords(), before))


def watch(commands: list[int], applies: bool = True, gpu: int = 630) -> Watcher:
    later = type4(REGISTER, 1) + BLIT
    watcher = Watcher(applies)
    data = capture(gpu, commands, {LATER: later})
    assert watcher.walk.run(Content("-", data, "none", 0, None), pytest.fail) == []
    return watcher


PATCH = type7(0x3D, LATER, 0, *type4(REGISTER, 2))


def test_patched_commands_run_as_patched() -> None:
    watcher = watch(CALL + PATCH + CALL)
    assert watcher.seen == [1, 2]
    ((gpuaddr, dwords, before),) = watcher.written
    assert gpuaddr == LATER
    assert dwords == type4(REGISTER, 2)
    assert int.from_bytes(before[4:], "little") == 1


def test_the_data_of_the_packet_does_not_run_by_itself() -> None:
    assert watch(PATCH + BLIT).seen == [0]


def test_not_applied() -> None:
    assert watch(CALL + PATCH + BLIT + CALL, applies=False).seen == [1, 2, 1]


def test_what_is_not_executed_writes_nothing() -> None:
    """In a block for sysmem, while a tile is rendered."""
    block = type7(0x47, 3 << 28 | 1 << 27, len(PATCH)) + PATCH
    commands = type7(0x65, 4) + block + CALL
    assert watch(commands).seen == [1]
    assert watch(type7(0x65, 1) + block + CALL).seen == [2]


def test_where_nothing_was_captured() -> None:
    watcher = watch(type7(0x3D, 0x900000, 0, 1, 2) + type7(0x3D, LATER) + CALL)
    assert watcher.seen == [1]
    assert not watcher.walk.problems


def test_too_large_a_buffer_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cffpy.capture.memory.MAX_WRITABLE", 4)
    watcher = watch(PATCH + CALL)
    assert watcher.seen == [1]
    assert watcher.walk.problems == [
        "stream 0: the buffer at 0x200000 is too large to be changed by CP_MEM_WRITE"
    ]
