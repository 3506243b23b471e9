# SPDX-License-Identifier: MIT
"""Sampler states: those that a stage's pointer names, and those of descriptor sets."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.intel.analysis.state import read_struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.state import State
    from cffpy.intel.decoder.batches import BatchRunner
    from cffpy.intel.decoder.groups import Command

_SAMPLERS_OF_A_GROUP = 4
#: Samplers of one stage that are read.
_MAX_SAMPLERS = 16
#: Bytes from one sampler of a set to the next: ANV keeps room for border colours.
_SET_STRIDE = 32
#: Bytes of the samplers of one set that are read.
_MAX_SET = 1 << 14


class Sampler(NamedTuple):
    """A sampler of a stage or of a descriptor set, as its SAMPLER_STATE says.

    ``stage``: "" for one of a set. ``number``: its place in the array.
    """

    stage: str
    number: int
    address: int
    state: Command

    def describe(self) -> str:
        """Its filters for minification and magnification, and how coordinates wrap."""
        state = self.state
        filters = f"{state.text('Min Mode Filter')}/{state.text('Mag Mode Filter')}"
        wrap = "/".join(state.text(f"TC{axis} Address Control Mode") for axis in "XYZ")
        return f"{filters}, {wrap}"


def stage_samplers(runner: BatchRunner, state: State, uses: Uses) -> list[Sampler]:
    """The samplers of all stages: the driver says how many groups of four a stage has."""
    found: list[Sampler] = []
    for program in uses.programs:
        offset = program.sampler_states
        if offset is None:
            offset = state.samplers.get(program.stage)
        if offset is None or not program.samplers:
            continue
        size = _size(runner)
        count = min(program.samplers * _SAMPLERS_OF_A_GROUP, _MAX_SAMPLERS)
        address = state.dynamic_base + offset
        found += _read(runner, program.stage, address, size, count)
    return found


def set_samplers(
    runner: BatchRunner, state: State, offset: int, others: Iterable[int]
) -> list[Sampler]:
    """The samplers of a direct descriptor set, at ``offset`` from the dynamic state base.

    Their number is not in the command stream: the array ends where that of another set begins
    (``others``: their offsets), with memory, or with the first sampler that is all zeros.
    """
    end = min((other for other in others if other > offset), default=offset + _MAX_SET)
    count = min(end - offset, _MAX_SET) // _SET_STRIDE
    return _read(runner, "", state.dynamic_base + offset, _SET_STRIDE, count)


def sampler_at(runner: BatchRunner, address: int) -> Sampler | None:
    """The sampler at an address; None where there is none in memory."""
    return next(iter(_read(runner, "", address, _SET_STRIDE, 1)), None)


def _size(runner: BatchRunner) -> int:
    struct = runner.database.struct("SAMPLER_STATE")
    return 4 * struct.dwords if struct is not None else 0


def _read(runner: BatchRunner, stage: str, address: int, stride: int, count: int) -> list[Sampler]:
    """Up to ``count`` samplers from an address on."""
    struct = runner.database.struct("SAMPLER_STATE")
    found: list[Sampler] = []
    if struct is None:
        return found
    for number in range(count):
        place = address + number * stride
        data = runner.span(place, 4 * struct.dwords)
        state = read_struct(struct, data)
        if state is None or not any(data):
            break  # drivers round the number up
        found.append(Sampler(stage, number, place, state))
    return found
