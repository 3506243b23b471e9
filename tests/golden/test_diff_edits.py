# SPDX-License-Identifier: MIT
"""Captures of every generation with one change: it is the first entry, at the correct draws.

The changes are made in the bytes of recorded captures (``diff_edits.py``). A fixed share of them
runs always, all of them with CFFPY_EXHAUSTIVE=1.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison, Entry
from cffpy.analysis.diff.recording import record
from cffpy.analysis.diff.rules import RULES
from cffpy.container.open import open_bytes
from tests.golden.diff_edits import EDITS, WHOLE, Draw, Edit, NotHere, Subject, subject
from tests.selection import first_always

EXHAUSTIVE = os.environ.get("CFFPY_EXHAUSTIVE") == "1"

#: Each generation, both drivers, tiled and not, with contents and without.
CAPTURES = (
    "a306-gl-cube-gmem",
    "a330-gl-inst-mrt",
    "a330-gl-scene150-720p",
    "a430-gl-scene150-720p",
    "a430-gl-scene60-sysmem",
    "a530-gl-inst-mrt",
    "a540-gl-scene150-720p",
    "a618-vk-depth-lrz-gmem",
    "a630-gl-scene150-gmem",
    "a635-vk-cube-gmem-full",
    "a660-vk-dynrend-msaa-gmem",
    "a730-vk-cube-gmem-full",
    "a740-gl-tessgeom",
    "a740-vk-bindless-gmem",
    "a740-vk-cube-sysmem",
    "a740-vk-geom-gmem",
    "a740-vk-scene300-1440p-gmem-forcebin",
    "pair2-a660-ops-bad-load",
)

CASES = [(name, kind) for name in CAPTURES for kind in EDITS]


@cache
def loaded(path: Path) -> Subject:
    return subject(path)


def compared(where: Subject, edit: Edit, turned: bool = False) -> Comparison:
    bad = record(open_bytes(edit.data), lambda line: None)
    pair = (bad, where.recording) if turned else (where.recording, bad)
    return compare(*pair, frozenset(RULES))


def draws(entry: Entry) -> set[Draw]:
    found = set()
    for extent in entry.extents:
        assert extent.good_pass is not None
        if extent.first is None:
            found.add((extent.good_pass, WHOLE))
        else:
            assert extent.last is not None
            found |= {(extent.good_pass, n) for n in range(extent.first, extent.last + 1)}
    return found


def edited(shared: Path, name: str, kind: str) -> tuple[Subject, Edit]:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    where = loaded(path)
    if where.pass_.kind != "render":
        pytest.skip("passes of this generation are not recognised")
    try:
        edit = EDITS[kind](where)
    except NotHere:
        pytest.skip(f"the draw has nothing of the kind: {kind}")
    assert edit.data != bytes(where.content.data)
    return where, edit


@pytest.mark.parametrize(
    ("name", "kind"), CASES if EXHAUSTIVE else first_always(CASES[::11], 2, names=2)
)
def test_the_change_is_the_first_entry_at_the_right_draws(
    shared: Path, name: str, kind: str
) -> None:
    where, edit = edited(shared, name, kind)
    result = compared(where, edit)
    titles = [entry.title for entry in result.entries]
    assert titles, result.hidden
    first = result.entries[0]
    names = [difference.name for difference in first.differences] or [first.title]
    assert any(re.match(edit.name, name) for name in names), titles
    assert draws(first) == edit.draws, titles
    assert len(titles) == 1, titles


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), CASES[3::5] if EXHAUSTIVE else first_always(CASES[3::41], 1, names=2)
)
def test_the_other_way_round_the_same_draws_differ(shared: Path, name: str, kind: str) -> None:
    where, edit = edited(shared, name, kind)
    forth, back = compared(where, edit), compared(where, edit, turned=True)

    def changes(result: Comparison) -> set[tuple[str, str, str]]:
        return {(d.name, d.good, d.bad) for entry in result.entries for d in entry.differences}

    assert changes(forth) == {(name, bad, good) for name, good, bad in changes(back)}
    assert [draws(e) for e in forth.entries] == [draws(e) for e in back.entries]


@pytest.mark.slow
def test_every_kind_is_there_in_some_capture(shared: Path) -> None:
    missing = set(EDITS)
    for name in CAPTURES:
        path = shared / "captures" / f"{name}.rd.gz"
        if not path.exists():
            pytest.skip(f"{path.name} is not among the captures")
        for kind in sorted(missing):
            try:
                EDITS[kind](loaded(path))
            except NotHere:
                continue
            missing.discard(kind)
    assert missing == set()
