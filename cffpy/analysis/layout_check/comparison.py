# SPDX-License-Identifier: MIT
"""Images, LRZ buffers and tiles of a capture against what is calculated for them.

Images: a view does not say of which level it is, nor how many levels and which size the image has.
So all images are tried that the view may be of: with the size of the view itself; with sizes that
other views of the capture have; with the view's size doubled for each level above it.

LRZ buffers: pitch, layer size and place of the fast-clear part, against ``lrz_layout``.

Tiles: their size and number, and the attachments in GMEM, against the drivers' rules. A capture
does not name its driver. A pass agrees if one rule gives all that it has: turnip's with both GMEM
layouts and with forced binning, or the Gallium driver's.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.image_views import attachment_views, stored_format
from cffpy.errors import CffpyError
from cffpy.frame.facts import described
from cffpy.frame.geometry import Size
from cffpy.image.gmem import gallium_tiles, turnip_tiles
from cffpy.image.layout import LINEAR, TILE_3, ImageRequest, image_layout, lrz_layout, minify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.formats import ImageFormat
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Pass
    from cffpy.frame.pictures import ImageView
    from cffpy.image.devices import Device
    from cffpy.image.gmem import Tiling
    from cffpy.image.layout import ImageLayout, LrzLayout

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
    "layout_difference",
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
    for difference in differences:
        if difference.what not in ("pitch", "layer size", "flags at base -"):
            return False
        found, calculated = int(difference.found), int(difference.calculated)
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


# -- LRZ buffers -----------------------------------------------------------------------------------


class LrzBuffer(NamedTuple):
    """An LRZ buffer as registers describe it.

    ``address``: of the LRZ data. ``pitch``: in LRZ texels. ``layer_pitch``: in bytes; None on a5xx,
    0 where the driver uses one layer. ``fast_clear``: address of the fast-clear part, or 0.
    """

    address: int
    pitch: int
    layer_pitch: int | None
    fast_clear: int

    def __str__(self) -> str:
        parts = [f"pitch {self.pitch}"]
        if self.layer_pitch:
            parts.append(f"layer size {self.layer_pitch:#x}")
        if self.fast_clear:
            parts.append(f"fast clear at {self.fast_clear:#x}")
        return ", ".join(parts)


def compare_lrz(part: Device, buffer: LrzBuffer, depth: ImageView | None) -> Comparison:
    """``depth``: the depth attachment, whose image may be larger than the framebuffer."""
    if depth is None:
        return Comparison("not decidable", "the pass has no depth buffer")
    nearest: tuple[LayoutDifference, ...] = ()
    for size in dict.fromkeys(_depth_sizes(depth)):
        try:
            layout = lrz_layout(
                part.generation, *size, depth.samples, has_fast_clear=part.has_lrz_fast_clear
            )
        except CffpyError as problem:
            return Comparison("not decidable", str(problem))
        differences = tuple(_lrz_differences(buffer, layout))
        if not differences:
            return Comparison("agrees", f"depth image of {size[0]}x{size[1]}")
        if not nearest or len(differences) < len(nearest):
            nearest = differences
    return Comparison("differs", differences=nearest)


def _depth_sizes(depth: ImageView) -> Iterator[tuple[int, int]]:
    """The framebuffer, then the largest size with the pitches of the depth buffer."""
    yield depth.width, depth.height
    if depth.form is None:
        return
    width = max(depth.width, depth.pitch // (depth.form.block_bytes * depth.samples))
    yield width, depth.height
    if depth.layer_pitch:
        height = max(depth.height, depth.layer_pitch // depth.pitch)
        yield depth.width, height
        yield width, height


def _lrz_differences(buffer: LrzBuffer, layout: LrzLayout) -> Iterator[LayoutDifference]:
    if buffer.pitch != layout.pitch:
        yield LayoutDifference("pitch", buffer.pitch, layout.pitch)
    if buffer.layer_pitch and buffer.layer_pitch != layout.layer_size:
        yield LayoutDifference("layer size", buffer.layer_pitch, layout.layer_size)
    if not buffer.fast_clear:
        return
    distance = buffer.fast_clear - buffer.address
    if layout.offset:  # a5xx: the flags come first
        if distance != -layout.offset:
            yield LayoutDifference("fast clear at base +", distance, -layout.offset)
    elif not layout.fast_clear_offset:
        yield LayoutDifference("fast clear at base +", distance, "none")
    elif distance <= 0 or distance % layout.layer_size:  # it follows the last layer
        yield LayoutDifference("fast clear at base +", distance, layout.fast_clear_offset)


# -- tiles -----------------------------------------------------------------------------------------

_TOO_LARGE = 1 << 15

#: End of the names of rules with turnip's smaller GMEM layout.
_AVOIDING = ", avoiding the colour cache"


class PassTiles(NamedTuple):
    """What a GMEM pass has."""

    size: Size
    #: The framebuffer may be smaller.
    is_limit: bool
    tile: Size
    grid: Size | None
    offsets: tuple[int, ...]
    pipe: tuple[int, int] | None

    def __str__(self) -> str:
        grid = "" if self.grid is None else f" in {self.grid.width} x {self.grid.height}"
        pipe = "" if self.pipe is None else f", pipes of {self.pipe[0]} x {self.pipe[1]}"
        offsets = " ".join(f"{offset:#x}" for offset in self.offsets)
        return f"{self.size}: {self.tile}{grid}{pipe}, GMEM {offsets or 'without attachments'}"


class _Rule(NamedTuple):
    """What a driver would do."""

    name: str
    tiling: Tiling


def tiles_of(pass_: Pass, sizes: list[Size]) -> PassTiles | None:
    """The tiles of a pass; None where the commands do not show them. ``sizes``: of attachments."""
    size = pass_.framebuffer
    if size is None and sizes:
        size = min(sizes, key=lambda one: (one.width, one.height))
    size = size or pass_.framebuffer_limit
    if size is None or pass_.bin_size is None:
        return None
    offsets = sorted(target.gmem for target in pass_.attachments if target.gmem is not None)
    pipe = None
    if pass_.pipes and pass_.hardware_binning:
        pipe = pass_.pipes[0].width, pass_.pipes[0].height
    grid = pass_.grid if pass_.framebuffer is not None else None
    is_limit = pass_.framebuffer is None
    return PassTiles(size, is_limit, pass_.bin_size, grid, tuple(offsets), pipe)


def compare_tiles(part: Device, pass_: Pass, tiles: PassTiles) -> Comparison:
    """``tiles``: those of the pass."""
    undecidable, compared = _compared(part, pass_, tiles)
    if undecidable:
        return Comparison("not decidable", undecidable)
    for rule, differences in compared:
        if not differences:
            return Comparison("agrees", rule)
    if compared and tiles.is_limit:
        return Comparison("not decidable", "the size of the framebuffer is not known")
    if compared:
        nearest = min([differences for _, differences in compared], key=len)
        return Comparison("differs", differences=nearest)
    return Comparison("not decidable", f"no driver's rule gives tiles for it on a{part.name}")


def avoids_cache(part: Device, pass_: Pass) -> bool:
    """Whether a pass has the tiles and offsets of turnip's GMEM layout that avoids the cache.

    With some sizes both layouts, or that of the Gallium driver, give the same: then it is False.
    """
    tiles = tiles_of(pass_, [Size(view.width, view.height) for _, view in attachment_views(pass_)])
    if tiles is None:
        return False
    _, compared = _compared(part, pass_, tiles)
    agreeing = [name for name, differences in compared if not differences]
    return bool(agreeing) and all(name.endswith(_AVOIDING) for name in agreeing)


def _compared(
    part: Device, pass_: Pass, tiles: PassTiles
) -> tuple[str, list[tuple[str, tuple[LayoutDifference, ...]]]]:
    """Why nothing can be calculated, or each rule by name with what differs from it."""
    targets = sorted(
        (target for target in pass_.attachments if target.gmem is not None),
        key=lambda target: target.gmem or 0,
    )
    formats = [stored_format(target.format) for target in targets]
    undecidable = _why_no_tiles(tiles, targets, formats)
    if undecidable:
        return undecidable, []
    known = [form for form in formats if form is not None]
    rules = _rules(part, pass_, tiles, targets, known)
    return "", [(rule.name, tuple(_tile_differences(tiles, rule))) for rule in rules]


def _why_no_tiles(
    tiles: PassTiles, targets: list[Attachment], formats: list[ImageFormat | None]
) -> str:
    """Why nothing can be calculated for a pass; empty where it can."""
    sides = tiles.size.width, tiles.size.height
    if max(sides) > _TOO_LARGE or not min(sides):
        return f"no framebuffer has {tiles.size} pixels"
    if not targets:
        return "the attachments of the pass are not known"
    for target, form in zip(targets, formats, strict=True):
        if form is None:
            return f"{target.format} is not known"
    return ""


def _rules(
    part: Device,
    pass_: Pass,
    tiles: PassTiles,
    targets: list[Attachment],
    formats: list[ImageFormat],
) -> Iterator[_Rule]:
    """What each driver would do, where it can render such a pass in tiles."""
    shares = len({target.gmem for target in targets}) < len(targets)
    calls = [
        *_turnip_calls(part, pass_, tiles, formats),
        *_gallium_calls(part, pass_, tiles, formats, shares),
    ]
    for name, call in calls:
        try:
            yield _Rule(name, call())
        except CffpyError:
            continue


_Calls = list[tuple[str, "Callable[[], Tiling]"]]


def _turnip_calls(
    part: Device, pass_: Pass, tiles: PassTiles, formats: list[ImageFormat]
) -> _Calls:
    if not part.facts.has_turnip:
        return []
    layers = max(count or 1 for count in (pass_.layers, pass_.views))
    sides = tiles.size.width, tiles.size.height
    has_density_map = any(tile.density or tile.merged_slots for tile in pass_.tiles)
    calls: _Calls = []
    for forces, merges, avoids in product((False, True), (False, True), (False, True)):
        if merges and not has_density_map:
            continue
        name = "turnip"
        if forces:
            name += ", with forced binning"
        if merges:
            name += ", merging bins"
        if avoids:
            name += _AVOIDING
        rule = partial(
            turnip_tiles,
            avoid_ccu=avoids,
            force_binning=forces,
            merge_bins=merges,
            layers=layers,
        )
        calls.append((name, partial(rule, part, *sides, formats, pass_.samples or 1)))
    return calls


def _gallium_calls(
    part: Device, pass_: Pass, tiles: PassTiles, formats: list[ImageFormat], shares: bool
) -> _Calls:
    """``shares``: attachments have one place, as a depth buffer that no draw uses has none."""
    colors: list[ImageFormat | None] = [
        form for form in formats if not form.is_depth_stencil and form.name != "S8_UINT"
    ]
    depth = next((form for form in formats if form.is_depth_stencil), None)
    samples = pass_.samples or 1
    rule = partial(gallium_tiles, part, tiles.size.width, tiles.size.height, colors)
    calls: _Calls = [("Gallium", partial(rule, depth, samples))]
    if shares and depth is not None:
        calls.append(("Gallium, depth buffer not used", partial(rule, None, samples)))
    return calls


def _tile_differences(tiles: PassTiles, rule: _Rule) -> Iterator[LayoutDifference]:
    tiling, name = rule.tiling, rule.name
    tile = f"{tiling.tile[0]}x{tiling.tile[1]}"
    if tile != str(tiles.tile):
        yield LayoutDifference(f"{name}: tile", str(tiles.tile), tile)
    count = f"{tiling.count[0]}x{tiling.count[1]}"
    if tiles.grid is not None and count != str(tiles.grid):
        yield LayoutDifference(f"{name}: grid", str(tiles.grid), count)
    if tiles.pipe is not None and not _is_pipe(tiles.pipe, tiling):
        pipe = f"{tiling.pipe[0]}x{tiling.pipe[1]}"
        yield LayoutDifference(f"{name}: tiles of a pipe", f"{tiles.pipe[0]}x{tiles.pipe[1]}", pipe)
    offsets = {place.offset for place in tiling.layout.places}
    if set(tiles.offsets) != offsets:
        yield LayoutDifference(f"{name}: GMEM offsets", _hex(tiles.offsets), _hex(sorted(offsets)))


def _is_pipe(pipe: tuple[int, int], tiling: Tiling) -> bool:
    """The first pipe is cut where there are fewer tiles than it may have."""
    return pipe == (min(tiling.pipe[0], tiling.count[0]), min(tiling.pipe[1], tiling.count[1]))


def _hex(offsets: tuple[int, ...] | list[int]) -> str:
    return " ".join(f"{offset:#x}" for offset in offsets) or "none"
