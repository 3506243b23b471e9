# SPDX-License-Identifier: MIT
"""Kept marks and notes, their files; pictures as half blocks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cffpy
from cffpy.errors import CffpyError
from cffpy.tui.marks import MAX_NOTE, Marks, exported, marks_directory, marks_file, write_exported


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_marks_are_found_by_the_contents(home: Path) -> None:
    path = marks_file(b"one capture")
    assert path.parent == marks_directory() == home / "cffpy/marks"
    marks = Marks("a.rd", path)
    marks.set("p0:3", "too dark \x1b[31m")
    marks.set("p1:0", "")
    marks.remove("p1:0")
    marks.remove("p9:9")
    assert Marks("renamed.rd", marks_file(memoryview(b"one capture"))).notes == marks.notes
    assert Marks("a.rd", marks_file(b"another")).notes == {}
    assert Marks("a.rd", None).notes == {}
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "[" * 100_000,
        '{"marks": 3}',
        '{"marks": [3, {"draw": 3, "note": ""}, {"draw": "p0:0"}]}',
    ],
)
def test_a_file_that_is_something_else(home: Path, text: str) -> None:
    path = marks_file(b"")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert Marks("a.rd", path).notes == {}


def test_long_notes_are_cut(home: Path) -> None:
    marks = Marks("a.rd", marks_file(b""))
    marks.set("p0:0", "x" * 10_000)
    assert len(Marks("a.rd", marks_file(b"")).notes["p0:0"]) == MAX_NOTE


def test_where_nothing_can_be_written(home: Path) -> None:
    (home / "cffpy").write_text("a file, not a folder")
    marks = Marks("a.rd", marks_file(b""))
    with pytest.raises(CffpyError, match="marks are not kept"):
        marks.set("p0:0", "")
    assert marks.notes == {"p0:0": ""}, "for as long as the program runs"


def test_what_is_written(samples: Path, tmp_path: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        marked = [(capture.draws[0], "wrong \x1b colour"), (capture.draws[1], "")]
        lines = list(exported("a.rd", marked))
        assert lines == [
            "# Marks in a.rd",
            "",
            "- `p0:0` draw DI_PT_TRILIST, 36 vertices: wrong \\x1b colour",
            "- `p0:1` draw DI_PT_TRILIST, 3 vertices",
        ]
        path = str(tmp_path / "marks.md")
        write_exported(path, "a.rd", marked)
        with pytest.raises(CffpyError, match="File exists"):
            write_exported(path, "a.rd", marked)
    assert Path(path).read_text() == "".join(f"{line}\n" for line in lines)
    assert json.loads(json.dumps(lines)) == lines
