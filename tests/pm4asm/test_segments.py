# SPDX-License-Identifier: MIT
"""Overlapping findings become segments that do not overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cffpy.pm4asm.decompile import COMMANDS, PROGRAM, STRUCTURES, Finding, Segment, segments

FINDINGS = st.lists(
    st.builds(
        lambda kind, start, dwords: Finding(kind, start * 4, dwords, "x"),
        st.sampled_from([COMMANDS, PROGRAM, STRUCTURES]),
        st.integers(0, 30),
        st.integers(1, 20),
    ),
    max_size=8,
)


@given(FINDINGS)
def test_every_byte_belongs_to_the_strongest(findings: list[Finding]) -> None:
    found = list(segments(findings))
    covered: dict[int, Segment] = {}
    for segment in found:
        assert segment.start < segment.end
        for place in range(segment.start, segment.end, 4):
            assert place not in covered
            covered[place] = segment
    assert [segment.start for segment in found] == sorted(segment.start for segment in found)
    for place in range(0, 240, 4):
        here = [one for one in findings if one.gpuaddr <= place < one.gpuaddr + one.dwords * 4]
        assert (place in covered) == bool(here)
        if here:
            assert covered[place].finding.kind == min(one.kind for one in here)


@given(FINDINGS)
def test_every_start_of_the_strongest_begins_a_segment(findings: list[Finding]) -> None:
    starts = {segment.start for segment in segments(findings) if segment.is_start}
    commands = {one.gpuaddr for one in findings if one.kind == COMMANDS}
    assert commands <= starts


def test_one_within_another() -> None:
    outer, inner = Finding(COMMANDS, 0, 10, "outer"), Finding(COMMANDS, 16, 2, "inner")
    assert list(segments([inner, outer])) == [
        Segment(0, 16, outer, True),
        Segment(16, 24, inner, True),
        Segment(24, 40, outer, False),
    ]
