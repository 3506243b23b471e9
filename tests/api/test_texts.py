# SPDX-License-Identifier: MIT
"""Captures as text and back, edits, registers without a capture, comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import cffpy
from cffpy.analysis.walk import Walk
from cffpy.container.open import Content
from tests.selection import first_always

Run = Callable[..., CompletedProcess[bytes]]

GMEM = "a660-frame-gmem.rd"
GOOD, BAD = "a430-depth-good.rd", "a430-depth-bad.rd"


def test_decompiled_text_compiles_to_the_same_bytes(samples: Path) -> None:
    capture = cffpy.open(samples / GMEM)
    text = "".join(cffpy.decompile(capture))
    assert cffpy.compile(text) == (samples / GMEM).read_bytes()
    with pytest.raises(cffpy.CffpyError, match="text:1"):
        cffpy.compile("what is this\n")


def test_an_edit_changes_what_it_says(samples: Path) -> None:
    capture = cffpy.open(samples / GMEM)
    changed = cffpy.edit(capture, set_registers={"RB_DEPTH_CNTL.ZFUNC": "FUNC_ALWAYS"})
    other = cffpy.open(changed)
    assert {draw.state["RB_DEPTH_CNTL"].ZFUNC for draw in other.draws} == {"FUNC_ALWAYS"}
    assert len(cffpy.open(cffpy.edit(capture, nop_draws=["p0:1"])).draws) == 1
    assert len(cffpy.open(cffpy.edit(capture, truncate_after="p0:0")).draws) == 1
    for wrong in ({}, {"nop_draws": ["x"]}, {"truncate_after": "p9:9"}):
        with pytest.raises(cffpy.CffpyError):
            cffpy.edit(capture, **wrong)


def test_registers_without_a_capture() -> None:
    registers = cffpy.registers("630")
    assert registers["RB_DEPTH_CNTL"].decode(0x47).ZFUNC == "FUNC_LESS"
    assert "RB_DEPTH_CONTROL" in cffpy.registers("a4xx")
    with pytest.raises(cffpy.UnsupportedGpu):
        cffpy.registers("999")


def test_a_comparison_is_that_of_the_command(samples: Path, run_cffpy: Run) -> None:
    good, bad = cffpy.open(samples / GOOD), cffpy.open(samples / BAD)
    found = cffpy.diff(good, bad)
    assert found.differs
    assert not cffpy.diff(good, good).differs
    shown = run_cffpy("diff", "--json", str(samples / GOOD), str(samples / BAD))
    document = json.loads(shown.stdout)
    assert document.pop("schema") == "cffpy.diff/1"
    assert found.to_dict() == document
    lines = run_cffpy("diff", str(samples / GOOD), str(samples / BAD)).stdout.decode().splitlines()
    assert list(found.lines()) == lines
    assert found.entries[0].title in found._repr_html_().replace("&#x27;", "'")


def test_parts_are_compared(samples: Path) -> None:
    capture = cffpy.open(samples / GOOD)
    found = cffpy.diff(capture, capture, good_at="p0:0", bad_at="p0:1")
    assert found.differs
    with pytest.raises(cffpy.UsageError, match="is not a place"):
        cffpy.diff(capture, capture, good_at="draw 3")
    with pytest.raises(cffpy.CffpyError, match="no pass p7: the capture has 1 pass, p0"):
        cffpy.diff(capture, capture, good_at="p7")
    with pytest.raises(cffpy.UsageError, match="no rule is named nonsense"):
        cffpy.diff(capture, capture, show=["nonsense"])


def test_only_draws_that_match_are_compared(samples: Path) -> None:
    good, bad = cffpy.open(samples / GOOD), cffpy.open(samples / BAD)
    found = cffpy.diff(good, bad, where="draw.number == 0")
    assert not found.differs
    assert found.to_dict()["where"] == "draw.number == 0"
    assert found.summary == "no difference in what was compared (1 passes, 1 draws)"
    assert cffpy.diff(good, bad, where="pass.index == 0").differs
    with pytest.raises(cffpy.FilterError):
        cffpy.diff(good, bad, where="nonsense")
    with pytest.raises(cffpy.CaptureError, match="matches draw"):
        cffpy.diff(good, bad, where="draw.vertices == 12345")


@pytest.mark.parametrize(
    "where", first_always(["draw.number == 0", "RB_DEPTH_CONTROL.ZFUNC == FUNC_GREATER"])
)
def test_draws_are_chosen_in_the_walk_that_records_them(
    samples: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks: list[str] = []
    run = Walk.run

    def counted(walk: Walk, content: Content, *arguments: Any) -> Any:
        walks.append(content.name)
        return run(walk, content, *arguments)

    monkeypatch.setattr(Walk, "run", counted)
    good, bad = cffpy.open(samples / GOOD), cffpy.open(samples / BAD)
    found = cffpy.diff(good, bad, where=where)
    assert [Path(name).name for name in walks] == [GOOD, BAD]
    recorded = cffpy.open(samples / GOOD), cffpy.open(samples / BAD)
    cffpy.diff(*recorded)
    again = cffpy.diff(*recorded, where=where)
    assert again.to_dict() == found.to_dict() == cffpy.diff(good, bad, where=where).to_dict()


def test_state_by_name_is_that_of_the_draw(samples: Path) -> None:
    early, late = cffpy.open(samples / GMEM), cffpy.open(samples / GMEM)
    assert early.state("p0:1").to_dict() == late.draws[1].state.to_dict()
    late.walk(registers=False)
    assert late.draws[0].state["RB_DEPTH_CNTL"] == early.draws[0].state["RB_DEPTH_CNTL"]


def test_visibility_and_facts_of_tiles(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-frame-binning.rd")
    one = next(found for found in capture.passes if found.hardware_binning)
    assert one.visibility.pipes
    assert one.visibility is one.visibility
    assert [tile.pass_ for tile in one.tiles] == [one] * len(one.tiles)
