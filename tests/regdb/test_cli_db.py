# SPDX-License-Identifier: MIT
"""The command ``cffpy db``."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from cffpy.cli.db import db

from .conftest import ROOT


@pytest.fixture
def run():
    def invoke(*arguments):
        return CliRunner().invoke(db, arguments)

    return invoke


def test_show_register(run):
    result = run("show", "RB_MRT[2].CONTROL", "--gpu", "630")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[:3] == [
        "RB_MRT[2].CONTROL  0x8830  32 bits  domain A6XX  in A6XX",
        "  array RB_MRT[8] at 0x8820, stride 8",
        "  0      BLEND             boolean",
    ]
    assert "  3..6   ROP_CODE          a3xx_rop_code (enum)" in lines
    assert "        0xf  ROP_SET" in lines


def test_show_offset_is_the_register(run):
    by_name = run("show", "RB_MRT[2].CONTROL", "--gpu", "a6xx")
    assert run("show", "0x8830", "--gpu", "A6XX").output == by_name.output


def test_show_all_generations(run):
    heads = [
        line for line in run("show", "RB_MRT[0].CONTROL").output.splitlines() if " in A" in line
    ]
    assert [head.rpartition("  in ")[2] for head in heads] == ["A3XX", "A4XX", "A5XX", "A6XX A7XX"]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("a6xx_tile_mode", "a6xx_tile_mode  enum  in A6XX A7XX"),
        ("CP_EXEC_CS", "CP_EXEC_CS  domain  in A2XX A3XX A4XX A5XX A6XX A7XX"),
        ("a6xx_2d_blit_cntl", "a6xx_2d_blit_cntl  bitset  in A6XX"),
        ("RB_MRT", "RB_MRT[]  0x20c4  array  domain A3XX  in A3XX"),
    ],
)
def test_show_other_things(run, asked, first):
    result = run("show", asked)
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == first


def test_show_json(run):
    result = run("show", "0x8830", "--gpu", "740", "--json")
    document = json.loads(result.output)
    assert document["schema"] == "cffpy.db-show/1"
    (found,) = document["found"]
    assert (found["name"], found["offset"], found["generations"]) == (
        "RB_MRT[2].CONTROL",
        0x8830,
        ["A7XX"],
    )


def test_show_nothing_names_similar(run):
    result = run("show", "RB_MTR")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "'RB_MTR' not found in A2XX," in result.stderr
    assert "similar: RB_MRT[]" in result.stderr


@pytest.mark.parametrize("asked", ["{}", "0x{}", "RB_MRT[{}]", "RB_MRT[0x{}].CONTROL"])
def test_numbers_of_many_digits_are_not_found(run, asked):
    result = run("show", "--gpu", "a630", asked.format("9" * 5000))
    assert result.exit_code == 1
    assert "not found in A6XX" in result.stderr


def test_search(run):
    result = run("search", "tile6_linear")
    assert result.output == "value  TILE6_LINEAR  0x0  a6xx_tile_mode  A6XX A7XX\n"
    document = json.loads(run("search", "tile6_linear", "--json", "--gpu", "630").output)
    assert document == {
        "schema": "cffpy.db-search/1",
        "asked": "tile6_linear",
        "found": [
            {
                "kind": "value",
                "name": "TILE6_LINEAR",
                "where": "a6xx_tile_mode",
                "number": 0,
                "generations": ["A6XX"],
            }
        ],
    }
    assert run("search", "no such thing").exit_code == 1


@pytest.mark.parametrize("gpu", ["99", "6300", "b6xx", ""])
def test_gpu_that_is_none(run, gpu):
    result = run("search", "x", "--gpu", gpu)
    assert result.exit_code == 2
    assert "neither a GPU (630)" in result.stderr


def test_other_edition(run, edition):
    directory = edition(a6xx='import "adreno_common" domain A6XX { reg32 0x10 MINE }')
    result = run("show", "MINE", "--edition", directory)
    assert result.output == (
        "MINE  0x0010  32 bits  domain A6XX  in A6XX A7XX\n  type hex, bits 0..31\n"
    )


@pytest.mark.slow
def test_check(run, edition):
    result = run("check", "--errors-only")
    assert result.exit_code == 0
    summaries = result.output.splitlines()
    assert summaries[0].startswith("registers: 0 errors, 51 notices (")
    assert summaries[1:] == ["instruction sets: 0 errors, 4 notices (4 overlap)"]
    directory = edition(a6xx='import "adreno_common"\ndomain D { reg32 0 A : oops }')
    result = run("check", directory)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "a6xx.regs:2: error: D.A: unknown type 'oops'",
        "registers: 1 errors, 0 notices (1 unknown type)",
        "instruction sets: none found (isa/*.isa); the bundled ones are used",
    ]
    document = json.loads(run("check", directory, "--json").output)
    assert (document["errors"], document["findings"][0]["line"]) == (1, 2)


@pytest.mark.slow
def test_import(run, tmp_path):
    (tmp_path / "a6xx.xml").write_text(
        '<database><enum name="chip"><value name="A6XX" value="6"/></enum>'
        '<domain name="A6XX" width="32"><reg32 name="NEW" offset="16"/></domain></database>'
    )
    output = str(tmp_path / "out")
    result = run("import", str(tmp_path), "-o", output, "--name", "mesa 99")
    written = f"1 files of registers, 0 of instructions in {output}, edition 'mesa 99'\n"
    assert (result.stdout, result.stderr.endswith(f"cffpy: {written}")) == ("", True)
    assert run("show", "NEW", "--edition", output).exit_code == 0


@pytest.mark.slow
def test_import_that_cannot_be_written(run, tmp_path):
    (tmp_path / "a6xx.xml").write_text('<database><enum name="e"/></database>')
    (tmp_path / "out").write_text("")
    result = run("import", str(tmp_path), "-o", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "out" in result.stderr


def test_as_a_process():
    code = "from cffpy.cli.db import db; db(prog_name='cffpy db')"
    run = [sys.executable, "-c", code, "search", "TILE6_LINEAR"]
    environment = {**os.environ, "PYTHONPATH": ROOT}
    found = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == "value  TILE6_LINEAR  0x0  a6xx_tile_mode  A6XX A7XX\n"


def test_editions(run):
    lines = run("editions").output.splitlines()
    assert lines == [
        "mesa-25.0  mesa 25.0.7  A2XX A3XX A4XX A5XX A6XX A7XX",
        "mesa-25.3  mesa 25.3    A2XX A3XX A4XX A5XX A6XX A7XX A8XX",
    ]
    document = json.loads(run("editions", "--json").output)
    assert document["schema"] == "cffpy.db-editions/1"
    assert [one["name"] for one in document["editions"]] == ["mesa-25.0", "mesa-25.3"]


@pytest.mark.slow
def test_diff_of_editions(run):
    result = run("diff", "mesa-25.0", "mesa-25.3", "--gpu", "a6xx", "--only", "renamed")
    assert result.exit_code == 1
    words = [line.split() for line in result.output.splitlines()]
    assert ["renamed", "register", "0x8800", "A6XX", "RB_BIN_CONTROL", "RB_CNTL"] in words
    assert {line[0] for line in words[1:]} == {"renamed"}
    same = run("diff", "mesa-25.0", "mesa-25.0")
    assert (same.exit_code, same.output) == (0, "")


def test_show_in_another_edition(run):
    assert run("show", "RB_CNTL", "--gpu", "660", "--edition", "mesa-25.3").exit_code == 0
    other = run("show", "RB_CNTL", "--gpu", "660")
    assert other.exit_code == 0
    assert "'RB_CNTL' is called RB_BIN_CONTROL in this edition" in other.output
    assert "RB_BIN_CONTROL  0x8800" in other.output


def test_a_generation_of_another_edition_is_looked_up_there(run_cffpy):
    shown = run_cffpy("db", "show", "--gpu", "a830", "RB_CNTL")
    assert shown.returncode == 0
    assert b"in A8XX" in shown.stdout
    assert run_cffpy("db", "search", "--gpu", "a8xx", "RB_CNTL").returncode == 0
