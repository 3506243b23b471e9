# SPDX-License-Identifier: MIT
"""Descriptors that were loaded before the run of a draw: it has those that its programs name."""

from __future__ import annotations

import pytest

import cffpy

#: ``sam (f32)(xyzw)r1.x, r0.z, s#0, t#0``, and an end.
SAMPLING = "00000005 a0c01f04 00000000 03000000"
NOT_SAMPLING = "00000000 03000000"

DRAW = (
    "CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
    " NUM_INSTANCES=1 NUM_INDICES=3"
)
FRAGMENT = "CP_LOAD_STATE6_FRAG STATE_SRC=SS6_DIRECT STATE_BLOCK=SB6_FS_TEX EXT_SRC_ADDR=0x0"


def loads(wrap: str, width: int = 64) -> str:
    """Two samplers and two textures."""
    return f"""
    {FRAGMENT} STATE_TYPE=ST6_SHADER NUM_UNIT=2
    + A6XX_TEX_SAMP WRAP_S={wrap}
    + A6XX_TEX_SAMP WRAP_S={wrap}
    {FRAGMENT} STATE_TYPE=ST6_CONSTANTS NUM_UNIT=2
    + A6XX_TEX_CONST WIDTH={width} HEIGHT=64 TYPE=A6XX_TEX_2D
    + A6XX_TEX_CONST WIDTH={width} HEIGHT=64 TYPE=A6XX_TEX_2D
"""


def a6xx(first: str, second: str, program: str, state: str = "") -> cffpy.Capture:
    """Two sysmem passes with a draw each: what is in them before it, and their program."""
    return cffpy.open(
        cffpy.compile(f"""pm4 1
gpu_id 630
buffer memory 0x10001000 size 4096 {{
  commands main at 0x10001000 {{
    CP_SET_MARKER MODE=RM6_DIRECT_RENDER
    SP_FS_CONFIG = {{ ENABLED }}
    SP_FS_OBJ_START = program
    {state}
    {first}
    {DRAW}
    CP_SET_MARKER MODE=RM6_DIRECT_RENDER
    {second}
    {DRAW}
  }}
  data program at 0x10001800 {{
    {program}
  }}
}}
stream main
""")
    )


def bound(capture: cffpy.Capture) -> list[tuple[list[int], list[int]]]:
    """The slots of each draw's textures and samplers, used or not."""
    kinds = "texture", "sampler"
    slots = [
        [[one.slot for one in draw.descriptors if one.kind == kind] for kind in kinds]
        for draw in capture.draws
    ]
    return [(textures, samplers) for textures, samplers in slots]


def test_what_a_program_names_is_still_in_force_in_the_next_pass() -> None:
    capture = a6xx(loads("A6XX_TEX_REPEAT"), "", SAMPLING)
    assert [one.pass_ and one.pass_.index for one in capture.draws] == [0, 1]
    assert bound(capture) == [([0, 1], [0, 1]), ([0], [0])]
    before, now = (draw.textures[0] for draw in capture.draws)
    assert before.place is not None
    assert now.place is not None
    assert now.place.gpuaddr == before.place.gpuaddr


def test_what_no_program_names_is_left_over() -> None:
    assert bound(a6xx(loads("A6XX_TEX_REPEAT"), "", NOT_SAMPLING))[1] == ([], [])


def test_what_a_run_loads_itself_counts() -> None:
    again = loads("A6XX_TEX_REPEAT", width=32)
    capture = a6xx(loads("A6XX_TEX_REPEAT"), again, SAMPLING)
    assert [draw.textures[0].WIDTH for draw in capture.draws] == [64, 32]
    assert bound(capture)[1] == ([0, 1], [0, 1])


def test_what_is_sampled_before_the_program_starts() -> None:
    fetch = "SP_FS_PREFETCH_CNTL = { COUNT=1 }\n    SP_FS_PREFETCH[0].CMD = { TEX_ID=1, SAMP_ID=0 }"
    assert bound(a6xx(loads("A6XX_TEX_REPEAT"), "", NOT_SAMPLING, fetch))[1] == ([1], [0])


def test_another_sampler_of_an_earlier_pass_is_a_difference_of_each_draw_that_uses_it() -> None:
    captures = [
        a6xx(loads(f"A6XX_TEX_{wrap}"), "", SAMPLING) for wrap in ("REPEAT", "MIRROR_CLAMP")
    ]
    titles = [entry.title for entry in cffpy.diff(*captures).entries]
    assert [one.partition(": WRAP_S")[0] for one in titles] == [
        "draw p0:0: sampler FS 1",
        "draw p0:0; draw p1:0: sampler FS 0",
    ]


