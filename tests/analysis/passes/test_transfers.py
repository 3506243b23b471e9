# SPDX-License-Identifier: MIT
"""Both ends of copies, blits, fills, clears, loads and stores, as packets and registers say."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.frame.action import Action
from cffpy.frame.attachment import Transfer
from cffpy.frame.geometry import Rectangle, Size
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def compiled(run_cffpy: Run, folder: Path, gpu: int, commands: str) -> cffpy.Capture:
    text, path = folder / "text.pm4", folder / "capture.rd"
    text.write_text(
        f"pm4 1\ngpu_id {gpu}\nbuffer memory 0x1000 {{\n  commands main {{\n{commands}\n  }}\n}}\n"
        "stream main\n"
    )
    assert run_cffpy("compile", text, "-o", path).returncode == 0
    return cffpy.open(path)


def only(capture: cffpy.Capture) -> tuple[Action, Transfer]:
    (action,) = capture.transfers
    (transfer,) = action.transfers
    return action, transfer


FLAGS = "COLOR_SWAP=XYZW, SRGB, FLAGS"
A6XX_BLIT = """
    RB_2D_BLIT_CNTL = { ROTATE=ROTATE_90, SCISSOR }
    RB_2D_DST_INFO = { COLOR_FORMAT=FMT6_8_8_8_8_UNORM, TILE_MODE=TILE6_3, {FLAGS} }
    + RB_2D_DST = 0x100200000
    + RB_2D_DST_PITCH = 512
    RB_2D_DST_FLAGS = 0x100300000
    + RB_2D_DST_FLAGS_PITCH = 64
    GRAS_2D_DST_TL = { X=4, Y=8 }
    + GRAS_2D_DST_BR = { X=19, Y=39 }
    GRAS_2D_RESOLVE_CNTL_1 = { X=1, Y=2 }
    + GRAS_2D_RESOLVE_CNTL_2 = { X=63, Y=31 }
    SP_PS_2D_SRC_INFO = { COLOR_FORMAT=FMT6_16_FLOAT, TILE_MODE=TILE6_LINEAR, SAMPLES=MSAA_FOUR }
    + SP_PS_2D_SRC_SIZE = { WIDTH=100, HEIGHT=50 }
    + SP_PS_2D_SRC = 0x100100040
    + SP_PS_2D_SRC_PITCH = { PITCH=256 }
    GRAS_2D_SRC_TL_X = -1
    + GRAS_2D_SRC_BR_X = 14
    + GRAS_2D_SRC_TL_Y = 3
    + GRAS_2D_SRC_BR_Y = 34
    CP_BLIT OP=BLIT_OP_SCALE
