# SPDX-License-Identifier: MIT
"""cffpy decompile, compile, edit and repair, run as users run them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.command_server import Run
from tests.conftest import CHECKOUT
from tests.selection import first_always

TEXT = CHECKOUT / "samples" / "a630-triangle.pm4"


@pytest.mark.slow
def test_there_and_back(run_cffpy: Run, samples: Path, tmp_path: Path) -> None:
    capture = samples / "a630-triangle.rd.gz"
    done = run_cffpy("decompile", capture, "-o", tmp_path / "a.pm4")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    for name in ("a.rd", "a.rd.gz"):
        done = run_cffpy("compile", tmp_path / "a.pm4", "-o", tmp_path / name)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    whole = gzip.decompress(capture.read_bytes())
    assert (tmp_path / "a.rd").read_bytes() == whole
    assert gzip.decompress((tmp_path / "a.rd.gz").read_bytes()) == whole


def test_streams(run_cffpy: Run, samples: Path) -> None:
    data = (samples / "a220-triangle.rd").read_bytes()
    text = run_cffpy("decompile", "-", input=data)
    assert (text.returncode, text.stderr) == (0, b"")
    again = run_cffpy("compile", "-", "-o", "-", input=text.stdout)
    assert (again.returncode, again.stdout, again.stderr) == (0, data, b"")


def test_damage_is_told(run_cffpy: Run, samples: Path) -> None:
    done = run_cffpy("decompile", samples / "damaged.rd.gz")
    assert done.returncode == 1
    assert b"declared 60" in done.stdout
    assert b"is cut short: 16 of 60 bytes" in done.stderr
    done = run_cffpy("decompile", samples / "damaged-gzip.rd.gz")
    assert done.returncode == 1
    assert done.stderr.startswith(b"cffpy: error: ")


def test_one_submit(run_cffpy: Run, samples: Path) -> None:
    capture = samples / "a530-two-submits.rd"
    done = run_cffpy("decompile", "--submit", "1", capture)
    assert done.returncode == 0
    assert done.stdout.count(b"\nstream ") == 1
    assert b"COMPONENT_ENABLE=0x7" in done.stdout
    done = run_cffpy("decompile", "--submit", "2", capture)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"there is no submit 2; submits of this capture: 0 to 1" in done.stderr


def test_check(run_cffpy: Run, tmp_path: Path) -> None:
    done = run_cffpy("compile", "--check", TEXT)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    wrong = tmp_path / "wrong.pm4"
    wrong.write_text(TEXT.read_text().replace("FUNC_LESS", "FUNC_LESSER"))
    for arguments in (["--check"], ["-o", tmp_path / "wrong.rd"]):
        done = run_cffpy("compile", wrong, *arguments)
        assert done.returncode == 1
        first, line, caret = done.stderr.decode().splitlines()
        assert first.startswith(f"cffpy: error: {wrong}:5")
        assert first.endswith("ZFUNC has no value FUNC_LESSER, did you mean FUNC_LESS?")
        assert line[caret.index("^") :].startswith("FUNC_LESSER")
    assert not (tmp_path / "wrong.rd").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    first_always(
        [
            (["compile", TEXT], 2),
            (["compile", "--check", "-o", "x.rd", TEXT], 2),
            (["compile", "no.pm4", "--check"], 1),
            (["compile", TEXT, "-o", "no/such/folder.rd"], 1),
            (["decompile", "no.rd"], 1),
            (["decompile", "--submit", "-1", "no.rd"], 2),
            (["edit", "no.rd", "-o", "x.rd"], 2),
            (["edit", "no.rd", "--at", "#1", "--nop-draw", "#1", "-o", "x.rd"], 2),
            (["edit", "no.rd", "--nop-draw", "#1", "-o", "x.rd"], 1),
            (["edit", "no.rd", "--nop-draw", "#1"], 2),
            (["edit", "no.rd", "--drop-group", "64", "-o", "x.rd"], 2),
            (["repair", "no.rd", "-o", "x.rd"], 1),
            (["repair", "no.rd", "--dwords", "1", "-o", "x.rd"], 2),
            (["repair", "no.rd", "--address", "x", "-o", "x.rd"], 2),
            (["repair", "no.rd", "--address", "-1", "-o", "x.rd"], 2),
            (["repair", "no.rd", "--address", "0x1ffffffffffffffff", "-o", "x.rd"], 2),
        ],
        3,
        names=2,
    ),
)
def test_wrong_usage(arguments: list[object], code: int, run_cffpy: Run, tmp_path: Path) -> None:
    done = run_cffpy(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr
    assert b"rror: " in done.stderr
    assert not (tmp_path / "x.rd").exists()


def test_edit(run_cffpy: Run, samples: Path, tmp_path: Path) -> None:
    capture, changed = samples / "a660-frame-gmem.rd", tmp_path / "changed.rd.gz"
    done = run_cffpy("edit", capture, "--nop-draw", "#3", "-o", changed)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == (
        b"cffpy: draw #3 (CP_DRAW_INDX_OFFSET) is a CP_NOP now; the packet was executed 4 times "
        b"(draws #3, #9, #15, #21), all are affected\n"
    )
    before, after = (run_cffpy("dump", "--unit-test", path).stdout for path in (capture, changed))
    assert before.count(b"] register values") - after.count(b"] register values") == 4
    done = run_cffpy("edit", capture, "--set", "RB_STENCIL_CONTROL=0", "-o", tmp_path / "none.rd")
    assert done.returncode == 1
    assert b"RB_STENCIL_CONTROL is never written" in done.stderr
    assert not (tmp_path / "none.rd").exists()


def test_an_edit_makes_the_good_one_of_the_bad_one(
    run_cffpy: Run, samples: Path, tmp_path: Path
) -> None:
    value = "RB_DEPTH_CONTROL.ZFUNC=FUNC_LESS"
    bad, out = samples / "a430-depth-bad.rd", tmp_path / "good.rd"
    done = run_cffpy("edit", bad, "--set", value, "--at", "#1", "-o", out)
    assert done.stderr == f"cffpy: {value}: set in 1 place\n".encode()
    assert out.read_bytes() == (samples / "a430-depth-good.rd").read_bytes()


def test_repair(run_cffpy: Run, samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "whole.rd"
    done = run_cffpy("repair", samples / "damaged.rd.gz", "-o", out)
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [
        "cffpy: dropped RD_BUFFER_CONTENTS at 0x27c: 16 of 60 bytes",
        "cffpy: dropped RD_GPUADDR at 0x268, which named 0x100002000",
        "cffpy: added RD_CMDSTREAM_ADDR: 33 dwords at 0x100001000, as in submit 0",
    ]
    again = run_cffpy("repair", out, "-o", tmp_path / "again.rd")
    assert again.stderr == b"cffpy: nothing to repair\n"
    assert (tmp_path / "again.rd").read_bytes() == out.read_bytes()
    assert b"draw[0] register values" in run_cffpy("dump", out).stdout


@pytest.mark.parametrize("command", ["edit no.rd --nop-draw #1", "repair no.rd", "export no.rd"])
def test_an_output_file_that_is_needed(command: str, run_cffpy: Run) -> None:
    done = run_cffpy(*command.split())
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Missing option '-o' / '--output'" in done.stderr
