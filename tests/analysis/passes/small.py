# SPDX-License-Identifier: MIT
"""A small capture of every kind of thing, for tests of views and commands."""

from __future__ import annotations

from tests.analysis.passes.streams import Streams

COLOUR = 0x1_0010_0000
VS, FS = 0x2_0000_0000, 0x2_0000_1000
BEGIN, END = 0x4245474E, 0x454E4400

#: The text of the debug marker around the second pass: what a terminal would obey.
HOSTILE = "\x1b[31mred\x07"


def text_dwords(text: str) -> list[int]:
    """A debug marker's text as the dwords of a CP_NOP."""
    raw = text.encode() + b"\0"
    raw += bytes(-len(raw) % 4)
    return [int.from_bytes(raw[at : at + 4], "little") for at in range(0, len(raw), 4)]


def store(s: Streams) -> list[int]:
    """A BLIT event that stores GMEM 0 to COLOUR."""
    return [
        *s.scissor("RB_BLIT_SCISSOR", 0, 0, 200, 90),
        *s.reg("RB_BLIT_INFO", TYPE="BLIT_EVENT_STORE"),
        *s.reg("RB_BLIT_BASE_GMEM", value=0),
        *s.address("RB_BLIT_DST", COLOUR),
        *s.reg("RB_BLIT_DST_INFO", COLOR_FORMAT="FMT6_8_8_8_8_UNORM"),
        *s.event("BLIT"),
    ]


def small_capture(gpu: int = 630) -> bytes:
    """Two submits: a copy and a GMEM pass of two tiles; a sysmem pass with a skipped draw.

    Draws of the dump: 0 the copy; 1 to 3 and 4 to 6 draw, draw, store; 7 skipped; 8, 9 drawn.
    """
    s = Streams(gpu)
    state = [
        *s.reg("RB_FS_OUTPUT_CNTL1", MRT=1),
        *s.reg("RB_DEST_MSAA_CNTL", SAMPLES=0),
        *s.reg("RB_MRT[0].BUF_INFO", COLOR_FORMAT="FMT6_8_8_8_8_UNORM", COLOR_TILE_MODE="TILE6_3"),
        *s.reg("RB_MRT[0].PITCH", value=1024),
        *s.address("RB_MRT[0].BASE", COLOUR),
        *s.reg("RB_MRT[0].BASE_GMEM", value=0),
        *s.address("SP_VS_OBJ_START", VS),
        *s.address("SP_FS_OBJ_START", FS),
        *s.reg("SP_VS_CONFIG", ENABLED=1),
        *s.reg("SP_FS_CONFIG", ENABLED=1),
    ]
    group = s.group(2, s.reg("GRAS_LRZ_CNTL", ENABLE=1))
    draws = s.ib(state, group, s.draw(36, instances=5), s.draw(6))
    tiles = []
    for x, width in ((0, 128), (128, 72)):
        tiles += [
            *s.marker("RM6_BIN_RENDER_START"),
            *s.scissor("GRAS_SC_WINDOW_SCISSOR", x, 0, width, 90),
            *s.point("RB_WINDOW_OFFSET", x, 0),
            *s.reg("RB_BIN_CONTROL", BINW=128, BINH=96),
            *draws,
            *s.ib(s.marker("RM6_BIN_RESOLVE"), store(s)),
        ]
    direct = [
        *s.packet("CP_NOP", BEGIN, *text_dwords(HOSTILE)),
        *s.marker("RM6_DIRECT_RENDER"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 64, 32),
        *s.only("gmem", commands=s.draw(99)),
        *s.ib(s.draw(), s.when(3, s.draw(12))),
        *s.packet("CP_NOP", END),
    ]
    return s.capture([[s.packet("CP_BLIT", 3), tiles]], [[direct]])
