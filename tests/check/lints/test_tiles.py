# SPDX-License-Identifier: MIT
"""Tiles and visibility streams."""

from __future__ import annotations

import pytest

from tests.check.texts import checked_text, sample


@pytest.mark.parametrize(
    ("gpu", "limit", "buffer", "fires"),
    [
        ("chip_id 0x06060001", 4096, 0, False),
        ("chip_id 0x06060001", 32 * 4096 - 1, 0, True),
        ("chip_id 0x06060001", 32 * 4096, 0, False),
        ("chip_id 0x06060001", 32 * 4096, 40 * 4096, False),
        ("chip_id 0x06060001", 41 * 4096, 40 * 4096, True),
        ("gpu_id 610", 16 * 4096, 0, False),
        ("gpu_id 610", 15 * 4096, 0, True),
    ],
)
def test_limits_that_are_the_size_of_all_streams(
    gpu: str, limit: int, buffer: int, fires: bool
) -> None:
    """As older drivers have it: for all pipes of the part, and within the buffer."""
    text = sample("CFF044-fires")
    text = text.replace("chip_id 0x06060001", gpu).replace("LIMIT = 8192", f"LIMIT = {limit}")
    if buffer:
        streams = f"buffer streams 0x100200000 size {buffer} {{\n  fill 0x0 * 4\n}}\n"
        text = text.replace("stream main", f"{streams}stream main")
    found = checked_text(text, "CFF044").findings
    assert [one._first.text for one in found] == [
        f"the limit of draw streams is {limit}, their pitch 4096" for _ in range(fires)
    ]
