# SPDX-License-Identifier: MIT
"""What a draw stream says draw by draw, with and without instance counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.errors import VisibilityStreamError
from cffpy.vsc.draw_stream import DrawPacket, decode, encode, pack
from cffpy.vsc.pipe import InstanceRun, PrimitivePlace, expand
from tests.vsc.streams import DRAW_STREAMS, DRAWS, drain

INSTANCED = [DrawPacket(3, 1, 2, 0), DrawPacket(0, 0, 2, 10)]  # the document's: 10 and 1 instances


def test_the_instanced_draw_of_the_document() -> None:
    visible = InstanceRun(0, 1, 0, 1, 3, PrimitivePlace(0, 2), False, 0)
    behind = InstanceRun(1, 1, 0, 1, 0, None, True, 10)
    known = list(expand(INSTANCED, [10, 1]))
    assert known == [visible, InstanceRun(0, 1, 1, 9, 0, None, True, 10), behind]
    unknown = list(expand(INSTANCED))
    assert unknown == [visible, InstanceRun(0, 1, 1, None, 0, None, True, 10), behind]
    assert list(expand(INSTANCED, [None, None])) == unknown


def test_some_instances_are_skipped_and_the_draw_goes_on() -> None:
    packets = [DrawPacket(1, 1, 3), DrawPacket(0, 1, 4), DrawPacket(2, 0, 1), DrawPacket(1, 0, 1)]
    for counts in (None, [6, 1], [None, 1]):
        runs = list(expand(packets, counts))
        assert [(run.draw, run.first, run.instances, run.bins) for run in runs] == [
            (0, 0, 1, 1),
            (0, 1, 4, 0),
            (0, 5, 1, 2),
            (1, 0, 1, 1),
        ]
        assert [run.place for run in runs] == [(0, 3), None, (3, 1), (4, 1)]
        assert [run.ends_draw for run in runs] == [False, False, True, True]


def test_without_instances_a_number_counts_draws() -> None:
    runs = list(expand([DrawPacket(0, 0, 5), DrawPacket(1, 0, 1)], [1] * 6))
    assert [(run.draw, run.draws) for run in runs] == [(0, 1), (1, 4), (5, 1)]
    assert all(run.instances == 1 for run in runs)


def test_few_packets_skip_many_draws() -> None:
    many = (1 << 32) - 1
    runs = list(expand([DrawPacket(0, 0, many)] * 3))
    assert len(runs) == 6
    assert runs[-1].draw + runs[-1].draws == 3 * many


@pytest.mark.parametrize(
    ("packets", "counts", "message"),
    [
        ([(1, 0, 1)], [2], "draw 0, instance 0: this is the last instance, but the draw has 2"),
        ([(1, 1, 1)], [1], "draw 0, instance 0: more instances follow, but the draw has 1"),
        ([(1, 0, 1)], [0], "draw 0, instance 0: this is the last instance, but the draw has 0"),
        (
            [(1, 1, 1), (0, 1, 3)],
            [4],
            "draw 0, instance 1: 3 instances are empty and more follow, but the draw has 4",
        ),
        ([(0, 0, 2)], [4, 3], "draw 1 is skipped with those before it, but has 3 instances"),
        ([(0, 0, 3)], [4, 1], "draws 1 to 2 are empty, but there are 2"),
        ([(0, 0, 1), (1, 0, 1)], [1], "the stream continues with draw 1, but there are 1"),
        ([(0, 0, 1)], [1, 1], "the stream ends after 1 of 2 draws"),
        ([], [1], "the stream ends after 0 of 1 draws"),
        ([(1, 1, 1)], None, "the stream ends inside draw 0, after 1 instances"),
        ([(0, 1, 7)], [None], "the stream ends inside draw 0, after 7 instances"),
    ],
)
def test_what_does_not_agree(packets, counts, message: str) -> None:
    packets = [DrawPacket(*packet, 8 * at) for at, packet in enumerate(packets)]
    with pytest.raises(VisibilityStreamError) as caught:
        list(expand(packets, counts))
    assert caught.value.reason == message
    assert caught.value.bit_offset == (packets[-1].offset if packets else 0)


def test_a_draw_of_no_instances_is_an_empty_one() -> None:
    runs = list(expand([DrawPacket(0, 0, 3)], [0, 0, 1]))
    assert [(run.draw, run.draws, run.instances) for run in runs] == [(0, 1, 0), (1, 2, 1)]


def test_what_is_before_a_disagreement_is_given() -> None:
    runs = expand([DrawPacket(1, 0, 1), DrawPacket(0, 0, 2)], [1, 1, 2])
    assert next(runs).bins == 1
    assert next(runs).draw == 1
    with pytest.raises(VisibilityStreamError):
        next(runs)


@given(DRAWS)
def test_draws_come_back(stream) -> None:
    """Draws to packets, to bytes, and back to draws; with the counts nothing is lost."""
    bin_count, draws = stream
    packets = decode(encode(pack(draws), bin_count), bin_count)
    again: list[list[tuple[int, int]]] = []
    dwords = 0
    for run in expand(packets, [len(draw) for draw in draws]):
        if not run.first:
            assert run.draw == len(again)
            again += [[] for _ in range(run.draws)]
        assert run.first == len(again[-1])
        size = 0
        if run.place is not None:
            size = run.place.size
            assert run.place.offset == dwords
            dwords += size
        for draw in again[run.draw :]:
            draw += [(run.bins, size)] * run.instances
        assert run.ends_draw == (len(again[run.draw]) == len(draws[run.draw]))
    assert again == [[(bins, size if bins else 0) for bins, size in draw] for draw in draws]


@given(DRAWS)
def test_without_counts_only_counts_are_missing(stream) -> None:
    _, draws = stream
    counts = [len(draw) for draw in draws]
    packets = list(pack(draws))
    for known, said in zip(expand(packets, counts), expand(packets), strict=True):
        if said.instances is None:
            assert known.ends_draw
            assert not known.bins
        else:
            assert said.instances == known.instances
        assert said._replace(instances=0) == known._replace(instances=0)


@given(DRAW_STREAMS, st.none() | st.lists(st.none() | st.integers(0, 5)))
def test_any_packets_and_counts(stream, counts) -> None:
    runs, _ = drain(expand(stream[1], counts))
    draw = instance = 0
    for run in runs:  # without gaps, one after the other
        assert (run.draw, run.first) == (draw, instance)
        draw, instance = (
            (draw + run.draws, 0) if run.ends_draw else (draw, instance + run.instances)
        )
    if counts is not None:
        assert draw <= len(counts)
