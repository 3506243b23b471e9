# SPDX-License-Identifier: MIT
from __future__ import annotations

from cffpy.analysis.diff.model import Extent
from cffpy.views.diff_html.passes import PairMarks, anchor, draw_runs, pair_marks
from tests.views.diff_html.comparisons import comparison, entry, paired, render_pass


def rows(marks: PairMarks, missing: int | None = None) -> list[tuple[object, ...]]:
    pair = paired(render_pass(0, 10), render_pass(0, 10), missing)
    return [
        (
            [action.number for action in run.good],
            [action.number for action in run.bad],
            [mark.label for mark in run.marks],
        )
        for run in draw_runs(pair, marks)
    ]


def test_draws_that_the_same_entries_touch_are_one_run() -> None:
    inner = entry("b", at=(Extent(0, 0, 4, 6),))
    outer = entry("a", at=(Extent(0, 0, 2, 4), Extent(0, 0, 8, 8)), consequences=[inner])
    marks = pair_marks([outer])[0, 0]
    assert rows(marks) == [
        ([0, 1], [0, 1], []),
        ([2, 3], [2, 3], ["1"]),
        ([4], [4], ["1", "1.1"]),
        ([5, 6], [5, 6], ["1.1"]),
        ([7], [7], []),
        ([8], [8], ["1"]),
        ([9], [9], []),
    ]


def test_missing_draws_are_runs_of_their_own() -> None:
    marks = pair_marks([entry("a", at=(Extent(0, 0, 3, 3),))])[0, 0]
    assert rows(marks, missing=3) == [
        ([0, 1, 2], [0, 1, 2], []),
        ([3], [], ["1"]),
        ([4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8], []),
    ]


def test_draws_of_bad_alone_are_marked_by_numbers_of_bad() -> None:
    pair = paired(render_pass(0, 3), render_pass(0, 2), missing=2)
    pair.draws = [(theirs, mine) for mine, theirs in pair.draws]
    marks = pair_marks([entry("a", at=(Extent(0, 0, 2, 2, True), Extent(0, 0, 0, 0)))])[0, 0]
    found = [(len(run.good), len(run.bad), len(run.marks)) for run in draw_runs(pair, marks)]
    assert found == [(1, 1, 1), (1, 1, 0), (0, 1, 1)]


def test_whole_passes_and_passes_without_counterpart() -> None:
    result = comparison()
    marks = pair_marks(result.entries)
    assert marks[2, None].whole == ["1"]
    assert marks[1, 1].whole == ["2.2"]
    (run,) = draw_runs(result.pairs[2], marks[2, None])
    assert (len(run.good), run.bad) == (3, [])


def test_marks_of_a_pair_are_bounded_and_counted() -> None:
    many = [entry("a", at=(Extent(0, 0, 0, 9),)) for _ in range(1000)]
    marks = pair_marks(many)[0, 0]
    assert len(marks.draws) + marks.dropped == 1000
    assert marks.dropped > 0
    assert len(rows(marks)) == 1


def test_anchor() -> None:
    assert anchor("3.12") == "entry-3-12"
