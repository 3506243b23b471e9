# SPDX-License-Identifier: MIT
"""Pictures of surfaces: the texel order of the recorded vectors, formats, ranges, refusals."""

from __future__ import annotations

import gzip
import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cffpy.errors import MissingLibrary
from cffpy.formats import hardware_format, image_format, swapped
from cffpy.frame.pictures import Picture, library
from cffpy.image.picture import (
    PictureOptions,
    check_contents,
    make_picture,
    parse_swizzle,
)
from cffpy.image.texels import PictureError, texel_format
from cffpy.image.tiled import BankSwizzle, Surface, TiledMemory, tile

pytest.importorskip("numpy")
pytest.importorskip("PIL")

SWIZZLE = BankSwizzle(15, 6, 8)


def linear(name: str, width: int, height: int, **changes: Any) -> Surface:
    form = image_format(name)
    pitch = -(-width // form.block_width) * form.block_bytes
    return replace(Surface(0x1000, form, width, height, pitch, 0, bank_swizzle=SWIZZLE), **changes)


def shown(name: str, data: bytes, width: int = 1, height: int = 1, **options: Any) -> list[int]:
    picture = make_picture(linear(name, width, height), data, PictureOptions(**options))
    assert len(picture.pixels) == picture.width * picture.height * len(picture.mode)
    return list(picture.pixels)


@pytest.mark.parametrize(
    ("form", "width", "height"), [("RGBA8", 64, 32), ("R8", 300, 5), ("RGBA32F", 17, 70)]
)
def test_tiled_images_that_are_cut(form: str, width: int, height: int) -> None:
    """What the list of images says is what comes of the picture, to the byte."""
    size = image_format(form).block_bytes
    memory = TiledMemory(size, 512 * size, SWIZZLE)
    offsets = [memory.offset(x, y) for y in range(height) for x in range(width)]
    end = memory.extent(width, height)
    assert end == max(offsets) + size
    surface = linear(form, width, height, pitch=512 * size, tile_mode=3)
    check_contents(surface, b"\1" * end)
    make_picture(surface, b"\1" * end)
    for use in (check_contents, make_picture):
        with pytest.raises(PictureError, match="were captured"):
            use(surface, b"\1" * (end - 1))


def test_recorded_vectors(shared: Path) -> None:
    """The texels of all vectors, but those of formats whose tiling is not known."""
    from cffpy.image.pixels import whole

    path = shared / "layouts" / "tile.json.gz"
    compared = 0
    for vector in json.loads(gzip.decompress(path.read_bytes())):
        form = image_format(vector["format"])
        swizzle = BankSwizzle(
            vector["highest_bank_bit"], vector["bank_swizzle_levels"], vector["macrotile"]
        )
        size = vector["width"], vector["height"]
        surface = Surface(0x1000, form, *size, vector["pitch"], 3, bank_swizzle=swizzle)
        assert whole(surface, bytes.fromhex(vector["tiled_hex"])).hex() == vector["linear_hex"]
        compared += 1
        if form.is_r8g8:
            with pytest.raises(PictureError, match="not known exactly"):
                surface.check()
    assert compared == 40


def test_tiled_and_linear_are_the_same_picture() -> None:
    width, height = 300, 200
    data = bytes(
        (x * 7 + y * 13 + c * 50) & 255
        for y in range(height)
        for x in range(width)
        for c in range(4)
    )
    memory = TiledMemory(4, 1280, SWIZZLE)
    tiled = tile(data, width, height, memory, memory.size(height))
    surface = linear("RGBA8", width, height)
    first = make_picture(surface, data)
    second = make_picture(replace(surface, tile_mode=3, pitch=1280), tiled)
    assert first.pixels == second.pixels
    assert first.mode == "RGB"
    padded = b"".join(data[y * 1200 : y * 1200 + 1200].ljust(1216, b"x") for y in range(height))
    assert make_picture(replace(surface, pitch=1216), padded[:-16]).pixels == first.pixels


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("R8G8B8A8_UNORM", bytes([1, 2, 3, 4]), [1, 2, 3]),
        ("R8G8B8A8_SRGB", bytes([1, 2, 3, 4]), [1, 2, 3]),
        ("B8G8R8A8_UNORM", bytes([1, 2, 3, 4]), [3, 2, 1]),
        ("A8R8G8B8_UNORM", bytes([1, 2, 3, 4]), [2, 3, 4]),
        ("B5G6R5_UNORM", struct.pack("<H", 31 | 32 << 5 | 1 << 11), [8, 130, 255]),
        ("R5G5B5A1_UNORM", struct.pack("<H", 31 | 16 << 5), [255, 132, 0]),
        ("R10G10B10A2_UNORM", struct.pack("<I", 1023 | 512 << 10), [255, 128, 0]),
        ("R8_UNORM", bytes([77]), [77]),
        ("R8G8_UNORM", bytes([77, 78]), [77, 78, 0]),
        ("R16_UNORM", struct.pack("<H", 32768), [128]),
        ("R16G16B16A16_FLOAT", struct.pack("<4e", 0.5, 1.0, 0.25, 0), [128, 255, 64]),
        ("R32G32B32_FLOAT", struct.pack("<3f", 0.5, 1.0, 0.25), [128, 255, 64]),
        # 11 bits: exponent 15 is 1.0; 10 bits: exponent 14 is 0.5
        ("R11G11B10_FLOAT", struct.pack("<I", 15 << 6 | (14 << 6) << 11), [255, 128, 0]),
        # mantissas of 256, 128 and 64 with the exponent 16: 1.0, 0.5, 0.25
        ("R9G9B9E5_FLOAT", struct.pack("<I", 256 | 128 << 9 | 64 << 18 | 16 << 27), [255, 128, 64]),
        ("R8G8B8A8_SNORM", struct.pack("<4b", 127, -127, 1, 0), [255, 0, 129]),
        ("L8_UNORM", bytes([77]), [77]),
        ("L8A8_UNORM", bytes([77, 78]), [77, 77, 77]),
    ],
)
def test_formats(name: str, data: bytes, expected: list[int]) -> None:
    assert shown(name, data) == expected


