# SPDX-License-Identifier: MIT
"""Builds the sample captures of this folder: ``python samples/build.py [FOLDER]``.

Each sample is a small, made-up program for the command processor, written out below packet by
packet. No GPU, driver or recorded capture had a part in them. Running this again gives the same
bytes. The packets are put together here by hand, apart from cffpy's own layouts, so that decoding
the samples also checks those. Register names and offsets are those of the register database.
"""

from __future__ import annotations

import os
import struct
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(_FOLDER))

from cffpy.container.writer import (  # noqa: E402
    buffer_sections,
    capture_bytes,
    chip_id_section,
    command_section,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
    gzip_bytes,
)

# --- packets ------------------------------------------------------------------------------------

CP_NOP = 0x10
CP_DRAW_INDX = 0x22
CP_WAIT_FOR_IDLE = 0x26
CP_SET_CONSTANT = 0x2D
CP_DRAW_INDX_OFFSET = 0x38
CP_INDIRECT_BUFFER = 0x3F
CP_SET_DRAW_STATE = 0x43
CP_EVENT_WRITE = 0x46
CP_SET_MARKER = 0x65


def odd_parity(value: int) -> int:
    """The bit that makes the number of set bits odd."""
    return 1 - value.bit_count() % 2


def type0(register: int, *values: int) -> list[int]:
    """Registers from ``register`` on, up to a4xx."""
    return [(len(values) - 1) << 16 | register, *values]


def type3(opcode: int, *values: int) -> list[int]:
    """A command, up to a4xx."""
    return [0xC0000000 | (len(values) - 1) << 16 | opcode << 8, *values]


def type4(register: int, *values: int) -> list[int]:
    """Registers from ``register`` on, since a5xx."""
    count = len(values)
    return [
        0x40000000 | count | odd_parity(count) << 7 | register << 8 | odd_parity(register) << 27,
        *values,
    ]


def type7(opcode: int, *values: int) -> list[int]:
    """A command, since a5xx."""
    count = len(values)
    return [
        0x70000000 | count | odd_parity(count) << 15 | opcode << 16 | odd_parity(opcode) << 23,
        *values,
    ]


def pair(address: int) -> tuple[int, int]:
    """A 64-bit address as two dwords, the low one first."""
    return address & 0xFFFFFFFF, address >> 32


def xy(x: int, y: int) -> int:
    """A point as scissor registers hold it."""
    return y << 16 | x


