# SPDX-License-Identifier: MIT
"""Formats by the names of the hardware, of Gallium and of Vulkan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cffpy
from cffpy.formats import (
    UnknownFormat,
    gallium_format,
    gallium_formats,
    image_format,
    vulkan_formats,
)
from cffpy.image.texels import texel_format

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command_server import Run

#: Hardware format, swap -> the Vulkan formats for which turnip writes them; source: Mesa's
#: fd6_format_table.c and vk_format.c.
LINEAR = """
FMT6_8_UNORM WZYX R8_UNORM
FMT6_A8_UNORM WZYX A8_UNORM
FMT6_8_8_8_8_UNORM WZYX R8G8B8A8_UNORM A8B8G8R8_UNORM_PACK32
FMT6_8_8_8_8_UNORM WXYZ B8G8R8A8_UNORM
FMT6_8_8_8_8_SINT WXYZ B8G8R8A8_SINT
FMT6_5_6_5_UNORM WZYX B5G6R5_UNORM_PACK16
FMT6_5_6_5_UNORM WXYZ R5G6B5_UNORM_PACK16
FMT6_5_5_5_1_UNORM WXYZ A1R5G5B5_UNORM_PACK16
FMT6_1_5_5_5_UNORM WZYX B5G5R5A1_UNORM_PACK16
FMT6_1_5_5_5_UNORM WXYZ R5G5B5A1_UNORM_PACK16
FMT6_4_4_4_4_UNORM WXYZ A4R4G4B4_UNORM_PACK16
FMT6_4_4_4_4_UNORM XYZW R4G4B4A4_UNORM_PACK16
FMT6_10_10_10_2_UNORM WZYX A2B10G10R10_UNORM_PACK32
FMT6_10_10_10_2_UNORM_DEST WXYZ A2R10G10B10_UNORM_PACK32
FMT6_11_11_10_FLOAT WZYX B10G11R11_UFLOAT_PACK32
FMT6_9_9_9_E5_FLOAT WZYX E5B9G9R9_UFLOAT_PACK32
FMT6_16_16_16_16_FLOAT WZYX R16G16B16A16_SFLOAT
FMT6_32_32_32_32_UINT WZYX R32G32B32A32_UINT
FMT6_BPTC_UFLOAT WZYX BC6H_UFLOAT_BLOCK
FMT6_RGTC2_SNORM_FAST WZYX BC5_SNORM_BLOCK
FMT6_ETC2_RGB8A1 WZYX ETC2_R8G8B8A1_UNORM_BLOCK
FMT6_ASTC_8x5 WZYX ASTC_8x5_UNORM_BLOCK
FMT6_R8_G8B8_2PLANE_420_UNORM WZYX G8_B8R8_2PLANE_420_UNORM
DEPTH6_16 WZYX D16_UNORM
DEPTH6_24_8 WZYX D24_UNORM_S8_UINT X8_D24_UNORM_PACK32
DEPTH6_32 WZYX D32_SFLOAT D32_SFLOAT_S8_UINT
TFMT5_8_8_8_8_UNORM WXYZ B8G8R8A8_UNORM
RB4_R8G8B8A8_UNORM WZYX R8G8B8A8_UNORM A8B8G8R8_UNORM_PACK32
VFMT4_32_32_32_FLOAT WZYX R32G32B32_SFLOAT
"""


def _vulkan(hardware: str | None, swap: str = "WZYX", **more: bool) -> list[str]:
    found = gallium_formats(hardware, swap, **more)
    return [name.removeprefix("VK_FORMAT_") for form in found for name in vulkan_formats(form)]


@pytest.mark.parametrize("row", LINEAR.split("\n")[1:-1], ids=lambda row: row.partition(" ")[0])
def test_formats_of_linear_colours(row: str) -> None:
    hardware, swap, *names = row.split()
    assert _vulkan(hardware, swap, is_colour=True) == names


def test_a_format_in_srgb() -> None:
    assert _vulkan("FMT6_8_8_8_8_UNORM", "WXYZ", srgb=True) == ["B8G8R8A8_SRGB"]
    assert _vulkan("FMT6_BPTC", srgb=True) == ["BC7_SRGB_BLOCK"]
    assert _vulkan("FMT6_ASTC_4x4", srgb=True) == ["ASTC_4x4_SRGB_BLOCK"]
    assert _vulkan("FMT6_16_16_16_16_FLOAT", srgb=True) == []


def test_a_tiled_image_does_not_tell_the_order_of_its_channels() -> None:
    """Since a6xx drivers write WZYX for tiled images of all orders (fd6_pipe2swap)."""
    expected = ["R8G8B8A8_UNORM", "A8B8G8R8_UNORM_PACK32", "B8G8R8A8_UNORM"]
    assert _vulkan("FMT6_8_8_8_8_UNORM", tiled=True) == expected
    assert _vulkan("FMT6_8_8_8_8_UNORM", "WXYZ", tiled=True) == ["B8G8R8A8_UNORM"]
    assert _vulkan("FMT6_16_16_UNORM", tiled=True) == ["R16G16_UNORM"]
    assert _vulkan("TFMT5_8_8_8_8_UNORM", tiled=True) == expected[:2]


def test_a_texture_may_be_of_depth() -> None:
    assert _vulkan("FMT6_32_FLOAT") == ["R32_SFLOAT", "D32_SFLOAT", "D32_SFLOAT_S8_UINT"]
    assert _vulkan("FMT6_32_FLOAT", is_colour=True) == ["R32_SFLOAT"]
    assert _vulkan("S8_UINT") == ["S8_UINT", "D32_SFLOAT_S8_UINT"]


def test_formats_of_intel() -> None:
    assert _vulkan("B8G8R8A8_UNORM_SRGB", is_colour=True) == ["B8G8R8A8_SRGB"]
    assert _vulkan("D24_UNORM_X8_UINT") == ["X8_D24_UNORM_PACK32"]
    assert _vulkan("BC3_UNORM_SRGB") == ["BC3_SRGB_BLOCK"]


@pytest.mark.parametrize("name", [None, "FMT6_NONE", "0x1f", "", "FMT6_NV12_4R", "R1_UNORM"])
def test_formats_that_are_not_known(name: str | None) -> None:
    assert gallium_formats(name) == ()


def test_all_formats_of_vulkan_are_formats() -> None:
    """Each name is read, names the format that it is read as, and has as many bits as it says."""
    names = [name for form in _all_gallium() for name in vulkan_formats(form)]
    assert len(names) == len(set(names)) == 192
    for name in names:
        gallium = gallium_format(name)
        assert gallium is not None
        assert name in vulkan_formats(gallium)
        assert gallium_format(name.lower()) == gallium
        if "PLANE" in name:
            continue
        form = image_format(name)
        packed = name.partition("_PACK")[2]
        assert not packed or form.block_bytes * 8 == int(packed)


def _all_gallium() -> list[str]:
    from cffpy.formats import _formats

    return list(dict.fromkeys(_formats().values()))


def test_the_names_of_packed_formats_list_the_highest_bits_first() -> None:
    """``layout`` took the name for Gallium's, in which red is lowest."""
    texel = texel_format(image_format("VK_FORMAT_A2B10G10R10_UNORM_PACK32"))
    assert [(one.letter, one.shift, one.bits) for one in texel.channels] == [
        ("R", 0, 10),
        ("G", 10, 10),
        ("B", 20, 10),
        ("A", 30, 2),
    ]
    with pytest.raises(UnknownFormat, match="VK_FORMAT_R5G6B5_UNORM"):
        image_format("VK_FORMAT_R5G6B5_UNORM")


