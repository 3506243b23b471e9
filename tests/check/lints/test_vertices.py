# SPDX-License-Identifier: MIT
"""Vertices and indices."""

from __future__ import annotations

import pytest

from tests.check.texts import checked_text, sample

DIRECT = "SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX NUM_INSTANCES=1 NUM_INDICES=3"


INDEXED = (
    "SOURCE_SELECT=DI_SRC_SEL_DMA INDEX_SIZE=INDEX4_SIZE_16_BIT NUM_INSTANCES=1 NUM_INDICES=4"
    " FIRST_INDX=1 INDX_BASE=0x100006000 MAX_INDICES=5"
)


#: The first index is not drawn; the last one restarts primitives.
INDICES = "buffer indices 0x100006000 {\n  bytes 09 00 00 00 05 00 02 00 ff ff\n}\n"


@pytest.mark.parametrize(
    ("size", "base_vertex", "draw", "said"),
    [
        (72, 0, INDEXED, None),
        (71, 0, INDEXED, "vertex buffer 0 has 71 bytes; vertex 5 with stride 12 needs 72"),
        (71, -1, INDEXED, None),
        (72, 1, INDEXED, "vertex buffer 0 has 72 bytes; vertex 6 with stride 12 needs 84"),
        (36, 1, DIRECT, "vertex buffer 0 has 36 bytes; 4 vertices with stride 12 need 48"),
    ],
)
def test_the_last_vertex(size: int, base_vertex: int, draw: str, said: str | None) -> None:
    text = sample("CFF035-fires")
    assert DIRECT in text
    offset = f"VFD_INDEX_OFFSET = {base_vertex & 0xFFFFFFFF:#x}\n    VFD_CONTROL_0 ="
    text = text.replace("SIZE = 35", f"SIZE = {size}").replace(DIRECT, draw)
    text = text.replace("VFD_CONTROL_0 =", offset).replace("stream main", f"{INDICES}\nstream main")
    found = checked_text(text, "CFF035").findings
    assert [finding._first.text for finding in found] == ([] if said is None else [said])


def test_draws_of_one_packet_have_a_limit_each() -> None:
    """MAX_INDICES is of each of them, their number of indices the sum."""
    text = sample("CFF048-quiet")
    (line,) = [one for one in text.splitlines() if "CP_DRAW_INDX_OFFSET" in one]
    for draws, count in ((2, 0), (1, 1)):
        multiple = (
            "    CP_DRAW_INDIRECT_MULTI PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_DMA"
            " INDEX_SIZE=INDEX4_SIZE_16_BIT OPCODE=INDIRECT_OP_INDEXED"
            f" DRAW_COUNT={draws} INDEX=0x100006000 MAX_INDICES=8 INDIRECT=0x100006100 STRIDE=20"
        )
        one = f"0000000{9 - 4 * (draws - 1)} 00000001 00000000 00000000 00000000\n  "
        buffer = f"buffer parameters 0x100006100 {{\n  {one * draws}}}\n\nstream main"
        changed = text.replace(line, multiple).replace("stream main", buffer)
        assert len(checked_text(changed, "CFF048").findings) == count