def float_bits(value: float) -> int:
    """A 32-bit float as a register holds it."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


# --- a6xx ---------------------------------------------------------------------------------------

A6XX_COMMANDS = 0x1_0000_1000  # above 4 GiB, so that the high halves of addresses matter
A6XX_DRAWS = 0x1_0000_2000
A6XX_STATE = 0x1_0000_3000
A6XX_INDICES = 0x1_0000_4000
A6XX_FENCE = 0x1_0000_5000  # not captured
A6XX_TARGET = 0x1_0010_0000  # not captured


def a630_triangle() -> bytes:
    """One submit: IB1 sets up a target and calls IB2, which draws three indices directly."""
    state = [
        *type4(0x8871, 0b11 | 1 << 2 | 1 << 6),  # RB_DEPTH_CNTL: test, write, FUNC_LESS, read
        *type4(0x8114, 1),  # GRAS_SU_DEPTH_CNTL: test
        *type4(0x8090, 1 << 1 | 2 << 3),  # GRAS_SU_CNTL: cull back, lines half a pixel
    ]
    draws = [
        # One group of state, number 3, for binning, GMEM and sysmem.
        *type7(CP_SET_DRAW_STATE, len(state) | 0b111 << 20 | 3 << 24, *pair(A6XX_STATE)),
        *type4(0xA00E, 0, 0),  # VFD_INDEX_OFFSET, VFD_INSTANCE_START_OFFSET
        *type7(
            CP_DRAW_INDX_OFFSET,
            4 | 0 << 6 | 1 << 10,  # triangles, indices by DMA, 16 bits each
            1,  # instances
            3,  # indices
            0,  # first index
            *pair(A6XX_INDICES),
            3,  # indices in the buffer
        ),
    ]
    commands = [
        *type7(CP_NOP, 0x636666, 0x7079),
        *type7(CP_EVENT_WRITE, 0x31),  # CACHE_INVALIDATE
        *type7(CP_WAIT_FOR_IDLE),
        *type7(CP_SET_MARKER, 1),  # RM6_DIRECT_RENDER
        *type4(0x80F0, xy(0, 0), xy(63, 63)),  # GRAS_SC_WINDOW_SCISSOR_TL, _BR
        *type4(0x80A1, 3 << 22),  # GRAS_BIN_CONTROL: buffers in sysmem
        *type4(0x8800, 3 << 22),  # RB_BIN_CONTROL
        # RB_MRT[0]: CONTROL to BASE_GMEM; 64 x 64 pixels of FMT6_8_8_8_8_UNORM, linear
        *type4(0x8820, 0xF << 7, 0, 0x30, 256 >> 6, 256 * 64 >> 6, *pair(A6XX_TARGET), 0),
        *type7(CP_INDIRECT_BUFFER, *pair(A6XX_DRAWS), len(draws)),
        *type7(CP_EVENT_WRITE, 0x1D, *pair(A6XX_FENCE), 1),  # PC_CCU_FLUSH_COLOR_TS
    ]
    return capture_bytes(
        [
            gpu_id_section(630),
            command_section("triangle/1: fence=1"),
            *buffer_sections(A6XX_COMMANDS, dwords_bytes(commands)),
            *buffer_sections(A6XX_DRAWS, dwords_bytes(draws)),
            *buffer_sections(A6XX_STATE, dwords_bytes(state)),
            *buffer_sections(A6XX_INDICES, struct.pack("<3H", 0, 1, 2)),
            command_stream_section(A6XX_COMMANDS, len(commands)),
        ]
    )


# --- a2xx ---------------------------------------------------------------------------------------

A2XX_COMMANDS = 0x10000000
A2XX_DRAWS = 0x10001000
REGISTERS = 4 << 16  # CP_SET_CONSTANT: constants of type 4 are registers, from 0x2000 on


def a220_triangle() -> bytes:
    """One submit of 32-bit packets; its sections name addresses without a high dword."""
    draws = [
        *type3(CP_SET_CONSTANT, REGISTERS | 0x104, 0xF),  # RB_COLOR_MASK: all channels
        *type3(
            CP_SET_CONSTANT,
            REGISTERS | 0x10F,  # PA_CL_VPORT_XSCALE to _ZOFFSET
            *(float_bits(value) for value in (32.0, 32.0, -32.0, 32.0, 0.5, 0.5)),
        ),
        *type3(CP_DRAW_INDX, 0, 4 | 2 << 6 | 1 << 14, 3),  # triangles, automatic indices, three
    ]
    commands = [
        *type0(0x0E1E, 2),  # TP0_CHICKEN
        *type0(0x2000, 64, 5),  # RB_SURFACE_INFO: pitch 64; RB_COLOR_INFO: COLORX_8_8_8_8
        *type3(CP_SET_CONSTANT, REGISTERS | 0x81, xy(0, 0), xy(64, 64)),  # window scissor
        *type3(CP_SET_CONSTANT, REGISTERS | 0x200, 0),  # RB_DEPTHCONTROL: no test
        *type3(CP_INDIRECT_BUFFER, A2XX_DRAWS, len(draws)),
        *type3(CP_WAIT_FOR_IDLE, 0),
    ]
    return capture_bytes(
        [
            chip_id_section(0x02020000),
            gpu_id_section(220),
            command_section("triangle"),  # 8 bytes; an odd length would leave the rest unaligned
            *buffer_sections(A2XX_COMMANDS, dwords_bytes(commands), short=True),
            *buffer_sections(A2XX_DRAWS, dwords_bytes(draws), short=True),
            command_stream_section(A2XX_COMMANDS, len(commands), short=True),
        ]
    )


# --- the files ----------------------------------------------------------------------------------


def damaged() -> bytes:
    """The first sample twice, with resync markers; its second half stops amid a buffer."""
    triangle = a630_triangle()
    marker = b"\xff" * 8
    return marker * 2 + triangle + marker + triangle[: len(triangle) - 150]


def samples() -> dict[str, bytes]:
    """File name -> content of the file."""
    triangle = gzip_bytes(a630_triangle())
    return {
        "a630-triangle.rd.gz": triangle,
        "a220-triangle.rd": a220_triangle(),
        "damaged.rd.gz": gzip_bytes(damaged()),
        "damaged-gzip.rd.gz": triangle[: len(triangle) * 2 // 3],
    }


def main() -> None:
    """Write all samples to the folder named on the command line, or to this one."""
    folder = sys.argv[1] if len(sys.argv) > 1 else _FOLDER
    for name, content in samples().items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
