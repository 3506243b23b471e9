# SPDX-License-Identifier: MIT
"""LayoutUses: the textures and LRZ buffers that commands name, while the capture is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.bound_textures import BoundTextures
from cffpy.analysis.layout_check.lrz import LrzBuffer
from cffpy.analysis.observer import Observer
from cffpy.analysis.registers import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Set

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.regdb.database import Database

#: Distinct textures, and LRZ buffers of passes, at most.
MAX_USES = 1 << 13


class TextureUse(NamedTuple):
    """A distinct texture: the first action that may sample it, and its pass.

    ``memory``: declared bytes from its address to the end of its buffer, 0 for no buffer.
    """

    action: Action
    found: Pass | None
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
        """Packets that load descriptors."""
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
        for bound in self._bound.of(action)[0]:
            texture = bound.texture
            if texture is None or texture.kind == "buffer" or bound.kind != "texture":
                continue
            if texture in self.textures:
                self.counts[texture] += 1
            elif len(self.textures) < MAX_USES:
                memory = self._walk.machine.image.remaining(texture.address)
                self.textures[texture] = TextureUse(action, self._passes.current, memory)
                self.counts[texture] = 1
            else:
                self.is_full = True
        found = self._passes.current
        if action.kind == "draw" and found is not None and found.kind == "render":
            buffer = self._lrz()
            if buffer is not None and (found.index, buffer) not in self.lrz_buffers:
                if len(self.lrz_buffers) < MAX_USES:
                    self.lrz_buffers[found.index, buffer] = action
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
