# SPDX-License-Identifier: MIT
"""Shared by several modules: strategies for hypothesis, results of decoders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from hypothesis import strategies as st

from cffpy.errors import VisibilityStreamError
from cffpy.vsc.bits import NUMBER_BITS
from cffpy.vsc.draw_stream import DrawPacket
from cffpy.vsc.primitive_stream import PrimitiveRun

Item = TypeVar("Item")

NUMBERS = st.integers(1, 9) | st.integers(1, (1 << NUMBER_BITS) - 1)
BIN_COUNTS = st.integers(1, 40)


def bitfields(bin_count: int) -> st.SearchStrategy[int]:
    return st.just(0) | st.integers(0, (1 << bin_count) - 1)


def with_bin_count(items):
    """(bin count, list of items), where ``items(bin_count)`` is the strategy for an item."""
    return BIN_COUNTS.flatmap(lambda count: st.tuples(st.just(count), st.lists(items(count))))


PRIMITIVE_STREAMS = with_bin_count(lambda count: st.builds(PrimitiveRun, bitfields(count), NUMBERS))
DRAW_STREAMS = with_bin_count(
    lambda count: st.builds(DrawPacket, bitfields(count), st.integers(0, 1), NUMBERS)
)
DRAWS = with_bin_count(
    lambda count: st.lists(
        st.tuples(bitfields(count), st.integers(1, 50)), min_size=1, max_size=6
    ).filter(bool)
)


def drain(items: Iterator[Item]) -> tuple[list[Item], VisibilityStreamError | None]:
    """What a decoder yields, and the error that it raises; other exceptions are not caught."""
    taken = []
    try:
        for item in items:
            taken.append(item)
    except VisibilityStreamError as problem:
        return taken, problem
    return taken, None
