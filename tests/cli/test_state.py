# SPDX-License-Identifier: MIT
"""cffpy state, run as users run it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cffpy.views.state import columns
from tests.analysis.passes.small import COLOUR, small_capture
from tests.command_server import Run
from tests.selection import first_always


def test_text(path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("state", "--at", "#2", path, "GRAS_LRZ_CNTL")
    assert (done.returncode, done.stderr) == (0, b"")
    heading, value, write = done.stdout.decode().splitlines()
    assert heading.startswith("draw p1:1 (#2), tile p1:t0, ")
    assert value == "00000001  GRAS_LRZ_CNTL: { ENABLE | DIR = 0 }"
    assert " > group 2 0x" in write
    assert write.strip().startswith("this pass: stream 0 > IB 0x")
    same = run_cffpy("state", "--pass", 1, "--draw", 1, path, "GRAS_LRZ_CNTL")
    assert same.stdout == done.stdout
    assert run_cffpy("state", "--at", "p1:1", path, "GRAS_LRZ_CNTL").stdout == done.stdout
    by_input = run_cffpy("state", "--at", "#2", "-", "GRAS_LRZ_CNTL", input=path.read_bytes())
    assert by_input.stdout == done.stdout


def test_the_file_has_the_value_at_the_offset(path: Path, run_cffpy: Run) -> None:
    document = json.loads(run_cffpy("state", "--at", "#4", "--json", path).stdout)
    assert document["schema"] == "cffpy.state/1"
    assert (document["draw"]["dump_draw"], document["draw"]["draw"]) == (4, 0)
    registers = {one["register"]: one for one in document["registers"]}
    base = registers["RB_MRT[0].BASE"]
    assert (base["decoded"], base["value"], base["bits"]) == (hex(COLOUR), COLOUR, 64)
    assert base["fields"] == {}
    assert COLOUR >> 32, "the upper dword has bits"
    data = path.read_bytes()
    for name in ("RB_MRT[0].BASE", "RB_WINDOW_OFFSET", "GRAS_LRZ_CNTL", "RB_BLIT_INFO"):
        at = int(registers[name]["written_by"]["place"]["file_offset"], 16) + 4
        size = registers[name]["bits"] // 8
        assert int.from_bytes(data[at : at + size], "little") == registers[name]["value"]


def test_fields(path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("state", "--at", "#2", "--json", path, "GRAS_LRZ_CNTL")
    (register,) = json.loads(done.stdout)["registers"]
    fields = register["fields"]
    enable = {"field": "ENABLE", "low": 0, "high": 0, "decoded": "TRUE", "raw": "0x1", "number": 1}
    assert fields["ENABLE"] == enable
    assert (fields["DIR"]["low"], fields["DIR"]["high"], fields["DIR"]["decoded"]) == (6, 7, "0")


def test_csv_and_text_have_whole_64_bit_values(path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("state", "--at", "#4", "--csv", path, "RB_MRT[0].BASE")
    (row,) = csv.DictReader(done.stdout.decode().splitlines())
    assert row["value"] == row["decoded"] == hex(COLOUR)
    done = run_cffpy("state", "--at", "#4", path, "RB_MRT[0].BASE")
    assert done.stdout.decode().splitlines()[1] == f"{COLOUR:016x}  RB_MRT[0].BASE: {COLOUR:#x}"


def test_csv(path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("state", "--at", "#8", "--csv", path)
    rows = {row["register"]: row for row in csv.DictReader(done.stdout.decode().splitlines())}
    assert list(next(iter(rows.values()))) == columns()
    assert rows["RB_BIN_CONTROL"]["origin"] == "earlier submit"
    assert rows["GRAS_SC_WINDOW_SCISSOR_BR"]["origin"] == "this pass"
    assert " group:0x" in rows["GRAS_LRZ_CNTL"]["written_by_place_path"]


def test_choice_of_registers(path: Path, run_cffpy: Run) -> None:
    def names(*arguments: object) -> list[str]:
        done = run_cffpy("state", "--at", "#8", "--json", path, *arguments)
        assert done.returncode == 0
        return [one["register"] for one in json.loads(done.stdout)["registers"]]

    everything = names()
    assert names("RB_WINDOW_OFFSET", "GRAS_LRZ_CNTL") == ["GRAS_LRZ_CNTL", "RB_WINDOW_OFFSET"]
    mrt = [name for name in everything if name.startswith("RB_MRT[0]")]
    assert len(mrt) == 4
    assert names("rb_mrt[0]*") == names("RB_MRT*") == mrt
    assert names("0x8890") == ["RB_WINDOW_OFFSET"]
    scissor = ["GRAS_SC_WINDOW_SCISSOR_TL", "GRAS_SC_WINDOW_SCISSOR_BR"]
    assert names("--origin", "this pass") == scissor
    done = run_cffpy("state", "--at", "#8", path, "RB_STENCILREF", "0x8821")
    assert done.returncode == 0
    lines = done.stderr.decode().splitlines()
    assert [line.split()[4] for line in lines] == ["RB_STENCILREF", "0x8821"]
    assert len(done.stdout.splitlines()) == 1, "the heading alone"


@pytest.mark.parametrize(
    ("name", "message"),
    first_always(
        [
            ("RB_DEPT_CNTL", "a6xx has no register RB_DEPT_CNTL; did you mean RB_DEPTH_CNTL or "),
            (
                "rb_mrt[0].contrl",
                "a6xx has no register rb_mrt[0].contrl; did you mean RB_MRT[].CONTROL",
            ),
            ("QQQ_NOTHING", "a6xx has no register QQQ_NOTHING\n"),
            ("QQQ*", "a6xx has no register QQQ*\n"),
            ("0xzz", "a6xx has no register 0xzz\n"),
            ("0xfffffff", "a6xx has no register at offset 0xfffffff\n"),
        ],
        3,
        names=2,
    ),
)
def test_a_name_that_no_register_has(path: Path, run_cffpy: Run, name: str, message: str) -> None:
    done = run_cffpy("state", "--at", "#8", path, "GRAS_LRZ_CNTL", name)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--at", -1), "'-1' is not a place: s2, p3, p3:17"),
        (("--at", "p1:1", "--pass", 1), "--at and --pass cannot be used together"),
        (("--draw", "p1:1", "--pass", 1), "--pass cannot be used with --draw p1:1"),
        ((), "a place is needed: --at p3:17, --at '#62', or --where"),
        (("--at", "#1", "--origin", "nowhere"), "--origin"),
        (("--at", "#1", "--json", "--csv"), "cannot be used together"),
    ],
)
def test_errors_of_usage(
    path: Path, run_cffpy: Run, options: tuple[object, ...], words: str
) -> None:
    done = run_cffpy("state", *options, path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr.decode()


def test_damage(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "cut.rd"
    whole = small_capture()
    path.write_bytes(whole)
    sound = run_cffpy("state", "--at", "#5", path)
    path.write_bytes(whole[:-40])
    done = run_cffpy("state", "--at", "#5", path)
    assert (done.returncode, done.stdout) == (1, sound.stdout)
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"cffpy: error: {path}: ")
