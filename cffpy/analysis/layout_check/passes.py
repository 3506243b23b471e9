# SPDX-License-Identifier: MIT
"""LRZ buffers and tiles of passes, against what is calculated for them.

LRZ buffers: pitch, layer size and place of the fast-clear part, against ``lrz_layout``. Tiles:
their size and number, and the attachments in GMEM, against the drivers' rules. A capture does not
name its driver. A pass agrees if one rule gives all that it has: turnip's with both GMEM layouts
and with forced binning, or the Gallium driver's.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.image_views import attachment_views, stored_format
from cffpy.analysis.layout_check.images import Comparison, LayoutDifference
from cffpy.errors import CffpyError
from cffpy.frame.geometry import Size
from cffpy.image.gmem import gallium_tiles, turnip_tiles
from cffpy.image.layout import lrz_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.analysis.image_views import ImageView
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Pass
    from cffpy.image.devices import Device
    from cffpy.image.formats import ImageFormat
    from cffpy.image.gmem import Tiling
    from cffpy.image.layout import LrzLayout

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
    undecidable = _why_not(tiles, targets, formats)
    if undecidable:
        return undecidable, []
    known = [form for form in formats if form is not None]
    rules = _rules(part, pass_, tiles, targets, known)
    return "", [(rule.name, tuple(_differences(tiles, rule))) for rule in rules]


def _why_not(tiles: PassTiles, targets: list[Attachment], formats: list[ImageFormat | None]) -> str:
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


def _differences(tiles: PassTiles, rule: _Rule) -> Iterator[LayoutDifference]:
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
