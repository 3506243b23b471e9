# SPDX-License-Identifier: MIT
"""cffpy image, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.image.texels import PictureError
from tests.command_server import Run
from tests.selection import first_always

pytest.importorskip("numpy")
image_library = pytest.importorskip("PIL.Image")


@pytest.fixture
def capture(samples: Path) -> str:
    return str(samples / "a660-pictures.rd")


def pixels(path: Path) -> Any:
    with image_library.open(path) as opened:
        opened.load()
        return opened


def test_images_of_a_draw(run_cffpy: Run, capture: str) -> None:
    done = run_cffpy("image", capture, "--at", "p0:0")
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert lines[1] == (
        "texture 1 (1 of FS) at 0x100008000: FMT6_8_8_8_8_UNORM 64x32, 2 levels, tile mode 3,"
        " pitch 256: can be shown"
    )
    assert [line.split(" at ")[0] for line in lines[4:]] == [
        "target 0 (color 0)",
        "target 1 (depth)",
    ]
    document = json.loads(run_cffpy("image", capture, "--at", "p0:0", "--json").stdout)
    assert document["schema"] == "cffpy.image/1"
    assert document["written"] is None
    assert document["images"][2]["view"]["format"] == "FMT6_DXT1"


@pytest.mark.parametrize(
    ("options", "size", "points"),
    first_always(
        [
            (["--texture", "0"], (16, 8), {(3, 0): (31, 0, 0), (3, 7): (255, 0, 0)}),
            # block n of the rows of memory has the green n x 8
            (["--texture", "1"], (64, 32), {(0, 0): (255, 0, 0), (0, 4): (207, 48, 0)}),
            (["--texture", "1", "--level", "1"], (32, 16), {(31, 15): (128, 128, 128)}),
            (["--texture", "2"], (16, 16), {(0, 0): (0, 0, 255), (4, 0): (255, 0, 0)}),
            (["--texture", "3", "--layer", "3"], (4, 4), {(0, 0): (0, 127, 0)}),
            # the target has red and blue exchanged
            (["--target", "0"], (32, 16), {(0, 0): (32, 64, 96), (0, 15): (96, 128, 160)}),
            (["--target", "1"], (32, 16), {(0, 7): 0, (0, 8): 255, (31, 15): 255}),
            (["--target", "1", "--range", "0:1"], (32, 16), {(0, 7): 64, (0, 8): 255}),
            (["--texture", "0", "--channels", "g"], (16, 8), {(0, 0): 0}),
        ],
        2,
        names=3,
    ),
)
def test_pictures(
    run_cffpy: Run, capture: str, tmp_path: Path, options: list[str], size: Any, points: Any
) -> None:
    out = tmp_path / "out.png"
    assert run_cffpy("image", capture, "--at", "#0", *options, "-o", str(out)).returncode == 0
    found = pixels(out)
    assert found.size == size
    assert {point: found.getpixel(point) for point in points} == points


def test_memory_at_an_address(run_cffpy: Run, capture: str, tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    where = ("--at", "0x100008000", "--format", "RGBA8", "--size", "64x32")
    run_cffpy("image", capture, *where, "--tile-mode", "3", "-o", str(out))
    textures = tmp_path / "texture.png"
    run_cffpy("image", capture, "--at", "#0", "--texture", "1", "-o", str(textures))
    assert pixels(out).tobytes() == pixels(textures).tobytes()
    other = ("--bank-bit", "13", "--bank-levels", "7", "--memory-channels", "4")
    assert run_cffpy("image", capture, *where, *other, "-o", "-").stdout.startswith(b"\x89PNG")


def test_notes_and_documents(run_cffpy: Run, capture: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.png")
    done = run_cffpy("image", capture, "--at", "#0", "--target", "1", "-o", out)
    assert done.stderr == (b"cffpy: note: values from 0.250004 to 1 are shown as black to white\n")
    done = run_cffpy("image", capture, "--at", "#0", "--target", "1", "-o", out, "--json")
    document = json.loads(done.stdout)
    assert document["written"]["picture"]["width"] == 32
    assert document["images"][0]["label"] == "depth"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    first_always(
        [
            (["--at", "#0", "--texture", "0"], 2, "-o is missing"),
            (["--at", "#0", "-o", "x.png"], 2, "-o is for one picture"),
            (["--texture", "0"], 2, "name an image"),
            (["--at", "#0", "--texture", "0", "--target", "1"], 2, "exclude each other"),
            (["--at", "#0", "--texture", "9", "-o", "x.png"], 1, "has no texture 9; it has 4"),
            (["--at", "#0", "--target", "2", "-o", "x.png"], 1, "has no target 2; it has 2"),
            (
                ["--at", "#7", "--texture", "0", "-o", "x.png"],
                1,
                "no draw #7: the dump has 1 draw, #0",
            ),
            (
                ["--at", "#0", "--texture", "0", "--size", "4x4", "-o", "x.png"],
                2,
                "--size goes with an address",
            ),
            (
                ["--at", "0x100008000", "--format", "RGBA8", "-o", "x.png"],
                2,
                "memory at an address needs --size",
            ),
            (
                ["--at", "0x100008000", "--format", "RGBA8", "--size", "64x99999", "-o", "x.png"],
                2,
                "with 1 to 16384 texels each",
            ),
            (["--at", "#0", "--texture", "0", "--range", "1:0", "-o", "x.png"], 2, "not a range"),
            (["--at", "#0", "--texture", "0", "--level", "1", "-o", "x.png"], 1, "no level 1"),
            (["--at", "#0", "--texture", "3", "--layer", "6", "-o", "x.png"], 1, "no layer 6"),
            (
                ["--at", "#0", "--target", "1", "--aspect", "stencil", "-o", "x.png"],
                1,
                "no stencil",
            ),
        ],
        3,
        names=3,
    ),
)
def test_mistakes(
    run_cffpy: Run, capture: str, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    done = run_cffpy("image", capture, *arguments, cwd=tmp_path, check=False)
    assert done.returncode == code
    assert message in done.stderr.decode()
    assert not (tmp_path / "x.png").exists()


def test_what_was_not_captured(run_cffpy: Run, capture: str, tmp_path: Path) -> None:
    where = ("--format", "R8_UNORM", "--size", "64x64", "-o", "x.png")
    empty = tmp_path / "empty.rd"
    empty.write_bytes(b"")
    chosen = ("image", str(empty), "--gpu", "650", "--at", "0x1000", *where)
    done = run_cffpy(*chosen, cwd=tmp_path, check=False)
    assert b"nothing at 0x1000 was captured" in done.stderr, "a capture without any submit"
    done = run_cffpy("image", capture, "--at", "0x1000", *where, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert b"there is nothing to show: nothing at 0x1000 was captured" in done.stderr
    done = run_cffpy("image", capture, "--at", "0x100015f80", *where, cwd=tmp_path, check=False)
    assert b"of 4096 bytes at 0x100015f80 were captured" in done.stderr


def test_images_with_planes() -> None:
    text = (Path(__file__).resolve().parents[2] / "samples" / "a660-pictures.pm4").read_bytes()
    planes = text.replace(b"FMT6_8_8_8_8_UNORM", b"FMT6_R8_G8B8_2PLANE_420_UNORM")
    with cffpy.open(cffpy.compile(planes)) as opened:
        image = opened.draws[0].textures[1].image
        assert "(FMT6_R8_G8B8_2PLANE_420_UNORM) are not shown" in image.problem()


def test_the_interface(capture: str) -> None:
    with cffpy.open(capture) as opened:
        draw = opened.draws[0]
        picture = draw.textures[1].picture()
        assert (picture.width, picture.height, picture.mode) == (64, 32, "RGB")
        assert picture.pixels == draw.images[1].image.picture().pixels
        assert draw.pass_.picture("color 0").pixels[:3] == bytes([32, 64, 96])
        assert draw.textures[0].image.problem() == ""
        assert draw.textures[0].image.problem(layer=1).startswith("there is no layer 1")
        with pytest.raises(PictureError, match="no attachment stencil"):
            draw.pass_.picture("stencil")


@pytest.mark.slow
def test_the_texture_of_vkcube(run_cffpy: Run, shared: Path, tmp_path: Path) -> None:
    """A picture that a program has loaded: its corners are grey, its letters white."""
    capture = str(shared / "captures/a740-vkcube-5frames.rd.gz")
    out = tmp_path / "out.png"
    run_cffpy("image", capture, "--at", "p0:0", "--texture", "0", "-o", str(out))
    found = pixels(out)
    assert found.size == (256, 256)
    red, green, blue = found.getpixel((0, 0))
    assert red == green == blue
    assert found.getpixel((37, 120)) == (255, 255, 255)


TARGET = """pm4 1
chip_id {chip}
gpu_id {gpu}
cmd "test"
buffer commands 0x10000000 short {{
  commands main {{
    {registers}
    CP_DRAW_INDX PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX NUM_INDICES=3
  }}
}}
buffer target 0x10010000 short {{
  fill 0xff0000ff * 64
  fill 0xff00ff00 * 64
}}
stream main short
"""
REGISTERS = {
    330: """RB_MODE_CONTROL = {{ GMEM_BYPASS, RENDER_MODE=RB_RENDERING_PASS }}
    RB_FRAME_BUFFER_DIMENSION = {{ WIDTH=16, HEIGHT=8 }}
    RB_MRT[0].CONTROL = {{ COMPONENT_ENABLE=0xf }}