def test_channels_swaps_and_swizzles() -> None:
    data = bytes([10, 20, 30, 40])
    assert shown("RGBA8", data, channels="rgba") == [10, 20, 30, 40]
    assert shown("RGBA8", data, channels="a") == [40]
    assert shown("R5G6B5_UNORM", b"\x1f\x00", channels="rgba") == [255, 0, 0, 255]
    assert shown("RGBA8", data, swap="WXYZ") == [30, 20, 10]
    assert shown("RGBA8", data, swap="XYZW") == [40, 30, 20]
    assert shown("R5G6B5_UNORM", b"\x1f\x00", swap="WXYZ") == [0, 0, 255]
    order = parse_swizzle(("A6XX_TEX_Z", "Y", "ONE", "ZERO"))
    assert order == ("B", "G", "1", "0")
    assert shown("RGBA8", data, swizzle=order, channels="rgba") == [30, 20, 255, 0]
    with pytest.raises(PictureError, match="swap"):
        texel_format(image_format("RGBA8"), "0x7")


#: Hardware format, swap -> the format of the texels in memory, as Mesa's tables map them
#: (fd6_format_table.c, fd5_format.c, fd4_format.c, fd3_format.c, fd2_util.c with fd2_gmem.c).
ORDERS = """
FMT6_5_6_5_UNORM WZYX R5G6B5_UNORM
FMT6_5_6_5_UNORM WXYZ B5G6R5_UNORM
FMT6_5_5_5_1_UNORM WZYX R5G5B5A1_UNORM
FMT6_5_5_5_1_UNORM WXYZ B5G5R5A1_UNORM
FMT6_5_5_5_1_UNORM ZYXW A1R5G5B5_UNORM
FMT6_5_5_5_1_UNORM XYZW A1B5G5R5_UNORM
FMT6_1_5_5_5_UNORM WZYX A1R5G5B5_UNORM
FMT6_1_5_5_5_UNORM WXYZ A1B5G5R5_UNORM
FMT6_4_4_4_4_UNORM WZYX R4G4B4A4_UNORM
FMT6_4_4_4_4_UNORM WXYZ B4G4R4A4_UNORM
FMT6_4_4_4_4_UNORM ZYXW A4R4G4B4_UNORM
FMT6_4_4_4_4_UNORM XYZW A4B4G4R4_UNORM
FMT6_8_8_8_UNORM WZYX R8G8B8_UNORM
FMT6_8_8_8_UNORM WXYZ B8G8R8_UNORM
FMT6_8_8_8_8_UNORM WZYX R8G8B8A8_UNORM
FMT6_8_8_8_8_UNORM WXYZ B8G8R8A8_UNORM
FMT6_8_8_8_8_SNORM ZYXW A8R8G8B8_SNORM
FMT6_8_8_8_8_UINT XYZW A8B8G8R8_UINT
FMT6_8_8_8_X8_UNORM WZYX R8G8B8X8_UNORM
FMT6_8_8_8_X8_UNORM WXYZ B8G8R8X8_UNORM
FMT6_10_10_10_2_UNORM WZYX R10G10B10A2_UNORM
FMT6_10_10_10_2_UNORM_DEST WZYX R10G10B10A2_UNORM
FMT6_10_10_10_2_UNORM_DEST WXYZ B10G10R10A2_UNORM
FMT6_10_10_10_2_UINT WXYZ B10G10R10A2_UINT
FMT6_11_11_10_FLOAT WZYX R11G11B10_FLOAT
FMT6_9_9_9_E5_FLOAT WZYX R9G9B9E5_FLOAT
FMT6_16_16_16_16_FLOAT WZYX R16G16B16A16_FLOAT
TFMT5_5_6_5_UNORM WXYZ B5G6R5_UNORM
TFMT5_5_5_5_1_UNORM WXYZ B5G5R5A1_UNORM
TFMT5_4_4_4_4_UNORM WXYZ B4G4R4A4_UNORM
TFMT5_10_10_10_2_UINT WXYZ B10G10R10A2_UINT
RB5_R5G6B5_UNORM WXYZ B5G6R5_UNORM
RB5_R5G5B5A1_UNORM WXYZ B5G5R5A1_UNORM
RB5_R4G4B4A4_UNORM WXYZ B4G4R4A4_UNORM
RB5_R8G8B8A8_UNORM ZYXW A8R8G8B8_UNORM
RB5_R10G10B10A2_UNORM WXYZ B10G10R10A2_UNORM
RB5_R11G11B10_FLOAT WZYX R11G11B10_FLOAT
TFMT4_5_5_5_1_UNORM WXYZ B5G5R5A1_UNORM
RB4_R5G5B5A1_UNORM WXYZ B5G5R5A1_UNORM
RB4_R8G8B8A8_UINT XYZW A8B8G8R8_UINT
TFMT_5_6_5_UNORM WXYZ B5G6R5_UNORM
TFMT_2_10_10_10_UNORM WZYX A2R10G10B10_UNORM
RB_R5G5B5A1_UNORM WXYZ B5G5R5A1_UNORM
RB_R8G8B8A8_UNORM XYZW A8B8G8R8_UNORM
RB_A2R10G10B10_UNORM WZYX A2R10G10B10_UNORM
COLORX_8_8_8_8 WZYX R8G8B8A8_UNORM
COLORX_8_8_8_8 WXYZ B8G8R8A8_UNORM
COLORX_5_6_5 WXYZ B5G6R5_UNORM
COLORX_1_5_5_5 WXYZ B5G5R5A1_UNORM
COLORX_4_4_4_4 WXYZ B4G4R4A4_UNORM
COLORX_2_3_3 WXYZ B2G3R3_UNORM
"""


