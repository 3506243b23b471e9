# SPDX-License-Identifier: MIT
"""Comparing two recordings: entries and their draws."""

from __future__ import annotations

import pytest

from cffpy.analysis.diff.recording import Recording, record
from cffpy.container.open import open_bytes
from cffpy.container.writer import dwords_bytes
from tests.analysis.diff.frames import (
    LOAD_FRAG,
    ME,
    MEM_WRITES,
    WAIT,
    DrawCall,
    compared,
    frame,
    frame_bytes,
    titles,
    write,
)
from tests.builders import type7
from tests.selection import first_always

DEPTH = "RB_DEPTH_CNTL"
LESS, ALWAYS = 0x1 | 1 << 2, 0x1 | 7 << 2


def draws(count: int = 6) -> list[DrawCall]:
    return [DrawCall(3 * (number + 1)) for number in range(count)]


def test_the_same_is_the_same() -> None:
    result = compared(frame(draws(), draws()), frame(draws(), draws()))
    assert not result.differs
    assert result.hidden == {}
    assert [(p.good and p.good.index, p.bad and p.bad.index) for p in result.pairs] == [
        (0, 0),
        (1, 1),
    ]


def test_a_register_differs_from_its_write_to_the_next() -> None:
    good, bad = draws(), draws()
    for one, value in ((good, LESS), (bad, ALWAYS)):
        one[1].registers = {DEPTH: value}
        one[4].registers = {DEPTH: 1}
    (entry,) = compared(frame(good), frame(bad)).entries
    assert entry.title == "draws p0:1-3: RB_DEPTH_CNTL.ZFUNC: FUNC_LESS → FUNC_ALWAYS"
    (difference,) = entry.differences
    assert difference.good_place is not None
    assert difference.bad_place is not None
    assert difference.good_place._words.get(difference.good_place._index + 1) == LESS


def test_ranges_of_one_cause_are_one_entry() -> None:
    good, bad = draws(), draws()
    for at in (0, 3):
        good[at].registers, bad[at].registers = {DEPTH: LESS}, {DEPTH: ALWAYS}
        good[at + 1].registers = bad[at + 1].registers = {DEPTH: 1}
    assert [title.split(": ")[0] for title in titles(frame(good), frame(bad))] == [
        "draws p0:0, p0:3"
    ]


@pytest.mark.parametrize("gone", [0, 2, 5])
def test_a_missing_draw_shifts_nothing(gone: int) -> None:
    rest = draws()
    del rest[gone]
    good, bad = frame(draws()), frame(rest)
    assert titles(good, bad) == [f"draw p0:{gone} of good is missing in bad"]
    assert titles(bad, good) == [f"draw p0:{gone} of bad is missing in good"]


def test_missing_draws_are_one_entry() -> None:
    rest = [draw for number, draw in enumerate(draws(12)) if number not in (2, 3, 7)]
    assert titles(frame(draws(12)), frame(rest)) == [
        "draws p0:2-3, p0:7 of good are missing in bad"
    ]


def test_the_only_draw_of_a_pass_is_missing() -> None:
    good = frame(draws(), draws(1))
    assert titles(good, frame(draws(), [])) == [
        "pass 1 of good is missing in bad (render, sysmem, 1 draw)"
    ]
    bound = frame_bytes(draws(), [], behind=write("RB_MRT[0].BASE", 0x1000, 0))
    assert titles(good, record(open_bytes(bound), print)) == ["draw p1:0 of good is missing in bad"]


def test_draws_that_differ_in_state_alone_are_told_apart() -> None:
    alike = [DrawCall(3, {"VFD_INDEX_OFFSET": number}) for number in range(5)]
    rest = [*alike[:2], *alike[3:]]
    assert titles(frame(alike), frame(rest)) == ["draw p0:2 of good is missing in bad"]


def test_a_missing_pass() -> None:
    three, two = frame(draws(3), draws(5), draws(4)), frame(draws(3), draws(4))
    assert titles(three, two) == ["pass 1 of good is missing in bad (render, sysmem, 5 draws)"]
    assert titles(two, three) == ["pass 1 of bad is missing in good (render, sysmem, 5 draws)"]


def test_missing_passes_in_a_row_are_one_entry() -> None:
    good = frame(draws(3), draws(5), draws(1), draws(4))
    assert titles(good, frame(draws(3), draws(4))) == [
        "passes 1-2 of good are missing in bad (6 draws)"
    ]


def test_a_capture_without_passes_lacks_all_of_them() -> None:
    assert titles(frame(draws()), frame()) == [
        "pass 0 of good is missing in bad (render, sysmem, 6 draws)"
    ]
    assert titles(frame(), frame()) == []


