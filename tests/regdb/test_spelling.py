# SPDX-License-Identifier: MIT
"""Names of registers: any case, indices in decimal or with 0x; printed in capitals, in decimal."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
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