@pytest.mark.parametrize("row", ORDERS.split("\n")[1:-1])
def test_order_of_components(row: str) -> None:
    name, swap, expected = row.split()
    found = swapped(hardware_format(name), swap)
    assert found.name == expected
    assert found.block_bytes == image_format(expected).block_bytes
    texel = texel_format(found)
    assert texel.channels == texel_format(image_format(expected)).channels


@pytest.mark.parametrize("swap", ["WZYX", "WXYZ", "ZYXW", "XYZW"])
@pytest.mark.parametrize(
    "name", ["FMT6_8_UNORM", "DEPTH6_24_8", "FMT6_DXT1", "FMT6_9_9_9_E5_FLOAT"]
)
def test_formats_that_have_no_other_order(name: str, swap: str) -> None:
    form = hardware_format(name)
    assert swapped(form, swap) == form


@pytest.mark.parametrize(
    ("name", "swap"),
    [
        ("FMT6_1_5_5_5_UNORM", "ZYXW"),
        ("FMT6_5_6_5_UNORM", "XYZW"),
        ("FMT6_8_8_UNORM", "WXYZ"),
    ],
)
def test_orders_that_no_table_has(name: str, swap: str) -> None:
    """They are refused: a picture, and the question whether there is one."""
    surface = Surface(0x1000, hardware_format(name), 1, 1, 64, 0)
    with pytest.raises(PictureError, match=f"with the component swap {swap} is not known"):
        make_picture(surface, b"\1" * 4, PictureOptions(swap=swap))
    with pytest.raises(PictureError, match="is not known"):
        check_contents(surface, b"\1" * 4, swap)


