# SPDX-License-Identifier: MIT
"""Which draws of a binning run have entries in its streams, how many, and what is known of them."""

from __future__ import annotations

import pytest

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
    (noted,) = found.pass_.stream_draws
    assert noted[1:] == (1, 1, 1, primitives)


def test_draws_of_which_little_is_known() -> None:
    restart = Binned(draws=draw(7, binned.STRIP, indexed=True), state=type4(0x9B00, 1))
    assert read(restart).pass_.stream_draws[0][1:] == (1, 1, 1, None)
    views = Binned(draws=draw(9), state=type4(0x9B07, 1 | 2 << 2))
    assert read(views).pass_.stream_draws[0][1:] == (1, 1, None, None)
    empty = Binned(draws=draw(0) + draw(9, instances=0) + draw(2))
    assert [noted[1:3] for noted in read(empty).pass_.stream_draws] == [(0, 1)] * 3
    many = Binned(draws=multi_draw(12) + multi_draw(5, 6))
    assert [noted[1:3] for noted in read(many).pass_.stream_draws] == [(0, 12), (0, 5)]
    predicate = type7(binned.DRAW_PREDICATE, 1)
    predicated = Binned(draws=predicate + draw(9))
    assert [noted[1:] for noted in read(predicated).pass_.stream_draws] == [(0, 1, 1, 3)]


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