@pytest.mark.parametrize(
    ("change", "title"),
    [
        (DrawCall(8), "draw p0:2: vertices: 9 → 8"),
        (DrawCall(9, instances=4), "draw p0:2: instances: 1 → 4"),
    ],
)
def test_draw_parameters(change: DrawCall, title: str) -> None:
    bad = draws()
    bad[2] = change
    assert titles(frame(draws()), frame(bad)) == [title]


def test_a_value_that_is_left_over_from_an_earlier_pass_is_told_there_alone() -> None:
    good, bad = draws(), draws()
    good[4].registers, bad[4].registers = {"GRAS_CL_CNTL": 0}, {"GRAS_CL_CNTL": 1}
    result = compared(frame(good, draws()), frame(bad, draws()))
    assert [entry.title.split(": ")[0] for entry in result.entries] == ["draws p0:4-5"]
    assert result.hidden["inherited"] == {"GRAS_CL_CNTL": 1}
    shown = compared(frame(good, draws()), frame(bad, draws()), ["inherited"])
    assert [entry.title.split(": ")[0] for entry in shown.entries] == ["draws p0:4-5; draws p1:0-5"]


def test_a_value_that_one_side_only_has_left_over_is_told() -> None:
    good, bad = draws(), draws()
    good[0].registers = {DEPTH: ALWAYS}
    bad[0].registers = {DEPTH: ALWAYS, "GRAS_CL_CNTL": 1}
    first = [DrawCall(99, {"GRAS_CL_CNTL": 0})]
    assert titles(frame(first, good), frame(first, bad)) == [
        "draws p1:0-5: GRAS_CL_CNTL.CLIP_DISABLE: FALSE → TRUE"
    ]


def test_hidden_differences_are_counted_and_shown_on_demand() -> None:
    good, bad = draws(), draws()
    good[0].registers, bad[0].registers = (
        {"VFD_FETCH[0].BASE": 0x1000},
        {"VFD_FETCH[0].BASE": 0x2000},
    )
    one, other = frame(good), frame(bad)
    result = compared(one, other)
    assert result.entries == []
    assert result.hidden["addresses"]["VFD_FETCH[0].BASE"] == 1
    assert titles(one, other, "addresses") == ["draws p0:0-5: VFD_FETCH[0].BASE: 0x1000 → 0x2000"]


def test_barriers() -> None:
    bad = draws()
    bad[3].packets = type7(WAIT)
    assert titles(frame(draws()), frame(bad)) == [
        "CP_WAIT_FOR_IDLE before draw p0:3 is missing in good"
    ]


def test_waits_are_listed_with_marks_where_they_part() -> None:
    good, bad = draws(), draws()
    good[3].packets = [*type7(WAIT) * 9, *type7(MEM_WRITES), *type7(WAIT)]
    bad[3].packets = [*type7(WAIT) * 9, *type7(WAIT), *type7(ME)]
    (entry,) = compared(frame(good), frame(bad)).entries
    assert entry.title == "before draw p0:3: CP_WAIT_MEM_WRITES → CP_WAIT_FOR_ME"
    same = " ".join(["CP_WAIT_FOR_IDLE"] * 3)
    assert entry.differences[0].details == (
        f"good: {same} ... 3 equal ... {same} [CP_WAIT_MEM_WRITES] CP_WAIT_FOR_IDLE",
        f"bad: {same} ... 3 equal ... {same} CP_WAIT_FOR_IDLE [CP_WAIT_FOR_ME]",
    )


def test_long_lists_of_waits_are_marked_in_little_time() -> None:
    good, bad = draws(), draws()
    good[3].packets = [*type7(WAIT), *type7(MEM_WRITES)] * 2000
    bad[3].packets = [*type7(MEM_WRITES), *type7(WAIT)] * 2000
    (entry,) = compared(frame(good), frame(bad)).entries
    assert "another order" in entry.title
    assert all(len(line) < 200_000 for line in entry.differences[0].details)


def constants(values: list[int]) -> list[int]:
    units = len(values) // 4
    return type7(LOAD_FRAG, 1 << 14 | 0xC << 18 | units << 22, 0, 0, *values)


def test_constants_by_word() -> None:
    good, bad = draws(), draws()
    good[2].packets, bad[2].packets = constants([1, 2, 3, 4]), constants([1, 2, 7, 4])
    good[3].packets = bad[3].packets = constants([0, 0, 0, 0])
    (entry,) = compared(frame(good), frame(bad)).entries
    assert entry.title == "draw p0:2: constants FS 0 (offset 0x8): 00000003 → 00000007"


