# SPDX-License-Identifier: MIT
"""Draws that draw nothing, or that do the work of a clear."""

from __future__ import annotations

import struct

import pytest

from tests.check.texts import checked_text, sample
from tests.selection import first_always


def floats(*values: float) -> str:
    return struct.pack(f"<{len(values)}f", *values).hex(" ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("primitive", "vertices", "covers"),
    first_always(
        [
            ("TRILIST", (-1, -1, 3, -1, -1, 3), True),
            ("TRILIST", (-1, -1, 2.9, -1, -1, 3), False),
            ("TRISTRIP", (-1, -1, 1, -1, -1, 1, 1, 1), True),
            ("TRISTRIP", (-1, -1, 1, -1, 1, 1, -1, 1), False),
            ("TRIFAN", (-1, -1, 1, -1, 1, 1, -1, 1), True),
            ("TRISTRIP", (-1, -1, 0.5, -1, -1, 1, 0.5, 1), False),
            ("TRILIST", (-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1), True),
            ("TRILIST", (-1, -1, 1, -1, 1, 1, -1, -1, 1, -1, 1, 1), False),
            ("TRILIST", (-1, -1, float("nan"), -1, -1, 3), False),
        ],
        names=3,
    ),
)
def test_vertices_that_cover_the_target(
    primitive: str, vertices: tuple[float, ...], covers: bool
) -> None:
    text = sample("CFF008-fires")
    before = floats(-1, -1, 3, -1, -1, 3)
    words = " ".join(f"{word:08x}" for word in struct.unpack("<6I", bytes.fromhex(before)))
    assert words in text
    count = len(vertices) // 2
    text = text.replace(words, f"bytes {floats(*vertices)}").replace(
        "SIZE = 24", f"SIZE = {8 * count}"
    )
    text = text.replace("DI_PT_TRILIST", f"DI_PT_{primitive}", 1)
    text = text.replace("NUM_INDICES=3\n", f"NUM_INDICES={count}\n")
    assert bool(checked_text(text, "CFF008").findings) == covers
    for change in (
        ("    end\n    nop", "    mov.f32f32 r0.x, c0.x\n    end"),  # of the vertex program
        ("GRAS_CL_VPORT[0].XOFFSET", "GRAS_SU_CNTL = { CULL_BACK }\n    GRAS_CL_VPORT[0].XOFFSET"),
        ("DECODE_CNT=1", "DECODE_CNT=2"),
    ):
        assert change[0] in text
        assert not checked_text(
            text[::-1].replace(change[0][::-1], change[1][::-1], 1)[::-1], "CFF008"
        ).findings
