# SPDX-License-Identifier: MIT
"""Names of registers: any case, indices in decimal or with 0x; printed in capitals, in decimal."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.editions.folders import resolve_edition
from cffpy.regdb.database import Database
from cffpy.regdb.spelling import decimal_indices, folded, folded_literals, parse_index
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

SAMPLE = "a630-triangle.rd.gz"
SPELLINGS = (
    "RB_MRT[0].BUF_INFO",
    "RB_MRT[0x0].BUF_INFO",
    "rb_mrt[0].buf_info",
    "Rb_Mrt[0X00].Buf_Info",
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("RB_MRT[0xa].CONTROL", "RB_MRT[10].CONTROL"),
        ("rb_mrt[010].control", "RB_MRT[10].CONTROL"),
        ("A[0X1].B[0x1F].C", "A[1].B[31].C"),
        ("RB_MRT[*].BASE_LO", "RB_MRT[*].BASE_LO"),
        ("RB_MRT[x].BASE", "RB_MRT[X].BASE"),
        ("RB_DEPTH_CNTL", "RB_DEPTH_CNTL"),
    ],
)
def test_a_name_has_one_form(name: str, expected: str) -> None:
    assert folded(name) == expected
    assert decimal_indices(name).upper() == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("0xC", 12), ("012", 12), ("c", None), ("", None), ("-1", None)],
)
def test_an_index_is_decimal_or_has_0x(text: str, number: int | None) -> None:
    assert parse_index(text) == number


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("register = 'RB_MRT[0x1].CONTROL'", "register = 'RB_MRT[1].CONTROL'"),
        ("register LIKE '%MRT[0xA].%'", "register LIKE '%MRT[0xA].%'"),
        ("register LIKE 'RB_%[0xA].%'", "register LIKE 'RB_%[10].%'"),
        ("text = 'see RB_MRT[0x1].CONTROL'", "text = 'see RB_MRT[0x1].CONTROL'"),
        ("x[0x1] = 'a'", "x[0x1] = 'a'"),
    ],
)
def test_literals_of_sql_that_are_names_have_one_form(query: str, expected: str) -> None:
    assert folded_literals(query) == expected


def test_offsets_have_names_in_decimal() -> None:
    found = Database.open("A6XX").register(
        Database.open("A6XX").register_offset("RB_MRT[7].BASE"), {}
    )
    assert found is not None
    assert (found.name, found.reference_name) == ("RB_MRT[7].BASE", "RB_MRT[0x7].BASE")


@pytest.mark.parametrize("spelling", first_always(SPELLINGS))
def test_every_spelling_is_understood_everywhere(
    spelling: str, samples: Path, run_cffpy: Run
) -> None:
    path = samples / SAMPLE
    with cffpy.open(path) as capture:
        state = capture.draws[0].state
        value = int(state["RB_MRT[0].BUF_INFO"])
        assert state[spelling].name == "RB_MRT[0].BUF_INFO"
        assert state[spelling].value == value
        assert spelling in state
        assert [one.name for one in state.matching(spelling)] == ["RB_MRT[0].BUF_INFO"]
        assert capture.registers[spelling].name == "RB_MRT[0].BUF_INFO"
        assert len(capture.draws.where(f"{spelling} == {value}")) == 1
    assert cffpy.registers("a6xx")[spelling].offset == 0x8822

    shown = run_cffpy("state", path, "--at", "p0:0", spelling).stdout.decode()
    assert shown.splitlines()[1].split()[1] == "RB_MRT[0].BUF_INFO:"
    found = run_cffpy("find", "--count", f"{spelling} == {value}", path).stdout.decode()
    assert found == f"{path}: 1\n"
    shown = run_cffpy("db", "show", spelling, "--gpu", "a6xx").stdout.decode()
    assert shown.startswith("RB_MRT[0].BUF_INFO  0x8822")
    if spelling == spelling.upper() or spelling == SPELLINGS[1]:
        query = f"SELECT register, value FROM registers WHERE register = '{spelling}'"
        rows = json.loads(run_cffpy("sql", path, query, "--json").stdout)["rows"]
        assert rows == [["RB_MRT[0].BUF_INFO", value]]


@pytest.mark.slow
def test_only_commands_of_mesa_print_indices_in_hex(shared: str, run_cffpy: Run) -> None:
    path = Path(shared) / "captures" / "a530-gl-inst-mrt.rd.gz"
    assert "RB_MRT[0x1].CONTROL" in run_cffpy("dump", path).stdout.decode(errors="replace")
    for command in (
        ("state", "--where", "RB_MRT[1].CONTROL >= 0", path),
        ("state", "--where", "RB_MRT[1].CONTROL >= 0", "--json", path),
        ("lines", path),
        ("sql", "--csv", path, "SELECT * FROM registers"),
    ):
        text = run_cffpy(*command).stdout.decode()
        assert "RB_MRT[1].CONTROL" in text
        assert "RB_MRT[0x1]" not in text


# Names of 64-bit registers, of their dwords, and of registers that became elements of arrays: 25.0
# describes RBBM_PRIMCTR_0_LO and _HI, 25.3 RBBM_PIPESTAT_IAVERTICES of 64 bits; 25.0
# TPL1_BICUBIC_WEIGHTS_TABLE_1, 25.3 the second element of an array.
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


# -- descriptors by their names in other editions; a missing one is a warning ----------------------


DESCRIPTIONS = Path(__file__).parents[2] / "register_db"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("new", "is_known"),
    first_always(
        [("A8XX_TEX_MEMOBJ", True), ("A6XX_TEX_MEMOBJ", True), ("A9XX_X", False)], names=2
    ),
)
def test_renamed(new: str, is_known: bool, samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    edition = tmp_path / "edition"
    shutil.copytree(DESCRIPTIONS, edition)
    for path in edition.rglob("*.regs"):
        path.write_text(path.read_text().replace("A6XX_TEX_CONST", new))
    sample = samples / "a660-textures.rd"
    bundled = run_cffpy("dump", sample)
    done = run_cffpy("dump", "--edition", edition, sample)
    assert done.returncode == bundled.returncode == 0
    if is_known:
        assert (done.stdout, done.stderr) == (bundled.stdout, b"")
    else:
        assert len(done.stdout) < len(bundled.stdout)
        assert b"no A6XX_TEX_CONST: its fields are not shown" in done.stderr
