# SPDX-License-Identifier: MIT
"""Which entries of a draw stream are which draw's, where packets have a range of entries."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.visibility import Spans
from cffpy.frame.passes import StreamDraw


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
