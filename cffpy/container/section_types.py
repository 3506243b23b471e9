# SPDX-License-Identifier: MIT
"""The types of sections in an .rd capture, and their names."""

from __future__ import annotations


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


#: Possible sizes of the payloads without which there is nothing to decode, in bytes.
ESSENTIAL_SIZES = {
    SectionType.GPU_ID: (4,),
    SectionType.CHIP_ID: (8,),
    SectionType.GPUADDR: (8, 12),
    SectionType.CMDSTREAM_ADDR: (8, 12),
}


def section_name(section_type: int) -> str:
    """The name in the format's documents, e.g. ``RD_GPUADDR``; ``type 99`` if there is none."""
    for name, number in vars(SectionType).items():
        if number == section_type and name.isupper():
            return f"RD_{name}"
    return f"type {section_type}"
