# SPDX-License-Identifier: MIT
"""cffpy layout, run as users run it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]

IMAGE = ("layout", "image", "--gpu", "650", "--format", "RGBA8", "--size", "1920x1080")
TILES = ("layout", "tiles", "--gpu", "660", "--framebuffer", "1920x1080")


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


def test_documents(run_cffpy: Run) -> None:
    document = json.loads(run_cffpy(*IMAGE, "--json").stdout)
    assert document["schema"] == "cffpy.layout.image/1"
    assert document["result"]["levels"][0]["pitch"] == 7680
    document = json.loads(run_cffpy(*TILES, "--attachments", "RGBA8,D24S8", "--json").stdout)
    assert document["schema"] == "cffpy.layout.tiles/1"
    assert (document["tile0"], document["tile_count"]) == ([480, 368], [4, 3])
    assert [place["offset"] for place in document["gmem"]] == [0, 0xC0000]
    done = run_cffpy("layout", "lrz", "--gpu", "740", "--size", "1920x1080", "--json")
    assert json.loads(done.stdout)["result"]["pitch"] == 256
    tile = ("layout", "tile", "--gpu", "650", "--format", "RGBA8", "--size", "256x256")
    done = run_cffpy(*tile, "17,33", "--json")
    assert json.loads(done.stdout)["texels"] == [{"x": 17, "y": 33, "offset": 0x870C}]


def test_a_drawing(run_cffpy: Run) -> None:
    done = run_cffpy(*TILES, "--attachments", "RGBA8", "--svg", "-")
    assert ElementTree.fromstring(done.stdout).tag.endswith("svg")


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


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("layout", "image", "--gpu", "650"), 2, "--format is missing"),
        (("layout", "image", "--gpu", "1", "--format", "R8_UNORM", "--size", "4x4"), 1, "'1'"),
        (("layout", "image", "--gpu", "650", "--format", "R8", "--size", "4"), 2, "not a size"),
        (("layout", "image", "--gpu", "650", "--format", "R8", "--size", "0x4"), 1, "start at 1"),
        (("layout", "tile", "--gpu", "650", "--format", "RG8", "--size", "9x9"), 1, "not known"),
        (("layout", "tiles", "--gpu", "680", "--framebuffer", "9x9"), 1, "GMEM"),
        (("layout", "lrz", "--batch", "no such file"), 1, "no such file"),
    ],
)
def test_errors_are_one_line(
    run_cffpy: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = run_cffpy(*arguments)
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
