# SPDX-License-Identifier: MIT
"""Alignment of passes: which have counterparts, which are missing, inserted, moved, cut short."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cffpy
from cffpy.analysis.diff.align import DrawKeys, best_pairs
from cffpy.analysis.diff.pass_alignment import align_passes
from cffpy.analysis.diff.recording import Recording, record
from cffpy.container.open import open_bytes, open_capture
from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.writer import NewSection, capture_bytes
from tests.analysis.diff.frames import compared
from tests.analysis.passes.marked import bins, sysmem, targets, tile
from tests.analysis.passes.streams import Streams
from tests.selection import first_always

NewStreams = Callable[[list[NewSection]], list[NewSection]]


def capture(shared: Path, name: str) -> Path:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    return path


def recorded(data: bytes) -> Recording:
    return record(open_bytes(data), lambda line: None)


def titles(good: bytes, bad: bytes) -> list[str]:
    return [entry.title for entry in compared(recorded(good), recorded(bad)).entries]


def in_order(path: Path, change: NewStreams) -> bytes:
    """The capture with all buffers first, then its command streams as ``change`` returns them."""
    sections = [
        NewSection(one.type, bytes(one.payload))
        for one in iter_sections(open_capture(str(path)).data)
    ]
    streams = [one for one in sections if one.type == SectionType.CMDSTREAM_ADDR]
    others = [one for one in sections if one.type != SectionType.CMDSTREAM_ADDR]
    first = sections.index(streams[0])
    return capture_bytes([*others[:first], *change(streams), *others[first:]])


#: Captures of drivers that have a stream for each pass at the beginning.
STREAMS = first_always(
    [
        "a740-gl-passes",
        "a220-gl-passes",
        "a330-gl-inst-mrt",
        "a430-gl-passes-restore",
        "a540-gl-indirect",
        "a630-gl-scene150-gmem",
    ],
    count=2,
)


@pytest.mark.parametrize("name", STREAMS)
def test_a_pass_that_is_removed_inserted_or_moved(shared: Path, name: str) -> None:
    path = capture(shared, name)
    whole = in_order(path, lambda streams: streams)
    gone = in_order(path, lambda streams: [*streams[:3], *streams[4:]])
    twice = in_order(path, lambda streams: [*streams[:4], *streams[3:]])
    moved = in_order(path, lambda streams: [*streams[:3], *streams[4:9], streams[3], *streams[9:]])
    assert [re.sub(r" \(.*", "", one) for one in titles(whole, gone)] == [
        "pass 3 of good is missing in bad"
    ]
    assert [re.sub(r" \(.*", "", one) for one in titles(gone, whole)] == [
        "pass 3 of bad is missing in good"
    ]
    assert [re.sub(r" \(.*", "", one) for one in titles(whole, twice)] == [
        "pass 4 of bad is missing in good"
    ]
    assert [re.sub(r"(, with other state)? \(.*", "", one) for one in titles(whole, moved)] == [
        "pass 3 of good has moved: it is pass 8 of bad"
    ]


@pytest.mark.parametrize(
    ("name", "number"),
    first_always(
        [
            *(("a660-gl-scene-msaa4-1080p", number) for number in (4, 2, 3, 5, 6, 7, 8, 11)),
            *(("a740-gl-passes", number) for number in range(2, 9)),
            *(("a630-gl-scene150-gmem", number) for number in range(2, 9)),
        ],
        names=2,
    ),
)
def test_a_mip_blit_that_is_removed(shared: Path, name: str, number: int) -> None:
    """Each level of a texture is a pass with one blit; the passes differ in what they copy."""
    good = cffpy.open(str(capture(shared, name)))
    data = cffpy.edit(good, nop_draws=[f"p{number}:0"])
    (entry,) = compared(good._source.recording, recorded(data)).entries
    assert entry.title == f"pass {number} of good is missing in bad (transfer, 1 draw)"


@pytest.mark.parametrize(
    ("name", "number", "last"),
    first_always(
        [
            ("a660-vk-passes-gmem", 2, 14),
            ("a660-vk-passes-gmem", 1, 8),
            ("a730-vk-frame-720p", 2, 28),
            ("a635-vk-frame-720p", 1, 14),
            ("a740-gl-passes", 35, 17),
            ("a430-gl-passes-restore", 24, 7),
            ("a220-gl-passes", 26, 17),
        ],
        names=3,
    ),
)
def test_a_capture_that_ends_amid_a_pass(shared: Path, name: str, number: int, last: int) -> None:
    """The rest of the pass is missing, and the passes that follow; not another pass instead."""
    good = cffpy.open(str(capture(shared, name)))
    count, passes = len(good.passes[number].draws), len(good.passes)
    data = cffpy.edit(good, truncate_after=f"p{number}:{last}")
    entries = compared(good._source.recording, recorded(data)).entries
    assert entries[0].title == (
        f"draws p{number}:{last + 1}-{count - 1} of good are missing in bad"
    )
    rest = f"{number + 1}-{passes - 1}"
    assert entries[1].title.startswith(f"passes {rest} of good are missing in bad (")
    assert not any(" is missing" in entry.title for entry in entries)


def binned(width: int) -> bytes:
    """Two passes with binning runs; ``width``: of the bins, in pixels, in the first run."""
    s = Streams(660)
    code: list[int] = []
    for number in range(2):
        draws = s.ib(targets(s), *(s.draw(3 * at + 3) for at in range(2 + number)))
        code += [
            *s.marker("RM6_BIN_VISIBILITY"),
            *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 256, 96),
            *bins(s, width if number == 0 else 128, 96, "BINNING_PASS"),
            *draws,
            *tile(s, 0, 0, 128, 96, draws),
            *tile(s, 128, 0, 128, 96, draws),
        ]
    return s.capture([[code]])


def test_other_bins_in_a_binning_run_do_not_make_a_pass_of_it() -> None:
    good, bad = binned(128), binned(64)
    assert [len(one.passes.passes) for one in (recorded(good), recorded(bad))] == [2, 2]
    assert titles(good, bad) == ["draws p0:0-1, binning run: RB_BIN_CONTROL.BINW: 128 → 64"]


def test_addresses_decide_among_passes_with_equal_contents() -> None:
    """Six times the same draws, each time to another place."""

    def frames(bases: list[int]) -> bytes:
        s = Streams(660)
        code: list[int] = []
        for base in bases:
            code += sysmem(s, s.address("RB_MRT[0].BASE", base), s.draw(3))
        return s.capture([[code]])

    bases = [0x1_0010_0000 + 0x10000 * number for number in range(6)]
    (entry,) = compared(recorded(frames(bases)), recorded(frames([*bases[:2], *bases[3:]]))).entries
    assert entry.title == "pass 2 of good is missing in bad (render, sysmem, 1 draw)"


def test_passes_that_begin_with_another_buffer_of_several_are_counterparts_in_order() -> None:
    """Frames to buffers in turn, of which the second capture begins with the next one."""

    def frames(start: int) -> bytes:
        s = Streams(660)
        code: list[int] = []
        for number in range(start, start + 5):
            base = 0x1_0010_0000 + 0x10000 * (number % 3)
            code += sysmem(s, s.address("RB_MRT[0].BASE", base), s.draw(3))
        return s.capture([[code]])

    pairs = compared(recorded(frames(0)), recorded(frames(1))).pairs
    assert [(one.good and one.good.index, one.bad and one.bad.index) for one in pairs] == [
        (number, number) for number in range(5)
    ]


@given(
    st.lists(st.integers(0, 3), max_size=8),
    st.lists(st.integers(0, 3), max_size=8),
    st.sampled_from((0.0, 0.03125)),
)
def test_the_best_pairs(left: list[int], right: list[int], opening: float) -> None:
    """No other pairing in order has a greater sum, less the cost of runs without counterparts."""
    likeness = {(one, other): 1 - abs(one - other) / 4 for one in range(4) for other in range(4)}

    def value(pairs: list[tuple[int | None, int | None]]) -> float:
        total, in_run = 0.0, False
        for one, other in pairs:
            if one is not None and other is not None:
                total += likeness[left[one], right[other]]
            elif not in_run:
                total -= opening
            in_run = one is None or other is None
        return total

    def all_pairings(one: int, other: int) -> list[list[tuple[int | None, int | None]]]:
        if one == len(left) or other == len(right):
            rest: list[tuple[int | None, int | None]] = [(n, None) for n in range(one, len(left))]
            return [[*rest, *((None, n) for n in range(other, len(right)))]]
        found = [[(one, None), *rest] for rest in all_pairings(one + 1, other)]
        found += [[(None, other), *rest] for rest in all_pairings(one, other + 1)]
        if likeness[left[one], right[other]] >= 0.3:
            found += [[(one, other), *rest] for rest in all_pairings(one + 1, other + 1)]
        return found

    left, right = left[:4], right[:4]
    ones, others = range(len(left)), range(len(right))
    pairs = best_pairs(ones, others, lambda one, other: likeness[left[one], right[other]], opening)
    assert value(pairs) == max(map(value, all_pairings(0, 0)))


def passes(first: int, count: int) -> Recording:
    """Passes that draw ``first`` triangles, one more, and so on."""
    s = Streams(660)
    code: list[int] = []
    for number in range(count):
        code += sysmem(s, s.draw(3 * (first + number)), width=16 + number % 7 * 16)
    return recorded(s.capture([[code]]))


@pytest.mark.parametrize(("mine", "theirs"), [(500, 510), (700, 600)])
def test_the_alignment_of_many_passes_is_bounded(mine: int, theirs: int) -> None:
    """Passes of which none draws what another draws: all pairs, and more than are looked at."""

    good, bad = passes(1, mine), passes(5001, theirs)
    start = time.process_time()
    pairs = align_passes(DrawKeys(good), DrawKeys(bad))
    assert time.process_time() - start < 10
    assert sum(one.good is not None for one in pairs) == mine
    assert sum(one.bad is not None for one in pairs) == theirs
