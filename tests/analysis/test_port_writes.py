# SPDX-License-Identifier: MIT
"""Ports: VPC_SO_PROG is a sequence of dwords wherever its values are asked for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import cffpy
from cffpy.regdb.database import Database
from cffpy.regdb.rows import offset_of
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"

#: Sample -> the line before which it gets a program for stream-out.
DRAWS = {
    "a530-two-submits": "    RB_MRT[0].CONTROL = { COMPONENT_ENABLE=0x7 }\n",
    "a630-triangle": "    RB_DEPTH_CNTL = { Z_TEST_ENABLE",
    "a740-state-groups": "    CP_DRAW_INDX_OFFSET",
    "a830-frame-gmem": "    CP_DRAW_INDX_OFFSET",
}
RESET = {"a530-two-submits": "ENABLE"}
PORTS = {"a830-frame-gmem": ("VPC_SO_MAPPING_WPTR", "VPC_SO_MAPPING_PORT")}

PROGRAM = (0x804800, 0x808, 0x814810, 0x81C818, 0x0)


def pairs(sample: str, program: Sequence[int], at: str = "") -> str:
    """CP_CONTEXT_REG_BUNCH, as drivers load a program."""
    pointer, port = PORTS.get(sample, ("VPC_SO_CNTL", "VPC_SO_PROG"))
    lines = [f"CP_CONTEXT_REG_BUNCH\n    + pair {pointer} = {{ {RESET.get(sample, 'RESET')}{at} }}"]
    lines += [f"+ pair {port} = {{ {fields(value)} }}" for value in program]
    return "".join(f"    {line}\n" for line in lines)


def writes(sample: str, program: Sequence[int]) -> str:
    """The same by one packet for each dword."""
    pointer, port = PORTS.get(sample, ("VPC_SO_CNTL", "VPC_SO_PROG"))
    lines = [f"{pointer} = {{ {RESET.get(sample, 'RESET')} }}"]
    lines += [f"{port} = {{ {fields(value)} }}" for value in program]
    return "".join(f"    {line}\n" for line in lines)


def fields(value: int) -> str:
    names = (("A_BUF", 0, 2, 0), ("A_OFF", 2, 9, 2), ("A_EN", 11, 1, 0))
    names += (("B_BUF", 12, 2, 0), ("B_OFF", 14, 9, 2), ("B_EN", 23, 1, 0))
    shown = ((name, (value >> low & (1 << bits) - 1) << shift) for name, low, bits, shift in names)
    return ", ".join(f"{name}={number}" for name, number in shown if number)


def compiled(tmp_path: Path, sample: str, text: str, name: str = "capture") -> cffpy.Capture:
    source = (SAMPLES / f"{sample}.pm4").read_text()
    before, line, behind = source.rpartition(DRAWS[sample])
    assert line
    path = tmp_path / f"{name}.rd"
    path.write_bytes(cffpy.compile(f"{before}{text}{line}{behind}"))
    return cffpy.open(path)


def elements(capture: cffpy.Capture, port: str = "VPC_SO_PROG") -> list[int | None]:
    """Of the last draw."""
    return [one.value for one in capture.draws[-1].state[port].elements]


def entries(good: cffpy.Capture, bad: cffpy.Capture) -> str:
    return "\n".join(one.title for one in cffpy.diff(good, bad).entries)


def test_the_descriptions_say_which_registers_are_ports() -> None:
    found = {chip: Database.open(chip).ports for chip in ("A4XX", "A5XX", "A6XX", "A7XX", "A8XX")}
    shown = {
        chip: [(port.name, port.offset) for port in one.values()] for chip, one in found.items()
    }
    assert shown == {
        "A4XX": [],
        "A5XX": [("VPC_SO_PROG", 0xE2A4)],
        "A6XX": [("VPC_SO_PROG", 0x9217)],
        "A7XX": [("VPC_SO_PROG", 0x9217)],
        "A8XX": [("VPC_SO_MAPPING_PORT", 0x9181)],
    }
    port = found["A6XX"]["VPC_SO_PROG"]
    assert Database.open("A6XX").register_offset("VPC_SO_CNTL") == port.pointer
    assert offset_of(port.element(200)) == port.offset


@pytest.mark.parametrize("load", first_always([pairs, writes]))
@pytest.mark.parametrize("sample", first_always(DRAWS))
def test_each_dword_of_a_program_is_compared(
    sample: str, load: Callable[[str, Sequence[int]], str], tmp_path: Path
) -> None:
    port = PORTS.get(sample, ("", "VPC_SO_PROG"))[1]
    good = compiled(tmp_path, sample, load(sample, PROGRAM), "good")
    assert elements(good, port) == list(PROGRAM)
    for index in range(len(PROGRAM)):
        program = [value ^ (0x4 << 2 if at == index else 0) for at, value in enumerate(PROGRAM)]
        bad = compiled(tmp_path, sample, load(sample, program), "bad")
        assert f"{port}[{index}].A_OFF" in entries(good, bad)
    same = compiled(tmp_path, sample, load(sample, PROGRAM), "same")
    assert not cffpy.diff(good, same).differs


@pytest.mark.slow
@pytest.mark.parametrize("name", first_always(["a630-gl-xfb-queries", "a740-vk-xfb"]))
def test_an_edit_of_any_dword_of_a_real_program_is_found(
    shared: Path, name: str, tmp_path: Path, run_cffpy: Run
) -> None:
    path, out = shared / "captures" / f"{name}.rd.gz", tmp_path / "edited.rd"
    count = len(elements_of_first(path))
    assert count == 4
    for index in range(count):
        for field, value in ("A_OFF", 44), ("B_BUF", 3), ("B_EN", "!"):
            if value == "!":
                value = 1 - (elements_of_first(path)[index] >> 23 & 1)
            change = f"VPC_SO_PROG[{index}].{field}={value}"
            assert run_cffpy("edit", path, "--set", change, "-o", out).returncode == 0
            found = run_cffpy("diff", path, out)
            assert found.returncode == 1
            assert f"VPC_SO_PROG[{index}].{field}" in found.stdout.decode()
    refused = run_cffpy("edit", path, "--set", f"VPC_SO_PROG[{count}].A_OFF=4", "-o", out)
    assert refused.returncode == 1
    assert f"VPC_SO_PROG[{count}] is never written" in refused.stderr.decode()


def elements_of_first(path: Path) -> list[int]:
    with cffpy.open(path) as capture:
        draws = (draw for draw in capture.draws if draw.state["VPC_SO_PROG"].elements)
        return [int(one) for one in next(draws).state["VPC_SO_PROG"].elements]


def test_the_pointer_says_where_a_program_goes_on(tmp_path: Path) -> None:
    """Of a geometry shader's streams, stream 1 has the dwords from 64 on."""
    text = pairs("a630-triangle", (1, 2)) + "    VPC_SO_CNTL = { ADDR=0x40 }\n"
    text += "    VPC_SO_PROG = { A_EN }\n    VPC_SO_CNTL = { ADDR=0xff }\n"
    text += "    VPC_SO_PROG = { B_EN }\n    VPC_SO_PROG = { A_OFF=4 }\n"
    state = compiled(tmp_path, "a630-triangle", text).draws[-1].state
    shown = {one.name: one.value for one in state.matching("VPC_SO_PROG")}
    expected = {"[0]": 4, "[1]": 2, "[64]": 1 << 11, "[255]": 1 << 23}
    assert shown == {f"VPC_SO_PROG{index}": value for index, value in expected.items()}


