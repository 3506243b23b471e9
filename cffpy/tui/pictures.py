# SPDX-License-Identifier: MIT
"""Pictures as lines of half blocks: each character is two pixels, one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.errors import CffpyError
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.frame.pictures import NamedImage, Picture

#: The upper half of a character's cell.
HALF = "\N{UPPER HALF BLOCK}"

#: Texels of an image, pictures of a page, characters in a row, at most.
_MAX_TEXELS, _MAX_PICTURES, _MAX_WIDTH = 1 << 24, 32, 200

#: A row of pixels that is not there: below the last of an odd number.
_BLACK = (0, 0, 0)

Colour = tuple[int, int, int]


class PixelLine(str):
    """Two rows of pixels: ``pixels`` has the upper and the lower colour of each character."""

    pixels: tuple[tuple[Colour, Colour], ...]

    def __new__(cls, pixels: Iterable[tuple[Colour, Colour]]) -> PixelLine:
        """The line; as text it is half blocks."""
        line = tuple(pixels)
        made = super().__new__(cls, HALF * len(line))
        made.pixels = line
        return made


def pixel_lines(picture: Picture, width: int, height: int) -> Iterator[PixelLine]:
    """A picture in at most ``width`` characters and ``height`` lines."""
    small = picture.scaled(min(width, _MAX_WIDTH), 2 * height)
    rows = [_colours(small, row) for row in range(small.height)]
    for top in range(0, len(rows), 2):
        lower = rows[top + 1] if top + 1 < len(rows) else [_BLACK] * small.width
        yield PixelLine(zip(rows[top], lower, strict=True))


def _colours(picture: Picture, row: int) -> list[Colour]:
    """A row as colours; alpha is not shown."""
    size = len(picture.mode)
    data = picture.pixels[row * picture.width * size : (row + 1) * picture.width * size]
    if size == 1:
        return [(value, value, value) for value in data]
    return [(data[at], data[at + 1], data[at + 2]) for at in range(0, len(data), size)]


def picture_page(images: Iterable[NamedImage], width: int, height: int) -> Iterator[str]:
    """The pictures of images below their names, or why there are none. Sizes: characters."""
    for number, image in enumerate(images):
        if number == _MAX_PICTURES:
            yield "more images are not shown"
            return
        yield visible(str(image) if image.image is None else f"{image}: {image.image.view}")
        try:
            yield from _picture(image, width, height)
        except CffpyError as problem:
            yield visible(f"  {problem}")
        yield ""


def _picture(image: NamedImage, width: int, height: int) -> Iterator[str]:
    if image.image is None:
        yield f"  {visible(image.problem)}"
        return
    view = image.image.view
    if view.width * view.height > _MAX_TEXELS:
        yield f"  {view.width * view.height:,} texels are too many for this page"
        return
    picture = image.image.picture()
    for note in picture.notes:
        yield f"  {visible(note)}"
    yield from pixel_lines(picture, width, height)
