# SPDX-License-Identifier: MIT
"""Draw-state groups and markers of a8xx: 64 groups, modes of 7 bits."""

from __future__ import annotations

import cffpy

DRAW = (
    "CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
    " NUM_INSTANCES=1 NUM_INDICES=3"
)


def capture(commands: str) -> cffpy.Capture:
    text = f"""pm4 1
gpu a8xx
chip_id 0x44050001
buffer memory 0x100001000 size 8192 {{
  commands main at 0x100001000 {{
    CP_SET_MARKER MODE=RM6_DIRECT_RENDER
    {commands}
    {DRAW}
  }}
  commands low at 0x100002000 {{
    RB_DEPTH_CNTL = {{ Z_TEST_ENABLE }}
  }}
  commands high at 0x100002100 {{
    RB_BLEND_CNTL = 0x1
  }}
}}
stream main
"""
    return cffpy.open(cffpy.compile(text))


def group(number: int, name: str) -> str:
    return f"+ COUNT=sizeof({name}) BINNING GMEM SYSMEM GROUP_ID={number} ADDR={name}\n"


def test_a_group_beyond_31_is_not_another_one() -> None:
    """Group 40 does not take the place of group 8."""
    with capture("CP_SET_DRAW_STATE\n" + group(8, "low") + group(40, "high")) as found:
        state = found.draws[0].state
        assert state["RB_DEPTH_CNTL"].Z_TEST_ENABLE
        assert state["RB_BLEND_CNTL"].value == 1


def test_the_end_of_a_depth_pass_is_no_sysmem_pass() -> None:
    """RM8_DEPTH_PASS_END (0x21) has RM6_DIRECT_RENDER in its lowest four bits."""
    marker = "CP_SET_MARKER MODE=RM8_DEPTH_PASS_END"
    with capture(marker) as with_it, capture("CP_NOP") as without:
        assert [one.mode for one in with_it.passes] == [one.mode for one in without.passes]
        assert len(with_it.passes) == len(without.passes)
