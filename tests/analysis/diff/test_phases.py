# SPDX-License-Identifier: MIT
"""State of clears that are no draws of the program, and are in no tile."""

from __future__ import annotations

import pytest

import cffpy
from tests.analysis.passes.batches import RECTANGLES, capture
from tests.analysis.passes.test_passes_a3xx_a4xx import begin, mode, pipes, program, tile

DRAW = (
    "CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
    " NUM_INSTANCES=1 NUM_INDICES=3"
)


def titles(*captures: bytes) -> list[str]:
    return [entry.title for entry in cffpy.diff(*map(cffpy.open, captures)).entries]


def lrz(pitch: int, of_draws: int = 128) -> bytes:
    """An LRZ buffer that is cleared before its pass."""
    return cffpy.compile(f"""pm4 1
gpu_id 740
buffer memory 0x10001000 size 4096 {{
  commands main at 0x10001000 {{
    GRAS_LRZ_BUFFER_BASE = 0x10003000
    GRAS_LRZ_BUFFER_PITCH = {{ PITCH={pitch} }}
    CP_EVENT_WRITE7 EVENT=LRZ_CLEAR
    GRAS_LRZ_BUFFER_PITCH = {{ PITCH={of_draws} }}
    CP_SET_MARKER MODE=RM6_DIRECT_RENDER
    {DRAW}
  }}
}}
stream main
""")


def test_registers_of_an_lrz_clear() -> None:
    assert titles(lrz(128), lrz(128)) == []
    assert titles(lrz(128), lrz(256)) == [
        "pass 0: GRAS_LRZ_BUFFER_PITCH.PITCH of the clear of LRZ: 128 → 256"
    ]
    (title,) = titles(lrz(128), lrz(128, of_draws=256))
    assert title.startswith("draw p0:0: GRAS_LRZ_BUFFER_PITCH.PITCH: 128 → 256")


def binned(gpu: int, offset: int) -> bytes:
    """A pass whose binning run has a clear with a viewport of its own."""
    batch = mode(pipes(begin(gpu)), "binning")
    viewport = "GRAS_CL_VPORT_XOFFSET" if gpu < 400 else "GRAS_CL_VPORT_XOFFSET_0"
    commands = batch.ib().set(viewport, offset).set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15)
    commands.draw(RECTANGLES, 2).set(viewport, 0).draw().draw(vertices=6)
    return capture(tile(batch.call(commands), 0, 32, program(batch), 0))


@pytest.mark.parametrize("gpu", [330, 430])
def test_registers_of_a_clear_in_a_binning_run(gpu: int) -> None:
    assert titles(binned(gpu, 0), binned(gpu, 0)) == []
    (title,) = titles(binned(gpu, 0), binned(gpu, 0x41000000))
    assert title.startswith("pass 0: GRAS_CL_VPORT_XOFFSET")
    assert title.endswith("of the clear in the binning run: 0.000000 → 8.000000")
