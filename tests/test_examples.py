# SPDX-License-Identifier: MIT
"""The scripts in examples/ run, and print what they are for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def run(name: str, *arguments: object) -> str:
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def test_register_values(samples: Path) -> None:
    shown = run("register_values.py", samples / "a430-depth-good.rd", "RB_DEPTH_CONTROL")
    first, second = shown.splitlines()
    assert first.startswith("     1 draws from p0:0 on: { ")
    assert "ZFUNC = FUNC_LESS" in second


def test_draw_state_json(samples: Path) -> None:
    document = json.loads(run("draw_state_json.py", samples / "a660-frame-gmem.rd", "p0:1"))
    assert document["draw"]["name"] == "p0:1"
    assert document["registers"]


def test_compare_draws(samples: Path) -> None:
    good, bad = samples / "a430-depth-good.rd", samples / "a430-depth-bad.rd"
    assert run("compare_draws.py", good, good, "p0:1") == ""
    (line,) = run("compare_draws.py", good, bad, "p0:1").splitlines()
    assert line.startswith("RB_DEPTH_CONTROL: {")


def test_rewritten_state(samples: Path) -> None:
    shown = run("rewritten_state.py", samples / "a740-state-groups.rd")
    counts = [int(line.split()[0]) for line in shown.splitlines()]
    assert counts == sorted(counts, reverse=True)


def test_folder(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "a.rd").write_bytes((samples / "a660-frame-gmem.rd").read_bytes())
    (tmp_path / "b.txt").write_text("not a capture, but text\n")
    first, second = run("folder.py", tmp_path).splitlines()
    assert first == "a.rd: FD660, 1 passes, 2 draws, 0 problems"
    assert second.startswith("b.txt: ")
    assert "not a capture" in second


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_each_example_is_tested(path: Path) -> None:
    assert f'"{path.name}"' in Path(__file__).read_text("utf-8")
