# SPDX-License-Identifier: MIT
"""Fragment density maps: the scale of each tile, by the commands that its driver patched.

A tile is rendered with x' = s * x + o, for each view: s shrinks it, o keeps its start where the
window offset b_cs is, so o = b_cs - s * b_s, and o is an integer. b_s is where the tile starts in
the framebuffer: b_cs, unless the driver shifts the bins of a view by b_o = b_cs - b_s. s and o are
read from patched viewports, b_s from the blits that store the tile; contradictions are reported.

The GPU itself may scale bins (GRAS_BIN_FOVEAT, ``density_tracker.bin_offsets``): it adds a part o'
of the offset behind LRZ, and knows by s how large the pixels of LRZ are. LRZ lies shifted by b_o as
in the binning run, so o' = b_cs - (b_s + b_o) * s. In the first column or row, where bins only
shrink, o' would be negative; the register has no sign, and drivers align it to 8 pixels: else LRZ
has to be off, as for each scaled tile of a GPU that does not scale bins.

Facts: turnip of Mesa 25.0.7, and what Mesa's documentation says of fragment density maps.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, NamedTuple

from cffpy.frame.facts import model, stored
from cffpy.frame.geometry import Point, Rectangle, Vector
from cffpy.frame.objects import ModelObject

#: Which of what was patched tells a scale.
ScaleFrom = Literal["viewport", "store"]
#: Where unscaled viewports come from.
UnscaledFrom = Literal["binning run", "memory at the submit", "stores"]

#: Pixels by which coordinates out of 32-bit floats may be off.
PIXELS = 1 / 64

#: Pixels to which the offset behind LRZ is aligned.
LRZ_ALIGNMENT = 8

#: By how much, relatively, ratios of 32-bit floats may be off.
_RELATIVE = 1e-5

_SHOWN_PROBLEMS = 32

#: Larger numbers are shown as powers of ten.
_MOST_DIGITS = 1e9


@model("viewport", frozen=True)
class Viewport:
    """A viewport as the GPU has it: the scale and offset of GRAS_CL_VPORT."""

    x_offset: float = stored("its centre in x", "pixels")
    x_scale: float = stored("half its width", "pixels")
    y_offset: float = stored("its centre in y", "pixels")
    y_scale: float = stored("half its height; negative if y rises upwards", "pixels")


class ViewportPatch(NamedTuple):
    """One viewport as patched for a tile; ``unscaled`` as it is for the framebuffer."""

    number: int
    patched: Viewport
    unscaled: Viewport | None

    @property
    def scale(self) -> Vector | None:
        """s, exact if it is 1/n; None if it is unknown."""
        if self.unscaled is None:
            return None
        x = scale_between(self.patched.x_scale, self.unscaled.x_scale)
        y = scale_between(self.patched.y_scale, self.unscaled.y_scale)
        return None if x is None or y is None else Vector(x, y)

    @property
    def offset(self) -> Vector | None:
        """What is left of o without what the GPU adds, relative to the unscaled viewport."""
        scale, unscaled = self.scale, self.unscaled
        if scale is None or unscaled is None:
            return None
        return Vector(
            self.patched.x_offset - scale.x * unscaled.x_offset,
            self.patched.y_offset - scale.y * unscaled.y_offset,
        )


class ScissorPatch(NamedTuple):
    """One scissor as patched for a tile, and as it is for the framebuffer."""

    number: int
    patched: Rectangle
    unscaled: Rectangle | None


@model("view", is_value=True)
class ViewDensity:
    """How one view of a tile is scaled."""

    number: int = stored("number of the view or layer, else of the viewport")
    scale: Vector | None = stored("s", default=None)
    scale_from: ScaleFrom | None = stored("what tells the scale", default=None)
    offset: Vector | None = stored("o: as patched, and what the GPU adds", "pixels", default=None)
    expected_offset: Vector | None = stored("b_cs - s * b_s", "pixels", default=None)
    fits: bool | None = stored(
        "the offset is as expected, and an integer; None where either is not known", default=None
    )
    bin_start: Point | None = stored("b_s, in the framebuffer", "pixels", default=None)
    shift: Point | None = stored(
        "b_o: by how much the bins of the view are shifted to the left and up",
        "pixels",
        default=None,
    )
    gpu_scale: Vector | None = stored(
        "s as the GPU has it (GRAS_BIN_FOVEAT); None where it does not scale bins", default=None
    )
    lrz_offset: Point | None = stored(
        "o': what the GPU adds behind LRZ; None where it does not scale bins",
        "pixels",
        default=None,
    )
    expected_lrz_offset: Vector | None = stored("b_cs - (b_s + b_o) * s", "pixels", default=None)
    lrz_fits: bool | None = stored(
        "the GPU's scale and its offset behind LRZ are as expected; None where it scales no bins",
        default=None,
    )
    lrz_usable: bool | None = stored(
        "LRZ can find the tile's pixels: the tile is neither scaled nor shifted, or the GPU scales"
        " it and o' is not negative and a multiple of 8; None where the scale is not known",
        default=None,
    )
    is_start_stored: bool = stored(
        "a store of the tile has b_s; else it is taken to be b_cs", default=False
    )
    viewport: Viewport | None = stored("the viewport as patched", default=None)
    scissor: Rectangle | None = stored("the scissor as patched", "pixels", default=None)

    def __str__(self) -> str:
        if self.scale is None:
            return "unknown"
        scale = "x".join(map(number_text, self.scale))
        return scale if self.offset is None else f"{scale}+{point_text(self.offset)}"


@model("density", is_value=True)
class Density(ModelObject):
    """What was patched for a tile, and the scales that follow from it."""

    writes: int = stored("writes of commands", default=0)
    dwords: int = stored("their dwords", default=0)
    viewports: list[ViewportPatch] = field(default_factory=list)
    scissors: list[ScissorPatch] = field(default_factory=list)
    unscaled_from: UnscaledFrom | None = stored("where unscaled viewports come from", default=None)
    unpatched_draws: int = stored(
        "executed draws of the program whose viewport is not a patched one", default=0
    )
    is_per_view: bool = stored(
        "each view, or layer, has its own scale; else all have the same", default=False
    )
    is_per_layer: bool = stored(
        "the views are layers of a framebuffer without views", default=False
    )
    moved: tuple[Point, ...] = stored(
        "what the GPU adds to coordinates of each view; empty for nothing", "pixels", default=()
    )
    gpu_scales: tuple[Vector, ...] = stored(
        "the scale that the GPU applies to each view's bins; empty where it does not", default=()
    )
    views: list[ViewDensity] = stored("the scale of each view", default_factory=list)
    problems: list[str] = stored("contradictions, in words", default_factory=list)

    def moved_by(self, number: int) -> Point:
        """What the GPU adds to x and y of a view or viewport, in pixels."""
        index = number if self.is_per_view else 0
        return self.moved[index] if index < len(self.moved) else Point(0, 0)

    def offset_of(self, patch: ViewportPatch) -> Vector | None:
        """The offset of a viewport: its own, and what the GPU adds."""
        own, (x, y) = patch.offset, self.moved_by(patch.number)
        return None if own is None else Vector(own.x + x, own.y + y)

    def flag(self, problem: str) -> None:
        """Note that the numbers of the tile contradict each other."""
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


def pair_text(pair: Vector | None) -> str:
    """Two scales: ``1/2 x 1``."""
    return "unknown" if pair is None else " x ".join(map(number_text, pair))


def point_text(point: Point | Vector | None) -> str:
    """The text of a point, as ``480,0``."""
    return "unknown" if point is None else ",".join(map(number_text, point))
