# SPDX-License-Identifier: MIT
"""cffpy state, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_server import Run
from tests.selection import first_always


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
        ((), "a place is needed: --at p3:17, --at '#62', or --where"),
        (("--at", "#1", "--origin", "nowhere"), "--origin"),
    ],
)
def test_errors_of_usage(
    path: Path, run_cffpy: Run, options: tuple[object, ...], words: str
) -> None:
    done = run_cffpy("state", *options, path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr.decode()
