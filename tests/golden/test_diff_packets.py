# SPDX-License-Identifier: MIT
"""A packet that one capture lacks is reported, whatever it does.

A driver may forget a predicate, a query, a load for a dispatch or a draw of the binning run. Each
packet is replaced by a CP_NOP of its size.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

import cffpy
from tests.golden.diff_edits import nop_header

#: Capture, packet, which of those that are executed, and what the first entry is.
MISSING = (
    ("a740-vk-events-cond", "CP_DRAW_PRED_SET", 0, r"other commands before it: CP_DRAW_PRED_SET "),
    ("a740-vk-events-cond", "CP_DRAW_PRED_ENABLE_GLOBAL", 1, r"other commands .*GLOBAL 0x0"),
    ("a660-vk-query-gmem", "CP_COND_EXEC", 0, r"other commands after the last draw: CP_COND_E"),
    ("a430-gl-compute", "CP_LOAD_STATE4", 0, r"pass 0, draw 0: loaded program CS: there"),
    ("a430-gl-compute", "CP_LOAD_STATE4", 1, r"pass 0, draw 0: storage CS 0: there → missing"),
    ("a430-gl-compute", "CP_EVENT_WRITE", -1, r"waits and cache events after the last draw"),
    ("a320-gl-tri", "CP_LOAD_STATE", 0, r"pass 0: loaded program VS of the clear of color 0"),
    ("a430-gl-indirect", "CP_DRAW_INDX_INDIRECT", 0, r"draws of the binning run: 4 → 3"),
    ("a630-gl-indirect", "CP_COND_WRITE5", 0, r"binning run, draw 3: other commands after the"),
)


@pytest.mark.parametrize(("name", "packet", "number", "title"), MISSING)
def test_a_missing_packet_is_reported(
    shared: Path, name: str, packet: str, number: int, title: str
) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    good = cffpy.open(path)
    data = bytearray(good.content.data)
    places = dict.fromkeys(
        one.place.file_offset
        for one in good.packets()
        if one.name == packet and one.executed is not False
    )
    offset = sorted(place for place in places if place is not None)[number]
    (header,) = struct.unpack_from("<I", data, offset)
    struct.pack_into("<I", data, offset, nop_header(header))
    entries = cffpy.diff(good, cffpy.open(bytes(data))).entries
    assert entries
    assert re.search(title, entries[0].title), entries[0].title
