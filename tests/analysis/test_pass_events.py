# SPDX-License-Identifier: MIT
"""Waits and cache events between passes."""

from __future__ import annotations

from pathlib import Path

import cffpy
from tests.analysis.passes.streams import Streams


def test_events_count_for_the_pass_behind_them() -> None:
    s = Streams(630)
    frame = [
        *s.event("CACHE_FLUSH_TS"),
        *s.event("CACHE_FLUSH_TS"),
        *s.packet("CP_WAIT_FOR_IDLE"),
        *s.event("ZPASS_DONE"),
        *s.marker("RM6_DIRECT_RENDER"),
        *s.draw(),
        *s.packet("CP_WAIT_FOR_IDLE"),  # within the pass
        *s.draw(),
        *s.event("CACHE_INVALIDATE"),  # after the last pass
    ]
    (found,) = cffpy.open(s.capture([[frame]])).passes
    assert len(found.draws) == 2
    assert found.events_before == {"CACHE_FLUSH_TS": 2, "CP_WAIT_FOR_IDLE": 1}


def test_a_shared_capture(shared: Path) -> None:
    capture = cffpy.open(shared / "captures/a660-vk-passes-gmem.rd.gz")
    events = capture.passes[3].events_before
    assert events["CACHE_FLUSH_TS"] == 1
    assert events["CP_WAIT_FOR_IDLE"] == 3
    assert "BLIT" not in events