""".replace("{FLAGS}", FLAGS)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", first_always([630, 730]))
def test_a_blit_of_the_2d_engine(run_cffpy: Run, tmp_path: Path, gpu: int) -> None:
    with compiled(run_cffpy, tmp_path, gpu, A6XX_BLIT) as capture:
        action, moved = only(capture)
        assert (action.kind, action.role, action.name) == ("blit", "resolve", "p0:0")
        source, filled = action.source, action.destination
    assert source is not None
    assert filled is not None
    assert (source.address, source.gmem, source.format) == (0x100100040, None, "FMT6_16_FLOAT")
    assert (source.tiling, source.samples, source.pitch) == ("TILE6_LINEAR", 4, 256)
    assert (source.width, source.height, source.ubwc) == (100, 50, False)
    assert source.rectangle == Rectangle(-1, 3, 15, 35)
    assert (filled.address, filled.pitch, filled.samples) == (0x100200000, 512, 1)
    assert (filled.tiling, filled.swap, filled.srgb) == ("TILE6_3", "XYZW", True)
    assert (filled.ubwc, filled.flags, filled.flag_pitch) == (True, 0x100300000, 64)
    assert filled.rectangle == Rectangle(4, 8, 20, 40)
    assert moved.limit == Rectangle(1, 2, 64, 32)
    assert (moved.rotation, moved.resolves, moved.value) == ("ROTATE_90", True, None)


def test_blits_of_a_sample(samples: Path) -> None:
    with cffpy.open(samples / "a650-blits.rd") as capture:
        fill, copy, scale = capture.draws
        assert [one.role for one in capture.draws] == ["fill", "copy", "scale"]
        assert fill.source is None
        assert fill.transfers[0].value == (0xFF, 0x80, 0, 0xFF)
        assert copy.source is not None
        assert scale.destination is not None
        assert fill.destination is not None
        assert copy.source.address == fill.destination.address == 0x100100000
        assert scale.destination.rectangle == Rectangle(0, 0, 32, 32)
        assert [one.order for one in capture.transfers] == [0, 1, 2]


def test_a_blit_of_a5xx_has_its_rectangles_in_the_packet(run_cffpy: Run, tmp_path: Path) -> None:
    commands = """
    RB_2D_SRC_INFO = { COLOR_FORMAT=RB5_R8_UNORM, TILE_MODE=TILE5_LINEAR }
    + RB_2D_SRC_LO = 0x2000
    + RB_2D_SRC_HI = 0x1
    + RB_2D_SRC_SIZE = { PITCH=128, ARRAY_PITCH=4096 }
    RB_2D_DST_INFO = { COLOR_FORMAT=RB5_R8G8B8A8_UNORM, TILE_MODE=TILE5_3 }
    + RB_2D_DST_LO = 0x3000
    + RB_2D_DST_HI = 0x1
    + RB_2D_DST_SIZE = { PITCH=256 }
    CP_BLIT OP=BLIT_OP_COPY SRC_X1=1 SRC_Y1=2 SRC_X2=8 SRC_Y2=9 DST_X1=0 DST_Y1=5 DST_X2=7 DST_Y2=12
    """
    with compiled(run_cffpy, tmp_path, 530, commands) as capture:
        action, _ = only(capture)
        assert (action.kind, action.role) == ("blit", "copy")
        assert str(action.source) == ("0x100002000 RB5_R8_UNORM TILE5_LINEAR pitch 128 1,2+8x8")
        assert str(action.destination) == (
            "0x100003000 RB5_R8G8B8A8_UNORM TILE5_3 pitch 256 0,5+8x8"
        )


def test_a_fill_of_a5xx(run_cffpy: Run, tmp_path: Path) -> None:
    commands = """
    RB_2D_SRC_SOLID_DW0 = 0x1
    + RB_2D_SRC_SOLID_DW1 = 0x2
    + RB_2D_SRC_SOLID_DW2 = 0x3
    + RB_2D_SRC_SOLID_DW3 = 0x4
    RB_2D_DST_LO = 0x3000
    + RB_2D_DST_HI = 0x0
    CP_BLIT OP=BLIT_OP_FILL DST_X1=1 DST_Y1=2 DST_X2=3 DST_Y2=4
    """
    with compiled(run_cffpy, tmp_path, 530, commands) as capture:
        action, moved = only(capture)
        assert (action.role, moved.source, moved.value) == ("fill", None, (1, 2, 3, 4))
        assert moved.destination is not None
        assert moved.destination.rectangle == Rectangle(1, 2, 4, 5)


def test_packets_that_copy_memory(run_cffpy: Run, tmp_path: Path) -> None:
    commands = """
    CP_BLIT OP=BLIT_OP_SCALE
    CP_MEM_TO_MEM DOUBLE=1 NEG_C=1 [1]=0x1000 [2]=0x1 [3]=0x2000 [4]=0x1 {OPERANDS}
    CP_MEM_TO_MEM [1]=0x1000 [2]=0x1 [3]=0x2000 [4]=0x1
    CP_MEMCPY DWORDS=16 SRC_LO=0x10 SRC_HI=0x1 DST_LO=0x20 DST_HI=0x2
    CP_MEM_TO_MEM [1]=0x1000
    CP_BLIT OP=BLIT_OP_SCALE
    """
    commands = commands.replace("{OPERANDS}", "[5]=0x3000 [6]=0x1 [7]=0x4000 [8]=0x1")
    with compiled(run_cffpy, tmp_path, 630, commands) as capture:
        _, added, single, block, short, _ = capture.transfers
        assert {one.kind for one in (added, single, block, short)} == {"copy"}
        assert len(capture.actions) == len(capture.draws) == 2
        (moved,) = added.transfers
        assert moved.source_text == "0x100002000 8 B +0x100003000 8 B -0x100004000 8 B"
        assert moved.destination_text == "0x100001000 8 B"
        assert (added.name, added.pass_) == (None, capture.passes[0])
        assert single.source is not None
        assert (single.source.size, single.transfers[0].added) == (4, ())
        assert str(block.source), str(block.destination) == ("0x100000010 64 B", "0x200000020 64 B")
        assert short.transfers == ()
        with pytest.raises(cffpy.CaptureError, match="not recorded"):
            _ = single.state
    path = tmp_path / "capture.rd"
    listed = run_cffpy("draws", "--all", path).stdout.decode().splitlines()
    assert [("CP_MEM" in line) for line in listed] == [False, False, True, True, True, True, False]
    assert "0x100002000 8 B +0x100003000 8 B -0x100004000 8 B  0x100001000 8 B" in listed[2]
    assert b"CP_MEM" not in run_cffpy("draws", path).stdout


@pytest.mark.slow
def test_a_copied_image_is_shown(run_cffpy: Run, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("numpy")
    texels = " ".join(f"{0xFF000000 | 255 << 8 * (n % 2):08x}" for n in range(16))
    text, path = tmp_path / "text.pm4", tmp_path / "capture.rd"
    text.write_text(f"""pm4 1
