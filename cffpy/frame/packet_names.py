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
