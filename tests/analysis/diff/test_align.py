# SPDX-License-Identifier: MIT
"""Alignment of sequences."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.diff import align as module
from cffpy.analysis.diff.align import Pair, align
from cffpy.analysis.diff.recording import Recording
from cffpy.analysis.inputs.recorder import DrawInputs
from tests.analysis.diff.frames import DrawCall, frame


def same(one: int, other: int) -> float:
    return float(one == other)


def plain(left: list[int], right: list[int]) -> list[Pair]:
    return align(left, right, (lambda item: item,), same)


small = st.lists(st.integers(0, 6), max_size=30)


@given(small, small)
def test_pairs_increase_and_cover_both_sides(left: list[int], right: list[int]) -> None:
    pairs = plain(left, right)
    assert [one for one, _ in pairs if one is not None] == list(range(len(left)))
    assert [other for _, other in pairs if other is not None] == list(range(len(right)))
    assert (None, None) not in pairs


@given(small)
def test_equal_sequences_align_fully(items: list[int]) -> None:
    assert plain(items, items) == [(n, n) for n in range(len(items))]


@given(st.lists(st.integers(), min_size=1, max_size=40, unique=True), st.data())
def test_one_that_is_missing_is_found(items: list[int], data: st.DataObject) -> None:
    gone = data.draw(st.integers(0, len(items) - 1))
    rest = items[:gone] + items[gone + 1 :]
    forth, back = plain(items, rest), plain(rest, items)
    assert [pair for pair in forth if None in pair] == [(gone, None)]
    assert back == [(other, one) for one, other in forth]


@given(small, small)
def test_equal_items_are_paired_as_often_as_a_longest_common_run_allows_at_the_ends(
    left: list[int], right: list[int]
) -> None:
    pairs = plain([*left, 100, 101], [*right, 100, 101])
    assert pairs[-2:] == [(len(left), len(right)), (len(left) + 1, len(right) + 1)]


def test_a_finer_key_decides_among_items_that_a_coarser_one_takes_for_equal() -> None:
    left = [("a", 1), ("a", 2), ("a", 3)]
    right = [("a", 1), ("a", 3)]
    keys = (lambda item: item, lambda item: item[0])
    pairs = align(left, right, keys, lambda one, other: float(one[0] == other[0]))
    assert pairs == [(0, 0), (1, None), (2, 1)]


def test_a_changed_item_stays_opposite_its_counterpart() -> None:
    alike = {(10, 11): 0.6, (20, 21): 0.6}
    pairs = align(
        [1, 10, 20, 2], [1, 5, 11, 21, 2], (lambda item: item,), lambda a, b: alike.get((a, b), 0)
    )
    assert pairs == [(0, 0), (None, 1), (1, 2), (2, 3), (3, 4)]


def test_items_that_are_nothing_alike_are_no_counterparts() -> None:
    assert plain([1], [2]) == [(0, None), (None, 0)]


def test_work_is_bounded_where_nothing_is_equal() -> None:
    count = 3000
    assert count * (count - 1) > module._MAX_CELLS
    started = time.process_time()
    pairs = align(range(count), range(count - 1), (lambda item: -item * item,), lambda a, b: 0.0)
    assert len(pairs) == len(set(pairs))
    pairs = align(
        [(0, n) for n in range(count)],
        [(1, n) for n in range(count - 1)],
        (lambda item: item,),
        lambda a, b: 0.5,
    )
    assert len(pairs) == count
    assert time.process_time() - started < 5


@pytest.mark.slow
@given(st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(0, 5), max_size=6))
def test_draws_are_aligned_alike_with_and_without_their_states(
    left: list[int], right: list[int]
) -> None:
    """Where all draws are recognised by their own content, their state is not read."""
    sides = [
        frame([DrawCall(3 * number + 3, {"GRAS_CL_CNTL": at & 1}) for at, number in enumerate(of)])
        for of in (left, right)
    ]
    check_aligned_as_with_states(*sides)


def check_aligned_as_with_states(good: Recording, bad: Recording) -> int:
    """Returns for how many passes no state was read."""
    keys = module.DrawKeys(good), module.DrawKeys(bad)
    passes = [[side.of(one) for one in side.passes.passes] for side in (good, bad)]
    pairs = list(zip(*passes, strict=False))
    found, spared = [], 0
    for pair in pairs:
        for of in keys:
            vars(of).pop("state", None)
        found.append(module.align_draws(*pair, keys, module.Cells()))
        spared += "state" not in vars(keys[0])
    own = {id(one): of.own[order] for of in keys for order, one in of.recording.records.items()}
    state = {id(one): of.state[order] for of in keys for order, one in of.recording.records.items()}

    def likeness(one: DrawInputs, other: DrawInputs) -> float:
        is_same = own[id(one)] == own[id(other)]
        return 1.0 if is_same else module._draw_likeness(one, other)

    by = (lambda one: (own[id(one)], state[id(one)])), (lambda one: own[id(one)])
    for (mine, theirs), aligned in zip(pairs, found, strict=True):
        assert aligned == [
            (None if one is None else mine[one], None if other is None else theirs[other])
            for one, other in align(mine, theirs, by, likeness)
        ]
    return spared


STATE = ("GRAS_SU_CNTL", "RB_DEPTH_CNTL", "GRAS_CL_CNTL")

DRAWS = st.lists(
    st.tuples(
        st.sampled_from((3, 3, 3, 6)), st.dictionaries(st.sampled_from(STATE), st.integers(0, 2))
    ),
    max_size=6,
)

CHANGES = st.lists(
    st.tuples(st.integers(0, 17), st.sampled_from((None, *STATE)), st.integers(0, 2)), max_size=3
)


@pytest.mark.slow
@given(st.lists(DRAWS, min_size=1, max_size=3), CHANGES)
def test_draws_of_one_mesh_are_aligned_by_their_states(
    passes: list[list[tuple[int, dict[str, int]]]], changes: list[tuple[int, str | None, int]]
) -> None:
    """Of several passes; one capture lacks some draws, and has other state at some."""
    others = [[(vertices, dict(state)) for vertices, state in draws] for draws in passes]
    for at, name, value in changes:
        draws = others[at % len(others)]
        if draws and name is None:
            del draws[at % len(draws)]
        elif draws and name is not None:
            draws[at % len(draws)][1][name] = value
    check_aligned_as_with_states(*(frame(*(_calls(of) for of in one)) for one in (passes, others)))


def _calls(draws: list[tuple[int, dict[str, int]]]) -> list[DrawCall]:
    return [DrawCall(vertices, state) for vertices, state in draws]


@pytest.mark.parametrize(
    ("changed", "spared"), [({}, 3), ({0: 1}, 2), ({4: 1}, 2), ({5: 1, 6: 0}, 2), ({0: 1, 5: 2}, 1)]
)
def test_state_is_read_only_where_writes_differ(changed: dict[int, int], spared: int) -> None:
    """A counter. Three passes of four equal draws; some write other state in one capture."""
    sides = []
    for state in ({0: 0}, {0: 0, **changed}):
        calls = [
            DrawCall(3, {"GRAS_SU_CNTL": state[at]} if at in state else {}) for at in range(12)
        ]
        sides.append(frame(calls[:4], calls[4:8], calls[8:]))
    assert check_aligned_as_with_states(*sides) == spared
