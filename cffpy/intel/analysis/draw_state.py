# SPDX-License-Identifier: MIT
"""What one action uses: state, kernels, samplers, buffers. Read while its memory is available."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.intel.analysis.descriptors import descriptor_sets
from cffpy.intel.analysis.programs import COMPUTE
from cffpy.intel.analysis.push_constants import push_constants
from cffpy.intel.analysis.samplers import stage_samplers
from cffpy.intel.analysis.state import command_structs
from cffpy.intel.analysis.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.programs import KernelFacts
    from cffpy.intel.analysis.push_constants import PushConstants
    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.analysis.survey import SurveyWalk


class Kernel(NamedTuple):
    """A kernel of a stage: width ("SIMD8" or ""), address; ``facts`` is None if not in memory."""

    stage: str
    width: str
    address: int
    facts: KernelFacts | None


class VertexBuffer(NamedTuple):
    """A vertex buffer: address, bytes, pitch in bytes."""

    number: int
    address: int
    size: int
    pitch: int


class ConstantBuffer(NamedTuple):
    """Constants that are pushed to a stage: slot, address, and what memory holds there."""

    stage: str
    slot: int
    address: int
    size: int
    data: bytes


class DrawState:
    """An action and what it uses."""

    def __init__(self, walk: SurveyWalk, action: Action, command: Instruction) -> None:
        self.action = action
        self.uses = uses = walk.uses[action.order]
        self.state: State = walk.state.copy()
        self.kernels = _kernels(walk, uses)
        self.samplers = stage_samplers(walk, walk.state, uses)
        self.vertex_buffers = _vertex_buffers(walk)
        self.constants = _constants(walk, uses)
        self.pushed = pushed_constants(walk, uses, command)
        self.sets = descriptor_sets(walk.state, uses, walk, self.pushed)


def states_of_actions(
    content: Content, orders: Set[int], directory: str | None = None
) -> dict[int, DrawState]:
    """What the actions with these numbers use; the capture after the last of them is not run."""
    taken: dict[int, DrawState] = {}

    def at_action(walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        if action.order in orders:
            taken[action.order] = DrawState(walk, action, command)
        return len(taken) == len(orders)

    survey(content, directory, at_action)
    return taken


def _kernels(walk: SurveyWalk, uses: Uses) -> list[Kernel]:
    return [
        Kernel(program.stage, width, address, walk.kernels.facts(address))
        for program in uses.programs
        for width, address in program.kernels
    ]


def _vertex_buffers(walk: SurveyWalk) -> list[VertexBuffer]:
    found = []
    for number, (state, _) in sorted(walk.state.vertex_buffers.items()):
        start, end, size, pitch = (
            value or 0
            for value in state.values(
                "Buffer Starting Address", "End Address", "Buffer Size", "Buffer Pitch"
            )
        )
        start &= (1 << 48) - 1
        size = size or max(end + 1 - start, 0)
        if start and not state.number("Null Vertex Buffer"):
            found.append(VertexBuffer(number, start, size, pitch))
    return found


def _constants(walk: SurveyWalk, uses: Uses) -> list[ConstantBuffer]:
    return [
        ConstantBuffer(program.stage, slot, address, size, walk.span(address, size))
        for program in uses.programs
        for slot, address, size in walk.state.constants.get(program.stage, ())
    ]


def pushed_constants(walk: SurveyWalk, uses: Uses, command: Instruction) -> list[PushConstants]:
    """The push constants of each stage; a dispatch before 12.5 loads them by MEDIA_CURBE_LOAD."""
    found = []
    for program in uses.programs:
        pieces = [
            (address, size) for _, address, size in walk.state.constants.get(program.stage, ())
        ]
        if program.stage == COMPUTE:
            pieces = _compute_constants(walk, command)
        block = push_constants(walk.state, walk, program.stage, pieces)
        if block is not None:
            found.append(block)
    return found


def _compute_constants(walk: SurveyWalk, walker: Instruction) -> list[tuple[int, int]]:
    """Address and bytes of a dispatch's constants."""
    for body in command_structs(walk.database, walker, "COMPUTE_WALKER_BODY"):
        start, length = body.values("Indirect Data Start Address", "Indirect Data Length")
        return [(walk.state.general_base + (start or 0), length or 0)]
    load = walk.state.get("MEDIA_CURBE_LOAD")
    if load is None:
        return []
    offset = load.number("CURBE Data Start Address")
    return [(walk.state.dynamic_base + offset, load.number("CURBE Total Data Length"))]