#: Two buffers that constants point at, as drivers of a4xx and a5xx pass uniform buffers.
ONE, OTHER = 0x300000, 0x310000


def with_pointers(*pointers: int, contents: tuple[int, int] = (1, 2)) -> Recording:
    calls = draws()
    calls[2].packets = constants([word for pointer in pointers for word in (pointer, 0)])
    calls[3].packets = constants([0, 0, 0, 0])
    buffers = {ONE: [contents[0]] * 64, OTHER: [contents[1]] * 64}
    return frame(calls, buffers=buffers)


def test_addresses_in_constants_that_are_swapped_are_a_difference() -> None:
    good, bad = with_pointers(ONE, OTHER), with_pointers(OTHER, ONE)
    (entry,) = compared(good, bad).entries
    assert entry.title == ("draw p0:2: constants FS 0 (offset 0x0): 0x300000 → 0x310000 (+1 field)")


def test_addresses_in_constants_of_the_same_contents_are_the_same() -> None:
    good = with_pointers(ONE, OTHER, contents=(7, 7))
    assert titles(good, with_pointers(OTHER, ONE, contents=(7, 7))) == []


def test_another_address_in_constants_is_a_difference() -> None:
    assert titles(with_pointers(ONE, ONE), with_pointers(ONE, OTHER)) == [
        "draw p0:2: constants FS 0 (offset 0x8): 0x300000 → 0x310000"
    ]


def test_vertex_data_of_the_vertices_that_are_drawn() -> None:
    state = (
        write("VFD_CONTROL_0", 1)
        + write("VFD_FETCH[0].BASE", 0x200000, 0)
        + write("VFD_FETCH[0].SIZE", 64)
        + write("VFD_FETCH[0].STRIDE", 4)
    )
    one = [DrawCall(3, packets=state)]
    data = list(range(16))

    def recorded(changed: int) -> object:
        words = [*data[:changed], 77, *data[changed + 1 :]]
        return frame(one, buffers={0x200000: dwords_bytes(words)})

    good = frame(one, buffers={0x200000: dwords_bytes(data)})
    assert titles(good, recorded(2)) == [  # type: ignore[arg-type]
        "draw p0:0: vertex buffer 0 (offset 0x8): 00000002 → 0000004d"
    ]
    assert titles(good, recorded(3)) == []  # type: ignore[arg-type]


#: 4 bytes of buffer 0 a vertex, and of buffer 1 an instance.
FETCHED = (
    write("VFD_CONTROL_0", 2 | 2 << 8)
    + write("VFD_FETCH[0].BASE", 0x200000, 0, 64, 4)
    + write("VFD_FETCH[1].BASE", 0x200040, 0, 64, 4)
    + write("VFD_DECODE[0].INSTR", 0)
    + write("VFD_DECODE[1].INSTR", 1 | 1 << 17)
)


@pytest.mark.parametrize(
    ("vertex", "instance", "changed", "found"),
    first_always(
        [
            (0, 0, 5, ""),
            (5, 0, 5, "0 (offset 0x14)"),
            (5, 0, 7, "0 (offset 0x1c)"),
            (5, 0, 8, ""),
            (5, 0, 4, ""),
            ((1 << 32) - 1, 0, 1, "0 (offset 0x4)"),
            ((1 << 32) - 1, 0, 2, ""),
            (0, 0, 17, ""),
            (0, 1, 17, "1 (offset 0x4)"),
            (0, 1, 16, ""),
            (14, 14, 30, "1 (offset 0x38)"),
        ],
        5,
        names=4,
    ),
)
def test_vertex_data_from_the_first_vertex_and_instance_on(
    vertex: int, instance: int, changed: int, found: str
) -> None:
    """3 vertices of 1 instance; the base of indices, or the first vertex, may be negative."""
    first = write("VFD_INDEX_OFFSET", vertex, instance)
    one = [DrawCall(3, packets=FETCHED + first)]
    data = list(range(32))
    good = frame(one, buffers={0x200000: dwords_bytes(data)})
    data[changed] = 77
    assert titles(good, frame(one, buffers={0x200000: dwords_bytes(data)})) == (
        [f"draw p0:0: vertex buffer {found}: {changed:08x} → 0000004d"] if found else []
    )


