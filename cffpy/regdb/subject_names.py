# SPDX-License-Identifier: MIT
"""What registers are for that no older edition has: by their names, as reviewed by hand.

The importer asks for the registers that ``cffpy.regdb.import_subjects`` does not find again. The
words follow those of the neighbours in the older edition: debug and status registers of a shader
block count as instructions of any engine, those of the CP, RBBM and counters as scratch.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cffpy.regdb.model import NO_SUBJECT, Subject

_OTHER = Subject("other", engine="any")
_SCRATCH = Subject(roles=("scratch",))
_SHADERS = Subject("instructions", derived=True, engine="any")
_LINKED = Subject("instructions", derived=True)
_COPY = Subject("other", engine="blit")
_GMEM = Subject("tiles", derived=True, roles=("gmem",))
_TILE = Subject(roles=("tile",))

#: The beginning or whole of a name -> its subject; the first that matches counts.
_NAMES: tuple[tuple[str, Subject], ...] = (
    # the ring, the power controller, counters, debug buses: nothing of a draw
    (r"(CP|RBBM)_", _SCRATCH),
    (r"GBIF_(PERF|PWR)_CNT", _SCRATCH),
    (r"(DBGC|GMU|RSCC)_", Subject("other")),
    (r"UCHE_\w+_BASE$", Subject(engine="any")),
    (r"(UCHE|GBIF)_", _OTHER),
    # bins and GMEM
    (r"VSC_", Subject(roles=("tile",), engine="any")),
    (r"(SP|TPL1)_BIN_SIZE$", _TILE),
    (r"TPL1_A2D_BIN_SIZE$", Subject(roles=("tile",), engine="blit")),
    (r"RB_\w*GMEM_DIMENSION", _GMEM),
    (r"RB_\w+_GMEM_PROTECT$", Subject(roles=("gmem",), engine="any")),
    (r"(VPC|PC)_POS_BUF_GMEM_SIZE$", _LINKED),
    (r"VPC_POS_BUF_GMEM_BASE$", replace(_LINKED, roles=("gmem",))),
    (r"VFD_RENDER_MODE$", Subject("tiles", derived=True)),
    # rasterizer, blending, depth
    (r"GRAS_LRZ_", Subject("lrz", derived=True)),
    (r"GRAS_SC_PROGRAMMABLE_MSAA_POS", Subject("samples")),
    (r"GRAS_RAST_CNTL$", Subject("rasterizer")),
    (r"VPC_FLATSHADE_MODE_CNTL$", Subject("rasterizer")),
    (r"GRAS_\w*DBG_", _OTHER),
    (r"GRAS_", Subject("other")),
    (r"RB_VIEWPORT_ZCLAMP", Subject("viewport")),
    (r"RB_RESOLVE_", _COPY),
    (r"RB_\w*(NC_MODE|DBG|PREFETCH|STATUS)", _OTHER),
    (r"(SP_MRT_BLEND_CNTL|SP_ALPHA_TEST_CNTL)", Subject("blend")),
    # vertices, shaders
    (r"(PC_AUTO_VERTEX_STRIDE|PC_VS_INPUT_CNTL)$", Subject("vertex_input")),
    (r"VFD_CB_", Subject("vertex_input", engine="any")),
    (r"SP_CS_", replace(_SHADERS, engine="dispatch")),
    (r"TPL1_A2D_", replace(_SHADERS, engine="blit")),
    (r"SP_\w*UNKNOWN_", _LINKED),
    (r"(PC|VPC)_\w*(CHICKEN|DBG|CONTEXT_SWITCH)", _SHADERS),
    (r"(PC|VPC)_(UNKNOWN|SO|DGEN|DRAWCALL)_", _LINKED),
    (r"(SP|HLSQ|TPL1)_", _SHADERS),
)
_PATTERNS = tuple((re.compile(pattern), subject) for pattern, subject in _NAMES)

#: Types that say that a register holds an address, and ends of names that do.
_ADDRESS_TYPES = ("address", "waddress")
_ADDRESS_NAME = re.compile(r"_(BASE|ADDR|ADDR_LPAC|ADDR_BV|BASE_LPAC)$")


def subject_of_name(name: str, type_name: str | None, width: int) -> Subject:
    """The subject of a register (``RB_MRT_GMEM_DIMENSION.REG``), or none.

    ``type_name``: its type in the description; ``width``: in bits.
    """
    found = (subject for pattern, subject in _PATTERNS if pattern.match(name))
    subject = next(found, NO_SUBJECT)
    if subject == NO_SUBJECT:
        return subject
    if type_name in _ADDRESS_TYPES or width == 32 or not _ADDRESS_NAME.search(name):
        return subject
    return replace(subject, roles=(*subject.roles, "address"))
