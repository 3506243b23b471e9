# SPDX-License-Identifier: MIT
"""Passes of turnip of October 2025 on a7xx: pipes BR and BV, binning markers of sysmem passes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cffpy.frame.geometry import Size
from cffpy.views.passes import title
from tests.analysis.passes.marked import OTHER, bins, only, sysmem, targets, tile
from tests.analysis.passes.streams import Streams

BR, BV, BOTH, DISABLE = 1, 2, 3, 1 << 27
#: The predicate of concurrent binning: bit 2; a comparison of registers, which only the GPU knows.
TEST, ELSEWHERE = (0x82000000, 4, 4), 2 << 28 | 1 << 24


def thread(s: Streams, pipe: int) -> list[int]:
    return s.packet("CP_THREAD_CONTROL", pipe)


def concurrent(s: Streams) -> list[int]:
    """The begin of a pass that bins concurrently."""
    begun = [*thread(s, BOTH), *s.packet("CP_MODIFY_TIMESTAMP", 0x20000001)]
    return [*begun, *s.packet("CP_REG_TEST", *TEST), *thread(s, BV)]


def decided(s: Streams) -> list[int]:
    """BV is turned off where it is not ahead."""
    test = [*s.packet("CP_REG_TEST", 0x82000000, 4, 0), *turned_off(s)]
    return [*concurrent(s), *s.packet("CP_COND_REG_EXEC", ELSEWHERE, 1, len(test)), *test]


def turned_off(s: Streams) -> list[int]:
    return [*thread(s, BR | DISABLE)]


def empty_binning(s: Streams) -> list[int]:
    """What stands in front of a sysmem pass: LRZ is cleared, by BV if concurrently."""
    clear = [
        *s.address("GRAS_LRZ_BUFFER_BASE", OTHER),
        *s.raw("GRAS_LRZ_DEPTH_VIEW", 0),
        *s.event("LRZ_CLEAR"),
    ]
    end = s.packet("CP_SET_MARKER", 0xF)  # RM7_BIN_VISIBILITY_END
    return [*s.marker("RM6_BIN_VISIBILITY"), *clear, *end, *thread(s, BR)]


def binning(s: Streams) -> list[int]:
    return [
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 256, 96),
        *s.marker("RM6_BIN_VISIBILITY"),
        *bins(s, 128, 96, "BINNING_PASS"),
        *s.ib(targets(s), s.draw()),
        *s.packet("CP_SET_MARKER", 0xF),
        *thread(s, BR),
    ]


@pytest.mark.parametrize("begin", [concurrent, turned_off])
def test_a_sysmem_pass_with_a_binning_marker_is_one_pass(begin: object) -> None:
    s = Streams(740)
    assert callable(begin)
    on = s.reg("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=1)
    one = [*begin(s), *empty_binning(s), *sysmem(s, on, s.draw())]
    passes = s.find(one, one).found.passes
    assert [(p.mode, p.hardware_binning, len(p.draws)) for p in passes] == [
        ("sysmem", False, 1)
    ] * 2
    for found in passes:
        assert found.binning is None
        assert found.framebuffer == Size(300, 200)
        assert found.lrz is not None
        assert (found.lrz.address, found.lrz.cleared, found.lrz.used) == (OTHER, True, True)
        assert found.concurrent == ("yes" if begin is concurrent else "no")
        assert "concurrent" not in title(found)


def test_a_binning_run_that_draws_stays_one() -> None:
    """A pass without tiles, as in a capture that ends there: no marker takes it back."""
    s = Streams(740)
    first, second = s.find(binning(s), sysmem(s, s.draw())).found.passes
    assert (first.hardware_binning, second.mode) == (True, "sysmem")


@pytest.mark.parametrize(
    ("begin", "answer", "text"),
    [
        (concurrent, "yes", ", concurrent"),
        (decided, "decided by the GPU", ", concurrent if the GPU decides so"),
        (turned_off, "no", ""),
        (lambda s: thread(s, BR), "no", ""),
        (lambda s: thread(s, BOTH), "no", ""),
        (lambda _s: [], None, ""),
    ],
)
def test_who_bins(begin: object, answer: str | None, text: str) -> None:
    s = Streams(740)
    assert callable(begin)
    prefix: Sequence[int] = begin(s)
    run = binning(s) if answer is not None else binning(s)[:-2]
    walk = [*tile(s, 0, 0, 128, 96, s.ib(s.draw())), *tile(s, 128, 0, 256, 96, s.ib(s.draw()))]
    found = only(s.find(prefix, run, walk).found.passes)
    assert (found.mode, found.hardware_binning, len(found.tiles)) == ("gmem", True, 2)
    assert found.concurrent == answer
    assert f"gmem with hardware binning{text}, framebuffer" in title(found)
