# SPDX-License-Identifier: MIT
"""cffpy passes, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_server import Run


def test_selection(path: Path, run_cffpy: Run) -> None:
    def indices(*options: object) -> list[int]:
        document = json.loads(run_cffpy("passes", "--json", *options, path).stdout)
        return [one["pass"] for one in document["passes"]]

    assert indices("--pass", 1) == [1]
    assert indices("--submit", 1) == [2]
    assert indices("--submit", 0) == [0, 1]
    assert indices("--at", "s0") == [0, 1]
    assert indices("--at", "p1:1") == [1]


def test_commands_that_were_not_captured(tmp_path: Path, run_cffpy: Run) -> None:
    """Each is reported once, with its address; one line reports that there are more."""
    from tests.builders import capture, type7

    calls = [dword for n in (*range(60), 0) for dword in type7(0x3F, 0x7F000000 + 64 * n, 0, 5)]
    path = tmp_path / "calls.rd"
    path.write_bytes(capture(630, calls))
    done = run_cffpy("passes", path)
    assert done.returncode == 1
    lines = done.stderr.decode().splitlines()
    assert lines == [
        *(
            f"cffpy: error: {path}: stream 0: the 5 dwords at {0x7F000000 + 64 * n:#x} "
            "were not captured"
            for n in range(50)
        ),
        f"cffpy: error: {path}: more problems are not shown",
    ]
    document = json.loads(run_cffpy("passes", "--json", path).stdout)
    assert len(document["problems"]) == 60


def test_costs(samples: Path, run_cffpy: Run) -> None:
    capture = samples / "a660-frame-gmem.rd"
    done = run_cffpy("passes", "--cost", capture)
    assert (done.returncode, done.stderr) == (0, b"")
    first, second, *_ = done.stdout.decode().splitlines()
    assert first.endswith(" bytes loaded, stored and resolved by all render passes")
    assert second.startswith("1. pass 0: gmem")
    assert second.endswith("100.0 %")
    document = json.loads(run_cffpy("passes", "--cost", "--json", capture).stdout)
    assert document["schema"] == "cffpy.passes.cost/1"
    (one,) = document["passes"]
    assert one["stored_bytes"] == sum(
        row["pixels"] * row["bytes_a_pixel"] * row["samples"]
        for row in one["operations"]
        if row["kind"] == "store"
    )
    assert (one["rank"], one["share"], one["not_counted"]) == (1, 1.0, 0)
    assert run_cffpy("passes", "--cost", "--csv", capture).returncode == 2


def test_why(samples: Path, run_cffpy: Run) -> None:
    """Text, document and columns have the same answers."""
    capture = samples / "a660-barriers.rd"
    done = run_cffpy("passes", "--why", capture)
    assert (done.returncode, done.stderr) == (0, b"")
    title, reason, counts, *_ = done.stdout.decode().splitlines()
    assert title == "pass 1: sysmem, framebuffer 64x64, 1 draw"
    assert reason.startswith("  sysmem: 1 draw, at most 5, and one sample a pixel")
    assert reason.endswith("(fallback_use_bypass, likely)")
    assert counts == "  the autotuner counts its samples"
    document = json.loads(run_cffpy("passes", "--why", "--json", capture).stdout)
    assert document["schema"] == "cffpy.passes.why/1"
    (one,) = document["passes"]
    assert (one["pass"], one["rule"], one["draw_cost"]) == (1, "few draws", 4.0)
    line = json.loads(run_cffpy("passes", "--why", "--jsonl", capture).stdout)
    assert {name: line[name] for name in one} == one
    columns = ("passes", "--at", "p1", "--columns", "pass.mode_choice.rule", capture)
    assert b"few draws" in run_cffpy(*columns).stdout
    where = ("passes", "--where", 'pass.mode_choice.rule == "few draws"', capture)
    assert b"pass 1: sysmem" in run_cffpy(*where).stdout


@pytest.mark.parametrize("refused", ["--csv", "--plot", "--cost"])
def test_why_has_no_other_form(refused: str, samples: Path, run_cffpy: Run) -> None:
    done = run_cffpy("passes", "--why", refused, samples / "a660-barriers.rd")
    assert (done.returncode, done.stdout) == (2, b"")