def test_addresses_in_constants_are_addresses() -> None:
    good, bad = draws(1), draws(1)
    good[0].packets, bad[0].packets = (
        constants([base, 0, 5, low]) for base, low in ((0x200000, 7), (0x300000, 7))
    )
    buffers = {address: dwords_bytes([1, 2, 3, 4]) for address in (0x200000, 0x300000)}
    result = compared(frame(good, buffers=buffers), frame(bad, buffers=buffers))
    assert not result.differs
    assert dict(result.hidden["addresses"]) == {"constants FS 0": 1}
    (title,) = titles(frame(good, buffers=buffers), frame(bad, buffers=buffers), "addresses")
    assert title.startswith("draw p0:0: constants FS 0 (offset 0x0): 00200000")
    assert titles(frame(good), frame(bad)) != []  # no buffers lie there


def test_barriers_after_the_last_draw() -> None:
    good = frame_bytes(draws())
    bad = frame_bytes(draws(), behind=type7(WAIT))
    assert titles(*(record(open_bytes(data), print) for data in (good, bad))) == [
        "CP_WAIT_FOR_IDLE after draw p0:5 is missing in good"
    ]


def test_constants_that_were_not_captured_are_no_longer_those_before() -> None:
    elsewhere = type7(LOAD_FRAG, 1 << 14 | 2 << 16 | 0xC << 18 | 1 << 22, 0x900000, 0)
    good, bad = draws(4), draws(4)
    good[1].packets, bad[1].packets = constants([1, 2, 3, 4]), constants([1, 2, 7, 4])
    good[2].packets = bad[2].packets = elsewhere
    (title,) = titles(frame(good), frame(bad))
    assert title.startswith("draw p0:1: constants FS 0 (offset 0x8): ")


def test_a_register_that_one_capture_never_writes_is_a_difference() -> None:
    good = [DrawCall(3, {"GRAS_CL_CNTL": 0x80}), DrawCall(6)]
    assert titles(frame(good), frame([DrawCall(3), DrawCall(6)])) == [
        "draws p0:0-1: GRAS_CL_CNTL: 00000080 → not written"
    ]


def test_floats_that_read_the_same_are_shown_with_their_bits() -> None:
    good, bad = ([DrawCall(3, {"RB_BLEND_RED_F32": 0x3F800000 + n})] for n in (0, 1))
    (title,) = titles(frame(good), frame(bad))
    assert title.endswith("1.000000 (0x3f800000) → 1.000000 (0x3f800001)")


def test_a_value_written_behind_the_last_draw_of_a_pass_counts_for_the_next_pass() -> None:
    def passes(value: int) -> list[list[DrawCall]]:
        behind = write("GRAS_SU_CNTL", value)
        return [[DrawCall(3)], [DrawCall(6, packets=behind)], [DrawCall(9)]]

    assert titles(frame(*passes(1)), frame(*passes(1))) == []
    assert len(titles(frame(*passes(1)), frame(*passes(2)))) == 1


def test_where_gmem_is_laid_out_alike_an_offset_in_it_counts() -> None:
    good, bad = ([DrawCall(3, {"RB_DEPTH_BUFFER_BASE_GMEM": n << 12})] for n in (1, 2))
    (title,) = titles(frame(good), frame(bad))
    assert title.startswith("draw p0:0: RB_DEPTH_BUFFER_BASE_GMEM")


def test_fetches_behind_the_number_in_use_are_left_over() -> None:
    def draws(value: int) -> list[DrawCall]:
        return [
            DrawCall(3, {"VFD_CONTROL_0": 0x101, "VFD_DECODE[1].INSTR": value}),
            DrawCall(6, {"VFD_CONTROL_0": 0x202}),
        ]

    assert titles(frame(draws(1)[:1]), frame(draws(2)[:1])) == []
    (title,) = titles(frame(draws(1)), frame(draws(2)))
    assert title.startswith("draw p0:1: VFD_DECODE[1].INSTR")


def test_what_a_program_leaves_behind_follows_from_it() -> None:
    good, bad = draws(), draws()
    bad[1] = DrawCall(8)
    good[1].registers, bad[1].registers = {"VFD_CONTROL_1": 0}, {"VFD_CONTROL_1": 0x80}
    (entry,) = compared(frame(good), frame(bad)).entries
    assert entry.title == "draw p0:1: vertices: 6 → 8"
    assert [one.title.partition(": ")[0] for one in entry.consequences] == ["draws p0:1-5"]


def test_what_is_written_again_is_not_left_behind() -> None:
    good, bad = draws(), draws()
    bad[1] = DrawCall(8)
    for number in (1, 3):
        good[number].registers = {"VFD_CONTROL_1": 0}
        bad[number].registers = {"VFD_CONTROL_1": 0x80}
    titles_of = [one.partition(": ")[0] for one in titles(frame(good), frame(bad))]
    assert titles_of == ["draw p0:1", "draws p0:1-5"]
