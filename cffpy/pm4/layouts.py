# SPDX-License-Identifier: MIT
"""Layouts of packet headers and of the packets that have a structure of their own.

Declared once; the readers that the machine uses and the construct structs that build packets both
come from here (see cffpy.layout). Facts: Mesa's freedreno_pm4.h and adreno_pm4.xml.
Field names follow the register database's packet domains where these have one.
"""

from __future__ import annotations

from cffpy.layout import Layout, bits, u32, u64, word

# -- headers --------------------------------------------------------------------------------------

TYPE0_HEADER = Layout(
    "type-0 header",
    word("header", bits("register", 0, 14), bits("count_minus_1", 16, 29), bits("type", 30, 31)),
)
TYPE3_HEADER = Layout(
    "type-3 header",
    word(
        "header",
        bits("predicate", 0),
        bits("zero", 1, 7),
        bits("opcode", 8, 14),
        bits("zero_15", 15),
        bits("count_minus_1", 16, 29),
        bits("type", 30, 31),
    ),
)
TYPE4_HEADER = Layout(
    "type-4 header",
    word(
        "header",
        bits("count", 0, 6),
        bits("count_parity", 7),
        bits("register", 8, 26),
        bits("register_parity", 27),
        bits("type", 28, 31),
    ),
)
TYPE7_HEADER = Layout(
    "type-7 header",
    word(
        "header",
        bits("count", 0, 13),
        bits("count_parity", 15),
        bits("opcode", 16, 22),
        bits("opcode_parity", 23),
        bits("zero", 24, 27),
        bits("type", 28, 31),
    ),
)
TYPE2_HEADER = 0x80000000

# -- streams that packets point at ----------------------------------------------------------------

INDIRECT_BUFFER_64 = Layout("CP_INDIRECT_BUFFER (64-bit)", u64("IB_BASE"), u32("IB_SIZE"))
INDIRECT_BUFFER_32 = Layout("CP_INDIRECT_BUFFER (32-bit)", u32("IB_BASE"), u32("IB_SIZE"))
START_BIN = Layout("CP_START_BIN", u32("BIN_COUNT"), u64("PREFIX_ADDR"), u32("PREFIX_DWORDS"))
FIXED_STRIDE_DRAW_TABLE = Layout(
    "CP_FIXED_STRIDE_DRAW_TABLE",
    u64("IB_BASE"),
    word("2", bits("IB_SIZE", 0, 11), bits("STRIDE", 20, 31)),
    u32("COUNT"),
)
SET_AMBLE = Layout("CP_SET_AMBLE", u64("ADDR"), word("2", bits("DWORDS", 0, 15)))
SET_RENDER_MODE = Layout(
    "CP_SET_RENDER_MODE",
    u32("MODE"),
    u64("ADDR_0"),
    u32("3"),
    u32("4"),
    u32("ADDR_1_LEN"),
    u64("ADDR_1"),
)
COMPUTE_CHECKPOINT = Layout(
    "CP_COMPUTE_CHECKPOINT",
    u64("ADDR_0"),
    u32("2"),
    u32("3"),
    u32("ADDR_1_LEN"),
    u64("ADDR_1"),
    u32("7", optional=True),
)

COND_REG_EXEC = Layout(
    "CP_COND_REG_EXEC",
    word(
        "0",
        bits("PRED_BIT", 18, 22),
        bits("BINNING", 25),
        bits("GMEM", 26),
        bits("SYSMEM", 27),
        bits("MODE", 28, 31),
    ),
    word("1", bits("DWORDS_1", 0, 23)),
    word("2", bits("DWORDS_2", 0, 23), optional=True),
)
REG_TEST = Layout(
    "CP_REG_TEST",
    word(
        "0",
        bits("REG", 0, 17),
        bits("SOURCE", 18),
        bits("BIT", 20, 24),
        bits("PRED_BIT", 26, 30),
    ),
)
COND_EXEC = Layout(
    "CP_COND_EXEC", u64("ADDR0"), u64("ADDR1"), u32("REF"), word("5", bits("DWORDS", 0, 23))
)

# -- draw state -----------------------------------------------------------------------------------

