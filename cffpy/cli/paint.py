# SPDX-License-Identifier: MIT
"""Colours of drawings in a terminal, by rich: as many as the terminal has.

Whether there are colours at all is decided by ``cli/output.py: use_colour``. Each colour says again
what characters say: how full a cell is, or which mode a pass has.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

if TYPE_CHECKING:
    from cffpy.views.plain_text import Painted

#: From little to much: dark blue over green to yellow, which also differ in lightness.
_HEAT = (
    "on #2d2f7a",
    "on #31508a",
    "on #2b6c8d",
    "on #24868d",
    "on #209f86",
    "#000000 on #3db876",
    "#000000 on #74cf57",
    "#000000 on #b3dc31",
    "#000000 on #fde625",
)

_MODE_STYLES = {
    **{
        f"heat {number}": text if text[0] == "#" else f"#ffffff {text}"
        for number, text in enumerate(_HEAT, 1)
    },
    "gmem": "#4aa3df",
    "sysmem": "#b48ade",
}

_SYSTEMS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}


def paint(line: Painted) -> str:
    """The line with escape sequences for its parts; a style without a colour changes nothing."""
    pieces, end = [], 0
    system = _color_system()
    for begin, stop, name in line.parts:
        pieces.append(line[end:begin])
        style = _style(name)
        text = line[begin:stop]
        pieces.append(text if style is None else style.render(text, color_system=system))
        end = stop
    pieces.append(line[end:])
    return "".join(pieces)


@cache
def _style(name: str) -> Style | None:
    text = _MODE_STYLES.get(name)
    return None if text is None else Style.parse(text)


def _color_system() -> ColorSystem:
    """What the terminal has, by TERM and COLORTERM."""
    environment = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
    system = Console(force_terminal=True, no_color=False, _environ=environment).color_system
    return _SYSTEMS.get(system or "", ColorSystem.STANDARD)
