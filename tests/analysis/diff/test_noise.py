# SPDX-License-Identifier: MIT
"""Which registers are noise, and what the others are about."""

from __future__ import annotations

import pytest

from cffpy.analysis.diff.noise import (
    category,
    descriptor_category,
    is_address,
    is_address_field,
    register_class,
)

PROGRAM_STATE = [
    (3, "GRAS_SC_WINDOW_SCISSOR_TL", "scissor"),
    (3, "GRAS_SU_MODE_CONTROL", "rasterizer"),
    (3, "RB_DEPTH_CONTROL", "depth and stencil"),
    (3, "RB_MRT[0].BLEND_CONTROL", "blend"),
    (3, "RB_MRT[0].CONTROL", "colour mask"),
    (3, "SP_FS_PVT_MEM_PARAM_REG", "instructions"),
    (3, "VFD_INDEX_OFFSET", "vertex input"),
    (4, "GRAS_SC_WINDOW_SCISSOR_BR", "scissor"),
    (4, "RB_ALPHA_CONTROL", "blend"),
    (5, "GRAS_SC_SCREEN_SCISSOR_TL_0", "scissor"),
    (5, "GRAS_CL_VPORT_XOFFSET_0", "viewport"),
    (5, "PC_RASTER_CNTL", "rasterizer"),
    (6, "GRAS_SC_SCREEN_SCISSOR[0].TL", "scissor"),
    (6, "GRAS_SU_CNTL", "rasterizer"),
    (6, "RB_Z_BOUNDS_MIN", "depth and stencil"),
    (6, "SP_IBO_COUNT", "instructions"),
    (7, "HLSQ_SHARED_CONSTS_IMM[0]+0", "push constants"),
    (7, "PC_POLYGON_MODE", "rasterizer"),
    (7, "RB_DEST_MSAA_CNTL", "samples"),
]


@pytest.mark.parametrize(("generation", "name", "about"), PROGRAM_STATE)
def test_what_programs_set_is_never_noise(generation: int, name: str, about: str) -> None:
    assert register_class(name, "draw", generation) is None
    assert not is_address(name, "uint")
    assert category(name).name == about


@pytest.mark.parametrize(
    ("name", "field", "about", "derived"),
    [
        ("RB_MRT[0].CONTROL", "BLEND", "blend", False),
        ("RB_MRT[0].CONTROL", "COMPONENT_ENABLE", "colour mask", False),
        ("RB_MRT[0].CONTROL3", "STRIDE", "targets", False),
        ("RB_BLEND_CNTL", "ENABLE_BLEND", "blend", True),
        ("RB_BLEND_CNTL", "ALPHA_TO_COVERAGE", "blend", False),
        ("RB_BLEND_CNTL", "SAMPLE_MASK", "samples", False),
        ("GRAS_RAS_MSAA_CNTL", "SAMPLES", "samples", False),
        ("PC_PRIMITIVE_CNTL", "STRIDE_IN_VPC", "instructions", True),
        ("PC_PRIMITIVE_CNTL", "PROVOKING_VTX_LAST", "rasterizer", False),
        ("GRAS_CL_CLIP_CNTL", "IJ_PERSP_CENTER", "instructions", True),
        ("SP_FS_CTRL_REG0", "EARLYPREAMBLE", "instructions", True),
        ("RB_RENDER_CONTROL", "ALPHA_TEST", "blend", False),
    ],
)
def test_fields_that_are_about_something_else(
    name: str, field: str, about: str, derived: bool
) -> None:
    found = category(name, field)
    assert (found.name, found.derived) == (about, derived)


@pytest.mark.parametrize(
    ("kind", "field", "derived"),
    [
        ("texture", "MIPLVLS", False),
        ("texture", "FMT", False),
        ("texture", "CHROMA_MIDPOINT_X", True),
        ("texture", "FLAG_BUFFER_PITCH", True),
        ("sampler", "ANISO", False),
    ],
)
def test_what_is_told_first_of_descriptors(kind: str, field: str, derived: bool) -> None:
    assert descriptor_category(kind, field).derived is derived


@pytest.mark.parametrize(
    ("generation", "name", "noise"),
    [
        (3, "GRAS_SC_SCREEN_SCISSOR_TL", "tiles"),
        (5, "GRAS_SC_WINDOW_SCISSOR_TL", "tiles"),
        (7, "GRAS_SC_WINDOW_SCISSOR_BR", "tiles"),
        (7, "RB_BIN_CONTROL", "tiles"),
        (6, "CP_SCRATCH[0x4].REG", "scratch"),
        (6, "RB_MRT[0].BASE_GMEM", "gmem"),
        (6, "RB_2D_DST", "engines"),
        (4, "HLSQ_CL_NDRANGE_0", "engines"),
        (6, "SP_CS_CTRL_REG0", "engines"),
    ],
)
def test_classes_at_draws(generation: int, name: str, noise: str) -> None:
    assert register_class(name, "draw", generation) == noise


def test_each_kind_of_action_has_registers_of_its_own() -> None:
    assert register_class("SP_CS_CTRL_REG0", "dispatch", 6) is None
    assert register_class("HLSQ_CL_NDRANGE_0", "dispatch", 4) is None
    assert register_class("RB_DEPTH_CNTL", "dispatch", 6) == "engines"
    assert register_class("HLSQ_SHARED_CONSTS_IMM[0]+0", "dispatch", 7) is None
    assert register_class("RB_2D_BLIT_CNTL", "blit", 6) is None
    assert register_class("RB_DEPTH_CNTL", "blit", 6) == "engines"


@pytest.mark.parametrize(
    "name",
    [
        "VFD_FETCH[0x1].INSTR_1",
        "VFD_FETCH[0].BASE",
        "SP_FS_OBJ_START_REG",
        "SP_FS_PVT_MEM_ADDR",
        "RB_MRT_FLAG_BUFFER[0].ADDR",
        "SP_FS_TEX_CONST_LO",
        "SP_BINDLESS_BASE[0x1].DESCRIPTOR",
    ],
)
def test_addresses_by_name(name: str) -> None:
    assert is_address(name, "uint")


def test_addresses_in_mixed_registers() -> None:
    assert is_address_field("DEPTH_BASE")
    assert not is_address_field("DEPTH_FORMAT")
