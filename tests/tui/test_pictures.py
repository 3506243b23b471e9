# SPDX-License-Identifier: MIT
"""Pictures in a terminal: two pixels a character."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="Pillow is not installed: pip install 'cffpy[image]'")

import cffpy
from cffpy.frame.pictures import Picture
from cffpy.tui.pictures import HALF, PixelLine, picture_page, pixel_lines


def test_two_rows_are_one_line() -> None:
    rgb = bytes(range(3 * 2 * 3))  # two pixels a row, three rows
    upper, lower = pixel_lines(Picture(2, 3, "RGB", rgb, 0, 1), 80, 24)
    assert upper == HALF * 2
    assert upper.pixels == (((0, 1, 2), (6, 7, 8)), ((3, 4, 5), (9, 10, 11)))
    assert [below for _, below in lower.pixels] == [(0, 0, 0)] * 2


def test_a_large_picture_fits() -> None:
    grey = Picture(300, 100, "L", bytes(300 * 100), 0, 1)
    lines = list(pixel_lines(grey, 60, 20))
    assert len(lines[0]) == 60
    assert len(lines) == 10


def test_the_page_of_a_draw(samples: Path) -> None:
    with cffpy.open(samples / "a660-textures.rd") as capture:
        draw = capture.draws[0]
        page = list(picture_page(draw.images, 40, 10))
        assert len([line for line in page if line.startswith(("texture", "target"))]) == len(
            draw.images
        )
        assert any(isinstance(line, PixelLine) or "nothing to show" in line for line in page)
        assert any(isinstance(line, PixelLine) for line in page), page
        one = capture.passes[0]
        assert [str(image) for image in one.images] == [
            f"target {number} ({target.name})" for number, target in enumerate(one.attachments)
        ]
