# SPDX-License-Identifier: MIT
"""Comparing only some draws: what is found at them is what a comparison of all finds there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison
from cffpy.analysis.diff.recording import Recording
from cffpy.analysis.diff.rules import RULES
from cffpy.analysis.diff.selection import Chosen
from tests.analysis.diff.frames import DrawCall, frame

DEPTH, CULL, TARGET = "RB_DEPTH_CNTL", "GRAS_CL_CNTL", "RB_MRT[0].BASE"


def compared(
    good: Recording,
    bad: Recording,
    draws: Mapping[int, Set[int]],
    passes: Iterable[int] = (),
    in_bad: Mapping[int, Set[int]] | None = None,
) -> Comparison:
    """The comparison of these draws of each pass. ``in_bad``: those of the bad capture."""
    mine = Chosen("", draws, frozenset(passes))
    theirs = replace(mine, draws=draws if in_bad is None else in_bad)
    sides = replace(good, chosen=mine), replace(bad, chosen=theirs)
    return compare(*sides, frozenset(RULES))


def titles(*arguments: object) -> list[str]:
    return [entry.title for entry in compared(*arguments).entries]  # type: ignore[arg-type]


def numbered(count: int, registers: Mapping[int, Mapping[str, int]]) -> list[DrawCall]:
    """Draws of different sizes, and the registers written for some of them."""
    return [DrawCall(3 * at + 3, registers.get(at, {})) for at in range(count)]


def test_what_was_written_for_other_draws_counts() -> None:
    good = frame(numbered(6, {1: {DEPTH: 5}}))
    bad = frame(numbered(6, {1: {DEPTH: 29}, 4: {DEPTH: 5}}))
    assert titles(good, bad, {0: {0}}) == []
    assert [title.split(": ")[0] for title in titles(good, bad, {0: {0, 2, 3, 5}})] == [
        "draws p0:2-3"
    ]


def test_draws_that_match_in_one_capture_alone_are_compared() -> None:
    good, bad = frame(numbered(3, {1: {DEPTH: 5}})), frame(numbered(3, {1: {DEPTH: 29}}))
    (title,) = titles(good, bad, {}, (), {0: {2}})
    assert title.startswith("draw p0:2: RB_DEPTH_CNTL.ZFUNC")


def test_missing_draws_are_reported_if_they_match() -> None:
    whole = numbered(6, {})
    good, bad = frame(whole), frame([*whole[:2], *whole[4:]])
    assert titles(good, bad, {0: {0, 3}}, (), {0: {0}}) == ["draw p0:3 of good is missing in bad"]
    assert titles(good, bad, {0: {0}}) == []


def test_missing_passes_are_reported_if_they_match() -> None:
    one, two, three = numbered(3, {}), numbered(4, {}), numbered(5, {})
    good, bad = frame(numbered(9, {}), one, two, three), frame(numbered(9, {}))
    assert titles(good, bad, {1: {0}, 3: {0}}) == [
        "pass 1 of good is missing in bad (render, sysmem, 3 draws)",
        "pass 3 of good is missing in bad (render, sysmem, 5 draws)",
    ]
    result = compared(good, bad, {0: {0}})
    assert not result.differs
    assert [pair.good and pair.good.index for pair in result.pairs] == [0]


def test_passes_as_wholes_only_where_the_filter_is_about_passes() -> None:
    def sized(value: int) -> Recording:
        corners = {"GRAS_SC_WINDOW_SCISSOR_TL": 0, "GRAS_SC_WINDOW_SCISSOR_BR": value}
        return frame(numbered(3, {0: corners}))

    good, bad = sized(0x00FF00FF), sized(0x00FF007F)
    every = {0: {0, 1, 2}}
    assert any(title.startswith("pass 0: ") for title in titles(good, bad, every, [0]))
    assert not any(title.startswith("pass 0: ") for title in titles(good, bad, every))


def test_difference_at_the_first_draw_that_matches_is_not_reported_at_an_earlier_pass() -> None:
    def two_passes(value: int) -> Recording:
        return frame(numbered(2, {0: {CULL: value}}), numbered(3, {}))

    good, bad = two_passes(0x40), two_passes(0x41)
    assert [title.split(": ")[0] for title in titles(good, bad, {1: {1}})] == ["draw p1:1"]


VALUES = st.dictionaries(
    st.integers(0, 7),
    st.fixed_dictionaries(
        {},
        optional={
            DEPTH: st.sampled_from((1, 5, 29)),
            CULL: st.sampled_from((0x40, 0x41)),
            TARGET: st.sampled_from((0x100000, 0x200000, 0x300000)),
        },
    ),
    max_size=6,
)


def found(result: Comparison) -> set[tuple[str, str, str, int]]:
    """Name and both values of each difference at each draw, folded ones included."""
    pending = list(result.entries)
    points: set[tuple[str, str, str, int]] = set()
    for entry in pending:
        pending.extend(entry.consequences)
        for extent in () if entry.has_parts else entry.extents:
            if extent.first is not None and extent.last is not None:
                points.update(
                    (one.name, one.good, one.bad, draw)
                    for one in entry.differences
                    for draw in range(extent.first, extent.last + 1)
                )
    return points


@pytest.mark.slow
@settings(deadline=None)
@given(VALUES, VALUES, st.sets(st.integers(0, 7)))
def test_some_draws_differ_as_they_do_among_all(
    mine: dict[int, dict[str, int]], theirs: dict[int, dict[str, int]], some: set[int]
) -> None:
    good, bad = frame(numbered(8, mine)), frame(numbered(8, theirs))
    every = found(compared(good, bad, {0: set(range(8))}))
    assert found(compared(good, bad, {0: some})) == {one for one in every if one[3] in some}
