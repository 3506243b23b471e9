# SPDX-License-Identifier: MIT
"""Images: what a view says of pitches, layers and UBWC flags, against ``image_layout``.

A view does not say of which level it is, nor how many levels and which size the image has. So all
images are tried that the view may be of: with the size of the view itself; with sizes that other
views of the capture have; with the view's size doubled for each level above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.errors import CffpyError
from cffpy.frame.facts import described
from cffpy.image.layout import LINEAR, TILE_3, ImageRequest, image_layout, minify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.image_views import ImageView
    from cffpy.image.devices import Device
    from cffpy.image.layout import ImageLayout

Answer = Literal["agrees", "differs", "not decidable"]
ANSWERS: tuple[Answer, ...] = ("agrees", "differs", "not decidable")

#: Levels of an image, at most: no side has more than 16,384 texels.
_MAX_LEVELS = 15
_MAX_SIDE = 1 << (_MAX_LEVELS - 1)
#: Sizes of other views that are tried, layers, layouts that are kept.
_MAX_SIZES, _MAX_LAYERS, _MAX_KEPT = 256, 2048, 1 << 14

#: Every base is aligned to this number of bytes, those of images to more; rows of tiled images to
#: this number of texels.
_LEAST_ALIGNMENT, _TILED_TEXELS = 64, 64

#: What a LayoutDifference is of: the least size of a slice of a 3D image.
SLICE_SIZE = "least size of a slice"

#: Narrower levels are linear, unless all are tiled.
_NARROW = 16

#: Width, height, depth.
_Sides = tuple[int, int, int]


@described(
    "difference",
    what="what it is",
    found="the value in the capture",
    calculated="the calculated value",
)
class LayoutDifference(NamedTuple):
    """A value that is not the calculated one."""

    # numbers of bytes or pixels, or words

    what: str
    found: int | str
    calculated: int | str

    def __str__(self) -> str:
        text = f"{self.what} {_shown(self.found)}, calculated {_shown(self.calculated)}"
        if isinstance(self.found, int) and isinstance(self.calculated, int):
            return f"{text} ({self.found - self.calculated:+})"
        return text


def _shown(value: int | str) -> str:
    return f"{value} ({value:#x})" if isinstance(value, int) and value >= 4096 else str(value)


class Comparison(NamedTuple):
    """The result. ``note``: how it agrees, or why that cannot be decided."""

    answer: Answer
    note: str = ""
    differences: tuple[LayoutDifference, ...] = ()


class _Variant(NamedTuple):
    """What of an image does not follow from a view of it."""

    tile_mode: int
    tile_all: bool
    is_mutable: bool
    ubwc: bool


class _Candidate(NamedTuple):
    """An image that a view may be of, and the level that it begins with."""

    request: ImageRequest
    level: int
    is_guess: bool

    def __str__(self) -> str:
        one = self.request
        size = f"{one.width}x{one.height}{f'x{one.depth}' if one.is_3d else ''}"
        levels = f" with {one.levels} levels" if one.levels > 1 else ""
        return f"level {self.level} of an image of {size}{levels}"


class ImageComparer:
    """Compares the views of one capture."""

    def __init__(self, part: Device, sizes: Iterable[_Sides]) -> None:
        """``sizes``: those of all views of the capture."""
        self._part = part
        self._sizes = list(dict.fromkeys(sizes))[:_MAX_SIZES]
        self._layouts: dict[ImageRequest, ImageLayout | None] = {}

    def compare(self, view: ImageView, *, is_exact: bool, memory: int = 0) -> Comparison:
        """``is_exact``: its size is that of the level; else the level may be larger.

        ``memory``: declared bytes from its address to the end of the buffer, 0 for no buffer.
        """
        undecidable = _why_not(view)
        if undecidable:
            return Comparison("not decidable", undecidable)
        nearest: tuple[LayoutDifference, ...] | None = None
        for candidate in self._candidates(view, is_exact):
            layout = self._layout(candidate.request)
            if layout is None:
                continue
            differences = tuple(_differences(view, layout, candidate.level, memory))
            if not differences:
                plain = candidate.level == 0 and not candidate.is_guess
                return Comparison("agrees", "" if plain else str(candidate))
            if nearest is None or (candidate.level == 0 and len(differences) < len(nearest)):
                nearest = differences
        if nearest is None:
            return Comparison("not decidable", "no layout of such an image is known")
        if not is_exact and _is_wider(view, nearest):
            return Comparison(
                "not decidable", "the image is larger than the framebuffer; its size is not known"
            )
        return Comparison("differs", differences=nearest)

    def find(self, view: ImageView) -> tuple[ImageLayout, int] | None:
        """The layout that agrees with a view, and the level that the view begins with."""
        if _why_not(view):
            return None
        for candidate in self._candidates(view, True):
            layout = self._layout(candidate.request)
            if layout is not None and not any(_differences(view, layout, candidate.level, 0)):
                return layout, candidate.level
        return None

    def _layout(self, request: ImageRequest) -> ImageLayout | None:
        if request not in self._layouts:
            if len(self._layouts) >= _MAX_KEPT:
                self._layouts.clear()
            part = self._part
            self._layouts[request] = image_layout(
                request, part.generation, part.has_linear_mip_fallback
            )
        return self._layouts[request]

    # -- images that a view may be of -----------------------------------------------------------

    def _candidates(self, view: ImageView, is_exact: bool) -> Iterator[_Candidate]:
        own = view.width, view.height, view.depth
        yield from self._of_size(view, own, 0, False)
        for size in self._sizes:
            if not is_exact and size[0] >= own[0] and size[1] >= own[1] and size != own:
                yield from self._of_size(view, size, 0, True)
        for level in range(1, _MAX_LEVELS):
            for size in self._sizes:
                if tuple(minify(side, level) for side in size[:2]) == own[:2]:
                    yield from self._of_size(view, size, level, True)
            width, height = own[0] << level, own[1] << level
            if max(width, height) <= _MAX_SIDE:
                depth = own[2] << level if view.is_3d else 1
                yield from self._of_size(view, (width, height, depth), level, True)
        if not is_exact:
            yield from self._of_size(view, _largest(view), 0, True)

    def _of_size(
        self, view: ImageView, size: _Sides, level: int, is_guess: bool
    ) -> Iterator[_Candidate]:
        """Images of this size: how many levels they have, and what else the view does not say."""
        full = max(*size[:2], size[2] if view.is_3d else 1).bit_length()
        least = level + view.levels
        for variant in _variants(view, level):
            # a quick test; at level 0 of the view's own size, differences are to be shown
            if level and not self._has_pitch(view, size, level, variant):
                continue
            for levels in range(least, max(full, least) + 1):
                request = _request(view, size, levels, variant)
                if request is not None:
                    yield _Candidate(request, level, is_guess)

    def _has_pitch(self, view: ImageView, size: _Sides, level: int, variant: _Variant) -> bool:
        request = _request(view, size, level + 1, variant)
        layout = None if request is None else self._layout(request)
        return layout is not None and layout.levels[level].pitch == view.pitch


def _variants(view: ImageView, level: int) -> Iterator[_Variant]:
    """What a view does not say of its image."""
    assert view.form is not None
    mutables = (False, True) if view.form.is_r8g8 else (False,)
    for tile_all in (False, True) if view.tile_all is None else (view.tile_all,):
        for is_mutable in mutables:
            if view.tile_mode is None:
                yield _Variant(LINEAR, tile_all, is_mutable, view.ubwc)
            yield _Variant(
                TILE_3 if view.tile_mode is None else view.tile_mode,
                tile_all,
                is_mutable,
                view.ubwc,
            )
            if level and view.tile_mode == LINEAR and view.width < _NARROW:
                # a narrow level of a tiled image is linear, and has no flags
                for ubwc in (False, True):
                    yield _Variant(TILE_3, tile_all, is_mutable, ubwc)


def _why_not(view: ImageView) -> str:
    """Why nothing can be calculated for a view; empty where it can."""
    if view.form is None:
        return f"no layout of {view.format} is known"
    if not view.address:
        return "base 0"
    if view.tile_mode not in (None, LINEAR, TILE_3):
        return f"the layout of tile mode {view.tile_mode} is not known"
    if view.tile_mode == LINEAR and view.layer_pitch == 0:
        return "linear, without a layer size: drivers read buffers so"
    return ""


def _request(view: ImageView, size: _Sides, levels: int, variant: _Variant) -> ImageRequest | None:
    assert view.form is not None
    try:
        return ImageRequest(
            view.form,
            size[0],
            size[1],
            size[2] if view.is_3d else 1,
            levels,
            1,  # layers follow each other, so that one is enough
            view.samples,
            view.is_3d,
            variant.tile_mode,
            variant.ubwc,
            variant.tile_all,
            variant.is_mutable,
        )
    except CffpyError:
        return None


def _largest(view: ImageView) -> _Sides:
    """The largest image that has the pitches of a view."""
    assert view.form is not None
    cpp = view.form.block_bytes * view.samples
    width = min(_MAX_SIDE, max(view.width, view.pitch // cpp * view.form.block_width))
    height = view.height
    if view.layer_pitch and view.pitch:
        height = max(height, view.layer_pitch // view.pitch * view.form.block_height)
    return width, min(_MAX_SIDE, height), view.depth


def _is_wider(view: ImageView, differences: tuple[LayoutDifference, ...]) -> bool:
    """Whether all that differs is that pitches are larger, and as aligned."""
    for one in differences:
        if one.what not in ("pitch", "layer size", "flags at base -"):
            return False
        found, calculated = int(one.found), int(one.calculated)
        if found < calculated or found % _LEAST_ALIGNMENT:
            return False
    return bool(view.pitch)


def is_impossible(view: ImageView) -> bool:
    """Whether no image has such a view, of any driver, size and number of levels.

    Rows overlap, or rows or the base are off the alignment that the hardware needs. False where
    nothing can be calculated, as of an attachment in GMEM that is read as a texture.
    """
    if view.form is None or _why_not(view):
        return False
    cpp = view.form.block_bytes * view.samples
    row = -(-view.width // view.form.block_width) * cpp
    is_off = bool(view.tile_mode) and view.pitch % (_TILED_TEXELS * cpp) != 0
    return view.pitch < row or is_off or view.address % _LEAST_ALIGNMENT != 0


# -- one view and one layout ----------------------------------------------------------------------


def _differences(
    view: ImageView, layout: ImageLayout, level: int, memory: int
) -> Iterator[LayoutDifference]:
    one = layout.levels[level]
    if view.tile_mode is not None and view.tile_mode != one.tile_mode:
        yield LayoutDifference("tile mode", view.tile_mode, one.tile_mode)
    if view.pitch != one.pitch:
        yield LayoutDifference("pitch", view.pitch, one.pitch)
    step = layout.layer_size if layout.layer_first else one.size
    if view.layer_pitch is not None and view.layer_pitch != step:
        yield LayoutDifference("layer size", view.layer_pitch, step)
    if view.is_3d:
        yield from _slice_differences(view, layout)
    if level == 0 and layout.base_align and view.address % layout.base_align:
        yield LayoutDifference("base modulo alignment", view.address % layout.base_align, 0)
    if view.ubwc:
        yield from _flag_differences(view, layout, level)
    needed = _needed(view, layout, level)
    if memory and memory < needed:
        yield LayoutDifference("bytes to the end of the buffer", memory, needed)


def _slice_differences(view: ImageView, layout: ImageLayout) -> Iterator[LayoutDifference]:
    least = layout.min_layer_size
    if view.levels > 1 and view.min_layer not in (least, layout.levels[-1].size):
        yield LayoutDifference(SLICE_SIZE, view.min_layer, least)


def _flag_differences(
    view: ImageView, layout: ImageLayout, level: int
) -> Iterator[LayoutDifference]:
    one = layout.levels[level]
    if not layout.ubwc or one.tile_mode == LINEAR:
        yield LayoutDifference("compression", "UBWC", "none")
        return
    if view.flag_pitch is not None and view.flag_pitch != one.ubwc_pitch:
        yield LayoutDifference("pitch of flags", view.flag_pitch, one.ubwc_pitch)
    step = layout.ubwc_layer_size
    if view.flag_layer_pitch is not None and view.flag_layer_pitch != step:
        yield LayoutDifference("layer size of flags", view.flag_layer_pitch, step)
    if view.flags is not None and not _follows_flags(view, layout, level):
        expected = layout.layer_offset(level, 0) - one.ubwc_offset
        yield LayoutDifference("flags at base -", view.address - view.flags, expected)


def _follows_flags(view: ImageView, layout: ImageLayout, level: int) -> bool:
    """Whether pixels lie after the flags of all layers, for some number of layers.

    Flags of all layers, or slices, come first; the view may begin with any of them.
    """
    assert view.flags is not None
    step, one = layout.ubwc_layer_size, layout.levels[level]
    size = layout.layer_size if layout.layer_first else one.size
    # the layout was made for one layer, or for the slices of a view
    before = one.offset - step * (view.depth if view.is_3d else 1) - one.ubwc_offset
    rest = view.address - view.flags - before
    for layer in range(_MAX_LAYERS):
        if rest < step:
            return False
        if rest % step == 0 and rest // step >= layer + max(view.layers, view.depth):
            return True
        rest -= size - step
    return False


def _needed(view: ImageView, layout: ImageLayout, level: int) -> int:
    """Bytes from the base of a view to the end of its last layer or slice."""
    last = level + view.levels - 1
    end = layout.levels[last]
    number = view.layers
    if view.is_3d:
        number = minify(view.depth, view.levels - 1)
    return layout.layer_offset(last, number - 1) + end.size - layout.levels[level].offset