_GROUP_WORD = word(
    "0",
    bits("COUNT", 0, 15),
    bits("FLAGS", 16, 19),
    bits("ENABLE_MASK", 20, 23),
    bits("GROUP_ID", 24, 28),
)
DRAW_STATE_GROUP_64 = Layout("CP_SET_DRAW_STATE (64-bit)", _GROUP_WORD, u64("ADDR"))
DRAW_STATE_GROUP_32 = Layout("CP_SET_DRAW_STATE (32-bit)", _GROUP_WORD, u32("ADDR"))

# -- loaded state ---------------------------------------------------------------------------------

LOAD_STATE_3XX = Layout(
    "CP_LOAD_STATE",
    word(
        "0",
        bits("DST_OFF", 0, 15),
        bits("STATE_SRC", 16, 18),
        bits("STATE_BLOCK", 19, 21),
        bits("NUM_UNIT", 22, 30),
    ),
    word("1", bits("STATE_TYPE", 0, 1), bits("EXT_SRC_ADDR", 2, 31)),
)
LOAD_STATE_4XX = Layout(
    "CP_LOAD_STATE4",
    word(
        "0",
        bits("DST_OFF", 0, 13),
        bits("STATE_SRC", 16, 17),
        bits("STATE_BLOCK", 18, 21),
        bits("NUM_UNIT", 22, 30),
    ),
    word("1", bits("STATE_TYPE", 0, 1), bits("EXT_SRC_ADDR", 2, 31)),
    u32("EXT_SRC_ADDR_HI"),
)
LOAD_STATE_6XX = Layout(
    "CP_LOAD_STATE6",
    word(
        "0",
        bits("DST_OFF", 0, 13),
        bits("STATE_TYPE", 14, 15),
        bits("STATE_SRC", 16, 17),
        bits("STATE_BLOCK", 18, 21),
        bits("NUM_UNIT", 22, 30),
    ),
    word("1", bits("EXT_SRC_ADDR", 2, 31)),
    u32("EXT_SRC_ADDR_HI"),
)
BINDLESS_SOURCE = Layout(
    "bindless source of CP_LOAD_STATE6",
    word("1", bits("OFFSET", 0, 23), bits("BASE", 28, 31)),
)

# -- draws ----------------------------------------------------------------------------------------

DRAW_INDX = Layout(
    "CP_DRAW_INDX",
    u32("VIZ_QUERY"),
    word(
        "1",
        bits("PRIM_TYPE", 0, 4),
        bits("SOURCE_SELECT", 6, 7),
        bits("INDEX_32", 11),
        bits("INDEX_8", 13),
    ),
    u32("NUM_INDICES"),
    u32("INDX_BASE"),
    u32("INDX_SIZE"),
)
DRAW_INDX_OFFSET = Layout(
    "CP_DRAW_INDX_OFFSET",
    word("0", bits("PRIM_TYPE", 0, 4)),
    u32("NUM_INSTANCES"),
    u32("NUM_INDICES"),
)
DRAW_INDIRECT_64 = Layout(
    "CP_DRAW_INDIRECT (64-bit)",
    word("0", bits("PRIM_TYPE", 0, 4)),
    u32("INDIRECT_LO"),
    word("2", bits("INDIRECT_HI", 0, 16)),
)
DRAW_INDX_INDIRECT_64 = Layout(
    "CP_DRAW_INDX_INDIRECT (64-bit)",
    word("0", bits("PRIM_TYPE", 0, 4)),
    u32("INDX_BASE_LO"),
    word("2", bits("INDX_BASE_HI", 0, 16)),
    u32("MAX_INDICES"),
    u32("INDIRECT_LO"),
    word("5", bits("INDIRECT_HI", 0, 16)),
)
DRAW_INDX_INDIRECT_32 = Layout(
    "CP_DRAW_INDX_INDIRECT (32-bit)",
    word("0", bits("PRIM_TYPE", 0, 4)),
    u32("INDX_BASE"),
    u32("MAX_INDICES"),
    u32("INDIRECT"),
)

