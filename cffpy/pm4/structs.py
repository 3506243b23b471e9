# SPDX-License-Identifier: MIT
"""Packet headers, and packets that the register database does not describe, as construct Structs.

Public: for ``parse`` and ``build``. Parity bits and packet types are filled in:

    >>> from cffpy.pm4.structs import TYPE7_HEADER
    >>> TYPE7_HEADER.build({"opcode": 0x26, "count": 0}).hex()
    '00802670'

Packets that the register database does describe come from cffpy.pm4.packets. The readers that
decode streams are derived from both. Importing this module imports construct. Bit fields are
declared from bit 31 down. Facts: Mesa's freedreno_pm4.h, and what cffdump's handlers decode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from construct import BitsInteger, Const, Int32ul, Int64ul, Padding, Rebuild, Struct

from cffpy.c_numbers import odd_parity
from cffpy.struct_rows import Dword, bits, rows_of

if TYPE_CHECKING:
    from cffpy.row_readers import Rows


def _parity_of(name: str) -> Any:  # noqa: ANN401  (construct has no types)
    """A bit that is built as the odd parity of the field of this name; parsed as it is."""
    return Rebuild(BitsInteger(1), lambda this: odd_parity(this[name] or 0))


# -- headers --------------------------------------------------------------------------------------

#: Writes ``count_minus_1 + 1`` registers from ``register`` on (a2xx to a4xx).
TYPE0_HEADER = Dword(
    "type" / Const(0, BitsInteger(2)),
    "count_minus_1" / bits(14),
    Padding(1),
    "register" / bits(15),
)
#: One dword that does nothing (a2xx to a4xx).
TYPE2_HEADER = Dword("type" / Const(2, BitsInteger(2)), "zero" / Const(0, BitsInteger(30)))
#: A packet with an opcode and ``count_minus_1 + 1`` dwords of payload (a2xx to a4xx).
TYPE3_HEADER = Dword(
    "type" / Const(3, BitsInteger(2)),
    "count_minus_1" / bits(14),
    "zero_15" / bits(1),
    "opcode" / bits(7),
    "zero" / bits(7),
    "predicate" / bits(1),
)
#: Writes ``count`` registers from ``register`` on (a5xx and later).
TYPE4_HEADER = Dword(
    "type" / Const(4, BitsInteger(4)),
    "register_parity" / _parity_of("register"),
    "register" / bits(19),
    "count_parity" / _parity_of("count"),
    "count" / bits(7),
)
#: A packet with an opcode and ``count`` dwords of payload (a5xx and later).
TYPE7_HEADER = Dword(
    "type" / Const(7, BitsInteger(4)),
    "zero" / bits(4),
    "opcode_parity" / _parity_of("opcode"),
    "opcode" / bits(7),
    "count_parity" / _parity_of("count"),
    Padding(1),
    "count" / bits(14),
)

#: Headers by packet type.
HEADERS = {
    "TYPE0": TYPE0_HEADER,
    "TYPE2": TYPE2_HEADER,
    "TYPE3": TYPE3_HEADER,
    "TYPE4": TYPE4_HEADER,
    "TYPE7": TYPE7_HEADER,
}

#: The first generation whose addresses have 64 bits.
FIRST_64BIT = "A5XX"


def header_struct(word: int) -> Any:  # noqa: ANN401
    """The Struct of a packet header that is valid."""
    top = word >> 30
    return HEADERS[f"TYPE{word >> 28 if word >> 28 in (4, 7) else top}"]


# -- packets --------------------------------------------------------------------------------------

#: CP_INDIRECT_BUFFER: commands of IB_SIZE dwords at IB_BASE; with 64-bit and with 32-bit addresses.
INDIRECT_BUFFER = Struct("IB_BASE" / Int64ul, "IB_SIZE" / Int32ul)
INDIRECT_BUFFER_32 = Struct("IB_BASE" / Int32ul, "IB_SIZE" / Int32ul)

#: CP_MEM_WRITE with a 32-bit address; data follow. The database describes the 64-bit one.
MEM_WRITE_32 = Struct("ADDR" / Int32ul)

#: CP_SET_CONSTANT (a2xx): constants, or registers, of TYPE from INDEX on; values follow.
SET_CONSTANT = Struct(
    "0" / Dword("ADD" / bits(1), Padding(11), "TYPE" / bits(4), "INDEX" / bits(16)),
)
#: CP_SET_CONSTANT with ADD: the register is set to ADDEND plus the register SOURCE.
SET_CONSTANT_SUM = Struct(
    "0" / Dword("ADD" / bits(1), Padding(11), "TYPE" / bits(4), "INDEX" / bits(16)),
    "SOURCE" / Int32ul,
    "ADDEND" / Int32ul,
)
#: CP_LOAD_CONSTANT_CONTEXT (a2xx): COUNT constants of TYPE from INDEX on, from memory at ADDR.
LOAD_CONSTANT_CONTEXT = Struct(
    "ADDR" / Int32ul,
    "1" / Dword(Padding(12), "TYPE" / bits(4), "INDEX" / bits(16)),
    "COUNT" / Int32ul,
)
#: CP_IM_LOAD_IMMEDIATE (a2xx): a program; its instructions follow. START and SIZE are in dwords.
IM_LOAD_IMMEDIATE = Struct(
    "SHADER_TYPE" / Int32ul, "1" / Dword("START" / bits(16), "SIZE" / bits(16))
)
#: CP_REG_WRITE (a6xx): the description has the tracker only.
REG_WRITE = Struct(
    "0" / Dword(Padding(28), "TRACKER" / bits(4)),
    "1" / Dword(Padding(14), "REG" / bits(18)),
    "VALUE" / Int32ul,
)
#: CP_WIDE_REG_WRITE (a4xx): values for the registers from REG on follow.
WIDE_REG_WRITE = Struct("0" / Dword(Padding(14), "REG" / bits(18)))

#: CP_SET_VISIBILITY_OVERRIDE (a5xx and later): with IGNORE, draws do not use visibility streams.
SET_VISIBILITY_OVERRIDE = Struct("0" / Dword(Padding(31), "IGNORE" / bits(1)))

#: Of a20x, which counts vertices in the draw initiator of CP_DRAW_INDX.
A20X_DRAW_INDX = Struct("VIZ_QUERY" / Int32ul, "1" / Dword("NUM_INDICES" / bits(16), Padding(16)))

#: CP_SET_BIN_DATA5 and CP_SET_BIN_DATA5_OFFSET of a7xx: VSC_MASK names slots from VSC_N on; with
#: ABS_MASK_ENABLE, ABS_MASK is inserted after the first dword and names slots from 0 on. As
#: adreno_pm4.xml of Mesa releases after 25.0.7 describes it.
SET_BIN_DATA5_MASK = Struct(
    "0"
    / Dword(
        Padding(3),
        "ABS_MASK_ENABLE" / bits(1),
        Padding(1),
        "VSC_N" / bits(5),
        Padding(6),
        "VSC_MASK" / bits(16),
    ),
    "ABS_MASK" / Int32ul,
)

#: CP_LOAD_STATE6 with STATE_SRC = SS6_BINDLESS, in place of the address: a descriptor of the set
#: BASE, OFFSET dwords from its start.
BINDLESS_SOURCE = Struct(
    "0" / Int32ul, "1" / Dword("BASE" / bits(4), Padding(4), "OFFSET" / bits(24))
)

#: CP_MEM_TO_MEM, after its first dword: the sum of up to three operands is stored at DST.
MEM_TO_MEM_ADDRESSES = Struct(
    "DST" / Int64ul, "SRC_A" / Int64ul, "SRC_B" / Int64ul, "SRC_C" / Int64ul
)

# -- structures in memory -------------------------------------------------------------------------

#: What CP_DRAW_INDIRECT reads.
DRAW_INDIRECT_PARAMETERS = Struct(
    "VERTICES" / Int32ul,
    "INSTANCES" / Int32ul,
    "FIRST_VERTEX" / Int32ul,
    "FIRST_INSTANCE" / Int32ul,
)
#: What CP_DRAW_INDX_INDIRECT reads. VERTEX_OFFSET is added to each index, as a signed number.
DRAW_INDX_INDIRECT_PARAMETERS = Struct(
    "VERTICES" / Int32ul,
    "INSTANCES" / Int32ul,
    "FIRST_INDEX" / Int32ul,
    "VERTEX_OFFSET" / Int32ul,
    "FIRST_INSTANCE" / Int32ul,
)
#: What CP_EXEC_CS_INDIRECT reads: work groups.
EXEC_CS_INDIRECT_PARAMETERS = Struct(
    "NGROUPS_X" / Int32ul, "NGROUPS_Y" / Int32ul, "NGROUPS_Z" / Int32ul
)

#: A uniform buffer's descriptor (a5xx), of which the database lacks SIZE, in vectors of four.
A5XX_UBO = Struct("BASE_LO" / Int32ul, "1" / Dword("SIZE" / bits(15), "BASE_HI" / bits(17)))

#: Structures by the name that readers ask for: of generations with 32-bit and 64-bit addresses.
_BOTH = {
    "CP_SET_CONSTANT": SET_CONSTANT,
    "CP_SET_CONSTANT:SUM": SET_CONSTANT_SUM,
    "CP_LOAD_CONSTANT_CONTEXT": LOAD_CONSTANT_CONTEXT,
    "CP_IM_LOAD_IMMEDIATE": IM_LOAD_IMMEDIATE,
    "CP_REG_WRITE": REG_WRITE,
    "CP_WIDE_REG_WRITE": WIDE_REG_WRITE,
    "CP_SET_VISIBILITY_OVERRIDE": SET_VISIBILITY_OVERRIDE,
    "CP_DRAW_INDX:A20X": A20X_DRAW_INDX,
    "CP_SET_BIN_DATA5:MASK": SET_BIN_DATA5_MASK,
    "CP_LOAD_STATE6:BINDLESS": BINDLESS_SOURCE,
    "CP_MEM_TO_MEM:ADDRESSES": MEM_TO_MEM_ADDRESSES,
    "A5XX_UBO:SIZED": A5XX_UBO,
    "DRAW_INDIRECT_PARAMETERS": DRAW_INDIRECT_PARAMETERS,
    "DRAW_INDX_INDIRECT_PARAMETERS": DRAW_INDX_INDIRECT_PARAMETERS,
    "EXEC_CS_INDIRECT_PARAMETERS": EXEC_CS_INDIRECT_PARAMETERS,
}


def undescribed(is_64bit: bool) -> dict[str, Any]:
    """The structures that the register database does not describe, by name.

    ``NAME:VARIANT`` is another form of the packet NAME.
    """
    indirect_buffer = INDIRECT_BUFFER if is_64bit else INDIRECT_BUFFER_32
    structs = dict.fromkeys(("CP_INDIRECT_BUFFER", "CP_INDIRECT_BUFFER_PFD"), indirect_buffer)
    if not is_64bit:
        structs["CP_MEM_WRITE"] = MEM_WRITE_32
    return {**structs, **_BOTH}


def compile_headers() -> dict[str, Rows]:
    """The rows of each header, as the compiled form holds them."""
    return {name: rows_of(header) for name, header in HEADERS.items()}