@pytest.mark.parametrize(
    ("name", "swap", "bits", "expected"),
    [
        # a texel that is red, in the bits of each layout
        ("FMT6_1_5_5_5_UNORM", "WZYX", 1 | 31 << 1, [255, 0, 0, 255]),
        ("FMT6_1_5_5_5_UNORM", "WXYZ", 1 | 31 << 11, [255, 0, 0, 255]),
        ("FMT6_5_5_5_1_UNORM", "WZYX", 31 | 1 << 15, [255, 0, 0, 255]),
        ("FMT6_5_5_5_1_UNORM", "WXYZ", 31 << 10 | 1 << 15, [255, 0, 0, 255]),
        ("FMT6_5_5_5_1_UNORM", "ZYXW", 1 | 31 << 1, [255, 0, 0, 255]),
        ("FMT6_5_5_5_1_UNORM", "XYZW", 1 | 31 << 11, [255, 0, 0, 255]),
        ("COLORX_1_5_5_5", "WXYZ", 31 << 10 | 1 << 15, [255, 0, 0, 255]),
    ],
)
def test_red_texels(name: str, swap: str, bits: int, expected: list[int]) -> None:
    surface = Surface(0x1000, hardware_format(name), 1, 1, 64, 0)
    options = PictureOptions(swap=swap, channels="rgba")
    assert list(make_picture(surface, struct.pack("<H", bits), options).pixels) == expected


def test_depth_and_stencil() -> None:
    data = struct.pack("<4I", 0x1000000, 0x8000000 | 0x7FFFFF, 0xFFFFFF, 0x7FFFFF)
    picture = make_picture(linear("D24S8", 4, 1), data)
    assert list(picture.pixels) == [0, 127, 255, 127]
    assert picture.notes == ("values from 0 to 1 are shown as black to white",)
    assert shown("D24S8", data, 4, aspect="stencil") == [32, 255, 0, 0]
    assert shown("D16", struct.pack("<2H", 0x8000, 0xFFFF), 2) == [0, 255]
    assert shown("D16", struct.pack("<2H", 0x8000, 0xFFFF), 2, low=0, high=1) == [128, 255]
    assert shown("D32", struct.pack("<2f", 0.5, 1.0), 2, low=0, high=1) == [128, 255]
    assert shown("S8", bytes([3, 7]), 2, aspect="stencil") == [0, 255]
    assert shown("S8", bytes([3, 7]), 2) == [0, 255]
    with pytest.raises(PictureError, match="no depth"):
        shown("S8", bytes([3, 7]), 2, aspect="depth")
    with pytest.raises(PictureError, match="no stencil"):
        shown("D16", b"\x01\x00", aspect="stencil")


