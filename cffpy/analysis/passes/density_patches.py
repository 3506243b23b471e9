# SPDX-License-Identifier: MIT
"""Sees a driver patch commands for each tile of a pass: viewports and scissors of density maps.

turnip writes the same places before the binning run, unscaled, and in each tile. Without a binning
run, what the capture has there is unscaled, unless an earlier run has left it patched.
"""

from __future__ import annotations

from math import isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.density import (
    Density,
    ScissorPatch,
    Viewport,
    ViewportPatch,
)
from cffpy.analysis.passes.density_checks import settle
from cffpy.analysis.passes.model import Rectangle, Tile
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.pm4.reader import OPCODE, REGISTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import Pass, Run
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
    from cffpy.regdb.database import Database

_VIEWPORTS = 16
_VIEWPORT_DWORDS, _SCISSOR_DWORDS = 6, 2

#: Places whose first contents are kept, of one submit; and patches of one tile.
_MAX_PLACES = 1 << 16
_MAX_PATCHES = 1 << 10
_MAX_DISTINCT = 64

#: A viewport's first four registers.
_Raw = tuple[int, int, int, int]


class _Patch:
    """Commands that were written to one place: what they set that is scaled."""

    __slots__ = ("ndwords", "scissors", "viewports")

    def __init__(self, ndwords: int) -> None:
        self.ndwords = ndwords
        self.viewports: dict[int, _Raw] = {}
        self.scissors: dict[int, Rectangle] = {}


class DensityTracker(Observer):
    """Fills ``Tile.density`` of the passes of a PassFinder; complete at ``finished``."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        #: Offsets of registers; 0 where the generation has none.
        self._viewport = self._scissor = 0
        self._blit: set[int] = set()
        #: Place -> what it held before it was first written in this submit.
        self._before: dict[int, _Patch] = {}
        #: What was written since the last action; it is for the next run.
        self._pending: dict[int, _Patch] = {}
        self._pass: Pass | None = None
        self._run: Run | None = None
        self._unscaled: dict[int, _Patch] = {}
        self._current: set[_Raw] = set()

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Registers have other offsets."""
        offset = self._walk.registers.offset
        self._viewport = offset("GRAS_CL_VPORT[0].XOFFSET")
        self._scissor = offset("GRAS_SC_SCREEN_SCISSOR[0].TL")
        self._blit = {offset("GRAS_2D_DST_TL"), offset("GRAS_2D_SRC_TL_X")}
        self._before.clear()
        self._pending.clear()

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The buffers of a submit are new."""
        if is_new_submit:
            self._before.clear()
            self._pending.clear()

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """CP_MEM_WRITE of ``payload`` over the bytes ``before``."""
        if not self._viewport:
            return
        patch = self._commands(payload.dwords())
        if patch is None:
            return
        if len(self._pending) < _MAX_PATCHES:
            self._pending[gpuaddr] = patch
        if gpuaddr not in self._before and len(self._before) < _MAX_PLACES:
            count = len(before) // 4
            first = self._commands(unpack(f"<{count}I", before[: 4 * count]))
            self._before[gpuaddr] = first or _Patch(0)

    def action(self, action: Action) -> None:
        """The first action of a run ends its patches; draws may use others than these."""
        run = self._passes.run
        if run is not self._run:
            self._begin(self._passes.current, run)
        if not self._current or not isinstance(run, Tile) or run.density is None:
            return
        if is_program_draw(action) and self._viewport_now() not in self._current:
            run.density.unpatched_draws += 1

    def finished(self) -> None:
        """All passes are known."""
        for found in self._passes.found.passes:
            settle(found)

    # -- within -------------------------------------------------------------------------------

    def _begin(self, found: Pass | None, run: Run | None) -> None:
        self._run = run
        patches, self._pending = self._pending, {}
        self._current = set()
        if found is not self._pass:
            self._pass = found
            self._unscaled = {}
        if found is not None and run is found.binning:
            self._unscaled = patches
        elif isinstance(run, Tile) and patches:
            run.density = self._density(patches)
            self._current = {
                patch.viewports[0] for patch in patches.values() if 0 in patch.viewports
            }

    def _density(self, patches: dict[int, _Patch]) -> Density:
        density = Density(len(patches), sum(patch.ndwords for patch in patches.values()))
        if any(place in self._unscaled for place in patches):
            density.unscaled_from = "binning run"
        else:
            density.unscaled_from = "memory at the submit"
        viewports: dict[ViewportPatch, None] = {}
        scissors: dict[ScissorPatch, None] = {}
        for place, patch in patches.items():
            base = self._unscaled.get(place) or self._before.get(place) or _Patch(0)
            for number, raw in patch.viewports.items():
                viewport = _viewport(raw)
                if viewport is None:
                    density.flag(f"viewport {number} is not finite")
                elif len(viewports) < _MAX_DISTINCT:
                    unscaled = _viewport(base.viewports.get(number))
                    viewports[ViewportPatch(number, viewport, unscaled)] = None
            for number, scissor in patch.scissors.items():
                if len(scissors) < _MAX_DISTINCT:
                    scissors[ScissorPatch(number, scissor, base.scissors.get(number))] = None
        density.viewports.extend(viewports)
        density.scissors.extend(scissors)
        return density

    def _commands(self, dwords: Sequence[int]) -> _Patch | None:
        """What commands set that is scaled; None where they are none, or of something else."""
        headers = self._walk.machine.headers
        patch = _Patch(len(dwords))
        is_about_tiles = False
        index = 0
        while index < len(dwords):
            kind, number, size = headers[dwords[index]]
            if kind == REGISTERS and dwords[index] >> 28 == 4:
                values = dwords[index + 1 : index + size]
                self._take(patch, number, values)
                is_about_tiles |= number in self._blit
            elif kind != OPCODE:
                break
            index += size
        return patch if is_about_tiles or patch.viewports or patch.scissors else None

    def _take(self, patch: _Patch, register: int, values: Sequence[int]) -> None:
        for number, at in _whole(register, len(values), self._viewport, _VIEWPORT_DWORDS):
            x_offset, x_scale, y_offset, y_scale = values[at : at + 4]
            patch.viewports[number] = x_offset, x_scale, y_offset, y_scale
        for number, at in _whole(register, len(values), self._scissor, _SCISSOR_DWORDS):
            top_left, bottom_right = values[at : at + 2]
            patch.scissors[number] = Rectangle(
                top_left & 0xFFFF,
                top_left >> 16,
                (bottom_right & 0xFFFF) + 1,
                (bottom_right >> 16) + 1,
            )

    def _viewport_now(self) -> _Raw:
        value = self._walk.machine.state.value
        first = self._viewport
        return value(first), value(first + 1), value(first + 2), value(first + 3)


def _whole(register: int, count: int, first: int, dwords: int) -> list[tuple[int, int]]:
    """Elements of a register array that are written in full: number, position in the values."""
    found = []
    for number in range(_VIEWPORTS):
        at = first + number * dwords - register
        if at >= 0 and at + dwords <= count:
            found.append((number, at))
    return found


def _viewport(raw: _Raw | None) -> Viewport | None:
    """The registers as floats; None where they are no numbers."""
    if raw is None:
        return None
    numbers = unpack("<4f", pack("<4I", *raw))
    return Viewport(*numbers) if all(map(isfinite, numbers)) else None
