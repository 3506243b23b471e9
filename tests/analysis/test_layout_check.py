# SPDX-License-Identifier: MIT
"""Images, LRZ buffers and tiles of captures against the calculator."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.layout_check.checks import KINDS, LayoutChecks
from cffpy.analysis.layout_check.comparison import (
    ANSWERS,
    ImageComparer,
    LayoutDifference,
    LrzBuffer,
    compare_lrz,
)
from cffpy.analysis.queries import find_layouts
from cffpy.container.open import open_bytes, open_capture
from cffpy.errors import CffpyError
from cffpy.formats import image_format
from cffpy.frame.pictures import ImageView
from cffpy.image.devices import device
from cffpy.image.layout import ImageRequest, image_layout, lrz_layout

BASE = 0x1_0000_0000
FORMATS = {
    "FMT6_8_8_8_8_UNORM": "R8G8B8A8_UNORM",
    "FMT6_8_UNORM": "R8_UNORM",
    "FMT6_8_8_UNORM": "R8G8_UNORM",
    "FMT6_16_16_16_16_FLOAT": "R16G16B16A16_FLOAT",
    "FMT6_ASTC_4x4": "ASTC_4X4",
}


def checks_of(path: Path) -> LayoutChecks:
    (_, found), _ = find_layouts(open_capture(str(path)), lambda _line: None)
    return found


def view_of(request: ImageRequest, gpu: str, name: str, level: int, layer: int) -> ImageView:
    """What a descriptor of a level and the levels below it says of an image."""
    part = device(gpu)
    layout = image_layout(request, part.generation, part.has_linear_mip_fallback)
    one = layout.levels[level]
    has_flags = layout.ubwc and one.tile_mode != 0
    return ImageView(
        address=BASE + layout.layer_offset(level, layer),
        format=name,
        form=request.format,
        kind="3D" if request.is_3d else "2D",
        width=max(1, request.width >> level),
        height=max(1, request.height >> level),
        depth=max(1, request.depth >> level),
        layers=request.layers - layer,
        levels=request.levels - level,
        samples=request.samples,
        tile_mode=one.tile_mode,
        tile_all=layout.tile_all,
        pitch=one.pitch,
        layer_pitch=layout.layer_size if layout.layer_first else one.size,
        min_layer=layout.min_layer_size,
        ubwc=has_flags,
        flags=BASE + layout.ubwc_layer_offset(level, layer) if has_flags else None,
        flag_pitch=one.ubwc_pitch if has_flags else None,
        flag_layer_pitch=layout.ubwc_layer_size if has_flags else None,
    )


@given(
    gpu=st.sampled_from(["618", "650", "660", "740"]),
    name=st.sampled_from(sorted(FORMATS)),
    width=st.integers(1, 600),
    height=st.integers(1, 600),
    levels=st.integers(1, 4),
    layers=st.integers(1, 3),
    ubwc=st.booleans(),
    level=st.integers(0, 3),
    layer=st.integers(0, 2),
)
def test_views_of_calculated_images_agree(
    gpu: str,
    name: str,
    width: int,
    height: int,
    levels: int,
    layers: int,
    ubwc: bool,
    level: int,
    layer: int,
) -> None:
    form = image_format(FORMATS[name])
    levels = min(levels, max(width, height).bit_length())
    request = ImageRequest(form, width, height, 1, levels, layers, ubwc=ubwc)
    view = view_of(request, gpu, name, min(level, levels - 1), min(layer, layers - 1))
    comparer = ImageComparer(device(gpu), [(width, height, 1)])
    assert comparer.compare(view, is_exact=True).answer == "agrees"


def test_a_level_of_an_image_is_recognised() -> None:
    request = ImageRequest(image_format("RGBA8"), 256, 128, levels=9)
    view = view_of(request, "650", "FMT6_8_8_8_8_UNORM", 2, 0)
    found = ImageComparer(device("650"), []).compare(view, is_exact=True)
    assert (found.answer, found.note) == (
        "agrees",
        "level 2 of an image of 256x128 with 9 levels",
    )


def test_differences_say_by_how_much() -> None:
    request = ImageRequest(image_format("RGBA8"), 256, 128, ubwc=True)
    view = view_of(request, "650", "FMT6_8_8_8_8_UNORM", 0, 0)
    comparer = ImageComparer(device("650"), [])
    for changed, expected in (
        ({"pitch": 1088}, LayoutDifference("pitch", 1088, 1024)),
        ({"layer_pitch": 65536}, LayoutDifference("layer size", 65536, 131072)),
        ({"flag_pitch": 128}, LayoutDifference("pitch of flags", 128, 64)),
        ({"flags": view.address - 64}, LayoutDifference("flags at base -", 64, 4096)),
        ({"address": BASE + 64, "ubwc": False}, LayoutDifference("base modulo alignment", 64, 0)),
    ):
        found = comparer.compare(view._replace(**changed), is_exact=True)
        assert found.answer == "differs"
        assert expected in found.differences
    assert str(LayoutDifference("pitch", 1088, 1024)) == "pitch 1088, calculated 1024 (+64)"
    short = comparer.compare(view, is_exact=True, memory=4096)
    assert short.differences == (LayoutDifference("bytes to the end of the buffer", 4096, 131072),)


def test_what_cannot_be_decided() -> None:
    request = ImageRequest(image_format("RGBA8"), 256, 128)
    view = view_of(request, "650", "FMT6_8_8_8_8_UNORM", 0, 0)
    comparer = ImageComparer(device("650"), [])
    for changed in ({"form": None}, {"address": 0}, {"tile_mode": 2}):
        assert comparer.compare(view._replace(**changed), is_exact=True).answer == "not decidable"
    larger = view._replace(pitch=2048, layer_pitch=None)
    assert comparer.compare(larger, is_exact=True).answer == "differs"
    assert comparer.compare(larger, is_exact=False).answer == "agrees"  # a larger image


def test_lrz_buffers() -> None:
    part = device("660")
    layout = lrz_layout(6, 1920, 1080, has_fast_clear=True)
    request = ImageRequest(image_format("D24S8"), 1920, 1080)
    depth = view_of(request, "660", "DEPTH6_24_8", 0, 0)
    end = BASE + layout.fast_clear_offset
    buffer = LrzBuffer(BASE, layout.pitch, layout.layer_size, end)
    assert compare_lrz(part, buffer, depth).answer == "agrees"
    assert compare_lrz(part, buffer, None).answer == "not decidable"
    for changed in ({"pitch": 288}, {"layer_pitch": 4096}, {"fast_clear": end + 8}):
        assert compare_lrz(part, buffer._replace(**changed), depth).answer == "differs"
    assert compare_lrz(device("618"), buffer, depth).answer == "differs", "has no fast clear"


def test_a_capture_without_commands() -> None:
    (_, found), _ = find_layouts(open_bytes(b"", "empty"), lambda _line: None)
    assert (found.part, found.checks) == (None, [])


#: What differs in the shared captures: older Gallium drivers, which divided framebuffers by another
#: rule. Capture, kind -> count.
EXPLAINED = {("shadow", "tiles"): 2, ("es2gears-a320", "tiles"): 1}


@pytest.mark.slow
def test_shared_captures_agree(shared: Path) -> None:
    differing: dict[tuple[str, str], int] = {}
    counts = dict.fromkeys(((kind, answer) for kind in KINDS for answer in ANSWERS), 0)
    captures = 0
    for path in sorted((shared / "captures").glob("*.rd.gz")):
        try:
            found = checks_of(path)
        except CffpyError:
            continue
        captures += 1
        for one in found.checks:
            counts[one.kind, one.answer] += 1
            if one.answer == "differs":
                key = path.name.removesuffix(".rd.gz"), one.kind
                differing[key] = differing.get(key, 0) + 1
            elif "forced binning" in one._comparison.note:
                assert "forcebin" in path.name, "no other rule gives these tiles by accident"
            elif one.answer == "not decidable":
                assert one._comparison.note, "each has a reason"
    assert differing == EXPLAINED
    assert captures >= 139
    assert counts["texture", "agrees"] >= 600
    assert counts["attachment", "agrees"] >= 530
    assert counts["LRZ buffer", "agrees"] >= 100
    assert counts["tiles", "agrees"] >= 190


def test_captures_of_newer_drivers_agree(shared: Path) -> None:
    """Of a GPU whose layouts are known nothing differs, and little is undecided."""
    tiles = 0
    for path in sorted((shared / "m26/captures").glob("*.rd.gz")):
        found = checks_of(path).checks
        assert [(one.kind, one.answer) for one in found if one.answer == "differs"] == [], path
        tiles += sum(one.kind == "tiles" and one.answer == "agrees" for one in found)
    assert tiles >= 32
