# SPDX-License-Identifier: MIT
"""Sizes and rectangles of framebuffers, tiles and scissors, in pixels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class Size:
    """Width and height."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(slots=True, frozen=True)
class Rectangle:
    """``right`` and ``bottom`` are one past the last pixel."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def size(self) -> Size:
        """Width and height; 0 where it is empty."""
        return Size(max(0, self.right - self.left), max(0, self.bottom - self.top))

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
        """The intersection of both."""
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
