# SPDX-License-Identifier: MIT
"""ConstantLoads: constants that packets load between draws (a6xx and later)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from cffpy.check.model import Facts
from cffpy.cp.loadstate import CONSTANTS, LOAD_STATE_PACKETS, loaded_state
from cffpy.isa.operands import CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.frame.place import PacketLocation

#: Loads between two draws, and cases of each kind, that are kept at most.
_MAX_LOADS, _MAX_CASES = 256, 4096

#: Bytes of a program that are looked at, at most.
_MAX_PROGRAM = 1 << 20


class Load(NamedTuple):
    """Constants for a stage: vectors of four from ``first`` to ``end``."""

    stage: str
    first: int
    end: int
    place: PacketLocation


class ConstantLoads(Facts):
    """``beyond``: loads that end behind CONSTLEN at a draw that uses the stage, but for a program
    without constants. ``twice``: loads of which a later one, before any draw, replaces a part.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self.beyond: list[tuple[Load, int, Action, Pass | None]] = []
        self.twice: list[tuple[Load, Load, Pass | None]] = []
        self._disassemblers = walk.disassemblers(None)
        #: Of the buffers that the machine has now: address of a program -> whether it reads any.
        self._readers: dict[int, bool] = {}
        self._drops = -1
        self._loads: list[Load] = []
        self._run: PassRun | None = None

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that load state."""
        return dict.fromkeys(LOAD_STATE_PACKETS, self._load)

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """Loads of another submit, or of another capture that was joined, are for no draw here."""
        if is_new_submit:
            self._loads.clear()

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
        if not action.execution.is_possible:
            return
        stages = dict(action.programs)
        if action.binning:
            stages.pop("FS", None)  # does not run; registers may hold that of an earlier draw
        used = [load for load in self._loads if load.stage in stages]
        field = self.walk.registers.field
        for load in used:
            length = field(f"HLSQ_{load.stage}_CNTL", "CONSTLEN")
            if length is None or load.end <= length or len(self.beyond) >= _MAX_CASES:
                continue
            # turnip loads a vector of zeros for a program that reads no constants
            if length or self._reads_constants(stages[load.stage]):
                self.beyond.append((load, length, action, self.passes.current))
        is_dispatch = action.kind == "dispatch"
        self._loads = [load for load in self._loads if (load.stage == "CS") != is_dispatch]

    def _reads_constants(self, address: int) -> bool:
        """Whether a program reads constants; False where its instructions were not captured."""
        image = self.walk.machine.image
        if image.drops != self._drops:
            self._drops = image.drops
            self._readers.clear()
        if address not in self._readers:
            self._readers[address] = self._finds_constants(address)
        return self._readers[address]

    def _finds_constants(self, address: int) -> bool:
        place = self.walk.machine.image.place(address)
        if place is None or len(self._readers) >= _MAX_CASES:
            return False
        words, index = place
        data = words.bytes(index, min(words.count - index, _MAX_PROGRAM // 4))
        disassembler = self._disassemblers.ir3(self.walk.generation)
        count = disassembler.listing(data, 0).instructions
        read = struct.iter_unpack("<Q", data[: 8 * count])
        return any(
            one.file == CONSTANT
            for word in {word for (word,) in read}
            for one in disassembler.operands(word).reads
        )
