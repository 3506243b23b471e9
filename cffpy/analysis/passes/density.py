# SPDX-License-Identifier: MIT
"""Fragment density maps: the scale of each tile, by the commands that its driver patched.

A tile is rendered with x' = s * x + o, for each view: s shrinks it, o keeps its start where the
window offset b_cs is, so o = b_cs - s * b_s, and o is an integer. b_s is where the tile starts in
the framebuffer: b_cs, unless the driver shifts the bins of a view. s and o are read from patched
viewports, b_s from the blits that store the tile; contradictions are reported. The
GPU itself may add o (``bin_scaling``).

Facts: turnip of Mesa 25.0.7, docs/drivers/freedreno/fragment-density-map.rst.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cffpy.analysis.passes.geometry import Rectangle

#: x and y.
Pair = tuple[float, float]

#: Pixels by which coordinates out of 32-bit floats may be off.
PIXELS = 1 / 64

#: By how much, relatively, ratios of 32-bit floats may be off.
_RELATIVE = 1e-5

_SHOWN_PROBLEMS = 32

#: Larger numbers are shown as powers of ten.
_MOST_DIGITS = 1e9


@dataclass(slots=True, frozen=True)
class Viewport:
    """GRAS_CL_VPORT: centre and half the size, in pixels."""

    x_offset: float
    x_scale: float
    y_offset: float
    y_scale: float


@dataclass(slots=True, frozen=True)
class ViewportPatch:
    """One viewport as patched for a tile; ``unscaled`` as it is for the framebuffer."""

    number: int
    patched: Viewport
    unscaled: Viewport | None

    @property
    def scale(self) -> Pair | None:
        """s, exact if it is 1/n; None if it is unknown."""
        if self.unscaled is None:
            return None
        x = scale_between(self.patched.x_scale, self.unscaled.x_scale)
        y = scale_between(self.patched.y_scale, self.unscaled.y_scale)
        return None if x is None or y is None else (x, y)

    @property
    def offset(self) -> Pair | None:
        """What is left of o without what the GPU adds, relative to the unscaled viewport."""
        scale, unscaled = self.scale, self.unscaled
        if scale is None or unscaled is None:
            return None
        return (
            self.patched.x_offset - scale[0] * unscaled.x_offset,
            self.patched.y_offset - scale[1] * unscaled.y_offset,
        )


@dataclass(slots=True, frozen=True)
class ScissorPatch:
    """One scissor as patched for a tile, and as it is for the framebuffer."""

    number: int
    patched: Rectangle
    unscaled: Rectangle | None


@dataclass(slots=True)
class ViewDensity:
    """How one view of a tile is scaled. ``number``: of the view, else of the viewport."""

    number: int
    scale: Pair | None = None
    scale_from: Literal["viewport", "store"] | None = None
    #: o: as patched, and what the GPU adds.
    offset: Pair | None = None
    #: b_cs - s * b_s.
    expected_offset: Pair | None = None
    #: Whether o is that, and an integer; None where either is not known.
    fits: bool | None = None
    #: b_s, in the framebuffer; ``is_start_stored``: as a store has it, else taken to be b_cs.
    bin_start: tuple[int, int] | None = None
    is_start_stored: bool = False
    viewport: Viewport | None = None
    scissor: Rectangle | None = None


@dataclass(slots=True)
class Density:
    """What was patched for a tile, and the scales that follow from it."""

    #: Writes of commands, and their dwords.
    writes: int = 0
    dwords: int = 0
    viewports: list[ViewportPatch] = field(default_factory=list)
    scissors: list[ScissorPatch] = field(default_factory=list)
    #: Where unscaled viewports come from.
    unscaled_from: Literal["binning run", "memory at the submit", "stores"] | None = None
    #: Executed draws of the program whose viewport is not a patched one.
    unpatched_draws: int = 0
    #: Each view has its own scale; else all have the same.
    is_per_view: bool = False
    #: What the GPU adds to coordinates of each view, in pixels (``bin_offsets``); () for nothing.
    moved: tuple[tuple[int, int], ...] = ()
    views: list[ViewDensity] = field(default_factory=list)
    #: Contradictions, in words.
    problems: list[str] = field(default_factory=list)

    def moved_by(self, number: int) -> tuple[int, int]:
        """What the GPU adds to x and y of a view or viewport, in pixels."""
        index = number if self.is_per_view else 0
        return self.moved[index] if index < len(self.moved) else (0, 0)

    def offset_of(self, patch: ViewportPatch) -> Pair | None:
        """The offset of a viewport: its own, and what the GPU adds."""
        own, (x, y) = patch.offset, self.moved_by(patch.number)
        return None if own is None else (own[0] + x, own[1] + y)

    def flag(self, problem: str) -> None:
        """Note a contradiction."""
        if len(self.problems) < _SHOWN_PROBLEMS and problem not in self.problems:
            self.problems.append(problem)


def scale_between(scaled: float, unscaled: float) -> float | None:
    """Their ratio, exact if it is 1/n; None if they have none."""
    if not scaled or not unscaled or (scaled < 0) != (unscaled < 0):
        return None
    ratio = scaled / unscaled
    inverse = round(1 / ratio)
    if inverse and abs(ratio * inverse - 1) < _RELATIVE:
        return 1 / inverse
    return ratio


def number_text(number: float) -> str:
    """An integer without a fraction; a scale of 1/n as that."""
    if abs(number) < _MOST_DIGITS and number == round(number):
        return str(round(number))
    inverse = round(1 / number) if abs(number) < 1 else 0
    return f"1/{inverse}" if inverse > 0 and number == 1 / inverse else f"{number:.6g}"


def pair_text(pair: Pair | None) -> str:
    """Two scales: ``1/2 x 1``."""
    return "unknown" if pair is None else " x ".join(map(number_text, pair))


def point_text(point: Pair | None) -> str:
    """A point: ``480,0``."""
    return "unknown" if point is None else ",".join(map(number_text, point))
