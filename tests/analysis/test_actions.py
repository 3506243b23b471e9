# SPDX-License-Identifier: MIT
"""Actions: what the draw and dispatch packets of each generation say of their size."""

from __future__ import annotations

import pytest

from cffpy.cp.replaying import ReplayingRunner
from cffpy.frame.action import Action
from tests.analysis.passes.streams import Streams, walk
from tests.builders import capture, type3, type4

PARAMETERS = 0x300000
INDICES = 0x400000

AUTO, FROM_MEMORY, IMMEDIATE = 2 << 6, 0 << 6, 1 << 6


def only(gpu: int, commands: list[int], **buffers: list[int]) -> Action:
    contents = {PARAMETERS: buffers["parameters"]} if buffers else {}
    (action,) = walk(capture(gpu, commands, contents)).actions  # type: ignore[arg-type]
    return action


def size(action: Action) -> tuple[int | None, int | None, bool, bool]:
    return action.vertices, action.instances, action.indexed, action.indirect


def packet(gpu: int, name: str, *payload: int) -> list[int]:
    s = Streams(gpu)
    return s.packet(name, *payload) if gpu >= 500 else type3(s.opcode(name), *payload)


@pytest.mark.parametrize(
    ("gpu", "name", "payload", "wanted"),
    [
        # a20x keeps the count in the draw initiator, a22x has a separate dword
        (200, "CP_DRAW_INDX", (0, 600 << 16 | AUTO | 4), (600, 1, False, False)),
        (200, "CP_DRAW_INDX", (0, 6 << 16 | 4, 0x1000, 12), (6, 1, True, False)),
        (200, "CP_DRAW_INDX_BIN", (0, 36 << 16 | 4, 0, 36, 0x1000, 72), (36, 1, True, False)),
        (220, "CP_DRAW_INDX", (0, AUTO | 4, 300), (300, 1, False, False)),
        (220, "CP_DRAW_INDX_2", (0, IMMEDIATE | 4, 2, 0x10000), (2, 1, True, False)),
        (320, "CP_DRAW_INDX", (0, AUTO | 4, 300), (300, 1, False, False)),
        (320, "CP_DRAW_INDX", (0, 7 << 24 | 4, 9, 0x1000, 18), (9, 7, True, False)),
        (430, "CP_DRAW_INDX_OFFSET", (AUTO | 4, 5, 300), (300, 5, False, False)),
        (430, "CP_DRAW_INDX_OFFSET", (4, 1, 12, 0, 0x1000, 24), (12, 1, True, False)),
        (540, "CP_DRAW_INDX_OFFSET", (AUTO | 4, 1, 3), (3, 1, False, False)),
        (630, "CP_DRAW_INDX_OFFSET", (4, 2, 36, 0, 0, 0x1000, 0, 36), (36, 2, True, False)),
        (740, "CP_DRAW_INDX_OFFSET", (AUTO | 4, 1 << 31, 3), (3, 1 << 31, False, False)),
        (630, "CP_DRAW_AUTO", (4, 8, 0, 0, 0, 16), (None, 8, False, True)),
    ],
)
def test_direct_draws(
    gpu: int, name: str, payload: tuple[int, ...], wanted: tuple[object, ...]
) -> None:
    action = only(gpu, packet(gpu, name, *payload))
    assert (action.kind, action.packet, action.execution.value) == ("draw", name, True)
    assert action.primitive == "DI_PT_TRILIST"
    assert size(action) == wanted


@pytest.mark.parametrize(
    ("gpu", "name", "payload", "indexed"),
    [
        (430, "CP_DRAW_INDIRECT", (4, PARAMETERS + 8), False),
        (540, "CP_DRAW_INDIRECT", (4, PARAMETERS + 8, 0), False),
        (630, "CP_DRAW_INDIRECT", (4, PARAMETERS + 8, 0), False),
        (430, "CP_DRAW_INDX_INDIRECT", (4, INDICES, 100, PARAMETERS + 8), True),
        (540, "CP_DRAW_INDX_INDIRECT", (4, INDICES, 0, 100, PARAMETERS + 8, 0), True),
        (630, "CP_DRAW_INDIRECT_MULTI", (4, 2, 1, PARAMETERS + 8, 0, 16), False),
        (740, "CP_DRAW_INDIRECT_MULTI", (4, 4, 1, INDICES, 0, 100, PARAMETERS + 8, 0, 20), True),
    ],
)
def test_indirect_draws(gpu: int, name: str, payload: tuple[int, ...], indexed: bool) -> None:
    commands = packet(gpu, name, *payload)
    captured = only(gpu, commands, parameters=[0, 0, 36, 4, 0, 0, 0])
    assert size(captured) == (36, 4, indexed, True)
    assert captured.dump_draw == 0
    assert size(only(gpu, commands)) == (None, None, indexed, True), "not captured"
    cut = only(gpu, commands, parameters=[0, 0, 36])
    assert size(cut) == (None, None, indexed, True), "the buffer ends within the parameters"


