# SPDX-License-Identifier: MIT
"""The names of packets that draw are those whose values are read."""

from __future__ import annotations

from cffpy.cp import draw_values
from cffpy.frame.action import DRAW_PACKETS


def test_values_of_each_draw_packet_are_read() -> None:
    assert {*draw_values.INITIATOR_IS_SECOND, *draw_values._DRAWS} == DRAW_PACKETS