RB_MRT[0].BUF_INFO = {{ COLOR_FORMAT=RB_R8G8B8A8_UNORM, COLOR_TILE_MODE={0}, COLOR_BUF_PITCH=64 }}
    RB_MRT[0].BUF_BASE = {{ COLOR_BUF_BASE=0x10010000 }}""",
    430: """RB_MODE_CONTROL = {{ WIDTH=32, HEIGHT=32 }}
    RB_FRAME_BUFFER_DIMENSION = {{ WIDTH=16, HEIGHT=8 }}
    RB_MRT[0].CONTROL = {{ COMPONENT_ENABLE=0xf }}
RB_MRT[0].BUF_INFO = {{ COLOR_FORMAT=RB4_R8G8B8A8_UNORM, COLOR_TILE_MODE={0}, COLOR_BUF_PITCH=64 }}
    RB_MRT[0].BASE = 0x10010000""",
}


@pytest.mark.parametrize(
    ("gpu", "linear", "tiled"),
    first_always([(330, "LINEAR", "TILE_32X32"), (430, "TILE4_LINEAR", "TILE4_3")], names=3),
)
def test_targets_of_older_gpus(
    run_cffpy: Run, tmp_path: Path, gpu: int, linear: str, tiled: str
) -> None:
    """A mode that the registers name as linear is linear; another one is refused by its name."""
    path, output = tmp_path / "target.rd", tmp_path / "target.png"
    chip = f"0x0{gpu // 100}030000"
    for mode in (linear, tiled):
        registers = REGISTERS[gpu].format(mode)
        path.write_bytes(cffpy.compile(TARGET.format(chip=chip, gpu=gpu, registers=registers)))
        done = run_cffpy("image", path, "--at", "p0:0", "--target", "0", "-o", output)
        if mode == linear:
            assert done.returncode == 0, done.stderr
            picture = pixels(output)
            assert picture.size == (16, 8)
            assert [picture.getpixel((0, y)) for y in (0, 3, 4)] == [
                (255, 0, 0),
                (255, 0, 0),
                (0, 255, 0),
            ]
        else:
            assert done.returncode == 1
            assert f"the texel order of tiled images of a{gpu // 100}xx".encode() in done.stderr
