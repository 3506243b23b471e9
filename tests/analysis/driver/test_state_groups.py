# SPDX-License-Identifier: MIT
"""Draw-state groups have the names of the driver that wrote the capture, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.driver.state_groups import LAYOUTS, _layout_of, _pattern
from cffpy.frame.driver import StateGroup
from tests.selection import first_always

#: Captures whose names say the driver, of each generation with draw-state groups.
OF_DRIVERS = [
    "a660-vk-tess",
    "a660-gl-tessgeom",
    "a630-gl-xfb-queries",
    "a740-vk-var-dynamic",
    "a740-gl-passes",
    "a750-vk-scene300-4k-gmem-msaa2",
    "x1-85-wgpu-cubes-msaa",
    "m26-a660-vk-passes-gmem",
    "m26-a740-vk-tess",
    "m26-a740-gl-passes",
]


def groups_of(capture: cffpy.Capture) -> Iterator[StateGroup]:
    """The groups of the first and the last draw of each pass."""
    for one in capture.passes:
        for draw in (*one.draws[:1], *one.draws[-1:]):
            yield from draw.state_groups


@pytest.mark.parametrize("name", first_always(OF_DRIVERS))
def test_all_groups_of_known_drivers_are_named(shared: Path, name: str) -> None:
    folder = shared / ("m26/captures" if name.startswith("m26") else "captures")
    driver = "freedreno" if "-gl-" in name else "turnip"
    with cffpy.open(folder / f"{name}.rd.gz") as capture:
        groups = list(groups_of(capture))
        assert groups
        assert {(group.driver, group.releases) for group in groups} == {
            (driver, "25.0 to 26.0-devel")
        }
        assert {group.rule for group in groups} == {"number and contents"}
        assert {group.certainty for group in groups} == {"sure"}


@pytest.mark.parametrize(
    ("name", "driver"),
    [
        ("dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list", "turnip"),
        ("shadow", "freedreno"),
    ],
)
def test_groups_of_older_releases_are_named(shared: Path, name: str, driver: str) -> None:
    with cffpy.open(shared / "captures" / f"{name}.rd.gz") as capture:
        groups = list(groups_of(capture))
        assert {(group.driver, group.releases) for group in groups} == {(driver, None)}
        assert {group.certainty for group in groups} == {"sure"}


def test_names_of_one_draw(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        assert [str(group) for group in capture.passes[0].draws[0].state_groups] == [
            "group 1 (VS)",
            "group 8 (FS)",
            "group 9 (VB)",
            "group 19 (DYNAMIC + 0: viewport)",
            "group 25 (DYNAMIC + 6: RB_DEPTH_CNTL)",
            "group 28 (DYNAMIC + 9: blend)",
        ]


@pytest.mark.parametrize("name", ["a740-state-groups", "a640-vendor-frame"])
def test_groups_of_an_unknown_driver_have_no_names(samples: Path, name: str) -> None:
    with cffpy.open(samples / f"{name}.rd") as capture:
        groups = list(groups_of(capture))
        assert groups
        assert {(group.name, group.driver, group.rule) for group in groups} == {(None, None, None)}


def test_state_and_diff_name_the_group(samples: Path, run_cffpy) -> None:
    capture = str(samples / "a660-frame-gmem.rd")
    text = run_cffpy("state", capture, "--at", "p0:0", "RB_DEPTH_CNTL").stdout.decode()
    assert ", group 25 (DYNAMIC + 6: RB_DEPTH_CNTL): stream 0 > " in text
    text = run_cffpy("state", capture, "--at", "p0:0", "RB_DEPTH_CNTL", "--csv").stdout.decode()
    assert "DYNAMIC + 6: RB_DEPTH_CNTL" in text


def test_a_group_with_other_contents_has_no_name(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        names = capture._source._group_names
        assert names.named(25, 0, 1, frozenset({"VFD_FETCH[0].BASE"})).name is None
        likely = names.named(25, 0, 1, frozenset())
        assert (likely.name, likely.rule, likely.certainty) == (
            "DYNAMIC + 6: RB_DEPTH_CNTL",
            "number",
            "likely",
        )
        assert names.named(200, 0, 1, frozenset()).name is None


def test_the_last_dynamic_state_depends_on_the_generation(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        names = capture._source._group_names
        of_a6xx = names.named(31, 0, 1, frozenset({"GRAS_SC_CNTL"}))
        of_a7xx = names.named(31, 0, 1, frozenset({"RB_FSR_CONFIG"}))
        assert of_a6xx.name == "DYNAMIC + 12: primitive mode in sysmem"
        assert of_a7xx.name == "DYNAMIC + 12: fragment shading rate"


@pytest.mark.parametrize("position", range(len(LAYOUTS)))
def test_each_layout_is_told_from_the_others_by_its_contents(position: int) -> None:
    layout = LAYOUTS[position]
    by_number = {}
    for number in range(len(layout.names) + len(layout.dynamic)):
        key = layout.names_of(number)[0][1]
        pattern = _pattern(key)
        if pattern is not None:
            by_number[number] = {frozenset({example(pattern)})}
    assert _layout_of(by_number) is layout


#: One text for each pattern: registers and loads as captures have them.
EXAMPLES = (
    *("SP_VS_CONFIG", "SP_VS_CTRL_REG0", "SP_HS_CTRL_REG0", "SP_DS_CTRL_REG0", "SP_GS_CTRL_REG0"),
    *("SP_VS_OUT[0].REG", "SP_FS_CTRL_REG0", "PC_TESS_NUM_VERTEX", "VFD_FETCH[0].BASE"),
    *("VFD_DECODE[0].INSTR", "GRAS_SU_CNTL", "RB_DEPTH_CNTL", "RB_BLEND_CNTL"),
    *("SP_BINDLESS_BASE[0].DESCRIPTOR", "SP_BINDLESS_BASE[1].DESCRIPTOR"),
    *("SP_BINDLESS_BASE[2].DESCRIPTOR", "SP_BINDLESS_BASE[3].DESCRIPTOR"),
    *("SP_BINDLESS_BASE[4].DESCRIPTOR", "LOAD VS constants", "VFD_INDEX_OFFSET"),
    *("LOAD VS samplers", "LOAD HS samplers", "LOAD DS samplers", "LOAD GS samplers"),
    *("LOAD FS samplers", "GRAS_LRZ_CNTL", "GRAS_SU_DEPTH_PLANE_CNTL", "GRAS_SC_CNTL"),
    *("GRAS_CL_VPORT[0].XOFFSET", "GRAS_SC_SCREEN_SCISSOR[0].TL", "GRAS_SU_POLY_OFFSET_SCALE"),
    *("RB_BLEND_RED_F32", "RB_Z_BOUNDS_MIN", "RB_STENCILMASK", "RB_STENCILWRMASK", "RB_STENCILREF"),
    *("RB_STENCIL_CONTROL", "GRAS_SAMPLE_CONFIG", "PC_HS_INPUT_SIZE", "RB_FSR_CONFIG"),
    *("VPC_VARYING_INTERP[0].MODE", "RB_FS_OUTPUT_CNTL0", "VPC_SO_CNTL", "SP_IBO"),
)


def example(pattern: re.Pattern[str]) -> str:
    return next(text for text in EXAMPLES if pattern.fullmatch(text))


def test_damaged_groups_are_read_within_bounds(samples: Path, tmp_path: Path) -> None:
    whole = (samples / "a660-frame-binning.rd").read_bytes()
    for cut in range(len(whole) // 8, len(whole), len(whole) // 8):
        flipped = bytearray(whole[:cut])
        for position in range(64, cut, 97):
            flipped[position] ^= 0x5A
        for data in (whole[:cut], bytes(flipped)):
            path = tmp_path / "damaged.rd"
            path.write_bytes(data)
            with cffpy.open(path) as capture:
                for group in groups_of(capture):
                    assert group.name is None or group.driver is not None
