# SPDX-License-Identifier: MIT
"""Which registers are noise, and what the others are about."""

from __future__ import annotations

from functools import cache

import pytest

from cffpy.analysis.diff.rules import (
    RegisterCase,
    RuleName,
    descriptor_category,
    is_address_field,
    is_used,
    register_category,
    rule_of,
)
from cffpy.regdb.database import Database
from cffpy.regdb.rows import BITSET, INLINE_BITSET, NAMED_INLINE_BITSET
from cffpy.regdb.subjects import RegisterSubject, Subjects
from tests.selection import first_always


@cache
def opened(generation: int) -> tuple[Database, Subjects]:
    database = Database.open(f"A{generation}XX")
    return database, Subjects.open(database)


def subject(generation: int, name: str) -> RegisterSubject:
    database, subjects = opened(generation)
    offset = database.register_offset(name)
    assert offset, name
    return subjects.register(offset)


def noise(generation: int, name: str, kind: str = "draw", **changes: bool) -> RuleName | None:
    """The class of a register that both captures write, in passes that have other tiles."""
    database, _ = opened(generation)
    about = subject(generation, name)
    found = database.register(database.register_offset(name), {})
    assert found is not None
    assert found.type is not None
    is_address = found.type[1] in ("address", "waddress") or "address" in about.roles
    values = {"is_laid_out_alike": False, "is_in_both": True, **changes}
    return rule_of(RegisterCase(about, kind, is_address, **values))


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
    (7, "PC_POLYGON_MODE", "rasterizer"),
    (7, "RB_DEST_MSAA_CNTL", "samples"),
]


@pytest.mark.parametrize(("generation", "name", "about"), PROGRAM_STATE)
def test_what_programs_set_is_never_noise(generation: int, name: str, about: str) -> None:
    assert noise(generation, name) is None
    assert register_category(subject(generation, name)).name == about


@pytest.mark.parametrize(
    ("generation", "name", "field", "about", "derived"),
    [
        (6, "RB_MRT[0].CONTROL", "BLEND", "blend", False),
        (6, "RB_MRT[0].CONTROL", "COMPONENT_ENABLE", "colour mask", False),
        (6, "RB_BLEND_CNTL", "ENABLE_BLEND", "blend", True),
        (6, "RB_BLEND_CNTL", "ALPHA_TO_COVERAGE", "blend", False),
        (6, "RB_BLEND_CNTL", "SAMPLE_MASK", "samples", False),
        (6, "GRAS_RAS_MSAA_CNTL", "SAMPLES", "samples", False),
        (5, "PC_PRIMITIVE_CNTL", "STRIDE_IN_VPC", "instructions", True),
        (5, "PC_PRIMITIVE_CNTL", "PROVOKING_VTX_LAST", "rasterizer", False),
        (3, "GRAS_CL_CLIP_CNTL", "IJ_PERSP_CENTER", "instructions", True),
        (6, "SP_FS_CTRL_REG0", "EARLYPREAMBLE", "instructions", True),
        (3, "RB_RENDER_CONTROL", "ALPHA_TEST", "blend", False),
    ],
)
def test_fields_that_are_about_something_else(
    generation: int, name: str, field: str, about: str, derived: bool
) -> None:
    found = register_category(subject(generation, name), field)
    assert (found.name, found.derived) == (about, derived)


@pytest.mark.parametrize(
    ("domain", "dword", "field", "derived"),
    [
        ("A6XX_TEX_CONST", "0", "MIPLVLS", False),
        ("A6XX_TEX_CONST", "0", "FMT", False),
        ("A6XX_TEX_CONST", "0", "CHROMA_MIDPOINT_X", True),
        ("A6XX_TEX_CONST", "10", "FLAG_BUFFER_PITCH", True),
    ],
)
def test_what_is_told_first_of_descriptors(
    domain: str, dword: str, field: str, derived: bool
) -> None:
    about = opened(6)[1].descriptor(domain, dword)
    assert field in about.fields or not derived
    assert descriptor_category("texture", about, field).derived is derived


