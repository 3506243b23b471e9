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
from tests.selection import first_always

#: Capture, packet, which of those that are executed, and what the first entry is.
MISSING = (
    ("a740-vk-events-cond", "CP_DRAW_PRED_SET", 0, r"CP_DRAW_PRED_SET .* before draw .* in bad"),
    (
        "a740-vk-events-cond",
        "CP_DRAW_PRED_ENABLE_GLOBAL",
        1,
        r"CP_DRAW_PRED_ENABLE_GLOBAL \(ENABLE=FALSE.* is missing in bad",
    ),
    ("a660-vk-query-gmem", "CP_COND_EXEC", 0, r"CP_COND_EXEC .* after draw .* missing in bad"),
    ("a430-gl-compute", "CP_LOAD_STATE4", 0, r"draw p0:0: loaded program CS: there"),
    ("a430-gl-compute", "CP_LOAD_STATE4", 1, r"draw p0:0: storage CS 0: there → missing"),
    ("a430-gl-compute", "CP_EVENT_WRITE", -1, r" after draw p2:0 is missing in bad"),
    ("a320-gl-tri", "CP_LOAD_STATE", 0, r"pass 0: loaded program VS of the clear of color 0"),
    # the stage has another program, which was loaded before
    ("a430-gl-passes-restore", "CP_LOAD_STATE4", 3, r"program VS: .*→ from another"),
    ("a660-gl-tessgeom", "CP_LOAD_STATE6_FRAG", 1, r"p2:2: loaded program FS: .*→ from a"),
    ("a740-vk-indirect-sysmem", "CP_EVENT_WRITE7", 4, r"pass 0: LRZ cleared before: TRUE → FA"),
    ("a430-gl-indirect", "CP_DRAW_INDX_INDIRECT", 0, r"draws of the binning run: 4 → 3"),
    (
        "a630-gl-indirect",
        "CP_COND_WRITE5",
        0,
        r"CP_COND_WRITE5 .* after draw p\d+:3, binning run is missing",
    ),
)


def executed(shared: Path, name: str, packet: str) -> tuple[cffpy.Capture, list[int]]:
    """A capture, and where in the file its packets of a name are that are executed."""
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    capture = cffpy.open(path)
    places = {
        one.place.file_offset
        for one in capture.packets()
        if one.name == packet and one.executed is not False
    }
    return capture, sorted(place for place in places if place is not None)


@pytest.mark.parametrize(("name", "packet", "number", "title"), first_always(MISSING, names=4))
def test_a_missing_packet_is_reported(
    shared: Path, name: str, packet: str, number: int, title: str
) -> None:
    good, places = executed(shared, name, packet)
    data = bytearray(good.data)
    offset = places[number]
    (header,) = struct.unpack_from("<I", data, offset)
    struct.pack_into("<I", data, offset, nop_header(header))
    entries = cffpy.diff(good, cffpy.open(bytes(data))).entries
    assert entries
    assert re.search(title, entries[0].title), entries[0].title


def test_another_shader_is_one_entry_though_its_own_is_not_loaded(shared: Path) -> None:
    path = shared / "captures" / "a660-gl-tessgeom.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    good = cffpy.open(path)
    edited = cffpy.edit(good, set_registers={"SP_VS_OBJ_START": "0xfebe6000"}, at_draw="p2:2")
    (entry,) = cffpy.diff(good, cffpy.open(edited)).entries
    assert entry.title.startswith("draw p2:2: shader VS: ")


#: Capture, which of its packets of a name, and fields: name, bit after the header, and what an
#: entry has.
FIELDS = (
    ("a540-gl-indirect", "CP_DRAW_INDX_INDIRECT", 0, {"INDIRECT": (130, "indirect parameters: ")}),
    (
        "a320-gl-tri",
        "CP_LOAD_STATE",
        0,
        {"NUM_UNIT": (22, "units →"), "DST_OFF": (3, "units at 8")},
    ),
    ("a430-gl-compute", "CP_LOAD_STATE4", 0, {"NUM_UNIT": (22, "loaded program CS: ")}),
    (
        "a660-vk-events-cond-gmem",
        "CP_LOAD_STATE6_GEOM",
        1,
        {"STATE_SRC": (17, "constants VS 1: captured → no buffer at 0x0")},
    ),
    (
        "a740-vk-events-cond",
        "CP_LOAD_STATE6_FRAG",
        0,
        {"STATE_SRC": (17, "constants FS 12: captured → no buffer at 0x0")},
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "packet", "number", "fields"), FIELDS)
def test_a_changed_field_is_reported(
    shared: Path, name: str, packet: str, number: int, fields: dict[str, tuple[int, str]]
) -> None:
    good, places = executed(shared, name, packet)
    for field, (bit, expected) in fields.items():
        data = bytearray(good.data)
        data[places[number] + 4 + bit // 8] ^= 1 << bit % 8
        entries = cffpy.diff(good, cffpy.open(bytes(data))).entries
        titles = [one.title for one in entries]
        assert any(expected in title for title in titles), (field, titles)


#: A draw with indices of each form of the packet, the dword with the draw initiator, and fields in
#: it: name, a bit of it.
INITIATORS = (
    ("a740-vk-frame-msaa4-1080p", 1, {"INDEX_SIZE": 11, "GS_ENABLE": 16, "TESS_ENABLE": 17}),
    ("a660-vk-query-gmem", 1, {"VIS_CULL": 8, "PATCH_TYPE": 12, "SOURCE_SELECT": 6}),
    ("a430-gl-scene150-720p", 1, {"INDEX_SIZE": 11, "GS_ENABLE": 16}),
    ("a320-gl-scene150-720p", 2, {"INDEX_SIZE": 11, "VIS_CULL": 9, "NOT_EOP": 12}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dword", "fields"), INITIATORS)
def test_a_changed_field_of_the_draw_initiator_is_reported(
    shared: Path, name: str, dword: int, fields: dict[str, int]
) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    good = cffpy.open(path)
    draw = next(one for one in good.draws if one.packet.startswith("CP_DRAW_INDX") and one.indexed)
    assert draw.place.file_offset is not None
    offset = draw.place.file_offset + 4 * dword
    for field, bit in fields.items():
        data = bytearray(good.data)
        data[offset + bit // 8] ^= 1 << bit % 8
        entries = cffpy.diff(good, cffpy.open(bytes(data))).entries
        assert field in [one.name for entry in entries for one in entry.differences], field


def test_indices_behind_the_end_of_their_buffer_are_reported(samples: Path) -> None:
    """MAX_INDICES, only where it is less than what the draw reads."""
    good = cffpy.open(samples / "a660-frame-gmem.rd")
    draw = good.draws[0]
    assert draw.indexed
    assert draw.vertices == 36
    assert draw.place.file_offset is not None
    data = bytearray(good.data)
    offset = draw.place.file_offset + 4 * 7
    for most, expected in ((37, []), (36, []), (35, ["indices in the buffer"])):
        struct.pack_into("<I", data, offset, most)
        entries = cffpy.diff(good, cffpy.open(bytes(data))).entries
        assert [one.name for entry in entries for one in entry.differences] == expected
