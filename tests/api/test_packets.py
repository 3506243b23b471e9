# SPDX-License-Identifier: MIT
"""Packets as they are executed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import cffpy
from tests import builders
from tests.builders import type7


def test_packets_of_a_frame(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-frame-gmem.rd")
    packets = list(capture.packets())
    names = Counter(packet.name for packet in packets)
    executed = [one for one in capture.actions if one.packet == "CP_DRAW_INDX_OFFSET"]
    assert names["CP_DRAW_INDX_OFFSET"] == len(executed)
    draws = [packet for packet in packets if packet.name == "CP_DRAW_INDX_OFFSET"]
    assert [one.place.gpuaddr for one in draws] == [one.place.gpuaddr for one in executed]
    assert [one.executed for one in draws] == [one.executed for one in executed]
    fields = draws[0].fields
    assert (fields["NUM_INDICES"].value, fields["NUM_INSTANCES"].value) == (36, 1)
    assert fields["INDX_BASE_LO"].value == 0x5100
    assert draws[0].opcode == 0x38
    assert draws[0].to_dict()["fields"]["PRIM_TYPE"] == "DI_PT_TRILIST"
    skipped = [packet for packet in packets if packet.executed is False]
    assert skipped
    assert all(packet.condition for packet in skipped)


def test_register_writes(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-frame-gmem.rd")
    writes = [packet for packet in capture.packets() if packet.opcode is None]
    depth = [
        value for packet in writes for value in packet.registers if value.name == "RB_DEPTH_CNTL"
    ]
    assert {int(value) for value in depth} >= {
        int(draw.state["RB_DEPTH_CNTL"]) for draw in capture.draws
    }
    wide = next(v for p in writes for v in p.registers if v.register.bits == 64)
    assert len(writes[0].dwords) >= 1
    assert wide.value is not None
    assert writes[0].fields == {}
    assert writes[0].name == "register write"


def test_a_packet_of_two_names_has_fields(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-textures.rd")
    load = next(one for one in capture.packets() if one.name == "CP_LOAD_STATE6_FRAG")
    assert load.fields["STATE_BLOCK"].text == "SB6_FS_TEX"


def test_packets_of_a_damaged_capture_end_where_it_does(samples: Path) -> None:
    whole = cffpy.open(samples / "a530-two-submits.rd")
    cut = cffpy.open((samples / "a530-two-submits.rd").read_bytes()[:-8])
    assert 0 < len(list(cut.packets())) < len(list(whole.packets()))
    assert cut.problems
    assert list(cffpy.open(b"").packets()) == []


def test_the_dump_of_a_packet_does_not_depend_on_others() -> None:
    """Nor where its MODE has no name, so that it chooses nothing."""
    commands = [
        dword for mode in (2, 3, 9) for dword in type7(0x47, mode << 28 | 0x4000123, 0x456, 0)
    ]
    capture = cffpy.open(builders.capture(630, commands))
    places = [packet.place for packet in capture.packets()]
    found = []
    for order in (places, places[::-1]):
        text = capture._source.packet_text()
        found.append({one.gpuaddr: text.of(one._words, one._index).lines for one in order})
    assert found[0] == found[1]
    lines = list(found[0].values())
    assert "{ MODE = REG_COMPARE | REG0 = 0x123" in lines[0]
    assert "{ MODE = RENDER_MODE | GMEM" in lines[1]
