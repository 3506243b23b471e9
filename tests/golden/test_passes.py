# SPDX-License-Identifier: MIT
"""Passes of recorded captures, compared with those recorded by their drivers.

``pytest -rP`` prints the tables, pass by pass and field by field.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

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
from tests.selection import first_always

SHARED = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared")
TABLE = SHARED / "captures" / "ground-truth.json"
#: Of the drivers of October 2025.
NEWER_TABLE = SHARED / "m26/captures/ground-truth.json"


def recorded(table: Path) -> dict[str, Any]:
    """The captures of a table whose passes a driver recorded.

    Others were made by cutting or joining, or have no render passes.
    """
    entries = json.loads(table.read_text()) if table.exists() else {}
    return {name: entry for name, entry in entries.items() if entry["driver"]}


ENTRIES, NEWER = recorded(TABLE), recorded(NEWER_TABLE)

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


def compare(name: str, table: Path = TABLE) -> list[Comparison]:
    """The comparison of a capture; skips where the capture is not there."""
    path = table.parent / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"no capture at {path}")
    finder, _ = find_passes(open_capture(str(path)), print)
    for found in finder.found.passes:
        if found.kind == "render":
            assert same_draws_everywhere(found), f"pass {found.index}: tiles draw not the same"
            assert loads_come_from_where_stores_go(found), f"pass {found.index}: loads"
    entry = (ENTRIES if table == TABLE else NEWER)[name]
    return compare_capture(entry, finder.found.passes)


@pytest.mark.skipif(not ENTRIES, reason=f"no ground truth at {TABLE} (CFFPY_SHARED)")
@pytest.mark.parametrize(
    "name",
    first_always([pytest.param(name, marks=SLOW if name in LONG else ()) for name in ENTRIES], 3),
)
def test_passes(name: str) -> None:
    comparisons = compare(name)
    print(f"{name}:", *comparisons, sep="\n")
    different = [str(one) for one in comparisons if one.outcome == "different"]
    if different:
        pytest.fail("\n".join(different), pytrace=False)


@pytest.mark.skipif(not NEWER, reason=f"no ground truth at {NEWER_TABLE} (CFFPY_SHARED)")
@pytest.mark.parametrize("name", first_always(NEWER))
def test_passes_of_newer_drivers(name: str) -> None:
    """Also which of them bin concurrently, and how many bins of a density map they merge."""
    comparisons = compare(name, NEWER_TABLE)
    print(f"{name}:", *comparisons, sep="\n")
    different = [str(one) for one in comparisons if one.outcome == "different"]
    if different:
        pytest.fail("\n".join(different), pytrace=False)
    assert comparisons


@pytest.mark.skipif(not NEWER, reason=f"no ground truth at {NEWER_TABLE} (CFFPY_SHARED)")
def test_merged_bins_cover_the_grid_once() -> None:
    """The grid, the tiles that are executed, and what they cover are three facts."""
    path = NEWER_TABLE.parent / "m26-a740-vk-fdm.rd.gz"
    finder, _ = find_passes(open_capture(str(path)), print)
    (found,) = [one for one in finder.found.passes if one.kind == "render"]
    bins = [cell for one in found.tiles for cell in one.bins or [one.cell]]
    assert (str(found.grid), len(found.tiles)) == ("3x2", 4)
    assert sorted(bins) == [(x, y) for x in range(3) for y in range(2)]
    areas = [one.rectangle.size for one in found.tiles if one.rectangle is not None]
    assert sum(size.width * size.height for size in areas) == 1440 * 1440


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


#: VkFormat of a depth attachment -> the names of what is loaded, cleared and stored; 0: none.
DEPTH_PARTS = {
    0: (),
    124: ("depth",),
    126: ("depth",),
    129: ("depth+stencil",),
    130: ("depth", "stencil"),
}
#: VkAttachmentLoadOp and VkAttachmentStoreOp -> operations of a gmem pass; None: don't care.
LOADS, STORES = {0: "load", 1: "clear", 2: None}, {0: "store", 1: None}
OF_A_PASS = re.compile(
    r"pass \d+: \S+ colour fmt \d+ x(\d) load (\d) store (\d), depth fmt (\d+) load (\d) store (\d)"
)


def test_what_a_program_of_newer_drivers_loads_and_stores(shared: Path) -> None:
    """Of nine passes: each load, clear and store that the program asked for, and no other."""
    name = "m26-a660-vk-passes-gmem"
    workload = json.loads(NEWER_TABLE.read_text())[name]["workload"]
    finder, _ = find_passes(open_capture(str(NEWER_TABLE.parent / f"{name}.rd.gz")), pytest.fail)
    passes = [one for one in finder.found.passes if one.kind == "render"]
    asked = [tuple(map(int, numbers)) for numbers in OF_A_PASS.findall(workload)]
    assert len(asked) == len(passes) == 9
    for one, (colors, load, store, form, depth_load, depth_store) in zip(
        passes, asked, strict=True
    ):
        expected = set()
        for number in range(colors):
            expected |= {(LOADS[load], f"color {number}"), (STORES[store], f"color {number}")}
        for part in DEPTH_PARTS[form]:
            expected |= {(LOADS[depth_load], part), (STORES[depth_store], part)}
        found = {
            (operation.kind, operation.attachment)
            for run in one.runs
            for operation in run.operations
            if operation.action.execution.is_possible
        }
        assert found == {pair for pair in expected if pair[0] is not None}, one.index


@pytest.mark.parametrize(
    ("name", "count"), [("m26-a740-vk-cube-gmem-cb", 2), ("m26-a740-vk-scene100-cb", 1)]
)
def test_clears_and_stores_of_passes_that_bin_concurrently(
    shared: Path, name: str, count: int
) -> None:
    """Colour clear and store, depth clear and don't care: once in each tile, by BR."""
    finder, _ = find_passes(open_capture(str(NEWER_TABLE.parent / f"{name}.rd.gz")), pytest.fail)
    passes = [one for one in finder.found.passes if one.kind == "render"]
    assert len(passes) == count
    for one in passes:
        for tile in one.tiles:
            found = [
                (operation.kind, operation.attachment)
                for operation in tile.operations
                if operation.action.execution.is_possible
            ]
            assert found[0][0] == found[1][0] == "clear"
            assert (found[0][1], (found[1][1] or "").split("+")[0]) == ("color 0", "depth")
            assert found[2:] == [("store", "color 0")]
