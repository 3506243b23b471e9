# SPDX-License-Identifier: MIT
"""Tiles of a pass: attachments in GMEM, the size and number of tiles, VSC pipes.

Turnip and Gallium divide a framebuffer by different rules. Facts: tu_pass.cc and tu_util.cc, and
freedreno_gmem.c, of Mesa 25.0.7. Sizes in pixels, GMEM in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cffpy.formats import ImageFormat
from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.geometry import Size
from cffpy.image.devices import Device
from cffpy.image.layout import PAGE, LayoutError, align, align_down, divide_up, trailing_zeros

#: Pixels of a pass without attachments.
_NO_ATTACHMENTS = 1024 * 1024

#: Tiles of a pipe at most, for a binning run.
_MOST_TILES_OF_PIPE = 32

#: Tiles of a pipe of which turnip can merge any: as many as a mask of bins has bits.
_MERGING_PIPE = (4, 8)


@described(
    "gmem_place",
    is_value=False,
    names={"offset": "gmem"},
    name="color 0, ..., depth or stencil",
    cpp="bytes of a pixel, of all its samples",
    offset="offset in GMEM, in bytes",
)
class GmemPlace(NamedTuple):
    """The place of an attachment in GMEM."""

    name: str
    cpp: int
    offset: Address


@described(
    "gmem_layout",
    is_value=False,
    pixels="pixels of a tile that fit; 0 where not one does",
    places="the attachments",
)
class GmemLayout(NamedTuple):
    """A way in which a driver may use GMEM."""

    places: tuple[GmemPlace, ...]
    pixels: int


@model("tiling", frozen=True, is_value=False)
class Tiling:
    """The tiles of a framebuffer, as they are calculated."""

    #: Pairs of across and down.
    tile: tuple[int, int]
    count: tuple[int, int]
    pipe: tuple[int, int]
    pipe_count: tuple[int, int]

    @fact(unit="pixels")
    def bin_size(self) -> Size:
        """Size of a bin."""
        return Size(*self.tile)

    @fact()
    def grid(self) -> Size:
        """Columns and rows of bins."""
        return Size(*self.count)

    @fact(unit="bins")
    def pipe_size(self) -> Size:
        """Size of a VSC pipe; those at the edges may be smaller."""
        return Size(*self.pipe)

    @fact()
    def pipe_grid(self) -> Size:
        """Columns and rows of VSC pipes."""
        return Size(*self.pipe_count)

    binning: bool = stored("drivers use a binning run by default", name="hardware_binning")
    binning_possible: bool = stored("no pipe has more tiles than a binning run can have")
    layout: GmemLayout = stored("how GMEM is used", name="gmem_layout")


class _Plane(NamedTuple):
    """An attachment, or depth or stencil of one that has both in planes (Z32_FLOAT_S8X24_UINT)."""

    name: str
    cpp: int
    is_stencil: bool = False


def _planes(attachments: Sequence[ImageFormat], samples: int) -> list[_Plane]:
    planes = []
    for number, form in enumerate(attachments):
        name = f"{number} {form.name}"
        planes.append(_Plane(name, form.block_bytes * samples))
        if form.name == "Z32_FLOAT_S8X24_UINT":
            planes.append(_Plane(f"{name} stencil", samples, is_stencil=True))
    return planes


# -- turnip ---------------------------------------------------------------------------------------


def turnip_gmem(
    device: Device, attachments: Sequence[ImageFormat], samples: int = 1, *, avoid_ccu: bool = False
) -> GmemLayout:
    """Attachments in GMEM as turnip places them (a6xx, a7xx).

    ``avoid_ccu``: the layout that leaves the colour cache's part alone, used where a store or a
    resolve is not aligned. Raises LayoutError where the size of GMEM is not known.
    """
    if not device.facts.has_turnip:
        raise LayoutError(f"turnip drives a6xx and a7xx, not a{device.name}")
    size = device.ccu_gmem if avoid_ccu else device.usable_gmem
    if size is None:
        raise LayoutError(f"the size of GMEM of a{device.name} is not known")
    planes = _planes(attachments, samples)
    total = sum(plane.cpp for plane in planes)
    if not total:
        return GmemLayout((), _NO_ATTACHMENTS)
    _, shift = _turnip_alignment(device, planes)
    width, height = device.tile_align
    granule = 8 * width * height
    blocks = size // granule
    places: list[GmemPlace] = []
    pixels: int | None = None
    offset = 0
    for plane in planes:
        count = blocks * plane.cpp // total
        if not plane.is_stencil:
            step = max(1, plane.cpp >> shift)
            count = max(align_down(count, step), step)
        if count > blocks:
            return GmemLayout(tuple(places), 0)
        places.append(GmemPlace(plane.name, plane.cpp, offset))
        blocks -= count
        total -= plane.cpp
        offset += count * granule
        fitting = count * granule // plane.cpp
        pixels = fitting if pixels is None else min(pixels, fitting)
    return GmemLayout(tuple(places), pixels or 0)


def _turnip_alignment(device: Device, planes: Sequence[_Plane]) -> tuple[int, int]:
    """The alignment of a tile's width, and the shift from cpp to granules."""
    width, shift = device.tile_align[0], 3
    for plane in planes:
        if plane.cpp == 1 and width % 64:
            width *= 2
            shift -= 1
    return width, shift


