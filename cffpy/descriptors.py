# SPDX-License-Identifier: MIT
"""Descriptors in memory: their domains in the register database, by generation."""

from __future__ import annotations

#: Generation -> (domain, dwords of a descriptor).
SAMPLERS = {
    3: ("A3XX_TEX_SAMP", 2),
    4: ("A4XX_TEX_SAMP", 2),
    5: ("A5XX_TEX_SAMP", 4),
    6: ("A6XX_TEX_SAMP", 4),
    7: ("A6XX_TEX_SAMP", 4),
}
TEXTURES = {
    3: ("A3XX_TEX_CONST", 4),
    4: ("A4XX_TEX_CONST", 8),
    5: ("A5XX_TEX_CONST", 12),
    6: ("A6XX_TEX_CONST", 16),
    7: ("A6XX_TEX_CONST", 16),
}
UBOS = {5: ("A5XX_UBO", 2), 6: ("A6XX_UBO", 2), 7: ("A6XX_UBO", 2)}

#: Storage buffers and images: their layout, and their format and size, as two descriptors each.
STORAGE_LAYOUTS = {4: ("A4XX_SSBO_0", 4), 5: ("A5XX_SSBO_0", 4)}
STORAGE_SIZES = {4: ("A4XX_SSBO_1", 2), 5: ("A5XX_SSBO_1", 2)}

#: Dwords from one bindless descriptor to the next.
BINDLESS_STRIDE = 16
