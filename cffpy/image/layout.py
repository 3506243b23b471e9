# SPDX-License-Identifier: MIT
"""The layout of an image in memory: offset, pitch and size of each level, and of its UBWC flags.

And that of an LRZ buffer. Alignments need not be powers of two.

All sizes and offsets are in bytes. Offsets of levels and sizes of slices wrap at 32 bits, as in the
driver; sizes of layers and of the image do not. Facts: fdl5_layout (a5xx) and fdl6_layout_image
(a6xx, a7xx), fdl5_lrz_layout_init and fdl6_lrz_layout_init of Mesa 25.0.7, and for
``vendor_flags_layout`` the a5xx register notes of the vendor's
driver.
"""

from __future__ import annotations

from typing import NamedTuple

from cffpy.capture.gpu import GENERATIONS, generation_of
from cffpy.errors import CffpyError
from cffpy.formats import ImageFormat
from cffpy.frame.facts import described, fact, model, stored


def align(value: int, alignment: int) -> int:
    """``value`` rounded up to a multiple of ``alignment``."""
    return -(-value // alignment) * alignment


def align_down(value: int, alignment: int) -> int:
    """``value`` rounded down to a multiple of ``alignment``."""
    return value // alignment * alignment


def divide_up(value: int, divisor: int) -> int:
    """``number / divisor``, rounded up to a whole number."""
    return -(-value // divisor)


def minify(size: int, level: int) -> int:
    """The size of a mip level: halved for each level, never below 1."""
    return max(1, size >> level)


def next_power_of_two(value: int) -> int:
    """The smallest power of two that is not below ``value``; 1 for 0."""
    return 1 << max(0, value - 1).bit_length()


def trailing_zeros(value: int) -> int:
    """The number of zero bits below the lowest set bit of a positive number."""
    return (value & -value).bit_length() - 1


PAGE = 4096
_MASK_32 = 0xFFFFFFFF

#: Values of TILE_MODE.
LINEAR, TILE_2, TILE_3 = 0, 2, 3


class LayoutError(CffpyError):
    """There is no layout for an image."""


@model("image_request", frozen=True)
class ImageRequest:
    """An image whose layout is calculated."""

    format: ImageFormat

    @fact(name="format")
    def format_name(self) -> str:
        """Format of the pixels."""
        return self.format.name

    width: int = stored("its width", "texels")
    height: int = stored("its height", "texels")
    depth: int = stored("depth of a 3D image", "texels", default=1)
    levels: int = stored("mip levels", default=1)
    layers: int = stored("layers of the array", default=1)
    samples: int = stored("samples of a pixel", default=1)
    is_3d: bool = stored("it is a 3D image", default=False)
    tile_mode: int = stored("TILE_MODE of its descriptor: 0 linear, 3 TILE6_3", default=TILE_3)
    ubwc: bool = stored("compression is asked for", default=False)
    tile_all: bool = stored("narrow levels are tiled, too", default=False)
    is_mutable: bool = stored(
        "views of other formats may be made, so that R8G8 loses its tiling as two halves",
        name="mutable",
        default=False,
    )

    def __post_init__(self) -> None:
        sizes = (self.width, self.height, self.depth, self.levels, self.layers, self.samples)
        if min(sizes) < 1:
            raise LayoutError("width, height, depth, levels, layers and samples start at 1")
        if max(self.width, self.height, self.depth, self.layers) > 1 << 20:
            raise LayoutError("no image is wider, higher or deeper than 1048576")
        if self.levels > 32 or self.samples > 64:
            raise LayoutError("an image has at most 32 levels and 64 samples")

    @property
    def cpp(self) -> int:
        """Bytes of a texel (of a block, where the format is compressed), all samples together."""
        return self.format.block_bytes * self.samples

    def level_tile_mode(self, level: int, tile_mode: int, tile_all: bool) -> int:
        """TILE_MODE of a level: narrow levels are linear unless ``tile_all``; height is ignored."""
        return tile_mode if tile_all or minify(self.width, level) >= 16 else LINEAR


@described(
    "level",
    is_value=False,
    names={"ubwc_offset": "flag_offset", "ubwc_pitch": "flag_pitch"},
    offset="where its first layer or slice begins, in bytes",
    size="size of a layer or slice in bytes",
    pitch="size of a row in bytes",
    tile_mode="number of the tile mode: 0 linear, 3 TILE6_3",
    ubwc_offset="where its UBWC flags begin, in bytes",
    ubwc_pitch="size of a row of its UBWC flags in bytes",
)
class LevelLayout(NamedTuple):
    """A mip level in memory."""

    offset: int
    size: int
    pitch: int
    tile_mode: int
    ubwc_offset: int = 0
    ubwc_pitch: int = 0


@described(
    "image_layout",
    is_value=False,
    names={
        "pitch0": "pitch",
        "layer_size": "layer_pitch",
        "ubwc_layer_size": "flag_layer_pitch",
        "ubwc_width0": "flag_width",
    },
    cpp="bytes of a pixel, of all its samples",
    ubwc="it is compressed",
    tile_all="no level is linear because it is narrow",
    layer_first="each layer has all levels; else each level has all slices",
    pitch0="size of a row of the first level in bytes",
    pitch_align="the pitch is a multiple of 2 to this power, in bytes",
    layer_size="bytes from one layer to the next; 0 for a 3D image",
    ubwc_layer_size="the same of the UBWC flags",
    ubwc_width0="width of the UBWC flags of the first level",
    size="size of the image in bytes, of all layers",
    base_align="its address is a multiple of this; 0 where no rule gives it",
    min_layer_size="least size of a slice of a 3D image in bytes; 0 where it is not needed",
    levels="the mip levels",
)
class ImageLayout(NamedTuple):
    """An image in memory, as it is calculated."""

    cpp: int
    ubwc: bool
    tile_all: bool
    #: Each layer holds all its levels (all but 3D images, where each level holds its slices).
    layer_first: bool
    pitch0: int
    pitch_align: int
    layer_size: int
    ubwc_layer_size: int
    #: Blocks of flags in a row of level 0, aligned.
    ubwc_width0: int
    size: int
    #: 0 where the rule gives none.
    base_align: int
    #: MIN_LAYERSZ of a 3D texture's descriptor; 0: not needed.
    min_layer_size: int
    levels: tuple[LevelLayout, ...]

    def layer_offset(self, level: int, layer: int) -> int:
        """The offset of a layer, or of a slice of a 3D image, of a level."""
        one = self.levels[level]
        return one.offset + layer * (self.layer_size if self.layer_first else one.size)

    def ubwc_layer_offset(self, level: int, layer: int) -> int:
        """The offset of the flags of a layer of a level."""
        return self.levels[level].ubwc_offset + layer * self.ubwc_layer_size


def image_rules(generation: int) -> str:
    """The rules of a generation's layouts (Generation.image_layout); empty where not known."""
    facts = GENERATIONS.get(generation)
    return "" if facts is None else facts.image_layout


def image_layout(request: ImageRequest, generation: int, linear_mip_fallback: bool) -> ImageLayout:
    """The layout of an image on a GPU of this generation, by the rules of its record.

    ``linear_mip_fallback``: narrow levels of a UBWC image are linear (a6xx gen4, a7xx).
    Raises LayoutError for other generations, whose layouts are not known.
    """
    rules = image_rules(generation)
    if rules == "a5xx":
        return _a5xx(request)
    if rules == "a6xx":
        return _a6xx(request, linear_mip_fallback)
    raise LayoutError(f"image layouts of a{generation}xx are not known, only those of a5xx to a7xx")


# -- a5xx -----------------------------------------------------------------------------------------


def _a5xx(request: ImageRequest) -> ImageLayout:
    cpp, form = request.cpp, request.format
    height_align = 32 if cpp == 1 else 16
    wide = cpp < 4 and request.tile_mode != LINEAR
    pitch_align = trailing_zeros(cpp) + (7 if wide else 6)
    pitch0 = align(divide_up(request.width, form.block_width) * cpp, 1 << pitch_align)
    layer_first = not request.is_3d
    layers_in_level = 1 if layer_first else request.layers
    levels: list[LevelLayout] = []
    size = 0
    for level in range(request.levels):
        tile_mode = request.level_tile_mode(level, request.tile_mode, request.tile_all)
        rows = divide_up(minify(request.height, level), form.block_height)
        if tile_mode != LINEAR:
            rows = align(rows, height_align)
        elif level == request.levels - 1:
            rows = align(rows, 32)
        pitch = align(minify(pitch0, level), 1 << pitch_align)
        level_size = rows * pitch
        if request.is_3d:
            before = levels[-1].size if levels else 0
            level_size = align(level_size, PAGE) if level <= 1 or before > 0xF000 else before
        level_size &= _MASK_32
        # the reference reports the pitch of flags that this rule does not lay out
        flag_pitch = 64 if request.ubwc else 0
        levels.append(LevelLayout(size & _MASK_32, level_size, pitch, tile_mode, 0, flag_pitch))
        size += level_size * minify(request.depth, level) * layers_in_level & _MASK_32
    layer_size = align(size, PAGE) if layer_first else 0
    return ImageLayout(
        cpp=cpp,
        ubwc=request.ubwc,
        tile_all=request.tile_all,
        layer_first=layer_first,
        pitch0=pitch0,
        pitch_align=pitch_align,
        layer_size=layer_size,
        ubwc_layer_size=0,
        ubwc_width0=0,
        size=layer_size * request.layers if layer_first else size,
        base_align=0,
        min_layer_size=0,
        levels=tuple(levels),
    )


def vendor_flags_layout(request: ImageRequest) -> ImageLayout:
    """The a5xx layout of the vendor's driver with UBWC: flags and colour of each level in turn.

    Confirmed by one image of the a5xx register notes (100x2000 RG16F, 11 levels) to the byte.
    """
    plain = _a5xx(request)
    form = request.format
    block_width, block_height = flag_block(form, request.samples, request.is_mutable) or (16, 4)
    levels = []
    offset = 0
    for level, one in enumerate(plain.levels):
        rows = divide_up(minify(request.height, level), form.block_height)
        if minify(request.width, level) >= 16:
            rows = align(rows, 16)
        flag_pitch = align(divide_up(minify(request.width, level), block_width), 64)
        flag_rows = align(divide_up(minify(request.height, level), block_height), 16)
        flags = align(flag_pitch * flag_rows, PAGE)
        size = align(one.pitch * rows, PAGE)
        levels.append(
            LevelLayout(offset + flags, size, one.pitch, one.tile_mode, offset, flag_pitch)
        )
        offset += flags + size
    return ImageLayout(
        cpp=plain.cpp,
        ubwc=True,
        tile_all=request.tile_all,
        layer_first=True,
        pitch0=plain.pitch0,
        pitch_align=plain.pitch_align,
        layer_size=offset,
        ubwc_layer_size=offset,
        ubwc_width0=levels[0].ubwc_pitch,
        size=offset * request.layers,
        base_align=PAGE,
        min_layer_size=0,
        levels=tuple(levels),
    )


# -- a6xx and a7xx --------------------------------------------------------------------------------

#: Bytes of a texel -> width and height of a block of UBWC, in texels.
_FLAG_BLOCKS = {1: (16, 4), 2: (16, 4), 4: (16, 4), 8: (8, 4), 16: (4, 4), 32: (4, 2)}
#: The same for multisampled formats of one or two bytes, by samples.
_SMALL_SAMPLED_FLAG_BLOCKS = {2: (8, 4), 4: (4, 4), 8: (4, 2)}


def flag_block(form: ImageFormat, samples: int, is_mutable: bool) -> tuple[int, int] | None:
    """Width and height, in texels, of the block of one flag byte; None: no UBWC (a6xx, a7xx)."""
    if form.name == "Y8_UNORM":
        return 32, 8
    if form.block_bytes * samples == 2 and form.components == 2 and not is_mutable:
        return 16, 8
    if form.block_bytes <= 2 and samples > 1:
        return _SMALL_SAMPLED_FLAG_BLOCKS.get(samples)
    return _FLAG_BLOCKS.get(form.block_bytes * samples)


class _A6xxPlan:
    """Properties of all levels of an image: UBWC, tiling, alignments, the plane of flags."""

    def __init__(self, request: ImageRequest, linear_mip_fallback: bool) -> None:
        form = request.format
        block = flag_block(form, request.samples, request.is_mutable)
        is_narrow = request.width < 16
        is_deep_with_levels = request.depth > 1 and request.levels > 1
        self.ubwc = request.ubwc and block is not None and not is_narrow and not is_deep_with_levels
        is_linear = is_narrow and not form.is_depth_stencil
        self.tile_mode = LINEAR if is_linear else request.tile_mode
        self.tile_all = (
            request.tile_all or form.is_depth_stencil or (self.ubwc and not linear_mip_fallback)
        )
        self.pitch_align, self.height_align, self.base_align = self._alignments(request)
        self._lay_out_flags(request, block)

    def _alignments(self, request: ImageRequest) -> tuple[int, int, int]:
        """Of pitches (a power of two's exponent), of rows, and of the image's address."""
        cpp = request.cpp
        if self.tile_mode == LINEAR:
            return trailing_zeros(cpp) + 6, 16, 64
        is_r8g8 = cpp == 2 and request.format.components == 2 and not request.is_mutable
        paged = self.ubwc or request.format.is_depth_stencil or is_r8g8
        base_align = PAGE if paged else {1: 64, 2: 128}.get(cpp, 256)
        if is_r8g8 or cpp == 1:
            return 7, 32, base_align
        return (8 if cpp == 2 else trailing_zeros(cpp) + 6), 16, base_align

    def _lay_out_flags(self, request: ImageRequest, block: tuple[int, int] | None) -> None:
        width, height, self.flag_rows_align = request.width, request.height, 16
        if request.levels > 1:
            width, height = next_power_of_two(width), next_power_of_two(height)
            self.flag_rows_align = 64
        self.flag_width0 = self.flag_rows = 0
        if block is not None:
            self.flag_width0 = align(divide_up(width, block[0]), 64)
            self.flag_rows = align(divide_up(height, block[1]), self.flag_rows_align)

    def flag_pitch(self, level: int) -> int:
        """Bytes of a row of flags of a level."""
        return align(minify(self.flag_width0, level), 64)

    def flag_size(self, level: int) -> int:
        """Bytes of the flags of a layer of a level."""
        rows = align(minify(self.flag_rows, level), self.flag_rows_align)
        return align(self.flag_pitch(level) * rows, PAGE)


class _SliceSizes:
    """Sizes of the slices of a 3D image (a6xx, a7xx): from some level on they stay the same."""

    def __init__(self) -> None:
        self.fixed = 0
        self._first = 0
        self._pitch = 0

    def of(self, level: int, plain: int, pitch: int) -> int:
        """The size at ``level``, whose rows take ``plain`` bytes. Call in the order of levels."""
        before, self._pitch = self._pitch, pitch
        if level == 0:
            self._first = align(plain, PAGE) & _MASK_32
            return self._first
        if self.fixed:
            return self.fixed
        size = minify(self._first, 2 * level)
        if pitch != before // 2:
            self.fixed = size = plain
        if size < plain:
            self.fixed = size = plain
        if size % PAGE:
            self.fixed = size = align(size, PAGE)
        return size


def _a6xx(request: ImageRequest, linear_mip_fallback: bool) -> ImageLayout:
    plan = _A6xxPlan(request, linear_mip_fallback)
    form = request.format
    pitch0 = align(divide_up(request.width, form.block_width) * request.cpp, 1 << plan.pitch_align)
    layer_first = not request.is_3d
    layers_in_level = 1 if layer_first else request.layers
    slices = _SliceSizes()
    levels: list[LevelLayout] = []
    size = flags = 0
    for level in range(request.levels):
        tile_mode = request.level_tile_mode(level, plan.tile_mode, plan.tile_all)
        rows = divide_up(minify(request.height, level), form.block_height)
        if tile_mode != LINEAR:
            rows = align(rows, plan.height_align)
        if level == request.levels - 1:
            rows = align(rows, 4)
        pitch = align(minify(pitch0, level), 1 << plan.pitch_align)
        level_size = rows * pitch & _MASK_32
        if request.is_3d:
            level_size = slices.of(level, level_size, pitch) & _MASK_32
        offset = size & _MASK_32
        size += level_size * minify(request.depth, level) * layers_in_level & _MASK_32
        flag_offset = 0
        if plan.ubwc and tile_mode != LINEAR:
            size = align(size, PAGE)
            flag_offset = flags
            flags += plan.flag_size(level)
        levels.append(
            LevelLayout(
                offset,
                level_size,
                pitch,
                tile_mode,
                flag_offset,
                plan.flag_pitch(level) if plan.ubwc else 0,
            )
        )
    layer_size = 0
    if layer_first:
        layer_size = align(size, PAGE)
        size = layer_size * request.layers
    if plan.ubwc:  # all flags come first
        before = flags * request.layers * request.depth
        size += before
        levels = [
            LevelLayout(
                one.offset + before & _MASK_32,
                one.size,
                one.pitch,
                one.tile_mode,
                one.ubwc_offset,
                one.ubwc_pitch,
            )
            for one in levels
        ]
    return ImageLayout(
        cpp=request.cpp,
        ubwc=plan.ubwc,
        tile_all=plan.tile_all,
        layer_first=layer_first,
        pitch0=pitch0,
        pitch_align=plan.pitch_align,
        layer_size=layer_size,
        ubwc_layer_size=flags,
        ubwc_width0=plan.flag_width0,
        size=size,
        base_align=plan.base_align,
        min_layer_size=slices.fixed,
        levels=tuple(levels),
    )


# -- LRZ buffers -----------------------------------------------------------------------------------

#: Of the value for a block of 8x8 pixels (Z16).
_LRZ_BYTES = 2


@model("lrz_layout", frozen=True, is_value=False)
class LrzLayout:
    """An LRZ buffer in memory, as it is calculated. Its texels are blocks of pixels."""

    offset: int = stored("where its data begin", "bytes")
    pitch: int = stored("length of a row", "texels")
    height: int = stored("rows; 0 where the hardware cannot use such a buffer", "texels")
    layer_size: int = stored("from one layer to the next", "bytes", name="layer_pitch")
    fast_clear_offset: int = stored("where the flags of fast clears begin", "bytes")
    fast_clear_size: int = stored("size of these flags", "bytes")
    total_size: int = stored(
        "size of the buffer; 0 where the hardware cannot use it", "bytes", name="size"
    )


def lrz_layout(
    generation: int,
    width: int,
    height: int,
    samples: int = 1,
    layers: int = 1,
    *,
    has_fast_clear: bool = False,
) -> LrzLayout:
    """The LRZ buffer of a depth image of ``width`` x ``height`` pixels.

    ``has_fast_clear``: the GPU keeps fast-clear flags and the direction in memory (a6xx gen3 on,
    a7xx). Raises LayoutError for generations whose layout is not known.
    """
    if min(width, height, samples, layers) < 1 or max(width, height, layers) > 1 << 20:
        raise LayoutError("width, height, samples and layers are numbers from 1 to 1048576")
    rules = image_rules(generation)
    if rules == "a5xx":
        return _a5xx_lrz(width, height, samples)
    lrz = generation_of(generation).lrz if rules else None
    if lrz is not None:
        fast_clear = lrz.fast_clear if has_fast_clear else None
        return _a6xx_lrz(width, height, samples, layers, fast_clear)
    raise LayoutError(f"the LRZ layout of a{generation}xx is not known, only that of a5xx to a7xx")


def lrz_of_image(
    request: ImageRequest, generation: int, *, has_fast_clear: bool = False
) -> LrzLayout | None:
    """The LRZ buffer of an image; None where its format has no depth, or it has slices."""
    form = request.format
    if not form.is_depth_stencil or "Z" not in form.name or request.is_3d:
        return None
    size = request.width, request.height, request.samples, request.layers
    return lrz_layout(generation, *size, has_fast_clear=has_fast_clear)


def _a5xx_lrz(width: int, height: int, samples: int) -> LrzLayout:
    pitch, rows = align(divide_up(width, 8), 64), divide_up(height, 8)
    if samples == 4:
        pitch *= 2
    if samples in (2, 4):
        rows *= 2
    # the fast-clear flags come first
    return LrzLayout(0x1000, pitch, rows, 0, 0, 0, pitch * rows * _LRZ_BYTES + 0x1000)


def _a6xx_lrz(
    width: int, height: int, samples: int, layers: int, fast_clear: tuple[int, int] | None
) -> LrzLayout:
    """``fast_clear``: as in Lrz.fast_clear, None where the GPU has none."""
    width *= 2 if samples in (4, 8) else 1
    height *= {2: 2, 4: 2, 8: 4}.get(samples, 1)
    columns, rows = divide_up(width, 8), divide_up(height, 8)
    pitch, aligned_rows = align(columns, 32), align(rows, 32)
    layer_size = pitch * aligned_rows * _LRZ_BYTES
    total = layer_size * layers
    flags = fast_clear_offset = 0
    if fast_clear is not None:
        most, extra = fast_clear
        needed = divide_up(divide_up(columns, 16) * divide_up(rows, 4), 8) * layers
        flags = needed if needed <= most else 0
        fast_clear_offset = total
        total += extra
    if aligned_rows * layers - 1 >> 14:
        aligned_rows = total = 0
    return LrzLayout(0, pitch, aligned_rows, layer_size, fast_clear_offset, flags, total)
