# SPDX-License-Identifier: MIT
"""Bits of packets that cffdump reads otherwise than the register database describes them.

The only place for such bits. Each row has the packet, the field's name, and where the reference
reads it: dword, lowest bit, number of bits. Readers name these fields ``cffdump:NAME``; analyses
read what the database describes. Where the reference reads a field of the database as something
else, but its bits are the database's, a comment in the handler has the deviation.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.row_readers import Row

#: Packets that the database describes under the name of another.
PACKET_DOMAINS = {
    "CP_LOAD_STATE6_FRAG": "CP_LOAD_STATE6",
    "CP_LOAD_STATE6_GEOM": "CP_LOAD_STATE6",
}

#: What the names of these fields begin with in ``Fields``.
PREFIX = "cffdump:"

DEVIATIONS: tuple[tuple[str, str, int, int, int], ...] = (
    # cffdump: draw_indx_common takes 5 of PRIM_TYPE's 6 bits, so most patches have other names
    # (mesa 25.0.7)
    ("CP_DRAW_INDX", "PRIM_TYPE", 1, 0, 5),
    ("CP_DRAW_INDX_2", "PRIM_TYPE", 1, 0, 5),
    # cffdump: cp_draw_indx_offset, cp_draw_indirect, cp_draw_indx_indirect, cp_draw_indirect_multi
    # and cp_draw_auto do so, too (mesa 25.0.7)
    ("CP_DRAW_INDX_OFFSET", "PRIM_TYPE", 0, 0, 5),
    ("CP_DRAW_INDIRECT", "PRIM_TYPE", 0, 0, 5),
    ("CP_DRAW_INDX_INDIRECT", "PRIM_TYPE", 0, 0, 5),
    ("CP_DRAW_INDIRECT_MULTI", "PRIM_TYPE", 0, 0, 5),
    ("CP_DRAW_AUTO", "PRIM_TYPE", 0, 0, 5),
    # cffdump: cp_draw_indirect reads an address of 49 bits on every generation (mesa 25.0.7)
    ("CP_DRAW_INDIRECT", "INDIRECT", 1, 0, 49),
    # cffdump: cp_draw_indx_indirect takes 49 bits of each 64-bit address (mesa 25.0.7)
    ("CP_DRAW_INDX_INDIRECT", "INDX_BASE", 1, 0, 49),
    ("CP_DRAW_INDX_INDIRECT", "INDIRECT", 4, 0, 49),
    # cffdump: cp_exec_cs_indirect takes 49 bits of the 64-bit address (mesa 25.0.7)
    ("CP_EXEC_CS_INDIRECT", "ADDR", 1, 0, 49),
    # cffdump: cp_blit looks the whole first dword up in cp_blit_cmd (mesa 25.0.7)
    ("CP_BLIT", "OP", 0, 0, 32),
    # cffdump: cp_load_state takes 9 of NUM_UNIT's 10 bits (mesa 25.0.7)
    ("CP_LOAD_STATE", "NUM_UNIT", 0, 22, 9),
    ("CP_LOAD_STATE4", "NUM_UNIT", 0, 22, 9),
    ("CP_LOAD_STATE6", "NUM_UNIT", 0, 22, 9),
    # cffdump: cp_set_draw_state has four bits of modes, of which three are described, on every
    # generation (mesa 25.0.7)
    ("CP_SET_DRAW_STATE", "ENABLE_MASK", 0, 20, 4),
    # cffdump: cp_set_draw_state takes 5 of the 6 bits that a8xx has (mesa 25.3)
    ("CP_SET_DRAW_STATE", "GROUP_ID", 0, 24, 5),
    # cffdump: cp_set_marker takes 4 of the 7 bits that a8xx has (mesa 25.3)
    ("CP_SET_MARKER", "MODE", 0, 0, 4),
    # cffdump: cp_set_render_mode looks the whole first dword up in render_mode_cmd (mesa 25.0.7)
    ("CP_SET_RENDER_MODE", "MODE", 0, 0, 32),
    # cffdump: cp_compute_checkpoint takes the length from the last dword of the long form, which
    # is not described (mesa 25.0.7)
    ("CP_COMPUTE_CHECKPOINT", "LONG_LEN", 7, 0, 32),
    # cffdump: cp_set_amble takes 16 of DWORDS' 20 bits (mesa 25.0.7)
    ("CP_SET_AMBLE", "DWORDS", 2, 0, 16),
    # cffdump: cp_rmw takes 16 of DST_REG's 18 bits (mesa 25.0.7)
    ("CP_REG_RMW", "DST_REG", 0, 0, 16),
    # cffdump: cp_reg_mem takes 16 of REG's 18 bits, CNT without its lowest and highest bit and an
    # address of 64 bits on every generation, also for CP_MEM_TO_REG (mesa 25.0.7)
    ("CP_REG_TO_MEM", "REG", 0, 0, 16),
    ("CP_REG_TO_MEM", "CNT", 0, 19, 10),
    ("CP_REG_TO_MEM", "DEST", 1, 0, 64),
    # cffdump: cp_reg_write takes 16 of REG's 18 bits (mesa 25.0.7)
    ("CP_REG_WRITE", "REG", 1, 0, 16),
    # cffdump: cp_wide_reg_write takes 16 of REG's 18 bits (mesa 25.0.7)
    ("CP_WIDE_REG_WRITE", "REG", 0, 0, 16),
    # cffdump: dump_a2xx_tex_const takes PITCH with the bit above it, TILED; two of the three bits
    # of each CLAMP; the lowest four bits of FORMAT (mesa 25.0.7)
    ("A2XX_SQ_TEX", "PITCH", 0, 22, 10),
    ("A2XX_SQ_TEX", "CLAMP_X", 0, 10, 2),
    ("A2XX_SQ_TEX", "CLAMP_Y", 0, 13, 2),
    ("A2XX_SQ_TEX", "CLAMP_Z", 0, 16, 2),
    ("A2XX_SQ_TEX", "FORMAT", 1, 0, 4),
    # cffdump: dump_a2xx_tex_const shows the bits below an address as flags (mesa 25.0.7)
    ("A2XX_SQ_TEX", "FLAGS", 1, 0, 12),
    ("A2XX_SQ_TEX", "MIP_FLAGS", 5, 0, 12),
    # cffdump: dump_a2xx_shader_const takes the lowest four bits of a vertex fetch constant, which
    # is not described, for a format (mesa 25.0.7)
    ("A2XX_SQ_VTX", "BASE_ADDRESS", 0, 4, 28),
    ("A2XX_SQ_VTX", "FORMAT", 0, 0, 4),
    ("A2XX_SQ_VTX", "SIZE", 1, 0, 32),
    # cffdump: dump_tex_const takes the bits below the address, which hold other fields, for a part
    # of it (mesa 25.0.7, which has no a8xx: that is read in the same way)
    ("A5XX_TEX_CONST", "BASE", 4, 0, 49),
    ("A6XX_TEX_CONST", "BASE", 4, 0, 49),
    ("A8XX_TEX_MEMOBJ", "BASE", 0, 0, 49),
    # cffdump: cp_load_state takes 49 bits of the 64-bit address (mesa 25.0.7)
    ("A5XX_SSBO_2", "BASE", 0, 0, 49),
)


def _by_name() -> dict[str, dict[str, Row]]:
    rows: dict[str, dict[str, Row]] = {}
    for packet, name, dword, low, width in DEVIATIONS:
        row = (PREFIX + name, dword, low, width)
        rows.setdefault(packet, {})[PREFIX + name] = row
    return rows


#: Packet -> ``cffdump:NAME`` -> its row.
BY_NAME = _by_name()