def turnip_layouts(
    device: Device, attachments: Sequence[ImageFormat], samples: int = 1
) -> dict[str, GmemLayout]:
    """Both GMEM layouts of turnip, by the driver's names for them."""
    return {
        "FULL": turnip_gmem(device, attachments, samples),
        "AVOID_CCU": turnip_gmem(device, attachments, samples, avoid_ccu=True),
    }


def turnip_tiles(
    device: Device,
    width: int,
    height: int,
    attachments: Sequence[ImageFormat],
    samples: int = 1,
    *,
    layers: int = 1,
    avoid_ccu: bool = False,
    force_binning: bool = False,
    merge_bins: bool = False,
) -> Tiling:
    """The tiles of a render pass of ``width`` x ``height``, as turnip divides it.

    ``force_binning``: as with TU_DEBUG=forcebin. ``merge_bins``: as turnip of Mesa 26.0
    divides a pass with a fragment density map on GPUs that have masks of bins (a7xx):
    bins are merged within a pipe, so that pipes are as large as masks allow. Raises LayoutError
    where the pass fits into no tiles, so that it is rendered in sysmem.
    """
    if merge_bins and not device.has_bin_masks:
        raise LayoutError(f"a{device.name} has no masks of bins")
    layout = turnip_gmem(device, attachments, samples, avoid_ccu=avoid_ccu)
    planes = _planes(attachments, samples)
    align_width, _ = _turnip_alignment(device, planes)
    align_height = device.tile_align[1]
    if layers > 1 and planes:
        page = align_height * align_width * min(plane.cpp for plane in planes)
        if page % PAGE:
            align_height <<= 12 - trailing_zeros(page)
    alignment = align_width, align_height
    tile, count = _turnip_tile(device, width, height, layout.pixels // layers, alignment)
    if force_binning:
        tile, count = _halve_single_tiles(tile, count, alignment)
    if merge_bins:
        pipe = _MERGING_PIPE
        pipe_count = divide_up(count[0], pipe[0]), divide_up(count[1], pipe[1])
        possible = pipe_count[0] * pipe_count[1] <= device.vsc_pipes
    else:
        pipe, pipe_count = _turnip_pipes(device, count)
        possible = pipe[0] * pipe[1] <= _MOST_TILES_OF_PIPE
    binning = possible and (force_binning or count[0] * count[1] > 2)
    return Tiling(tile, count, pipe, pipe_count, binning, possible, layout)


def _turnip_tile(
    device: Device, width: int, height: int, pixels: int, alignment: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Size and number of tiles: as few as possible, then as square as possible."""
    align_width, align_height = alignment
    most_height = device.tile_max[1]
    assert most_height is not None
    highest = min(most_height, align(height, align_height))
    best: tuple[tuple[int, int], tuple[int, int]] | None = None
    rank = (0, 0)
    for tile_width in range(
        align_width, min(device.tile_max[0], align(width, align_width)) + 1, align_width
    ):
        tile_height = align_down(min(pixels // tile_width, highest), align_height)
        if not tile_height:
            continue
        count = divide_up(width, tile_width), divide_up(height, tile_height)
        tile_height = align(divide_up(height, count[1]), align_height)
        candidate = count[0] * count[1], abs(tile_width - tile_height)
        if best is None or candidate < rank:
            best, rank = ((tile_width, tile_height), count), candidate
    if best is None:
        raise LayoutError(f"no tile of {align_width}x{align_height} pixels fits into GMEM")
    return best


def _halve_single_tiles(
    tile: tuple[int, int], count: tuple[int, int], alignment: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    sizes, counts = list(tile), list(count)
    for axis in (0, 1):
        if counts[axis] == 1 and sizes[axis] != alignment[axis]:
            sizes[axis] = align(divide_up(sizes[axis], 2), alignment[axis])
            counts[axis] = 2
    return (sizes[0], sizes[1]), (counts[0], counts[1])


def _turnip_pipes(
    device: Device, count: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Tiles of a pipe, and pipes, across and down."""
    pipe_width = pipe_height = 1
    across, down = count
    while across * down > device.vsc_pipes:
        if pipe_width < pipe_height:
            pipe_width += 1
            across = divide_up(count[0], pipe_width)
        else:
            pipe_height += 1
            down = divide_up(count[1], pipe_height)
    return (pipe_width, pipe_height), (across, down)


# -- gallium --------------------------------------------------------------------------------------


def gallium_tiles(
    device: Device,
    width: int,
    height: int,
    colors: Sequence[ImageFormat | None],
    depth_stencil: ImageFormat | None = None,
    samples: int = 1,
) -> Tiling:
    """The tiles of a batch of ``width`` x ``height``, as the Gallium driver divides it.

    ``colors``: None for an empty slot. ``depth_stencil``: only where it is used. Raises LayoutError
    where GMEM is not known or too small.
    """
    planes = _gallium_planes(colors, depth_stencil, samples)
    size = device.usable_gmem
    if size is None:
        raise LayoutError(f"the size of GMEM of a{device.name} is not known")
    tiles, layout = _GalliumSearch(device, planes, size).run(width, height)
    count = divide_up(width, tiles[0]), divide_up(height, tiles[1])
    pipe, pipe_count = _gallium_pipes(device, count)
    possible, binning = _gallium_binning(device, count, pipe, pipe_count)
    return Tiling(tiles, count, pipe, pipe_count, binning, possible, layout)


def _gallium_layout(device: Device, planes: Sequence[_Plane], tile: tuple[int, int]) -> GmemLayout:
    """Places ``planes`` one after the other, each aligned to a page for every CCU."""
    page = 4 * PAGE if device.ccu is None else device.ccu.units * PAGE
    pixels = tile[0] * tile[1]
    places = []
    end = 0
    for plane in planes:
        offset = align(end, page)
        places.append(GmemPlace(plane.name, plane.cpp, offset))
        end = offset + plane.cpp * pixels
    return GmemLayout(tuple(places), pixels)


def _gallium_planes(
    colors: Sequence[ImageFormat | None], depth_stencil: ImageFormat | None, samples: int
) -> list[_Plane]:
    planes = [
        _Plane(
            f"color {number} {form.name}" if form else f"color {number} none",
            (form.block_bytes if form else 4) * samples,
        )
        for number, form in enumerate(colors)
    ]
    if depth_stencil is not None:
        # the driver multiplies by the samples twice
        cpp = depth_stencil.block_bytes * samples * samples
        planes.append(_Plane(f"depth {depth_stencil.name}", cpp))
        if depth_stencil.name == "Z32_FLOAT_S8X24_UINT":
            planes.append(_Plane("stencil", samples * samples, is_stencil=True))
    return planes


class _GalliumSearch:
    """The search for as few tiles as fit."""

    def __init__(self, device: Device, planes: Sequence[_Plane], size: int) -> None:
        self._device = device
        self._planes = planes
        self._size = size

    def run(self, width: int, height: int) -> tuple[tuple[int, int], GmemLayout]:
        """The size of a tile, and the attachments in GMEM."""
        across = down = 1
        while not self._is_narrow(width, across):
            across += 1
        while not self._is_low(height, down):
            down += 1
        while not self._fits(width, height, across, down):
            if down > across:
                across += 1
            else:
                down += 1
            if across > width and down > height:
                raise LayoutError(f"no tile fits into {self._size} bytes of GMEM")
        for other in ((across - 1, down + 1), (across + 1, down - 1)):
            fewer = other[0] * other[1] < across * down
            if min(other) > 0 and fewer and self._fits(width, height, *other):
                across, down = other
                break
        tile = self._tile(width, height, across, down)
        return tile, _gallium_layout(self._device, self._planes, tile)

    def _tile(self, width: int, height: int, across: int, down: int) -> tuple[int, int]:
        align_width, align_height = self._device.tile_align
        return align(divide_up(width, across), align_width), align(
            divide_up(height, down), align_height
        )

    def _is_narrow(self, width: int, across: int) -> bool:
        tile_width, _ = self._tile(width, 1, across, 1)
        return tile_width <= self._device.tile_max[0]

    def _is_low(self, height: int, down: int) -> bool:
        _, tile_height = self._tile(1, height, 1, down)
        most = self._device.tile_max[1]
        return most is None or tile_height <= most

    def _fits(self, width: int, height: int, across: int, down: int) -> bool:
        if not self._is_narrow(width, across) or not self._is_low(height, down):
            return False
        layout = _gallium_layout(
            self._device, self._planes, self._tile(width, height, across, down)
        )
        if not layout.places:
            return True
        last = layout.places[-1]
        return last.offset + last.cpp * layout.pixels <= self._size


def _gallium_pipes(
    device: Device, count: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    if device.binning is not None and device.binning.pipe is not None:
        across, down = device.binning.pipe
        return (across, down), (divide_up(count[0], across), divide_up(count[1], down))
    across = down = 1
    while divide_up(count[1], down) > device.vsc_pipes:
        down += 2
    while divide_up(count[1], down) * divide_up(count[0], across) > device.vsc_pipes:
        across += 1
    return (across, down), (divide_up(count[0], across), divide_up(count[1], down))


def _gallium_binning(
    device: Device, count: tuple[int, int], pipe: tuple[int, int], pipe_count: tuple[int, int]
) -> tuple[bool, bool]:
    """Whether a binning run is possible, and whether the driver uses one by default."""
    binning = device.binning
    if binning is None:
        return False, False
    if binning.pipe is not None:
        possible = pipe_count[0] * pipe_count[1] <= device.vsc_pipes
    else:
        possible = pipe[0] * pipe[1] <= _MOST_TILES_OF_PIPE
        if binning.pipe_limit is not None:
            possible = possible and max(pipe) <= binning.pipe_limit
    return possible, possible and count[0] * count[1] >= binning.least_tiles
