# SPDX-License-Identifier: MIT
"""Entries of visibility streams: which draws have some, how many, what is known of them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.visibility import Spans
from cffpy.frame.passes import StreamDraw
from tests import binned
from tests.analysis.reading import findings, read
from tests.binned import Binned, draw, multi_draw
from tests.builders import type4, type7


@pytest.mark.parametrize(
    ("packet", "primitives"),
    [
        (draw(7, binned.POINTS), 7),
        (draw(7, binned.LINES), 3),
        (draw(7, binned.LINE_STRIP), 6),
        (draw(7), 2),
        (draw(7, binned.FAN), 5),
        (draw(7, binned.STRIP), 5),
        (draw(7, binned.STRIP, indexed=True), 5),
        (draw(7, binned.RECTANGLES), None),
        (draw(7, 0x21), None),  # patches
        (draw(7, flags=1 << 16), None),  # geometry shader
        (draw(7, flags=1 << 17), None),  # tessellation
    ],
)
def test_primitives_of_a_draw(packet: list[int], primitives: int | None) -> None:
    found = read(Binned(draws=packet))
    (noted,) = found.pass_._stream_draws
    assert noted[1:] == (1, 1, 1, primitives)


def test_draws_of_which_little_is_known() -> None:
    restart = Binned(draws=draw(7, binned.STRIP, indexed=True), state=type4(0x9B00, 1))
    assert read(restart).pass_._stream_draws[0][1:] == (1, 1, 1, None)
    views = Binned(draws=draw(9), state=type4(0x9B07, 1 | 2 << 2))
    assert read(views).pass_._stream_draws[0][1:] == (1, 1, None, None)
    empty = Binned(draws=draw(0) + draw(9, instances=0) + draw(2))
    assert [noted[1:3] for noted in read(empty).pass_._stream_draws] == [(0, 1)] * 3
    many = Binned(draws=multi_draw(12) + multi_draw(5, 6))
    assert [noted[1:3] for noted in read(many).pass_._stream_draws] == [(0, 12), (0, 5)]
    predicate = type7(binned.DRAW_PREDICATE, 1)
    predicated = Binned(draws=predicate + draw(9))
    assert [noted[1:] for noted in read(predicated).pass_._stream_draws] == [(0, 1, 1, 3)]


def test_draws_that_do_not_go_by_streams_have_no_entry() -> None:
    found = read(
        Binned(
            draws=draw(9) + draw(2, binned.RECTANGLES, visibility=0) + draw(6, visibility=1),
            visibility=[[[[(1, 3)]], [[(2, 2)]]]],
        )
    )
    assert findings(found) == []
    assert [one.primitives for one in found.tiles] == [{0: 3}, {1: 2}, {}, {}]


def test_a_rectangle_of_the_driver_has_an_entry_but_is_no_draw_of_the_program() -> None:
    found = read(
        Binned(
            draws=draw(2, binned.RECTANGLES) + draw(9),
            visibility=[[[[(15, 1)]], [[(1, 3)]]]],
        )
    )
    assert findings(found) == []
    assert [one.primitives for one in found.tiles] == [{0: 3}, {}, {}, {}]


def test_entries_of_a_multi_draw_belong_to_one_draw() -> None:
    found = read(
        Binned(
            draws=draw(9) + multi_draw(3) + draw(9),
            visibility=[[[[(1, 3)]], [[(1, 4)]], [[(0, 4)]], [[(1, 2), (2, 3)]], [[(0, 3)]]]],
        )
    )
    assert findings(found) == []
    assert (found.least_entries, found.most_entries) == (2, 5)
    assert [one.primitives for one in found.tiles] == [{0: 3, 1: 6}, {1: 3}, {}, {}]


def test_what_cannot_be_told_apart_is_not_known() -> None:
    """Two draws that may have been skipped, one entry: it cannot be assigned."""
    found = read(
        Binned(
            draws=draw(9) + multi_draw(1) + multi_draw(1),
            visibility=[[[[(1, 3)]], [[(2, 2)]]]],
        )
    )
    assert findings(found) == []
    assert found.pipes[0].fits is True
    assert {one.tile.number: [*one.primitives] for one in found.tiles} == {0: [0], 2: [], 3: []}


def packets(*ranges, **more) -> list[StreamDraw]:
    """Draws by their least and most entries."""
    return [
        StreamDraw(None, least, most, more.get("instances"), more.get("primitives"))
        for least, most in ranges
    ]


def test_one_entry_each() -> None:
    spans = Spans(packets((1, 1), (1, 1), (1, 1)), 3)
    assert spans.fits
    assert spans.known == [(0, 1, 0), (1, 2, 1), (2, 3, 2)]
    assert spans.draw_at(2) is spans.draws[2]
    assert spans.draw_at(3) is None
    for entries in (0, 2, 4):
        other = Spans(packets((1, 1), (1, 1), (1, 1)), entries)
        assert not other.fits
        assert other.known == []
        assert other.draw_at(0) is None


def test_the_total_settles_one_range() -> None:
    spans = Spans(packets((1, 1), (0, 9), (1, 1)), 6)
    assert spans.known == [(0, 1, 0), (1, 5, 1), (5, 6, 2)]
    assert [spans.draw_at(entry) is spans.draws[1] for entry in range(6)] == [
        False,
        *[True] * 4,
        False,
    ]
    assert Spans(packets((1, 1), (0, 9), (1, 1)), 2).known == [(0, 1, 0), (1, 2, 2)]


def test_what_stays_open_between_two_ranges() -> None:
    spans = Spans(packets((1, 1), (0, 1), (1, 1), (0, 1), (1, 1)), 4)
    assert spans.known == [(0, 1, 0), (3, 4, 4)]
    assert spans.draw_at(1) is spans.draw_at(2) is None
    assert spans.limited == 5


def test_without_a_limit() -> None:
    spans = Spans(packets((1, 1), (0, None), (1, 1)), 1000)
    assert spans.fits
    assert spans.limited is None
    assert spans.known == [(0, 1, 0), (1, 999, 1), (999, 1000, 2)]


def test_counts() -> None:
    draws = packets((1, 1), instances=3, primitives=7) + packets((0, 4), instances=2)
    spans = Spans(draws, 4)
    assert spans.instances(4) == [3, None, None, None]
    assert spans.primitives() is None
    assert Spans(draws, 1).primitives() == 21
    assert Spans([], 0).primitives() == 0


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=5).map(
        lambda ranges: [(least, least + more) for least, more in ranges]
    ),
    st.integers(0, 12),
)
def test_as_trying_all_numbers_of_entries(ranges, entries: int) -> None:
    """A span is known just where every way to share the entries gives the same."""
    spans = Spans(packets(*ranges), entries)
    ways = [
        counts
        for counts in product(*(range(least, most + 1) for least, most in ranges))
        if sum(counts) == entries
    ]
    assert spans.fits == bool(ways)
    wanted = []
    for position in range(len(ranges)):
        found = {(sum(way[:position]), sum(way[: position + 1])) for way in ways}
        if len(found) == 1:
            ((first, end),) = found
            if end > first:
                wanted.append((first, end, position))
    assert spans.known == wanted
