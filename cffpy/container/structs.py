# SPDX-License-Identifier: MIT
r"""The sections of an .rd capture as construct Structs. Public: for ``parse`` and ``build``.

    >>> from cffpy.container.structs import SECTION_HEADER
    >>> SECTION_HEADER.build({"type": 13, "size": 4})
    b'\r\x00\x00\x00\x04\x00\x00\x00'
    >>> SECTION_HEADER.parse(_).size
    4

All numbers are little-endian. Sizes are in bytes unless a name says dwords. The readers that
decode captures are derived from these declarations (cffpy.container.rd). Importing this module
imports construct. Facts: the format that freedreno's libwrap and turnip write and Mesa's cffdump
reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from construct import (
    Bytes,
    Const,
    GreedyRange,
    Int32ul,
    Int64ul,
    Optional,
    RestreamData,
    Struct,
    Switch,
    this,
)

from cffpy.container.section_types import SectionType
from cffpy.struct_rows import rows_of, shortened

if TYPE_CHECKING:
    from cffpy.row_readers import Rows

#: Before each section; ``size`` is the payload's, in bytes, and need not be a multiple of 4.
SECTION_HEADER = Struct("type" / Int32ul, "size" / Int32ul)

#: Any number of these may stand before a section: lets a reader find its place after damage.
RESYNC_MARKER = Struct("first" / Const(0xFFFFFFFF, Int32ul), "second" / Const(0xFFFFFFFF, Int32ul))

#: RD_GPUADDR: the address of the next RD_BUFFER_CONTENTS; ``length`` in bytes. Old writers leave
#: ``address_high`` out.
GPU_ADDRESS = shortened(
    "address_low" / Int32ul, "length" / Int32ul, "address_high" / Int32ul, required=2
)

#: RD_CMDSTREAM_ADDR: a command stream to execute; ``dwords`` is its length in dwords.
COMMAND_STREAM_ADDRESS = shortened(
    "address_low" / Int32ul, "dwords" / Int32ul, "address_high" / Int32ul, required=2
)

#: RD_PARAM: ``value`` has ``bit_length`` meaningful bits.
PARAMETER = Struct("parameter" / Int32ul, "value" / Int32ul, "bit_length" / Int32ul)

#: RD_GPU_ID: the GPU's number in decimal, e.g. 630.
GPU_ID = Struct("gpu_id" / Int32ul)

#: RD_CHIP_ID: core, major, minor, patch in bits 31:24, 23:16, 15:8, 7:0, fuses in 47:32.
CHIP_ID = Struct("chip_id" / Int64ul)

#: A section with the markers before it. ``data``: its bytes. ``payload``: the same as a structure,
#: None where that is not known; nothing is built from it.
SECTION = Struct(
    "markers" / GreedyRange(RESYNC_MARKER),
    "type" / Int32ul,
    "size" / Int32ul,
    "data" / Bytes(this.size),
    "payload"
    / RestreamData(
        this.data,
        Optional(
            Switch(
                this.type,
                {
                    SectionType.GPUADDR: GPU_ADDRESS,
                    SectionType.CMDSTREAM_ADDR: COMMAND_STREAM_ADDRESS,
                    SectionType.PARAM: PARAMETER,
                    SectionType.GPU_ID: GPU_ID,
                    SectionType.CHIP_ID: CHIP_ID,
                },
            )
        ),
    ),
)

#: A decompressed capture: its sections up to the first that is damaged.
CAPTURE = GreedyRange(SECTION)

#: The structures that captures are decoded by.
STRUCTS = {
    "SECTION_HEADER": SECTION_HEADER,
    "RESYNC_MARKER": RESYNC_MARKER,
    "GPU_ADDRESS": GPU_ADDRESS,
    "COMMAND_STREAM_ADDRESS": COMMAND_STREAM_ADDRESS,
    "PARAMETER": PARAMETER,
    "GPU_ID": GPU_ID,
    "CHIP_ID": CHIP_ID,
}


def compile_rows() -> dict[str, Rows]:
    """The rows of each structure, as the compiled form holds them."""
    return {name: rows_of(structure) for name, structure in STRUCTS.items()}
