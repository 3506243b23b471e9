# SPDX-License-Identifier: MIT
"""dump --script: what scripts see, their output, their errors."""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
from pathlib import Path

import pytest

from cffpy.regdb import store
from cffpy.regdb.database import Database
from tests.command_server import Run
from tests.golden.runner import CHECKOUT


@pytest.fixture
def run_script(run_cffpy, samples: Path, tmp_path: Path) -> Run:
    """``run_script(text, sample, *options)``: run ``s.lua`` of this text over a sample."""

    def run(
        text: str, sample: str = "a630-triangle", *options: str, **others: object
    ) -> subprocess.CompletedProcess[bytes]:
        (tmp_path / "s.lua").write_text(text)
        path = tmp_path / f"{sample}.rd.gz"
        if not path.exists():
            os.symlink(samples / path.name, path)
        arguments = ("--unit-test", *options, "-L", "s.lua", path.name)
        return run_cffpy("dump", *arguments, cwd=tmp_path, **others)

    return run


def output(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().splitlines()


def test_the_help_says_that_a_script_is_trusted(run_cffpy: Run) -> None:
    text = " ".join(run_cffpy("dump", "--help").stdout.decode().split())
    assert "A script can do all that you can: run only those that you trust." in text


@pytest.mark.slow
@pytest.mark.recorded
def test_recorded_cases(shared: Path, run_cffpy, tmp_path: Path) -> None:
    """All scripts and captures whose output by cffdump was recorded."""
    folder = shared / "lua"
    if not folder.is_dir():
        pytest.skip("no recorded scripts")
    for script in folder.glob("*.lua"):
        (tmp_path / script.name).write_bytes(script.read_bytes())
    differing = []
    for case in json.loads((folder / "cases.json").read_text()):
        capture = tmp_path / case["capture"]
        if not capture.exists():
            os.symlink(shared / "captures" / case["capture"], capture)
        done = run_cffpy("dump", *case["args"], case["capture"], cwd=tmp_path)
        expected = lzma.decompress((folder / case["log"]).read_bytes())
        lines = done.stderr.decode().splitlines()
        errors = [line[14:] for line in lines if line.startswith("cffpy: error: ")]
        if (done.stdout, done.returncode, errors) != (expected, case["exit"], case["stderr"]):
            differing.append(case["name"])
    assert not differing


def test_the_example_of_the_documentation(run_script: Run) -> None:
    page = (CHECKOUT / "docs/reference/lua.md").read_text("utf-8")
    script, printed = re.findall(r"^```(?:lua|text)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert run_script(script).stdout.decode() == printed


def test_order_of_callbacks(run_script: Run) -> None:
    text = "".join(
        f'function {name}(...) print("{name}", ...) end\n'
        for name in (
            "start_cmdstream",
            "end_cmdstream",
            "start_submit",
            "end_submit",
            "draw",
            "finish",
        )
    )
    lines = output(run_script(text + 'print("loaded")'))
    assert lines[:3] == ["loaded", "start_cmdstream\ta630-triangle.rd.gz", "start_submit"]
    assert lines[-3:] == ["end_submit", "end_cmdstream", "finish"]
    draws = lines[3:-3]
    assert draws
    assert all(line.startswith("draw\t") and line.endswith(".0") for line in draws)


def test_objects_are_userdata_and_enums_are_no_strings(run_script: Run) -> None:
    lines = output(
        run_script(
            "local r = rnn.init('a630')\n"
            "local d = r.RB_DEPTH_CNTL\n"
            "print(type(r), type(d), type(d.ZFUNC), type(r.RB_MRT), type({}))\n"
            "print(d.ZFUNC == 'FUNC_NEVER', tostring(d.ZFUNC))\n"
            "print((select(2, pcall(function() return d.ZFUNC .. '' end))))\n"
            "print(r.NO_SUCH)\n"
            "print(d.NO_SUCH)\n"
            "print(python)\n"
        )
    )
    assert lines == [
        "userdata\tuserdata\tuserdata\tuserdata\ttable",
        "false\tFUNC_NEVER",
        "s.lua:5: attempt to concatenate a rnnmetaenum value (field 'ZFUNC')",
        "nil",
        "invalid member: NO_SUCH",
        "nil",
        "nil",
    ]


def test_many_registers_and_one_have_the_same_values(run_script: Run) -> None:
    """A callback that reads many registers gets a copy of them."""
    lines = output(
        run_script(
            "function draw()\n"
            "  local first = {}\n"
            "  for n = 0x8870, 0x8880 do first[n] = regs.val(n) .. ' ' .. regs.written(n) end\n"
            "  for n = 0, 0xffff do regs.val(n) end\n"
            "  local same, set = true, 0\n"
            "  for n = 0x8870, 0x8880 do\n"
            "    same = same and first[n] == regs.val(n) .. ' ' .. regs.written(n)\n"
            "    set = set + regs.written(n)\n"
            "  end\n"
            "  print(same, set > 0)\n"
            "end\n"
        )
    )
    assert lines
    assert set(lines) == {"true\ttrue"}


def test_names_are_looked_up_in_the_order_of_declaration() -> None:
    """The register that is declared first counts, on every chip: here, that of a6xx."""
    declared = Database(store.load_declared(None, "a6xx"))
    elements = (declared.domain("A6XX") or ((), None))[0]
    assert [row[3] for row in elements if row[1] == "PC_RASTER_CNTL"] == [0x9980, 0x9107]
    assert [row[2] for row in elements if row[1] == "PC_RASTER_CNTL"] == [None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = = 1", "s.lua:1: unexpected symbol near '='"),
        ("\nerror('no good')", "s.lua:2: no good"),
        ("\nlocal x = nil .. 'a'", "s.lua:2: attempt to concatenate a nil value"),
        ("function draw() error('bad') end", "error running function `f': s.lua:1: bad"),
        ("function draw() error({}) end", "error running function `f': (null)"),
        (
            "rnn.init('x')",
            "s.lua:1: rnn.init: 'x' names no generation from a2 to a7",
        ),
    ],
)
def test_errors_are_one_line(run_script: Run, text: str, message: str) -> None:
    done = run_script(text)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"cffpy: error: {message}\n"


def test_what_was_printed_before_an_error_is_written(run_script: Run) -> None:
    done = run_script("function draw() io.write('before') error('bad') end", "a630-triangle")
    assert (done.returncode, done.stdout) == (1, b"before")


def test_a_script_that_is_not_there(run_cffpy, samples: Path) -> None:
    done = run_cffpy("dump", "-L", "no/such.lua", samples / "a630-triangle.rd.gz")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"cannot open no/such.lua" in done.stderr


def test_without_lupa(run_script: Run, tmp_path: Path) -> None:
    (tmp_path / "lupa.py").write_text("raise ImportError\n")  # the current folder comes first
    done = run_script("")
    assert (done.returncode, done.stdout) == (1, b"")
    message = "cffpy: error: scripts need the package lupa: pip install 'cffpy[lua]'\n"
    assert done.stderr.decode() == message


def test_annotations_and_scripts_exclude_each_other(run_script: Run) -> None:
    done = run_script("", "a630-triangle", "--annotate")
    assert done.returncode == 2
    assert b"--annotate" in done.stderr