@pytest.mark.parametrize(
    ("generation", "name", "found"),
    [
        (3, "GRAS_SC_SCREEN_SCISSOR_TL", "tiles"),
        (5, "GRAS_SC_WINDOW_SCISSOR_TL", "tiles"),
        (7, "GRAS_SC_WINDOW_SCISSOR_BR", "tiles"),
        (7, "RB_BIN_CONTROL", "tiles"),
        (6, "CP_SCRATCH[4].REG", "scratch"),
        (6, "RB_MRT[0].BASE_GMEM", "gmem"),
        (6, "RB_2D_DST", "engines"),
        (4, "HLSQ_CL_NDRANGE_0", "engines"),
        (6, "SP_CS_CTRL_REG0", "engines"),
    ],
)
def test_classes_at_draws(generation: int, name: str, found: str) -> None:
    assert noise(generation, name) == found


def test_what_is_set_for_each_tile_counts_where_the_tiles_are_the_same() -> None:
    assert noise(7, "RB_BIN_CONTROL", is_laid_out_alike=True) is None


def test_each_kind_of_command_has_registers_of_its_own() -> None:
    assert noise(6, "SP_CS_CTRL_REG0", "dispatch") is None
    assert noise(4, "HLSQ_CL_NDRANGE_0", "dispatch") is None
    assert noise(6, "RB_DEPTH_CNTL", "dispatch") == "engines"
    assert noise(6, "RB_2D_BLIT_CNTL", "blit") is None
    assert noise(6, "RB_DEPTH_CNTL", "blit") == "engines"


@pytest.mark.parametrize(
    ("generation", "name"),
    [
        (3, "VFD_FETCH[1].INSTR_1"),
        (6, "VFD_FETCH[0].BASE"),
        (3, "SP_FS_OBJ_START_REG"),
        (5, "SP_FS_PVT_MEM_ADDR"),
        (6, "RB_MRT_FLAG_BUFFER[0].ADDR"),
        (5, "TPL1_FS_TEX_CONST_LO"),
        (6, "SP_BINDLESS_BASE[1].DESCRIPTOR"),
    ],
)
def test_addresses(generation: int, name: str) -> None:
    assert noise(generation, name) == "addresses"


@pytest.mark.parametrize("generation", first_always([2, 3, 4, 5, 6, 7]))
def test_addresses_in_mixed_registers_are_known(generation: int) -> None:
    database, subjects = opened(generation)
    fields = set()
    for offset in range(0x10000):
        found = database.register(offset, {})
        if found is None or found.type is None or found.dwords == 2:
            continue
        if found.type[0] in (BITSET, INLINE_BITSET, NAMED_INLINE_BITSET):
            about = subjects.register(offset)
            fields |= {row[0] for row in found.type[7] if is_address_field(about, row[0])}
    assert "DEPTH_FORMAT" not in fields
    assert fields or generation >= 5


def test_push_constants_are_used_by_draws_and_dispatches() -> None:
    database, subjects = opened(7)
    found = database.register(0xAB40 + 3, {})
    assert found is not None
    assert found.name.startswith("HLSQ_SHARED_CONSTS_IMM[")
    about = subjects.register(0xAB40 + 3)
    assert register_category(about).name == "push constants"
    assert all(is_used(about, kind) for kind in ("draw", "dispatch"))
    assert not is_used(about, "blit")


@pytest.mark.parametrize("name", ["GRAS_CL_VPORT[0].XSCALE", "GRAS_SC_SCREEN_SCISSOR[0].TL"])
def test_what_a_density_map_scales_counts_where_the_tiles_are_the_same(name: str) -> None:
    assert noise(7, name, is_scaled_by_tile=True) == "tiles"
    assert noise(7, name, is_scaled_by_tile=True, is_laid_out_alike=True) is None
    assert noise(7, name) is None
    assert noise(7, "GRAS_SU_CNTL", is_scaled_by_tile=True) is None
