# SPDX-License-Identifier: MIT
"""Low-resolution depth: the buffer of a pass (a6xx and later), and the draws without its use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.passes import Lrz
from cffpy.frame.places import draw_ranges

if TYPE_CHECKING:
    from cffpy.analysis.registers import RegisterReader
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

_VIEW = "GRAS_LRZ_DEPTH_VIEW"

#: How far the second buffer is from the first, in bytes (GRAS_LRZ_CB_CNTL of Mesa 25.3); the value
#: of a fast clear, and whether there is one (a7xx).
_DISTANCE = "GRAS_UNKNOWN_8007"
_CLEAR_DEPTH, _CONTROL_2 = "GRAS_LRZ_CLEAR_DEPTH_F32", "GRAS_LRZ_CNTL2"

#: A view with all bits set fits no buffer: turnip switches LRZ off so.
_IMPOSSIBLE_VIEW = ("BASE_LAYER", "LAYER_COUNT", "BASE_MIP_LEVEL")


class LrzFollower:
    """Notes how LRZ buffers are cleared before passes, and which buffer each pass has.

    turnip binds the buffer and clears it by an event, before the pass. Where there is no such
    event, both drivers fill it by CP_BLIT; gallium binds it in the pass, before its first draws.
    """

    def __init__(self, registers: RegisterReader) -> None:
        self._registers = registers
        #: Of the next pass, as an event shows it.
        self._next: Lrz | None = None
        #: The buffer of the current pass is not known yet.
        self._is_open = False
        #: The current pass has drawn.
        self._has_drawn = False
        #: Addresses that were filled since the last pass.
        self._filled: set[int] = set()

    def begin(self, found: Pass) -> None:
        """A pass begins."""
        found.lrz, self._next = self._next, None
        self._is_open = found.lrz is None
        self._has_drawn = False

    def discard(self, found: Pass) -> None:
        """The pass was none: what was cleared in it is the next one's."""
        self._next, self._is_open = found.lrz, False

    def event(self, action: Action, current: Pass | None) -> None:
        """An LRZ_CLEAR event: of the pass that begins, or, after its first draw, of the next.

        ``current``: the pass that is open, None once the draws of its last tile have ended.
        """
        if not action.execution.is_possible:
            return
        fits_nothing = all(
            self._registers.field(_VIEW, name) == self._registers.field_mask(_VIEW, name)
            for name in _IMPOSSIBLE_VIEW
        )
        address = self._registers.address("GRAS_LRZ_BUFFER_BASE")
        lrz = Lrz(address, not fits_nothing, clear=action, disabled=fits_nothing)
        if not fits_nothing:
            lrz.second = self._second(address)
            if self._registers.flag(_CONTROL_2, "FC_ENABLE"):
                lrz.clear_depth = self._registers.number(_CLEAR_DEPTH)
        if current is not None and current.kind == "render" and not self._has_drawn:
            current.lrz = lrz
            self._is_open = False
        else:
            self._next = lrz

    def between_passes(self, action: Action) -> None:
        """An action between passes: it may fill the buffer of the next."""
        address = self._registers.address("RB_2D_DST")
        is_fill = action.kind == "blit" and self._registers.flag("RB_2D_BLIT_CNTL", "SOLID_COLOR")
        if is_fill and address is not None and action.execution.is_possible:
            self._filled.add(address)

    def bind(self, found: Pass) -> None:
        """The pass draws, or is over: its buffer is bound now."""
        self._has_drawn = True
        if not self._is_open:
            return
        self._is_open = False
        address = self._registers.address("GRAS_LRZ_BUFFER_BASE")
        if address:
            second = self._second(address)
            found.lrz = Lrz(address, cleared=address in self._filled, second=second)
        self._filled.clear()

    def _second(self, address: int | None) -> int | None:
        """The second buffer, behind the one at ``address``."""
        distance = self._registers.value(_DISTANCE)
        return address + distance if address and distance else None


def follow_lrz(found: Pass) -> None:
    """Find out whether LRZ is used, and which of the program's draws have it off."""
    lrz = found.lrz
    if lrz is None or lrz.disabled:  # then draws may enable it, but it has no effect
        return
    is_on = [
        (number, bool(draw.depth.lrz_enabled))
        for number, draw in enumerate(found.draws)
        if draw.depth is not None
    ]
    lrz.used = any(on for _, on in is_on)
    off = (number for number, on in is_on if not on)
    lrz.off_draws = draw_ranges(off, found.index) if lrz.used else ()