def test_a_pointer_that_another_group_sets_counts(tmp_path: Path) -> None:
    text = "    VPC_SO_CNTL = { RESET, ADDR=0x7 }\n    RB_DEPTH_PLANE_CNTL = { }\n"
    text += "    VPC_SO_PROG = { A_EN }\n"
    state = compiled(tmp_path, "a630-triangle", text).draws[-1].state
    assert [one.name for one in state["VPC_SO_PROG"].elements] == ["VPC_SO_PROG[7]"]


def test_a_reset_clears_what_was_there(tmp_path: Path) -> None:
    longer = pairs("a630-triangle", PROGRAM) + pairs("a630-triangle", PROGRAM[:2])
    with_rest = compiled(tmp_path, "a630-triangle", longer, "longer")
    assert elements(with_rest) == [*PROGRAM[:2], 0, 0, 0]
    without = compiled(tmp_path, "a630-triangle", pairs("a630-triangle", PROGRAM[:2]), "shorter")
    assert elements(without) == [*PROGRAM[:2]]
    assert not cffpy.diff(with_rest, without).differs


def test_a_shorter_program_is_a_difference(tmp_path: Path) -> None:
    good = compiled(tmp_path, "a630-triangle", pairs("a630-triangle", PROGRAM[:4]), "good")
    bad = compiled(tmp_path, "a630-triangle", pairs("a630-triangle", PROGRAM[:3]), "bad")
    assert "VPC_SO_PROG[3]" in entries(good, bad)
    assert "VPC_SO_PROG[3]" in entries(bad, good)


