# SPDX-License-Identifier: MIT
"""Noise classes: differences that are none of the program's, and what a register is about.

A difference of a hidden class is counted and named, never lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

NoiseClass = Literal[
    "addresses",
    "scratch",
    "gmem",
    "tiles",
    "engines",
    "unused",
    "uncaptured",
    "inherited",
    "barriers",
]

#: Every class, and what hiding it hides.
CLASSES: dict[NoiseClass, str] = {
    "addresses": "addresses that play the same role in both captures",
    "scratch": "scratch registers, performance counters, the driver's debug marks",
    "gmem": "where attachments lie in GMEM",
    "tiles": "registers that drivers set for each tile or bin",
    "engines": "registers that the kind of action does not use: of the 2D engine, of dispatches"
    " at draws, of draws at dispatches",
    "unused": "descriptors of bindless sets that no instruction of the draw's shaders names",
    "uncaptured": "contents that one of the captures does not hold",
    "inherited": "registers that only one of the captures has written, or whose values are left"
    " over from earlier passes on both sides; fields that one of two generations does not have",
    "barriers": "waits and cache events between draws where the modes of the passes differ",
}

#: Register names of a class. Facts: the database's names, which registers drivers set per tile.
_PATTERNS: tuple[tuple[NoiseClass, re.Pattern[str]], ...] = (
    ("scratch", re.compile(r"^CP_SCRATCH|SCRATCH_REG|PERFCTR|_PERF_|^CP_|^RBBM_|^UCHE_TRAP")),
    ("gmem", re.compile(r"BASE_GMEM|^RB_CCU_CNTL|GMEM_BASE|^RB_COPY_|^SP_TP_GMEM|_COLOR_OFFSET")),
    (
        "tiles",
        re.compile(
            r"BIN_CONTROL|WINDOW_OFFSET|^VSC_|^RB_BIN_|_BIN_SIZE|^RB_UNKNOWN_8812"
            r"|^PC_VSTREAM|^RB_RESOLVE_CNTL|^RB_CNTL$|^VPC_MODE_CNTL|^RB_MODE_CONTROL"
            r"|^PA_SC_SCREEN|^VGT_CURRENT_BIN|^RB_SURFACE_INFO"
        ),
    ),
)

#: Generation -> the scissor that drivers set for each tile; the other one is the program's.
_TILE_SCISSORS = {
    3: "GRAS_SC_SCREEN_SCISSOR",
    4: "GRAS_SC_SCREEN_SCISSOR",
    5: "GRAS_SC_WINDOW_SCISSOR",
    6: "GRAS_SC_WINDOW_SCISSOR",
    7: "GRAS_SC_WINDOW_SCISSOR",
}

_TWO_DIMENSIONAL = re.compile(r"_2D_|^RB_BLIT|^TPL1_2D|^SP_2D|^RB_UNKNOWN_88D")
_COMPUTE = re.compile(r"_CS_|^SP_CS|^HLSQ_CS|^HLSQ_CL_|^HLSQ_INVALIDATE|_INVALIDATE_CMD|^SP_UPDATE")

#: Registers of draws and dispatches alike.
_OF_ALL_ENGINES = re.compile(r"SHARED_CONSTS")

_ADDRESS_NAME = re.compile(
    r"(BASE|ADDR|ADDRESS)(_LO|_HI)?(\+0x1)?$|OBJ_START|_IBO(_LO|_HI)?$"
    r"|TEX_(SAMP|CONST)(_LO|_HI)?$|BINDLESS_BASE|_(SRC|DST|DST_FLAGS|SRC_FLAGS)_(LO|HI)$"
    r"|^VFD_FETCH.*INSTR_1|PVT_MEM_ADDR"
)

#: Fields that hold addresses in registers that also hold something else.
_ADDRESS_FIELDS = ("BASE", "DEPTH_BASE", "COLOR_BUF_BASE")


def register_class(name: str, kind: str, generation: int) -> NoiseClass | None:
    """The noise class of a register at an action of this kind, or None."""
    is_2d = _TWO_DIMENSIONAL.search(name) is not None
    if is_2d != (kind == "blit") and (is_2d or kind == "blit"):
        return "engines"
    is_compute = _COMPUTE.search(name) is not None
    if kind != "blit" and is_compute != (kind == "dispatch") and not _OF_ALL_ENGINES.search(name):
        return "engines"
    if name.startswith(_TILE_SCISSORS.get(generation, " ")):
        return "tiles"
    for noise, pattern in _PATTERNS:
        if pattern.search(name):
            return noise
    return None


def is_address(name: str, type_name: str) -> bool:
    """Whether a register holds an address: by its type, in older generations by its name."""
    return type_name in ("address", "waddress") or _ADDRESS_NAME.search(name) is not None


def is_address_field(field: str) -> bool:
    """Whether a field of a register holds an address."""
    return field in _ADDRESS_FIELDS


@dataclass(frozen=True, slots=True)
class Category:
    """What a difference is about; a lower rank comes first in a report.

    ``derived``: drivers work it out from other state, so it follows from another difference.
    """

    name: str
    rank: int
    derived: bool = False


_BLEND = Category("blend", 10)
_INSTRUCTIONS = Category("instructions", 70, True)
_TARGETS = Category("targets", 30)

#: Fields that are about something else than the rest of their register, as register.field.
_FIELD_CATEGORIES: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (_BLEND, re.compile(r"MRT\[.*\]\.CONTROL\.(BLEND|ROP)|ALPHA_TEST|ALPHA_TO_")),
    # for all targets at once; drivers work them out
    (
        Category("blend", 15, True),
        re.compile(r"\.(ENABLE_BLEND|INDEPENDENT_BLEND|READ_DEST_ENABLE|DUAL_COLOR_IN_ENABLE)$"),
    ),
    (Category("blend", 15, True), re.compile(r"^SP_BLEND_CNTL")),
    (_TARGETS, re.compile(r"MRT\[.*\]\.CONTROL.*\.STRIDE$|RENDER_CNTL\.FLAG_")),
    (
        Category("samples", 14),
        re.compile(r"\.(SAMPLE_MASK|LINE_MODE|MSAA_ENABLE)$|MSAA_(CNTL|CONTROL)\."),
    ),
    (
        _INSTRUCTIONS,
        re.compile(
            r"\.(STRIDE_IN_VPC|IJ_\w+|FACENESS|[XYZW]COORD|COORD_MASK)$|^GRAS_CNTL|^VFD_POWER"
        ),
    ),
    (Category("tiles", 35, True), re.compile(r"\.(RENDERING_PASS|RENDER_MODE|BIN_WIDTH)$")),
)

_CATEGORIES: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (Category("lrz", 80, True), re.compile(r"LRZ|EARLY|_Z_MODE|DEPTH_PLANE")),
    (
        Category("viewport", 20),
        re.compile(r"VPORT|VIEWPORT|^GRAS_CL_Z|Z_CLAMP"),
    ),
    (Category("viewport", 22, True), re.compile(r"GUARDBAND|GB_CLIP_ADJ")),
    (Category("scissor", 21), re.compile(r"SCISSOR")),
    (_BLEND, re.compile(r"BLEND|_ROP|DITHER|ALPHA_CONTROL|ALPHA_REF|LOGIC_OP")),
    (
        Category("colour mask", 12),
        re.compile(r"MRT\[.*\]\.CONTROL|RENDER_COMPONENTS|COLOR_MASK"),
    ),
    (
        Category("depth and stencil", 11),
        re.compile(r"DEPTH_CNTL|DEPTH_CONTROL|STENCIL|DEPTHCONTROL|Z_BOUNDS"),
    ),
    (
        Category("rasterizer", 13),
        re.compile(
            r"SU_CNTL|SU_MODE|SU_SC_MODE|CULL|POLY_OFFSET|POLYGON_MODE|POINT_|"
            r"CL_CNTL|CLIP|^V?PC_PRIMITIVE_CNTL(_0)?$|_RAS_|PC_RASTER_CNTL|PC_PRIM_VTX_CNTL2"
        ),
    ),
    (Category("samples", 14), re.compile(r"MSAA|SAMPLE")),
    (
        _TARGETS,
        re.compile(
            r"^RB_MRT|DEPTH_BUFFER|DEPTH_INFO|DEPTH_PITCH|BUF_INFO|FLAG_BUFFER|"
            r"COLOR_INFO|SP_FS_MRT|FS_OUTPUT|FRAME_BUFFER"
        ),
    ),
    (Category("vertex input", 25), re.compile(r"^VFD_")),
    (Category("push constants", 6), re.compile(r"SHARED_CONST")),
    (_INSTRUCTIONS, re.compile(r"^SP_.S_|^SP_PS|^HLSQ|^SP_|^VPC|^PC_|^TPL1")),
)
_OTHER = Category("other", 60)


def category(name: str, field: str = "") -> Category:
    """What a register is about, or one field of it."""
    if field:
        whole = f"{name}.{field}"
        for found, pattern in _FIELD_CATEGORIES:
            if pattern.search(whole):
                return found
    for found, pattern in _CATEGORIES:
        if pattern.search(name):
            return found
    return _OTHER


#: Another image is used where both captures use one. It comes late: allocations may have moved.
IMAGES = Category("image", 50)

#: Fields of a texture's descriptor that follow from its size, format and tiling.
_TEXTURE_LAYOUT = Category("texture", 41, derived=True)
_TEXTURE_UBWC = Category("UBWC", 40)
_LAYOUT_FIELD = re.compile(
    r"PITCH|LAYERSZ|^FLAG_BUFFER|^TILE_ALL$|^CHROMA_|^INDX$|^(TEX)?SAMPLES$|^UNK|^\d+$"
)


def descriptor_category(kind: str, field: str) -> Category:
    """What a field of a descriptor is about. ``kind``: the first part of its fact's key."""
    if kind == "texture" and _LAYOUT_FIELD.search(field):
        return _TEXTURE_LAYOUT
    if kind == "texture" and field == "FLAG":
        return _TEXTURE_UBWC
    return FACT_CATEGORIES.get(kind, _OTHER)


#: Categories of facts, by the first part of their keys.
FACT_CATEGORIES = {
    "draw": Category("draw parameters", 2),
    "shader": Category("shader", 3),
    "texture": Category("texture", 4),
    "sampler": Category("sampler", 4),
    "storage": Category("storage", 4),
    "storage size": Category("storage", 4),
    "uniform data": Category("uniform data", 5),
    "push constants": Category("push constants", 6),
    "constants": Category("constants", 7),
    "uniform buffer": Category("uniform buffer", 8),
    "vertex buffer": Category("vertex data", 9),
    "index buffer": Category("index data", 9),
    "descriptor": Category("descriptor", 15),
    "barriers": Category("barriers", 40),
}
