# SPDX-License-Identifier: MIT
"""Faults planted in captures of correct programs are found, and without them nothing is.

Each rule that one change of a register, a group or a packet can break, on several generations.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import cffpy
from cffpy.check.registry import chosen_lints
from cffpy.check.runner import check_capture
from cffpy.container.open import open_bytes
from cffpy.views.check import where_text
from tests.selection import first_always


class Planted(NamedTuple):
    """A change, and the first finding of the rule then: how it begins, and its severity."""

    rule: str
    captures: tuple[str, ...]
    change: Callable[[cffpy.Capture], bytes]
    text: str
    severity: str


def registers(at_draw: str | None = None, **values: str | int) -> Callable[[cffpy.Capture], bytes]:
    """Names have ``__`` for what no keyword may hold."""
    names = {name.replace("__0__", "[0].").replace("__", "."): values[name] for name in values}
    return lambda capture: cffpy.edit(capture, set_registers=names, at_draw=at_draw)


def without_group_0(capture: cffpy.Capture) -> bytes:
    return cffpy.edit(capture, drop_groups=[0])


def without_texture(capture: cffpy.Capture) -> bytes:
    """The texture of the first dispatch that samples has base 0."""
    textures = (
        draw.textures[0]
        for one in capture.passes
        for draw in one.draws
        if draw.kind == "dispatch" and draw.textures
    )
    dwords = list(next(textures).dwords)
    descriptor = struct.pack(f"<{len(dwords)}I", *dwords)
    dwords[4], dwords[5] = 0, dwords[5] & ~0x1FFFF  # BASE_LO, BASE_HI
    changed = struct.pack(f"<{len(dwords)}I", *dwords)
    return bytes(capture._source.content.data).replace(descriptor, changed)


class Indices(NamedTuple):
    """Dwords behind the header of a draw packet: address of the indices, and their limit."""

    base: int
    limit: int
    is_64bit: bool
    limit_in_bytes: bool


PACKETS = {
    "CP_DRAW_INDX": Indices(3, 4, False, True),
    "CP_DRAW_INDX_OFFSET": Indices(4, 6, True, False),
}
OLD_OFFSET = Indices(4, 5, False, True)


def changed_packet(capture: cffpy.Capture, dword: int, value: int) -> bytes:
    """The capture with another dword in the packet of its first indexed draw in a pass."""
    draw = indexed_draw(capture)
    data = bytearray(capture._source.content.data)
    struct.pack_into("<I", data, draw.place.file_offset + 4 * (dword + 1), value)
    return bytes(data)


def indexed_draw(capture: cffpy.Capture) -> cffpy.Draw:
    return next(
        draw
        for draw in capture.draws
        if draw.indexed and draw.packet in PACKETS and draw.index_region
    )


def layout(capture: cffpy.Capture) -> Indices:
    packet = indexed_draw(capture).packet
    is_old = capture.gpu is not None and capture.gpu.generation < 5
    return OLD_OFFSET if packet == "CP_DRAW_INDX_OFFSET" and is_old else PACKETS[packet]


def no_indices(capture: cffpy.Capture) -> bytes:
    return changed_packet(capture, layout(capture).base, 0x7F00_0000)


def null_indices(capture: cffpy.Capture) -> bytes:
    where = layout(capture)
    data = changed_packet(capture, where.base, 0)
    if not where.is_64bit:
        return data
    draw = indexed_draw(capture)
    changed = bytearray(data)
    struct.pack_into("<I", changed, draw.place.file_offset + 4 * (where.base + 2), 0)
    return bytes(changed)


def few_indices(capture: cffpy.Capture) -> bytes:
    where = layout(capture)
    return changed_packet(capture, where.limit, 20 if where.limit_in_bytes else 10)


GREATER = registers(RB_DEPTH_CNTL__ZFUNC="FUNC_GREATER")
ALWAYS = registers(RB_DEPTH_CNTL__ZFUNC="FUNC_ALWAYS")

PLANTED = (
    Planted(
        "CFF001",
        ("a660-vk-indirect-gmem", "a630-gl-indirect", "a740-gl-cube-gmem"),
        registers(HLSQ_VS_CNTL__CONSTLEN=4),
        "VS constants ",
        "error",
    ),
    Planted(
        "CFF012",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a635-vk-cube-gmem-full"),
        registers("p0:0", GRAS_LRZ_CNTL__ENABLE=0),
        "LRZ is off: ",
        "warning",
    ),
    Planted(
        "CFF015",
        ("a660-vk-query-gmem", "a740-vk-query-gmem", "a640-vk-scene100-noubwc-nolrz"),
        registers(GRAS_SU_DEPTH_PLANE_CNTL__Z_MODE="A6XX_LATE_Z"),
        "",
        "warning",
    ),
    Planted(
        "CFF016",
        ("a660-vk-indirect-gmem", "a630-gl-indirect", "a618-vk-depth-lrz-gmem"),
        registers(RB_RENDER_CNTL__FLAG_MRTS=0),
        "color 0 (FMT6_8_8_8_8_UNORM) at ",
        "warning",
    ),
    Planted(
        "CFF017",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a630-gl-scene150-gmem"),
        registers(RB_MRT__0__BUF_INFO__COLOR_TILE_MODE="TILE6_LINEAR"),
        "color 0 (FMT6_8_8_8_8_UNORM) at ",
        "info",
    ),
    Planted(
        "CFF030",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a630-gl-indirect"),
        registers(GRAS_CL_VPORT__0__XSCALE="0.0"),
        "the viewport is 0x",
        "warning",
    ),
    Planted(
        "CFF030",
        ("a530-gl-scene60-nobin", "a430-gl-indirect"),
        registers(GRAS_CL_VPORT_XSCALE_0="0.0"),
        "the viewport is 0x",
        "warning",
    ),
    Planted(
        "CFF030",
        ("a220-gl-cube",),
        registers(PA_CL_VPORT_XSCALE="0.0"),
        "the viewport is 0x",
        "warning",
    ),
    Planted(
        "CFF031",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a530-gl-scene60-nobin"),
        registers(RB_MRT__0__CONTROL__COMPONENT_ENABLE=0, RB_DEPTH_CNTL__Z_WRITE_ENABLE=0),
        "no target is written",
        "warning",
    ),
    Planted(
        "CFF035",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a530-gl-scene60-nobin"),
        registers(VFD_FETCH__0__SIZE=16),
        "vertex buffer 0 has 16 bytes; ",
        "error",
    ),
    Planted(
        "CFF036",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a530-gl-scene60-nobin"),
        registers(VFD_FETCH__0__BASE=0),
        "vertex buffer 0 has address 0",
        "error",
    ),
    Planted(
        "CFF037",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a630-gl-indirect", "a530-gl-tri"),
        registers(SP_VS_OBJ_START=0x70_0000_0000),
        "the VS program at 0x7000000000 lies in no buffer of the submit",
        "error",
    ),
    Planted(
        "CFF037",
        ("a320-gl-tri",),
        registers(SP_VS_OBJ_START_REG=0x7000_0000),
        "the VS program at 0x70000000 lies in no buffer of the submit",
        "error",
    ),
    Planted(
        "CFF037",
        ("a690-vk-compute-full",),
        registers(SP_CS_OBJ_START=0x70_0000_0000),
        "the CS program at 0x7000000000 lies in no buffer of the submit",
        "error",
    ),
    Planted(
        "CFF037",
        ("a530-gl-compute", "a430-gl-compute"),
        registers(SP_CS_OBJ_START=0x7000_0000),
        "the CS program at 0x70000000 was not captured",
        "info",
    ),
    Planted(
        "CFF032",
        ("a690-vk-compute-full",),
        without_texture,
        "CS texture set 1 slot 0 has base 0",
        "error",
    ),
    Planted(
        "CFF046",
        ("a690-vk-compute-full", "a530-gl-compute"),
        registers(SP_CS_CONFIG__ENABLED=0),
        "no CS program is enabled",
        "error",
    ),
    Planted(
        "CFF037",
        ("a740-vk-var-dynamic", "a660-vk-var-nopreamble", "a530-gl-scene60-nobin"),
        registers(SP_VS_OBJ_START=0x70_0000_0000),
        "the VS program at 0x7000000000 was not captured",
        "info",
    ),
    Planted(
        "CFF039",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a630-gl-indirect"),
        registers(SP_FS_PVT_MEM_PARAM__MEMSIZEPERITEM=512),
        "the FS program spills 512 bytes",
        "warning",
    ),
    Planted(
        "CFF040",
        ("a660-vk-indirect-gmem", "a740-vk-bindless-gmem", "a630-gl-indirect"),
        registers(SP_FS_INSTRLEN=200),
        "the FS program has 200 x 128 bytes; ",
        "info",
    ),
    Planted(
        "CFF046",
        ("a740-vk-bindless-gmem", "a660-vk-indirect-gmem", "a630-gl-indirect", "a740-gl-passes"),
        without_group_0,
        "no VS and no FS program is enabled: SP_VS_CONFIG and SP_FS_CONFIG were never written",
        "warning",
    ),
    Planted(
        "CFF046",
        (
            "a660-vk-indirect-gmem",
            "a740-vk-bindless-gmem",
            "a630-gl-indirect",
            "a530-gl-scene60-nobin",
        ),
        registers(SP_VS_CONFIG__ENABLED=0),
        "no VS program is enabled",
        "error",
    ),
    Planted(
        "CFF047",
        (
            "a740-vk-bindless-gmem",
            "a660-vk-query-gmem",
            "a630-gl-vtk-scene",
            "a660-gl-tessgeom",
        ),
        no_indices,
        "INDX_BASE 0x",
        "error",
    ),
    Planted(
        "CFF047",
        ("a740-vk-tess", "a530-gl-scene60-nobin", "a430-gl-cube-gmem", "a330-gl-scene60-nobin"),
        null_indices,
        "INDX_BASE is 0",
        "error",
    ),
    Planted(
        "CFF048",
        (
            "a740-vk-bindless-gmem",
            "a660-vk-query-gmem",
            "a530-gl-scene60-nobin",
            "a430-gl-cube-gmem",
            "a330-gl-scene60-nobin",
            "a220-gl-cube",
        ),
        few_indices,
        "",
        "error",
    ),
    Planted(
        "CFF049",
        (
            "a740-vk-bindless-gmem",
            "a660-vk-indirect-gmem",
            "a630-gl-indirect",
            "a540-gl-scene200-lrz-1080p",
            "a635-vk-cube-gmem-full",
        ),
        GREATER,
        "the depth function is GREATER, and LRZ tests for less",
        "error",
    ),
    Planted(
        "CFF049",
        ("a740-gl-scene150-gmem", "a630-gl-scene150-gmem", "a540-gl-scene200-lrz-1080p"),
        registers(GRAS_LRZ_CNTL__GREATER=1),
        "the depth function is LESS, and LRZ tests for greater",
        "error",
    ),
    Planted(
        "CFF049",
        ("a740-vk-bindless-gmem", "a660-vk-indirect-gmem", "x1-85-vk-cube-gmem-full"),
        ALWAYS,
        "the depth function is ALWAYS, and LRZ tests for less",
        "error",
    ),
)
CASES = [(case, name) for case in PLANTED for name in case.captures]


def found(data: bytes, rule: str) -> list[tuple[str, str]]:
    """Severity and text of the findings of a rule, and of all errors."""
    content = open_bytes(data, "planted")
    checked = check_capture(content, lambda _line: None, lints=chosen_lints([rule]))
    return [(one.severity, one._first.text) for one in checked.findings]


@pytest.mark.parametrize(
    ("case", "name"),
    first_always(CASES, names=2),
    ids=[f"{case.rule}-{name}" for case, name in CASES],
)
def test_planted(shared: Path, case: Planted, name: str) -> None:
    with cffpy.open(shared / "captures" / f"{name}.rd.gz") as capture:
        before = bytes(capture._source.content.data)
        after = case.change(capture)
    assert before != after
    assert not found(before, case.rule)
    severity, text = found(after, case.rule)[0]
    assert severity == case.severity
    assert text.startswith(case.text)


def test_an_address_that_no_command_has_set_is_not_an_address_of_0(shared: Path) -> None:
    """CFF004 says so; an earlier submit may have set it."""
    with cffpy.open(shared / "captures" / "a740-vk-tri-auto.rd.gz") as capture:
        after = cffpy.edit(capture, drop_groups=[1])
    assert not found(after, "CFF037")
    assert "SP_VS_OBJ_START" in found(after, "CFF004")[0][1]


def test_a_finding_at_a_dispatch_says_so(samples: Path) -> None:
    with cffpy.open(samples / "a690-compute.rd") as capture:
        data = cffpy.edit(capture, set_registers={"SP_CS_CONFIG.ENABLED": 0})
    content = open_bytes(data, "planted")
    checked = check_capture(content, lambda _line: None, lints=chosen_lints(["CFF046"]))
    assert where_text(checked.findings[0]).startswith("dispatch p")
