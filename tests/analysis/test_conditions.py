# SPDX-License-Identifier: MIT
"""Which conditional commands are executed: by render mode, thread, predicate; what is unknown."""

from __future__ import annotations

import pytest

from tests.analysis.passes.streams import Streams, executed, walk


@pytest.fixture
def a6xx() -> Streams:
    return Streams(630)


@pytest.mark.parametrize("gpu", [630, 740])
@pytest.mark.parametrize(
    ("marker", "binning", "gmem", "sysmem"),
    [
        ("RM6_BIN_VISIBILITY", True, False, False),
        ("RM6_BIN_RENDER_START", False, True, False),
        ("RM6_BIN_RESOLVE", False, True, False),
        ("RM6_DIRECT_RENDER", False, False, True),
    ],
)
def test_render_mode(gpu: int, marker: str, binning: bool, gmem: bool, sysmem: bool) -> None:
    s = Streams(gpu)
    found = walk(
        s.capture(
            [
                [
                    s.marker(marker),
                    s.only("binning", commands=s.draw()),
                    s.only("gmem", commands=s.draw()),
                    s.only("sysmem", commands=s.draw()),
                    s.only("gmem", "sysmem", commands=s.draw()),
                    s.draw(),
                ]
            ]
        )
    )
    wanted = [binning, gmem, sysmem, gmem or sysmem, True]
    assert executed(found) == list(enumerate(wanted))
    assert [action.order for action in found.actions] == [0, 1, 2, 3, 4]
    assert found.actions[0].condition is not None
    assert found.actions[4].condition is None


def test_before_the_first_marker_the_mode_is_unknown(a6xx: Streams) -> None:
    s = a6xx
    found = walk(s.capture([[s.only("gmem", commands=s.draw())]]))
    assert executed(found) == [(0, None)]


@pytest.mark.parametrize("other", [[0x101], [0x104], [0x400], [0x800]])
def test_markers_about_something_else_change_no_mode(a6xx: Streams, other: list[int]) -> None:
    s = a6xx
    write = s.raw("RB_WINDOW_OFFSET", 7)
    parts = [
        s.marker("RM6_BIN_VISIBILITY"),
        s.packet("CP_SET_MARKER", *other),
        s.only("binning", commands=s.draw()),
        s.group(0, write, mask=1),
        s.draw(),
    ]
    found = walk(s.capture([parts]))
    assert executed(found) == [(0, True), (1, True)]
    assert found.walk.registers.value("RB_WINDOW_OFFSET") == 7, (
        "groups of the binning run are loaded"
    )


def test_conditions_within_conditions(a6xx: Streams) -> None:
    s = a6xx
    inner = s.draw() + s.only("gmem", commands=s.draw())
    parts = [
        s.marker("RM6_BIN_RENDER_START"),
        s.only("sysmem", commands=inner),
        s.only("gmem", commands=inner),
        s.test("RB_WINDOW_OFFSET", 3),
        s.only("gmem", commands=s.when(0, inner)),
        s.draw(),
    ]
    found = walk(s.capture([parts]))
    wanted = [False, False, True, True, None, None, True]
    assert executed(found) == list(enumerate(wanted))


def test_skipped_ibs_and_groups(a6xx: Streams) -> None:
    s = a6xx
    inner = s.ib(s.raw("RB_WINDOW_OFFSET", 5), s.draw(), s.ib(s.draw()))
    group = s.group(3, s.raw("RB_WINDOW_OFFSET2", 6))
    parts = [
        s.marker("RM6_DIRECT_RENDER"),
        s.only("gmem", commands=[*inner, *group]),
        s.draw(),
        *([s.only("sysmem", commands=inner)]),
    ]
    found = walk(s.capture([parts]))
    assert executed(found) == list(enumerate([False, False, True, True, True]))
    assert found.walk.registers.value("RB_WINDOW_OFFSET") == 5
    assert found.walk.registers.value("RB_WINDOW_OFFSET2") is None, "the group was never set"


