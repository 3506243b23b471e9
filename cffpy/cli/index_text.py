# SPDX-License-Identifier: MIT
"""Answers of indexes as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.index.reader import IndexedShader, RegisterValueCount


def value_lines(found: Iterable[RegisterValueCount]) -> list[str]:
    """A line for each value."""
    heading = ("gpu", "register", "value", "captures", "draws", "first capture", "decoded")
    rows = [
        (
            f"a{one.generation}xx",
            one.register,
            "unknown" if one.value is None else f"{one.value:#x}",
            str(one.captures),
            str(one.draws),
            visible(one.first_capture),
            one.decoded,
        )
        for one in found
    ]
    return headed_columns([heading, *rows], right={3, 4})


def shader_lines(found: Iterable[IndexedShader]) -> Iterator[str]:
    """Statistics, places, then the listing."""
    for one in found:
        yield Styled(f"{one.stage} {one.digest}")
        yield f"{one.bytes} bytes, {one.instructions} instructions{_statistics(one)}"
        yield f"{one.captures} captures, {one.uses} draws"
        for capture, number, uses in one.places:
            yield f"  {visible(capture)}: shader {number}, {uses} draws"
        if one.captures > len(one.places):
            yield f"  and {one.captures - len(one.places)} more captures"
        yield ""
        yield from map(visible, one.listing.splitlines())


def _statistics(one: IndexedShader) -> str:
    numbers = (
        ("half", one.half),
        ("full", one.full),
        ("constlen", one.constlen),
        ("(ss)", one.ss),
        ("(sy)", one.sy),
    )
    return "".join(f", {number} {name}" for name, number in numbers if number is not None)
