# SPDX-License-Identifier: MIT
"""Writes that count by being written: commands, push constants."""

from __future__ import annotations

from tests.analysis.diff.frames import DrawCall, frame, titles

INVALIDATE = {"HLSQ_INVALIDATE_CMD": 0x1F}


def test_a_second_write_of_the_same_value_is_missed() -> None:
    good = frame([DrawCall(3, INVALIDATE), DrawCall(6, INVALIDATE)])
    bad = frame([DrawCall(3, INVALIDATE), DrawCall(6)])
    expected = "draw p0:1: write of HLSQ_INVALIDATE_CMD: there → missing"
    assert titles(good, bad) == [expected]
    assert titles(good, good) == []


def test_what_is_invalidated_for_a_draw_is_compared() -> None:
    good, bad = (frame([DrawCall(3, {"HLSQ_INVALIDATE_CMD": value})]) for value in (0x5, 0x1))
    expected = "write of HLSQ_INVALIDATE_CMD: VS_STATE=TRUE DS_STATE=TRUE → VS_STATE=TRUE"
    assert titles(good, bad) == [f"draw p0:0: {expected}"]
