# SPDX-License-Identifier: MIT
"""Bound, enabled, used: what the programs of a draw read, sample and write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cffpy
from tests.selection import first_always

#: ``sam (f32)(xyzw)r1.x, r0.z, s#0, t#0``, and an end.
SAMPLING = "00000005 a0c01f04 00000000 03000000"
NOT_SAMPLING = "00000000 03000000"
#: ``sam.s2en.uniform (f32)(xyzw)r0.z, r0.x, hr1.x``: the slots are in a register.
SAMPLING_ANY = "00800001 a0c81f02 00000000 03000000"
DRAW = (
    "CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
    " NUM_INSTANCES=1 NUM_INDICES=3"
)
DISPATCH = "CP_EXEC_CS NGROUPS_X=1 NGROUPS_Y=1 NGROUPS_Z=1"


def capture(commands: str, program: str = SAMPLING, more: str = "") -> cffpy.Capture:
    """An a6xx with commands, a program at 0x10001800, and other blocks."""
    return cffpy.open(
        cffpy.compile(f"""pm4 1
gpu_id 630
buffer memory 0x10001000 size 8192 {{
  commands main at 0x10001000 {{
    {commands}
  }}
  data program at 0x10001800 {{
    {program}
  }}
  {more}
}}
stream main
""")
    )


def textures(stage: str, count: int) -> str:
    """Load textures, 16 texels wider each."""
    packet = "GEOM" if stage in ("VS", "HS", "DS", "GS") else "FRAG"
    descriptors = "\n".join(
        f"+ A6XX_TEX_CONST WIDTH={16 * (slot + 1)} HEIGHT=4 TYPE=A6XX_TEX_2D BASE_LO=0x10002000"
        for slot in range(count)
    )
    return f"""CP_LOAD_STATE6_{packet} STATE_SRC=SS6_DIRECT STATE_BLOCK=SB6_{stage}_TEX \
