# SPDX-License-Identifier: MIT
"""ConstantLoads: constants that packets load between draws (a6xx and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.check.model import Facts
from cffpy.cp.loadstate import CONSTANTS, LOAD_STATE_PACKETS, loaded_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.actions import Action
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import Pass, PassRun
    from cffpy.analysis.walk import Walk
    from cffpy.cp.sink import Payload

#: Loads between two draws, and cases of each kind, that are kept at most.
_MAX_LOADS, _MAX_CASES = 256, 4096


class Load(NamedTuple):
    """Constants for a stage: vectors of four from ``first`` to ``end``."""

    stage: str
    first: int
    end: int
    place: PacketLocation


class ConstantLoads(Facts):
    """``beyond``: loads that end behind CONSTLEN at a draw that uses the stage. ``twice``: loads
    of which a later one, before any draw, replaces a part.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self.beyond: list[tuple[Load, int, Action, Pass | None]] = []
        self.twice: list[tuple[Load, Load, Pass | None]] = []
        self._loads: list[Load] = []
        self._run: PassRun | None = None

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that load state."""
        return dict.fromkeys(LOAD_STATE_PACKETS, self._load)

    def _load(self, payload: Payload) -> None:
        if not payload.count:
            return
        loaded = loaded_state(self.walk.machine, payload)
        if loaded.kind != CONSTANTS or not loaded.units:
            return
        if self.passes.run is not self._run:
            self._run = self.passes.run
            self._loads.clear()
        here = self.walk.packet_location
        load = Load(loaded.stage, loaded.first, loaded.first + loaded.units, here)
        for other in self._loads:
            overlaps = other.first < load.end and load.first < other.end
            if other.stage == load.stage and overlaps and len(self.twice) < _MAX_CASES:
                self.twice.append((other, load, self.passes.current))
                break
        if len(self._loads) < _MAX_LOADS:
            self._loads.append(load)

    def action(self, action: Action) -> None:
        """Loads before a draw or dispatch are for it."""
        if action.kind not in ("draw", "dispatch"):
            return
        if not action.executed.is_possible:
            return
        stages = {stage for stage, _ in action.shaders}
        used = [load for load in self._loads if load.stage in stages]
        field = self.walk.registers.field
        for load in used:
            length = field(f"HLSQ_{load.stage}_CNTL", "CONSTLEN")
            if length is not None and load.end > length and len(self.beyond) < _MAX_CASES:
                self.beyond.append((load, length, action, self.passes.current))
        is_dispatch = action.kind == "dispatch"
        self._loads = [load for load in self._loads if (load.stage == "CS") != is_dispatch]
