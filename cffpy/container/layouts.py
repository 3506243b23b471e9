# SPDX-License-Identifier: MIT
"""The layouts of the .rd container: the only declarations of its sections and payloads.

All numbers are little-endian. The declarations are plain tables (see ``cffpy.layout``): construct
structs for building and the fast readers are both made from them, and declaring imports nothing.
Facts: the format that freedreno's libwrap and turnip write and Mesa's cffdump reads.
"""

from __future__ import annotations

from cffpy.layout import Layout, u32, u64


class SectionType:
    """The types of sections that writers are known to use: plain numbers."""

    NONE = 0
    TEST = 1
    CMD = 2
    GPUADDR = 3
    CONTEXT = 4
    CMDSTREAM = 5
    CMDSTREAM_ADDR = 6
    PARAM = 7
    FLUSH = 8
    PROGRAM = 9
    VERT_SHADER = 10
    FRAG_SHADER = 11
    BUFFER_CONTENTS = 12
    GPU_ID = 13
    CHIP_ID = 14
    SHADER_LOG_BUFFER = 15
    CP_LOG_BUFFER = 16
    WRBUFFER = 17


def section_name(section_type: int) -> str:
    """The name in the format's documents, e.g. ``RD_GPUADDR``; ``type 99`` if there is none."""
    for name, number in vars(SectionType).items():
        if number == section_type and name.isupper():
            return f"RD_{name}"
    return f"type {section_type}"


#: Before each section; ``size`` is the payload's, in bytes, and need not be a multiple of 4.
SECTION_HEADER = Layout("section header", u32("type"), u32("size"))

#: Any number of these may stand before a section: lets a reader find its place after damage.
RESYNC_MARKER = Layout(
    "resync marker", u32("first", default=0xFFFFFFFF), u32("second", default=0xFFFFFFFF)
)

#: RD_GPUADDR: the address of the next RD_BUFFER_CONTENTS; ``length`` in bytes.
GPU_ADDRESS = Layout(
    "RD_GPUADDR", u32("address_low"), u32("length"), u32("address_high", optional=True)
)

#: RD_CMDSTREAM_ADDR: a command stream to execute; ``dwords`` is its length in dwords.
COMMAND_STREAM_ADDRESS = Layout(
    "RD_CMDSTREAM_ADDR", u32("address_low"), u32("dwords"), u32("address_high", optional=True)
)

#: RD_PARAM: ``value`` has ``bit_length`` meaningful bits.
PARAMETER = Layout("RD_PARAM", u32("parameter"), u32("value"), u32("bit_length"))

#: RD_GPU_ID: the GPU's number in decimal, e.g. 630.
GPU_ID = Layout("RD_GPU_ID", u32("gpu_id"))

#: RD_CHIP_ID: core, major, minor, patch in bits 31:0, fuses in 47:32.
CHIP_ID = Layout("RD_CHIP_ID", u64("chip_id"))
