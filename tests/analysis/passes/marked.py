# SPDX-License-Identifier: MIT
"""Parts of passes of a6xx and a7xx, as turnip and freedreno build theirs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cffpy.frame.passes import Operation, Pass
from tests.analysis.passes.streams import Streams

COLOUR, DEPTH, OTHER = 0x1_0010_0000, 0x1_0080_0000, 0x1_00F0_0000
GMEM_DEPTH = 0x40000
BOTH = pytest.mark.parametrize("gpu", [630, 740])


def bins(s: Streams, width: int, height: int, mode: str = "RENDERING_PASS") -> list[int]:
    return s.reg("RB_BIN_CONTROL", BINW=width, BINH=height, RENDER_MODE=mode)


def targets(
    s: Streams, colours: int = 1, depth: bool = True, samples: int = 0, pitch: int = 1024
) -> list[int]:
    """Colour buffers at COLOUR and, with depth, a buffer after them. ``pitch``: bytes a row."""
    code = [
        *s.reg("RB_FS_OUTPUT_CNTL1", MRT=colours),
        *s.reg("RB_DEST_MSAA_CNTL", SAMPLES=samples),
        *s.reg("RB_DEPTH_BUFFER_INFO", DEPTH_FORMAT="DEPTH6_32" if depth else "DEPTH6_NONE"),
    ]
    for index in range(colours):
        code += s.reg(
            f"RB_MRT[{index}].BUF_INFO",
            COLOR_FORMAT="FMT6_8_8_8_8_UNORM",
            COLOR_TILE_MODE="TILE6_3",
        )
        code += s.reg(f"RB_MRT[{index}].PITCH", value=pitch)
        code += s.address(f"RB_MRT[{index}].BASE", COLOUR + 0x10000 * index)
        code += s.reg(f"RB_MRT[{index}].BASE_GMEM", value=0x8000 * index)
        code += s.reg(f"RB_MRT[{index}].CONTROL", COMPONENT_ENABLE=0xF)
    if depth:
        code += s.address("RB_DEPTH_BUFFER_BASE", DEPTH)
        code += s.reg("RB_DEPTH_BUFFER_BASE_GMEM", value=GMEM_DEPTH)
        code += s.reg("RB_DEPTH_CNTL", Z_TEST_ENABLE=1, Z_WRITE_ENABLE=1)
    return code


def move(
    s: Streams, kind: str, gmem: int, memory: int = 0, depth: bool = False, samples: int = 0
) -> list[int]:
    """A BLIT event between GMEM and memory, or a clear; ``samples`` (log2) of what is in memory."""
    destination = {"COLOR_FORMAT": "FMT6_8_8_8_8_UNORM", "TILE_MODE": "TILE6_3", "SAMPLES": samples}
    return [
        *s.reg("RB_BLIT_INFO", TYPE=f"BLIT_EVENT_{kind}", DEPTH=int(depth)),
        *s.reg("RB_BLIT_BASE_GMEM", value=gmem),
        *s.address("RB_BLIT_DST", memory),
        *s.reg("RB_BLIT_DST_INFO", **destination),
        *(s.raw("RB_BLIT_CLEAR_COLOR_DW0", 1, 2, 3, 4) if kind == "CLEAR" else []),
        *s.event("BLIT"),
    ]


def sysmem(s: Streams, *body: Sequence[int], width: int = 300, height: int = 200) -> list[int]:
    return [
        *s.marker("RM6_DIRECT_RENDER"),
        *s.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, width, height),
        *s.raw("RB_BIN_CONTROL", 0),
        *s.ib(targets(s), *body),
        *s.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0),
    ]


def tile(
    s: Streams,
    x: int,
    y: int,
    width: int,
    height: int,
    draws: Sequence[int],
    stores: Sequence[int] = (),
    before: Sequence[int] = (),
    bin_width: int = 128,
) -> list[int]:
    """A tile as turnip has it; ``before``: commands in front of the IB of the draws."""
    return [
        *s.marker("RM6_BIN_RENDER_START"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", x, y, width, height),
        *s.point("RB_WINDOW_OFFSET", x, y),
        *bins(s, bin_width, 96),
        *before,
        *draws,
        *s.ib(s.marker("RM6_BIN_RESOLVE"), stores),
    ]


def between(s: Streams) -> list[int]:
    """What turnip has between two passes."""
    return [*s.event("LRZ_FLUSH"), *s.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0)]


def only(passes: list[Pass]) -> Pass:
    (found,) = passes
    return found


def told(operations: Sequence[Operation]) -> list[tuple[str, str | None, str, bool | None]]:
    return [(one.kind, one.attachment, one.how, one.action.execution.value) for one in operations]
