# SPDX-License-Identifier: MIT
"""Captures that end within a pass: the draws past the end are missing, the others are equal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.recording import record
from cffpy.analysis.diff.rules import RULES
from cffpy.analysis.edits import TruncateAfterDraw, edited
from cffpy.container.open import open_bytes, open_capture
from cffpy.frame.passes import Pass

MISSING = re.compile(r"draws? p\d+:(\d+)(?:-(\d+))? of good (?:is|are) missing in bad")


def largest_with_binning(passes: list[Pass]) -> Pass | None:
    found = [one for one in passes if one.binning is not None and len(one.draws) > 2]
    return max(found, key=lambda one: len(one.draws), default=None)


def check_cut(path: Path, part: float) -> None:
    """Cut within the binning run of the largest pass, after this part of its draws."""
    content = open_capture(str(path))
    good = record(content, lambda line: None)
    whole = largest_with_binning(good.passes.passes)
    assert whole is not None
    assert whole.binning is not None
    draws = [one for one in whole.binning.draws if one.number is not None]
    last = draws[int(part * (len(draws) - 1))]
    assert last.dump_draw is not None
    data, _ = edited(content, [TruncateAfterDraw(last.dump_draw)], lambda line: None)
    bad = record(open_bytes(data), lambda line: None)
    entries = compare(good, bad, frozenset(RULES)).entries
    of_pass = [e for e in entries if any(x.good_pass == whole.index for x in e.extents)]
    assert [MISSING.match(entry.title) is not None for entry in of_pass] == [True], [
        entry.title for entry in of_pass
    ]
    found = MISSING.match(of_pass[0].title)
    assert found is not None
    assert (found[2] or found[1]) == str(len(whole.draws) - 1)
    assert last.number is not None
    # the edit makes NOPs of packets; a draw whose packet stands for others goes with them
    assert int(found[1]) <= last.number + 1
    names = {d.name for e in [*of_pass, *of_pass[0].consequences] for d in e.differences}
    assert not any(name.startswith("shader") for name in names), names


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.3])
def test_the_end_within_the_binning_run(shared: Path, part: float) -> None:
    check_cut(shared / "captures" / "pair-a740-scene-good.rd.gz", part)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.8, 0.97])
@pytest.mark.parametrize(
    "name",
    [
        "a330-gl-scene150-720p",
        "pair-a430-gl-scene-good",
        "a540-gl-scene150-720p",
        "a650-vk-scene300-4k-gmem",
        "pair-a740-scene-good",
    ],
)
def test_the_end_at_many_places_of_the_binning_run(shared: Path, name: str, part: float) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    check_cut(path, part)


def test_the_end_after_the_only_draw_of_the_binning_run(samples: Path) -> None:
    """Tiles are missing. The draw is not: it is where the pass ends."""
    content = open_bytes((samples / "a660-frame-binning.rd").read_bytes())
    good = record(content, lambda line: None)
    (whole,) = good.passes.passes
    assert whole.binning is not None
    last = whole.binning.draws[-1]
    assert last.dump_draw is not None
    data, _ = edited(content, [TruncateAfterDraw(last.dump_draw)], lambda line: None)
    bad = record(open_bytes(data), lambda line: None)
    entries = compare(good, bad, frozenset(RULES)).entries
    assert [entry.title for entry in entries] == ["pass 0: tiles: 8 → 0"]
