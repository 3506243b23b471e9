# SPDX-License-Identifier: MIT
"""Every recorded pass in GMEM: driver's record, registers and calculator have the same tiles.

Formats of attachments are those of the registers; size, layers and the GMEM layout those of the
record. Exceptions are rules with a reason; no capture has a special one.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.analysis.image_views import stored_format
from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_capture
from cffpy.formats import ImageFormat
from cffpy.frame.attachment import Attachment
from cffpy.frame.passes import Pass
from cffpy.image.devices import Device, device, devices
from cffpy.image.gmem import Tiling, gallium_tiles, turnip_tiles
from tests.golden.ground_truth import Line, lines_of_passes


def in_gmem(found: Pass) -> list[Attachment]:
    """The attachments of a pass that lie in GMEM, in the order of their offsets."""
    targets = [target for target in found.attachments if target.gmem is not None]
    return sorted(targets, key=lambda target: target.gmem or 0)


def formats_of(targets: list[Attachment]) -> list[ImageFormat]:
    """Their formats, all of which are known."""
    formats = [stored_format(target.format) for target in targets]
    assert all(formats), [target.format for target in targets]
    return [form for form in formats if form is not None]


def turnip(part: Device, found: Pass, line: Line, made_with: str) -> Tiling:
    """What turnip does for the pass, by its record."""
    width, height, layers = (int(side) for side in line["fb"].split("x"))
    return turnip_tiles(
        part,
        width,
        height,
        formats_of(in_gmem(found)),
        found.samples or 1,
        layers=max(layers, found.views or 1),
        avoid_ccu=line["gmem_layout"] == "1",
        force_binning="forcebin" in made_with,
        merge_bins=any(tile.merged_slots for tile in found.tiles),
    )


def gallium(part: Device, found: Pass, line: Line) -> Tiling:
    """What the Gallium driver does for the batch, by its record."""
    width, height = (int(side) for side in line["fb"].split("x")[:2])
    targets = in_gmem(found)
    formats = formats_of(targets)
    colors = [form for form in formats if not form.is_depth_stencil and form.name != "S8_UINT"]
    depth = next((form for form in formats if form.is_depth_stencil), None)
    if len({target.gmem for target in targets}) < len(targets):
        depth = None  # a depth buffer that no draw uses has no place in GMEM
    return gallium_tiles(part, width, height, colors, depth, int(line["samples"]))


def differences(part: Device, found: Pass, line: Line, made_with: str) -> list[str]:
    """Where the calculated tiles differ from the record or the registers."""
    is_turnip = "gmem_layout" in line
    tiling = turnip(part, found, line, made_with) if is_turnip else gallium(part, found, line)
    pipes = tiling.pipe_count[0] * tiling.pipe_count[1]
    recorded_pipes = prod(map(int, line["pipes"].split("x")))
    pairs = [
        ("tile", "x".join(map(str, tiling.tile)), line.get("tile0") or line["tile"]),
        ("tiles", "x".join(map(str, tiling.count)), line["tiles"]),
        ("pipes", str(pipes), str(recorded_pipes)),
        ("tile of the registers", "x".join(map(str, tiling.tile)), str(found.bin_size)),
    ]
    if is_turnip:
        # disabled by TU_DEBUG; passes with transform feedback or primitive queries are binned, too
        binning = 0 if "nobin" in made_with else int(tiling.binning)
        if not (line["binning"] == "1" and tiling.binning_possible):
            pairs.append(("binning", str(binning), line["binning"]))
    else:
        pairs.append(("tiles of a pipe", f"{tiling.pipe[0]}x{tiling.pipe[1]}",
                      f"{line['maxpw']}x{line['maxph']}"))  # fmt: skip
    offsets = sorted({place.offset for place in tiling.layout.places})
    registers = sorted({target.gmem for target in found.attachments if target.gmem is not None})
    pairs.append(("GMEM offsets", str(offsets), str(registers)))
    return [
        f"{what}: calculated {ours}, {theirs}" for what, ours, theirs in pairs if ours != theirs
    ]


def wrong_of(table: Path) -> tuple[list[str], dict[str, int]]:
    """What is wrong in the captures of a table, and how many passes were compared by driver."""
    compared = {"turnip": 0, "gallium": 0}
    wrong: list[str] = []
    entries: dict[str, dict[str, Any]] = json.loads(table.read_text())
    for name, entry in entries.items():
        path = table.parent / f"{name}.rd.gz"
        if not any("mode=gmem" in text for text in entry["driver"]) or not path.exists():
            continue
        finder, _ = find_passes(open_capture(str(path)), print)
        # the record of an a200 names the part, X1-85 has no number of a GPU
        part = device(str(entry["gpu"]) if str(entry["gpu"]) in devices() else finder.found.gpu)
        for line, found in lines_of_passes(entry, finder.found.passes):
            if line["mode"] != "gmem":
                continue
            compared["turnip" if "gmem_layout" in line else "gallium"] += 1
            wrong += [
                f"{name} pass {found.index}: {text}"
                for text in differences(part, found, line, entry["made_with"])
            ]
    return wrong, compared


@pytest.mark.slow
def test_every_recorded_pass_in_gmem(shared: Path) -> None:
    wrong, compared = wrong_of(shared / "captures" / "ground-truth.json")
    assert not wrong, "\n".join(wrong)
    assert compared["turnip"] >= 90
    assert compared["gallium"] >= 250


def test_every_recorded_pass_in_gmem_of_newer_drivers(shared: Path) -> None:
    wrong, compared = wrong_of(shared / "m26/captures/ground-truth.json")
    assert not wrong, "\n".join(wrong)
    assert compared["turnip"] >= 15


def test_where_newer_drivers_put_the_colour_cache(shared: Path) -> None:
    """Behind what attachments may use in gmem passes, else behind the depth cache."""
    compared = {"gmem": 0, "sysmem": 0}
    for path in sorted((shared / "m26/captures").glob("m26-a[67]*.rd.gz")):
        part = device(path.name[5:8])
        assert part.ccu is not None
        expected = {"gmem": part.ccu_gmem, "sysmem": part.ccu.units * part.ccu.depth}
        with cffpy.open(path) as capture:
            for one in capture.passes:
                if one.kind != "render" or not one.draws or one.mode is None:
                    continue
                name, high = ("RB_CCU_CNTL", 7) if part.generation == 6 else ("RB_CCU_CNTL2", 2)
                value = one.draws[0].state[name].value
                offset = (value >> 23) * 4096 | (value >> high & 1) << 21
                is_gallium_setup = "-gl-" in path.name and one.mode == "sysmem"
                if not is_gallium_setup:
                    assert offset == expected[one.mode], (path.name, one.index)
                    compared[one.mode] += 1
    assert compared["gmem"] >= 20
    assert compared["sysmem"] >= 15