@given(st.text(max_size=40))
def test_any_text_is_a_format_or_none(text: str) -> None:
    gallium_formats("FMT6_" + text, "WXYZ")
    gallium_formats(text, srgb=True)
    assert gallium_format(text) is None or vulkan_formats(str(gallium_format(text)))


def test_attachments_textures_and_attributes_have_them(samples: Path, run_cffpy: Run) -> None:
    path = samples / "a660-frame-gmem.rd"
    with cffpy.open(path) as capture:
        target = capture.draws[0].targets[0]
        assert (target.format, target.tiling) == ("FMT6_8_8_8_8_UNORM", "TILE6_LINEAR")
        assert target.vulkan_formats[0] == "VK_FORMAT_R8G8B8A8_UNORM"
        count = len(capture.draws.where("target.vulkan_formats == VK_FORMAT_R8G8B8A8_UNORM"))
    assert count > 0
    found = run_cffpy("find", "--count", "target.vulkan_formats == VK_FORMAT_R8G8B8A8_UNORM", path)
    assert int(found.stdout.split()[-1]) == count
    document = json.loads(run_cffpy("passes", "--json", path).stdout)
    assert document["passes"][0]["attachments"][0]["gallium_formats"][0] == "R8G8B8A8_UNORM"


def test_what_registers_hold_for_a_format(run_cffpy: Run) -> None:
    """``layout formats``: both ways, on a6xx also for tiled images, which have no swap."""

    def rows(*arguments: str) -> list[dict[str, Any]]:
        done = run_cffpy("layout", "formats", "--json", "--gpu", *arguments)
        assert done.returncode == 0
        document: dict[str, Any] = json.loads(done.stdout)
        assert document["schema"] == "cffpy.layout.formats/1"
        return document["formats"]  # type: ignore[no-any-return]

    found = rows("650", "VK_FORMAT_B8G8R8A8_SRGB")
    assert [(one["name"], one["swap"], one["srgb"], one["tiled"]) for one in found] == [
        ("FMT6_8_8_8_8_UNORM", "WZYX", True, True),
        ("FMT6_8_8_8_8_UNORM", "WXYZ", True, False),
    ]
    names = [one["name"] for one in rows("430", "B5G6R5_UNORM")]
    assert names == ["RB4_R5G6B5_UNORM", "TFMT4_5_6_5_UNORM"]
    (depth,) = rows("740", "depth6_24_8")
    assert depth["vulkan_formats"] == [
        "VK_FORMAT_D24_UNORM_S8_UINT",
        "VK_FORMAT_X8_D24_UNORM_PACK32",
    ]
    assert depth["swap"] is None
    everything = rows("650")
    assert len({(one["enum"], one["name"]) for one in everything}) == len(everything) > 100
    wrong = run_cffpy("layout", "formats", "--gpu", "220", "BPTC_SRGBA")
    assert (wrong.returncode, wrong.stdout) == (1, b"")
    assert wrong.stderr == b"cffpy: error: a2xx has no BPTC_SRGBA\n"
