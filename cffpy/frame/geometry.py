# SPDX-License-Identifier: MIT
"""Sizes, rectangles and positions, in pixels unless said otherwise."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.frame.facts import described, fact, model, stored


@model("size", frozen=True)
class Size:
    """Width and height."""

    width: int = stored("width")
    height: int = stored("height")

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@described("point", x="pixels from the left", y="pixels from the top")
class Point(NamedTuple):
    """A position."""

    x: int
    y: int


@described("vector", x="the number in x", y="the number in y")
class Vector(NamedTuple):
    """A factor or a distance in x and in y."""

    x: float
    y: float


@described(
    "cell", column="number of the column, from the left", row="number of the row, from the top"
)
class Cell(NamedTuple):
    """A bin's position in the grid of bins."""

    column: int
    row: int

    def __str__(self) -> str:
        return f"{self.column},{self.row}"


@model("rectangle", frozen=True)
class Rectangle:
    """``right`` and ``bottom`` are one past the last pixel."""

    left: int = stored("left edge")
    top: int = stored("top edge")
    right: int = stored("one past the right edge")
    bottom: int = stored("one past the bottom edge")

    @fact()
    def width(self) -> int:
        """Its width; 0 where it is empty."""
        return max(0, self.right - self.left)

    @fact()
    def height(self) -> int:
        """Its height; 0 where it is empty."""
        return max(0, self.bottom - self.top)

    @property
    def size(self) -> Size:
        """Width and height; 0 where it is empty."""
        return Size(self.width, self.height)

    @classmethod
    def around(cls, rectangles: list[Rectangle]) -> Rectangle:
        """The smallest rectangle that contains these; there must be one at least."""
        return cls(
            min(rectangle.left for rectangle in rectangles),
            min(rectangle.top for rectangle in rectangles),
            max(rectangle.right for rectangle in rectangles),
            max(rectangle.bottom for rectangle in rectangles),
        )

    def common(self, other: Rectangle) -> Rectangle:
        """The intersection with another rectangle."""
        return Rectangle(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def rounded(self, width: int, height: int) -> Rectangle:
        """This, rounded outwards to blocks of this size."""
        return Rectangle(
            self.left // width * width,
            self.top // height * height,
            -(-self.right // width) * width,
            -(-self.bottom // height) * height,
        )

    def __str__(self) -> str:
        return f"{self.left},{self.top}+{self.size}"
