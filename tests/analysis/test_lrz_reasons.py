# SPDX-License-Identifier: MIT
"""The table of reasons, row by row: each GPU and driver, what a draw shows, what later draws show.

Turnip on parts that keep the direction in memory (650, 740) and on those that do not (618), Gallium
on a6xx and a7xx, and Gallium on a5xx, whose rules differ.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from cffpy.analysis.depth_state import DepthState
from cffpy.analysis.lrz import REASONS, PassLrz, lrz_of_passes
from cffpy.analysis.program_facts import ProgramFacts

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
KEPT_STENCIL = {**STENCIL, "writes_stencil": False, "lrz_writes": False}
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


def lrz(gpu: str, states: list[DepthState], **changes: Any) -> PassLrz:
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


def keys(result: PassLrz) -> list[tuple[str, ...]]:
    return [tuple(why.key for why in draw.reasons) for draw in result.draws]


def check_row(row: Row, gpu: str, driver: str) -> None:
    first = ON if driver == "turnip" else ON._replace(lrz_direction=None)
    second = first._replace(**row.changes)
    third = first._replace(**OFF) if row.loses else first
    if "sysmem" in row.keys:
        third = second
    levels = [1, row.level, 1]
    programs = {} if row.program is None else {1: row.program}
    result = lrz(gpu, [first, second, third], levels=levels, programs=programs)
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
    assert keys(lrz("650", states)) == [("program, no direction",), ("lost",)]
    states[1] = ON
    assert keys(lrz("618", states)) == [("program",), ()]


def test_a_density_map() -> None:
    tiles = [SimpleNamespace(density=object())]
    off = ON._replace(**OFF)
    assert keys(lrz("740", [off, off], tiles=tiles)) == [("density map",)] * 2
    # a newer turnip has LRZ on in such passes
    late = off._replace(**LATE, program_writes_depth=True)
    assert keys(lrz("740", [ON, late, ON], tiles=tiles)) == [(), ("program",), ()]


def test_what_a_pass_begins_with() -> None:
    off = [ON._replace(**OFF, lrz_buffer=0)]
    assert keys(lrz("740", off, lrz=None)) == [("no buffer",)]
    bound = [ON._replace(**OFF)]
    start = SimpleNamespace(disabled=False, cleared=False, address=0x1000)
    assert keys(lrz("740", bound, lrz=start)) == [("not cleared",)]
    start.disabled = True
    assert keys(lrz("740", bound, lrz=start)) == [("disabled",)]
    assert keys(lrz("740", bound)) == [("not enabled",)]


def test_another_depth_buffer() -> None:
    states = [ON, ON._replace(**OFF, depth_buffer=0x9000)]
    assert keys(lrz("650", states)) == [(), ("depth buffer changed",)]


def test_a_subpass_without_a_depth_buffer() -> None:
    """turnip loses LRZ there, for later subpasses that have the buffer again."""
    none = ON._replace(**OFF, depth_buffer=None, tests_depth=False, writes_depth=False)
    found = lrz("730", [ON, none, ON._replace(**OFF)])
    assert keys(found) == [(), ("no depth buffer",), ("lost",)]
    assert (found.lost_by, found.paying) == (1, [2])


def test_each_reason_is_in_a_row() -> None:
    rows = [*TURNIP_ROWS, *GALLIUM_ROWS, *A5XX_ROWS]
    tested = {key for row in rows for key in row.keys}
    assert tested | OF_PASSES == set(REASONS)
    for row in rows:
        for key in row.keys:
            assert REASONS[key].loses == row.loses