@pytest.mark.parametrize(("first", "slot"), [(0, 0), (16, 16)])
def test_programs_of_a3xx_count_from_the_first_slot_of_their_stage(first: int, slot: int) -> None:
    capture = cffpy.open(
        cffpy.compile(f"""pm4 1
gpu_id 320
buffer memory 0x10001000 size 4096 {{
  commands main at 0x10001000 {{
    RB_FRAME_BUFFER_DIMENSION = {{ WIDTH=64, HEIGHT=64 }}
    RB_MODE_CONTROL = {{ GMEM_BYPASS }}
    TPL1_TP_FS_TEX_OFFSET = {{ SAMPLEROFFSET={first}, MEMOBJOFFSET={first} }}
    SP_FS_OBJ_START_REG = program
    CP_LOAD_STATE DST_OFF={slot} STATE_BLOCK=SB_FRAG_TEX NUM_UNIT=1 STATE_TYPE=ST_SHADER
    + A3XX_TEX_SAMP WRAP_S=A3XX_TEX_REPEAT
    CP_DRAW_INDX PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX NUM_INDICES=3
  }}
  commands next at 0x10001400 {{
    RB_FRAME_BUFFER_DIMENSION = {{ WIDTH=32, HEIGHT=32 }}
    RB_MODE_CONTROL = {{ GMEM_BYPASS }}
    CP_DRAW_INDX PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX NUM_INDICES=3
  }}
  data program at 0x10001800 {{
    {SAMPLING}
  }}
}}
stream main
stream next
""")
    )
    assert [one.pass_ and one.pass_.index for one in capture.draws] == [0, 1]
    assert [[one.slot for one in draw.samplers] for draw in capture.draws] == [[slot], [slot]]


def test_lints_and_layout_checks_see_them() -> None:
    capture = a6xx(loads("A6XX_TEX_REPEAT"), "", SAMPLING)
    (finding,) = capture.check(select=["unmapped-texture"])
    assert (finding._first.text, finding.count) == ("FS texture slot 0 has base 0", 2)


def constants(stage: str, block: str, first: int, values: str) -> str:
    """A packet that loads four constants from memory."""
    packet = f"CP_LOAD_STATE6_{stage} STATE_SRC=SS6_INDIRECT STATE_BLOCK={block}"
    return f"{packet} DST_OFF={first} STATE_TYPE=ST6_CONSTANTS NUM_UNIT=1 EXT_SRC_ADDR={values}"


def before_runs(kind: str, value: int) -> cffpy.Capture:
    """Constants that are loaded before a compute pass or a binning run begins, and within it."""
    block = "SB6_CS_SHADER" if kind == "compute" else "SB6_VS_SHADER"
    stage = "FRAG" if kind == "compute" else "GEOM"
    before, within = (constants(stage, block, *of) for of in ((0, "first"), (4, "second")))
    runs = {
        "compute": f"CP_SET_MARKER MODE=RM6_COMPUTE\n{within}\nCP_EXEC_CS NGROUPS_X=1",
        "binning run": f"""CP_SET_MARKER MODE=RM6_BIN_VISIBILITY
    {within}
    {DRAW}
    CP_SET_MARKER MODE=RM6_BIN_RENDER_START
    RB_WINDOW_OFFSET = {{ X=0, Y=0 }}
    {within}
    {DRAW}
    CP_SET_MARKER MODE=RM6_BIN_RENDER_START
    RB_WINDOW_OFFSET = {{ X=64, Y=0 }}
    {within}
    {DRAW}""",
    }
    return cffpy.open(
        cffpy.compile(f"""pm4 1
gpu_id 630
buffer memory 0x10001000 size 4096 {{
  commands main at 0x10001000 {{
    CP_SET_MARKER MODE=RM6_DIRECT_RENDER
    {DRAW}
    {before}
    {runs[kind]}
  }}
  data first at 0x10001800 {{
    {value:08x} 00000000 00000000 00000000
  }}
  data second at 0x10001900 {{
    00000000 00000000 00000000 00000000
  }}
}}
stream main
""")
    )


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("compute", "draw p1:0: constants CS 0 (offset 0x0): 00000001 → 00000003"),
        ("binning run", "draw p1:0: constants VS 0 (offset 0x0): 00000001 → 00000003"),
    ],
)
def test_what_is_loaded_before_a_run_begins_is_in_force_in_it(kind: str, title: str) -> None:
    """As gallium loads it, before CP_SET_MARKER; other tiles have it, too."""
    captures = [before_runs(kind, value) for value in (1, 3)]
    assert [entry.title for entry in cffpy.diff(*captures).entries] == [title]
