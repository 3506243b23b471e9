# SPDX-License-Identifier: MIT
"""docs/internals/layers.svg: the layers of the package, from the import rules in pyproject.toml.

What a box says comes from the docstring of its package or module.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from pathlib import Path

from cffpy.views.svg import FAINT, NEUTRAL, Svg

_WIDTH = 1000
_MARGIN = 20
_GAP = 10
_ARROW = 18
_LINE = 15
#: Characters of a description that fit in 100 pixels.
_PER_100 = 15.5


def layers(root: Path) -> list[list[str]]:
    """The layers from the top down, each with its packages, which do not import each other."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    rows = next(one["layers"] for one in contracts if one.get("containers") == ["cffpy"])
    return [[name.strip(" ()") for name in row.replace(":", "|").split("|")] for row in rows]


def description(root: Path, name: str) -> str:
    """The first sentence or line of a package's or module's docstring."""
    path = root / "cffpy" / name / "__init__.py"
    if not path.exists():
        path = root / "cffpy" / f"{name}.py"
    first = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]
    return first.rstrip(".").replace("``", "")


def drawing(root: Path) -> str:
    """The file's text."""
    rows = layers(root)
    drawn = [[(name, description(root, name)) for name in row] for row in rows]
    heights = [_row_height(row) for row in drawn]
    height = 2 * _MARGIN + sum(heights) + _ARROW * (len(rows) - 1)
    svg = Svg(_WIDTH, height, "cffpy: a layer imports only from layers below it")
    top = _MARGIN
    for number, (row, row_height) in enumerate(zip(drawn, heights, strict=True)):
        _draw_row(svg, row, top, row_height)
        top += row_height
        if number < len(rows) - 1:
            middle = _WIDTH / 2
            svg.line([(middle, top + 2), (middle, top + _ARROW - 3)], FAINT, 1.5)
            svg.line(
                [
                    (middle - 5, top + _ARROW - 8),
                    (middle, top + _ARROW - 3),
                    (middle + 5, top + _ARROW - 8),
                ],
                FAINT,
                1.5,
            )
        top += _ARROW
    return "".join(f"{line}\n" for line in svg.lines())


def _box_width(row: list[tuple[str, str]]) -> float:
    return (_WIDTH - 2 * _MARGIN - _GAP * (len(row) - 1)) / len(row)


def _wrapped(text: str, width: float) -> list[str]:
    return textwrap.wrap(text, max(8, int((width - 20) * _PER_100 / 100)))


def _row_height(row: list[tuple[str, str]]) -> int:
    width = _box_width(row)
    return 30 + _LINE * max(len(_wrapped(text, width)) for _, text in row)


def _draw_row(svg: Svg, row: list[tuple[str, str]], top: float, height: float) -> None:
    width = _box_width(row)
    for number, (name, text) in enumerate(row):
        left = _MARGIN + number * (width + _GAP)
        svg.rectangle(left, top, width, height, NEUTRAL, FAINT)
        svg.text(left + 10, top + 19, name, 14, weight="bold")
        for line, part in enumerate(_wrapped(text, width)):
            svg.text(left + 10, top + 36 + line * _LINE, part, 12)
