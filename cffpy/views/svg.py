# SPDX-License-Identifier: MIT
"""Drawings as SVG: rectangles, lines, text, a scale of colours and its legend.

Coordinates are pixels of the drawing, y downwards. Text from captures may hold anything: what XML
cannot hold is replaced.
"""

from __future__ import annotations

from colorsys import hls_to_rgb
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Colours of outlines that are easy to distinguish, used in turn.
PALETTE = (
    "#1b6ca8",
    "#d1495b",
    "#2a9d6f",
    "#e08e0b",
    "#7b4ea3",
    "#00838f",
    "#a0522d",
    "#c2185b",
    "#558b2f",
    "#455a64",
)

INK = "#222222"
FAINT = "#8a8a8a"
PAPER = "#ffffff"
#: Filling where nothing is known.
NEUTRAL = "#f1f1ee"

#: Text on a light and on a dark colour of a scale: the same on any page.
_ON_LIGHT, _ON_DARK = "#212121", "#fefefe"

#: What the colours above become on a dark page.
_DARK = {INK: "#e4e4e4", FAINT: "#8a8a8a", PAPER: "#1c1c1e", NEUTRAL: "#2e2e30"}

#: Degrees between successive hues: the golden angle keeps any number of them apart.
_HUE_STEP = 137.508
_LIGHTNESS = (38, 56, 47)


def pipe_colour(position: int) -> str:
    """The colour of the VSC pipe at this position; no two of the 32 of a GPU have the same."""
    if position < len(PALETTE):
        return PALETTE[position]
    hue = position * _HUE_STEP % 360
    lightness = _LIGHTNESS[position % len(_LIGHTNESS)]
    red, green, blue = hls_to_rgb(hue / 360, lightness / 100, 0.7)
    return "#" + "".join(f"{round(part * 255):02x}" for part in (red, green, blue))


_FONT = "system-ui, sans-serif"

_LEGEND_STEPS = 24


class Svg:
    """A drawing that grows element by element. ``title`` is what a browser calls it."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width = width
        self.height = height
        self._title = title
        self._elements: list[str] = []

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str = "none",
        stroke: str | None = None,
        stroke_width: float = 1,
        dash: str | None = None,
        hint: str | None = None,
    ) -> None:
        """A rectangle. ``dash``: lengths of strokes and gaps; ``hint`` is shown on hovering."""
        attributes = _attributes(
            x=x,
            y=y,
            width=max(0.0, width),
            height=max(0.0, height),
            fill=fill,
            stroke=stroke,
            stroke_width=stroke_width if stroke else None,
            stroke_dasharray=dash,
        )
        if hint is None:
            self._elements.append(f"<rect{attributes}/>")
        else:
            self._elements.append(f"<rect{attributes}><title>{_escaped(hint)}</title></rect>")

    def text(
        self,
        x: float,
        y: float,
        content: str,
        size: float = 12,
        fill: str = INK,
        anchor: str = "start",
        weight: str | None = None,
    ) -> None:
        """One line whose base line is at ``y``. ``anchor``: start, middle or end is at ``x``.

        It does not catch the pointer, so that a rectangle below shows its hint.
        """
        attributes = _attributes(
            x=x,
            y=y,
            font_size=size,
            fill=fill,
            text_anchor=anchor,
            font_weight=weight,
            pointer_events="none",
        )
        self._elements.append(f"<text{attributes}>{_escaped(content)}</text>")

    def pipe_label(self, x: float, y: float, pipe: int, colour: str) -> None:
        """The number of a VSC pipe in the upper left corner of its outline, which is at (x, y)."""
        self.text(x + 6, y + 13, str(pipe), 10, colour, weight="bold")

    def line(
        self, points: Iterable[tuple[float, float]], stroke: str = INK, width: float = 1
    ) -> None:
        """Draw a line through points."""
        attributes = _attributes(
            points=" ".join(f"{number(x)},{number(y)}" for x, y in points),
            fill="none",
            stroke=stroke,
            stroke_width=width,
            stroke_linejoin="round",
            pointer_events="none",
        )
        self._elements.append(f"<polyline{attributes}/>")

    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        width, height = number(self.width), number(self.height)
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" style="max-width:100%;height:auto"'
            f' font-family="{_FONT}">'
        )
        yield f"<title>{_escaped(self._title)}</title>"
        yield f"<style>{_dark_rules()}</style>"
        yield f'<rect width="{width}" height="{height}" fill="{PAPER}"/>'
        yield from self._elements
        yield "</svg>"


def _dark_rules() -> str:
    """The style sheet for readers who prefer dark pages: it replaces colours by colours."""
    rules = "".join(
        f'[{attribute}="{light}"]{{{attribute}:{dark}}}'
        for light, dark in _DARK.items()
        for attribute in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


class ColourScale:
    """Colours for the numbers from ``low`` to ``high``: light to dark."""

    #: Stops of the scale: red, green, blue.
    _STOPS = ((247, 251, 230), (120, 198, 165), (44, 127, 184), (37, 52, 118))

    def __init__(self, low: float, high: float) -> None:
        self.low = low
        self.high = high

    def colour(self, value: float) -> str:
        """The colour of a number; of the nearer end if it is outside of the scale."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        position = min(1.0, max(0.0, share)) * (len(self._STOPS) - 1)
        index = min(int(position), len(self._STOPS) - 2)
        part = position - index
        pairs = zip(self._STOPS[index], self._STOPS[index + 1], strict=True)
        return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)

    def ink(self, value: float) -> str:
        """A colour for text on ``colour(value)``."""
        red, green, blue = bytes.fromhex(self.colour(value)[1:])
        return _ON_LIGHT if red * 299 + green * 587 + blue * 114 > 128_000 else _ON_DARK

    def legend(self, svg: Svg, x: float, y: float, width: float, label: str) -> None:
        """Draw the scale below ``label``, with its ends; 40 pixels high."""
        svg.text(x, y + 10, label)
        step = width / _LEGEND_STEPS
        span = self.high - self.low
        for position in range(_LEGEND_STEPS):
            colour = self.colour(self.low + span * position / (_LEGEND_STEPS - 1))
            svg.rectangle(x + position * step, y + 16, step + 0.5, 10, colour)
        svg.text(x, y + 38, number(self.low), 10)
        svg.text(x + width, y + 38, number(self.high), 10, anchor="end")


def number(value: float) -> str:
    """At most two decimals, no needless zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _attributes(**values: float | str | None) -> str:
    parts = []
    for name, value in values.items():
        if value is not None:
            text = value if isinstance(value, str) else number(value)
            parts.append(f" {name.replace('_', '-')}={quoteattr(_representable(text))}")
    return "".join(parts)


def _escaped(text: str) -> str:
    return escape(_representable(text))


def _representable(text: str) -> str:
    """Without characters that XML 1.0 forbids."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
