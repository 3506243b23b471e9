# SPDX-License-Identifier: MIT
"""cffpy vsc, run as users run it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

EXAMPLE = ("vsc", "--hex", "f9 62 80 00", "--bins", "4")
INSTANCED = ("vsc", "--hex", "9d45800002000000", "--bins", "4", "--draws")


def test_the_example_of_the_document(run_cffpy: Run) -> None:
    done = run_cffpy(*EXAMPLE)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    assert lines[1:3] == [["0", "5", "0-3", "1111"], ["11", "5", "none", "0000"]]
    assert ["10", "primitives", "in", "2", "runs"] in lines
    assert lines[-4:] == [[str(slot), "5", "50.0%"] for slot in range(4)]
    assert run_cffpy(*EXAMPLE, "--primitive-count", 10).stdout == done.stdout


def test_json(run_cffpy: Run) -> None:
    document = json.loads(run_cffpy(*EXAMPLE, "--json").stdout)
    assert document == {
        "schema": "cffpy.vsc-hex/1",
        "stream": "primitives",
        "bin_count": 4,
        "size": 4,
        "runs": [
            {"bit": 0, "primitives": 5, "bins": [0, 1, 2, 3], "bitfield": "1111"},
            {"bit": 11, "primitives": 5, "bins": [], "bitfield": "0000"},
        ],
        "primitives": 10,
        "bins": [{"slot": slot, "primitives": 5, "culled": 0.5} for slot in range(4)],
        "errors": [],
    }


def test_draws(run_cffpy: Run) -> None:
    done = run_cffpy(*INSTANCED)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = [" ".join(line.split()) for line in done.stdout.decode().splitlines()]
    assert lines[1:4] == [
        "0 0 0 0-1 0011 2 dwords at dword 0",
        "10 0 1 to last none 0000",
        "10 1 0 none 0000",
    ]
    assert "2 draws, then the end packet; primitive streams of 2 dwords" in lines


def test_draws_as_json(run_cffpy: Run) -> None:
    document = json.loads(run_cffpy(*INSTANCED, "--json").stdout)
    assert document["schema"] == "cffpy.vsc-hex/1"
    assert [run["instances"] for run in document["runs"]] == [1, None, 1]
    assert document["runs"][0]["primitive_stream"] == {"offset": 0, "size": 2}
    assert (document["entries"], document["end_packet"], document["errors"]) == (2, True, [])
    assert document["bins"][0] == {"slot": 0, "entries": 1, "culled": 0.5}


def test_standard_input(run_cffpy: Run) -> None:
    done = run_cffpy("vsc", "--hex", "-", "--bins", 4, input=b"f962\n8000\n")
    assert done.stdout == run_cffpy(*EXAMPLE).stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_damage_is_said_behind_what_is_good(run_cffpy: Run, options: list[str]) -> None:
    done = run_cffpy("vsc", "--hex", "f9628100", "--bins", 4, *options)
    assert done.returncode == 1
    assert done.stderr.decode().startswith("cffpy: error: ")
    assert "(at bit 18, byte 0x2)" in done.stderr.decode()
    if options:
        document = json.loads(done.stdout)
        assert len(document["runs"]) == 2
        assert document["errors"][0]["bit"] == 18
    else:
        assert b"1111" in done.stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_damage_of_draws(run_cffpy: Run, options: list[str]) -> None:
    done = run_cffpy("vsc", "--hex", "9d45c000", "--bins", 4, "--draws", *options)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "cffpy: error: draw stream: the stream ends inside a packet (at bit 16, byte 0x2)\n"
    )
    assert b"0011" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give FILE, or --hex HEX --bins N"),
        (["--hex", "00"], "--hex needs --bins N"),
        (["--hex", "0", "--bins", "4"], "two hex digits each, got '0'"),
        (["--hex", "zz" * 40, "--bins", "4"], "..."),
        (["--hex", " ", "--bins", "4"], "--hex needs at least one byte"),
        (["--hex", "00", "--bins", "0"], "0 is not in the range"),
        (["--hex", "00", "--bins", "64"], "64 is not in the range"),
        (["--hex", "00", "--bins", "4", "file"], "--hex and FILE cannot be used together"),
        (
            ["--hex", "00", "--bins", "4", "--draws", "--primitive-count", "1"],
            "cannot be used with --draws",
        ),
    ],
)
def test_usage(run_cffpy: Run, arguments: list[str], message: str) -> None:
    done = run_cffpy("vsc", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert done.stdout == b""
