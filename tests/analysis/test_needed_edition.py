# SPDX-License-Identifier: MIT
"""``--edition auto``: the last edition that describes what no earlier one does."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.needed_edition import needed_edition
from cffpy.container.open import open_bytes, open_capture
from cffpy.editions.folders import resolve_edition
from cffpy.regdb.database import Database
from tests.builders import capture, type4, type7
from tests.golden.runner import built_sample

Run = Callable[..., subprocess.CompletedProcess[bytes]]

NEWER = resolve_edition("mesa-25.3")
DEPTH_CONTROL, NOP, DRAW = 0x8871, 0x10, 0x38
#: Described for a7xx by 25.3 alone, and by no edition.
NEW_REGISTER, NO_REGISTER = 0x930A, 0x3FFF0
PROGRAM = 0x200000
#: Of a program: an alias as later drivers write it, and the end.
ALIAS, END = 0xE405000900000002, 0x0300000000000000


def needed(gpu: int, *commands: int, code: tuple[int, ...] = ()) -> str | None:
    buffers = {PROGRAM: struct.pack(f"<{len(code)}Q", *code)} if code else {}
    return needed_edition(open_bytes(capture(gpu, [*commands, *type7(NOP, 0)], buffers)))


def test_what_the_bundled_edition_describes_needs_no_other() -> None:
    assert needed(730, *type4(DEPTH_CONTROL, 1)) is None


def test_a_register_that_only_a_newer_edition_describes() -> None:
    assert needed(730, *type4(NEW_REGISTER, 1)) == NEWER


def test_what_no_edition_describes_decides_nothing() -> None:
    assert needed(730, *type4(NO_REGISTER, 1)) is None


@pytest.mark.parametrize(("code", "found"), [((ALIAS, END), NEWER), ((END,), None)])
def test_instructions_of_programs(code: tuple[int, ...], found: str | None) -> None:
    register = Database.open("A7XX").register_offset("SP_FS_OBJ_START")
    assert needed(730, *type4(register, PROGRAM, 0), code=code) == found


def test_a_generation_that_only_a_newer_edition_describes(samples: Path) -> None:
    sample = built_sample(samples.parent, "a830-frame-gmem")
    assert needed_edition(open_capture(str(sample))) == NEWER


def test_a_capture_of_no_gpu_needs_none() -> None:
    assert needed_edition(open_bytes(capture(99, type7(NOP, 0)))) is None


@pytest.mark.parametrize(
    ("register", "edition"), [(DEPTH_CONTROL, "mesa-25.0"), (NEW_REGISTER, "mesa-25.3")]
)
def test_the_interface_takes_it(register: int, edition: str, tmp_path: Path) -> None:
    path = tmp_path / "auto.rd"
    path.write_bytes(capture(730, [*type4(register, 1), *type7(DRAW, 4, 1, 3)]))
    names = []
    for chosen in ("auto", edition):
        with cffpy.open(path, register_db=chosen) as opened:
            [draw] = opened.draws
            names.append(draw.state[register].name)
    assert names[0] == names[1]
    assert not names[0].startswith("0x")


@pytest.mark.slow
def test_commands(samples: Path, run_cffpy: Run) -> None:
    sample = built_sample(samples.parent, "a660-frame-gmem")
    for command in ("passes", "draws", "check"):
        chosen = run_cffpy(command, "--edition", "auto", sample)
        assert chosen.stdout == run_cffpy(command, sample).stdout
        assert chosen.returncode == 0
    assert run_cffpy("passes", sample, env={"CFFPY_EDITION": "auto"}).returncode == 0


@pytest.mark.parametrize("command", ["dump", "decompile", "compile"])
def test_commands_that_are_no_analyses_need_a_name(
    command: str, samples: Path, run_cffpy: Run
) -> None:
    done = run_cffpy(command, "--edition", "auto", built_sample(samples.parent, "a660-frame-gmem"))
    assert done.returncode != 0
    assert b"auto: no edition of the register database" in done.stderr
    assert done.stderr.count(b"\n") == 1
