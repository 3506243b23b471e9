# SPDX-License-Identifier: MIT
"""Passes of recorded captures, compared with those recorded by their drivers.

``pytest -rP`` prints the tables, pass by pass and field by field.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_capture
from tests.golden.ground_truth import (
    Comparison,
    compare_capture,
    loads_come_from_where_stores_go,
    same_draws_everywhere,
)
from tests.golden.runner import CHECKOUT

SHARED = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared")
TABLE = SHARED / "captures" / "ground-truth.json"
#: Captures made from others by cutting or joining; no driver recorded their passes.
ENTRIES = {
    name: entry
    for name, entry in (json.loads(TABLE.read_text()) if TABLE.exists() else {}).items()
    if entry["driver"]
}

#: Captures that take a third of a second and more each.
LONG = {
    "BIG-a660-vk-cube-100frames-101submits",
    "BIG-a730-vk-scene1000-unsorted-sysmem-2frames",
    "BIG-a730-vk-scene5000-720p-sysmem-4frames-full",
    "a630-gl-vtk-scene",
    "a660-gl-scene-msaa4-1080p",
    "a660-vk-scene120-msaa4-1080p-d32s8",
    "a740-vk-frame-msaa4-1080p",
}
SLOW = pytest.mark.slow

#: Fields that every generation has captures for, each of which must be matched somewhere.
FIELDS = ("fb", "draws", "mode", "tiles", "tile count", "bin size", "pipes", "samples")
MASKS = ("cleared", "restore", "resolve")


def compare(name: str) -> list[Comparison]:
    """The comparison of a capture; skips where the capture is not there."""
    path = SHARED / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"no capture at {path}")
    finder, _ = find_passes(open_capture(str(path)), print)
    for found in finder.found.passes:
        if found.kind == "render":
            assert same_draws_everywhere(found), f"pass {found.index}: tiles draw not the same"
            assert loads_come_from_where_stores_go(found), f"pass {found.index}: loads"
    return compare_capture(ENTRIES[name], finder.found.passes)


@pytest.mark.skipif(not ENTRIES, reason=f"no ground truth at {TABLE} (CFFPY_SHARED)")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=SLOW if name in LONG else ()) for name in ENTRIES]
)
def test_passes(name: str) -> None:
    comparisons = compare(name)
    print(f"{name}:", *comparisons, sep="\n")
    different = [str(one) for one in comparisons if one.outcome == "different"]
    if different:
        pytest.fail("\n".join(different), pytrace=False)


@pytest.mark.slow
@pytest.mark.skipif(not ENTRIES, reason=f"no ground truth at {TABLE} (CFFPY_SHARED)")
@pytest.mark.parametrize("generation", range(2, 8))
def test_every_field_is_matched_somewhere(generation: int) -> None:
    """The comparison is not empty; the smaller captures suffice."""
    matched: Counter[str] = Counter()
    for name, entry in ENTRIES.items():
        path = SHARED / "captures" / f"{name}.rd.gz"
        is_gallium = "gallium" in entry["made_with"]
        if entry["gpu"] // 100 == generation and is_gallium and path.exists():
            matched.update(one.field for one in compare(name) if one.outcome == "matched")
    missing = [field for field in (*FIELDS, *MASKS) if not matched[field]]
    assert not missing, f"a{generation}xx: {missing}"
