# SPDX-License-Identifier: MIT
"""Targets and textures: their layout, UBWC, and the memory that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.image_views import view_of_texture
from cffpy.analysis.layout_check.comparison import SLICE_SIZE, ImageComparer, is_impossible
from cffpy.check.draw_states import DrawTextures
from cffpy.check.model import FROM_A5XX, FROM_A6XX, Report, at_draw, lint
from cffpy.formats import UnknownFormat, hardware_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.bound_textures import BoundTexture
    from cffpy.analysis.layout_check.comparison import Comparison
    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.check.model import CheckedCapture
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.pictures import ImageView
    from cffpy.image.devices import Device

#: Narrower images are always linear, and never compressed.
_LEAST_WIDTH = 16

#: Images that are compared, at most: many layouts are calculated for each.
_MAX_COMPARED = 1 << 10

#: Fewer draws of a texture do not matter.
_FEW_USES = 5


@lint("CFF017", "info", FROM_A5XX, needs=(DrawTextures,))
def linear_image(capture: CheckedCapture) -> Iterator[Report]:
    """A linear image is rendered to, or sampled by many draws.

    Targets in linear memory, and linear textures of many draws.

    Why: Tiled memory keeps neighbours in two dimensions together; linear rows cost more cache
    lines.

    Advice: Use optimal tiling, and copy from linear images once.
    """
    for pass_ in capture.render_passes():
        if len(pass_.draws) > 1:  # drivers draw blits and mipmaps one by one
            yield from _targets(pass_)
    yield from _textures(capture)


def _targets(pass_: Pass) -> Iterator[Report]:
    size = pass_.framebuffer or pass_.framebuffer_limit
    if size is None or size.width < _LEAST_WIDTH or size.height < 2:
        return
    for target in pass_.attachments:
        is_linear = target.tiling in ("TILE6_LINEAR", "TILE5_LINEAR", "linear")
        if is_linear and target.address and target.name.startswith("color"):
            text = f"{target.name} ({target.format}) at {target.address:#x} is linear"
            yield Report(text, target.address, pass_.first, pass_)


def _textures(capture: CheckedCapture) -> Iterator[Report]:
    facts = capture.facts(DrawTextures)
    uses: dict[Texture, list[tuple[Pass, Action]]] = {}
    for pass_, draw in capture.draws():
        for _, texture in facts.images(draw):
            if not texture.tile_mode and texture.width >= _LEAST_WIDTH and texture.height > 1:
                uses.setdefault(texture, []).append((pass_, draw))
    for texture, draws in uses.items():
        if len(draws) > _FEW_USES and _can_be_tiled(texture.format):
            pass_, draw = draws[0]
            name = f"the texture at {texture.address:#x} ({texture.format})"
            text = f"{name} is linear; {len(draws)} draws sample it"
            yield Report(text, texture.address, draw.place, pass_, draw)


def _can_be_tiled(name: str) -> bool:
    """Only texels whose bytes are a power of two can be tiled."""
    try:
        size = hardware_format(name).block_bytes
    except UnknownFormat:
        return False
    return size & (size - 1) == 0


@lint("CFF032", "error", FROM_A5XX, needs=(DrawTextures,))
def unmapped_texture(capture: CheckedCapture) -> Iterator[Report]:
    """A program samples a texture that has no memory.

    Descriptors of used slots with base 0, or whose layers exceed the buffer.

    Why: A descriptor with base 0 faults, or gives zeros. One that is larger than its buffer
    reads what lies behind.

    Advice: Bind an image to each slot that the program uses, and check its size.
    """
    facts = capture.facts(DrawTextures)
    for pass_, draw in capture.work():
        for bound, texture in facts.images(draw):
            slot = f"slot {bound.slot}"
            if bound.set is not None:
                slot = f"set {bound.set} {slot}"
            if not texture.address:
                # all zero where the program binds nothing: Vulkan's nullDescriptor
                is_null = not texture.width and not texture.height
                what = "is null: its base and size are 0" if is_null else "has base 0"
                text = f"{bound.stage} texture {slot} {what}"
                cause = bound.stage, bound.set, bound.slot, is_null
                report = at_draw(pass_, draw, text, cause)
                yield report._replace(severity="info") if is_null else report
                continue
            there = facts.remaining(draw, texture.address)
            needed = _least_size(texture)
            if there and texture.kind in ("2D", "cube") and needed > there:
                where = f"{bound.stage} texture {slot} at {texture.address:#x}"
                text = f"{where} needs {needed} bytes, of which the buffer has {there}"
                yield at_draw(pass_, draw, text, texture.address)._replace(severity="info")


def _least_size(texture: Texture) -> int:
    """Bytes of the first level of all layers: the view may be of an inner level."""
    try:
        rows = -(-texture.height // hardware_format(texture.format).block_height)
    except UnknownFormat:
        return 0
    return texture.array_pitch * (max(1, texture.depth) - 1) + texture.pitch * rows


class _ComparedTexture(NamedTuple):
    """An image at its first draw, and the result of comparing it with the calculated layouts."""

    draw: Action
    bound: BoundTexture
    view: ImageView
    comparison: Comparison


def _compared(capture: CheckedCapture) -> Iterator[_ComparedTexture]:
    """Images of the program's draws and dispatches, compared as ``cffpy layout check`` does.

    Each distinct one that is impossible or has slices and levels: what rules tell about. None where
    there are no layout facts of the GPU.
    """
    if capture.part is None:
        return
    facts = capture.facts(DrawTextures)
    uses: dict[Texture, tuple[Action, BoundTexture]] = {}
    for _, draw in capture.work():
        for bound, texture in facts.images(draw):
            uses.setdefault(texture, (draw, bound))
    views = [view_of_texture(texture) for texture in uses]
    comparer = ImageComparer(
        capture.part, [(view.width, view.height, view.depth) for view in views]
    )
    left = _MAX_COMPARED
    for (draw, bound), view in zip(uses.values(), views, strict=True):
        if left and (is_impossible(view) or (view.is_3d and view.levels > 1)):
            left -= 1
            yield _ComparedTexture(draw, bound, view, comparer.compare(view, is_exact=True))


@lint("CFF033", "warning", FROM_A5XX, needs=(DrawTextures,))
def texture_extent(capture: CheckedCapture) -> Iterator[Report]:
    """Pitch or base of a texture does not fit its size and tiling.

    Descriptors with a pitch below a row of texels, or a base or pitch off its alignment. Not an
    input attachment in GMEM, and nothing that cffpy layout check calls not decidable.

    Why: Rows overlap, or the address is rounded: the image is sheared or shifted.

    Advice: Compare with cffpy layout image; cffpy layout check shows all textures.
    """
    for compared in capture.once(_compared):
        if compared.comparison.answer == "differs" and is_impossible(compared.view):
            differences = "; ".join(str(each) for each in compared.comparison.differences)
            where = f"{compared.bound.stage} texture at {compared.view.address:#x}"
            text = f"{where}: {compared.view}{differences and f': {differences}'}"
            yield Report(text, compared.view.address, compared.draw.place, None, compared.draw)


@lint("CFF034", "warning", FROM_A5XX, needs=(DrawTextures,))
def target_in_texture(capture: CheckedCapture) -> Iterator[Report]:
    """A draw samples the image that it renders to.

    Draws with a texture at the address of a target that they write.

    Why: Without a feedback loop, what is read depends on the order in which caches and GMEM are
    written.

    Advice: Copy the image first, use an input attachment, or declare a feedback loop.
    """
    facts = capture.facts(DrawTextures)
    for pass_, draw in capture.draws():
        written = {
            target.address: target.name
            for target in draw.targets
            if target.address and target.write_mask
        }
        for bound, texture in facts.images(draw):
            name = written.get(texture.address)
            if name is not None:
                text = f"{bound.stage} texture at {texture.address:#x} is {name}"
                yield at_draw(pass_, draw, text, (pass_.index, texture.address))


@lint("CFF045", "warning", FROM_A6XX, needs=(DrawTextures,))
def slice_size(capture: CheckedCapture) -> Iterator[Report]:
    """The least slice size of a 3D texture is not what its layout has.

    3D textures with several levels whose MIN_LAYERSZ differs from the layout.

    Why: Levels with small slices are padded to this size: with another, slices of narrow levels
    are read from wrong places.

    Advice: Set MIN_LAYERSZ to the size of the first slice that is not halved; cffpy layout
    image with a size like 64x64x16 shows it.
    """
    for compared in capture.once(_compared):
        for difference in compared.comparison.differences:
            if difference.what == SLICE_SIZE:
                text = f"{compared.bound.stage} texture at {compared.view.address:#x}: {difference}"
                yield Report(text, compared.view.address, compared.draw.place, None, compared.draw)


# -- compression -----------------------------------------------------------------------------------
# Which formats drivers compress with UBWC. Facts: freedreno and turnip of Mesa 25.0.7.

#: Formats that both drivers compress on all parts of a6xx and a7xx.
_ALWAYS = frozenset(
    (
        "FMT6_10_10_10_2_UNORM",
        "FMT6_10_10_10_2_UNORM_DEST",
        "FMT6_10_10_10_2_UINT",
        "FMT6_11_11_10_FLOAT",
        "FMT6_16_FLOAT",
        "FMT6_16_UINT",
        "FMT6_16_SINT",
        "FMT6_16_16_FLOAT",
        "FMT6_16_16_UINT",
        "FMT6_16_16_SINT",
        "FMT6_16_16_16_16_FLOAT",
        "FMT6_16_16_16_16_UINT",
        "FMT6_16_16_16_16_SINT",
        "FMT6_32_32_UINT",
        "FMT6_32_32_SINT",
        "FMT6_32_32_32_32_UINT",
        "FMT6_32_32_32_32_SINT",
        "FMT6_5_6_5_UNORM",
        "FMT6_5_5_5_1_UNORM",
        "FMT6_8_8_8_8_UNORM",
        "FMT6_8_8_8_8_UINT",
        "FMT6_8_8_8_8_SINT",
        "FMT6_8_8_8_X8_UNORM",
        "FMT6_8_8_UNORM",
        "FMT6_8_8_UINT",
        "FMT6_8_8_SINT",
    )
)
_DEPTH = "DEPTH6_24_8"


def _may_be_compressed(part: Device | None, name: str | None) -> bool:
    """Whether both drivers compress a target of this format on this GPU.

    ``name``: the hardware's, as in FMT6_8_8_8_8_UNORM. False where one of them does not, and where
    the GPU is not known.
    """
    if name == _DEPTH:
        return part is not None and part.compresses_depth
    return name in _ALWAYS


#: Passes with a single draw are the drivers' blits and mipmaps.
_LEAST_DRAWS = 2


@lint("CFF016", "warning", FROM_A6XX)
def target_without_ubwc(capture: CheckedCapture) -> Iterator[Report]:
    """A target is not compressed, though its format and size allow UBWC.

    Attachments of passes, in memory, without flags.

    Why: UBWC saves bandwidth of memory for each load, store and sample.

    Advice: Create the image without storage or host access if possible, and with a list of
    formats that are compatible. TU_DEBUG=noubwc and FD_MESA_DEBUG=noubwc turn it off.
    """
    for pass_ in capture.render_passes():
        size = pass_.framebuffer or pass_.framebuffer_limit
        if size is None or size.width < _LEAST_WIDTH or len(pass_.draws) < _LEAST_DRAWS:
            continue
        for target in pass_.attachments:
            if target.ubwc or not target.address or target.tiling == "TILE6_LINEAR":
                continue
            if _may_be_compressed(capture.part, target.format):
                text = f"{target.name} ({target.format}) at {target.address:#x} has no UBWC"
                yield Report(text, target.address, pass_.first, pass_)
