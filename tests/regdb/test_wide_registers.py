# SPDX-License-Identifier: MIT
"""Names of 64-bit registers, of their dwords, and of registers that became elements of arrays.

25.0 describes RBBM_PRIMCTR_0_LO and _HI, 25.3 RBBM_PIPESTAT_IAVERTICES of 64 bits; 25.0
TPL1_BICUBIC_WEIGHTS_TABLE_1, 25.3 the second element of an array.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.editions.folders import resolve_edition
from cffpy.regdb.database import Database
from tests.selection import first_always

EDITIONS = ("mesa-25.0", "mesa-25.3")
WHOLE = ("RBBM_PRIMCTR_0", "RBBM_PIPESTAT_IAVERTICES")
ELEMENT = ("TPL1_BICUBIC_WEIGHTS_TABLE_1", "TPL1_BICUBIC_WEIGHTS_TABLE[1].REG")

TEXT = """pm4 1
gpu_id 630
cmd "counters/1"
buffer commands 0x100001000 size 4096 {{
  commands main {{
    CP_SET_MARKER MODE=RM6_DIRECT_RENDER
    {0}
    {1} = 0x7
    CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX NUM_INDICES=6
  }}
}}
stream main
"""


def forms() -> list[str]:
    """The same text by all names."""
    whole = [f"{name} = 0x200000011" for name in WHOLE]
    halves = [f"{name}_LO = 0x11\n    + {name}_HI = 0x2" for name in WHOLE]
    return [TEXT.format(one, name) for one in (*whole, *halves) for name in ELEMENT]


@pytest.fixture(scope="module")
def data() -> bytes:
    return cffpy.compile(forms()[0])


@pytest.mark.parametrize("edition", EDITIONS)
def test_compile_takes_each_name(data: bytes, edition: str) -> None:
    assert {cffpy.compile(text, register_db=edition) for text in forms()} == {data}


@pytest.mark.parametrize("edition", first_always(EDITIONS))
def test_state_and_filters_take_each_name(data: bytes, edition: str) -> None:
    with cffpy.open(data, register_db=edition) as capture:
        draw = capture.draws[0]
        for name in WHOLE:
            for end, value in (("", 0x200000011), ("_LO", 0x11), ("_HI", 2)):
                assert draw.state[name + end].value == value
                assert capture.draws.where(f"{name}{end} == {value:#x}")
                assert not capture.draws.where(f"{name}{end} == 3")
        for name in ELEMENT:
            assert draw.state[name].value == 7
            assert capture.draws.where(f"{name} == 7")


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("name", WHOLE)
def test_edit_takes_each_name(data: bytes, edition: str, name: str) -> None:
    with cffpy.open(data, register_db=edition) as capture:
        upper = cffpy.edit(capture, set_registers={f"{name}_HI": 5})
        both = cffpy.edit(capture, set_registers={name: 0x500000011})
    assert upper == both == data.replace(b"\x11\0\0\0\2\0\0\0", b"\x11\0\0\0\5\0\0\0")


def test_commands_show_them_by_the_names_of_the_edition(
    data: bytes, run_cffpy: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: Path
) -> None:
    path = tmp_path / "counters.rd"
    path.write_bytes(data)
    shown = {"mesa-25.0": (WHOLE[1], b"RBBM_PRIMCTR_0_HI"), "mesa-25.3": (WHOLE[0], b"PIPESTAT")}
    for edition, (name, line) in shown.items():
        done = run_cffpy("state", path, "--edition", edition, "--at", "#0", f"{name}_HI")
        assert line in done.stdout
        done = run_cffpy("db", "show", "--gpu", "a6xx", "--edition", edition, f"{name}_HI")
        assert line in done.stdout


@pytest.mark.parametrize("edition", EDITIONS)
def test_dwords_of_any_wide_register_have_names(edition: str) -> None:
    database = Database.open("A6XX", resolve_edition(edition))
    base = database.find_register("RB_DEPTH_BUFFER_BASE")
    assert database.find_register("RB_DEPTH_BUFFER_BASE_LO") == base
    assert database.find_register("RB_DEPTH_BUFFER_BASE_HI") == base + 1
    assert database.find_named("RB_DEPTH_CNTL_HI") is None
    array = database.find_named("RB_MRT[2].BASE_HI")
    assert array is not None
    assert (array.offset, array.bits) == (database.find_register("RB_MRT[2].BASE") + 1, 32)


def test_a_single_register_is_the_element_at_its_offset() -> None:
    newer = Database.open("A6XX", resolve_edition("mesa-25.3"))
    for index in range(5):
        name = f"TPL1_BICUBIC_WEIGHTS_TABLE_{index}"
        found = newer.find_named(name)
        assert found is not None
        assert found.name == f"TPL1_BICUBIC_WEIGHTS_TABLE[{index}].REG"
        assert newer.aliases.registers(f"TPL1_BICUBIC_WEIGHTS_TABLE[{index:#x}].REG") == (name,)