def test_several_draws_at_once() -> None:
    def multi(*payload: int) -> Action:
        records = [3, 1, 0, 0, 6, 1, 0, 0, 9, 2, 0, 0]
        return only(630, packet(630, "CP_DRAW_INDIRECT_MULTI", *payload), parameters=records)

    assert size(multi(4, 2, 2, PARAMETERS, 0, 16)) == (9, 1, False, True)
    assert size(multi(4, 2, 3, PARAMETERS, 0, 16)) == (18, None, False, True), "instances differ"
    assert size(multi(4, 2, 4, PARAMETERS, 0, 16)) == (None, None, False, True)
    assert size(multi(4, 2, 0xFFFFFFFF, PARAMETERS, 0, 4)) == (None, None, False, True)
    assert size(multi(4, 2, 2, PARAMETERS, 0, 0)) == (None, None, False, True)
    count = (PARAMETERS + 0x100, 0, 16)
    assert size(multi(4, 6, 3, PARAMETERS, 0, *count)) == (None, None, False, True)
    indexed = (4, 7, 3, INDICES, 0, 100, PARAMETERS, 0, *count)
    assert size(multi(*indexed)) == (None, None, True, True)


@pytest.mark.parametrize(
    ("gpu", "name", "payload", "wanted"),
    [
        (430, "CP_EXEC_CS", (0, 4, 5, 6), (4, 5, 6)),
        (630, "CP_EXEC_CS", (0, 4, 5, 6), (4, 5, 6)),
        (430, "CP_EXEC_CS_INDIRECT", (0, PARAMETERS, 0), (7, 8, 9)),
        (540, "CP_EXEC_CS_INDIRECT", (0, PARAMETERS, 0, 0), (7, 8, 9)),
        (740, "CP_EXEC_CS_INDIRECT", (0, PARAMETERS, 0, 0), (7, 8, 9)),
        (740, "CP_EXEC_CS_INDIRECT", (0, PARAMETERS + 4, 0, 0), None),
        (740, "CP_EXEC_CS_INDIRECT", (0, PARAMETERS, 1, 0), None),
        (320, "CP_RUN_OPENCL", (0,), None),
    ],
)
def test_dispatches(
    gpu: int, name: str, payload: tuple[int, ...], wanted: tuple[int, ...] | None
) -> None:
    action = only(gpu, packet(gpu, name, *payload), parameters=[7, 8, 9])
    assert (action.kind, action.groups, action.vertices) == ("dispatch", wanted, None)
    assert action.indirect == name.endswith("INDIRECT")


def test_kinds_and_numbers() -> None:
    s = Streams(630)
    parts = [
        s.packet("CP_BLIT", 3),
        s.event("BLIT"),
        s.event("LRZ_CLEAR"),
        s.event("CACHE_FLUSH_TS"),
        s.draw(0),
        s.draw(3, "DI_PT_RECTLIST"),
    ]
    actions = walk(s.capture([parts])).actions
    assert [(one.kind, one.primitive, one.dump_draw) for one in actions] == [
        ("blit", "BLIT_OP_SCALE", 0),
        ("resolve", "EVENT:BLIT", 1),
        ("lrz clear", "EVENT:LRZ_CLEAR", 2),
        ("draw", "DI_PT_TRILIST", None),
        ("draw", "DI_PT_RECTLIST", 3),
    ]
    assert [one.level for one in actions] == [0] * 5


def test_blit_events_of_a5xx_move_pixels_without_a_number() -> None:
    s = Streams(540)
    actions = walk(s.capture([[s.event("BLIT"), s.draw()]])).actions
    assert [(one.kind, one.dump_draw) for one in actions] == [("resolve", None), ("draw", 0)]


def test_equal_draw_packets_are_decoded_once() -> None:
    """A counter, and the sizes of draws whose packets are not equal, or too short to be known."""
    long = packet(630, "CP_DRAW_INDX_OFFSET", 4, 2, 36, 0, 0x1000, 0, 36)
    other = packet(630, "CP_DRAW_INDX_OFFSET", 4, 2, 12, 0, 0x2000, 0, 36)
    short = packet(630, "CP_DRAW_INDX_OFFSET", AUTO | 4, 1)
    commands = long + other + long + short + short + type4(0x8800, 1)
    finder = walk(capture(630, commands))
    regions = [action.index_region for action in finder.actions]
    assert regions == [(0x1000, 36, 1), (0x2000, 12, 1), (0x1000, 36, 1), None, None]
    machine = finder.walk.machine
    assert isinstance(machine, ReplayingRunner)
    assert machine.draws_decoded == 4  # both short ones: what follows them differs
