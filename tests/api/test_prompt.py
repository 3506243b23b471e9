# SPDX-License-Identifier: MIT
"""What a person at a prompt sees: short texts, tables in notebooks, completion, public types."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cffpy
from cffpy.frame.passes import Pass

FRAME = "a660-frame-binning.rd"


def shown(capture: cffpy.Capture) -> Iterator[object]:
    """An object of each kind."""
    yield from (capture, capture.summary, capture.submits, capture.buffers, capture.memory)
    yield from (capture.passes, capture.draws, capture.actions, capture.transfers)
    yield from (capture.lrz, capture.costs, capture.check(), capture.layout_checks)
    yield from (capture.shaders, capture.problems, capture.registers, capture.inherited)
    one, draw = capture.passes[0], capture.draws[-1]
    yield from (one, one.tiles, one.tiles[0], one.operations, one.attachments, one.pipes)
    yield from (one.operations[0], one.lrz, one.visibility, draw.place)
    yield from (draw, draw.state, draw.state["RB_DEPTH_CNTL"], draw.state.written, draw.shaders)
    yield from (draw.targets, draw.textures, draw.descriptors, draw.transfers)
    yield from (capture.lrz[0], capture.costs[0], capture.submits[0], capture.buffers[0])


def test_texts_have_at_most_twenty_lines(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        for one in shown(capture):
            text = repr(one)
            assert len(text.splitlines()) <= 20, type(one)
            assert len(text) < 4000, type(one)
            assert " object at 0x" not in text, type(one)


def test_programs_have_a_line_each_with_their_names(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        lines = repr(capture.shaders).splitlines()[1:-1]
        assert len(lines) == len(capture.shaders) > 1
        for number, line in enumerate(lines):
            assert line.startswith(f" <CapturedShader sh{number} {capture.shaders[number].stage} ")


def test_objects_of_the_model_are_tables_in_notebooks(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        one = capture.passes[0]
        for made in (one.tiles[0], one.operations[0], capture.submits[0], capture.costs[0]):
            html = made._repr_html_()
            assert html.count("<tr>") == html.count("</tr>") > 1
        tiles = one.tiles._repr_html_()
        assert tiles is not None
        assert tiles.count("<tr>") == len(one.tiles) + 1
        assert "rectangle_left" in tiles
        assert cffpy.open(samples / FRAME).problems == []


def test_a_state_is_a_mapping(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        state = capture.draws[0].state
        assert state.keys() == list(state)
        assert [name for name, _ in state.items()] == state.keys()
        assert dict(state) == dict(state.items())
        assert state.get("RB_DEPTH_CNTL") == state["RB_DEPTH_CNTL"]
        assert state.get("no such register") is None
        assert "ZFUNC" in dir(state["RB_DEPTH_CNTL"])
        assert state._ipython_key_completions_() == state.keys()


def test_columns_of_a_selection(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        apart = capture.draws.select("draw.vertices", "RB_DEPTH_CNTL.ZFUNC")
        assert apart
        together = capture.draws.select("draw.vertices,RB_DEPTH_CNTL.ZFUNC")
        assert [[v.value for v in values] for _, values in apart] == [
            [v.value for v in values] for _, values in together
        ]
        few = capture.draws.select("draw.vertices", where="draw.number == 0")
        assert len(few) < len(apart)


def test_rows_as_a_table(samples: Path) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    rows = cffpy.sql(samples / FRAME, "SELECT tile, pass FROM tiles ORDER BY tile")
    assert repr(rows) == "<Rows of tile, pass>"
    table = rows.arrow()
    assert table.column_names == ["tile", "pass"]
    assert table["tile"].to_pylist() == list(range(len(table)))
    with pytest.raises(cffpy.UsageError, match="have been read"):
        rows.arrow()


#: Types of the objects behind the interface, which some members return for commands.
_BEHIND = {
    *("BoundFilter", "Checked", "CommandStream", "Content", "Facts", "Found", "MemoryImage"),
    *("PacketText", "PassRun", "Passes", "Recording", "RegisterHistory", "State", "Truncation"),
}

NAMES = ("Capture", "Submit", "Pass", "Tile", "Action", "Finding", "PassLrz")


@pytest.mark.parametrize("name", NAMES)
def test_types_of_members_have_public_names(name: str) -> None:
    kind = getattr(cffpy, name)
    missing = set()
    for member, value in inspect.getmembers(kind):
        function = getattr(value, "fget", None) or getattr(value, "func", None)
        text = inspect.getdoc(function) or ""
        if function is None or member.startswith("_") or "its shape may change" in text.lower():
            continue
        for word in re.findall(r"\b[A-Z]\w+", str(function.__annotations__.get("return"))):
            found = vars(sys.modules[function.__module__]).get(word)
            is_class = isinstance(found, type) and found.__module__.startswith("cffpy.")
            if is_class and word not in cffpy.__all__ and word not in _BEHIND:
                missing.add(f"{member}: {word}")
    assert not missing
    assert issubclass(cffpy.Pass, Pass)


SCRIPT = """
import cffpy

with cffpy.open("capture.rd") as capture:
    for draw in capture.draws.where("draw.vertices > 3"):
        value: cffpy.StateValue = draw.state["RB_DEPTH_CNTL"]
        number: int | None = value.value
    tile: cffpy.Tile = capture.passes[0].tiles[0]
    left: int = 0 if tile.rectangle is None else tile.rectangle.left
    findings: list[cffpy.Finding] = capture.check()
    where: cffpy.PacketLocation | None = findings[0].place
    submit: cffpy.Submit = capture.submits[0]
    sizes: list[int] = [buffer.size for buffer in submit.buffers]
"""


@pytest.mark.slow
def test_scripts_are_checked_strictly(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SCRIPT + "sizes.append(submit.process)\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([*command, str(wrong)], capture_output=True, text=True, cwd=tmp_path)
    assert 'incompatible type "str | None"; expected "int"' in done.stdout
