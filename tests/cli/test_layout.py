# SPDX-License-Identifier: MIT
"""cffpy layout, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_server import Run
from tests.selection import first_always

IMAGE = ("layout", "image", "--gpu", "650", "--format", "RGBA8", "--size", "1920x1080")
TILES = ("layout", "tiles", "--gpu", "660", "--size", "1920x1080")


def test_an_image(run_cffpy: Run) -> None:
    done = run_cffpy(*IMAGE, "--levels", "2", "--ubwc")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines() == [
        "R8G8B8A8_UNORM 1920x1080 on a650: size 0xa0a000, cpp 4, UBWC, pitch aligned to 256"
        ", base aligned to 4096",
        "layers 1, 0x9f6000 apart",
        "UBWC flags: 0x14000 a layer",
        "level        size     offset   pitch      bytes mode    flags",
        "    0   1920x1080    0x14000    7680   0x7f8000 tile 3  0x0, pitch 128",
        "    1     960x540   0x80c000    3840   0x1fe000 tile 3  0x10000, pitch 64",
    ]


def test_a_drawing(run_cffpy: Run) -> None:
    for command in ((*TILES, "--attachments", "RGBA8"), (*IMAGE, "--levels", "11", "--ubwc")):
        done = run_cffpy(*command, "--svg", "-")
        assert ElementTree.fromstring(done.stdout).tag.endswith("svg")
    assert done.stdout.count(b": flags at") == 11


def test_a_batch(run_cffpy: Run, tmp_path: Path) -> None:
    """Answers are in order; an invalid line is answered with an error."""
    question = {"gpu": "FD740", "width": 800, "height": 2223, "samples": 1, "layers": 1}
    lines = [json.dumps(question), "nonsense", "[]", json.dumps({**question, "gpu": "none"}), ""]
    file = tmp_path / "questions"
    file.write_text("\n".join([*lines, json.dumps(question)]))
    done = run_cffpy("layout", "lrz", "--batch", file)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert answers[0] == answers[4]
    assert list(answers[0]) == [*question, "result"]
    assert answers[0]["result"]["total_size"] == 79872
    assert all("error" in answer for answer in answers[1:4])
    assert done.stderr.decode().count(f"{file}: line ") == 3


def test_a_depth_image_has_an_lrz_buffer(run_cffpy: Run) -> None:
    depth = ("layout", "image", "--gpu", "740", "--format", "D24S8", "--size", "1920x1080")
    buffer = json.loads(run_cffpy(*depth, "--json").stdout)["lrz"]
    alone = run_cffpy("layout", "lrz", "--gpu", "740", "--size", "1920x1080", "--json").stdout
    assert buffer == json.loads(alone)["lrz"]
    assert b"LRZ of 1920x1080 on a740" in run_cffpy(*depth).stdout
    assert json.loads(run_cffpy(*IMAGE, "--json").stdout)["lrz"] is None


def test_both_gmem_layouts(run_cffpy: Run) -> None:
    """FULL and AVOID_CCU; the tiles are those of the one that is asked for."""
    attachments = ("--attachments", "RGBA8,D24S8")
    document = json.loads(run_cffpy(*TILES, *attachments, "--json").stdout)
    assert [(one["name"], one["used"]) for one in document["gmem_layouts"]] == [
        ("FULL", True),
        ("AVOID_CCU", False),
    ]
    other = json.loads(run_cffpy(*TILES, *attachments, "--avoid-ccu", "--json").stdout)
    full, avoiding = (one["layout"] for one in document["gmem_layouts"])
    assert other["tiles"]["gmem_layout"] == avoiding != full
    assert document["tiles"]["gmem_layout"] == full
    layers = json.loads(run_cffpy(*TILES, *attachments, "--layers", "2", "--json").stdout)
    assert layers["tiles"]["grid"] != document["tiles"]["grid"]
    given = ("layout", "tiles", "--gpu", "620", "--gmem", "524288", "--size", "64x64")
    assert b"1x1 tiles" in run_cffpy(*given, *attachments).stdout


def test_the_texel_of_a_byte(run_cffpy: Run) -> None:
    tile = ("layout", "tile", "--gpu", "650", "--format", "RGBA8", "--size", "256x256")
    done = run_cffpy(*tile, "17,33", "--offset", "0x870d")
    assert done.stdout.decode().splitlines() == ["17,33: 0x870c", "17,33: 0x870d"]


TEXELS = {
    "cpp": 4,
    "width": 16,
    "height": 4,
    "pitch": 256,
    "size": 4096,
    "highest_bank_bit": 15,
    "bank_swizzle_levels": 6,
    "macrotile": 8,
    "linear_hex": bytes(range(256)).hex(),
}


def test_tiled_memory_both_ways(run_cffpy: Run, tmp_path: Path) -> None:
    file = tmp_path / "questions"
    file.write_text(json.dumps(TEXELS))
    tiled = json.loads(run_cffpy("layout", "tile", "--batch", file).stdout)
    back = {name: tiled[name] for name in tiled if name not in ("size", "linear_hex")}
    file.write_text(json.dumps(back))
    answer = json.loads(run_cffpy("layout", "tile", "--batch", file).stdout)
    assert answer["linear_hex"] == TEXELS["linear_hex"]


def test_a_batch_of_hostile_lines(run_cffpy: Run, tmp_path: Path) -> None:
    """Each line comes back with an error; the line between them is answered."""
    image = {"gpu": "650", "format": "RGBA8", "width": 8, "height": 8}
    hostile: list[bytes] = [
        b"\xff\xfe{}",
        b'{"width": NaN}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        json.dumps({**image, "width": 1 << 60}).encode(),
        json.dumps({**image, "levels": 1 << 30}).encode(),
        json.dumps({**image, "height": True}).encode(),
        json.dumps({**image, "gpu": ["650"]}).encode(),
        json.dumps({**image, "format": "\x1b[31m"}).encode(),
        b'{"width": 1' + b"0" * 5000 + b"}",
    ]
    file = tmp_path / "questions"
    file.write_bytes(b"\n".join([*hostile, json.dumps(image).encode()]))
    done = run_cffpy("layout", "image", "--batch", file)
    answers = [json.loads(line, parse_constant=pytest.fail) for line in done.stdout.splitlines()]
    assert ["error" in answer for answer in answers] == [True] * len(hostile) + [False]
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    large = {**TEXELS, "size": 1 << 40}
    wide = {**TEXELS, "width": 1 << 40}
    file.write_text("\n".join(json.dumps(one) for one in (large, wide, TEXELS)))
    done = run_cffpy("layout", "tile", "--batch", file)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["error" in answer for answer in answers] == [True, True, False]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    first_always(
        [
            (("layout", "image", "--gpu", "650"), 2, "--format is missing"),
            (("layout", "image", "--gpu", "1", "--format", "R8_UNORM", "--size", "4x4"), 1, "'1'"),
            (("layout", "image", "--gpu", "650", "--format", "R8", "--size", "4"), 2, "not a size"),
            (
                ("layout", "image", "--gpu", "650", "--format", "R8", "--size", "0x4"),
                1,
                "start at 1",
            ),
            (("layout", "image", "--format", "R8", "--size", f"{'9' * 5000}x4"), 2, "not a size"),
            (
                ("layout", "tile", "--format", "R8", "--size", "4x4", f"1,{'9' * 5000}"),
                2,
                "a point",
            ),
            (
                ("layout", "tile", "--gpu", "650", "--format", "RG8", "--size", "9x9"),
                1,
                "not known",
            ),
            (("layout", "tiles", "--gpu", "620", "--size", "9x9"), 1, "--gmem"),
            (
                (
                    "layout",
                    "tile",
                    "--gpu",
                    "650",
                    "--format",
                    "RGBA8",
                    "--size",
                    "9x9",
                    "--offset",
                    "x",
                ),
                2,
                "not an offset",
            ),
            (("layout", "lrz", "--batch", "no such file"), 1, "no such file"),
        ],
        3,
        names=3,
    ),
)
def test_errors_are_one_line(
    run_cffpy: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = run_cffpy(*arguments)
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
