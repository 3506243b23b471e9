# SPDX-License-Identifier: MIT
"""LayoutChecks: images, LRZ buffers and tiles of a capture, compared with what is calculated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.bound_textures import BoundTextures
from cffpy.analysis.image_views import attachment_views, view_of_texture
from cffpy.analysis.layout_check.comparison import (
    Answer,
    Comparison,
    ImageComparer,
    LayoutDifference,
    LrzBuffer,
    compare_lrz,
    compare_tiles,
    tiles_of,
)
from cffpy.analysis.observer import Observer
from cffpy.analysis.registers import Remembered
from cffpy.errors import UnsupportedGpu
from cffpy.frame.facts import Address, fact, model, stored
from cffpy.frame.geometry import Size
from cffpy.frame.objects import ModelObject, Shown
from cffpy.frame.passes import Pass
from cffpy.frame.pictures import ImageView
from cffpy.frame.places import PacketLocation, name_of
from cffpy.image.devices import device_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Set

    from cffpy.analysis.layout_check.comparison import PassTiles
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Passes
    from cffpy.image.devices import Device
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

Kind = Literal["texture", "attachment", "LRZ buffer", "tiles"]

#: In the order in which they are listed.
KINDS: tuple[Kind, ...] = ("texture", "attachment", "LRZ buffer", "tiles")

#: Distinct textures, and LRZ buffers of passes, at most.
MAX_USES = 1 << 13


@model("layout_check")
class LayoutCheck(ModelObject):
    """An image, LRZ buffer or grid of tiles, compared with its calculated layout."""

    kind: Kind = stored("what is compared")

    @fact()
    def answer(self) -> Answer:
        """Whether it is as calculated."""
        return self._comparison.answer

    what: str = stored("its format, size and so on, in words")
    _comparison: Comparison

    @fact()
    def note(self) -> str:
        """How it agrees, or why that cannot be decided."""
        return self._comparison.note

    @fact()
    def differences(self) -> tuple[LayoutDifference, ...]:
        """The values that differ."""
        return self._comparison.differences

    address: Address | None = stored("GPU address of its first byte", default=None)
    pass_: Pass | None = stored("its pass", default=None)
    #: The first action that uses it.
    first: Action | None = None

    @fact(name="draw")
    def draw_name(self) -> str | None:
        """The first draw that uses it, by the name that commands take."""
        name = None if self.first is None else name_of(self.first)
        return None if name is None else str(name)

    uses: int = stored("draws that use a texture; passes that use any other", default=1)

    @fact()
    def place(self) -> PacketLocation | None:
        """The packet of that draw."""
        return None if self.first is None else self.first.place

    def __repr__(self) -> str:
        return f"<LayoutCheck of a {self.kind}, {self.answer}: {self.what}>"


@dataclass(slots=True)
class LayoutChecks:
    """All of a capture. ``part``: the name of the GPU's row of facts; None: there is none."""

    _passes: Passes
    part: str | None
    checks: list[LayoutCheck] = field(default_factory=list)

    def __repr__(self) -> str:
        answers = [check.answer for check in self.checks]
        counts = (f"{answers.count(one)} {one}" for one in dict.fromkeys(answers))
        return f"<LayoutChecks of {len(self.checks)}: {', '.join(counts)}>"

    def _repr_html_(self) -> str | None:
        return Shown(self.checks)._repr_html_()

    def count(self, kind: Kind, answer: Answer) -> int:
        """How many have this answer."""
        return sum(check.kind == kind and check.answer == answer for check in self.checks)


# -- what commands name ----------------------------------------------------------------------------


class TextureUse(NamedTuple):
    """A distinct texture: the first action that may sample it, and its pass.

    ``memory``: declared bytes from its address to the end of its buffer, 0 for no buffer.
    """

    action: Action
    pass_: Pass | None
    memory: int