#: OPCODE of CP_DRAW_INDIRECT_MULTI (a6xx_draw_indirect_opcode); "count": it is in memory, too.
INDIRECT_MULTI_NORMAL, INDIRECT_MULTI_INDEXED, INDIRECT_MULTI_COUNT_INDEXED = 2, 4, 7
INDIRECT_MULTI = Layout(
    "CP_DRAW_INDIRECT_MULTI",
    u32("0"),
    u32("1"),
    u32("DRAW_COUNT"),
    u64("INDIRECT"),
    u32("STRIDE"),
)
INDIRECT_MULTI_INDEXED_DRAWS = Layout(
    "CP_DRAW_INDIRECT_MULTI (indexed)",
    u32("0"),
    u32("1"),
    u32("DRAW_COUNT"),
    u64("INDEX"),
    u32("MAX_INDICES"),
    u64("INDIRECT"),
    u32("STRIDE"),
)

SET_BIN = Layout(
    "CP_SET_BIN",
    u32("0"),
    word("1", bits("X1", 0, 15), bits("Y1", 16, 31)),
    word("2", bits("X2", 0, 15), bits("Y2", 16, 31)),
)

SET_BIN_DATA5 = Layout(
    "CP_SET_BIN_DATA5",
    word("0", bits("VSC_SIZE", 16, 21), bits("VSC_N", 22, 26)),
    u64("BIN_DATA_ADDR"),
    u64("BIN_SIZE_ADDRESS"),
    u64("BIN_PRIM_STRM", optional=True),
)
PSEUDO_REGISTER = Layout("CP_SET_PSEUDO_REG", word("0", bits("PSEUDO_REG", 0, 10)), u64("ADDRESS"))

# -- registers and memory -------------------------------------------------------------------------

REG_RMW = Layout("CP_REG_RMW", word("0", bits("DST_REG", 0, 15)), u32("SRC0"), u32("SRC1"))
REG_TO_MEM = Layout(
    "CP_REG_TO_MEM", word("0", bits("REG", 0, 15), bits("CNT", 19, 28)), u64("DEST")
)
MEM_TO_REG = Layout("CP_MEM_TO_REG", word("0", bits("REG", 0, 17), bits("CNT", 19, 29)))
#: CNT of the two is one less than the number of registers.
REG_TO_SCRATCH = Layout(
    "CP_REG_TO_SCRATCH",
    word("0", bits("REG", 0, 17), bits("SCRATCH", 20, 22), bits("CNT", 24, 26)),
)
SCRATCH_TO_REG = Layout(
    "CP_SCRATCH_TO_REG",
    word("0", bits("REG", 0, 17), bits("SCRATCH", 20, 22), bits("CNT", 24, 26)),
)
SCRATCH_WRITE = Layout("CP_SCRATCH_WRITE", word("0", bits("SCRATCH", 20, 22)))
REG_WRITE = Layout("CP_REG_WRITE", u32("TRACKER"), word("1", bits("REG", 0, 15)), u32("VALUE"))
WIDE_REG_WRITE = Layout("CP_WIDE_REG_WRITE", word("0", bits("REG", 0, 15)))
SET_CONSTANT = Layout(
    "CP_SET_CONSTANT",
    word("0", bits("INDEX", 0, 15), bits("TYPE", 16, 19), bits("ADD", 31)),
)
A2XX_TEXTURE_CONSTANT = Layout(
    "a2xx texture constant",
    word(
        "0",
        bits("CLAMP_X", 10, 11),
        bits("CLAMP_Y", 13, 14),
        bits("CLAMP_Z", 16, 17),
        bits("PITCH", 22, 31),
    ),
    word("1", bits("FLAGS", 0, 11), bits("BASE", 12, 31)),
    word("2", bits("WIDTH", 0, 12), bits("HEIGHT", 13, 25)),
    word("3", bits("SWIZZLE", 1, 12), bits("MAG_FILTER", 19, 20), bits("MIN_FILTER", 21, 22)),
    u32("4"),
    word("5", bits("MIP_FLAGS", 0, 11), bits("MIP_BASE", 12, 31)),
)
IM_LOAD_IMMEDIATE = Layout(
    "CP_IM_LOAD_IMMEDIATE",
    u32("SHADER_TYPE"),
    word("1", bits("SIZE", 0, 15), bits("START", 16, 31)),
)

# -- names ----------------------------------------------------------------------------------------

#: Packets that the database describes under the name of another.
PACKET_DOMAINS = {
    "CP_LOAD_STATE6_FRAG": "CP_LOAD_STATE6",
    "CP_LOAD_STATE6_GEOM": "CP_LOAD_STATE6",
}
