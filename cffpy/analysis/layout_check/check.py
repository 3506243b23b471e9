# SPDX-License-Identifier: MIT
"""check_layouts: compares all that a capture has with what is calculated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.image_views import ImageView, attachment_views, view_of_texture
from cffpy.analysis.layout_check.images import ImageComparer
from cffpy.analysis.layout_check.lrz import compare_lrz
from cffpy.analysis.layout_check.model import Comparison, LayoutCheck, LayoutChecks
from cffpy.analysis.layout_check.tilings import compare_tiles, tiles_of
from cffpy.errors import UnsupportedGpu
from cffpy.frame.geometry import Size
from cffpy.image.devices import device_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from cffpy.analysis.layout_check.tilings import PassTiles
    from cffpy.analysis.layout_check.uses import LayoutUses
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.passes import Pass, Passes
    from cffpy.image.devices import Device


def check_layouts(
    found: Passes,
    uses: LayoutUses,
    gpu: Gpu | None,
    has_pass: Callable[[int], bool] = lambda _index: True,
) -> LayoutChecks:
    """``uses`` has observed the walk that found the passes. ``gpu``: None where it is not known.

    ``has_pass``: whether a pass counts.
    """
    try:
        part = None if gpu is None else device_of(gpu)
    except UnsupportedGpu:
        part = None
    passes = [one for one in found.passes if has_pass(one.index)]
    checker = _Checker(found, passes, uses, part)
    checks = LayoutChecks(found, None if part is None else part.name)
    checks.checks = [*checker.textures(), *checker.passes()]
    return checks


class _Checker:
    """Compares each distinct thing once."""

    def __init__(
        self, found: Passes, passes: list[Pass], uses: LayoutUses, part: Device | None
    ) -> None:
        self._found = found
        self._passes = passes
        self._uses = uses
        self._part = part
        self._views = {texture: view_of_texture(texture) for texture in uses.textures}
        self._targets = [(one, view) for one in passes for _, view in attachment_views(one)]
        sizes = [
            (view.width, view.height, view.depth)
            for view in (*self._views.values(), *(view for _, view in self._targets))
        ]
        self._images = None if part is None else ImageComparer(part, sizes)
        self._known: dict[Hashable, LayoutCheck] = {}
        self._undecidable = self._why_not()

    def _why_not(self) -> Comparison | None:
        """Why nothing can be calculated for images of the GPU; None where it can."""
        if self._part is None:
            name = self._found.gpu or "an unknown GPU"
            return Comparison("not decidable", f"no layout facts for {name}")
        if not self._part.facts.image_layout:
            text = f"image layouts of a{self._part.generation}xx are not known"
            return Comparison("not decidable", text)
        return None

    def textures(self) -> Iterator[LayoutCheck]:
        """The textures, in the order of their first use."""
        for texture, use in self._uses.textures.items():
            view = self._views[texture]
            comparison = self._compare(view, True, use.memory)
            yield LayoutCheck(
                "texture",
                str(view),
                comparison,
                view.address,
                use.found,
                use.action,
                self._uses.counts[texture],
            )

    def _compare(self, view: ImageView, is_exact: bool, memory: int = 0) -> Comparison:
        if self._undecidable is not None or self._images is None:
            return self._undecidable or Comparison("not decidable")
        return self._images.compare(view, is_exact=is_exact, memory=memory)

    def passes(self) -> list[LayoutCheck]:
        """Attachments, LRZ buffers and tiles of the passes, each kind by itself."""
        targets = list(self._attachments())
        buffers = list(self._lrz_buffers())
        return [*targets, *buffers, *self._tiles()]

    def _attachments(self) -> Iterator[LayoutCheck]:
        for one, view in self._targets:
            if self._is_new(("attachment", view)):
                comparison = self._compare(view, False)
                check = LayoutCheck("attachment", str(view), comparison, view.address, one)
                yield self._keep(("attachment", view), check)

    def _lrz_buffers(self) -> Iterator[LayoutCheck]:
        depths: dict[int, ImageView] = {}
        for one, view in self._targets:
            if view.form is not None and view.form.is_depth_stencil and view.form.name != "S8_UINT":
                depths[one.index] = view
        for (index, buffer), action in self._uses.lrz_buffers.items():
            depth = depths.get(index)
            key = buffer, None if depth is None else (depth.width, depth.height)
            if not self._is_new(key):
                continue
            if self._part is None:
                comparison = self._undecidable or Comparison("not decidable")
            else:
                comparison = compare_lrz(self._part, buffer, depth)
            found = self._found.passes[index]
            check = LayoutCheck(
                "LRZ buffer", str(buffer), comparison, buffer.address, found, action
            )
            yield self._keep(key, check)

    def _tiles(self) -> Iterator[LayoutCheck]:
        for one in self._passes:
            if one.kind != "render" or one.mode != "gmem":
                continue
            sizes = [Size(view.width, view.height) for _, view in attachment_views(one)]
            tiles = tiles_of(one, sizes)
            key = "tiles", tiles, tuple(target.format for target in one.attachments), one.samples
            if not self._is_new(key):
                continue
            what = "unknown" if tiles is None else str(tiles)
            comparison = self._compare_tiles(one, tiles)
            yield self._keep(key, LayoutCheck("tiles", what, comparison, None, one))

    def _compare_tiles(self, one: Pass, tiles: PassTiles | None) -> Comparison:
        if self._part is None:
            return self._undecidable or Comparison("not decidable")
        if tiles is None:
            return Comparison("not decidable", "the commands do not show framebuffer or tile size")
        return compare_tiles(self._part, one, tiles)

    def _is_new(self, key: Hashable) -> bool:
        """Count one more use of what was seen before."""
        known = self._known.get(key)
        if known is not None:
            known.uses += 1
        return known is None

    def _keep(self, key: Hashable, check: LayoutCheck) -> LayoutCheck:
        self._known[key] = check
        return check