def test_predicates(a6xx: Streams) -> None:
    s = a6xx
    parts = [
        s.raw("VSC_STATE[0].REG", 0b10),
        s.test("VSC_STATE[0].REG", 0),
        s.test("VSC_STATE[0].REG", 1, predicate=5),
        s.when(0, s.draw()),
        s.when(5, s.draw()),
        s.when(6, s.draw()),
        s.marker("RM6_BIN_VISIBILITY"),
        s.test("VSC_STATE[0].REG", 1, predicate=5),
        s.when(5, s.draw()),
        s.raw("VSC_STATE[0].REG", 0),
        s.test("VSC_STATE[0].REG", 1, predicate=5),
        s.when(5, s.draw()),
        s.packet("CP_REG_TEST", 1 << 31, 0b10001, 1),
        s.when(0, s.draw()),
        s.when(4, s.draw()),
        s.when(5, s.draw()),
        s.when(6, s.draw()),
    ]
    found = walk(s.capture([parts]))
    assert [action.execution.value for action in found.actions] == [
        False,
        True,
        None,
        None,
        False,
        True,
        False,
        False,
        None,
    ]


def test_registers_that_the_gpu_writes_are_unknown(a6xx: Streams) -> None:
    s = a6xx
    first = s.offset("VSC_STATE[0].REG")
    parts = [
        s.raw("VSC_STATE[0].REG", 1, 1, 1, 1),
        s.packet("CP_MEM_TO_REG", first | 2 << 19, 0x1000, 0),
        s.packet("CP_SCRATCH_TO_REG", first + 2),  # of a scratch register that was never set
        s.marker("RM6_DIRECT_RENDER"),
        s.only("gmem", commands=s.packet("CP_MEM_TO_REG", first + 3, 0x1000, 0)),
    ]
    for number in range(4):
        parts += [s.test(f"VSC_STATE[{number}].REG", 0), s.when(0, s.draw())]
    found = walk(s.capture([parts]))
    assert [action.execution.value for action in found.actions] == [None, None, None, True]
    assert found.walk.registers.value("VSC_STATE[1].REG") is None


def test_a_skipped_test_sets_no_predicate(a6xx: Streams) -> None:
    s = a6xx
    parts = [
        s.marker("RM6_DIRECT_RENDER"),
        s.raw("VSC_STATE[0].REG", 0b10),
        s.test("VSC_STATE[0].REG", 1),
        s.only("gmem", commands=s.test("VSC_STATE[0].REG", 0)),
        s.when(0, s.draw()),
        s.test("VSC_STATE[1].REG", 0, predicate=1),
        s.when(1, s.test("VSC_STATE[0].REG", 1)),
        s.when(0, s.draw()),
    ]
    found = walk(s.capture([parts]))
    assert [action.execution.value for action in found.actions] == [True, None]


@pytest.mark.parametrize(
    ("thread", "on_bv", "on_br", "on_either"),
    [
        ("CP_SET_THREAD_BV", True, False, True),
        ("CP_SET_THREAD_BR", False, True, True),
        ("CP_SET_THREAD_BOTH", True, True, True),
        (None, None, None, None),
    ],
)
def test_threads(
    thread: str | None, on_bv: bool | None, on_br: bool | None, on_either: bool | None
) -> None:
    s = Streams(740)
    parts = []
    if thread is not None:
        number = s.database.enum_value("cp_thread", thread)
        assert number is not None
        parts.append(s.packet("CP_THREAD_CONTROL", number))
    for bits in (1, 2, 3):
        head = s.packet("CP_COND_REG_EXEC", 5 << 28 | bits << 25, len(s.draw()))
        parts += [head, s.draw()]
    actions = walk(s.capture([parts])).actions
    assert [action.execution.value for action in actions] == [on_bv, on_br, on_either]


def test_memory_conditions_are_open(a6xx: Streams) -> None:
    s = a6xx
    draw = s.draw()
    block = s.packet("CP_COND_EXEC", 0x1000, 0, 0x2000, 0, 1, len(draw)) + draw
    assert executed(walk(s.capture([[block, draw]]))) == [(0, None), (1, True)]


def test_predicated_draws(a6xx: Streams) -> None:
    s = a6xx
    parts = [
        s.packet("CP_DRAW_PRED_ENABLE_GLOBAL", 1),
        s.draw(),
        s.packet("CP_BLIT", 3),
        s.packet("CP_DRAW_PRED_ENABLE_LOCAL", 1),
        s.packet("CP_DRAW_PRED_ENABLE_LOCAL", 0),
        s.draw(),
        s.packet("CP_DRAW_PRED_ENABLE_GLOBAL", 0),
        s.draw(),
    ]
    found = walk(s.capture([parts]))
    assert [action.execution.value for action in found.actions] == [None, True, None, True]
