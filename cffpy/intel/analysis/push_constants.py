# SPDX-License-Identifier: MIT
"""Push constants as ANV lays them out: client data, offsets of descriptor sets, dynamic offsets.

One block serves all stages of a draw: 64 dwords of the program, then 8 offsets of sets, 8 offsets
of their samplers and 16 dynamic offsets. Stages read pieces of it. Facts: anv_private.h of Mesa
25.0.7 (anv_push_constants).
"""

from __future__ import annotations

from struct import unpack
from typing import NamedTuple

from cffpy.intel.analysis.heaps import SURFACE_STATES, heap_of, is_anv

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cffpy.intel.analysis.state import State
    from cffpy.intel.decoder.batches import BatchRunner

_CLIENT, _SETS, _DYNAMIC = 64, 8, 16
_BLOCK = 4 * (_CLIENT + 2 * _SETS + _DYNAMIC)
_UNIT = 32
#: Bytes of dynamic state with the samplers of sets, which are taken from its top.
_DYNAMIC_STATE = 3 << 30
#: Heaps that push constants are written to: of draws, of dispatches.
_HEAPS = ("dynamic state", "general state")


class PushConstants(NamedTuple):
    """The block that a stage reads, at ``address``; ``first`` and ``size``: its piece, in bytes.

    ``set_offsets`` are counted from the driver's surface states, their low 6 bits are the index of
    the set's first dynamic offset; ``sampler_offsets`` from the dynamic state base.
    """

    stage: str
    address: int
    first: int
    size: int
    client: bytes
    set_offsets: tuple[int, ...]
    sampler_offsets: tuple[int, ...]
    dynamic_offsets: tuple[int, ...]

    def lines(self) -> list[str]:
        """Its heading, and the offsets that are not zero."""
        end = self.first + self.size
        found = [f"{self.stage} push constants at {self.address:#x}, bytes {self.first} to {end}"]
        for number, offset in enumerate(self.set_offsets):
            if offset:
                address = SURFACE_STATES + (offset & ~63)
                found.append(
                    f"  set {number}: offset {offset:#x} -> {address:#x},"
                    f" first dynamic offset {offset & 63}"
                )
        for number, offset in enumerate(self.sampler_offsets):
            if offset:
                found.append(f"  samplers of set {number}: offset {offset:#x}")
        for number, offset in enumerate(self.dynamic_offsets):
            if offset:
                found.append(f"  dynamic offset {number}: {offset:#x}")
        return found

    def document(self) -> dict[str, Any]:
        """As members of a JSON document."""
        return {**self._asdict(), "client": self.client.hex()}


def push_constants(
    state: State, runner: BatchRunner, stage: str, pieces: list[tuple[int, int]]
) -> PushConstants | None:
    """The block that pieces (address and bytes) of a stage's constants lie in; None without one.

    A piece need not begin where the block does. It is assumed to, unless the offsets of sets are
    plausible for another begin only.
    """
    if not is_anv(state):
        return None
    for address, size in pieces:
        if heap_of(address, state.database.verx10) not in _HEAPS:
            continue
        starts = [address - shift for shift in range(0, 4 * (_CLIENT + _SETS) + 1, _UNIT)]
        blocks = [
            block
            for start in starts
            if (block := _block(state, runner, stage, start, address, size)) is not None
        ]
        if blocks and blocks[0].first == 0:
            return blocks[0]
        return next((block for block in blocks if any(block.set_offsets)), None)
    return None


def _block(
    state: State, runner: BatchRunner, stage: str, start: int, address: int, size: int
) -> PushConstants | None:
    data = runner.span(start, _BLOCK)
    if len(data) < _BLOCK:
        return None
    words = unpack(f"<{_BLOCK // 4}I", data)
    sets = words[_CLIENT : _CLIENT + _SETS]
    samplers = words[_CLIENT + _SETS : _CLIENT + 2 * _SETS]
    dynamic = words[_CLIENT + 2 * _SETS :]
    verx10 = state.database.verx10
    makes_sense = all(
        not offset or heap_of(SURFACE_STATES + offset, verx10) == "bindless surface states"
        for offset in sets
    ) and all(offset <= _DYNAMIC_STATE for offset in samplers)
    if not makes_sense:
        return None
    return PushConstants(
        stage, start, address - start, size, data[: 4 * _CLIENT], sets, samplers, dynamic
    )
