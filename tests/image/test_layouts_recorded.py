# SPDX-License-Identifier: MIT
"""All vectors that were recorded of the drivers' own layout functions, field by field."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cffpy.formats import ImageFormat, image_format
from cffpy.image.devices import device
from cffpy.image.gmem import gallium_tiles, turnip_gmem, turnip_tiles
from cffpy.image.tiled import BankSwizzle, TiledMemory, untile
from cffpy.image.vectors import ANSWERS

#: File of vectors -> kind of question.
KINDS = {"layout": "image", "lrz": "lrz", "tile": "tile"}


def vectors(shared: Path, name: str) -> list[dict[str, Any]]:
    path = shared / "layouts" / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"no vectors at {path}")
    found: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    assert found
    return found


@pytest.mark.parametrize("name", KINDS)
def test_every_vector(shared: Path, name: str) -> None:
    for vector in vectors(shared, name):
        question = {k: v for k, v in vector.items() if k not in ("result", "tiled_hex")}
        assert ANSWERS[KINDS[name]](question) == vector


def test_tiled_memory_comes_back(shared: Path) -> None:
    for vector in vectors(shared, "tile"):
        swizzle = BankSwizzle(
            vector["highest_bank_bit"], vector["bank_swizzle_levels"], vector["macrotile"]
        )
        memory = TiledMemory(vector["cpp"], vector["pitch"], swizzle)
        tiled = bytes.fromhex(vector["tiled_hex"])
        assert (
            untile(tiled, vector["width"], vector["height"], memory).hex() == vector["linear_hex"]
        )


#: Batches whose attachments are not 4 bytes a pixel, or whose depth buffer is not used: the colours
#: and the depth buffer as the programs made them.
OTHER_ATTACHMENTS = {
    ("a630-gl-vtk-scene", "3x5"): (["RGBA8", "RGBA32F"], "Z24X8_UNORM"),
    ("a630-gl-xfb-queries", "1x2"): (["RGBA8"], None),
}


def test_gallium_tiles_of_all_recorded_batches(shared: Path) -> None:
    """Tile sizes, grids and pipes that the Gallium driver recorded."""
    truth = json.loads((shared / "captures" / "ground-truth.json").read_text())
    compared = 0
    for name, capture in truth.items():
        for line in capture["driver"]:
            batch = dict(part.split("=", 1) for part in line.split() if "=" in part)
            if not line.startswith("batch=") or batch["mode"] != "gmem":
                continue
            colors: list[ImageFormat | None] = [image_format("RGBA8")] * int(batch["cbufs"])
            depth = image_format("Z24X8_UNORM") if int(batch["zs"], 0) else None
            other = OTHER_ATTACHMENTS.get((name, batch["tiles"]))
            if other is not None:
                colors = [image_format(form) for form in other[0]]
                depth = None if other[1] is None else image_format(other[1])
            width, height = (int(side) for side in batch["fb"].split("x")[:2])
            part = device(str(capture["gpu"]))
            found = gallium_tiles(part, width, height, colors, depth, int(batch["samples"]))
            of_pipe = int(batch["maxpw"]), int(batch["maxph"])
            pipes = found.pipe_count[0] * found.pipe_count[1]
            assert (
                "x".join(map(str, found.tile)),
                "x".join(map(str, found.count)),
                found.pipe,
                pipes,
            ) == (batch["tile"], batch["tiles"], of_pipe, int(batch["pipes"])), (name, line)
            compared += 1
    assert compared >= 300


@pytest.mark.parametrize(
    ("gpu", "size", "attachments", "samples", "avoid_ccu", "tile", "count"),
    [
        ("740", (1920, 1080), "R11G11B10_FLOAT D32", 4, True, (480, 192), (4, 6)),
        ("740", (1024, 1024), "D16", 1, False, (1056, 1024), (1, 1)),
    ],
)
def test_turnip_tiles_that_were_recorded(
    gpu: str,
    size: tuple[int, int],
    attachments: str,
    samples: int,
    avoid_ccu: bool,
    tile: tuple[int, int],
    count: tuple[int, int],
) -> None:
    """Two passes of a frame whose attachments the program's own log names."""
    formats = [image_format(name) for name in attachments.split()]
    found = turnip_tiles(device(gpu), *size, formats, samples, avoid_ccu=avoid_ccu)
    assert (found.tile, found.count) == (tile, count)


def test_gmem_blocks_of_the_turnip_notes() -> None:
    """The a618 of the notes: 496 KiB without the colour cache, in blocks of 8192 bytes."""
    part = device("618")
    assert part.ccu_gmem == 496 * 1024
    found = turnip_gmem(part, [image_format("RGBA8"), image_format("D16")], avoid_ccu=True)
    # 41 blocks for 4 bytes a pixel, the other 21 of 62 for 2 bytes
    assert [place.offset // 8192 for place in found.places] == [0, 41]
