# SPDX-License-Identifier: MIT
"""The names of packets that draw are those whose values are read."""

from __future__ import annotations

from cffpy.cp.packets import draw
from cffpy.frame.action import DRAW_PACKETS


def test_values_of_each_draw_packet_are_read() -> None:
    assert {*draw.INITIATOR_IS_SECOND, *draw._DRAWS} == DRAW_PACKETS
