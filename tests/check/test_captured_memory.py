# SPDX-License-Identifier: MIT
"""Calls of IBs as facts of lints."""

from __future__ import annotations

import pytest

import cffpy
from tests.builders import capture, type3, type7

CP_INDIRECT_BUFFER = 0x3F


@pytest.mark.parametrize("ndwords", [0, 1, 2])
@pytest.mark.parametrize("gpu", [320, 630])
def test_a_call_that_is_too_short_asks_for_nothing(gpu: int, ndwords: int) -> None:
    packet = type3 if gpu < 500 else type7
    values = [0x200000, 0x10][:ndwords]
    if packet is type3 and not values:
        pytest.skip("a packet of type 3 has a dword or more")
    found = cffpy.open(capture(gpu, packet(CP_INDIRECT_BUFFER, *values))).check(["CFF038"])
    assert len(found) == (gpu < 500 and ndwords == 2)
