# SPDX-License-Identifier: MIT
"""A walk: debug markers, shaders, commands patched by CP_MEM_WRITE, hostile streams."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cffpy.analysis.observer import Observer
from cffpy.analysis.queries import find_passes
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content, open_bytes
from cffpy.container.writer import capture_bytes, command_stream_section
from cffpy.cp.machine import PACKET_ENUM
from cffpy.frame.action import Action
from cffpy.limits import Limits
from cffpy.pm4.reader import Payload
from tests.analysis.passes.streams import IBS, Streams, executed, find, walk
from tests.builders import capture, type3, type4, type7

BEGIN, END = 0x4245474E, 0x454E4400


@pytest.fixture
def a6xx() -> Streams:
    return Streams(630)


def text(*strings: str) -> list[int]:
    joined = "".join(strings).encode()
    joined += bytes(-len(joined) % 4)
    return [int.from_bytes(joined[at : at + 4], "little") for at in range(0, len(joined), 4)]


# --- what is around ------------------------------------------------------------------------------


def test_debug_markers(a6xx: Streams) -> None:
    s = a6xx
    parts = [
        s.marker("RM6_DIRECT_RENDER"),
        s.packet("CP_NOP", BEGIN, *text("outer")),
        s.packet("CP_NOP", BEGIN, *text("inner", "\0rest")),
        s.draw(),
        s.packet("CP_NOP", END),
        s.only("gmem", commands=s.packet("CP_NOP", BEGIN, *text("skipped"))),
        s.draw(),
        s.packet("CP_NOP", END),
        s.packet("CP_NOP", END),
        s.draw(),
    ]
    assert walk(s.capture([parts])).open_at == [("outer", "inner"), ("outer",), ()]


def test_many_debug_markers(a6xx: Streams) -> None:
    s = a6xx
    begins = [s.packet("CP_NOP", BEGIN, *text(f"{n:04}" * 200)) for n in range(1000)]
    ends = [s.packet("CP_NOP", END)] * 990
    (first, last) = walk(s.capture([[*begins, s.draw(), *ends, s.draw()]])).open_at
    assert len(first) < 1000
    assert all(len(marker) < 800 for marker in first)
    assert [marker[:4] for marker in last] == [f"{n:04}" for n in range(10)]


def test_what_is_not_followed(a6xx: Streams) -> None:
    s = a6xx
    own = s.call(0x100000, 8)
    found = walk(s.capture([[s.call(0x7F000000, 9), own]]))
    assert found.walk.problems == [
        "stream 0: the 9 dwords at 0x7f000000 were not captured",
        "stream 0: the commands at 0x100000 call themselves",
    ]
    many = [s.call(0x7F000000 + 64 * n, 9) for n in range(1000)]
    assert len(walk(s.capture([many])).walk.problems) == 100


def test_shaders() -> None:
    s = Streams(630)
    parts = [
        s.address("SP_VS_OBJ_START", 0x200000010),
        s.address("SP_FS_OBJ_START", 0x300000),
        s.address("SP_CS_OBJ_START", 0x400000),
        s.reg("SP_VS_CONFIG", ENABLED=1),
        s.draw(),
        s.reg("SP_CS_CONFIG", ENABLED=1),
        s.packet("CP_EXEC_CS", 0, 1, 2, 3),
        s.packet("CP_BLIT", 3),
    ]
    actions = walk(s.capture([parts])).actions
    assert [action.programs for action in actions] == [
        (("VS", 0x200000010),),
        (("CS", 0x400000),),
        (),
    ]


def test_programs_of_a2xx() -> None:
    load = type3(0x2B, 0, 2, 1, 2) + type3(0x2B, 1, 2, 3, 4)
    (action,) = walk(capture(200, load + type3(0x22, 0, 3 << 16 | 4, 3))).actions
    assert action.programs == (("VS", 0x10000C), ("FS", 0x100020))


# --- hostile streams -----------------------------------------------------------------------------


def test_a_nest_of_conditions(a6xx: Streams) -> None:
    s = a6xx
    commands = s.draw()
    for _ in range(2000):
        commands = s.only("gmem", commands=commands)
    found = walk(s.capture([[s.marker("RM6_DIRECT_RENDER"), commands, s.draw()]]))
    assert executed(found) == [(0, False), (1, True)]
    assert found.walk.problems == [
        "stream 0: conditions at 0x1000c8 are nested too deeply: inner ones are not followed"
    ]


@pytest.mark.parametrize("size", [0, 1, 3, 0xFFFFFF])
def test_blocks_of_wrong_sizes(a6xx: Streams, size: int) -> None:
    """A block ends within a packet, or beyond its stream: all draws keep their numbers."""
    s = a6xx
    head = s.packet("CP_COND_REG_EXEC", 3 << 28 | 1 << 26, size)
    inner = s.ib(s.marker("RM6_DIRECT_RENDER"), head, s.draw(), s.draw())
    found = walk(s.capture([[inner, s.draw()]]))
    wanted = {
        0: [True, True, True],
        1: [False, True, True],
        3: [False, True, True],
        0xFFFFFF: [False, False, True],
    }[size]
    assert executed(found) == list(enumerate(wanted))


def test_short_conditional_packets(a6xx: Streams) -> None:
    s = a6xx
    parts = [s.packet("CP_COND_REG_EXEC", 3 << 28), s.draw(), s.packet("CP_COND_EXEC", 1), s.draw()]
    assert executed(walk(s.capture([parts]))) == [(0, True), (1, True)]


@pytest.mark.perf
def test_skipped_blocks_cost_no_copy_of_the_registers(a6xx: Streams) -> None:
    """The same skipped blocks, with few and with many registers written before."""
    s = a6xx
    blocks = [s.marker("RM6_DIRECT_RENDER"), s.only("gmem", commands=s.packet("CP_NOP")) * 3000]
    registers = [dword for n in range(1000, 1600) for dword in type4(n * 100, *range(100))]

    def seconds(*parts: list[int]) -> float:
        data = s.capture([[*parts]])
        began = time.process_time()
        walk(data)
        return time.process_time() - began

    few = min(seconds(*blocks) for _ in range(3))
    many = min(seconds(registers, *blocks) - seconds(registers) for _ in range(3))
    assert many < 5 * few + 0.1, "a copy of 60000 registers for each takes a hundred times as long"


def test_more_than_is_kept(a6xx: Streams) -> None:
    s = a6xx
    sysmem = [*s.marker("RM6_DIRECT_RENDER"), *s.address("RB_MRT[0].BASE", 0x1000)]
    for endless in (s.draw(), sysmem, s.marker("RM6_BIN_RENDER_START")):
        body = s.ib(endless * 30)
        data = s.capture([[s.marker("RM6_BIN_RENDER_START"), body * 50]])
        finder, _ = find_passes(open_bytes(data, limits=Limits(draws=100)), lambda line: None)
        kept = len(finder.actions) + sum(1 + len(one.tiles) for one in finder.found.passes)
        assert 90 < kept <= 101
        (problem,) = finder.found.problems
        assert "passes, tiles and draws" in problem


#: Values with a meaning in many packets.
_ODD = (0, 1, 2, 4, 5, 6, 8, 12, 0x100000, 0x100040, IBS, 0xFFFFFFFF, 3 << 28, 1 << 28, 7 << 25)


@pytest.mark.fuzz
def test_random_streams_do_no_harm(a6xx: Streams) -> None:
    generator = random.Random(6)
    named = (a6xx.database.enum_name(PACKET_ENUM, n, a6xx.variants) for n in range(128))
    names = [name for name in named if name]
    for _ in range(150):
        parts: list[list[int]] = []
        for _ in range(60):
            payload = [generator.choice(_ODD) for _ in range(generator.randrange(9))]
            parts.append(a6xx.packet(generator.choice(names), *payload))
        finder = find(a6xx.capture([parts, parts[::-1]], [parts]))
        numbers = [action.dump_draw for action in finder.actions if action.number is not None]
        assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("command", ["passes", "check"])
def test_commands_missing_before_the_gpu_is_known(
    command: str, tmp_path: Path, run_cffpy: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    """Nobody has heard of their submit."""
    path = tmp_path / "missing.rd"
    path.write_bytes(capture_bytes([command_stream_section(0x1000, 2)]))
    done = run_cffpy(command, path)
    assert done.returncode == 1
    assert done.stderr.endswith(b"stream 0: the 2 dwords at 0x1000 were not captured\n")


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
