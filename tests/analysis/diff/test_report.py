# SPDX-License-Identifier: MIT
"""From differences to entries: grouping, order, folding, titles."""

from __future__ import annotations

import time
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from cffpy.analysis.diff.model import Difference, Entry, Extent, PassPair
from cffpy.analysis.diff.report import group, where
from cffpy.analysis.diff.rules import FACT_CATEGORIES, OTHER, Category, register_category
from cffpy.regdb.database import Database
from cffpy.regdb.subjects import Subjects


@cache
def database() -> tuple[Database, Subjects]:
    opened = Database.open("A6XX")
    return opened, Subjects.open(opened)


def category(name: str, field: str = "") -> Category:
    """What an a6xx register, or the field of its name, is about."""
    opened, subjects = database()
    if not field and name.count(".") > name.count("]."):
        name, _, field = name.rpartition(".")
    offset = opened.register_offset(name)
    return register_category(subjects.register(offset), field) if offset else OTHER


def difference(name: str, about: Category | None = None) -> Difference:
    return Difference(name, "0", "1", about or category(name))


def at(*draws: tuple[int, int], index: int = 0) -> list[Extent]:
    return [Extent(index, index, first, last) for first, last in draws]


def test_the_same_draws_are_one_entry_by_rank() -> None:
    entries = group(
        {
            difference("SP_FS_CONFIG"): at((2, 4)),
            difference("RB_MRT[0].BLEND_CONTROL.X"): at((2, 4)),
            difference("RB_MRT[0].BLEND_CONTROL.A"): at((2, 3), (4, 4)),
        },
        [],
        [],
    )
    (entry,) = entries
    assert entry.title == "draws p0:2-4: RB_MRT[0].BLEND_CONTROL.A: 0 → 1 (+2 fields)"
    assert [d.name for d in entry.differences][-1] == "SP_FS_CONFIG"


def test_numbers_in_names_count_as_numbers() -> None:
    for numbers in (("2", "9", "10"), ("0x9", "0xa", "0x10", "0x1f"), ("0", "0x9", "10")):
        names = [f"RB_MRT[{n}].CONTROL" for n in numbers]
        (entry,) = group({difference(name): at((0, 0)) for name in names[::-1]}, [], [])
        assert [d.name for d in entry.differences] == names


def test_names_with_equal_numbers_have_an_order() -> None:
    """Registers without a name: differences are found in a random order."""
    names = ["0x01a1", "0x1a1"]
    for found in (names, names[::-1]):
        (entry,) = group({difference(name, OTHER): at((0, 0)) for name in found}, [], [])
        assert [d.name for d in entry.differences] == names


def test_what_follows_from_a_shader_is_folded_under_it() -> None:
    (entry,) = group(
        {
            difference("shader FS", FACT_CATEGORIES["shader"]): at((3, 9)),
            difference("SP_FS_CONFIG"): at((3, 8)),
        },
        [],
        [],
    )
    assert entry.title.startswith("draws p0:3-9: shader FS")
    assert [one.title.split(": ")[0] for one in entry.consequences] == ["draws p0:3-8"]


def test_what_is_of_other_draws_does_not_follow() -> None:
    entries = group(
        {
            difference("shader FS", FACT_CATEGORIES["shader"]): at((3, 9)),
            difference("RB_DEPTH_CNTL.ZFUNC"): at((3, 9), (12, 12)),
        },
        [],
        [],
    )
    assert len(entries) == 2


def test_data_that_differs_at_every_draw_is_one_entry() -> None:
    about = FACT_CATEGORIES["constants"]
    found = {
        Difference(f"constants VS 0 ({n} of 32 words)", f"{n}", "x", about): at((n, n))
        for n in range(1, 40)
    }
    (entry,) = group(found, [], [])
    assert entry.title == (
        "draws p0:1-39: constants VS 0 (1 of 32 words): 1 → x, and other values at 38 more"
    )
    assert entry.extents == (Extent(0, 0, 1, 39),)
    assert [one.extents for one in entry.consequences] == [tuple(at((n, n))) for n in range(1, 40)]
    assert entry.has_parts


@pytest.mark.slow
def test_many_entries_take_bounded_time() -> None:
    started = time.process_time()
    found = {difference(f"REGISTER_{n}"): at((n, n)) for n in range(20_000)}
    assert len(group(found, [], [])) == 20_000
    assert time.process_time() - started < 10


def test_two_causes_stay_two() -> None:
    entries = group(
        {
            difference("RB_DEPTH_CNTL.ZFUNC"): at((0, 2)),
            difference("GRAS_SU_CNTL.CULL_BACK"): at((5, 5)),
        },
        [],
        [],
    )
    assert [entry.title.split(": ")[0] for entry in entries] == [
        "draws p0:0-2",
        "draw p0:5",
    ]


def test_draws_behind_one_that_is_missing_may_differ_in_what_programs_go_on_with() -> None:
    missing = Entry("draw p0:4 of good is missing in bad", tuple(at((4, 4))), rank=0)
    found = {
        difference("constants FS 0", FACT_CATEGORIES["constants"]): at((5, 5)),
        difference("index data", FACT_CATEGORIES["index buffer"]): at((2, 2)),
        difference("GRAS_SU_CNTL.CULL_BACK"): at((6, 6)),
    }
    entries = group(found, [missing], [])
    assert [len(entry.consequences) for entry in entries] == [1, 0, 0]


def whole(*differences: Difference, draws: int = 10, index: int = 0) -> tuple[Entry, PassPair]:
    """A pair of passes that differ as such."""
    found: Any = SimpleNamespace(index=index, draws=[None] * draws)
    entry = Entry("", (Extent(index, index),), list(differences), rank=1)
    return entry, PassPair(found, found)


