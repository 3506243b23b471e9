# SPDX-License-Identifier: MIT
"""``cffpy edit``: how draws are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_server import Run
from tests.selection import first_always


@pytest.mark.parametrize(
    "options",
    first_always(
        [
            ("--nop-draw", "#3-4"),
            ("--nop-draw", "p0:0-1"),
            ("--nop-draw", "p0:0", "--nop-draw", "p0:1"),
        ]
    ),
)
def test_ranges(options: tuple[object, ...], samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    """The same two packets, by the numbers of the dump and by those of the pass."""
    path, out = samples / "a660-frame-gmem.rd", tmp_path / "out.rd"
    done = run_cffpy("edit", path, *options, "-o", out)
    assert done.returncode == 0
    both = tmp_path / "both.rd"
    assert (
        run_cffpy("edit", path, "--nop-draw", "#3", "--nop-draw", "#4", "-o", both).returncode == 0
    )
    assert out.read_bytes() == both.read_bytes() != path.read_bytes()


@pytest.mark.slow
def test_pass_and_draw(samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    path, out = samples / "a660-frame-gmem.rd", tmp_path / "out.rd"
    value = ("--set", "RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS")
    found = set()
    for name in (("--at", "#4"), ("--at", "p0:1")):
        assert run_cffpy("edit", path, *value, *name, "-o", out).returncode == 0
        found.add(out.read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize(
    ("options", "code", "words"),
    first_always(
        [
            (("--nop-draw", "#5-3"), 2, "the last draw is before the first"),
            (("--nop-draw", "p0:5-p0:8"), 2, "is not a place"),
            (("--nop-draw", "p0"), 2, "'p0' is not a draw: p3:17, p3:5-9, or #62"),
            (("--nop-draw", "p0:0-7"), 1, "no draw p0:7: pass 0 has 2 draws, p0:0 to p0:1"),
            (("--nop-draw", "#0-700"), 1, "no draw"),
        ],
        3,
        names=3,
    ),
)
def test_wrong_names(
    options: tuple[object, ...],
    code: int,
    words: str,
    samples: Path,
    tmp_path: Path,
    run_cffpy: Run,
) -> None:
    out = tmp_path / "out.rd"
    done = run_cffpy("edit", samples / "a660-frame-gmem.rd", *options, "-o", out)
    assert (done.returncode, done.stdout) == (code, b"")
    assert words in done.stderr.decode()
    assert not out.exists()


def test_a_value_that_is_there_already(samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    path, out = samples / "a430-depth-good.rd", tmp_path / "out.rd"
    value = "RB_DEPTH_CONTROL.ZFUNC=FUNC_LESS"
    done = run_cffpy("edit", path, "--set", value, "--at", "#1", "-o", out)
    assert done.returncode == 0
    assert done.stderr.decode() == f"cffpy: {value}: it has this value already, in 1 place\n"
    assert out.read_bytes() == path.read_bytes()
