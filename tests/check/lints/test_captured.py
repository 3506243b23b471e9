# SPDX-License-Identifier: MIT
"""Commands, programs and indices that a capture does not hold."""

from __future__ import annotations

import pytest

import cffpy
from tests.builders import capture, type3, type7
from tests.check.texts import checked_text, sample

CP_INDIRECT_BUFFER = 0x3F


@pytest.mark.parametrize("ndwords", [0, 1, 2])
@pytest.mark.parametrize("gpu", [320, 630])
def test_a_call_that_is_too_short_asks_for_nothing(gpu: int, ndwords: int) -> None:
    packet = type3 if gpu < 500 else type7
    values = [0x200000, 0x10][:ndwords]
    if packet is type3 and not values:
        pytest.skip("a packet of type 3 has a dword or more")
    found = cffpy.open(capture(gpu, packet(CP_INDIRECT_BUFFER, *values))).check(["CFF038"])
    assert len(found) == (gpu < 500 and ndwords == 2)


INDEXED_DRAW = "FIRST_INDX=2 INDX_BASE=0x100006000 MAX_INDICES=8"


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (INDEXED_DRAW, []),
        ("FIRST_INDX=2 INDX_BASE=0x0 MAX_INDICES=8", ["INDX_BASE is 0"]),
        (
            "FIRST_INDX=0 INDX_BASE=0x100006008 MAX_INDICES=8",
            ["6 indices have 12 bytes, of which the buffer has 8"],
        ),
        # the GPU reads no more than MAX_INDICES, which CFF048 is about
        ("FIRST_INDX=0 INDX_BASE=0x100006008 MAX_INDICES=4", []),
        (
            "FIRST_INDX=2 INDX_BASE=0x100009000 MAX_INDICES=8",
            ["INDX_BASE 0x100009000 lies in no buffer of the submit"],
        ),
    ],
)
def test_indices_outside_of_their_buffer(draw: str, said: list[str]) -> None:
    text = sample("CFF047-quiet")
    assert INDEXED_DRAW in text
    found = checked_text(text.replace(INDEXED_DRAW, draw), "CFF047").findings
    assert [one._first.text for one in found] == said


def test_an_address_without_a_buffer_in_a_capture_of_all_buffers() -> None:
    """Where the target is in the capture, all buffers are."""
    text = sample("CFF037-fires")
    text = text.replace("SP_FS_OBJ_START = 0x0", "SP_FS_OBJ_START = 0x100008000")
    (found,) = checked_text(text, "CFF037").findings
    assert (found.severity, found._first.text) == (
        "info",
        "the FS program at 0x100008000 was not captured",
    )
    target = "buffer target 0x100100000 size 131072 {\n  fill 0x0 * 4\n}\n\nstream main"
    (found,) = checked_text(text.replace("stream main", target), "CFF037").findings
    assert (found.severity, found._first.text) == (
        "error",
        "the FS program at 0x100008000 lies in no buffer of the submit",
    )


OLD_PROGRAM = """pm4 1
gpu_id {gpu}
buffer commands 0x10001000 size 4096 {{
  commands main at 0x10001000 {{
    HLSQ_VS_CONTROL_REG = {{ INSTRLENGTH=2 }}
    {write}
    CP_LOAD_STATE{form} STATE_SRC={source} STATE_BLOCK={block} NUM_UNIT=1 STATE_TYPE={kind}
    + 00000000 03000000
    {draw}
  }}
}}
buffer programs 0x10003000 size {size} {{
  bytes 00 00 00 00 00 00 00 03
}}
stream main
"""


OLD = {
    320: {
        "write": "SP_VS_OBJ_START_REG = {}",
        "form": "",
        "source": "SS_{}",
        "block": "SB_VERT_SHADER",
        "kind": "ST_SHADER",
        "draw": "CP_DRAW_INDX PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
        " NUM_INDICES=3",
    },
    420: {
        "write": "SP_VS_OBJ_START = {}",
        "form": "4",
        "source": "SS4_{}",
        "block": "SB4_VS_SHADER",
        "kind": "ST4_SHADER",
        "draw": "CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
        " NUM_INSTANCES=1 NUM_INDICES=3",
    },
}


@pytest.mark.parametrize(
    ("gpu", "address", "size", "source", "said"),
    [
        (320, "0x10003000", 64, "INDIRECT", None),
        (320, "0x10003000", 60, "INDIRECT", "has 64 bytes, of which 60 were captured"),
        (320, "0x0", 64, "INDIRECT", "the VS program has address 0"),
        (320, "0x0", 64, "DIRECT", None),
        (420, "0x10003000", 256, "INDIRECT", None),
        (420, "0x10003000", 252, "INDIRECT", "has 256 bytes, of which 252 were captured"),
        (420, "0x20000000", 256, "INDIRECT", "at 0x20000000 was not captured"),
        (420, "0x20000000", 256, "DIRECT", None),
    ],
)
def test_programs_of_old_generations(
    gpu: int, address: str, size: int, source: str, said: str | None
) -> None:
    """They may lie in packets; their sizes have other units."""
    form = dict(OLD[gpu])
    form["write"] = form["write"].format(address)
    form["source"] = form["source"].format(source)
    text = OLD_PROGRAM.format(gpu=gpu, size=size, **form)
    found = [one._first.text for one in checked_text(text, "CFF037").findings]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]