class LayoutUses(Observer):
    """Takes each distinct texture of draws and dispatches, and each pass's LRZ buffers."""

    def __init__(
        self,
        walk: Walk,
        passes: PassFinder,
        register_db: str | None = None,
        orders: Set[int] | None = None,
    ) -> None:
        """``passes`` observes the same walk. ``register_db``: directory of another edition.

        ``orders``: of the actions that count (``Action.order``); None: all.
        """
        self._walk = walk
        self._orders = orders
        self._passes = passes
        self._bound = BoundTextures(walk, register_db)
        self._lrz: Remembered[LrzBuffer | None]
        self.textures: dict[Texture, TextureUse] = {}
        #: How many actions may sample each.
        self.counts: dict[Texture, int] = {}
        self.lrz_buffers: dict[tuple[int, LrzBuffer], Action] = {}
        #: Whether there were more than are kept.
        self.is_full = False

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        self._lrz = Remembered(self._walk.machine, _read_lrz)

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that load descriptors of textures."""
        return self._bound.packet_handlers()

    def _counts(self, action: Action) -> bool:
        if self._orders is not None and action.order not in self._orders:
            return False
        return action.kind in ("draw", "dispatch") and action.execution.is_possible

    def action(self, action: Action) -> None:
        """Take what a draw or dispatch names."""
        self._bound.action(action)
        if not self._counts(action):
            return
        for _, texture in self._bound.images(action):
            if texture in self.textures:
                self.counts[texture] += 1
            elif len(self.textures) < MAX_USES:
                memory = self._bound.remaining(action, texture.address)
                self.textures[texture] = TextureUse(action, self._passes.current, memory)
                self.counts[texture] = 1
            else:
                self.is_full = True
        pass_ = self._passes.current
        if action.kind == "draw" and pass_ is not None and pass_.kind == "render":
            self._take_lrz(action, pass_)

    def _take_lrz(self, action: Action, pass_: Pass) -> None:
        buffer = self._lrz()
        if buffer is None or (pass_.index, buffer) in self.lrz_buffers:
            return
        if len(self.lrz_buffers) < MAX_USES:
            self.lrz_buffers[pass_.index, buffer] = action
        else:
            self.is_full = True


def _read_lrz(reader: RegisterReader) -> LrzBuffer | None:
    """The LRZ buffer that is bound; None for none, and up to a4xx."""
    address = reader.address("GRAS_LRZ_BUFFER_BASE")
    if not address:
        return None
    pitch = reader.field("GRAS_LRZ_BUFFER_PITCH", "PITCH")
    layer = reader.field("GRAS_LRZ_BUFFER_PITCH", "ARRAY_PITCH")
    if pitch is None:  # a5xx: the register has one field
        pitch = reader.field("GRAS_LRZ_BUFFER_PITCH")
    fast_clear = reader.address("GRAS_LRZ_FAST_CLEAR_BUFFER_BASE") or 0
    return None if pitch is None else LrzBuffer(address, pitch, layer, fast_clear)


# -- comparison ------------------------------------------------------------------------------------


def check_layouts(
    model: Passes,
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
    passes = [pass_ for pass_ in model.passes if has_pass(pass_.index)]
    checker = _Checker(model, passes, uses, part)
    checks = LayoutChecks(model, None if part is None else part.name)
    checks.checks = [*checker.textures(), *checker.passes()]
    return checks


class _Checker:
    """Compares each distinct thing once."""

    def __init__(
        self, model: Passes, passes: list[Pass], uses: LayoutUses, part: Device | None
    ) -> None:
        self._model = model
        self._passes = passes
        self._uses = uses
        self._part = part
        self._views = {texture: view_of_texture(texture) for texture in uses.textures}
        self._targets = [(pass_, view) for pass_ in passes for _, view in attachment_views(pass_)]
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
            name = self._model.gpu or "an unknown GPU"
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
                use.pass_,
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
            pass_ = self._model.passes[index]
            check = LayoutCheck(
                "LRZ buffer", str(buffer), comparison, buffer.address, pass_, action
            )
            yield self._keep(key, check)

    def _tiles(self) -> Iterator[LayoutCheck]:
        for pass_ in self._passes:
            if pass_.kind != "render" or pass_.mode != "gmem":
                continue
            sizes = [Size(view.width, view.height) for _, view in attachment_views(pass_)]
            tiles = tiles_of(pass_, sizes)
            key = (
                "tiles",
                tiles,
                tuple(target.format for target in pass_.attachments),
                pass_.samples,
            )
            if not self._is_new(key):
                continue
            what = "unknown" if tiles is None else str(tiles)
            comparison = self._compare_tiles(pass_, tiles)
            yield self._keep(key, LayoutCheck("tiles", what, comparison, None, pass_))

    def _compare_tiles(self, pass_: Pass, tiles: PassTiles | None) -> Comparison:
        if self._part is None:
            return self._undecidable or Comparison("not decidable")
        if tiles is None:
            return Comparison("not decidable", "the commands do not show framebuffer or tile size")
        return compare_tiles(self._part, pass_, tiles)

    def _is_new(self, key: Hashable) -> bool:
        """Count one more use of what was seen before."""
        known = self._known.get(key)
        if known is not None:
            known.uses += 1
        return known is None

    def _keep(self, key: Hashable, check: LayoutCheck) -> LayoutCheck:
        self._known[key] = check
        return check
