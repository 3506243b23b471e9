# SPDX-License-Identifier: MIT
"""LRZ of draws: by streams of both drivers, and by states, a row for each reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from cffpy.analysis import lrz as lrz_module
from cffpy.analysis.lrz import PassLrz, lrz_of_passes
from cffpy.analysis.program_facts import ProgramFacts
from cffpy.analysis.queries import find_fragment_programs
from cffpy.container.open import Content, open_capture
from cffpy.frame.action import Action
from cffpy.frame.lrz import REASONS, DepthState
from cffpy.views.lrz import buffer_text
from tests.analysis.passes.marked import BOTH, DEPTH, OTHER, sysmem
from tests.analysis.passes.streams import Streams


def find_lrz(content: Content, complain: Callable[[str], None]) -> list[PassLrz]:
    (finder, programs), _ = find_fragment_programs(content, complain)
    return lrz_of_passes(finder.found, programs.of)


def clear(s: Streams) -> list[int]:
    """turnip's prologue: the buffer, and LRZ_CLEAR."""
    return [
        *s.address("GRAS_LRZ_BUFFER_BASE", OTHER),
        *s.raw("GRAS_LRZ_DEPTH_VIEW", 0),
        *s.event("LRZ_CLEAR"),
    ]


def on(s: Streams, func: str = "FUNC_LESS", write: int = 1, lrz_write: int = 1) -> list[int]:
    """The state of a draw with LRZ."""
    direction = "LRZ_DIR_GE" if func in ("FUNC_GREATER", "FUNC_GEQUAL") else "LRZ_DIR_LE"
    return [
        *s.reg("RB_DEPTH_CNTL", Z_TEST_ENABLE=1, Z_WRITE_ENABLE=write, ZFUNC=func),
        *s.reg("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=lrz_write, DIR=direction),
    ]


def off(s: Streams, func: str = "FUNC_LESS", write: int = 1, test: int = 1) -> list[int]:
    """The state of a draw without it."""
    return [
        *s.reg("RB_DEPTH_CNTL", Z_TEST_ENABLE=test, Z_WRITE_ENABLE=write, ZFUNC=func),
        *s.raw("GRAS_LRZ_CNTL", 0),
    ]


def lrz(s: Streams, *body: list[int]) -> PassLrz:
    finder = s.find(clear(s), sysmem(s, *body))
    (found,) = lrz_of_passes(finder.found)
    return found


def keys(found: PassLrz) -> list[tuple[str, ...]]:
    return [tuple(why.key for why in draw.reasons) for draw in found.draws]


@BOTH
@pytest.mark.parametrize(
    ("func", "write", "key", "loses"),
    [
        ("FUNC_EQUAL", 1, "equal", False),
        ("FUNC_NEVER", 0, "equal", False),
        ("FUNC_ALWAYS", 0, "always", False),
        ("FUNC_ALWAYS", 1, "always, written", True),
        ("FUNC_NOTEQUAL", 1, "always, written", True),
        ("FUNC_GREATER", 0, "direction", False),
        ("FUNC_GEQUAL", 1, "direction, written", True),
    ],
)
def test_depth_functions(gpu: int, func: str, write: int, key: str, loses: bool) -> None:
    s = Streams(gpu)
    after = off(s) if loses else on(s)
    found = lrz(s, on(s), s.draw(), off(s, func, write), s.draw(), after, s.draw())
    assert keys(found) == [(), (key,), ("lost",) if loses else ()]
    assert (found.lost_by, found.paying) == ((1, [2]) if loses else (None, []))
    assert found.draws[0].direction == "less"


@BOTH
def test_no_depth_test(gpu: int) -> None:
    s = Streams(gpu)
    found = lrz(s, on(s), s.draw(), off(s, test=0), s.draw(), on(s), s.draw())
    assert keys(found) == [(), ("no depth test",), ()]
    assert (found.tested, found.lost_by) == (2, None)


@BOTH
def test_blending(gpu: int) -> None:
    s = Streams(gpu)
    blend = s.reg("RB_MRT[0].CONTROL", BLEND=1, COMPONENT_ENABLE=0xF)
    tests = [*on(s, write=0, lrz_write=0), *blend]
    found = lrz(s, on(s), s.draw(), tests, s.draw(), off(s), s.draw(), s.draw())
    reasons = [(), ("no depth write", "target read"), ("destination read",)]
    assert keys(found) == [*reasons, ("destination read", "lost")]
    assert found.draws[1].use == "test"
    assert (found.lost_by, found.paying) == (2, [])
    assert found.lost_why is not None
    assert "blending of color 0" in found.lost_why.text


@BOTH
@pytest.mark.parametrize("write", [0, 1])
def test_stencil(gpu: int, write: int) -> None:
    s = Streams(gpu)
    stencil = [
        *s.reg("RB_STENCIL_CONTROL", STENCIL_ENABLE=1, ZPASS="STENCIL_REPLACE", FUNC="FUNC_ALWAYS"),
        *s.reg("RB_STENCILWRMASK", WRMASK=0xFF),
    ]
    found = lrz(s, on(s), s.draw(), off(s, write=write), stencil, s.draw())
    assert keys(found)[1] == ("stencil and depth written" if write else "stencil written",)
    assert (found.lost_by is None) == (not write)


@BOTH
@pytest.mark.parametrize("by", ["blending", "stencil"])
def test_writes_that_a_draw_turns_off_for_the_pass(gpu: int, by: str) -> None:
    """turnip of 26.0: LRZ is tested on, but written no more."""
    s = Streams(gpu)
    blend = s.reg("RB_MRT[0].CONTROL", BLEND=1, COMPONENT_ENABLE=0xF)
    opaque = s.reg("RB_MRT[0].CONTROL", BLEND=0, COMPONENT_ENABLE=0xF)
    stencil = [
        *s.reg("RB_STENCIL_CONTROL", STENCIL_ENABLE=1, FUNC="FUNC_EQUAL"),
        *s.reg("RB_STENCILWRMASK", WRMASK=0),
    ]
    first = blend if by == "blending" else stencil
    test = on(s, lrz_write=0)
    undo = [*opaque, *s.reg("RB_STENCIL_CONTROL", STENCIL_ENABLE=0)]
    found = lrz(s, on(s), s.draw(), [*test, *first], s.draw(), undo, s.draw(), s.draw())
    own = "target read" if by == "blending" else "stencil"
    assert keys(found) == [(), (own,), ("writes lost",), ("writes lost",)]
    assert found.draws[3].reasons[0].text.startswith("draw p0:1 has turned off writes")
    assert (found.tested, found.lost_by) == (4, None)
    unexplained = lrz(s, on(s), s.draw(), test, s.draw())
    assert keys(unexplained)[1] in (("not known",), ("sysmem",))


def test_two_buffers_and_the_value_of_a_fast_clear() -> None:
    """a7xx: LRZ of one pass is written while that of another is read."""
    s = Streams(740)
    begin = [
        *s.address("GRAS_LRZ_BUFFER_BASE", OTHER),
        *s.raw("GRAS_UNKNOWN_8007", 0x7800),
        *s.raw("GRAS_LRZ_DEPTH_VIEW", 1 << 16),
        *s.reg("GRAS_LRZ_CNTL2", FC_ENABLE=1),
        *s.raw("GRAS_LRZ_CLEAR_DEPTH_F32", 0x3F000000),
        *s.event("LRZ_CLEAR"),
    ]
    finder = s.find(begin, sysmem(s, on(s), s.draw()))
    (found,) = lrz_of_passes(finder.found)
    one = found.pass_.lrz
    assert one is not None
    assert (one.cleared, one.second, one.clear_depth) == (True, OTHER + 0x7800, 0.5)
    text = f"LRZ buffer at {OTHER:#x} and, in turn, {OTHER + 0x7800:#x}, "
    assert buffer_text(found) == text + "cleared before the pass to 0.5 (fast clear)"
    (plain,) = lrz_of_passes(s.find(clear(s), sysmem(s, on(s), s.draw())).found)
    assert plain.pass_.lrz is not None
    assert (plain.pass_.lrz.second, plain.pass_.lrz.clear_depth) == (None, None)


def test_newer_drivers_leave_nothing_unexplained(shared: Path) -> None:
    """Each pass of turnip on a7xx with LRZ has two buffers; all are cleared to 1."""
    for path in sorted((shared / "m26/captures").glob("*.rd.gz")):
        passes = find_lrz(open_capture(str(path)), lambda _line: None)
        for one in passes:
            texts = {why.key for draw in one.draws for why in draw.reasons}
            assert not texts & {"not known", "not enabled"}, path
            if "-vk-" in path.name and "-a7" in path.name and one.tests_depth:
                assert one.pass_.lrz is not None
                assert one.pass_.lrz.second is not None
                assert one.pass_.lrz.clear_depth == 1


@BOTH
def test_a_clear_of_depth_between_draws(gpu: int) -> None:
    s = Streams(gpu)
    cleared = [
        *s.reg("RB_BLIT_INFO", TYPE="BLIT_EVENT_CLEAR", DEPTH=1, CLEAR_MASK=1),
        *s.event("BLIT"),
    ]
    found = lrz(s, on(s), s.draw(), cleared, off(s), s.draw(), s.draw())
    assert keys(found) == [(), ("depth cleared",), ("lost",)]
    assert (found.lost_by, found.paying) == (1, [2])


@BOTH
def test_another_depth_buffer(gpu: int) -> None:
    s = Streams(gpu)
    other = s.address("RB_DEPTH_BUFFER_BASE", DEPTH + 0x100000)
    found = lrz(s, on(s), s.draw(), other, off(s), s.draw())
    assert keys(found) == [(), ("depth buffer changed",)]


@pytest.mark.parametrize(("gpu", "key"), [(630, "program"), (740, "program, no direction")])
def test_a_program_that_writes_depth(gpu: int, key: str) -> None:
    s = Streams(gpu)
    program = [
        *s.reg("RB_FS_OUTPUT_CNTL0", FRAG_WRITES_Z=1),
        *s.reg("GRAS_SU_DEPTH_PLANE_CNTL", Z_MODE="A6XX_LATE_Z"),
    ]
    found = lrz(s, off(s), program, s.draw())
    assert keys(found) == [(key,)]


@BOTH
def test_what_the_pass_begins_with(gpu: int) -> None:
    s = Streams(gpu)
    (found,) = lrz_of_passes(s.find(sysmem(s, off(s), s.draw())).found)
    assert keys(found) == [("no buffer",)]
    bound = s.address("GRAS_LRZ_BUFFER_BASE", OTHER)
    (found,) = lrz_of_passes(s.find(bound, sysmem(s, off(s), s.draw())).found)
    assert keys(found) == [("not cleared",)]
    impossible = [*bound, *s.raw("GRAS_LRZ_DEPTH_VIEW", 0xFFFFFFFF), *s.event("LRZ_CLEAR")]
    (found,) = lrz_of_passes(s.find(impossible, sysmem(s, off(s), s.draw())).found)
    assert keys(found) == [("disabled",)]
    (found,) = lrz_of_passes(s.find(impossible, sysmem(s, on(s), s.draw())).found)
    assert found.notes == ["LRZ has no effect: the driver marked the buffer as unusable"]


def test_gallium_keeps_no_direction() -> None:
    s = Streams(630)
    enabled = [*on(s), *s.reg("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=1)]
    always = off(s, "FUNC_EQUAL", 0)
    found = lrz(s, enabled, s.draw(), always, s.draw(), off(s), s.draw())
    assert keys(found) == [(), ("no direction",), ("lost",)]


class Unequal(ProgramFacts):
    """Facts that equal no others: each draw is derived anew."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True


@BOTH
@pytest.mark.parametrize("is_turnip", [True, False])
def test_draws_like_the_one_before(
    gpu: int, is_turnip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have the same reasons, which are derived once."""
    s = Streams(gpu)
    own = [] if is_turnip else s.reg("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=1)
    states = [
        on(s, "FUNC_LESS", 0),
        off(s, "FUNC_GREATER", 0),
        [*on(s), *own],
        off(s, "FUNC_GREATER", 0),
        off(s, "FUNC_EQUAL", 0),
        on(s, "FUNC_LESS", 1, 0),
        s.event("LRZ_CLEAR"),
        off(s, "FUNC_GREATER"),
    ]
    body = [part for state in states for part in (state, s.draw(), s.draw(), s.draw())]
    found = s.find(clear(s), sysmem(s, *body)).found
    derived: list[int] = []
    derive = lrz_module._PassFollower._derive

    def counted(
        self: lrz_module._PassFollower, action: Action, state: DepthState, writes: bool
    ) -> lrz_module._Own:
        derived.append(action.order)
        return derive(self, action, state, writes)

    monkeypatch.setattr(lrz_module._PassFollower, "_derive", counted)
    facts = True, False, False, False
    (remembered,) = lrz_of_passes(found, lambda _action: ProgramFacts(*facts))
    assert len(derived) <= len(states) + 1  # a direction changes within one state
    derived.clear()
    (anew,) = lrz_of_passes(found, lambda _action: Unequal(*facts))
    assert len(derived) == len(anew.draws) == 3 * len(states)
    assert remembered.to_dict() == anew.to_dict()
    assert len(set(keys(anew))) > 3


def test_draws_after_a_clear_are_derived_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first draw after a clear of depth has a reason that the next one does not have."""
    s = Streams(630)
    found = s.find(clear(s), sysmem(s, off(s), s.draw(), s.draw(), s.draw())).found
    first = found.passes[-1].draws[0].order
    monkeypatch.setattr(lrz_module, "_later_clears", lambda _found: [first])
    (result,) = lrz_of_passes(found)
    assert [key[0] == "depth cleared" for key in keys(result)] == [False, True, False]


@pytest.mark.slow
def test_shared_captures_leave_nothing_unexplained(shared: Path) -> None:
    names = (
        "a540-gl-scene200-lrz-1080p",
        "a618-vk-depth-lrz-gmem",
        "a630-gl-scene150-gmem",
        "a640-vk-scene100-noubwc-nolrz",
        "a650-vk-scene300-4k-gmem",
        "a660-vk-passes-gmem",
        "a740-gl-scene150-gmem",
        "a740-vk-frame-msaa4-1080p",
        "x1-85-vk-depth-lrz-full",
    )
    lost = {}
    for name in names:
        content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
        passes = find_lrz(content, lambda _line: None)
        unexplained = [
            (name, one.pass_.index, draw.draw)
            for one in passes
            for draw in one.draws
            for why in draw.reasons
            if why.key in ("not known", "not enabled")
        ]
        assert not unexplained
        lost[name] = [(one.pass_.index, one.lost_by) for one in passes if one.lost_by is not None]
    assert lost["a618-vk-depth-lrz-gmem"] == [(1, 24)]
    assert lost["a740-vk-frame-msaa4-1080p"] == [(2, 120), (14, 120)]
    assert lost["a650-vk-scene300-4k-gmem"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "capture",
    ["a540-gl-scene200-lrz-1080p", "a618-vk-depth-lrz-gmem", "a730-vk-frame-720p"],
)
def test_passes_and_lrz_name_the_same_draws(capture: str, shared: Path) -> None:
    content = open_capture(str(shared / f"captures/{capture}.rd.gz"))
    passes = find_lrz(content, lambda _line: None)
    compared = 0
    for one in passes:
        lrz = one.pass_.lrz
        if lrz is None or lrz.disabled:
            continue
        off = [n for part in lrz.off_draws for n in range(part.first, part.last + 1)]
        assert lrz.used == bool(one.tested)
        assert off == [draw.draw for draw in one.draws if draw.use == "off" and lrz.used]
        compared += bool(off)
    assert compared


ON = DepthState(
    lrz_enabled=True,
    lrz_writes=True,
    lrz_direction="less",
    lrz_test="less",
    lrz_buffer=0x1000,
    depth_buffer=0x2000,
    tests_depth=True,
    writes_depth=True,
    depth_func="FUNC_LESS",
    tests_stencil=False,
    writes_stencil=False,
    stencil_funcs=(),
    destination_read=None,
    colours=1,
    writes_colour=True,
    idle_blends=(),
    z_mode="EARLY_Z",
    program_writes_depth=False,
    alpha_kills=None,
)
OFF = {"lrz_enabled": False, "lrz_writes": False, "lrz_direction": None}
#: Depth is tested, LRZ too, but neither is written.
TEST = {"lrz_writes": False, "writes_depth": False}
STENCIL = {"tests_stencil": True, "writes_stencil": True, "stencil_funcs": ("FUNC_LESS",)}
BLEND = {"destination_read": "blending of color 0"}
LATE = {"z_mode": "LATE_Z"}
UNWRITTEN = {"writes_depth": False}
#: Facts of fragment programs.
KILLS = ProgramFacts(kills=True, writes_memory=False, fetches=False, has_inputs=False)
STORES = ProgramFacts(kills=False, writes_memory=True, fetches=False, has_inputs=False)

TURNIP, GALLIUM = ("618", "650", "740"), ("618", "650", "740")


class Row(NamedTuple):
    """The second of three draws: what differs from ON, its reasons, and whether LRZ is lost."""

    changes: dict[str, Any]
    keys: tuple[str, ...]
    loses: bool = False
    program: ProgramFacts | None = None
    gpus: tuple[str, ...] = TURNIP
    level: int = 1


TURNIP_ROWS = [
    Row({**OFF, "tests_depth": False, "writes_depth": False}, ("no depth test",)),
    Row({**OFF, "depth_func": "FUNC_EQUAL"}, ("equal",)),
    Row({**OFF, "depth_func": "FUNC_NEVER"}, ("equal",)),
    Row({**OFF, **UNWRITTEN, "depth_func": "FUNC_ALWAYS"}, ("always",)),
    Row({**OFF, **UNWRITTEN, "depth_func": "FUNC_NOTEQUAL"}, ("always",)),
    Row({**OFF, "depth_func": "FUNC_ALWAYS"}, ("always, written",), loses=True),
    Row({**OFF, "depth_func": "FUNC_NOTEQUAL"}, ("always, written",), loses=True),
    Row({**OFF, **UNWRITTEN, "depth_func": "FUNC_GREATER"}, ("direction",)),
    Row({**OFF, "depth_func": "FUNC_GEQUAL"}, ("direction, written",), loses=True),
    Row({**OFF, **LATE, "program_writes_depth": True}, ("program",)),
    Row({**OFF, **LATE}, ("program",), program=STORES),
    Row({**OFF, **UNWRITTEN, **STENCIL}, ("stencil written",)),
    Row({**OFF, **STENCIL}, ("stencil and depth written",), loses=True),
    Row({**OFF, **BLEND}, ("destination read",), loses=True),
    Row(OFF, ("secondary",), loses=True, gpus=("618",), level=2),
    Row({**OFF, **LATE}, ("late depth test",)),
    Row({**OFF}, ("not known",)),
    Row({**TEST, **BLEND}, ("no depth write", "target read")),
    Row({"lrz_writes": False}, ("kill",), program=KILLS),
    Row({"lrz_writes": False, "alpha_kills": "alpha to coverage"}, ("alpha",)),
    Row(
        {"lrz_writes": False, "tests_stencil": True, "stencil_funcs": ("FUNC_LESS",)}, ("stencil",)
    ),
    Row({"lrz_writes": False, **STENCIL, "stencil_funcs": ("FUNC_NEVER",)}, ("stencil",)),
    Row(TEST, ("no depth write",)),
    Row({"lrz_writes": False}, ("sysmem",), gpus=("618",)),
    Row({}, ()),
]
GALLIUM_ROWS = [
    Row({**OFF, "tests_depth": False, "writes_depth": False}, ("no depth test",)),
    Row({**OFF, **UNWRITTEN, "depth_func": "FUNC_EQUAL"}, ("no direction",), loses=True),
    Row({**OFF, **UNWRITTEN, "depth_func": "FUNC_ALWAYS"}, ("no direction",), loses=True),
    Row({**OFF, "depth_func": "FUNC_ALWAYS"}, ("always, written",), loses=True),
    Row({**OFF, **UNWRITTEN, "depth_func": "FUNC_GREATER"}, ("direction, any draw",), loses=True),
    Row({**OFF, "depth_func": "FUNC_GREATER"}, ("direction, any draw",), loses=True),
    Row({**TEST, "depth_func": "FUNC_NEVER"}, ("no depth write",)),
    Row({**OFF, **STENCIL}, ("stencil and depth written",), loses=True),
    Row({**OFF, **BLEND}, ("destination read",), loses=True),
    Row({**OFF, **LATE, "program_writes_depth": True}, ("program",)),
    Row({**OFF, **LATE}, ("program",), program=STORES),
    Row({"lrz_writes": False}, ("kill",), program=KILLS),
    Row({"lrz_writes": False, "alpha_kills": "the alpha test"}, ("alpha",)),
    Row(TEST, ("no depth write",)),
]
#: Each draw alone: no direction is kept, and nothing is lost.
A5XX_ROWS = [
    Row({**OFF, "tests_depth": False, "writes_depth": False}, ("no depth test",)),
    Row({**OFF, "depth_func": "FUNC_EQUAL"}, ("equal",)),
    Row({**OFF, "depth_func": "FUNC_ALWAYS"}, ("equal",)),
    Row({**OFF, **BLEND, "z_mode": None}, ("program",), program=KILLS),
    Row({**OFF, **STENCIL, "z_mode": None, "program_writes_depth": True}, ("program",)),
    Row({"depth_func": "FUNC_GREATER"}, ()),
    Row({"lrz_writes": False, **BLEND}, ("target read",)),
    Row({"lrz_writes": False, "alpha_kills": "the alpha test"}, ("alpha",)),
]

#: Reasons that depend on several draws: tested below and in test_lrz.py.
OF_PASSES = {"lost", "no buffer", "disabled", "not cleared", "not enabled", "density map"}
OF_PASSES |= {"depth cleared", "depth buffer changed", "no depth buffer", "writes lost"}
OF_PASSES |= {"program, no direction"}


def lrz_of_states(gpu: str, states: list[DepthState], **changes: Any) -> PassLrz:
    """LRZ of a sysmem pass with these draws; ``changes``: of the pass, programs, levels."""
    levels = changes.pop("levels", [1] * len(states))
    programs = changes.pop("programs", {})
    draws = [
        SimpleNamespace(depth=state, order=number, level=level)
        for number, (state, level) in enumerate(zip(states, levels, strict=True))
    ]
    members = {
        "kind": "render",
        "mode": "sysmem",
        "draws": draws,
        "binning": None,
        "tiles": [],
        "runs": [],
        "lrz": SimpleNamespace(disabled=False, cleared=True, address=0x1000),
        **changes,
    }
    found = SimpleNamespace(**members)
    passes = SimpleNamespace(generation=int(gpu[0]), gpu=gpu, passes=[found])
    (result,) = lrz_of_passes(passes, lambda draw: programs.get(draw.order))  # type: ignore[arg-type]
    return result


def check_row(row: Row, gpu: str, driver: str) -> None:
    first = ON if driver == "turnip" else ON._replace(lrz_direction=None)
    second = first._replace(**row.changes)
    third = first._replace(**OFF) if row.loses else first
    if "sysmem" in row.keys:
        third = second
    levels = [1, row.level, 1]
    programs = {} if row.program is None else {1: row.program}
    result = lrz_of_states(gpu, [first, second, third], levels=levels, programs=programs)
    assert keys(result)[:2] == [(), row.keys]
    assert result.lost_by == (1 if row.loses else None)
    if row.loses:
        assert keys(result)[2] == ("lost",)
        assert result.paying == [2]
        assert result.lost_why is not None
        assert result.lost_why.loses


@pytest.mark.parametrize("row", TURNIP_ROWS, ids=lambda row: "+".join(row.keys))
def test_turnip(row: Row) -> None:
    for gpu in row.gpus:
        check_row(row, gpu, "turnip")


@pytest.mark.parametrize("row", GALLIUM_ROWS, ids=lambda row: "+".join(row.keys))
def test_gallium(row: Row) -> None:
    for gpu in GALLIUM:
        check_row(row, gpu, "gallium")


@pytest.mark.parametrize("row", A5XX_ROWS, ids=lambda row: "+".join(row.keys))
def test_a5xx(row: Row) -> None:
    check_row(row, "530", "gallium")


def test_a_program_before_any_direction() -> None:
    states = [ON._replace(**OFF, **LATE, program_writes_depth=True), ON._replace(**OFF)]
    assert keys(lrz_of_states("650", states)) == [("program, no direction",), ("lost",)]
    states[1] = ON
    assert keys(lrz_of_states("618", states)) == [("program",), ()]


def test_a_density_map() -> None:
    tiles = [SimpleNamespace(density=object())]
    off = ON._replace(**OFF)
    assert keys(lrz_of_states("740", [off, off], tiles=tiles)) == [("density map",)] * 2
    # a newer turnip has LRZ on in such passes
    late = off._replace(**LATE, program_writes_depth=True)
    assert keys(lrz_of_states("740", [ON, late, ON], tiles=tiles)) == [(), ("program",), ()]


def test_what_a_pass_begins_with() -> None:
    off = [ON._replace(**OFF, lrz_buffer=0)]
    assert keys(lrz_of_states("740", off, lrz=None)) == [("no buffer",)]
    bound = [ON._replace(**OFF)]
    start = SimpleNamespace(disabled=False, cleared=False, address=0x1000)
    assert keys(lrz_of_states("740", bound, lrz=start)) == [("not cleared",)]
    start.disabled = True
    assert keys(lrz_of_states("740", bound, lrz=start)) == [("disabled",)]
    assert keys(lrz_of_states("740", bound)) == [("not enabled",)]


def test_a_subpass_without_a_depth_buffer() -> None:
    """turnip loses LRZ there, for later subpasses that have the buffer again."""
    none = ON._replace(**OFF, depth_buffer=None, tests_depth=False, writes_depth=False)
    found = lrz_of_states("730", [ON, none, ON._replace(**OFF)])
    assert keys(found) == [(), ("no depth buffer",), ("lost",)]
    assert (found.lost_by, found.paying) == (1, [2])


def test_each_reason_is_in_a_row() -> None:
    rows = [*TURNIP_ROWS, *GALLIUM_ROWS, *A5XX_ROWS]
    tested = {key for row in rows for key in row.keys}
    assert tested | OF_PASSES == set(REASONS)
    for row in rows:
        for key in row.keys:
            assert REASONS[key].loses == row.loses
