# SPDX-License-Identifier: MIT
"""Names of the packets and instructions that are actions."""

from __future__ import annotations

#: Packets of Adreno GPUs that draw.
DRAW_PACKETS = frozenset(
    (
        "CP_DRAW_AUTO",
        "CP_DRAW_INDIRECT",
        "CP_DRAW_INDIRECT_MULTI",
        "CP_DRAW_INDX",
        "CP_DRAW_INDX_2",
        "CP_DRAW_INDX_BIN",
        "CP_DRAW_INDX_INDIRECT",
        "CP_DRAW_INDX_OFFSET",
    )
)

#: Instructions of Intel GPUs that draw, and that start work groups.
DRAW_INSTRUCTIONS = frozenset(
    ("3DPRIMITIVE", "3DPRIMITIVE_EXTENDED", "3DMESH_1D", "3DMESH_3D", "EXECUTE_INDIRECT_DRAW")
)
DISPATCH_INSTRUCTIONS = frozenset(
    ("GPGPU_WALKER", "COMPUTE_WALKER", "EXECUTE_INDIRECT_DISPATCH", "MEDIA_OBJECT_WALKER")
)

#: The instruction of Intel GPUs that clears or resolves depth, stencil, or hierarchical depth.
HIZ_OPERATION = "3DSTATE_WM_HZ_OP"

#: Instructions of the 2D engine of Intel GPUs.
BLIT_INSTRUCTIONS = (
    "XY_BLOCK_COPY_BLT",
    "XY_COLOR_BLT",
    "XY_FAST_COLOR_BLT",
    "XY_SETUP_BLT",
    "XY_SRC_COPY_BLT",
    "XY_TEXT_IMMEDIATE_BLT",
)

#: Topologies of draws of Intel GPUs.
TOPOLOGIES = (
    "LINELIST",
    "LINELIST_ADJ",
    "LINELOOP",
    "LINESTRIP",
    "LINESTRIP_ADJ",
    "LINESTRIP_BF",
    "LINESTRIP_CONT",
    "LINESTRIP_CONT_BF",
    *(f"PATCHLIST_{points}" for points in range(1, 33)),
    "POINTLIST",
    "POINTLIST_BF",
    "POLYGON",
    "QUADLIST",
    "QUADSTRIP",
    "RECTLIST",
    "TRIFAN",
    "TRIFAN_NOSTIPPLE",
    "TRILIST",
    "TRILIST_ADJ",
    "TRISTRIP",
    "TRISTRIP_ADJ",
    "TRISTRIP_REVERSE",
)