def of_pass(name: str, category: Category) -> Difference:
    return Difference(name, "1", "2", category)


SAMPLES = of_pass("samples", Category("pass", 1))
BINNING = of_pass("binning", Category("mode", 4))
SIZE = of_pass("framebuffer", Category("pass", 1))
DEPTH_STORE = of_pass("depth at the end", Category("load, clear and store", 5))


def test_what_the_program_asks_for_comes_before_what_drivers_choose() -> None:
    structure, pair = whole(BINNING, SAMPLES)
    (entry,) = group({}, [structure], [pair])
    assert entry.title == "pass 0: samples: 1 → 2 (+1 more)"


def test_passes_that_differ_in_size_are_one_entry() -> None:
    half = Difference("framebuffer", "3", "4", SIZE.category)
    one, pair = whole(SIZE, BINNING)
    other, second = whole(half, index=1)
    found = {difference("GRAS_CL_VPORT[0].XOFFSET"): [*at((0, 9)), *at((0, 9), index=1)]}
    (entry,) = group(found, [one, other], [pair, second])
    assert entry.title == "pass 0; pass 1: framebuffer: 1 → 2 (+2 more)"
    assert [part.title for part in entry.consequences] == [
        "pass 0: framebuffer: 1 → 2 (+1 more)",
        "pass 1: framebuffer: 3 → 4",
        "draws p0:0-9; draws p1:0-9: GRAS_CL_VPORT[0].XOFFSET: 0 → 1",
    ]


def test_data_that_differs_at_each_draw_follows_from_the_size_of_the_pass() -> None:
    structure, pair = whole(SIZE)
    about = FACT_CATEGORIES["constants"]
    found = {
        Difference(f"constants VS 0 ({n} of 32 words)", f"{n}", "x", about): at((n, n))
        for n in range(8)
    }
    (entry,) = group(found, [structure], [pair])
    assert entry.title == "pass 0: framebuffer: 1 → 2"
    assert len(entry.consequences) == 1


def test_data_of_one_draw_does_not_follow_from_the_size_of_the_pass() -> None:
    structure, pair = whole(SIZE)
    found = {difference("constants", FACT_CATEGORIES["constants"]): at((3, 3))}
    assert len(group(found, [structure], [pair])) == 2


def test_one_thing_follows_where_another_of_the_same_draws_does_not() -> None:
    structure, pair = whole(SIZE)
    found = {
        difference("GRAS_CL_VPORT[0].XOFFSET"): at((0, 9)),
        difference("GRAS_SU_CNTL.CULL_BACK"): at((0, 9)),
    }
    first, second = group(found, [structure], [pair])
    assert [d.name for d in first.consequences[0].differences] == ["GRAS_CL_VPORT[0].XOFFSET"]
    assert [d.name for d in second.differences] == ["GRAS_SU_CNTL.CULL_BACK"]


def test_a_viewport_does_not_follow_from_a_store() -> None:
    structure, pair = whole(DEPTH_STORE)
    found = {difference("GRAS_CL_VPORT[0].XOFFSET"): at((0, 9))}
    assert len(group(found, [structure], [pair])) == 2


def test_a_store_follows_from_whether_draws_write() -> None:
    structure, pair = whole(DEPTH_STORE)
    found = {difference("RB_DEPTH_CNTL.Z_WRITE_ENABLE"): at((0, 9))}
    (entry,) = group(found, [structure], [pair])
    assert entry.title.startswith("draws p0:0-9: RB_DEPTH_CNTL.Z_WRITE_ENABLE")
    assert [one.title for one in entry.consequences] == ["pass 0: depth at the end: 1 → 2"]


def test_a_mode_that_drivers_may_have_chosen_by_blending_comes_behind_it() -> None:
    structure, pair = whole(of_pass("mode", Category("mode", 4)))
    found = {
        Difference("RB_MRT[0].CONTROL.BLEND", "0", "1", category("RB_MRT[0].CONTROL", "BLEND")): (
            at((0, 9))
        )
    }
    entries = group(found, [structure], [pair])
    assert [entry.title.split(": ")[1] for entry in entries] == [
        "RB_MRT[0].CONTROL.BLEND",
        "2 in bad, 1 in good",
    ]


def test_what_a_pass_derives_causes_nothing() -> None:
    structure, pair = whole(of_pass("LRZ used", Category("lrz", 80, derived=True)))
    found = {difference("GRAS_SU_CNTL.CULL_BACK"): at((0, 9))}
    (entry,) = group(found, [structure], [pair])
    assert entry.title.startswith("draws p0:0-9: GRAS_SU_CNTL.CULL_BACK")
    assert len(entry.consequences) == 1


def test_barriers_behind_a_missing_pass_follow_from_it() -> None:
    missing = Entry("pass 0 of good is missing in bad", (Extent(0, None),), rank=0)
    _, pair = whole(index=1)
    absent = PassPair(whole()[1].good, None)
    found = {difference("waits", FACT_CATEGORIES["barriers"]): at((0, 0), index=1)}
    (entry,) = group(found, [missing], [absent, pair])
    assert len(entry.consequences) == 1


def test_where() -> None:
    assert where(at((1, 1))) == "draw p0:1"
    assert where(at((1, 1), (3, 5))) == "draws p0:1, p0:3-5"
    assert where([Extent(2, 3)]) == "pass 2 (pass 3 of bad)"
    assert where([Extent(None, 3)]) == "pass 3 of bad"
    many = at(*((n, n) for n in range(0, 40, 2)))
    assert where(many).endswith(", 14 more ranges")
    assert where([Extent(n, n) for n in range(9)]).endswith("and 6 more passes")