@pytest.mark.slow
def test_all_surfaces_have_the_sequence(tmp_path: Path, run_cffpy: Run) -> None:
    capture = compiled(tmp_path, "a630-triangle", pairs("a630-triangle", PROGRAM))
    path = tmp_path / "capture.rd"
    names = [f"VPC_SO_PROG[{index}]" for index in range(len(PROGRAM))]

    document = json.loads(run_cffpy("state", path, "--at", "p0:0", "--json").stdout)
    found = [one for one in document["registers"] if one["register"].startswith("VPC_SO_PROG")]
    assert [one["register"] for one in found] == names
    assert {one["register_offset"] for one in found} == {"0x9217"}
    for name in ("VPC_SO_PROG", "0x9217", "vpc_so_prog[*]"):
        lines = run_cffpy("state", path, "--at", "p0:0", name).stdout.decode().splitlines()
        assert [line.split()[1].rstrip(":") for line in lines[1::2]] == names

    query = (
        "SELECT register, register_offset, value FROM registers WHERE register LIKE 'VPC_SO_PROG%'"
    )
    rows = json.loads(run_cffpy("sql", path, query, "--json").stdout)["rows"]
    assert sorted(map(tuple, rows)) == sorted(
        (name, 0x9217, value) for name, value in zip(names, PROGRAM, strict=True)
    )

    state = capture.draws[0].state
    port = state["VPC_SO_PROG"]
    assert (port.value, port.is_written, port.is_unknown) == (None, True, False)
    assert all(element.text in port.text for element in port.elements)
    written_by = port.written_by
    assert written_by is not None
    assert written_by.packet == "CP_CONTEXT_REG_BUNCH"
    assert [name for name in state if name.startswith("VPC_SO")] == ["VPC_SO_CNTL", *names]
    assert "VPC_SO_PROG" in state
    assert "VPC_SO_PROG[4]" in state
    assert "VPC_SO_PROG[5]" not in state
    assert state["VPC_SO_MAPPING_PORT[2]"].value == PROGRAM[2]  # its name in another edition
    assert state["RB_DEPTH_CNTL"].elements == []

    for text, count in (("[3].B_OFF == 28", 1), ("[3].B_OFF == 32", 0), ("[*].A_OFF == 16", 1)):
        shown = run_cffpy("find", "--count", f"VPC_SO_PROG{text}", path).stdout.decode()
        assert shown == f"{path}: {count}\n"


def test_db_show_says_what_a_port_is(run_cffpy: Run) -> None:
    shown = run_cffpy("db", "show", "VPC_SO_PROG", "--gpu", "a6xx").stdout.decode()
    assert "port: each write is the next of VPC_SO_PROG[0] to VPC_SO_PROG[255]" in shown
    pointer = json.loads(run_cffpy("db", "show", "VPC_SO_CNTL", "--json").stdout)
    assert {one["pointer_of"] for one in pointer["found"]} == {"VPC_SO_PROG"}