def test_ranges() -> None:
    bright = struct.pack("<3f", -1.0, 3.0, 7.0)
    picture = make_picture(linear("R32_FLOAT", 3, 1), bright)
    assert list(picture.pixels) == [0, 128, 255]
    assert (picture.low, picture.high) == (-1.0, 7.0)
    assert shown("R32_FLOAT", bright, 3, low=0.0, high=3.0) == [0, 255, 255]
    odd = struct.pack("<4f", float("nan"), float("inf"), 0.5, 0.25)
    picture = make_picture(linear("R32_FLOAT", 4, 1), odd)
    assert list(picture.pixels) == [0, 255, 128, 64]
    assert picture.notes[0] == "2 values are infinite or NaN"
    huge = struct.pack("<2f", -3.4e38, 3.4e38)
    assert shown("R32_FLOAT", huge, 2) == [0, 255]
    assert shown("R32_UINT", struct.pack("<2I", 5, 0xFFFFFFFF), 2) == [0, 255]
    assert shown("R16_SINT", struct.pack("<3h", -5, 0, 5), 3) == [0, 128, 255]
    constant = make_picture(linear("R32_FLOAT", 2, 1), struct.pack("<2f", 8, 8))
    assert constant.notes == ("all values are 8",)
    with pytest.raises(PictureError, match="is empty"):
        shown("R32_FLOAT", bright, 3, low=3.0, high=3.0)


def test_blocks() -> None:
    pytest.importorskip("texture2ddecoder")
    red = struct.pack("<HHI", 0xF800, 0x001F, 0)  # all texels have the first colour
    assert shown("DXT1_RGB", red, 4, 4) == [255, 0, 0] * 16
    alpha = bytes([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE])
    found = shown("DXT3_RGBA", alpha + red, 4, 4, channels="rgba")
    assert found == [value for number in range(16) for value in (255, 0, 0, 17 * number)]
    assert shown("RGTC1_UNORM", bytes([200, 100, *[0] * 6]), 4, 4) == [200] * 16
    # a void extent: one colour of 16 bits a channel
    void = bytes([0xFC, 0xFD, *[0xFF] * 6]) + struct.pack("<4H", 0xFFFF, 0x8000, 0, 0xFFFF)
    picture = make_picture(linear("ASTC_6X5", 11, 7), void * 4)
    assert (picture.width, picture.height) == (11, 7)
    assert list(picture.pixels[:3]) == [255, 128, 0]
    for name in ("RGTC1_SNORM", "BPTC_RGB_FLOAT", "ATC_RGBA_EXPLICIT"):
        with pytest.raises(PictureError, match="cannot be decoded"):
            shown(name, b"\x01" * 16, 4, 4)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ubwc": True}, "compressed"),
        ({"samples": 4}, "samples"),
        ({"tile_mode": 2}, "tile mode 2"),
        ({"tile_mode": 1}, "tile mode 1"),
        ({"tile_mode": 3, "generation": 5}, "a5xx"),
        ({"tile_mode": 3, "bank_swizzle": None}, "bank swizzle"),
        ({"address": 0}, "no memory"),
        ({"width": 0}, "no texels"),
        ({"width": 1 << 15}, "too many"),
        ({"width": 1 << 14, "height": 1 << 14}, "too many"),
        ({"pitch": 1 << 22, "height": 1 << 12}, "too many"),
        ({"pitch": 8}, "less than a row"),
        ({"height": 5}, "only 64 of 80 bytes"),
    ],
)
def test_what_cannot_be_shown(changes: dict[str, Any], reason: str) -> None:
    surface = replace(linear("RGBA8", 4, 4), **changes)
    with pytest.raises(PictureError, match=reason):
        make_picture(surface, b"\x01" * 64)


def test_nothing_to_show() -> None:
    surface = linear("RGBA8", 4, 4)
    with pytest.raises(PictureError, match="all 64 captured bytes at 0x1000 are zero"):
        make_picture(surface, bytes(64))
    with pytest.raises(PictureError, match="nothing at 0x1000 was captured"):
        make_picture(surface, b"")


def test_a_file() -> None:
    from io import BytesIO

    picture = make_picture(linear("RGBA8", 2, 2), bytes(range(16)))
    image = library("PIL.Image").open(BytesIO(picture.png()))
    assert (image.size, image.mode, image.tobytes()) == ((2, 2), "RGB", picture.pixels)
    large = Picture(100, 50, "L", bytes(5000), 0.0, 1.0)
    assert (large.scaled(10, 10).width, large.scaled(10, 10).height) == (10, 5)
    assert large.scaled(200, 200) is large


def test_a_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingLibrary, match=r"pictures need numpy.*'cffpy\[image\]'"):
        make_picture(linear("RGBA8", 1, 1), b"\x01" * 4)