gpu_id 650
buffer commands 0x1000 {{
  commands main {{
    SP_PS_2D_SRC_INFO = {{ COLOR_FORMAT=FMT6_8_8_8_8_UNORM, TILE_MODE=TILE6_LINEAR }}
    + SP_PS_2D_SRC_SIZE = {{ WIDTH=4, HEIGHT=4 }}
    + SP_PS_2D_SRC = 0x10002000
    + SP_PS_2D_SRC_PITCH = {{ PITCH=64 }}
    RB_2D_DST_INFO = {{ COLOR_FORMAT=FMT6_8_8_8_8_UNORM, TILE_MODE=TILE6_LINEAR }}
    + RB_2D_DST = 0x10002000
    + RB_2D_DST_PITCH = 0
    GRAS_2D_DST_TL = {{ X=0, Y=0 }}
    + GRAS_2D_DST_BR = {{ X=15, Y=0 }}
    CP_BLIT OP=BLIT_OP_SCALE
  }}
}}
buffer upload 0x10002000 {{
  data texels {{
    {texels}
    {" ".join(["00000000"] * 48)}
  }}
}}
stream main
""")
    assert run_cffpy("compile", text, "-o", path).returncode == 0
    listed = run_cffpy("image", path, "--at", "p0:0").stdout.decode().splitlines()
    assert listed == [
        "source 0 (FMT6_8_8_8_8_UNORM) at 0x10002000: FMT6_8_8_8_8_UNORM 4x4, linear, pitch 64:"
        " can be shown",
        "destination 0 (FMT6_8_8_8_8_UNORM) at 0x10002000: FMT6_8_8_8_8_UNORM 16x1, linear,"
        " pitch 64: can be shown",
    ]
    for kind, size in (("source", (4, 4)), ("destination", (16, 1))):
        output = tmp_path / f"{kind}.png"
        command = ("image", path, "--at", "p0:0", f"--{kind}", "0", "-o", output)
        assert run_cffpy(*command).returncode == 0
        with image.open(output) as opened:
            assert (opened.size, opened.getpixel((1, 0))) == (size, (0, 255, 0))
    failed = run_cffpy("image", path, "--at", "p0:0", "--source", "1", "-o", "-", check=False)
    assert failed.returncode != 0
    assert b"draw p0:0 has no source 1; it has 1" in failed.stderr
    both = run_cffpy("image", path, "--at", "#0", "--source", "0", "--target", "0", check=False)
    assert b"--target and --source exclude each other" in both.stderr


# --- in passes -----------------------------------------------------------------------------------


def check_ends(capture: cffpy.Capture) -> None:
    """The ends of operations are what operations say, which passes are found by."""
    for one in capture.passes:
        for operation in one.operations:
            moved = operation.action.transfers
            if not operation.action.execution.is_possible or operation.kind == "unknown":
                continue
            if operation.kind == "clear":
                assert all(each.source is None for each in moved)
                continue
            ends = [(each.source, each.destination) for each in moved]
            if operation.kind == "load":
                ends = [(gmem, memory) for memory, gmem in ends]
            assert ends, operation
            found = [
                (memory.address, gmem and gmem.gmem) for gmem, memory in ends if memory is not None
            ]
            assert operation.address is None or operation.address in [at for at, _ in found]
            if operation.gmem is not None:
                assert operation.gmem in [at for _, at in found]


@pytest.mark.parametrize(
    "name",
    [
        "a660-frame-gmem",
        "a660-frame-sysmem",
        "a830-frame-gmem",
        "a640-vendor-frame",
        "a530-two-submits",
        "a430-depth-good",
        "a220-triangle",
    ],
)
def test_operations_of_samples(name: str, samples: Path) -> None:
    with cffpy.open(samples / f"{name}.rd") as capture:
        check_ends(capture)


def test_a8xx_has_both_ends(samples: Path) -> None:
    with cffpy.open(samples / "a830-frame-gmem.rd") as capture:
        found = [one for one in capture.transfers if one.kind == "resolve"]
        assert found
        for one in found:
            assert one.destination is not None
            assert one.destination.address or one.destination.gmem is not None
            assert one.destination.rectangle is not None


#: Captures: a transfer of each kind that is in them: role, source, destination, attachment.
SHOWN = {
    "a220-gl-passes": {
        ("store", "GMEM 0x40000 COLORX_8_8 256,0+256x256",
         "0xffb66000 COLORX_8_8 linear pitch 1024 256,0+256x256", "depth"),
        ("load", "0xff366000 DEPTHX_24_8 1024,0+256x256",
         "GMEM 0x40000 DEPTHX_24_8 1024,0+256x256", "depth+stencil"),
    },
    "a330-gl-inst-mrt": {
        ("store", "GMEM 0x54000 RB_R10G10B10A2_UNORM 896,0+384x192",
         "0xff0ab000 RB_R10G10B10A2_UNORM LINEAR pitch 5120 896,0+384x192", "color 1"),
    },
    "a430-gl-passes-restore": {
        ("store", "GMEM 0x0 RB4_R8G8B8A8_UNORM 0,256+512x256",
         "0xffba9000 RB4_R8G8B8A8_UNORM TILE4_LINEAR pitch 2048 0,256+512x256", "color 0"),
    },
    "a530-gl-blit-msaa": {
        ("copy", "0xff459000 RB5_R8G8B8A8_UNORM TILE5_LINEAR pitch 2048 10,10+256x256",
         "0xff168000 RB5_R8G8B8A8_UNORM TILE5_LINEAR pitch 1024 0,0+256x256", None),
        ("store", "GMEM 0x80000 DEPTH5_24_8 0,256+512x256",
         "0xffdf9000 DEPTH5_24_8 linear pitch 2048 0,256+512x256", "depth+stencil"),
    },
    "a660-vk-passes-gmem": {
        ("scale", "0x100109000 FMT6_8_8_8_8_UNORM TILE6_3 UBWC pitch 512 0,0+128x128",
         "0x100119000 FMT6_8_8_8_8_UNORM TILE6_3 UBWC pitch 256 0,0+64x64", None),
        ("store", "GMEM 0xba000 FMT6_16_UNORM TILE6_2 pitch 960 100,60+500x333",
         "0x101ede000 FMT6_16_UNORM TILE6_3 UBWC pitch 2048 100,60+500x333", "depth"),
        ("load", "0x1002c5000 FMT6_8_8_8_8_UNORM TILE6_3 UBWC pitch 5120 0,0+1280x720",
         "GMEM 0x0 FMT6_8_8_8_8_UNORM 0,0+1280x720", "color 0"),
    },
    "a740-vk-xfer": {
        ("resolve",
         "0x100a19000 FMT6_8_8_8_8_UNORM TILE6_3 4 samples UBWC pitch 8192 0,0+512x512",
         "0x1000c0000 FMT6_8_8_8_8_UNORM TILE6_3 UBWC pitch 2048 0,0+512x512", None),
        # by a rectangle draw, whose source is a texture
        ("copy", "0x100204000 FMT6_16_16_16_16_FLOAT TILE6_3 UBWC pitch 4096 32,48+128x96",
         "0x100405000 FMT6_16_16_16_16_FLOAT TILE6_3 UBWC pitch 2560 5,6+128x96", None),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", first_always(SHOWN))
def test_ends_of_shared_captures(name: str, shared: Path) -> None:
    with cffpy.open(shared / f"captures/{name}.rd.gz") as capture:
        found = {
            (one.role, str(moved.source), str(moved.destination), moved.attachment)
            for one in capture.transfers
            for moved in one.transfers
        }
        assert found >= SHOWN[name]
        check_ends(capture)


def test_what_is_patched_is_what_is_copied(shared: Path) -> None:
    """turnip patches the rectangles of stores for a fragment density map."""
    with cffpy.open(shared / "captures/a740-vk-fdm.rd.gz") as capture:
        stores = [one for one in capture.transfers if (one.kind, one.role) == ("blit", "store")]
        areas = [one.source.rectangle.size for one in stores if one.source and one.source.rectangle]
        assert areas[:3] == [Size(240, 368), Size(480, 736), Size(240, 368)]


# --- surfaces ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_text_of_a_fill(samples: Path, run_cffpy: Run) -> None:
    lines = run_cffpy("draws", samples / "a650-blits.rd").stdout.decode().splitlines()
    assert "value 000000ff 00000080 00000000 000000ff" in lines[1]