STATE_TYPE=ST6_CONSTANTS NUM_UNIT={count} EXT_SRC_ADDR=0x0
{descriptors}
"""


def drawing(config: str, loads: str, state: str = "") -> str:
    """The commands of a draw with a fragment program."""
    return f"""CP_SET_MARKER MODE=RM6_DIRECT_RENDER
    SP_FS_CONFIG = {{ {config} }}
    SP_FS_OBJ_START = program
    {state}
    {loads}
    {DRAW}"""


def drawn(config: str, loads: str, program: str = SAMPLING, state: str = "") -> cffpy.Draw:
    """A draw with a fragment program."""
    (draw,) = capture(drawing(config, loads, state), program).draws
    return draw


def flags(draw: cffpy.Draw) -> list[tuple[str | None, int, bool | None, bool]]:
    return [(one.stage, one.slot, one.enabled, one.used) for one in draw.descriptors]


def test_slots_beyond_the_count_are_bound_and_no_more() -> None:
    draw = drawn("ENABLED, NTEX=1", textures("FS", 3))
    assert [one.slot for one in draw.textures] == [0]
    assert flags(draw) == [
        ("FS", 0, True, True),
        ("FS", 1, False, False),
        ("FS", 2, False, False),
    ]
    assert all(one.bound for one in draw.descriptors)
    assert draw.textures[0].sure
    assert draw.textures[0].stages == ("FS",)


def test_enabled_slots_that_no_instruction_names_are_not_used() -> None:
    draw = drawn("ENABLED, NTEX=2", textures("FS", 2), NOT_SAMPLING)
    assert draw.textures == []
    assert flags(draw) == [("FS", 0, True, False), ("FS", 1, True, False)]


def test_stages_that_do_not_run_use_nothing() -> None:
    draw = drawn("ENABLED, NTEX=1", textures("GS", 2) + textures("FS", 1))
    assert [one.stage for one in draw.textures] == ["FS"]
    assert flags(draw)[1:] == [("GS", 0, False, False), ("GS", 1, False, False)]


def test_a_program_that_was_not_captured_may_use_what_is_enabled() -> None:
    draw = drawn("ENABLED, NTEX=2", textures("FS", 3), state="SP_FS_OBJ_START = 0x5000000")
    assert [(one.slot, one.sure) for one in draw.textures] == [(0, False), (1, False)]


def test_a_stage_without_an_address_of_its_program_may_use_what_is_enabled() -> None:
    draw = drawn("ENABLED, NTEX=1", textures("FS", 2), state="SP_FS_OBJ_START = 0x0")
    assert [(one.slot, one.sure) for one in draw.textures] == [(0, False)]


def test_slots_are_numbers() -> None:
    """Not in the order 0, 10, 11, 1, 2."""
    draw = drawn("ENABLED, NTEX=12", textures("FS", 12), state="SP_FS_OBJ_START = 0x5000000")
    assert [one.slot for one in draw.textures] == list(range(12))
    assert [one.slot for one in draw.descriptors] == list(range(12))
    assert [one.label for one in draw.images] == [f"{slot} of FS" for slot in range(12)]


def test_an_index_in_a_register_may_be_any_slot_that_is_enabled() -> None:
    draw = drawn("ENABLED, NTEX=2", textures("FS", 3), SAMPLING_ANY)
    assert [(one.slot, one.sure) for one in draw.textures] == [(0, False), (1, False)]


@pytest.mark.parametrize(
    ("where", "holds"),
    first_always(
        [
            ("texture.slot >= 1", False),
            ("bound_texture.slot >= 1", True),
            ("texture.WIDTH == 16 and not texture.WIDTH == 32", True),
            ("bound_texture.WIDTH == 48", True),
            ("bound_texture.enabled == FALSE", True),
            ("sampled(0x10002000)", True),
        ],
        names=2,
    ),
)
def test_filters_know_bound_and_used(where: str, holds: bool) -> None:
    found = capture(drawing("ENABLED, NTEX=1", textures("FS", 3)))
    assert bool(found.draws.where(where)) == holds


def test_what_is_bound_and_not_used_is_not_sampled() -> None:
    found = capture(drawing("ENABLED, NTEX=1", textures("FS", 3)), NOT_SAMPLING)
    assert not found.draws.where("sampled(0x10002000)")
    assert found.draws.where("bound_texture.address == 0x10002000")


# -- storage --------------------------------------------------------------------------------------

#: ``stib.b.untyped.1d.u32.4.imm.base0 r0.w, r0.x, 0`` of a capture of turnip, and an end.
STORING = "00677100 c0260003 00000000 03000000"
#: ``ldib.b.untyped.1d.u32.1.imm.base0 r1.z, r1.y, 0``.
LOADING = "05618100 c0260006 00000000 03000000"
#: ``resinfo.b.untyped.1d.u32.1.imm.base0 r63.x, 0``: compilers insert it to wait.
WAITING = "0063c100 c02600fc 00000000 03000000"

SET = """
  data set at 0x10002400 {
    A6XX_TEX_CONST WIDTH=0x10 HEIGHT=2 TYPE=A6XX_TEX_BUFFER FMT=FMT6_32_UINT BASE_LO=0x10002800
  }
"""


def dispatched(program: str, state: str = "SP_CS_BINDLESS_BASE[0].DESCRIPTOR = 0x10002403") -> str:
    return f"""CP_SET_MARKER MODE=RM6_COMPUTE
    SP_CS_CONFIG = {{ ENABLED, BINDLESS_IBO }}
    SP_CS_OBJ_START = {program}
    {state}
    {DISPATCH}"""


@pytest.mark.parametrize(
    ("program", "uses"), [(STORING, (False, True)), (LOADING, (True, False)), (WAITING, None)]
)
def test_storage_of_bindless_sets(program: str, uses: tuple[bool, bool] | None) -> None:
    (draw,) = capture(dispatched("program"), program, SET).draws
    assert draw.textures == []
    found = [(one.kind, one.bindless_set, one.slot, one.reads, one.writes) for one in draw.storage]
    assert found == ([] if uses is None else [("storage", 0, 0, *uses)])
    for one in draw.storage:
        assert one.address == 0x10002800
        assert one.elements == 0x10 + (2 << 15)


def test_written_storage_is_not_sampled() -> None:
    found = capture(dispatched("program"), STORING, SET)
    assert not found.draws.where("sampled(0x10002800)")
    assert found.draws.where("storage.address == 0x10002800 and storage.writes")
    assert not found.draws.where("storage.reads")


#: ``stib.b.untyped.1d.u32.4.imm r0.w, r0.x, 1``: of no bindless set.
STORING_IN_TABLE = "00677000 c0260203 00000000 03000000"

TABLE = """
  data table at 0x10002400 {
    A6XX_TEX_CONST WIDTH=4 TYPE=A6XX_TEX_BUFFER FMT=FMT6_32_UINT BASE_LO=0x10002800
    A6XX_TEX_CONST WIDTH=5 TYPE=A6XX_TEX_BUFFER FMT=FMT6_32_UINT BASE_LO=0x10002900
  }
