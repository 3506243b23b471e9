# SPDX-License-Identifier: MIT
"""The scripts in examples/ run, and print what they are for."""

from __future__ import annotations

import json
import os
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


def test_texture_list(samples: Path) -> None:
    first, second = run("texture_list.py", samples / "a660-textures.rd").splitlines()
    assert first == "0x100008000  FMT6_8_8_8_8_UNORM  64x64  1 draws from p0:0 on"
    assert "128x128" in second


@pytest.mark.slow
def test_sampled_targets(shared: Path) -> None:
    shown = run("sampled_targets.py", shared / "captures/a740-gl-passes.rd.gz")
    assert "p35:0 samples color 0 of pass 29 at 0xff20c000" in shown.splitlines()


def test_no_sampled_targets(samples: Path) -> None:
    assert run("sampled_targets.py", samples / "a660-textures.rd") == ""


@pytest.mark.slow
def test_shader_statistics(shared: Path) -> None:
    shown = run("shader_statistics.py", shared / "captures/a740-vk-multiview-gmem.rd.gz")
    assert "VS 0x100005680: 40 instructions, 10 full and 0 half registers, 72 uses" in shown


def test_gmem_bandwidth(samples: Path) -> None:
    (line,) = run("gmem_bandwidth.py", samples / "a660-frame-gmem.rd").splitlines()
    assert line == f"pass 0: 0 bytes loaded, {192 * 128 * 4:,} stored"


#: Stands for pandas, which the tests do not need.
PANDAS = """
class DataFrame(list):
    def to_string(self): return repr(list(self))
    def groupby(self, key): return {"vertices": Column(self)}
class Column(list):
    def sum(self): return DataFrame([sum(row["vertices"] or 0 for row in self)])
"""


def test_draw_table(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pandas.py").write_text(PANDAS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"])))
    rows, total = run("draw_table.py", samples / "a660-frame-gmem.rd").splitlines()
    assert "'draw': 'p0:0', 'pass': 0, 'vertices': 36" in rows
    assert total == "[39]"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_each_example_is_tested(path: Path) -> None:
    assert f'"{path.name}"' in Path(__file__).read_text("utf-8")