"""


def test_storage_of_the_table_that_a_register_names() -> None:
    (draw,) = capture(dispatched("program", "SP_CS_IBO = table"), STORING_IN_TABLE, TABLE).draws
    assert [(one.slot, one.address, one.elements) for one in draw.storage] == [(1, 0x10002900, 5)]
    assert draw.textures == []


def test_storage_that_a_packet_loads() -> None:
    load = (
        "CP_LOAD_STATE6_FRAG STATE_SRC=SS6_INDIRECT STATE_BLOCK=SB6_CS_SHADER STATE_TYPE=ST6_IBO"
        " NUM_UNIT=2 EXT_SRC_ADDR=table"
    )
    (draw,) = capture(dispatched("program", load), STORING_IN_TABLE, TABLE).draws
    assert [(one.slot, one.address) for one in draw.storage] == [(1, 0x10002900)]
    found = [(one.kind, one.stage, one.slot, one.used) for one in draw.descriptors]
    assert found == [("storage", "CS", 0, False), ("storage", "CS", 1, True)]


# -- recorded captures ----------------------------------------------------------------------------

#: What a listing shows: ``s#1, t#0`` of instructions of categories 5 and prefetches.
_SLOTS = re.compile(r" (?:s#(\d+), )?t#(\d+)")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["a330-gl-scene60-nobin", "a430-gl-passes-restore", "a530-gl-scene60-nobin", "a660-vk-xfer"],
)
def test_used_textures_are_those_of_the_listings(shared: Path, name: str) -> None:
    """The texts of instructions, read apart from their operands."""
    found = 0
    with cffpy.open(shared / f"captures/{name}.rd.gz") as recorded:
        fetching = "SP_FS_PREFETCH_CNTL.COUNT > 0"
        others = recorded.draws.where(fetching) if name.startswith("a6") else ()
        left_out = {draw.order for draw in others}
        for draw in recorded.draws:
            if draw.kind != "draw" or draw.order in left_out:
                continue
            named = set()
            for stage, shader in draw.shaders.items():
                # freedreno has the first one of a3xx there (TPL1_TP_FS_TEX_OFFSET)
                first = 16 if name.startswith("a3") and stage == "FS" else 0
                for _, slot in _SLOTS.findall(shader.listing):
                    named.add((stage, first + int(slot)))
            assert {(one.stage, one.slot) for one in draw.textures} == named, draw.name
            assert all(one.enabled is not False for one in draw.textures)
            found += len(named)
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a430-gl-compute", "a530-gl-compute", "a690-vk-compute-full"])
def test_storage_of_compute(shared: Path, name: str) -> None:
    with cffpy.open(shared / f"captures/{name}.rd.gz") as recorded:
        dispatches = [draw for draw in recorded.draws if draw.kind == "dispatch"]
        assert dispatches
        addresses = []
        for draw in dispatches:
            assert draw.storage
            assert {one.address is not None for one in draw.storage} == {True}
            listing = draw.shaders["CS"].listing
            reads = re.search(r"\b(ldib|ldgb|atomic)\.", listing) is not None
            writes = re.search(r"\b(stib|stgb|atomic)\.", listing) is not None
            assert any(one.reads for one in draw.storage) == reads
            assert any(one.writes for one in draw.storage) == writes
            addresses.append(draw.storage[0].address)
        assert len(set(addresses)) < len(addresses)  # one dispatch works on what another wrote


@pytest.mark.slow
def test_a_storage_buffer_of_a5xx_has_its_address(shared: Path) -> None:
    with cffpy.open(shared / "captures/a530-gl-compute.rd.gz") as recorded:
        assert recorded.draws.where("storage.address == 0xfffe4000")
        assert {one.address for one in recorded.draws[0].storage} == {0xFFFE4000}


@pytest.mark.slow
def test_no_slot_beyond_the_count_is_used(shared: Path) -> None:
    for name in ("a630-gl-scene150-gmem", "a740-gl-passes", "a660-gl-scene-msaa4-1080p"):
        with cffpy.open(shared / f"captures/{name}.rd.gz") as recorded:
            assert recorded.draws.where("bound_texture.slot >= 1 and SP_FS_CONFIG.NTEX == 1")
            assert not recorded.draws.where("texture.slot >= 1 and SP_FS_CONFIG.NTEX == 1")
